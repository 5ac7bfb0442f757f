#!/usr/bin/env bash
# DataFusion: SQL whose sums and products go round at 64 bits, without a word.
#
# Guess: a sum that does not fit is an error, as in PostgreSQL's bigint and in SQLite, or wider, as in DuckDB.
# Seen: DataFusion 55.0.0: four numbers of boards at 2^62 each add up to 0, their windowed sum is 0, four times one is 0, and
#   9223372036854775807 + 1 is -9223372036854775808; avg() is right.  Polars 2.1.0 and pyarrow 26.0.1 have 0 for the sum, too.
#   DuckDB 2.0.1 says 2^64, and SQLite "integer overflow".
# What orderly does: n_boards is text; `orderly query` adds by DuckDB, and docs/format.md says what others need.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check datafusion==55.0.0 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1
cat >add.py <<'PYTHON'
import sqlite3

import datafusion
import duckdb
import polars
import pyarrow
import pyarrow.compute

classes = pyarrow.table({"n_boards": pyarrow.array([2**62] * 4)})
context = datafusion.SessionContext()
context.register_record_batches("classes", [classes.to_batches()])


def ask(expression):
    rows = context.sql(f"select {expression} as answer from classes limit 1").to_pylist()
    return rows[0]["answer"]


def by_sqlite():
    try:
        values = " union all ".join([f"select {2**62} n"] * 4)
        return sqlite3.connect(":memory:").execute(f"select sum(n) from ({values})").fetchone()[0]
    except sqlite3.Error as error:
        return str(error)


EXPECTED = {
    "sum(n_boards)": 0,
    "sum(n_boards) over ()": 0,
    "n_boards * 4": 0,
    "9223372036854775807 + 1": -(2**63),
    "avg(n_boards)": 2.0**62,
}
print("DataFusion", datafusion.__version__)
for expression, expected in EXPECTED.items():
    found = ask(expression)
    print(f"{expression}: {found}")
    assert found == expected, "this has changed"
others = {
    "Polars": polars.from_arrow(classes)["n_boards"].sum(),
    "pyarrow": pyarrow.compute.sum(classes["n_boards"]).as_py(),
    "DuckDB": duckdb.sql("select sum(n_boards) from classes").fetchall()[0][0],
    "SQLite": by_sqlite(),
}
print("sums:", others)
assert others == {"Polars": 0, "pyarrow": 0, "DuckDB": 2**64, "SQLite": "integer overflow"}, "this has changed"
PYTHON
env/bin/python add.py
echo "as found: four classes have no boards together"
