#!/usr/bin/env bash
# JSON lines: a key that first comes after a hundred lines is left out by Polars; a fraction that first comes after twenty
# thousand is rounded by DuckDB.  Neither says a word.
#
# Guess: what a reader has not seen in the lines that it guesses the columns from is an error, or makes one more column.
# Seen: 30,000 lines with `n`, then one with `score` and `seconds`.  Polars 2.1.0, read_ndjson and scan_ndjson: there is no column
#   `score`; with infer_schema_length=None there is.  DuckDB 2.0.1 stops at an unknown key; but where `seconds` was 1 so far,
#   2.75 becomes 3.  pyarrow 26.0.1 reads both right.
# What orderly does: the event log is such a file, where `best` may come late; docs/format.md says how to read it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check polars==2.1.0 duckdb==2.0.1 pyarrow==26.0.1
cat >read.py <<'PYTHON'
import duckdb
import polars
import pyarrow.json

LINE = '{"event": "progress", "seconds": 1}\n'


def written(name, last):
    with open(name, "w") as file:
        file.write(LINE * 30_000 + last + "\n")


written("key.jsonl", '{"event": "best", "score": 430}')
written("fraction.jsonl", '{"event": "progress", "seconds": 2.75}')


def tried(read):
    try:
        return read()
    except Exception as error:
        return type(error).__name__


found = {
    "Polars, key": polars.read_ndjson("key.jsonl").columns,
    "Polars, key, lazy": polars.scan_ndjson("key.jsonl").collect().columns,
    "Polars, key, all lines": polars.read_ndjson("key.jsonl", infer_schema_length=None).columns,
    "Polars, fraction": tried(lambda: polars.read_ndjson("fraction.jsonl")["seconds"].max()),
    "DuckDB, key": tried(lambda: duckdb.sql("from 'key.jsonl'").fetchall()),
    "DuckDB, fraction": duckdb.sql("select max(seconds) from 'fraction.jsonl'").fetchall()[0][0],
    "pyarrow, key": pyarrow.json.read_json("key.jsonl").column_names,
    "pyarrow, fraction": pyarrow.json.read_json("fraction.jsonl")["seconds"][-1].as_py(),
}
for reader, what in found.items():
    print(f"{reader}: {what}")
assert found == {
    "Polars, key": ["event", "seconds"],
    "Polars, key, lazy": ["event", "seconds"],
    "Polars, key, all lines": ["event", "seconds", "score"],
    "Polars, fraction": "ComputeError",
    "DuckDB, key": "InvalidInputException",
    "DuckDB, fraction": 3,
    "pyarrow, key": ["event", "seconds", "score"],
    "pyarrow, fraction": 2.75,
}, "this has changed"
PYTHON
env/bin/python read.py
echo "as found: Polars leaves the key out, DuckDB rounds the fraction"
