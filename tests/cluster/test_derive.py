"""``orderly derive``: what a proven run says of an easier question is what a search of it finds,
and nothing else is taken.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from orderly_boggle.boardclass.errors import IncompleteError, InputError
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.cluster.driver.derive import derive
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.configs.model import RunConfig
from orderly_boggle.results.errors import FingerprintError
from orderly_boggle.results.log import read_events
from orderly_boggle.results.log_events import Reused
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store.rows import QUARANTINED, Row
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep.derive import check_follows
from tests.cluster.small import CUT_UP, WORDS, tiny

LISTED = [*WORDS, "quit", "quits", "quiet"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Return a proven run of a list with and without Qu, every word one point."""
    folder = tmp_path_factory.mktemp("source")
    config = tiny(folder, cutoff=3)
    (folder / "tiny.txt").write_text("\n".join(LISTED) + "\n")
    assert run(config).complete
    return open_run(config.out), load_wordlist(config.wordlist)


def derived_and_searched(source, folder, **changes):
    """Return a derived run and the run of the same question that searched."""
    outcome = derived(source, folder / "d", **changes)
    searched = run(asked(source, folder / "s", **changes))
    assert outcome.complete
    return outcome, searched


def change(config, **changes):
    return RunConfig.model_validate(config.model_dump() | changes)


def asked(source, folder, **changes):
    """Return the config of an easier question."""
    config = json.loads(source[0].made.config)
    return RunConfig.model_validate({**config, **changes, "out": str(folder)})


def derived(source, folder, wordlist="", scores="", **changes):
    found, words = source
    points = parse_scores(scores) if scores else None
    wordlist = wordlist or found.made.words.source
    return derive(found, words, wordlist, points, out=str(folder), **changes)


def list_of(folder, words):
    path = folder / "list.txt"
    path.write_text("\n".join(sorted(words)) + "\n")
    return str(path)


@pytest.mark.parametrize("gone", [(), ("tea",), ("quit", "quiet"), tuple(LISTED[5:])])
def test_fewer_words_keep_the_boards_that_still_score(source, tmp_path, gone):
    path = list_of(tmp_path, set(LISTED) - set(gone))
    outcome, searched = derived_and_searched(source, tmp_path, wordlist=path)
    assert outcome.digest == searched.digest
    assert outcome.listed.boards == searched.listed.boards
    assert outcome.n_computed == 0
    assert summary(outcome.location).proven


@pytest.mark.parametrize("changes", [{"cutoff": 4}, {"scores": "0,1"}, {"scores": "1,1,0"}])
def test_a_higher_cutoff_and_lower_points(source, tmp_path, changes):
    outcome, searched = derived_and_searched(source, tmp_path, **changes)
    assert outcome.digest == searched.digest
    assert outcome.claim.statement == searched.claim.statement


def test_what_bounds_cover_and_who_was_doubted_come_along(source, tmp_path):
    """A host gave a verdict and was contradicted elsewhere; another one found the same again."""
    found, words = source
    rows = list(found.rows())
    good = next(row for row in rows if row.candidates)
    theirs = replace(good, host="liar")
    doubt = Row(
        found.question.digest, *good.key, QUARANTINED, 0, host="liar", message="contradicted"
    )
    made = replace(found.made, covers="")
    with Store.open(tmp_path / "doubted", found.question, made) as store:
        for part in ([theirs], [doubt], rows):
            store.append(part)
            store.flush()
    assert run(asked(source, tmp_path / "doubted")).n_computed == 0
    doubted = open_run(tmp_path / "doubted")
    outcome = derived((doubted, words), tmp_path / "d")
    assert outcome.listed.boards == derived(source, tmp_path / "e").listed.boards
    assert outcome.complete
    made = open_run(tmp_path / "d")
    assert "liar" in made.index.doubted_hosts
    assert "liar" not in {row.host for row in made.rows() if row.is_verdict}
    assert made.made.covers == ""


def test_it_goes_on_from_what_is_there(source, tmp_path):
    found, _ = source
    first = derived(source, tmp_path / "d", cutoff=4)
    again = derived(source, tmp_path / "d", cutoff=4)
    assert first.digest == again.digest
    told = read_events(LocalFolder(tmp_path / "d"))
    taken = [event.n_reused for event in told if isinstance(event, Reused)]
    assert taken == [len(found.index.places), 0]
    assert len(list(open_run(tmp_path / "d").rows())) == len(list(found.rows()))


def test_a_run_that_was_begun_there_keeps_its_verdicts(source, tmp_path):
    """Its classes may be split in other places."""
    found, _ = source
    config = asked(source, tmp_path / "d", cutoff=4)
    search = config.search.model_dump() | CUT_UP["search"]
    searched = run(change(config, search=search))
    assert len(list(open_run(tmp_path / "d").rows())) > len(list(found.rows()))
    assert derived(source, tmp_path / "d", cutoff=4).digest == searched.digest


def test_verdicts_of_a_host_that_is_in_doubt_there_are_left_to_a_search(source, tmp_path):
    """``derive`` searches nothing: repeating it would never settle them."""
    found, _ = source
    question = replace(found.question, cutoff=4)
    row = next(found.rows())
    doubt = Row(question.digest, row.class_id, "", QUARANTINED, 0, host=row.host)
    with Store.open(tmp_path / "d", question, found.made) as store:
        store.append([doubt], copied=True)
    outcome = derived(source, tmp_path / "d", cutoff=4)
    assert (outcome.complete, open_run(tmp_path / "d").doubted) == (False, [])
    assert "missing: 55" in outcome.message
    assert run(asked(source, tmp_path / "d", cutoff=4)).complete


@pytest.mark.parametrize(
    ("more", "changes", "said"),
    [
        ("sate", {}, "'sate' of 'list' is not in 'tiny'"),
        ("", {"scores": "2,1"}, "3 letters, such as 'ate', is worth 2, and 1"),
        ("", {"scores": "1,1,2"}, "5 letters, such as 'quiet', is worth 2, and 1"),
        ("", {"cutoff": 2}, "cutoff 2 is below that of .*, 3"),
    ],
)
def test_what_does_not_follow_is_refused_and_nothing_is_written(
    source, tmp_path, more, changes, said
):
    path = list_of(tmp_path, [*LISTED, *more.split()])
    with pytest.raises(InputError, match=said):
        derived(source, tmp_path / "d", wordlist=path, **changes)
    assert not (tmp_path / "d").exists()


def test_a_list_that_spells_other_letters_in_another_way_is_refused(source):
    found, words = source
    check_follows(found, found.question, words, words)
    with pytest.raises(InputError, match="with other symbols"):
        check_follows(found, found.question, words, replace(words, letters={"w": "\u00f1"}))


def test_a_word_that_no_board_holds_stands_in_no_way(source, tmp_path):
    path = list_of(tmp_path, [*LISTED, "seasoned"])
    outcome, searched = derived_and_searched(source, tmp_path, wordlist=path)
    assert outcome.digest == searched.digest


def test_other_classes_and_runs_that_are_not_proven_are_refused(source, tmp_path):
    found, words = source
    for asked_for in (
        replace(found.question, buckets="corner: abcdefghijklmnopqrstuvwxyz"),
        replace(found.question, rules=replace(found.question.rules, unfuse_parts=7)),
    ):
        with pytest.raises(FingerprintError, match=r"buckets|unfuse_parts"):
            check_follows(found, asked_for, words, words)
    config = asked(source, tmp_path / "d")
    run(change(config, search=config.search.model_dump() | {"unfuse_parts": 7}))
    with pytest.raises(FingerprintError, match="unfuse_parts"):
        derived(source, tmp_path / "d")
    half = tiny(tmp_path)
    run(half)
    part = next((tmp_path / "run" / "results").iterdir())
    manifest = tmp_path / "run" / "manifest.jsonl"
    part.unlink()
    manifest.write_text("")
    unproven = open_run(half.out)
    with pytest.raises(IncompleteError, match="not proven"):
        derive(unproven, load_wordlist(half.wordlist), half.wordlist)


def test_the_command_prints_the_claim(source, tmp_path, orderly):
    found, _ = source
    done = orderly.done(
        "derive", found.folder.where(""), "--cutoff", "4", "--out", str(tmp_path / "d")
    )
    assert "Proven." in done
    assert "0 verdicts computed" in done
