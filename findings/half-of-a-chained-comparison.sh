#!/usr/bin/env bash
# `1 <= x <= 3` as a constraint: PuLP, Python-MIP and linopy keep `x <= 3` only, without a word; z3 keeps half of `x == y == w`.
#
# Guess: a library whose comparisons make constraints takes both halves, or says that it cannot.
# Seen: of whole numbers from -100 to 100 with 1 <= x <= 3 the least is -100 for PuLP 3.3.2 and Python-MIP 2.0.0, both "optimal",
#   and linopy 0.10.1 has `x <= 3`.  z3 5.4.1 refuses that one, and of x == y == w keeps x == y.  HiGHS's own interface (highspy
#   1.16.0) has both halves, so a model that was right there is wrong elsewhere.  PySCIPOpt 6.3.0, Pyomo 6.10.1 and CVXPY 1.9.3
#   refuse it.
# What orderly does: writes models as files; docs/solvers.md warns of it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pulp==3.3.2 mip==2.0.0 linopy==0.10.1 z3-solver==5.4.1.0 highspy==1.16.0 \
    pyscipopt==6.3.0 pyomo==6.10.1 cvxpy==1.9.3
cat >solve.py <<'PYTHON'
import cvxpy
import highspy
import linopy
import mip
import pulp
import pyomo.environ as pyomo
import pyscipopt
import z3


def by_pulp():
    model, x = pulp.LpProblem("least", pulp.LpMinimize), pulp.LpVariable("x", -100, 100, "Integer")
    model += x
    model += 1 <= x <= 3
    model.solve(pulp.PULP_CBC_CMD(msg=False))
    return pulp.LpStatus[model.status], x.value()


def by_mip():
    model = mip.Model()
    model.verbose = 0
    x = model.add_var(lb=-100, ub=100, var_type=mip.INTEGER)
    model.objective = mip.minimize(x)
    model += 1 <= x <= 3
    return model.optimize().name, x.x


def by_highs():
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    x = model.addVariable(-100, 100, type=highspy.HighsVarType.kInteger)
    model.addConstr(1 <= x <= 3)
    model.minimize(x)
    return model.val(x)


def by_linopy():
    model = linopy.Model()
    x = model.add_variables(lower=-100, upper=100, name="x")
    row = model.add_constraints(1 <= x <= 3, name="row")
    return row.sign.item(), row.rhs.item(), len(list(model.constraints))


def by_z3():
    x, y, w = z3.Ints("x y w")
    solver = z3.Solver()
    solver.add(x == y == w, y != w)
    return str(x == y == w), str(solver.check())


def refused(compare):
    try:
        compare()
    except Exception as error:
        return type(error).__name__
    return None


scip, model = pyscipopt.Model(), pyomo.ConcreteModel()
variables = {
    "PySCIPOpt": scip.addVar("x"),
    "Pyomo": pyomo.Var(name="x"),
    "CVXPY": cvxpy.Variable(),
    "z3": z3.Int("x"),
}
model.x = variables["Pyomo"]
found = {
    "PuLP": by_pulp(),
    "Python-MIP": by_mip(),
    "highspy": by_highs(),
    "linopy": by_linopy(),
    "z3, x == y == w": by_z3(),
}
for library, answer in found.items():
    print(f"{library}: {answer}")
for library, x in variables.items():
    error = refused(lambda x=x: 1 <= x <= 3)
    print(f"{library}: {error}")
    assert error, "this has changed"
assert found["PuLP"] == ("Optimal", -100) and found["Python-MIP"] == ("OPTIMAL", -100), "this has changed"
assert found["highspy"] == 1 and found["linopy"] == ("<=", 3, 1), "this has changed"
assert found["z3, x == y == w"] == ("x == y", "sat"), "this has changed"
PYTHON
env/bin/python solve.py
echo "as found: the first half is not there"
