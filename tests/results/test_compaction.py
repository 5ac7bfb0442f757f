"""Parts that are put together: the rows stay, whoever reads, and wherever it is cut short."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.results.errors import DamagedError, StoreLockedError
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.proof.verify import verdict_digest
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.lock import Pace
from orderly_boggle.results.storage.objects import ObjectFolder, connect
from orderly_boggle.results.store.compaction import MANY, due
from orderly_boggle.results.store.documents import json_digest
from orderly_boggle.results.store.parts import MAX_ROWS, Part, read_manifest
from orderly_boggle.results.store.rows import Row
from orderly_boggle.results.store.run import Run, open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep.repair import repair
from tests.results.faults import KINDS, REQUEST_KINDS, SEAM, Faults, Faulty
from tests.results.helpers import KilledError, all_rows, ended_by_faults, row, toy_question
from tests.samples import daily

# for who comes after the time in which a claim must be renewed
LATER = Pace(lease_s=-1.0)


def a_part(number: int, n_rows: int) -> Part:
    return Part(f"results/part-{number:08d}-{number:032x}.parquet", n_rows, 0, 0, "", False)


def put_together(sizes: Sequence[int]) -> list[Part]:
    """Return what is left of parts that are written one after the other."""
    parts: list[Part] = []
    for number, n_rows in enumerate(sizes, start=1):
        parts.append(a_part(number, n_rows))
        if old := due(parts):
            parts[-len(old) :] = [a_part(number, sum(part.n_rows for part in old))]
    return parts


def test_an_older_manifest_of_a_copy_lets_no_file_go(tmp_path):
    """A run that is copied while it goes on: first its manifest, then the part that replaced all
    that this lists.
    """
    ones = [row(n) for n in range(MANY)]
    with fill(tmp_path, ones[:-1]):
        older = (tmp_path / files.MANIFEST).read_bytes()
    fill(tmp_path, ones).close()
    manifest = (tmp_path / files.MANIFEST).read_bytes()
    (tmp_path / files.MANIFEST).write_bytes(older)
    with pytest.raises(DamagedError, match="is listed but missing"):
        Store.open(tmp_path, toy_question())
    (tmp_path / files.MANIFEST).write_bytes(manifest)
    assert row_keys(open_run(tmp_path)) == [item.key for item in ones]


@pytest.mark.parametrize("n_rows", [1, 20, 70])
def test_thirty_thousand_batches_become_few_parts(n_rows):
    parts = put_together([n_rows] * 30_000)
    assert len(parts) <= 60
    assert sum(part.n_rows for part in parts) == 30_000 * n_rows
    assert max(part.n_rows for part in parts) <= MAX_ROWS


def fill(location: object, rows: Sequence[Row], **how: Any) -> Store:
    """Return an open run with a part for each row that it lacked."""
    store = Store.open(str(location), toy_question(), **how)
    for item in rows:
        if item.key not in store.index.places:
            store.append([item])
            store.flush()
    return store


def row_keys(run: Run) -> list[object]:
    return [item.key for item in run.rows()]


def part_files(run: Path) -> set[str]:
    return {f"{files.RESULTS}/{path.name}" for path in (run / files.RESULTS).iterdir()}


def test_parts_are_put_together_by_themselves_and_readers_notice_nothing(tmp_path):
    ones = [row(n) for n in range(3 * MANY)]
    with fill(tmp_path, ones[: MANY - 1]):
        reader = open_run(tmp_path)
        assert len(reader.manifest.parts) == MANY - 1
    with fill(tmp_path, ones[:MANY]):
        middle = open_run(tmp_path)
        assert len(middle.manifest.parts) == 1
        assert row_keys(reader) == [item.key for item in ones[: MANY - 1]]
    with fill(tmp_path, ones) as store:
        store.compact()
        assert store.snapshot().manifest.last_number == len(ones)
    run = open_run(tmp_path)
    assert len(run.manifest.parts) == 1
    assert part_files(tmp_path) == {run.manifest.parts[0].name}
    assert [item.verdict for item in run.rows()] == [item.verdict for item in ones]
    # both were opened before, and their files are gone; one was put together itself
    late = Run(reader.folder, reader.question, reader.made, reader.manifest)
    assert row_keys(late) == [item.key for item in ones[: MANY - 1]]
    late = Run(middle.folder, middle.question, middle.made, middle.manifest)
    assert [table.num_rows for table in late.columns(["class_id"])] == [MANY]


def test_the_writer_still_knows_where_each_verdict_stands(tmp_path):
    with fill(tmp_path, [row(n) for n in range(MANY)]) as store:
        assert len(store.snapshot().manifest.parts) == 1
        store.append([row(0), row(MANY - 1)])
        store.flush()
        assert store.snapshot().manifest.last_number == MANY, "repetitions are found"
        with pytest.raises(StoreError, match="class 3 path '' has different verdicts"):
            store.append([row(3, n_boards=99)])


def test_a_dropped_part_is_remembered(tmp_path):
    """Its number is not used again, and the rows of the others stay where readers look for them."""
    rows = all_rows()[:5]
    fill(tmp_path, rows).close()
    before = open_run(tmp_path)
    for number in (2, 5):
        (tmp_path / before.manifest.parts[number - 1].name).write_bytes(b"PAR1")
    with Store.open(tmp_path, toy_question(), recover=repair) as store:
        assert len(store.repaired.parts) == 2
        store.compact()
    run = open_run(tmp_path)
    assert [part.counts for part in run.manifest.parts] == [(1, 0, 1, 1, 0)]
    assert run.manifest.last_number == 5
    left = [rows[place].key for place in (0, 2, 3)]
    assert row_keys(run) == left
    kept = [part for part in before.manifest.parts if part.number in (1, 3, 4)]
    found = run.rows_on({item.key for item in rows}, kept)
    assert [item.key for _, item in found] == left
    lost = [before.manifest.parts[1]]
    with pytest.raises(DamagedError, match="is listed but missing"):
        list(run.rows_on({rows[1].key}, lost))


def test_a_damaged_whole_goes_alone(tmp_path):
    with fill(tmp_path, all_rows()[:3]) as store:
        store.compact()
    fill(tmp_path, all_rows()).close()
    whole, *others = open_run(tmp_path).manifest.parts
    assert (len(whole.counts), len(others)) == (3, 3)
    (tmp_path / whole.name).write_bytes(b"PAR1")
    with Store.open(tmp_path, toy_question(), recover=repair) as store:
        assert list(store.repaired.parts) == [whole.name]
        assert list(store.run.manifest.parts) == others


@pytest.mark.parametrize("is_file_there", [True, False])
def test_a_whole_whose_line_is_lost_is_one_part_that_goes(tmp_path, is_file_there):
    """Not as many parts as it stood for, which nobody would find under the names that are told."""
    with fill(tmp_path, all_rows()[:3]) as store:
        store.compact()
    fill(tmp_path, all_rows()).close()
    whole, *others = open_run(tmp_path).manifest.parts
    manifest = tmp_path / files.MANIFEST
    manifest.write_text(manifest.read_text().replace('"check"', '"chuck"', 1))
    if not is_file_there:
        (tmp_path / whole.name).unlink()
    with Store.open(tmp_path, toy_question(), recover=repair) as store:
        (name,) = store.repaired.parts
        assert files.part_number(name, files.RESULTS) == whole.number
        assert (name == whole.name) == is_file_there
        assert list(store.run.manifest.parts) == others
        store.append(all_rows()[:3])
        store.compact()
    run = open_run(tmp_path)
    assert set(row_keys(run)) == {item.key for item in all_rows()}
    assert [part.numbers for part in run.manifest.parts] == [range(4, 8)]


def test_a_contradiction_stays_in_a_part_of_its_own(tmp_path):
    """Whoever finds it wrong moves that part away, and not all that was found until then."""
    store = fill(tmp_path, [row(n) for n in range(MANY - 1)])
    with pytest.raises(StoreError, match="class 3 path '' has different verdicts"):
        store.append([row(3, n_boards=99)])
    store.close()
    parts = open_run(tmp_path).manifest.parts
    assert [part.numbers for part in parts] == [range(n, n + 1) for n in range(1, MANY + 1)]


@pytest.mark.parametrize("counts", [[1, 1], [2] * (MANY // 2), [-1, MANY + 1], [0] * MANY + [MANY]])
def test_a_line_that_says_wrong_counts_is_refused(tmp_path, counts):
    fill(tmp_path, [row(n) for n in range(MANY)]).close()
    manifest = tmp_path / files.MANIFEST
    values = json.loads(manifest.read_text())
    del values["check"]
    values["counts"] = counts
    line = json.dumps({**values, "check": json_digest(values)[:16]}, sort_keys=True)
    manifest.write_text(f"{line}\n")
    with pytest.raises(DamagedError, match=r"manifest\.jsonl line 1"):
        read_manifest(open_run(tmp_path).folder)


def test_a_part_that_is_damaged_is_not_put_together(tmp_path):
    with fill(tmp_path, [row(n) for n in range(3)]) as store:
        part = tmp_path / store.snapshot().manifest.parts[1].name
        data = part.read_bytes()
        part.write_bytes(data[:-1])
        store.compact()
        assert len(read_manifest(open_run(tmp_path).folder).parts) == 3
        with pytest.raises(DamagedError, match=f"{part} was altered"):
            list(store.snapshot().rows())
        part.write_bytes(data)
        store.compact()
    assert len(open_run(tmp_path).manifest.parts) == 1


# ---- cut short


def compacted(location: object, **how: Any) -> None:
    """Write a run, a part for each row, and put these together; a fault ends it where a dead
    process would end.
    """
    store = fill(location, all_rows(), **how)
    with ended_by_faults(store):
        store.compact()
        assert row_keys(store.snapshot()) == [item.key for item in all_rows()]


@pytest.mark.parametrize("kind", KINDS)
def test_fault_at_every_call(tmp_path, monkeypatch, kind):
    """Killed, cut short, a full disk, an error: readers of before, of now and of later see every
    row once.
    """
    fill(tmp_path / "begun", all_rows()).close()
    digest = verdict_digest(open_run(tmp_path / "begun"))
    faults = Faults(monkeypatch)
    compacted(shutil.copytree(tmp_path / "begun", tmp_path / "clean"))
    total = len(faults.calls)
    assert set(faults.calls) == set(SEAM)
    for at in range(total):
        run = shutil.copytree(tmp_path / "begun", tmp_path / f"run-{at}")
        before = open_run(run)
        faults.arm(at, kind)
        told = ""
        try:
            compacted(run)
        except (KilledError, StoreError) as error:
            told = str(error)
        assert told if "error" not in kind else True
        assert faults.fail_at == -1
        for reader in (before, open_run(run)):
            assert row_keys(reader) == [item.key for item in all_rows()]
        compacted(run)
        after = open_run(run)
        assert len(after.manifest.parts) == 1
        assert part_files(run) == {after.manifest.parts[0].name}
        assert verdict_digest(after) == digest
        assert not list(run.rglob(files.TEMPORARY_PREFIX + "*"))


@pytest.mark.parametrize("step", daily([16], [1]), ids=["some", "every"])
@pytest.mark.parametrize("kind", REQUEST_KINDS)
def test_fault_at_a_request(bucket, monkeypatch, kind, step):
    faulty = Faulty(connect(bucket)[0])
    monkeypatch.setattr(
        "orderly_boggle.results.storage.objects.connect",
        lambda address: (faulty, address.removeprefix("s3://"), address),
    )
    fill(f"{bucket}/clean", all_rows()).close()
    digest = summary(f"{bucket}/clean").result_digest
    faulty.calls = []
    compacted(f"{bucket}/clean")
    total = len(faulty.calls)
    faulty.kind = kind
    for at in range(4 * REQUEST_KINDS.index(kind) % step, total, step):
        address = f"{bucket}/run-{at}"
        faulty.fail_at = -1
        fill(address, all_rows(), pace=LATER).close()
        before = open_run(address)
        faulty.calls, faulty.fail_at = [], at
        with contextlib.suppress(KilledError, StoreError):
            compacted(address, pace=LATER)
        faulty.fail_at = -1
        for reader in (before, open_run(address)):
            assert row_keys(reader) == [item.key for item in all_rows()]
        compacted(address, pace=LATER)
        after = open_run(address)
        assert len(after.manifest.parts) == 1
        assert after.folder.names(files.RESULTS) == [after.manifest.parts[0].name]
        assert summary(address).result_digest == digest


def test_a_manifest_that_arrives_after_another_driver_came_does_not_count(bucket, monkeypatch):
    """A driver is killed while its new manifest is under way; another one writes before."""
    address = f"{bucket}/run"
    rows = all_rows()
    sleeper = fill(address, rows[:3])
    put = ObjectFolder.publish

    def late(self: ObjectFolder, name: str, data: bytes) -> None:
        if name.startswith(f"{files.MANIFEST}/") and "-all-" in name:
            fill(address, rows[:5], pace=LATER).close()
            put(self, name, data)
            raise KilledError
        put(self, name, data)

    with monkeypatch.context() as patched:
        patched.setattr(ObjectFolder, "publish", late)
        with pytest.raises(KilledError):
            sleeper.compact()
    assert row_keys(open_run(address)) == [item.key for item in rows[:5]]
    with fill(address, rows, pace=LATER) as store:
        store.compact()
    run = open_run(address)
    assert (row_keys(run), len(run.manifest.parts)) == ([item.key for item in rows], 1)
    sleeper.lock.release()


def test_a_driver_that_slept_takes_its_manifest_back(bucket):
    address = f"{bucket}/run"
    rows = all_rows()
    sleeper = fill(address, rows[:3])
    fill(address, rows[:4], pace=LATER).close()
    with pytest.raises(StoreLockedError, match=r"taken over by another driver|somebody else"):
        sleeper.compact()
    assert row_keys(open_run(address)) == [item.key for item in rows[:4]]
    sleeper.lock.release()


def test_a_reader_that_listed_the_old_lines_finds_the_new_ones(bucket, monkeypatch):
    """All lines are put anew, and the old ones removed, between its listing and its reading: it
    must not take that for a run without rows.
    """
    address = f"{bucket}/run"
    rows = all_rows()
    listing, late = ObjectFolder.names, []

    def slow(self: ObjectFolder, folder: str, n_looks: int = 1) -> list[str]:
        listed = listing(self, folder, n_looks)
        if folder == files.MANIFEST and not late:
            late.append(folder)
            writer.compact()
        return listed

    with fill(address, rows) as writer:
        monkeypatch.setattr(ObjectFolder, "names", slow)
        run = open_run(address)
        assert late == [files.MANIFEST]
        assert (row_keys(run), len(run.manifest.parts)) == ([item.key for item in rows], 1)
