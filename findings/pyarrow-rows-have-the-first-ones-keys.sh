#!/usr/bin/env bash
# pyarrow: Table.from_pylist takes the columns from the first row; what later rows have more is left out.
#
# Guess: keys that the first row lacks become columns, with nulls above, as they do when pyarrow reads the same rows as JSON
#   lines.
# Seen: pyarrow 26.0.1: of {event: started}, {event: best, score: 545} the table has the column `event` alone, without a word.
#   pyarrow.json and pandas 3.1.1 have both.  Within a struct, in a column, later keys are kept.
# What orderly does: gives the schema wherever it makes a table of rows.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyarrow==26.0.1 pandas==3.1.1
cat >read.py <<'PYTHON'
import json

import pandas
import pyarrow
import pyarrow.json

ROWS = [{"event": "started"}, {"event": "best", "score": 545}]
with open("events.jsonl", "w") as file:
    file.write("".join(json.dumps(row) + "\n" for row in ROWS))
by_rows = pyarrow.Table.from_pylist(ROWS).column_names
by_array = [field.name for field in pyarrow.array(ROWS).type]
by_json = pyarrow.json.read_json("events.jsonl").column_names
by_pandas = list(pandas.DataFrame(ROWS).columns)
print("pyarrow", pyarrow.__version__, "from_pylist:", by_rows, "array:", by_array)
print("its reader of JSON:", by_json, "pandas:", by_pandas)
assert by_rows == ["event"], "this has changed"
assert by_array == by_json == by_pandas == ["event", "score"], "this has changed"
PYTHON
env/bin/python read.py
echo "as found: the score is gone"
