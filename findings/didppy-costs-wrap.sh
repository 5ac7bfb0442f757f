#!/usr/bin/env bash
# didppy: costs that add up to more than 32 bits wrap, and the dearest way is proven to be the cheapest.
#
# Guess: a sum is exact, or an error, as a single cost of 2^31 is.
# Seen: didppy 0.11.1: of a way of two steps at 1,500,000,000 and one of two at 5 it takes the first: -1294967296, is_optimal
#   True.  At 1,000,000,000 it takes the other, and 2^31 for one step is an error.
# What orderly does: its models for DIDP (tests/field/ask.py) have points, whose sums stay far below, and no numbers of boards.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check didppy==0.11.1
cat >solve.py <<'PYTHON'
from importlib.metadata import version

import didppy as dp


def cheapest(dear, cheap):
    model = dp.Model(maximize=False)
    steps, way = model.add_int_var(target=0), model.add_int_var(target=0)
    model.add_base_case([steps == 2])
    for number, name, cost in ((1, "dear", dear), (2, "cheap", cheap)):
        step = dp.Transition(
            name,
            cost=cost + dp.IntExpr.state_cost(),
            effects=[(steps, steps + 1), (way, number)],
            preconditions=[(way == 0) | (way == number)],
        )
        model.add_transition(step)
    found = dp.CABS(model, threads=1, quiet=True).search()
    return [step.name for step in found.transitions], found.cost, found.is_optimal


try:
    refused = cheapest(2**31, 5)
except RuntimeError as error:
    refused = str(error)
small, large = cheapest(1_000_000_000, 5), cheapest(1_500_000_000, 5)
print("didppy", version("didppy"))
print("1,000,000,000 or 5:", small)
print("1,500,000,000 or 5:", large)
print("2**31 or 5:", refused)
assert small == (["cheap", "cheap"], 10, True) and isinstance(refused, str), "this has changed"
assert large == (["dear", "dear"], 3_000_000_000 - 2**32, True), "this has changed"
PYTHON
env/bin/python solve.py
echo "as found: the dearest is the cheapest"
