"""Sealed parts of a few kB that would fill the memory: refused where they say so, else it ends at
the user's limit.
"""

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

from orderly_boggle.results.errors import DamagedError
from orderly_boggle.results.proof import audit
from orderly_boggle.results.proof.coverage import check_apart
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.parts import parse_parquet, serialised
from orderly_boggle.results.store.rows import SCHEMA, to_table
from orderly_boggle.results.store.run import open_run
from tests.cluster.forge import write_part
from tests.conftest import ROOT
from tests.results.helpers import row
from tests.samples import daily

LIMIT_BYTES = 6 * 2**30  # of addresses; libraries and their threads take some two GiB of them


def equal(n: int, value: object) -> pa.Array:
    """Return ``n`` equal values that take the room of one, and of a byte each."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int8)), pa.array([value]))


# A row many times with some columns replaced: how often, columns, options of the Parquet file.
BOMBS: dict[str, tuple[int, Callable[[], dict[str, pa.Array]], dict[str, object]]] = {
    "many rows": (1_000_000, dict, {}),
    # 8 GiB without the dictionary
    "shared text": (2_000, lambda: {"message": equal(2_000, "x" * 2**22)}, {}),
    "large page": (1, lambda: {"message": pa.array(["x" * 2**28])}, {"use_dictionary": False}),
    "long list": (
        1,
        lambda: {"children": pa.ListArray.from_arrays([0, 30_000_000], equal(30_000_000, "0=a"))},
        {},
    ),
}


def plant(run: Path, name: str) -> None:
    """Make a bomb the one part of a run, with a manifest that lists what it says.

    It is written without Arrow's own schema, so that a dictionary reads as the text it stands for.
    """
    table = to_table([next(open_run(run).rows())])
    n, columns, options = BOMBS[name]
    changed = columns()
    fields, arrays = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        same = (
            equal(n, column[0].as_py())
            if field.type == pa.string()
            else column.combine_chunks().take([0] * n)
        )
        array = changed.get(field.name, same)
        if pa.types.is_list(array.type):
            array = array.cast(pa.list_(pa.field("element", array.type.value_type, nullable=False)))
        arrays.append(array)
        fields.append(pa.field(field.name, array.type, nullable=False))
    sink = pa.BufferOutputStream()
    made = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    pq.write_table(
        made, sink, compression="zstd", write_page_checksum=True, store_schema=False, **options
    )
    class_id = table.column("class_id")[0].as_py()
    line = {"n_rows": n, "first_id": class_id, "last_id": class_id}
    write_part(run, SCHEMA.empty_table(), sink.getvalue().to_pybytes(), **line)


@pytest.mark.parametrize("name", ["many rows", "large page", "long list"])
def test_a_part_that_says_that_it_is_too_large_is_refused(
    proven, tmp_path, orderly, name, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    run = shutil.copytree(proven, tmp_path / "run")
    plant(run, name)
    answer = orderly.fails(3, "verify", run)
    assert "would become" in answer
    answer = orderly(
        "run", "2x2", "--cutoff", "12", "--workers", "0", "--out", run, "--drop-damaged"
    )
    assert answer.code == 0
    assert "dropped results/part-00000001-" in answer.err
    orderly.done("verify", run)


@pytest.mark.slow
def test_a_part_that_lies_about_its_size_ends_at_the_limit_of_memory(proven, tmp_path):
    """What the page for running says of runs of strangers: ulimit -v."""
    run = shutil.copytree(proven, tmp_path / "run")
    plant(run, "shared text")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from orderly_boggle.cluster.cli.start import main; main()",
            "top",
            str(run),
        ],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "no memory is left to read" in done.stderr


def test_files_too_large_for_their_name_are_not_read_and_a_part_without_rows_is_damaged(
    proven, tmp_path, orderly
):
    for name in (files.RUN, files.CLAIM, files.MANIFEST):
        run = shutil.copytree(proven, tmp_path / name)
        with (run / name).open("ab") as file:
            file.truncate(2**33)  # a hole: it takes no room
        answer = orderly("status", run)
        assert answer.code == 3
        assert "it was not read" in answer.err
    run = shutil.copytree(proven, tmp_path / "run")
    write_part(run, SCHEMA.empty_table())
    with pytest.raises(DamagedError, match="a part has at least one"):
        list(open_run(run).rows())


def test_what_is_written_can_be_read_whatever_its_size(monkeypatch):
    monkeypatch.setattr("orderly_boggle.results.store.parts.MAX_DECODED_BYTES", 2**20)
    table = to_table([row(i, message="x" * 3000 + str(i)) for i in range(1000)])
    pieces = list(serialised(table))
    assert len(pieces) == 4
    assert all(
        parse_parquet(data, "here", SCHEMA, n_rows=piece.num_rows).equals(piece)
        for piece, data in pieces
    )
    assert pa.concat_tables([piece for piece, _ in pieces]).equals(table)


def test_parts_with_long_paths_take_no_more_memory_than_they_have():
    """What lies above a path of fifty parts, written out, has some twenty-five times its
    letters.
    """
    chain = "/".join(f"0={string.ascii_lowercase[:n]}" for n in range(25, 0, -1))
    deep = [
        f"2={one}/{chain.replace('0=', '3=')}/{chain}/1={one}" for one in string.ascii_lowercase
    ]
    tracemalloc.start()
    check_apart("", deep)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 3 * sum(map(len, deep))


@pytest.mark.parametrize("depth", daily([7], [8]))
def test_a_certificate_takes_memory_in_proportion_to_its_length(depth):
    """Pairs of split and letter for all of its leaves would take 130 times as much, and zstd makes
    it short.
    """
    partition = ", ".join(
        f"{kind}: abcde fghijklmnopqrstuvwxyz" for kind in ("center", "edge", "corner")
    )
    question = audit.RunQuestion(
        {"dims": "3x4", "cutoff": 1, "scores": [1] * 65, "partition": partition}, "a test"
    )

    def part(depth: int) -> audit.CertifiedPart:
        body = np.zeros(1, "<u4")
        for _ in range(depth):
            body = np.concatenate([np.array([31], "<u4"), *[body] * 5])
        row = {
            "version": audit.VERSION,
            "fingerprint": question.digest,
            "class_id": 0,
            "order": bytes(range(12)),
        }
        row |= {"forced": "", "n_leaves": 5 ** (depth + 1), "n_boards": 0, "body": body.tobytes()}
        return audit.CertifiedPart(question, {**row, "sha256": audit.row_digest(row)})

    assert len(list(part(2).ends())) == 125
    tracemalloc.start()
    large = part(depth)
    assert sum(1 for _ in large.ends()) == 5 ** (depth + 1)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 10 * len(large.body)
