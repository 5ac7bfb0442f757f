"""``merge``: shares of a run give the answer of one run; what does not go together is named, and
nothing is written.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
from dataclasses import replace

import pytest

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.cluster.planning.shares import Share
from orderly_boggle.results.log import read_events
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store import store
from orderly_boggle.results.store.rows import QUARANTINED, SPLIT, Row
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep import merging
from tests.cluster.small import CUT_UP, SMALL, config, rewritten
from tests.conftest import flip_bit
from tests.results.helpers import write_rows
from tests.samples import daily


@pytest.fixture
def shares(small_runs, tmp_path):
    """Return copies of the three shares."""
    return [
        shutil.copytree(small_runs / f"share{number}", tmp_path / f"share{number}")
        for number in (1, 2, 3)
    ]


@pytest.fixture
def merge(orderly):
    """Merge runs on the command line; a failure prints nothing."""

    def call(*arguments, code=0):
        answer = orderly("merge", *arguments)
        assert answer.code == code, answer.err
        assert code == 0 or not answer.out
        return answer

    return call


def contents(folder):
    """Return the bytes of every file of a run but those of its lock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (files.LOCK, files.OWNER)
    }


def rows_of(folder):
    return list(open_run(folder).rows())


@pytest.mark.parametrize(
    "question",
    daily([["2x2", "--cutoff", 12]], [["3x3", "--cutoff", 430]]),
    ids=["2x2", "3x3"],
)
def test_three_shares_are_one_run(orderly, merge, tmp_path, question):
    asked = ("run", *question, "--workers", 0)
    for number in (1, 2, 3):
        assert "share" in orderly.done(
            *asked, "--share", f"{number}/3", "--out", tmp_path / f"share{number}"
        )
    target, whole = tmp_path / "together", tmp_path / "whole"
    merge(target, *(tmp_path / f"share{number}" for number in (2, 3, 1)))
    assert orderly.json("status", target)["state"] == "incomplete", (
        "nobody has checked yet that it is complete"
    )
    done = orderly.done(*asked, "--out", target)
    assert "Proven." in done
    assert re.search(r"0 verdicts computed, (26|55) from before", done)
    orderly.done(*asked, "--out", whole)
    orderly.done("verify", target)
    assert orderly.json("status", target)["digest"] == orderly.json("status", whole)["digest"]
    claims = [json.loads((folder / files.CLAIM).read_text()) for folder in (target, whole)]
    assert claims[0] == claims[1], (
        "statement, digests and sums of counters are those of the one run"
    )


def test_split_classes_come_with_their_parts_or_are_refused(merge, small_runs, tmp_path):
    made = small_runs / "cut_up"
    assert any(row.status == SPLIT for row in rows_of(made))
    first = rewritten(made, tmp_path / "first", lambda rows: [row for row in rows if not row.path])
    rest = rewritten(made, tmp_path / "rest", lambda rows: [row for row in rows if row.path])
    merge(tmp_path / "target", rest, first)
    done = run(config(tmp_path / "target", **CUT_UP))
    assert (done.complete, done.n_computed) == (True, 0)
    assert done.digest == run(config(small_runs / "whole")).digest

    def lose(rows):
        split = next(row for row in rows if row.settled)
        return [replace(row, settled=row.settled[:-1]) if row is split else row for row in rows]

    lost = merge(tmp_path / "new", rewritten(made, tmp_path / "lost", lose), code=5)
    assert "neither a child nor settled" in lost.err
    other = merge(tmp_path / "new", small_runs / "whole", made, code=3)
    assert "another budget" in other.err, "another way to split a class is no fault"
    assert not (tmp_path / "new").exists()


def test_a_part_that_lost_its_line_is_told_by_whoever_takes_it_out(orderly, merge, shares):
    """What is left looks like what a killed writer leaves, but its rows are gone."""
    source, target, resumed = shares
    for spoilt in (target, resumed):
        (spoilt / files.MANIFEST).write_text("")
    told = merge(target, source).err
    part = r"dropped results/part-00000001-\w+\.parquet: "
    assert re.search(part + "no line of manifest.jsonl lists it", " ".join(told.split()))
    command = ["run", "2x2", "--cutoff", 12, "--buckets", SMALL["buckets"], "--workers", 0]
    told = orderly(*command, "--out", resumed).err
    assert re.search(part + "its rows are computed again no line of", " ".join(told.split()))
    assert "dropped" not in orderly(*command, "--out", resumed).err


def test_an_unfinished_run_is_carried_on_in_a_copy_and_brought_home(
    orderly, merge, small_runs, tmp_path
):
    """A run changes machines: copy, go on, merge the copy back; the copy of that is resumed and
    loses nothing.
    """
    ongoing, copy = tmp_path / "ongoing", tmp_path / "copy"
    n_rows = []
    for number in (1, 2, 3):
        if ongoing.exists():
            shutil.copytree(ongoing, copy)
        run(config(copy), share=Share(number, 3))
        before = contents(ongoing)
        told = json.loads(merge(ongoing, copy, "--format", "json").out)
        assert (told["new_parts"], told["verdicts_added"]) == (
            1,
            len(rows_of(ongoing)) - sum(n_rows[-1:]),
        )
        shutil.rmtree(copy)
        after = contents(ongoing)
        parts = [name for name in after if name.startswith(files.RESULTS)]
        assert len(parts) == number
        assert all(after[name] == before[name] for name in before if name in (*parts, files.RUN))
        assert after[files.MANIFEST].startswith(before.get(files.MANIFEST, b""))
        old = before.get(files.EVENTS, b"")
        assert after[files.EVENTS].startswith(old)
        lines = after[files.EVENTS].splitlines()
        assert len(set(lines)) == len(lines)
        added = [json.loads(line) for line in after[files.EVENTS][len(old) :].splitlines()]
        kinds = [event["event"] for event in added]
        assert [kind for kind in kinds if kind in ("started", "finished", "merged")] == [
            "started",
            "finished",
            "merged",
        ]
        assert "stored" not in kinds
        assert added[-1]["sources"] == ["copy"]
        n_rows.append(len(rows_of(ongoing)))
        sessions = {
            event.session for event in read_events(LocalFolder(ongoing)) if event.event == "started"
        }
        assert len(sessions) == number
    assert n_rows == sorted(set(n_rows))
    shutil.copytree(ongoing, copy)
    last = run(config(copy))
    assert (last.complete, last.n_computed, last.n_reused) == (True, 0, n_rows[-1])
    assert last.digest == run(config(small_runs / "whole")).digest
    orderly.done("verify", copy)


def other_verdict(rows):
    """Return the rows with one verdict changed so that nothing but another verdict can tell."""
    at = next(i for i, row in enumerate(rows) if len(row.candidates) == 1)
    changed = replace(
        rows[at],
        candidates=(),
        status="eliminated",
        counters={**rows[at].counters, "n_survivors": 1},
    )
    return [*rows[:at], changed, *rows[at + 1 :]]


def test_two_verdicts_on_one_unit_are_both_named_and_nothing_is_written(
    merge, small_runs, tmp_path
):
    whole = shutil.copytree(small_runs / "whole", tmp_path / "whole")
    other = rewritten(whole, tmp_path / "other", other_verdict)
    before = contents(whole), contents(other)
    key = next(row.key for row in rows_of(whole) if len(row.candidates) == 1)
    for runs in ((whole, other), (tmp_path / "target", whole, other)):
        answer = merge(*runs, code=3)
        assert "different verdicts" in answer.err
        for folder in (whole, other):
            (part,) = open_run(folder).manifest.parts
            number = next(i for i, row in enumerate(rows_of(folder)) if row.key == key)
            assert f"{folder / part.name} row {number}: " in answer.err
    assert (contents(whole), contents(other)) == before
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize(
    "fault", ["bit", "gone", "foreign class", "foreign part", "size", "run.json"]
)
def test_a_source_that_cannot_be_trusted_is_named_and_nothing_is_written(
    merge, small_runs, shares, tmp_path, fault
):
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
            "foreign class": {
                "class_id": 1 + max(row.class_id for row in rows_of(small_runs / "whole"))
            },
            "foreign part": {"class_id": 10**6, "path": "0=ae"},
            "size": {"n_boards": 1},
        }[fault]
        bad = rewritten(
            bad, tmp_path / "bad", lambda rows: [replace(rows[0], **changes), *rows[1:]]
        )
    before = contents(target)
    for into in (target, tmp_path / "new"):
        assert bad.name in merge(into, good, bad, code=5 if fault == "size" else 3).err
    assert contents(target) == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"cutoff": 13}, "cutoff: asked for"),
        ({"buckets": "aeiou bcdfghjklmnpqrstvwxyz"}, "buckets: asked for"),
        ({"search": {"unfuse_parts": 5}}, "unfuse_parts: asked for 3, stored 5"),
    ],
)
def test_runs_of_another_question_or_structure_are_refused(merge, shares, tmp_path, changes, told):
    one, other = shares[0], tmp_path / "other"
    run(config(other, **changes), share=Share(1, 3))
    before = contents(one), contents(other)
    for runs in ((one, other), (other, one)):
        answer = merge(*runs, code=3)
        assert (told.partition(":")[0] in answer.err, "--out" in answer.err) == (True, False)
    assert told in merge(tmp_path / "new", one, other, code=3).err
    assert (contents(one), contents(other)) == before
    assert not (tmp_path / "new").exists()


def test_a_target_that_promises_more_than_a_source_is_refused(merge, small_runs, tmp_path):
    old = rewritten(small_runs / "share1", tmp_path / "old", list, covers="")
    target = shutil.copytree(small_runs / "share2", tmp_path / "target")
    assert "max_bound" in merge(target, old, code=3).err
    merge(tmp_path / "new", target, old)
    assert open_run(tmp_path / "new").made.covers == ""


def test_what_is_no_run_or_not_free_is_refused(merge, shares, tmp_path):
    one, two, _ = shares
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    merge(tmp_path / "new", tmp_path / "nothing", code=2)
    merge(tmp_path / "new", tmp_path / "empty", code=3)
    merge(tmp_path / "full", one, code=3)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["letter.txt"]
    assert (
        "target and a source" in merge(one, two, tmp_path / "share2" / ".." / "share1", code=2).err
    )
    assert not (tmp_path / "new").exists()
    with Store.open(one, open_run(one).question):
        assert "is being written by" in merge(one, two, code=3).err
        merge(two, one)


def test_a_doubt_about_a_host_comes_along_and_takes_the_claim_with_it(
    orderly, merge, small_runs, shares, tmp_path
):
    """Both hosts are this machine; one of its verdicts was contradicted in the source."""
    target = shutil.copytree(small_runs / "whole", tmp_path / "target")
    n_rows = len(rows_of(target))
    found = open_run(shares[0])
    row = next(found.rows())
    write_rows(
        shares[0],
        [
            Row(
                found.question.digest,
                *row.key,
                QUARANTINED,
                0,
                host=row.host,
                message="contradicted",
            )
        ],
        found.question,
    )
    assert (target / files.CLAIM).is_file()
    told = json.loads(merge(target, shares[0], "--format", "json").out)
    assert (told["verdicts_added"], told["failures_added"]) == (0, 1)
    assert not (target / files.CLAIM).exists()
    assert orderly.json("status", target)["state"] == "incomplete"
    assert len(open_run(target).doubted) == n_rows
    assert orderly("verify", target).code == 4
    again = run(config(target))
    assert (again.complete, again.n_computed) == (True, n_rows)


def test_a_unit_given_up_in_one_run_and_found_in_another_is_found(orderly, merge, shares, tmp_path):
    def give_up(rows):
        lost = Row(rows[0].fingerprint, *rows[0].key, QUARANTINED, 0, message="three workers died")
        return [lost, *rows[1:]]

    target = tmp_path / "target"
    merge(target, rewritten(shares[0], tmp_path / "bad", give_up), *shares[1:])
    assert orderly.json("status", target)["n_units_quarantined"] == 1
    merge(target, shares[0])
    assert orderly.json("status", target)["n_units_quarantined"] == 0
    orderly.done("verify", target)


METHODS = {"publish": files.RESULTS, "append_line": files.MANIFEST}


@pytest.mark.parametrize(
    ("method", "number"),
    daily([("publish", 3), ("append_line", 1)], itertools.product(METHODS, (1, 3))),
)
def test_a_merge_that_fails_half_way_goes_on_where_it_was(
    merge, shares, tmp_path, monkeypatch, method, number
):
    """A part, or the line about it in the manifest, cannot be written; the first one, or the
    third.
    """
    monkeypatch.setattr(merging, "PART_ROWS", 5)
    monkeypatch.setattr(store, "FLUSH_ROWS", 5)
    target = tmp_path / "target"
    working, begins = getattr(LocalFolder, method), METHODS[method]
    n_calls, n_that_fit = 0, number - 1

    def fail(self, name, *rest):
        nonlocal n_calls
        n_calls += name.startswith(begins)
        if n_calls > n_that_fit:
            raise StoreError("no room")
        return working(self, name, *rest)

    monkeypatch.setattr(LocalFolder, method, fail)
    merge(target, *shares, code=3)
    expected = sum(len(rows_of(share)) for share in shares)
    assert len(rows_of(target)) == 5 * n_that_fit < expected
    n_that_fit = expected
    merge(target, *shares)
    keys = [row.key for row in rows_of(target)]
    assert len(keys) == len(set(keys)) == expected
    done = run(config(target))
    assert (done.complete, done.n_computed) == (True, 0)


def test_runs_in_a_bucket_are_merged_into_one_in_a_bucket(orderly, merge, bucket, shares, tmp_path):
    target = f"{bucket}/target"
    merge(f"{bucket}/share1", shares[0])
    merge(target, f"{bucket}/share1", *shares[1:])
    orderly.done("verify", target)
    merge(tmp_path / "local", target)
    assert sorted(map(repr, rows_of(tmp_path / "local"))) == sorted(map(repr, rows_of(target)))
    assert read_events(LocalFolder(tmp_path / "local"))[-1].event == "merged"


# ---- merging is a join: order and grouping do not matter


@pytest.fixture(scope="module")
def three(small_runs, tmp_path_factory):
    """Return runs a, b and c.  Host ``bad`` was contradicted in ``a``; in ``c`` another found some
    of its units.
    """
    folder = tmp_path_factory.mktemp("three")
    rows = rows_of(small_runs / "whole")
    third = len(rows) // 3
    doubt = Row(
        rows[0].fingerprint, *rows[0].key, QUARANTINED, 0, host="bad", message="contradicted"
    )
    held = {
        "a": [replace(rows[0], host="good"), doubt],
        "b": [replace(row, host="bad") for row in rows[: 2 * third]],
        "c": [replace(row, host="good" if i % 2 else "bad") for i, row in enumerate(rows[third:])],
    }
    for name, theirs in held.items():
        rewritten(small_runs / "whole", folder / name, lambda _, theirs=theirs: theirs)
    return folder


ORDERS = list(itertools.permutations("abc"))
GROUPED = [
    *("-".join(order) for order in ORDERS),
    *("".join(order) for order in ORDERS),
    *(f"{one}{two}-{three}" for one, two, three in ORDERS),
    *(f"{one}-{two}{three}" for one, two, three in ORDERS),
]


@pytest.mark.parametrize("groups", daily(GROUPED[::5], GROUPED))
def test_merging_in_any_order_gives_the_same_doubts(
    orderly, merge, three, small_runs, tmp_path, groups
):
    target = tmp_path / "target"
    for group in groups.split("-"):
        merge(target, *(three / name for name in group))
    found = open_run(target)
    every = [row for name in "abc" for row in rows_of(three / name)]
    good = {row.key for row in every if row.host == "good" and row.is_verdict}
    assert found.doubted == sorted({row.key for row in rows_of(small_runs / "whole")} - good)
    assert len(found.doubted) > 10
    assert {(row.key, row.host, row.is_verdict) for row in found.rows()} == {
        (row.key, row.host, row.is_verdict) for row in every
    }
    answer = orderly("verify", target)
    assert answer.code == 4
    assert (
        f"{len(found.doubted)} verdicts come from hosts that replicas contradicted (bad)"
        in answer.err
    )


def test_merged_runs_are_merged_further_and_extended_and_the_doubt_stays(merge, three, tmp_path):
    everything = tmp_path / "cab"
    merge(tmp_path / "ab", three / "a", three / "b")
    merge(everything, three / "c", tmp_path / "ab")
    merge(tmp_path / "all", *(three / name for name in "abc"))
    doubted = open_run(everything).doubted
    assert doubted == open_run(tmp_path / "all").doubted
    first, *_ = rows_of(tmp_path / "all")
    assert first.status == QUARANTINED, "a merge that is killed leaves no row without its doubt"
    extended = config(tmp_path / "extended", cutoff=13)
    assert not run(extended, extends=str(three / "a"), share=Share(1, 3)).complete
    assert open_run(extended.out).index.doubted_hosts == {"bad"}
    whole = run(config(everything))
    assert (whole.complete, whole.n_computed) == (True, len(doubted))
    assert open_run(everything).doubted == []
    before = contents(everything)
    again = merge(everything, *(three / name for name in "bca"), "--format", "json")
    assert json.loads(again.out)["verdicts_added"] == 0
    assert contents(everything) == before
