#!/usr/bin/env bash
# DuckDB: a sum of whole numbers that is written to Parquet is written as DOUBLE, and loses digits.
#
# Guess: sum(BIGINT) is a whole number of 128 bits (HUGEINT), so COPY ... TO 'x.parquet' writes DECIMAL(38, 0), or refuses.
# Seen: DuckDB 2.0.1: the sum of 9007199254740993 and 0 is right on the screen, in CSV and in JSON; in Parquet there is a DOUBLE,
#   9007199254740992, and the number of boards of 4x4, 26^16, loses its last seven digits.  Cast to DECIMAL(38, 0) both are kept.
# What orderly does: n_boards is text in Parquet; docs/format.md says how to write sums of it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check duckdb==2.0.1 pyarrow==26.0.1
cat >write.py <<'PYTHON'
import json

import duckdb
import pyarrow.parquet as pq

SUM = "(select sum(n) as n from (values (9007199254740993), (0)) as t(n))"
BOARDS = f"(select '{26**16}'::HUGEINT as n)"
CASES = {"sum": SUM, "sum as decimal": SUM, "26^16": BOARDS, "26^16 as decimal": BOARDS}
print("DuckDB", duckdb.__version__)
found = {}
for name, query in CASES.items():
    if name.endswith("decimal"):
        query = f"(select n::DECIMAL(38, 0) as n from {query})"
    for form in ("parquet", "csv", "json"):
        duckdb.sql(f"copy {query} to 'n.{form}' (format {form})")
    table = pq.read_table("n.parquet")
    with open("n.csv") as csv, open("n.json") as file:
        texts = csv.read().split()[1], str(json.load(file)["n"])
    found[name] = str(table.schema.field("n").type), int(table["n"][0].as_py())
    print(f"{name}: CSV {texts[0]}, JSON {texts[1]}, Parquet {found[name][1]} ({found[name][0]})")
    assert name.endswith("decimal") or texts[0] == texts[1] == str((2**53 + 1, 26**16)["26" in name]), "this has changed"
assert found["sum"] == ("double", 2**53), "this has changed"
assert found["26^16"][0] == "double" and found["26^16"][1] != 26**16, "this has changed"
assert found["sum as decimal"] == ("decimal128(38, 0)", 2**53 + 1), "this has changed"
assert found["26^16 as decimal"] == ("decimal128(38, 0)", 26**16), "this has changed"
PYTHON
env/bin/python write.py
echo "as found: in Parquet the sum is a DOUBLE"
