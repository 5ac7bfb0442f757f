#!/usr/bin/env bash
# DuckDB: a folder anywhere on the way to a Parquet file that is called attempt=2 replaces the file's own column `attempt`.
#
# Guess: of one file that is named in full the columns are those in the file; folders count where a whole tree is read, and two
#   values for one column are an error.
# Seen: DuckDB 2.0.1: read_parquet('runs/attempt=2/part.parquet') says 2 where the file says 1, without a word; a folder seed=7 adds
#   a column.  With hive_partitioning = false both are as in the file, as they are with pyarrow 26.0.1, Polars 2.1.0 and
#   fastparquet 2026.9.0.
# What orderly does: opens parts one by one with pyarrow, never through DuckDB; docs/format.md says which option reads them right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check duckdb==2.0.1 pyarrow==26.0.1 polars==2.1.0 fastparquet==2026.9.0
cat >read.py <<'PYTHON'
from pathlib import Path

import duckdb
import fastparquet
import polars
import pyarrow as pa
import pyarrow.parquet as pq


def by_duckdb(path, options=""):
    return duckdb.sql(f"from read_parquet('{path}'{options})").to_arrow_table().to_pydict()


READERS = {
    "DuckDB": by_duckdb,
    "DuckDB, hive_partitioning = false": lambda path: by_duckdb(path, ", hive_partitioning = false"),
    "pyarrow": lambda path: pq.read_table(path).to_pydict(),
    "Polars": lambda path: polars.read_parquet(path).to_dict(as_series=False),
    "fastparquet": lambda path: fastparquet.ParquetFile(path).to_pandas().to_dict("list"),
}
OWN = {"class_id": [5], "attempt": [1]}
for folder in ("attempt=2", "seed=7"):
    path = f"runs/{folder}/part.parquet"
    Path(path).parent.mkdir(parents=True)
    pq.write_table(pa.table(OWN), path)
    for name, read in READERS.items():
        found = read(path)
        print(f"{folder}, {name}: {found}")
        expected = OWN
        if name == "DuckDB":
            expected = OWN | {"attempt=2": {"attempt": [2]}, "seed=7": {"seed": [7]}}[folder]
        assert found == expected, "this has changed"
PYTHON
env/bin/python read.py
echo "as found: to DuckDB the name of the folder counts, and not the file"
