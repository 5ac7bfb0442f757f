"""``merge``: shares of a run give the answer of one run; what does not go together is named, and nothing is written."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from dataclasses import replace

import pytest

from boardclass.errors import StoreError
from cluster.driver.driver import run
from cluster.planning.shares import Share
from results.log import read_events
from results.storage import files
from results.storage.local import LocalFolder
from results.store import store
from results.store.rows import QUARANTINED, SPLIT, Row
from results.store.run import open_run
from results.store.store import Store
from results.upkeep import merging
from tests.cluster.small import CUT_UP, config, rewritten
from tests.conftest import flip_bit
from tests.samples import daily


@pytest.fixture
def shares(small_runs, tmp_path):
    """Return copies of the three shares."""
    return [shutil.copytree(small_runs / f"share{number}", tmp_path / f"share{number}") for number in (1, 2, 3)]


def contents(folder):
    """Return the bytes of every file of a run but those of its lock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (files.LOCK, files.OWNER)
    }


def status(orderly, folder):
    return json.loads(orderly("status", folder, "--format", "json").out)


@pytest.mark.parametrize(
    "question",
    daily([["3x3", "--cutoff", 430], ["2x2", "--cutoff", 12]], lambda question: question[0] == "2x2"),
    ids=["3x3", "2x2"],
)
def test_three_shares_are_one_run(orderly, tmp_path, question):
    asked = ("run", *question, "--workers", 0)
    for number in (1, 2, 3):
        answer = orderly(*asked, "--share", f"{number}/3", "--out", tmp_path / f"share{number}")
        assert (answer.code, "share" in answer.out) == (0, True), answer.err
    target = tmp_path / "together"
    merged = orderly("merge", target, *(tmp_path / f"share{number}" for number in (2, 3, 1)))
    assert merged.code == 0, merged.err
    assert status(orderly, target)["state"] == "incomplete", "nobody has checked yet that it is complete"
    done = orderly(*asked, "--out", target)
    assert done.code == 0, done.err
    assert "Proven." in done.out
    assert re.search(r"0 verdicts computed, (26|55) from before", done.out)
    assert orderly("verify", target).code == 0
    assert orderly(*asked, "--out", tmp_path / "whole").code == 0
    records = [status(orderly, tmp_path / name) for name in ("together", "whole")]
    assert records[0]["digest"] == records[1]["digest"]
    assert orderly("verify", tmp_path / "whole").code == 0
    claims = [json.loads((tmp_path / name / files.CLAIM).read_text()) for name in ("together", "whole")]
    assert claims[0] == claims[1], "statement, digests and sums of counters are those of the one run"


def test_parts_that_are_there_stay_as_they_are_and_one_is_added(orderly, shares):
    target, *others = shares
    before = contents(target)
    answer = orderly("merge", target, *others, "--format", "json")
    assert answer.code == 0, answer.err
    after = contents(target)
    assert json.loads(answer.out)["new_parts"] == len(set(after) - set(before)) == 1
    kept = [name for name in before if name.startswith(files.RESULTS)]
    assert kept
    assert all(after[name] == before[name] for name in kept)
    for name in (files.MANIFEST, files.EVENTS):
        assert after[name].startswith(before[name])
    assert after[files.RUN] == before[files.RUN]


def test_split_classes_come_with_their_parts(orderly, small_runs, tmp_path):
    rows = list(open_run(small_runs / "cut_up").rows())
    assert any(row.status == SPLIT for row in rows)
    first = rewritten(small_runs / "cut_up", tmp_path / "first", lambda rows: [row for row in rows if not row.path])
    rest = rewritten(small_runs / "cut_up", tmp_path / "rest", lambda rows: [row for row in rows if row.path])
    assert orderly("merge", tmp_path / "target", rest, first).code == 0
    done = run(config(tmp_path / "target", **CUT_UP))
    assert (done.complete, done.n_computed) == (True, 0)
    assert done.digest == run(config(small_runs / "whole")).digest


def test_a_source_that_lost_a_part_of_a_split_is_refused(orderly, small_runs, tmp_path):
    def lose(rows):
        split = next(row for row in rows if row.settled)
        return [replace(row, settled=row.settled[:-1]) if row is split else row for row in rows]

    lost = rewritten(small_runs / "cut_up", tmp_path / "lost", lose)
    answer = orderly("merge", tmp_path / "target", lost)
    assert (answer.code, answer.out) == (5, "")
    assert "neither a child nor settled" in answer.err
    assert not (tmp_path / "target").exists()


def test_an_unfinished_run_is_carried_on_in_a_copy_and_brought_home(orderly, small_runs, tmp_path):
    """The way of results/ongoing: copy, go on, merge the copy back; the copy of that is resumed and loses nothing."""
    ongoing, copy = tmp_path / "ongoing", tmp_path / "copy"
    n_rows = []
    for number in (1, 2, 3):
        if ongoing.exists():
            shutil.copytree(ongoing, copy)
        run(config(copy), share=Share(number, 3))
        before = contents(ongoing)
        assert orderly("merge", ongoing, copy).code == 0
        shutil.rmtree(copy)
        after = contents(ongoing)
        parts = [name for name in after if name.startswith(files.RESULTS)]
        assert len(parts) == number
        assert all(after[name] == before[name] for name in before if name in parts)
        old = before.get(files.EVENTS, b"").splitlines()
        new = after[files.EVENTS].splitlines()
        assert new[: len(old)] == old
        assert len(set(new)) == len(new)
        added = [json.loads(line) for line in new[len(old) :]]
        told = [event["event"] for event in added if event["event"] in ("started", "finished", "merged", "stored")]
        assert told == ["started", "finished", "merged"]
        assert added[-1]["sources"] == ["copy"]
        n_rows.append(len(list(open_run(ongoing).rows())))
        sessions = {event["session"] for event in read_events(LocalFolder(ongoing)) if event["event"] == "started"}
        assert len(sessions) == number
    assert n_rows == sorted(set(n_rows))
    shutil.copytree(ongoing, copy)
    last = run(config(copy))
    assert (last.complete, last.n_computed, last.n_reused) == (True, 0, n_rows[-1])
    assert last.digest == run(config(small_runs / "whole")).digest
    assert orderly("verify", copy).code == 0


def other_verdict(rows):
    """Return the rows with one verdict changed so that nothing but another verdict can tell."""
    at = next(i for i, row in enumerate(rows) if len(row.candidates) == 1)
    changed = replace(rows[at], candidates=(), status="eliminated", counters={**rows[at].counters, "n_survivors": 1})
    return [*rows[:at], changed, *rows[at + 1 :]]


@pytest.mark.parametrize("where", ["source and target", "two sources, new target"])
def test_two_verdicts_on_one_unit_are_both_named_and_nothing_is_written(orderly, small_runs, tmp_path, where):
    whole = shutil.copytree(small_runs / "whole", tmp_path / "whole")
    other = rewritten(whole, tmp_path / "other", other_verdict)
    target = whole if where == "source and target" else tmp_path / "target"
    before = contents(whole), contents(other)
    answer = orderly("merge", target, *([other] if target is whole else [whole, other]))
    assert (answer.code, answer.out) == (3, "")
    assert "different verdicts" in answer.err
    for folder in (whole, other):
        (part,) = open_run(folder).manifest.parts
        key = next(row.key for row in open_run(small_runs / "whole").rows() if len(row.candidates) == 1)
        number = next(i for i, row in enumerate(open_run(folder).rows()) if row.key == key)
        assert f"{folder / part.name} row {number}: " in answer.err
    assert (contents(whole), contents(other)) == before
    assert target is whole or not target.exists()


def test_another_way_to_split_a_class_is_said_to_be_no_fault(orderly, small_runs, tmp_path):
    answer = orderly("merge", tmp_path / "target", small_runs / "whole", small_runs / "cut_up")
    assert answer.code == 3
    assert "another budget" in answer.err


@pytest.mark.parametrize("fault", ["bit", "gone", "foreign class", "foreign part", "size", "run.json"])
def test_a_source_that_cannot_be_trusted_is_named_and_nothing_is_written(orderly, small_runs, shares, tmp_path, fault):
    target, good, bad = shares
    (part,) = (bad / files.RESULTS).iterdir()
    if fault == "bit":
        flip_bit(part)
    elif fault == "gone":
        part.unlink()
    elif fault == "run.json":
        (bad / files.RUN).write_text("{}")
    else:
        changes = {
            "foreign class": {"class_id": 1 + max(row.class_id for row in open_run(small_runs / "whole").rows())},
            "foreign part": {"class_id": 10**6, "path": "0=ae"},
            "size": {"n_boards": 1},
        }[fault]
        bad = rewritten(bad, tmp_path / "bad", lambda rows: [replace(rows[0], **changes), *rows[1:]])
    before = contents(target)
    for into in (target, tmp_path / "new"):
        answer = orderly("merge", into, good, bad)
        assert (answer.code, answer.out) == (5 if fault == "size" else 3, "")
        assert bad.name in answer.err
    assert contents(target) == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"cutoff": 13}, "cutoff: asked for"),
        ({"buckets": "aeiou bcdfghjklmnpqrstvwxyz"}, "partition: asked for"),
        ({"search": {"unfuse_parts": 5}}, "unfuse_parts: asked for 3, stored 5"),
    ],
)
def test_runs_of_another_question_or_structure_are_refused(orderly, small_runs, shares, tmp_path, changes, told):
    run(config(tmp_path / "other", **changes), share=Share(1, 3))
    before = contents(shares[0]), contents(tmp_path / "other")
    for command in ((shares[0], tmp_path / "other"), (tmp_path / "other", shares[0])):
        answer = orderly("merge", *command)
        assert (answer.code, answer.out) == (3, "")
        assert told.partition(":")[0] in answer.err
        assert "--out" not in answer.err
    assert told in orderly("merge", tmp_path / "new", shares[0], tmp_path / "other").err
    assert (contents(shares[0]), contents(tmp_path / "other")) == before
    assert not (tmp_path / "new").exists()


def test_a_target_that_promises_more_than_a_source_is_refused(orderly, small_runs, tmp_path):
    old = rewritten(small_runs / "share1", tmp_path / "old", list, max_bound_covers="")
    target = shutil.copytree(small_runs / "share2", tmp_path / "target")
    answer = orderly("merge", target, old)
    assert answer.code == 3
    assert "max_bound" in answer.err
    assert orderly("merge", tmp_path / "new", target, old).code == 0
    assert open_run(tmp_path / "new").info["max_bound_covers"] == ""


def test_what_is_no_run_is_refused(orderly, shares, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    assert orderly("merge", tmp_path / "new", tmp_path / "nothing").code == 2
    assert orderly("merge", tmp_path / "new", tmp_path / "empty").code == 3
    assert orderly("merge", tmp_path / "full", shares[0]).code == 3
    assert (tmp_path / "full" / "letter.txt").read_text() == "dear"
    itself = orderly("merge", shares[0], shares[1], shares[0].parent / "share2" / ".." / "share1")
    assert itself.code == 2
    assert "target and a source" in itself.err
    assert not (tmp_path / "new").exists()


def test_the_target_is_locked_meanwhile_and_a_source_need_not_be_free(orderly, shares):
    found = open_run(shares[0])
    with Store.open(shares[0], found.fingerprint):
        locked = orderly("merge", shares[0], shares[1])
        assert locked.code == 3
        assert "is being written by" in locked.err
        assert orderly("merge", shares[1], shares[0]).code == 0


def test_a_doubt_about_a_host_comes_along_and_takes_the_claim_with_it(orderly, small_runs, shares, tmp_path):
    """Both hosts are this machine; one of its verdicts was contradicted in the source."""
    target = shutil.copytree(small_runs / "whole", tmp_path / "target")
    found = open_run(shares[0])
    row = next(found.rows())
    with Store.open(shares[0], found.fingerprint) as there:
        there.append([Row(found.fingerprint.digest, *row.key, QUARANTINED, 0, host=row.host, message="contradicted")])
    assert (target / files.CLAIM).is_file()
    answer = orderly("merge", target, shares[0], "--format", "json")
    assert (json.loads(answer.out)["verdicts_added"], json.loads(answer.out)["failures_added"]) == (0, 1)
    assert not (target / files.CLAIM).exists()
    assert status(orderly, target)["state"] == "incomplete"
    assert len(open_run(target).doubted) == len(list(open_run(small_runs / "whole").rows()))
    assert orderly("verify", target).code == 4
    again = run(config(target))
    assert again.complete
    assert again.n_computed == len(list(open_run(small_runs / "whole").rows()))


def test_a_unit_given_up_in_one_run_and_found_in_another_is_found(orderly, small_runs, shares, tmp_path):
    def give_up(rows):
        lost = Row(rows[0].fingerprint, *rows[0].key, QUARANTINED, 0, message="three workers died")
        return [lost, *rows[1:]]

    bad = rewritten(shares[0], tmp_path / "bad", give_up)
    assert orderly("merge", tmp_path / "target", bad, *shares[1:]).code == 0
    assert status(orderly, tmp_path / "target")["n_units_quarantined"] == 1
    assert orderly("merge", tmp_path / "target", shares[0]).code == 0
    assert status(orderly, tmp_path / "target")["n_units_quarantined"] == 0
    assert orderly("verify", tmp_path / "target").code == 0


@pytest.mark.parametrize("where", ["first part", "line of the first part", "third part", "line of the third part"])
def test_a_merge_that_fails_half_way_goes_on_where_it_was(orderly, shares, tmp_path, monkeypatch, where):
    monkeypatch.setattr(merging, "PART_ROWS", 5)
    monkeypatch.setattr(store, "FLUSH_ROWS", 5)
    target = tmp_path / "target"
    number = 1 if "first" in where else 3
    method = "append_line" if "line" in where else "publish"
    working = getattr(LocalFolder, method)
    n_calls = 0

    def fail(self, name, *rest):
        nonlocal n_calls
        n_calls += name == files.MANIFEST if "line" in where else name.startswith(files.RESULTS)
        if n_calls >= number:
            raise StoreError("no room")
        return working(self, name, *rest)

    monkeypatch.setattr(LocalFolder, method, fail)
    assert orderly("merge", target, *shares).code == 3
    expected = sum(len(list(open_run(share).rows())) for share in shares)
    assert len(list(open_run(target).rows())) == 5 * (number - 1) < expected
    monkeypatch.setattr(LocalFolder, method, working)
    assert orderly("merge", target, *shares).code == 0
    rows = [row.key for row in open_run(target).rows()]
    assert len(rows) == len(set(rows)) == expected
    done = run(config(target))
    assert (done.complete, done.n_computed) == (True, 0)


def test_runs_in_a_bucket_are_merged_into_one_in_a_bucket(orderly, bucket, shares):
    target = f"{bucket}/target"
    assert orderly("merge", f"{bucket}/share1", shares[0]).code == 0
    assert orderly("merge", target, f"{bucket}/share1", *shares[1:]).code == 0
    assert orderly("verify", target).code == 0
    local = shares[0].parent / "local"
    assert orderly("merge", local, target).code == 0
    assert sorted(map(repr, open_run(local).rows())) == sorted(map(repr, open_run(target).rows()))
    assert read_events(LocalFolder(local))[-1]["event"] == "merged"


# ---- merging is a join: order and grouping do not matter


@pytest.fixture(scope="module")
def three(small_runs, tmp_path_factory):
    """Return runs a, b and c.  Host ``bad`` was contradicted in ``a``; in ``c`` another found some of its units."""
    folder = tmp_path_factory.mktemp("three")
    rows = list(open_run(small_runs / "whole").rows())
    third = len(rows) // 3
    doubt = Row(rows[0].fingerprint, *rows[0].key, QUARANTINED, 0, host="bad", message="contradicted")
    held = {
        "a": [replace(rows[0], host="good"), doubt],
        "b": [replace(row, host="bad") for row in rows[: 2 * third]],
        "c": [replace(row, host="good" if i % 2 else "bad") for i, row in enumerate(rows[third:])],
    }
    for name, theirs in held.items():
        rewritten(small_runs / "whole", folder / name, lambda _, theirs=theirs: theirs)
    return folder, sorted(row.key for row in rows)


GROUPED = [
    *([[name] for name in order] for order in itertools.permutations("abc")),
    *([[*order]] for order in itertools.permutations("abc")),
    *([[one, two], [three]] for one, two, three in itertools.permutations("abc")),
    *([[one], [two, three]] for one, two, three in itertools.permutations("abc")),
]


def merged(orderly, three, target, groups):
    for group in groups:
        assert orderly("merge", target, *(three / name for name in group)).code == 0
    return open_run(target)


@pytest.mark.parametrize(
    "groups", daily(GROUPED, lambda groups: groups in GROUPED[::5]), ids=lambda groups: "-".join(map("".join, groups))
)
def test_merging_in_any_order_gives_the_same_doubts(orderly, three, tmp_path, groups):
    folder, keys = three
    found = merged(orderly, folder, tmp_path / "target", groups)
    good = {row.key for name in "ac" for row in open_run(folder / name).rows() if row.host == "good" and row.is_verdict}
    assert found.doubted == [key for key in keys if key not in good]
    assert len(found.doubted) > 10
    every = {(row.key, row.host, row.is_verdict) for name in "abc" for row in open_run(folder / name).rows()}
    assert {(row.key, row.host, row.is_verdict) for row in found.rows()} == every
    answer = orderly("verify", tmp_path / "target")
    assert answer.code == 4
    assert f"{len(found.doubted)} verdicts come from hosts that replicas contradicted (bad)" in answer.err


def test_merged_runs_are_merged_further_and_extended_and_the_doubt_stays(orderly, three, tmp_path):
    folder, keys = three
    merged(orderly, folder, tmp_path / "ab", ["a", "b"])
    assert orderly("merge", tmp_path / "cab", folder / "c", tmp_path / "ab").code == 0
    doubted = merged(orderly, folder, tmp_path / "all", ["abc"]).doubted
    assert open_run(tmp_path / "cab").doubted == doubted
    extended = config(tmp_path / "extended", cutoff=13)
    first = run(extended, extends=str(folder / "a"), share=Share(1, 3))
    assert not first.complete
    assert open_run(extended.out).index.doubted_hosts == {"bad"}
    whole = run(config(tmp_path / "cab"))
    assert whole.complete
    assert whole.n_computed == len(doubted)
    assert open_run(tmp_path / "cab").doubted == []
    before = contents(tmp_path / "cab")
    again = orderly("merge", tmp_path / "cab", *(folder / name for name in "bca"), "--format", "json")
    assert json.loads(again.out)["verdicts_added"] == 0
    assert contents(tmp_path / "cab") == before
    assert len(keys) == len(open_run(tmp_path / "cab").index.places)
