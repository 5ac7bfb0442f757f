"""Rows are checked as if hostile; the writer: resume, duplicates, conflicts, one driver, leftovers,
foreign folders.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import FrozenInstanceError, fields, replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from orderly_boggle.boardclass.errors import InputError, StoreError
from orderly_boggle.boardclass.parts import max_depth
from orderly_boggle.results.errors import (
    ConflictError,
    DamagedError,
    FingerprintError,
    RowError,
    StoreLockedError,
)
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.storage.lock import current_owner
from orderly_boggle.results.store.made import Made
from orderly_boggle.results.store.parts import Part, ahead, describe, parse_parquet, serialise
from orderly_boggle.results.store.places import BUFFERED
from orderly_boggle.results.store.rows import (
    COUNTERS,
    SCHEMA,
    Key,
    check_table,
    checked,
    from_table,
    to_table,
)
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import FLUSH_ROWS, FLUSH_SECONDS, Store, rows_of_next_part
from orderly_boggle.search.question import Question
from tests.opened import files_opened
from tests.results.helpers import all_rows, row, split_rows, toy_question, write_rows

FOUND = {"status": "candidates", "candidates": (("wxyz", 94),)}
HOSTILE = [
    ("belongs to another run", {"fingerprint": "0" * 64}),
    ("class_id is negative", {"class_id": -1}),
    ("status is unknown", {"status": "proved"}),
    ("n_boards is not a number", {"n_boards": -3}),
    ("n_boards is more than there are", {"n_boards": 26**4 + 1}),
    ("n_boards is more than there are", {"n_boards": 10**40 - 1}),
    ("a verdict needs boards", {"n_boards": 0}),
    ("attempt < 1", {"attempt": 0}),
    ("seconds is negative", {"seconds": -1.0}),
    ("seconds is not a number", {"seconds": math.nan}),
    ("seconds is more than any unit takes", {"seconds": 1e308}),
    ("host is longer", {"host": "h" * 5000}),
    ("host is missing", {"host": None}),
    ("n_nodes is negative", {"counters": {"n_nodes": -1}}),
    ("unknown counter 'n_node'", {"counters": {"n_node": 1}}),
    ("max_bound is negative", {"max_bound": -1}),
    ("peak_rss_bytes is negative", {"peak_rss_bytes": -1}),
    ("by bounds below the cutoff", {"max_bound": 80}),
    ("path is not of the form", {"path": "0=ab//1=c"}),
    ("has more parts than", {"path": "/".join(["0=a"] * (max_depth(4) + 1))}),
    ("needs candidates", {"status": "candidates"}),
    ("do not go together", {"status": "error", "candidates": (("wxyz", 94),)}),
    ("do not go together", {"candidates": (("wxyz", 94),)}),
    ("goes with children", {"status": "split"}),
    ("goes with children", {"children": ("0=a",)}),
    ("is not a board of 4 letters", {**FOUND, "candidates": (("wxy", 94),)}),
    ("is not a board of 4 letters", {**FOUND, "candidates": (("wxyZ", 94),)}),
    ("is missing in its list", {**FOUND, "candidates": ((None, 94),)}),
    ("below cutoff 80", {**FOUND, "candidates": (("wxyz", 79),)}),
    ("is listed twice", {**FOUND, "candidates": (("wxyz", 94), ("wxyz", 94))}),
    ("is listed twice", {"status": "split", "children": ("0=a", "0=a")}),
    ("is listed twice", {"status": "split", "children": ("0=a",), "settled": ("0=a",)}),
    ("only a split unit has settled parts", {"settled": ("0=a",)}),
    (
        "does not extend the path",
        {"path": "0=a", "status": "split", "children": ("0=a/1=b",), "settled": ("1=a",)},
    ),
    ("does not extend the path", {"path": "0=a", "status": "split", "children": ("1=a",)}),
    ("does not extend the path", {"path": "0=a", "status": "split", "children": ("0=a/",)}),
    ("is not of the form 5=ab", {"status": "split", "children": ("1=a ",)}),
    ("needs a cell below 4", {"status": "split", "children": ("4=a",)}),
    ("distinct letters", {"status": "split", "children": ("1=bb",)}),
    ("does not fit the schema", {"class_id": 2**63}),
    ("does not fit the schema", {"class_id": "seven"}),
]


@pytest.mark.parametrize(("message", "changes"), HOSTILE)
def test_hostile_rows_are_refused(message, changes):
    with pytest.raises(RowError, match=message):
        check_table(to_table([row(1), row(**changes)]), toy_question(), "part 7")


def test_foreign_columns_are_refused():
    with pytest.raises(RowError, match="columns"):
        check_table(pa.table({"class_id": [1]}), toy_question(), "here")


def test_round_trip_through_parquet():
    rows = [*all_rows(), *split_rows(0), row(5, status="error", n_boards=0, message="worker died")]
    # a survivor that scores less had a bound at the cutoff
    rows.append(row(max_bound=95, counters={"n_survivors": 1}))
    rows.append(row(6, status="split", children=("0=a",), candidates=(("wxyz", 94),), max_bound=79))
    check_table(to_table(rows), toy_question(), "here")
    every = dict.fromkeys(COUNTERS, 7)
    rows.append(row(6, n_boards=26**16, counters=every, seconds=1.5, host="h", attempt=2))
    back = from_table(parse_parquet(serialise(to_table(rows)), "here", SCHEMA))
    assert [replace(r, counters={}) for r in back] == [replace(r, counters={}) for r in rows]
    assert dict(back[-1].counters) == every


def test_verdict_ignores_circumstances_and_order():
    one = row(
        candidates=(("wxyz", 94), ("wxyy", 80)),
        status="candidates",
        host="a",
        seconds=1.0,
        attempt=1,
    )
    two = replace(
        one,
        candidates=one.candidates[::-1],
        host="b",
        seconds=2.0,
        attempt=3,
        peak_rss_bytes=9,
        cpu="c",
    )
    assert one.verdict == two.verdict
    for change in (
        {"n_boards": 2},
        {"status": "eliminated"},
        {"candidates": (("wxyz", 94),)},
        {"children": ("0=a",)},
    ):
        assert replace(one, **change).verdict != one.verdict


# ---- the writer


def parts_of(run: Path) -> list[Path]:
    return sorted((run / files.RESULTS).glob("part-*.parquet"))


def contents(run: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


def test_equal_duplicates_merge_wherever_the_first_is(tmp_path):
    first = all_rows()[-1]
    again = replace(first, host="other", seconds=9.0, attempt=2, candidates=first.candidates[::-1])
    for rows in ([first, again], [again]):
        with Store.open(tmp_path, toy_question()) as store:
            store.append(rows)
            store.append([again])
            store.flush()
            store.append([again])
    assert [found.key for found in open_run(tmp_path).rows()] == [first.key]


@pytest.mark.parametrize("when", ["buffered", "flushed", "reopened"])
@pytest.mark.parametrize("path", ["", "0=ab"])
def test_different_verdicts_conflict_and_the_evidence_stays(tmp_path, when, path):
    one = row(3, path=path, n_boards=5, host="good")
    two = row(3, path=path, n_boards=6, host="bad")
    store = Store.open(tmp_path, toy_question())
    store.append([one])
    if when != "buffered":
        store.flush()
    if when == "reopened":
        store.close()
        store = Store.open(tmp_path, toy_question())
    with pytest.raises(ConflictError, match=r"class 3[^$]*good[^$]*bad"):
        store.append([two])
    store.close()
    assert list(open_run(tmp_path).conflicts) == [(3, path)]
    assert open_run(tmp_path).verdict_table.num_rows == 0
    with pytest.raises(ConflictError, match="part-00000001"):
        Store.open(tmp_path, toy_question())


def test_units_with_several_rows_are_compared_part_by_part(tmp_path, monkeypatch):
    """A stranger can repeat every row, and a doubted host has every unit of its searched again."""
    once = [row(class_id, n_boards=5) for class_id in range(300)]
    differing = replace(once[7], n_boards=6, host="bad")
    write_rows(tmp_path, once)
    again = [*once[:7], differing, *once[8:], differing]
    folder = LocalFolder(tmp_path)
    name = files.part_name(files.RESULTS, 2)
    data = serialise(to_table(again))
    folder.publish(name, data)
    line = describe(name, data, [each.class_id for each in again]).format()
    folder.append_line(files.MANIFEST, line, (tmp_path / files.MANIFEST).stat().st_size)
    monkeypatch.setattr("orderly_boggle.results.store.run.KEPT_ROWS", 0)
    with files_opened() as opened:
        ((key, message),) = open_run(tmp_path).conflicts.items()
    assert key == (7, "")
    assert (message.count("host 'bad'"), "part-00000001" in message) == (2, True)
    parts = [item for item in opened if item.path.startswith("part-")]
    assert len(parts) == 2 + 4, (
        "each part for the index, for what differs, and for what to say of it"
    )


def test_the_writer_knows_where_each_verdict_stands_before_and_after_a_flush(tmp_path):
    """As a dict would note it; the writer keeps classes of parts in arrays."""
    rng, expected = random.Random(4), dict[Key, int]()
    rows = [row(rng.randrange(60), path=rng.choice(["", "", "0=ab"])) for _ in range(90)]
    with Store.open(tmp_path, toy_question()) as store:
        for n, each in enumerate(rows):
            store.append([each])
            expected.setdefault(each.key, BUFFERED)
            if n % 7 == 6 and BUFFERED in expected.values():
                store.flush()
                number = files.part_number(store.last_part[0], files.RESULTS)
                assert number
                expected = {key: value or number for key, value in expected.items()}
            assert dict(store.index.places) == expected
        classes = sorted(class_id for class_id, path in expected if not path)
        assert store.index.done_ids().tolist() == classes


def test_bad_rows_are_refused_whole(tmp_path):
    foreign = row(2, fingerprint="f" * 64)
    with Store.open(tmp_path, toy_question()) as store:
        for rows in ([row(1), foreign], [row(n_boards=0)]):
            with pytest.raises(RowError):
                store.append(rows)
        assert store.index.places.keys() == set()


def test_a_checked_row_that_was_changed_is_checked_again(tmp_path):
    once = checked([row(1)], toy_question(), "here")
    (good,) = once.rows
    with pytest.raises(FrozenInstanceError):
        good.n_boards = 0
    with Store.open(tmp_path, toy_question()) as store:
        with pytest.raises(RowError, match="a verdict needs boards"):
            store.append([replace(good, n_boards=0)])
        store.append([once, replace(good, class_id=3, n_boards=3), row(2, n_boards=4)])
    assert [each.n_boards for each in open_run(tmp_path).rows()] == [good.n_boards, 3, 4]


def test_a_row_that_was_checked_for_another_run_is_refused(tmp_path):
    another = toy_question(cutoff=79)
    foreign = row(2, fingerprint=another.digest)
    there = checked([foreign], another, "there")
    with (
        Store.open(tmp_path, toy_question()) as store,
        pytest.raises(RowError, match="belongs to another run"),
    ):
        store.append([there])


def test_parts_grow_with_the_run():
    n_rows, n_parts = 0, 0
    while n_rows < 2_862_000:
        n_rows += rows_of_next_part(n_rows)
        n_parts += 1
    assert (rows_of_next_part(0), n_parts < 400) == (FLUSH_ROWS, True)


def test_flush_by_rows_and_by_time(tmp_path):
    now_s = 0.0
    with Store.open(tmp_path, toy_question(), clock=lambda: now_s) as store:
        store.append(row(i) for i in range(FLUSH_ROWS - 1))
        assert parts_of(tmp_path) == []
        store.append([row(FLUSH_ROWS)])
        assert len(parts_of(tmp_path)) == 1
        now_s = 100.0
        assert not store.flush_if_due()
        store.append([row(9_000)])
        now_s += FLUSH_SECONDS - 1
        assert not store.flush_if_due()
        now_s += 1
        assert store.flush_if_due()
        assert len(parts_of(tmp_path)) == 2
        now_s += FLUSH_SECONDS
        store.append([row(9_001)])
        store.flush()
        now_s += FLUSH_SECONDS - 1
        store.append([row(9_002)])
        assert len(parts_of(tmp_path)) == 3, "the time counts from the last flush"


def test_a_host_goes_on_under_another_name_right_after_its_contradiction(tmp_path):
    doubt = row(1, status="quarantined", n_boards=0, host="box")
    write_rows(
        tmp_path, [doubt, row(2, host="box"), replace(doubt, class_id=3), row(4, host="box")]
    )
    assert [r.host for r in open_run(tmp_path).rows()] == ["box", "box (2)", "box (2)", "box (3)"]


def test_a_unit_that_was_given_up_is_known_until_it_has_a_verdict(tmp_path):
    given_up = row(1, status="quarantined", n_boards=0)
    for new, quarantined in ((given_up, {given_up.key}), (row(1), set())):
        write_rows(tmp_path, [new])
        assert open_run(tmp_path).index.quarantined == quarantined
    index = open_run(tmp_path).index
    assert index.n_loaded == {"quarantined": 1, "eliminated": 1}
    assert index.class_ids.tolist() == [1]


def test_units_in_doubt_are_looked_for_again_when_a_doubt_has_come(tmp_path):
    """A share was called done with verdicts in doubt, where a published run had been asked before
    ``--extend`` brought the doubt.
    """
    write_rows(tmp_path, [row(1, host="a"), row(2, host="b")])
    with Store.open(tmp_path, toy_question()) as store:
        assert store.run.doubted == []
        for host, doubted in (("a", [(1, "")]), ("b", [(1, ""), (2, "")])):
            store.append([row(3, status="quarantined", n_boards=0, host=host)], copied=True)
            assert store.run.doubted == doubted


def test_a_closed_store_takes_no_rows(tmp_path):
    with Store.open(tmp_path, toy_question()) as store:
        store.append([row(1)])
    for call in (partial(store.append, [row(2)]), store.flush, store.snapshot):
        with pytest.raises(StoreError, match="is closed: open it again to append"):
            call()
    store.close()
    assert [r.class_id for r in open_run(tmp_path).rows()] == [1]


def test_leftovers_are_removed_and_foreign_files_stay(tmp_path):
    (tmp_path / files.LOCK).touch()
    (tmp_path / files.OWNER).write_text("{")
    (tmp_path / "_tmp.1").touch()
    with Store.open(tmp_path, toy_question()) as store:  # a run that never began is begun
        store.append([row(1)])
    left = [
        tmp_path / name for name in (files.part_name(files.RESULTS, 2), "results/_tmp.1", "_tmp.2")
    ]
    mine = [tmp_path / name for name in ("results/notes.txt", "elsewhere.parquet")]
    for path in (*left, *mine):
        path.write_bytes(parts_of(tmp_path)[0].read_bytes())
    assert [r.class_id for r in open_run(tmp_path).rows()] == [1]
    with Store.open(tmp_path, toy_question()) as store:
        assert store.index.places.keys() == {(1, "")}
    assert not [path for path in left if path.exists()]
    assert all(path.exists() for path in mine)


def test_foreign_folders_are_refused_untouched(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(StoreError, match="not a run"):
        Store.open(tmp_path, toy_question())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    for place in (tmp_path / "thesis.tex", tmp_path / "thesis.tex" / "run"):
        with pytest.raises(StoreError, match="a file, a run needs a directory"):
            Store.open(place, toy_question())
    for nothing in (tmp_path, tmp_path / "none"):
        with pytest.raises(StoreError, match=r"holds no run: .* orderly run CONFIG --out "):
            open_run(nothing)
    assert not (tmp_path / "none").exists()


def test_the_nearest_runs_are_named(tmp_path):
    (tmp_path / "mine-3x3").mkdir()
    (tmp_path / "mine-3x3" / "run.json").touch()
    for name, near in (
        ("4x4-enabel2k", "a record that comes with orderly, such as 4x4-enable2k"),
        (f"{tmp_path}/mine-3x", "DIR` wrote, such as [^,]*mine-3x3"),
    ):
        with pytest.raises(InputError, match=f"no run directory .*{near}"):
            open_run(name)


def start(run: Path) -> Store:
    """Open a store as a driver does, with two rows in it."""
    store = Store.open(run, toy_question())
    store.append(all_rows()[:2])
    store.flush()
    return store


def test_one_driver_per_run_and_readers_need_no_lock(tmp_path):
    with start(tmp_path) as first:
        with pytest.raises(StoreLockedError, match="is being written by"):
            Store.open(tmp_path, toy_question())
        assert current_owner(LocalFolder(tmp_path))[0], "readers see that a driver is at work"
        assert len(list(open_run(tmp_path).rows())) == 2, "and need no lock"
        first.append(all_rows()[2:4])
    assert current_owner(LocalFolder(tmp_path)) == (False, None)
    with Store.open(tmp_path, toy_question()) as store:
        assert len(store.index.places) == 4


def lose(store: Store) -> None:
    """Let a driver notice that the run is not its own any more."""
    store.append(all_rows()[2:4])
    with pytest.raises(StoreLockedError, match="moved or removed"):
        store.flush()
    with pytest.raises(StoreLockedError, match="moved or removed"):
        store.close()


def test_a_driver_whose_claim_is_removed_stops_before_it_writes(tmp_path):
    first = start(tmp_path)
    (tmp_path / files.OWNER).unlink()
    with pytest.raises(StoreLockedError, match="is being written by"):
        Store.open(tmp_path, toy_question())
    before = contents(tmp_path)
    lose(first)
    assert contents(tmp_path) == before
    write_rows(tmp_path, all_rows()[4:])
    assert len(list(open_run(tmp_path).rows())) == 4


def test_a_driver_whose_directory_is_replaced_stops_before_it_writes(tmp_path):
    run = tmp_path / "run"
    first = start(run)
    run.rename(tmp_path / "moved")
    with Store.open(run, toy_question()) as second:
        lose(first)
        second.append(all_rows())
    assert len(list(open_run(run).rows())) == 6
    assert len(list(open_run(tmp_path / "moved").rows())) == 2


CHANGES = {
    "dims": "2x3",
    "words_sha256": "f" * 64,
    "points": (0, 0, 0, 1, 1, 2, 3, 5, 12),
    "cutoff": 81,
    "buckets": "corner: ab cdefghijklmnopqrstuvwxyz",
    "cell_order": (0, 1, 2, 3),
}


def test_each_field_alone_changes_the_digest_and_is_fatal(tmp_path):
    assert list(CHANGES) == [each.name for each in fields(Question) if each.name != "rules"]
    Store.open(tmp_path, toy_question(), Made(share="1/1")).close()
    before = contents(tmp_path)
    Store.open(tmp_path, toy_question(), Made(share="2/2")).close()
    assert contents(tmp_path) == before, "run.json is written once"
    for field, asked in CHANGES.items():
        other = toy_question(**{field: asked})
        assert other.digest != toy_question().digest
        with pytest.raises(FingerprintError) as caught:
            Store.open(tmp_path, other)
        told = re.findall(r"^  (\w+): asked for .*stored", str(caught.value), re.MULTILINE)
        # another size has other cells, and other types of cells
        assert told == ([field, "buckets", "cell_order"] if field == "dims" else [field])
        assert contents(tmp_path) == before


def test_run_json_that_is_removed_in_mid_run_is_put_back(tmp_path):
    """As a purge of scratch space by the age of each file does."""
    now_s, told = 0.0, list[str]()
    with Store.open(tmp_path, toy_question(), clock=lambda: now_s) as store:
        store.run.folder.patience.tell = told.append
        before = (tmp_path / files.RUN).read_bytes()
        (tmp_path / files.RUN).unlink()
        store.append([row(1)])
        now_s += 60.0
        store.append([row(2)])
        assert (tmp_path / files.RUN).read_bytes() == before
        (line,) = told
        assert "run.json was removed during the run: it was put back" in line
        (tmp_path / files.RUN).unlink()
    assert [r.class_id for r in open_run(tmp_path).rows()] == [1, 2]


def test_a_pointer_of_git_lfs_is_called_so(tmp_path):
    write_rows(tmp_path, [row(1)])
    (part,) = (tmp_path / files.RESULTS).iterdir()
    part.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    with pytest.raises(DamagedError, match=r"pointer of git-lfs.*git lfs pull"):
        list(open_run(tmp_path).rows())


@pytest.mark.parametrize(("n_rows", "n_parts"), [(30_000, [2, 2, 1]), (1, [8, 8, 4])])
def test_few_rows_are_in_memory_ahead_of_time(n_rows, n_parts):
    """Parts that were put together are larger than those that a driver writes."""
    part = Part("part", n_rows, 0, n_rows, "", dropped=False)
    found = ((part, b"") for _ in range(sum(n_parts)))
    assert [len(batch) for batch in ahead(found)] == n_parts
