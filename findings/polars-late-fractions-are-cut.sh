#!/usr/bin/env bash
# Polars: a fraction that first comes after a hundred rows of Python or of a database is cut to a whole number, without a word.
#
# Guess: what does not fit the type that was guessed from the first rows is an error, as it is when the same values come as
#   columns.
# Seen: Polars 2.1.0: of 150 rows {seconds: 1} and one {seconds: 2.75, score: 5} pl.DataFrame(rows) has a 2 and no column `score`;
#   tuples, and read_database from SQLite, give 2, too.  pl.DataFrame({"seconds": [...]}) is an error.  With
#   infer_schema_length=None all are right.
# What orderly does: its rows have a schema; docs/format.md says it of the event log.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check polars==2.1.0
cat >read.py <<'PYTHON'
import sqlite3

import polars as pl

ROWS = [{"seconds": 1}] * 150 + [{"seconds": 2.75, "score": 5}]
SECONDS = [row["seconds"] for row in ROWS]
TUPLES = [(seconds,) for seconds in SECONDS]
base = sqlite3.connect(":memory:")
base.execute("create table verdicts (seconds)")
base.executemany("insert into verdicts values (?)", TUPLES)


def refused():
    try:
        pl.DataFrame({"seconds": SECONDS})
    except TypeError:
        return True
    return False


rows, whole = pl.DataFrame(ROWS), pl.DataFrame(ROWS, infer_schema_length=None)
found = {
    "dictionaries": rows["seconds"][-1],
    "from_dicts": pl.from_dicts(ROWS)["seconds"][-1],
    "tuples": pl.DataFrame(TUPLES, orient="row", schema=["seconds"])["seconds"][-1],
    "a database": pl.read_database("select seconds from verdicts", base)["seconds"][-1],
}
print("Polars", pl.__version__, found, rows.columns, "refused as a column:", refused())
print("infer_schema_length=None:", whole.columns, whole["seconds"][-1])
assert set(found.values()) == {2} and rows.columns == ["seconds"] and refused(), "this has changed"
assert whole.columns == ["seconds", "score"] and whole["seconds"][-1] == 2.75, "this has changed"
PYTHON
env/bin/python read.py
echo "as found: 2.75 is 2"
