#!/usr/bin/env bash
# HiGHS and SCIP: a number of 10^20 or more is infinity, so a model with a bound is "unbounded", and one with a solution "infeasible".
#
# Guess: bounds are floats, and what is below the largest float counts as written; or it is refused.
# Seen: x from 0 to 26^16, the number of 4x4 boards, to be maximised: HiGHS 1.16.0 says kUnbounded, SCIP 10 (PySCIPOpt 6.3.0)
#   unbounded; x from 0 to 5e20 with x >= 2e20 + y is infeasible for SCIP.  10^19 is a bound for both.  GLOP (OR-Tools 9.15.6755)
#   has 26^16 for the largest x.  Nothing is printed.
# What orderly does: its models have points and letters, and no numbers of boards.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check highspy==1.16.0 pyscipopt==6.3.0 ortools==9.15.6755
cat >solve.py <<'PYTHON'
import highspy
import pyscipopt
from ortools.linear_solver import pywraplp

N_BOARDS = 26**16


def by_highs(n):
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    x = model.addVariable(0, n)
    model.maximize(x)
    return model.getModelStatus().name


def by_scip(n):
    model = pyscipopt.Model()
    model.hideOutput()
    model.setObjective(model.addVar("x", "C", 0, n), "maximize")
    model.optimize()
    return model.getStatus()


def scip_between():
    model = pyscipopt.Model()
    model.hideOutput()
    x, y = model.addVar("x", "C", 0, 5e20), model.addVar("y", "C", 0, 5)
    model.addCons(x >= 2e20 + y)
    model.setObjective(x)
    model.optimize()
    return model.getStatus()


def by_glop(n):
    solver = pywraplp.Solver.CreateSolver("GLOP")
    x = solver.NumVar(0, n, "x")
    solver.Maximize(x)
    return solver.Solve() == pywraplp.Solver.OPTIMAL and x.solution_value() == float(n)


found = {
    "HiGHS": by_highs(N_BOARDS),
    "SCIP": by_scip(N_BOARDS),
    "SCIP, between 2e20 and 5e20": scip_between(),
    "HiGHS, 10^19": by_highs(10**19),
    "SCIP, 10^19": by_scip(10**19),
    "GLOP has 26^16": by_glop(N_BOARDS),
}
for solver, status in found.items():
    print(f"{solver}: {status}")
expected = ["kUnbounded", "unbounded", "infeasible", "kOptimal", "optimal", True]
assert list(found.values()) == expected, "this has changed"
PYTHON
env/bin/python solve.py
echo "as found: 26^16 is infinity"
