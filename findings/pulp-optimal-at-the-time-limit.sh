#!/usr/bin/env bash
# PuLP: the status is "Optimal" when a solver was stopped at its time limit, with whatever it had found.
#
# Guess: "Optimal" means that the solver has proven it; what a time limit has stopped is "Not Solved" or has a status of its own.
# Seen: PuLP 3.3.2, a model whose optimum is 0 by its making, two seconds: with CBC and with HiGHS 1.16.0 the status is 1,
#   "Optimal", at a value above 0.  Only prob.sol_status tells: it is 2, and would be 1 after a proof.
# What orderly does: its table of solvers (tests/field/ask.py) asks each solver by its own interface, and takes a proof from there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pulp==3.3.2 highspy==1.16.0
cat >solve.py <<'PYTHON'
import random

import pulp

N_SUMS, N_ITEMS = 5, 40
random.seed(2)
planted = [random.randrange(2) for _ in range(N_ITEMS)]
chosen = [pulp.LpVariable(f"x{j}", cat="Binary") for j in range(N_ITEMS)]
prob = pulp.LpProblem("split", pulp.LpMinimize)
misses = []
for i in range(N_SUMS):
    weights = [random.randrange(1, 100) for _ in range(N_ITEMS)]
    over, under = pulp.LpVariable(f"over{i}", 0), pulp.LpVariable(f"under{i}", 0)
    misses += [over, under]
    prob += pulp.lpDot(weights, chosen) + over - under == sum(w for w, p in zip(weights, planted) if p)
prob += pulp.lpSum(misses)
print("PuLP", pulp.__version__)
for solver in (pulp.PULP_CBC_CMD, pulp.HiGHS):
    status = prob.solve(solver(msg=False, timeLimit=2))
    value = pulp.value(prob.objective)
    print(f"{solver.__name__}: status {pulp.LpStatus[status]!r}, sol_status {prob.sol_status}, value {value:.0f}")
    assert pulp.LpStatus[status] == "Optimal" and prob.sol_status == 2 and value > 0.5, "this has changed"
PYTHON
env/bin/python solve.py
echo "as found: Optimal, above the optimum"
