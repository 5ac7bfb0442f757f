#!/usr/bin/env bash
# A whole number beyond 64 bits in JSON: orjson, DuckDB and pyarrow make a float of it without a word; others keep it.
#
# Guess: JavaScript loses digits beyond 2^53; readers made for data, that have 64-bit integers, keep a larger one or refuse it.
# Seen: of 43608742899428874059776, the number of 4x4 boards, orjson 3.13.0 makes a float, DuckDB 2.0.1 a DOUBLE (though it has
#   HUGEINT) and pyarrow 26.0.1 a double: 4.360874289942888e+22.  json, msgspec 0.23.0, ujson 6.1.0, rapidjson 1.25 and Polars 2.1.0
#   (i128) keep it; pandas 3.1.1 refuses it.
# What orderly does: claim.json has `n_boards_covered` as a JSON number; docs/format.md says which readers keep it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check orjson==3.13.0 duckdb==2.0.1 pyarrow==26.0.1 msgspec==0.23.0 ujson==6.1.0 \
    python-rapidjson==1.25 polars==2.1.0 pandas==3.1.1
cat >read.py <<'PYTHON'
import json

import duckdb
import msgspec
import orjson
import pandas
import polars
import pyarrow.json
import rapidjson
import ujson

N = 26**16
TEXT = f'{{"n": {N}}}\n'
with open("claim.json", "w") as file:
    file.write(TEXT)


def by_pandas():
    try:
        return pandas.read_json("claim.json", lines=True)["n"][0]
    except ValueError as error:
        return str(error)


found = {
    "orjson": orjson.loads(TEXT)["n"],
    "DuckDB": duckdb.sql("select n from 'claim.json'").fetchall()[0][0],
    "pyarrow": pyarrow.json.read_json("claim.json")["n"][0].as_py(),
    "json": json.loads(TEXT)["n"],
    "msgspec": msgspec.json.decode(TEXT)["n"],
    "ujson": ujson.loads(TEXT)["n"],
    "rapidjson": rapidjson.loads(TEXT)["n"],
    "Polars": polars.read_ndjson("claim.json")["n"][0],
    "pandas": by_pandas(),
}
for reader, n in found.items():
    print(f"{reader}: {n!r}")
for reader in ("orjson", "DuckDB", "pyarrow"):
    assert type(found.pop(reader)) is float, "this has changed"
assert "too big" in found.pop("pandas"), "this has changed"
assert set(found.values()) == {N}, "this has changed"
PYTHON
env/bin/python read.py
echo "as found: orjson, DuckDB and pyarrow round it"
