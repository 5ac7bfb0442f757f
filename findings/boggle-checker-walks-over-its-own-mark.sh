#!/usr/bin/env bash
# boggle-checker (package index): says that words with x are on boards without an x, and misses words that are there.
#
# Guess: a package whose one function says whether a word is on a board is right on a board of four cells.
# Seen: boggle-checker 0.1 marks a cell that it has used by the letter x, which then counts as an x of the board: "tax" is on
#   t a / e s.  It follows only the first cell that fits, and never goes back: of "seat" on a board with two s, one of which leads
#   nowhere, it says no.  Its lower-case marks do no harm on boards in capitals.
# What orderly does: docs/peers.md has it in the table.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check boggle-checker==0.1
cat >ask.py <<'PYTHON'
import contextlib
import io

from boggle.boggle import boggle_checker


def says(rows, word):
    with contextlib.redirect_stdout(io.StringIO()):
        return bool(boggle_checker([list(row) for row in rows], word))


found = says(["ta", "es"], "tax"), says(["szz", "zse", "zta"], "seat"), says(["TA", "ES"], "TAX")
print("tax on ta/es:", found[0], "  seat on szz/zse/zta:", found[1], "  TAX in capitals:", found[2])
assert found == (True, False, False), "this has changed"
PYTHON
env/bin/python ask.py
echo "as found: x is on the board, seat is not"
