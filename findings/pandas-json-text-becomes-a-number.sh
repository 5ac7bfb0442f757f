#!/usr/bin/env bash
# pandas: a number that is text in JSON, so that no reader can round it, is made a number by read_json, and rounded.
#
# Guess: what has quotes in JSON is text, and stays text.
# Seen: pandas 3.1.1: of "43608742899428874059776", the number of 4x4 boards, read_json makes a float, 4.360874289942888e+22; the
#   text "007" becomes 7, and "12e4" 120000.0.  With dtype=False all are text.  pyarrow 26.0.1, Polars 2.1.0 and DuckDB 2.0.1 keep
#   the text.
# What orderly does: n_boards is text, in Parquet, where pandas leaves it as it is; docs/format.md says it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1
cat >read.py <<'PYTHON'
import json

import duckdb
import pandas
import polars
import pyarrow.json

ROW = {"n_boards": str(26**16), "seed": "007", "commit": "12e4", "board": "berlatdes"}
with open("rows.jsonl", "w") as file:
    file.write(json.dumps(ROW) + "\n")


def first(table):
    return {name: column[0] for name, column in table.to_dict("list").items()}


found = first(pandas.read_json("rows.jsonl", lines=True))
others = {
    "pandas, dtype=False": first(pandas.read_json("rows.jsonl", lines=True, dtype=False)),
    "pyarrow": pyarrow.json.read_json("rows.jsonl").to_pylist()[0],
    "Polars": polars.read_ndjson("rows.jsonl").row(0, named=True),
    "DuckDB": duckdb.sql("from 'rows.jsonl'").to_arrow_table().to_pylist()[0],
}
print(f"pandas {pandas.__version__}: {found}")
for reader, row in others.items():
    print(f"{reader}: {row}")
    assert row == ROW, "this has changed"
assert found == ROW | {"n_boards": float(26**16), "seed": 7, "commit": 120000.0}, "this has changed"
assert int(found["n_boards"]) != 26**16 + 1 and type(found["n_boards"]) is not str, "this has changed"
PYTHON
env/bin/python read.py
echo "as found: pandas makes numbers of texts"
