#!/usr/bin/env bash
# tabulate: texts that look like numbers are printed as other texts: the commit 1e5 as 100000, and 9007199254740993 as 9.0072e+15.
#
# Guess: it lines columns up and leaves texts as they are.
# Seen: tabulate 0.10.0: of the commits "1e5" and "2e3" it prints 100000 and 2000; "9007199254740993" above "0.5" is 9.0072e+15,
#   and "007" above "1.25" is 7.  With disable_numparse=True all are as given.  rich 15.0.0 prints them as they are.
# What orderly does: prints its tables by rich.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check tabulate==0.10.0 rich==15.0.0
cat >print.py <<'PYTHON'
import io
from importlib.metadata import version

import rich.console
import rich.table
from tabulate import tabulate

ROWS = [["1e5", "9007199254740993", "007"], ["2e3", "0.5", "1.25"]]
table = rich.table.Table(*"abc")
for row in ROWS:
    table.add_row(*row)
printed = io.StringIO()
rich.console.Console(file=printed, width=80).print(table)


def words(text):
    return [line.split() for line in text.splitlines()]


found, kept = words(tabulate(ROWS, tablefmt="plain")), words(tabulate(ROWS, tablefmt="plain", disable_numparse=True))
print("tabulate", version("tabulate"), "prints", found, "with disable_numparse:", kept)
assert found == [["100000", "9.0072e+15", "7"], ["2000", "0.5", "1.25"]] and kept == ROWS, "this has changed"
assert all(text in printed.getvalue() for row in ROWS for text in row), "this has changed"
PYTHON
env/bin/python print.py
echo "as found: texts are printed as numbers"
