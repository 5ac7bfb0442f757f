#!/usr/bin/env bash
# pyarrow: a Parquet file whose writer was left by an exception has a footer, and reads as a whole one with fewer rows.
#
# Guess: the footer comes last, so a file that was not written to its end cannot be read, which is how one tells.
# Seen: pyarrow 26.0.1: `with ParquetWriter(...)` writes the footer on its way out of an exception as well.  After one of two
#   tables pyarrow, Polars 2.1.0 and DuckDB 2.0.1 read its three rows, and nothing tells that three more were to come.
#   RecordBatchFileWriter (Arrow's own format) does the same.
# What orderly does: makes a part in memory, and names it, with the number of its rows, in the manifest once it is stored.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1
cat >write.py <<'PYTHON'
import duckdb
import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet

table = pyarrow.table({"class_id": [1, 2, 3]})


def interrupted(make):
    try:
        with make() as writer:
            writer.write_table(table)
            raise ValueError("the next three could not be computed")
    except ValueError:
        pass


interrupted(lambda: pyarrow.parquet.ParquetWriter("part.parquet", table.schema))
interrupted(lambda: pyarrow.ipc.new_file("part.arrow", table.schema))
rows = {
    "pyarrow": pyarrow.parquet.read_table("part.parquet").num_rows,
    "Polars": polars.read_parquet("part.parquet").height,
    "DuckDB": duckdb.sql("select count(*) from 'part.parquet'").fetchall()[0][0],
    "Arrow's format": pyarrow.ipc.open_file("part.arrow").read_all().num_rows,
}
print("pyarrow", pyarrow.__version__, "rows read:", rows)
assert set(rows.values()) == {3}, "this has changed"
PYTHON
env/bin/python write.py
echo "as found: half of a table is a valid file"
