#!/usr/bin/env bash
# fastparquet reads a column of lists of structs without a word, as None in every row.
#
# Guess: a list of {board, score} comes as a list of dictionaries, or the reader says that it cannot read such a column.
# Seen: fastparquet 2026.9.0: of [], [{berlatdes, 430}], [{a, 1}, {b, 2}] it makes None, None, None, and lists the column as any
#   other; a list of texts beside it is read.  pyarrow, Polars and DuckDB read both.
# What orderly does: docs/format.md says it of the column `candidates`, which would seem to have no boards.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check fastparquet==2026.9.0 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1
cat >read.py <<'PYTHON'
import duckdb
import fastparquet
import polars
import pyarrow as pa
import pyarrow.parquet as pq

BOARDS = [[], [{"board": "berlatdes", "score": 430}], [{"board": "a", "score": 1}, {"board": "b", "score": 2}]]
PATHS = [[], ["5=a"], ["5=a", "5=b"]]
board = pa.struct([("board", pa.string()), ("score", pa.int32())])
columns = {"candidates": pa.array(BOARDS, pa.list_(board)), "children": pa.array(PATHS, pa.list_(pa.string()))}
pq.write_table(pa.table(columns), "part.parquet")

frame = fastparquet.ParquetFile("part.parquet").to_pandas()
found = {
    "fastparquet": (list(frame["candidates"]), [list(paths) for paths in frame["children"]]),
    "pyarrow": tuple(pq.read_table("part.parquet").to_pydict().values()),
    "Polars": tuple(polars.read_parquet("part.parquet").to_dict(as_series=False).values()),
    "DuckDB": tuple(map(list, zip(*duckdb.sql("from 'part.parquet'").fetchall()))),
}
for reader, (candidates, children) in found.items():
    print(f"{reader}: {candidates} {children}")
assert found.pop("fastparquet") == ([None, None, None], PATHS), "this has changed"
assert all(columns == (BOARDS, PATHS) for columns in found.values()), "this has changed"
PYTHON
env/bin/python read.py
echo "as found: fastparquet has None for every list of structs"
