#!/usr/bin/env bash
# pytoulbar2: costs with fractions are rounded to whole numbers, and a worse assignment is proven to be the best.
#
# Guess: a cost of 0.4 is kept, or refused in a network of whole costs.
# Seen: pytoulbar2 1.4.0.1: of 0.4 and 0.3 it takes the first, cost 0.0, with a proof; of 1.4 or 0.6 for one cell and 2.5 or 2.6
#   for another it says 4.0, where 3.1 is the least.  The number of decimals is an argument of CFN(...), `resolution`, which is 0.
# What orderly does: points are whole numbers, and `export --format cfn` writes whole costs.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pytoulbar2==1.4.0.1
cat >solve.py <<'PYTHON'
from importlib.metadata import version

import pytoulbar2


def least(costs, **options):
    network = pytoulbar2.CFN(ubinit=100, **options)
    for n, cost in enumerate(costs):
        network.AddVariable(f"c{n}", [0, 1])
        network.AddFunction([f"c{n}"], cost)
    return network.Solve()[:2]


ONE, TWO = [[0.4, 0.3]], [[1.4, 0.6], [2.5, 2.6]]
found = least(ONE), least(TWO)
fine = least(ONE, resolution=1), least(TWO, resolution=1)
print("pytoulbar2", version("pytoulbar2"), found, "resolution=1:", fine)
assert found == (([0], 0.0), ([1, 0], 4.0)), "this has changed"
assert fine[0][0] == [1] and abs(fine[0][1] - 0.3) < 1e-9, "this has changed"
assert fine[1][0] == [1, 0] and abs(fine[1][1] - 3.1) < 1e-9, "this has changed"
PYTHON
env/bin/python solve.py
echo "as found: costs are rounded"
