"""A run directory that a stranger hands over: rows rewritten, every seal right.  No reader may say
what is untrue.
"""

from __future__ import annotations

import contextlib
import csv
import fcntl
import io
import itertools
import json
import os
import re
import shutil
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.errors import IncompleteError, MismatchError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.wordlist import sources
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.configs.model import load_config
from orderly_boggle.results.proof.claim import read_claim, unscored_boards
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.lock import parse_owner
from orderly_boggle.results.store.made import list_name
from orderly_boggle.results.store.rows import QUARANTINED, SPLIT, Row
from orderly_boggle.results.store.run import open_run
from tests.cluster.whole_run import (
    depth,
    forge,
    seal_claim,
    seal_run,
    store_rows,
    verified,
    without_boards,
)
from tests.opened import files_opened

SQL = "SELECT board, score, proven FROM boards"
FORMATS = ("table", "json", "csv")
LIE = "Of all 456,976 2x2 boards, none is better than qqqq."
OTHER_CLAIM = "claim.json: it says that the run is proven; its rows do not"


@pytest.fixture(scope="module")
def climbed(tmp_path_factory):
    """A finished run whose cutoff was climbed to."""
    folder = tmp_path_factory.mktemp("climbed") / "run"
    assert run(
        load_config(None, {"dims": "2x2", "cutoff": "auto", "workers": 0, "out": str(folder)})
    ).complete
    (folder / files.LOCK).unlink(missing_ok=True)
    return folder


@pytest.fixture
def ask(orderly, tmp_path):
    """Ask a run with each reader in some formats; return the answers by reader and format, and the
    page.
    """
    (tmp_path / "boards.txt").write_text("aest,9\nzzzz,8\n")

    def call(folder, formats=("json",)):
        answers = {}
        for fmt in formats:
            answers["status", fmt] = orderly("status", folder, "--format", fmt)
            answers["top", fmt] = orderly("top", folder, "-n", 999, "--format", fmt)
            answers["query", fmt] = orderly("query", folder, SQL, "--format", fmt)
            answers["compare", fmt] = orderly(
                "compare", folder, tmp_path / "boards.txt", "--format", fmt
            )
        page = tmp_path / "page.html"
        page.unlink(missing_ok=True)
        answers["report", "table"] = orderly("report", folder, "--out", page)
        return answers, " ".join(page.read_text().split()) if page.exists() else ""

    return call


def rows_of(answer):
    return list(csv.DictReader(io.StringIO(answer.out)))


def check_not_proven(answers, page, code=4):
    """Check that all readers show what there is and say, in every format that was asked for, that
    it is not proven.
    """
    for (reader, fmt), answer in answers.items():
        assert answer.code == (0 if reader == "status" else code), (reader, fmt, answer)
        assert "Proven." not in answer.out
        assert reader == "status" or "found so far, not proven: " in answer.err, (reader, fmt)
        if fmt == "csv":
            assert all(item["proven"] == "False" for item in rows_of(answer))
            assert rows_of(answer) or reader not in ("status", "compare")
        if fmt == "table" and reader in ("top", "compare"):
            assert answer.out.startswith("found so far, not proven: ")
    if ("status", "table") in answers:
        told = answers["status", "table"].out
        so_far = ["boards below +found so far, not proven$", "best .*none found .*so far"]
        assert [bool(re.search(f"^{text}", told, re.MULTILINE)) for text in so_far].count(True) == 1
    found = {
        reader: json.loads(answers[reader, "json"].out)
        for reader in ("status", "top", "query", "compare")
    }
    status = found["status"]
    state = "faulty" if code == 5 else "incomplete"
    assert (status["state"], status["proven"], status["statement"]) == (state, False, None)
    assert status["why_not_proven"]
    assert status["n_classes_begun"] <= status["n_classes"]
    assert not any(item["proven"] for item in (*found["top"], *found["query"], found["compare"]))
    assert "<strong>Not proven" in page
    for false in ("Proven.</strong>", "No board reaches the cutoff", "hold all"):
        assert false not in page


# ---- what it says


@pytest.mark.parametrize("n_rows", [0, 60, None])
def test_of_an_unfinished_run_every_reader_says_found_so_far(ask, whole, tmp_path, n_rows):
    """All of its rows are there when its boards were not scored again."""
    kept = list(open_run(whole).rows())[:n_rows]
    folder = store_rows(tmp_path / "begun", open_run(whole), kept)
    answers, page = ask(folder, FORMATS if n_rows else ("json",))
    check_not_proven(answers, page)
    assert ("not scored again" if n_rows is None else "classes have no verdict") in answers[
        "top", "json"
    ].err
    assert (
        any(row.candidates for row in kept)
        or "The search has stored no board that reaches the cutoff so far." in page
    )


# ---- what is claimed


def is_verdict(level):
    return lambda row: depth(row) == level and row.status != SPLIT


def altered(where, **changes):
    """Return what changes the first row that meets a condition."""

    def change(rows):
        row = next(filter(where, rows))
        return [replace(item, **changes) if item is row else item for item in rows]

    return change


def without(level, *, forgotten=False):
    """Return what takes away the first verdict of a level, and its name from the split above if
    asked to.
    """

    def change(rows):
        gone = next(filter(is_verdict(level), rows))
        kept = [row for row in rows if row is not gone]
        if not forgotten:
            return kept
        changed = []
        for row in kept:
            children = [path for path in row.children if (row.class_id, path) != gone.key]
            changed.append(replace(row, children=tuple(children)))
        return changed

    return change


def foreign_board(place):
    """Return what puts a board of another class into the list of a row."""

    def change(rows):
        row = next(row for row in rows if len(row.candidates) > 3 and row.path)
        others = [other.candidates for other in rows if other.class_id != row.class_id]
        foreign = next(x for x in itertools.chain(*others) if x[1] >= 4)
        mixed = list(row.candidates)
        mixed[place] = foreign
        return [replace(item, candidates=tuple(mixed)) if item is row else item for item in rows]

    return change


def doubted(rows):
    return [
        *rows,
        Row(
            rows[0].fingerprint, *rows[0].key, QUARANTINED, 0, host=rows[0].host, message="differs"
        ),
    ]


# Rows rewritten, everything sealed again: how, exit code, what is said.
FORGED = {
    "half of the rows left out": (lambda rows: rows[:48] + rows[90:], 4, "classes have no verdict"),
    "a class left out": (without(0), 4, "1 of "),
    "a verdict left out, level 2": (without(2), 4, "1 part of"),
    "a verdict left out, level 4": (without(4), 4, "1 part of a class"),
    "a part forgotten, level 2": (without(2, forgotten=True), 5, "neither a child"),
    "a part forgotten, level 4": (without(4, forgotten=True), 5, "neither a child nor"),
    "the first board of another class": (foreign_board(0), 5, "which is not in it"),
    "the second board of another class": (foreign_board(1), 5, "which is not in it"),
    "the last board of another class": (foreign_board(-1), 5, "which is not in it"),
    "a class of another size": (
        altered(lambda row: not row.path, n_boards=1),
        5,
        "boards, its row says 1",
    ),
    "a part of another size": (
        altered(lambda row: depth(row) == 3 and row.n_boards > 2, n_boards=2),
        5,
        "boards, its row says 2",
    ),
    "a contradicted host": (doubted, 4, "come from hosts that replicas contradicted"),
    "a unit given up": (
        altered(is_verdict(0), status=QUARANTINED, host="", message="died"),
        4,
        "1 unit was given up",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_rows_rewritten_and_everything_sealed_again_prove_nothing(
    ask, whole, tmp_path, orderly, name
):
    change, code, told = FORGED[name]
    folder = forge(tmp_path / "forged", whole, change)
    found = summary(folder)
    assert (found.proven, found.is_faulty) == (False, code == 5)
    assert told in found.why_not
    assert any(OTHER_CLAIM in note for note in found.notes)
    with pytest.raises(MismatchError if code == 5 else IncompleteError):
        verified(folder)
    if name in ("half of the rows left out", "a part forgotten, level 4"):
        answers, page = ask(folder, FORMATS)
        check_not_proven(answers, page, code)
        assert all(OTHER_CLAIM in answer.err for answer in answers.values())
        assert told in answers["top", "json"].err
        assert orderly("verify", folder)[:2] == (code, "")


def test_every_reader_says_that_a_run_is_proven_and_takes_nothing_from_its_claim(
    ask, whole, tmp_path, orderly
):
    folder = shutil.copytree(whole, tmp_path / "run")
    before, page = ask(folder, FORMATS)
    assert {(answer.code, answer.err) for answer in before.values()} == {(0, "")}
    assert json.loads(before["status", "json"].out)["statement"].startswith(
        "Of all 456,976 2x2 boards"
    )
    assert all(item["proven"] is True for item in json.loads(before["top", "json"].out))
    assert json.loads(before["compare", "json"].out)["proven"] is True
    assert "Proven.</strong> Of all 456,976 2x2 boards" in page
    seal_claim(folder, whole, statement=LIE)
    after, page = ask(folder, FORMATS)
    for key, answer in after.items():
        assert answer.code == 0
        assert answer.out == before[key].out or key in (
            ("status", "json"),
            ("status", "csv"),
            ("report", "table"),
        )
        assert "do not believe" in answer.err
        assert files.CLAIM in answer.err
    assert LIE not in page.partition("Note:")[0]
    for changes in (
        {"statement": LIE},
        {"n_canonical": 1},
        {"best_score": 99, "best_boards": ["qqqq"]},
        {"boards": [["qqqq", 99]]},
        {"n_boards_covered": 456_977},
    ):
        seal_claim(folder, whole, **changes)
        status = orderly.json("status", folder)
        (note,) = status["notes"]
        assert files.CLAIM in note
        assert {**status, "notes": []} == json.loads(before["status", "json"].out)
        answer = orderly("verify", folder)
        assert (answer.code, answer.out) == (5, "")
        assert files.CLAIM in answer.err
    seal_claim(folder, whole, result_digest="0" * 64)
    answers, page = ask(folder)
    check_not_proven(answers, page)
    assert "not scored again" in answers["top", "json"].err
    assert files.CLAIM in answers["top", "json"].err
    assert orderly("verify", folder).code == 5


@pytest.mark.parametrize("kept_boards", ["none", "all others"])
def test_the_board_that_was_climbed_to_must_be_among_the_boards(
    ask, climbed, tmp_path, orderly, kept_boards
):
    """Another one as good does not stand for it."""
    run, shape = open_run(climbed), geometry("2x2")
    assert run.made.climbed is not None
    lost = canonical_board(run.made.climbed.board, shape)
    n_boards = len(unscored_boards(run).boards)

    def lose(row):
        kept = tuple(item for item in row.candidates if canonical_board(item[0], shape) != lost)
        return (
            replace(row, candidates=kept)
            if kept and kept_boards == "all others"
            else without_boards(row)
        )

    folder = forge(tmp_path / "forged", climbed, lambda rows: list(map(lose, rows)))
    assert len(unscored_boards(open_run(folder)).boards) == (
        n_boards - 1 if kept_boards == "all others" else 0
    )
    answers, page = ask(folder)
    check_not_proven(answers, page, 5)
    for code, *command in (
        (5, "verify", folder),
        (5, "run", "2x2", "--cutoff", "auto", "--workers", 0, "--out", folder),
        (5, "run", "2x2", "--workers", 0, "--out", folder, "--share", "1/1"),
    ):
        answer = orderly.fails(code, *command)
        assert "which scores 14; the rows do not list it" in answer


def test_rules_that_no_search_has_are_told(climbed, tmp_path, orderly):
    folder = shutil.copytree(climbed, tmp_path / "run")
    seal_run(folder, budgets={"unit_budget": "all"})
    assert "made.budgets.unit_budget is 'all'" in orderly.fails(3, "verify", folder)


def test_nonsense_for_the_board_that_was_climbed_to(climbed, tmp_path, orderly):
    assert orderly.json("status", climbed)["proven"]
    folder = shutil.copytree(climbed, tmp_path / "run")
    for nonsense, code, told in (
        ([], 3, "made.climbed is []"),
        ("aert", 3, "made.climbed is 'aert'"),
        ({"board": 7, "score": 14}, 3, "made.climbed.board is 7"),
        ({"board": "aert"}, 5, "does not say which board the cutoff was climbed to"),
        (
            {"board": "toolong", "score": 14},
            5,
            "does not say which board the cutoff was climbed to",
        ),
    ):
        seal_run(folder, climbed=nonsense)
        answer = orderly.fails(code, "verify", folder)
        assert told in answer


def test_a_name_is_repeated_only_if_what_it_names_is_that(ask, orderly, whole, tmp_path):
    folder = shutil.copytree(whole, tmp_path / "run")
    seal_run(folder, words={**asdict(open_run(folder).made.words), "name": "enable2k"})
    answers, page = ask(folder, FORMATS)
    told = page + "".join(" ".join(answer.out.split()) for answer in answers.values())
    honest = "a list that is not the enable2k that it is said to be"
    assert honest in told
    assert "enable2k" not in told.replace(honest, "")
    seal_run(folder, scores="standard", words={})
    statement = orderly.json("status", folder)["statement"]
    assert "and one point a word, " in statement
    assert "standard" not in statement
    assert "0 words of a list without a name (SHA-256 " in statement
    assert list_name("words", sources()["yawl"].sha256) == "yawl"
    assert list_name("words", "0" * 64) == "words"


def test_what_is_said_of_a_known_list_comes_from_its_digest(ask, orderly, climbed, tmp_path):
    folder = shutil.copytree(climbed, tmp_path / "run")
    honest = orderly.json("status", folder)
    lies = {"name": "scowl70", "n_words": 7, "left_out": {"of no worth": 5}, "letters": {"w": "ñ"}}
    seal_run(folder, wordlist=lies)
    answers, page = ask(folder, FORMATS)
    forged = json.loads(answers["status", "json"].out)
    assert (forged["statement"], forged["letters"]) == (honest["statement"], {})
    assert "111,460 words of scowl70" in page
    told = page + "".join(answer.out + answer.err for answer in answers.values())
    assert not any(lie in told for lie in ("the 7 words", "of no worth", "stands for ñ"))
    orderly.done("verify", folder)
    seal_run(folder, wordlist={})
    assert "with the 111,460 words of scowl70" in ask(folder)[1], "a run that says nothing"


# ---- rows that are not the run's own


def test_rows_of_other_classes_are_named_and_can_be_got_rid_of(ask, climbed, tmp_path, orderly):
    alien = 10**6

    def add(rows):
        return [*rows, *(replace(rows[0], class_id=class_id) for class_id in (alien, alien + 1))]

    folder = forge(tmp_path / "forged", climbed, add)
    answers, page = ask(folder)
    check_not_proven(answers, page, 5)
    (name,) = {part.name for part in open_run(folder).manifest.parts if part.last_id > alien}
    for reader in ("top", "query", "compare"):
        assert (
            f"rows of 2 classes that are not its own: {alien}, {alien + 1}, in {name}"
            in answers[reader, "json"].err
        )
        assert "--drop-damaged" in answers[reader, "json"].err
    status = json.loads(answers["status", "json"].out)
    assert status["n_classes_begun"] == status["n_classes_done"] == status["n_classes"] == 55
    assert "55 of 55 board classes" in page
    assert orderly("verify", folder).code == 5
    command = ("run", "2x2", "--cutoff", 14, "--workers", 0, "--out", folder)
    answer = orderly.fails(3, *command)
    assert str(alien) in answer
    assert "--drop-damaged" in answer
    orderly.done(*command, "--drop-damaged")
    orderly.done("verify", folder)
    mended = orderly.json("status", folder)
    assert mended["proven"]
    assert mended["digest"] == orderly.json("status", climbed)["digest"]


# ---- numbers


def test_the_largest_numbers_do_not_wrap(whole, tmp_path, orderly):
    """Of counters, and of bounds beside survivors, which eliminate nothing."""
    large, largest = 2**62, 2**63 - 1

    def enlarge(row):
        bound = largest if row.status == SPLIT else row.max_bound
        return replace(
            row,
            max_bound=bound,
            counters={**row.counters, "n_terms": large, "max_tree_bytes": largest},
        )

    folder = forge(tmp_path / "forged", whole, lambda rows: list(map(enlarge, rows)))
    n_terms = len(list(open_run(folder).rows())) * large
    statistics = orderly.json("verify", folder, "--write")["statistics"]
    written = read_claim(open_run(folder))
    assert written is not None
    assert written.statistics == statistics
    assert (statistics["n_terms"], statistics["max_tree_bytes"]) == (n_terms, largest)
    page = tmp_path / "page.html"
    orderly.done("report", folder, "--out", page)
    assert f"{n_terms:,} terms" in page.read_text()
    sql = (
        "SELECT sum(n_terms) AS n, max(max_bound) AS most, sum(max_bound) > most AS more FROM "
        "classes"
    )
    answer = orderly.json("query", folder, sql)
    assert answer == [{"n": n_terms, "most": largest, "more": True}]


# ---- the log and the note of a driver


def test_a_driver_has_no_better_board_than_the_rows_of_a_proven_run(climbed, tmp_path, orderly):
    """Anybody can write to the log, and whoever may open a run can lock it."""
    folder = shutil.copytree(climbed, tmp_path / "runs" / "run")
    lines = (folder / files.EVENTS).read_text().splitlines()
    last = next(event for event in map(json.loads, reversed(lines)) if event["event"] == "progress")
    forged = {**last, "time": time.time(), "best_score": 999, "best_board": "zzzz"}
    (folder / files.EVENTS).write_text(
        "".join(f"{line}\n" for line in [*lines, json.dumps(forged)])
    )
    with contextlib.ExitStack() as opened:
        descriptor = os.open(folder, os.O_RDONLY)
        opened.callback(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        told = orderly.json("status", folder)
        assert (told["proven"], told["driver"], told["best_score"]) == (True, "unknown", 14)
        for command in (
            ("status", folder),
            ("status", folder, "--verbose"),
            ("runs", folder.parent),
        ):
            assert "zzzz" not in orderly(*command).out
    note = {"user": "a", "host": "h", "pid": 7, "since": time.time()}
    assert parse_owner(json.dumps(note).encode()) is not None
    for change in ({"since": -1e300}, {"since": 1e300}, {"pid": 10**30}, {"pid": -1}):
        assert parse_owner(json.dumps(note | change).encode()) is None


# ---- readers only read


def content(folder):
    """Return everything about a directory that a writer would change."""
    paths = sorted([folder, *folder.rglob("*")])
    return [
        (path, path.stat()[:6], path.stat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in paths
    ]


def test_readers_write_nothing_and_work_where_nothing_can_be_written(
    ask, whole, tmp_path, orderly, monkeypatch
):
    folder = shutil.copytree(whole, tmp_path / "run")
    (folder / files.CLAIM).unlink()
    directories = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in directories:
        path.chmod(0o500)
    before = content(folder)
    monkeypatch.chdir(tmp_path)
    try:
        with files_opened() as opened:
            ask(folder)
            assert orderly("report", folder).code == 4
            verified = orderly("verify", folder)
        assert verified.code == 0, "no list of boards, no claim, nowhere to write"
        assert content(folder) == before
    finally:
        for path in directories:
            path.chmod(0o700)
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
    changed = {Path(item.path).name for item in opened if item.flags & writing}
    assert changed.isdisjoint(path.name for path in folder.rglob("*"))
    assert not any(map(files.is_temporary, changed))
    assert (tmp_path / "run.html").exists()
    orderly.done("verify", folder, "--write")
    assert orderly.json("status", folder)["proven"]
