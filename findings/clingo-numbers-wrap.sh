#!/usr/bin/env bash
# clingo: numbers have 32 bits, and a larger one wraps without a word, so that the dearest choice is proven to be the cheapest.
#
# Guess: a number that does not fit is refused, as weights that add up to too much are ("Integer overflow!").
# Seen: clingo 5.8.3: 26**7, and 8031810176 written out, are -558124416; the sum of two facts at 2,000,000,000 each is -294967296.
#   Of `a` at 8031810176 and `b` at 5 it takes `a` as the optimum, cost -558124416.  Nothing is printed, with all warnings on.
# What orderly does: its models for clingo (tests/field/ask.py) have points, whose sums stay far below, and no numbers of boards.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check clingo==5.8.3
cat >solve.py <<'PYTHON'
import clingo

PROGRAMS = {
    "n(26**7).": ("n(-558124416)", []),
    "n(8031810176).": ("n(-558124416)", []),
    "n(S) :- S = #sum{2000000000,X : p(X)}. p(1..2). #show n/1.": ("n(-294967296)", []),
    "1 {a; b} 1. #minimize{8031810176,a : a; 5,b : b}.": ("a", [-558124416]),
}
said = []
print("clingo", clingo.__version__)
for program, expected in PROGRAMS.items():
    control = clingo.Control(["0", "--warn=all"], logger=lambda code, text: said.append(text))
    control.add("base", [], program)
    control.ground([("base", [])])
    with control.solve(yield_=True) as models:
        for model in models:
            last = str(model), model.cost
        is_whole = models.get().exhausted
    print(f"{program} -> {last}")
    assert is_whole and last == expected, "this has changed"
assert not said, said
PYTHON
env/bin/python solve.py
echo "as found: numbers wrap at 32 bits, and the dearest is the cheapest"
