#!/usr/bin/env bash
# HiGHS: "optimal" is an answer within a hundredth of a percent of the optimum, of whole numbers too.
#
# Guess: where all is whole numbers and the status is kOptimal, with no limit set, no better answer exists.
# Seen: HiGHS 1.16.0, a knapsack of 12 things whose 4,096 choices can be listed: kOptimal, 98,389; the best is 98,392.
#   mip_rel_gap is 0.0001.  scipy 1.17.1 (milp) says "Optimal" of the same, and PuLP 3.3.2 with HiGHS too.  With mip_rel_gap 0,
#   and by SCIP (PySCIPOpt 6.3.0), it is 98,392.
# What orderly does: the best scores of docs/solvers.md are far below 10,000, where that gap is less than one point.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check highspy==1.16.0 scipy==1.17.1 pulp==3.3.2 pyscipopt==6.3.0
cat >solve.py <<'PYTHON'
import random

import highspy
import numpy
import pulp
import pyscipopt
import scipy.optimize

dice = random.Random(3)
POINTS = [dice.randint(10**4, 2 * 10**4) for _ in range(12)]
LIMIT = sum(POINTS) // 2 + 1


def by_highs(gap=None):
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    if gap is not None:
        model.setOptionValue("mip_rel_gap", gap)
    taken = [model.addVariable(0, 1, type=highspy.HighsVarType.kInteger) for _ in POINTS]
    total = sum(n * x for n, x in zip(POINTS, taken, strict=True))
    model.addConstr(total <= LIMIT)
    model.maximize(total)
    return model.getModelStatus().name, round(model.getObjectiveValue())


def by_scipy():
    row = scipy.optimize.LinearConstraint([POINTS], ub=LIMIT)
    costs, whole = -numpy.array(POINTS), numpy.ones(12)
    found = scipy.optimize.milp(costs, constraints=row, integrality=whole, bounds=scipy.optimize.Bounds(0, 1))
    return found.message, round(-found.fun)


def by_pulp():
    model = pulp.LpProblem("best", pulp.LpMaximize)
    total = pulp.lpDot(POINTS, [pulp.LpVariable(f"x{n}", cat="Binary") for n in range(12)])
    model += total
    model += total <= LIMIT
    model.solve(pulp.HiGHS(msg=False))
    return pulp.LpStatus[model.status], round(pulp.value(model.objective))


def by_scip():
    model = pyscipopt.Model()
    model.hideOutput()
    total = pyscipopt.quicksum(n * model.addVar(vtype="B") for n in POINTS)
    model.addCons(total <= LIMIT)
    model.setObjective(total, "maximize")
    model.optimize()
    return model.getStatus(), round(model.getObjVal())


sums = {0}
for n in POINTS:
    sums |= {total + n for total in sums}
best = max(total for total in sums if total <= LIMIT)
found = {"HiGHS": by_highs(), "scipy": by_scipy(), "PuLP": by_pulp(), "HiGHS, gap 0": by_highs(0.0), "SCIP": by_scip()}
print("the best:", best)
for solver, answer in found.items():
    print(f"{solver}: {answer}")
assert all("optimal" in status.lower() for status, _ in found.values()), "this has changed"
assert found["HiGHS, gap 0"][1] == found["SCIP"][1] == best, "this has changed"
assert all(found[solver][1] < best for solver in ("HiGHS", "scipy", "PuLP")), "this has changed"
PYTHON
env/bin/python solve.py
echo "as found: optimal, and three points below the best"
