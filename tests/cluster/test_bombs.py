"""Sealed parts of a few kB that would fill the memory: refused where they say so, else it ends at the user's limit."""

from __future__ import annotations

import resource
import shutil
import string
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from results.errors import DamagedError
from results.proof import audit
from results.proof.coverage import check_apart
from results.store.parts import MAX_ROWS, parse_parquet, serialised
from results.store.rows import SCHEMA, Row, to_table
from results.store.run import open_run
from tests.cluster.forge import write_part
from tests.conftest import ROOT
from tests.results.helpers import row
from tests.samples import daily

_LONG = 2**22


def many_rows(row: Row) -> bytes:
    """Return a million equal rows."""
    return _written(_repeated(row, 1_000_000))


def shared_text(row: Row) -> bytes:
    """Return 2,000 rows that share one message of 4 MiB: 8 GiB without the dictionary."""
    n = 2_000
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array(["x" * _LONG]))
    return _written(_repeated(row, n, message=text))


def large_page(row: Row) -> bytes:
    """Return a row with a message of 16 MiB that compresses well; the test lowers the limit to that."""
    return _written(_repeated(row, 1, message=pa.array(["x" * 2**24])), use_dictionary=False)


def long_list(row: Row) -> bytes:
    """Return a row with thirty million children that are all the same text."""
    n = 30_000_000
    children = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int8)), pa.array(["0=a"]))
    lists = pa.ListArray.from_arrays(pa.array([0, n], pa.int32()), children)
    return _written(_repeated(row, 1, children=lists))


BOMBS: dict[str, Callable[[Row], bytes]] = {
    "many rows": many_rows,
    "shared text": shared_text,
    "large page": large_page,
    "long list": long_list,
}


def plant(run: Path, data: bytes, class_id: int) -> None:
    """Make a bomb of a class the one part of a run, with a manifest that lists what it says."""
    metadata = pq.ParquetFile(pa.BufferReader(data)).metadata
    line = {"n_rows": metadata.num_rows, "first_id": class_id, "last_id": class_id}
    write_part(run, SCHEMA.empty_table(), data, **line)


def _repeated(row: Row, n: int, **columns: pa.Array) -> pa.Table:
    """Return a row ``n`` times, texts as dictionaries."""
    table = to_table([row])
    nothing = pa.array(np.zeros(n, np.int32))
    made = []
    for field in table.schema:
        array = columns.get(field.name)
        if array is None and field.type == pa.string():
            array = pa.DictionaryArray.from_arrays(nothing, table.column(field.name).combine_chunks())
        made.append(table.column(field.name).combine_chunks().take(nothing) if array is None else array)
    fields = [pa.field(field.name, array.type, nullable=False) for field, array in zip(table.schema, made, strict=True)]
    return pa.Table.from_arrays(made, schema=pa.schema([_required(field) for field in fields]))


def _required(field: pa.Field) -> pa.Field:
    if pa.types.is_list(field.type):
        inner = pa.field("element", field.type.value_type, nullable=False)
        return pa.field(field.name, pa.list_(inner), nullable=False)
    return field


def _written(table: pa.Table, **options: object) -> bytes:
    """Return Parquet bytes without Arrow's own schema, so that a dictionary reads as the text it stands for."""
    sink = pa.BufferOutputStream()
    fields = [_required(field) for field in table.schema]
    arrays = [
        column.combine_chunks().cast(field.type) if pa.types.is_list(field.type) else column
        for column, field in zip(table.columns, fields, strict=True)
    ]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True, store_schema=False, **options)
    return bytes(sink.getvalue())


LETTERS = string.ascii_lowercase
KINDS = ("center", "edge", "corner")
LIMIT_BYTES = 6 * 2**30  # of addresses; libraries and their threads take some two GiB of them


@pytest.mark.parametrize("name", ["many rows", "large page", "long list"])
def test_a_part_that_says_that_it_is_too_large_is_refused(proven, tmp_path, orderly, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("results.store.parts.MAX_DECODED_BYTES", 2**24)
    run = shutil.copytree(proven, tmp_path / "run")
    found = next(open_run(run).rows())
    plant(run, BOMBS[name](found), found.class_id)
    answer = orderly("verify", run)
    assert (answer.code, answer.out) == (3, "")
    assert "would become" in answer.err
    answer = orderly("run", "2x2", "--cutoff", "12", "--workers", "0", "--out", run, "--drop-damaged")
    assert answer.code == 0
    assert "dropped results/part-00000001-" in answer.err
    assert orderly("verify", run).code == 0


@pytest.mark.slow
def test_a_part_that_lies_about_its_size_ends_at_the_limit_of_memory(proven, tmp_path):
    """What the page for running says of runs of strangers: ulimit -v."""
    run = shutil.copytree(proven, tmp_path / "run")
    found = next(open_run(run).rows())
    plant(run, BOMBS["shared text"](found), found.class_id)
    done = subprocess.run(
        [sys.executable, "-c", "from cluster.cli.start import main; main()", "top", str(run)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES)),
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "no memory is left to read" in done.stderr


def test_files_too_large_for_their_name_are_not_read(proven, tmp_path, orderly):
    for name in ("run.json", "claim.json", "manifest.jsonl"):
        run = shutil.copytree(proven, tmp_path / name)
        with (run / name).open("ab") as file:
            file.truncate(2**33)  # a hole: it takes no room
        answer = orderly("status", run)
        assert answer.code == 3
        assert "it was not read" in answer.err


def test_what_is_written_can_be_read_whatever_its_size():
    table = to_table([row(i, message="x" * 3000 + str(i)) for i in range(3)])
    many = pa.concat_tables([table] * 40_000).combine_chunks()
    assert many.num_rows > MAX_ROWS
    pieces = list(serialised(many))
    assert sum(piece.num_rows for piece, _ in pieces) == many.num_rows
    for piece, data in pieces:
        assert parse_parquet(data, "here", SCHEMA, n_rows=piece.num_rows).num_rows <= MAX_ROWS
    assert pa.concat_tables([piece for piece, _ in pieces]).equals(many)


def test_a_part_without_rows_is_damaged(proven, tmp_path):
    run = shutil.copytree(proven, tmp_path / "run")
    write_part(run, SCHEMA.empty_table())
    with pytest.raises(DamagedError, match="a part has at least one"):
        list(open_run(run).rows())


def test_parts_with_long_paths_take_no_more_memory_than_they_have():
    """What lies above a path of fifty parts, written out, has some twenty-five times its letters."""
    chains = ["/".join(f"0={LETTERS[:n]}" for n in range(25, 0, -1)) + f"/1={one}" for one in LETTERS]
    deep = [
        "/".join((f"2={first}", *(f"3={LETTERS[:n]}" for n in range(25, 0, -1)), chain))
        for first, chain in zip(LETTERS, chains, strict=True)
    ]
    tracemalloc.start()
    check_apart("", deep)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 3 * sum(map(len, deep))


@pytest.mark.parametrize(("depth", "limit"), daily([(7, 100), (8, 40)], lambda depth, _: depth == 7))
def test_a_certificate_takes_memory_in_proportion_to_its_length(depth, limit):
    """Pairs of split and letter for all of its leaves would take 130 times as much, and zstd makes it short.

    The pairs of 65,536 masks are made at a time: the fewer masks, the larger their share.
    """
    buckets = ["abcde", "fghijklmnopqrstuvwxyz"]
    question = audit._Question(
        {
            "dims": "3x4",
            "cutoff": 1,
            "scores": [1] * 65,
            "partition": ", ".join(f"{k}: {' '.join(buckets)}" for k in KINDS),
        },
        "a test",
    )

    def part(depth: int) -> audit._Part:
        body = np.zeros(1, "<u4")
        for _ in range(depth):
            body = np.concatenate([np.array([31], "<u4"), *[body] * 5])
        row = {"version": audit.VERSION, "fingerprint": question.digest, "class_id": 0, "order": bytes(range(12))}
        row |= {"forced": "", "n_leaves": 5 ** (depth + 1), "n_boards": 0, "body": body.tobytes()}
        return audit._Part(question, {**row, "sha256": audit.row_digest(row)})

    assert len(list(part(2).ends())) == 125  # and kernels are compiled
    tracemalloc.start()
    large = part(depth)
    assert sum(1 for _ in large.ends()) == 5 ** (depth + 1)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < limit * 4 * len(large.body)
