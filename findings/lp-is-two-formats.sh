#!/usr/bin/env bash
# "LP" names two formats, that of CPLEX and that of lp_solve, and a reader of one can take a file of the other for an
# empty model that is solved to optimality.
#
# Guess: a reader that meets the other format raises an error, or understands both.
# Seen: OR-Tools 9.15 (model_builder.import_from_lp_file, lp_solve's format) returns False for a file of CPLEX's, no
#   exception; a program that goes on gets OPTIMAL with the value 0.  SCIP 10 by PySCIPOpt 6.3.0 (CPLEX's format) reads a file
#   of lp_solve's without a word, and says optimal, 0, no variables.  HiGHS 1.16.0 alone reports an error.
# What orderly does: `export --format lp` is CPLEX's format; for OR-Tools use `--format mps`, which all three read alike.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check ortools==9.15.6755 pyscipopt==6.3.0 highspy==1.16.0
printf 'Maximize\n value: 3 x\nSubject To\n most: x <= 4\nEnd\n' >cplex.lp
printf 'max: 3 x;\nmost: x <= 4;\n' >lp_solve.lp
cat >read.py <<'PYTHON'
import highspy
import pyscipopt
from ortools.linear_solver.python import model_builder


def or_tools(path):
    model = model_builder.Model()
    understood = model.import_from_lp_file(path)
    solver = model_builder.Solver("glop")
    status = solver.solve(model)
    return understood, status.name, solver.objective_value, model.num_variables


def scip(path):
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(path)
    model.optimize()
    return model.getStatus(), model.getObjVal(), len(model.getVars())


def highs(path):
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    return model.readModel(path).name


found = {}
for reader in (or_tools, scip, highs):
    for path in ("cplex.lp", "lp_solve.lp"):
        found[reader.__name__, path] = reader(path)
        print(reader.__name__, path, found[reader.__name__, path])
expected = {
    ("or_tools", "cplex.lp"): (False, "OPTIMAL", 0.0, 0),
    ("or_tools", "lp_solve.lp"): (True, "OPTIMAL", 12.0, 1),
    ("scip", "cplex.lp"): ("optimal", 12.0, 1),
    ("scip", "lp_solve.lp"): ("optimal", 0.0, 0),
    ("highs", "cplex.lp"): "kOk",
    ("highs", "lp_solve.lp"): "kError",
}
assert found == expected, "this has changed"
PYTHON
env/bin/python read.py 2>/dev/null
echo "as found: OR-Tools and SCIP each take the other's LP for an empty model at its optimum"
