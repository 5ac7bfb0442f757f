"""Sealed parts that would fill the memory are refused before anything is decoded."""

from __future__ import annotations

import shutil
import string
import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from results.errors import DamagedError
from results.proof import audit
from results.proof.splits import check_apart
from results.store.parts import parse_parquet, serialise, serialised
from results.store.run import open_run
from results.store.schema import SCHEMA, to_table
from results.store.sizes import MAX_DECODED_BYTES, MAX_ROWS, check_sizes
from tests.cluster.bombs import BOMBS, plant
from tests.cluster.forge import write_part
from tests.conftest import ROOT, make_in
from tests.results.helpers import row
from tests.samples import daily

GROWTH_MB = 100
LETTERS = string.ascii_lowercase
KINDS = ("center", "edge", "corner")
READ = """
import resource, sys
from results.store.run import open_run
def peak_mb(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
rows = list(open_run(sys.argv[1]).rows())  # a sound one first: libraries and their threads
for name in sys.argv[2:]:
    before = peak_mb()
    try:
        list(open_run(name).rows())
    except Exception as error:
        print(type(error).__name__, peak_mb() - before, error)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bombs")
    make_in(folder, "run", "2x2", "--cutoff", "14", "--workers", "0", "--out", "whole")
    make_in(folder, "verify", "whole")
    return folder / "whole"


@pytest.fixture(scope="module")
def read(whole, tmp_path_factory):
    """Return what a process says that reads a run with each of the bombs, one after the other, by bomb."""
    folder = tmp_path_factory.mktemp("planted")
    for name, make in BOMBS.items():
        run = shutil.copytree(whole, folder / name)
        found = next(open_run(run).rows())
        data = make(found)
        assert len(data) < 2**18
        plant(run, data, found.class_id)
    command = [sys.executable, "-c", READ, str(whole), *(str(folder / name) for name in BOMBS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert len(done.stdout.splitlines()) == len(BOMBS), done
    return dict(zip(BOMBS, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_it_is_decoded(read, name):
    kind, growth_mb, message = read[name].split(" ", 2)
    assert kind == "DamagedError"
    assert int(growth_mb) < GROWTH_MB
    assert "--drop-damaged" in message


def test_a_bomb_is_dropped_and_its_rows_computed_again(whole, tmp_path, orderly, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = shutil.copytree(whole, tmp_path / "run")
    found = next(open_run(run).rows())
    plant(run, BOMBS["shared text"](found), found.class_id)
    for command in (("verify", run), ("report", run), ("query", run, "SELECT count(*) FROM classes")):
        answer = orderly(*command)
        assert (answer.code, answer.out) == (3, ""), command
        assert "would become" in answer.err
    answer = orderly("run", "2x2", "--cutoff", "14", "--workers", "0", "--out", run, "--drop-damaged")
    assert answer.code == 0
    assert "dropped results/part-00000001-" in answer.err
    assert orderly("verify", run).code == 0


def test_files_too_large_for_their_name_are_not_read(whole, tmp_path, orderly):
    for name in ("run.json", "claim.json", "manifest.jsonl"):
        run = shutil.copytree(whole, tmp_path / name)
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


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"compression": "gzip"}, "compressed by GZIP"),
        ({"data_page_version": "2.0"}, "of type 3"),
        ({"use_dictionary": False, "column_encoding": {"message": "DELTA_BYTE_ARRAY"}}, "encoding 7"),
        ({"row_group_size": 1}, "row groups"),
    ],
)
def test_only_what_is_written_here_is_read(options, told):
    table = to_table([row(i, message="m" * i) for i in range(100)])
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **{"compression": "zstd", **options})
    with pytest.raises(DamagedError, match=told):
        parse_parquet(bytes(sink.getvalue()), "here", SCHEMA)


def test_the_bound_on_memory_holds_for_parts_of_every_shape():
    """The decoded size that is told is never below the true one."""
    shapes = [
        [row(i) for i in range(2000)],
        [row(i, message=f"{i} " * 500) for i in range(500)],
        [row(0, status="split", children=tuple(f"0={a}/1={b}" for a in "abcdefghij" for b in "klmnop"))] * 300,
        [row(0, status="candidates", candidates=tuple((a + b + "cd", 99) for a in "abcdefgh" for b in "ijkl"))] * 300,
    ]
    for rows in shapes:
        table = to_table(rows)
        data = serialise(table)
        metadata = pq.ParquetFile(pa.BufferReader(data)).metadata
        check_sizes(data, metadata)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("results.store.sizes.MAX_DECODED_BYTES", table.nbytes - 1)
            with pytest.raises(ValueError, match="would become"):
                check_sizes(data, metadata)
    assert table.nbytes < MAX_DECODED_BYTES


def test_a_part_without_rows_is_damaged(whole, tmp_path):
    run = shutil.copytree(whole, tmp_path / "run")
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
