#!/usr/bin/env bash
# PySAT: "at most one of 1, 2, 3" takes 4 and 5 as its own auxiliary variables, also where they are letters of the next cell.
#
# Guess: as it cannot know which numbers a formula uses, it has to be told the first free one.
# Seen: python-sat 1.9.dev24: CardEnc.atmost([1, 2, 3], bound=1) begins its own after the largest of the three.  Put into a
#   formula with "exactly one of 4, 5, 6", two of the nine assignments are left; of nine encodings only the pairwise one, which
#   has no auxiliary variables, keeps all.  With top_id=6 all nine are there.
# What orderly does: its model for RC2 (tests/field/ask.py) has pairwise clauses, without auxiliary variables.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check python-sat==1.9.dev24
cat >solve.py <<'PYTHON'
from importlib.metadata import version

from pysat.card import CardEnc, EncType
from pysat.solvers import Cadical153

EXACTLY_ONE_EACH = [[1, 2, 3], [4, 5, 6], [-4, -5], [-4, -6], [-5, -6]]
NAMES = ("pairwise", "seqcounter", "sortnetwrk", "cardnetwrk", "bitwise", "ladder", "totalizer", "mtotalizer", "kmtotalizer")


def boards(**options):
    at_most = CardEnc.atmost(lits=[1, 2, 3], bound=1, **options).clauses
    found = []
    for first in (1, 2, 3):
        for second in (4, 5, 6):
            others = [[-letter] for letter in range(1, 7) if letter not in (first, second)]
            with Cadical153(bootstrap_with=EXACTLY_ONE_EACH + at_most + others + [[first], [second]]) as solver:
                if solver.solve():
                    found.append((first, second))
    return found


usual, apart = boards(), boards(top_id=6)
by_encoding = {name: len(boards(encoding=getattr(EncType, name))) for name in NAMES}
print("python-sat", version("python-sat"), "boards of 9:", usual, "with top_id:", len(apart))
print(by_encoding)
assert len(apart) == 9 and len(usual) < 9 and (1, 4) not in usual, "this has changed"
assert by_encoding["pairwise"] == 9 and sum(n < 9 for n in by_encoding.values()) == 8, "this has changed"
PYTHON
env/bin/python solve.py
echo "as found: boards are missing"
