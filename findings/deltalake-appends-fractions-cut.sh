#!/usr/bin/env bash
# deltalake: fractions that are appended to a column of whole numbers are cut, without a word.
#
# Guess: another type than the table's is refused, since Delta enforces its schema, as text that is no number is refused.
# Seen: deltalake 1.6.6: to a table of int64 the values 2.75 and -0.5 are appended as 2 and 0.  A value too large for int32, "x",
#   and a column too many are errors.  pyiceberg 0.12.0 refuses the fractions.
# What orderly does: writes plain Parquet with its own schema; `seconds` is a double from the first row on.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check deltalake==1.6.6 pyarrow==26.0.1 "pyiceberg[sql-sqlite,pyarrow]==0.12.0"
cat >append.py <<'PYTHON'
import contextlib
import io
import os

import deltalake
import pyarrow
from pyiceberg.catalog.sql import SqlCatalog

WHOLE = pyarrow.table({"seconds": pyarrow.array([1, 3], pyarrow.int64())})
FRACTIONS = pyarrow.table({"seconds": [2.75, -0.5]})


def refused(append):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            append()
    except Exception as error:
        return type(error).__name__
    return None


deltalake.write_deltalake("delta", WHOLE)
deltalake.write_deltalake("delta", FRACTIONS, mode="append")
found = sorted(deltalake.DeltaTable("delta").to_pyarrow_table()["seconds"].to_pylist())
text = pyarrow.table({"seconds": ["x"]})
is_text_refused = refused(lambda: deltalake.write_deltalake("delta", text, mode="append"))
os.mkdir("iceberg")
catalog = SqlCatalog("runs", uri="sqlite:///iceberg/catalog.db", warehouse=f"file://{os.getcwd()}/iceberg")
catalog.create_namespace("runs")
iceberg = catalog.create_table("runs.verdicts", schema=WHOLE.schema)
iceberg.append(WHOLE)
by_iceberg = refused(lambda: iceberg.append(FRACTIONS))
print("deltalake", deltalake.__version__, found, "text:", is_text_refused, "pyiceberg:", by_iceberg)
assert found == [0, 1, 2, 3] and is_text_refused and by_iceberg, "this has changed"
PYTHON
env/bin/python append.py
echo "as found: 2.75 is stored as 2"
