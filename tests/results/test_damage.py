"""Damage is noticed: bit flips, truncations, swapped and foreign files never change an answer silently."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from boardclass.errors import StoreError
from results.errors import DamagedError
from results.proof.coverage import check_coverage
from results.storage import files
from results.store.parts import parse_parquet, parse_part
from results.store.rows import SCHEMA
from results.store.run import open_run
from results.store.store import Store
from results.upkeep.repair import repair
from tests.conftest import flip_bit
from tests.results.helpers import all_rows, fingerprint, make_run, row


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("damage") / "run")


def spoilt(finished: Path, tmp_path: Path) -> Path:
    run = tmp_path / "run"
    shutil.rmtree(run, ignore_errors=True)
    return Path(shutil.copytree(finished, run))


def victims(run: Path) -> list[Path]:
    return sorted(path for path in run.rglob("*") if path.is_file())


def test_page_checksums_speak_without_the_manifest(finished):
    """The 67-86 % of flips that pyarrow reads back silently by default: all noticed, or the table is unchanged."""
    rng, n_errors = random.Random(22), 0
    whole = sorted((finished / files.RESULTS).iterdir())[-1].read_bytes()
    truth, metadata = parse_parquet(whole, "here", SCHEMA), pq.read_metadata(pa.BufferReader(whole)).row_group(0)
    chunks = [metadata.column(index) for index in range(metadata.num_columns)]
    end = min(len(whole), max(chunk.data_page_offset + chunk.total_compressed_size for chunk in chunks))
    for _ in range(300):
        data = bytearray(whole)
        data[rng.randrange(4, end)] ^= 1 << rng.randrange(8)
        try:
            assert parse_parquet(bytes(data), "here", SCHEMA).equals(truth)
        except DamagedError:
            n_errors += 1
    assert n_errors > 150


def test_foreign_part_with_its_manifest(finished, tmp_path):
    other = tmp_path / "other"
    with Store.open(other, fingerprint(cutoff=81)) as store:
        store.append([row(fingerprint=fingerprint(cutoff=81).digest)])
    run = spoilt(finished, tmp_path)
    shutil.rmtree(run / files.RESULTS)
    shutil.copytree(other / files.RESULTS, run / files.RESULTS)
    shutil.copy(other / files.MANIFEST, run / files.MANIFEST)
    for read in (lambda: Store.open(run, fingerprint()), lambda: list(open_run(run).rows())):
        with pytest.raises(StoreError, match="another run"):
            read()


def changed(line: str, **values: Any) -> str:
    """Return a manifest line with other values and a check that fits them."""
    return replace(parse_part(line), **values).format() + "\n"


def lines(run: Path) -> list[str]:
    return (run / files.MANIFEST).read_text().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda old: old[:2] + old[3:], "missing or repeated"),
        (lambda old: [old[0], *old], "missing or repeated"),
        (lambda old: old[::-1], "missing or repeated"),
        (lambda old: old[:2], "its end is lost"),
        (lambda old: [], "its end is lost"),
        (lambda old: [*old[:2], "[1]\n", *old[2:]], "line 3 is damaged"),
        (lambda old: [old[0].replace('"n_rows": 1', '"n_rows": 2'), *old[1:]], "its own check"),
        (lambda old: [*old, changed(old[-1], dropped=True), changed(old[-1], dropped=True)], "not listed"),
        (lambda old: [changed(old[0], name="results/../x/part-1.parquet"), *old[1:]], "name is"),
        (lambda old: [changed(old[0], n_rows=2), *old[1:]], "does not describe"),
        (lambda old: [changed(old[0], last_id=99), *old[1:]], "does not describe"),
        (lambda old: [changed(old[0], n_rows="1"), *old[1:]], "n_rows is '1'"),
    ],
)
def test_altered_manifest(finished, tmp_path, change, message):
    run = spoilt(finished, tmp_path)
    (run / files.MANIFEST).write_text("".join(change(lines(run))))
    with pytest.raises(DamagedError, match=message):
        Store.open(run, fingerprint())


def test_a_run_json_that_cannot_be_read_is_not_made_up(finished, tmp_path):
    """Only the question that the rows belong to may take its place."""
    run = spoilt(finished, tmp_path)
    (run / files.RUN).write_text("{")
    before = {path: path.read_bytes() for path in victims(run)}
    with pytest.raises(DamagedError, match=r"the rows are not of the run asked for.*same settings"):
        Store.open(run, fingerprint(cutoff=81), recover=repair)
    assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(DamagedError, match="--drop-damaged"):
        Store.open(run, fingerprint())
    for part in (run / files.RESULTS).iterdir():
        part.write_bytes(b"")
    with pytest.raises(DamagedError, match="nor can any rows"):
        Store.open(run, fingerprint(), recover=repair)
    for path, data in before.items():
        path.write_bytes(data)
    (run / files.RUN).unlink()
    with pytest.raises(DamagedError, match=r"run\.json is missing: restore .* --drop-damaged"):
        Store.open(run, fingerprint())
    with Store.open(run, fingerprint(), {"seed": 2}, recover=repair) as store:
        assert (store.repaired.parts, len(store.index.places)) == ({}, len(all_rows()))
        assert store.run.info == {"seed": 2}


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        (lambda old: old[:2] + old[3:], [3]),
        (lambda old: [], [1, 2, 3, 4, 5, 6]),
        (lambda old: [*old[:2], "[1]\n", *old[3:]], [3]),
        (lambda old: [old[0], old[1][:-1] + old[2], *old[3:]], [2, 3]),
        (lambda old: [*old[:3], changed(old[2], dropped=True), *old[3:5], "{\n"], [3, 6]),
    ],
)
def test_a_manifest_is_mended_line_by_line(finished, tmp_path, change, lost):
    """Parts whose line is lost are computed again, those dropped earlier stay dropped, the others stay."""
    run = spoilt(finished, tmp_path)
    (run / files.MANIFEST).write_text("".join(change(lines(run))))
    rows = all_rows()
    for _ in range(2):
        with Store.open(run, fingerprint(), recover=repair) as store:
            assert store.index.places.keys() == {r.key for number, r in enumerate(rows, 1) if number not in lost}
    with Store.open(run, fingerprint()) as store:
        store.append(rows[number - 1] for number in lost)
        assert check_coverage(store.snapshot()).complete


def test_a_run_is_what_it_was_when_it_was_read(tmp_path):
    with Store.open(tmp_path, fingerprint()) as store:
        store.append([row(), row(1)])
    run = open_run(tmp_path)
    assert len(list(run.rows())) == 2
    flip_bit(tmp_path / run.manifest.parts[0].name)
    assert len(list(run.rows())) == 2
    with pytest.raises(DamagedError, match="was altered"):
        list(open_run(tmp_path).rows())
