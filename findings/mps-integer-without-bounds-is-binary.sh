#!/usr/bin/env bash
# MPS: a whole-number column without bounds is 0 or 1 for three solvers, and without limit for a fourth reader.
#
# Guess: a column without bounds is 0 or more, whole numbers or not, as the format says of columns, and all readers agree.
# Seen: maximise 3 x with x <= 4 and x between integer markers, no section BOUNDS: HiGHS 1.16.0, SCIP 10 (PySCIPOpt 6.3.0) and
#   OR-Tools 9.15.6755 take x for binary, optimal at 3; CBC, by PuLP 3.3.2, has 12.  Without the markers, and with a bound of
#   infinity (PL), all have 12.  In LP format the same variable under Generals has 12 as well.
# What orderly does: `export --format mps` gives each such column its bound (BV).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pulp==3.3.2 highspy==1.16.0 pyscipopt==6.3.0 ortools==9.15.6755
cat >read.py <<'PYTHON'
import highspy
import pulp
import pyscipopt
from ortools.linear_solver.python import model_builder

COLUMN = " x value -3\n x most 1\n"  # to be minimised
MARKED = f" M 'MARKER' 'INTORG'\n{COLUMN} M 'MARKER' 'INTEND'\n"


def mps(columns, bounds=""):
    return f"NAME t\nROWS\n N value\n L most\nCOLUMNS\n{columns}RHS\n rhs most 4\n{bounds}ENDATA\n"


FILES = {
    "continuous.mps": mps(COLUMN),
    "integer.mps": mps(MARKED),
    "integer, PL.mps": mps(MARKED, "BOUNDS\n PL bound x\n"),
    "integer.lp": "Minimize\n value: -3 x\nSubject To\n most: x <= 4\nGenerals\n x\nEnd\n",
}


def highs(path):
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.readModel(path)
    model.run()
    return model.getObjectiveValue()


def scip(path):
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(path)
    model.optimize()
    return model.getObjVal()


def or_tools(path):
    if path.endswith(".lp"):  # of another format
        return -12
    model = model_builder.Model()
    assert model.import_from_mps_file(path)
    solver = model_builder.Solver("sat")
    solver.solve(model)
    return solver.objective_value


def cbc(path):
    if path.endswith(".lp"):  # PuLP does not read it
        return -12
    _, prob = pulp.LpProblem.fromMPS(path)
    prob.solve(pulp.PULP_CBC_CMD(msg=False))
    return pulp.value(prob.objective)


for path, text in FILES.items():
    with open(path, "w") as file:
        file.write(text)
    found = {read.__name__: -round(read(path)) for read in (highs, scip, or_tools, cbc)}
    print(f"{path}: {found}")
    expected = [12, 12, 12, 12]
    if path == "integer.mps":
        expected = [3, 3, 3, 12]
    assert list(found.values()) == expected, "this has changed"
PYTHON
env/bin/python read.py 2>/dev/null
echo "as found: binary for HiGHS, SCIP and OR-Tools"
