#!/usr/bin/env bash
# DuckDB: the first word of a list with a word a line is taken for the heading of a column, and is not among the words.
#
# Guess: its reader of CSV looks for a heading, and finds none where the first line is like all others.
# Seen: DuckDB 2.0.1: of a list of 2,000 words 1,999 are read, and the column has the name of the first.  Where all columns are text
#   it always takes the first line for a heading; with header = false all words are there.
# What orderly does: reads lists itself, line by line; `orderly wordlist check FILE` tells the number of words.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check duckdb==2.0.1
cat >read.py <<'PYTHON'
import duckdb

words = [a + b + c for a in "abcdefghij" for b in "abcdefghij" for c in "abcdefghijklmnopqrst"]
with open("words.txt", "w") as file:
    file.write("".join(f"{word}\n" for word in words))


def read(options=""):
    table = duckdb.sql(f"from read_csv('words.txt'{options})")
    return table.columns, len(table.fetchall())


print("DuckDB", duckdb.__version__, "read:", read(), "with header = false:", read(", header = false"))
assert read() == (["aaa"], len(words) - 1) and read(", header = false") == (["column0"], len(words)), "this has changed"
PYTHON
env/bin/python read.py
echo "as found: the first word is lost"
