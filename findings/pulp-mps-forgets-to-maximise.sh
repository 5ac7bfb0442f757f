#!/usr/bin/env bash
# PuLP and MPS: what is to be maximised is minimised by whoever reads the file, both ways.
#
# Guess: writeMPS writes the sense (OBJSENSE), or changes the signs; fromMPS heeds an OBJSENSE section.
# Seen: PuLP 3.3.2 writes the sense as a comment only, "*SENSE:Maximize"; HiGHS 1.16.0, SCIP 10 (PySCIPOpt 6.3.0) and OR-Tools
#   9.15.6755 minimise, value 0 in place of 12.  A file that says OBJSENSE MAX they maximise, and PuLP minimises it.  All say optimal.
#   (With with_objsense=True PuLP writes that before the name, where SCIP refuses it.)
# What orderly does: `export --format mps` has negative points, to be minimised, as there is no common way to say maximise.
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


def highs(path):
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.readModel(path)
    model.run()
    return model.modelStatusToString(model.getModelStatus()), model.getObjectiveValue()


def scip(path):
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(path)
    model.optimize()
    return model.getStatus(), model.getObjVal()


def or_tools(path):
    model = model_builder.Model()
    assert model.import_from_mps_file(path)
    solver = model_builder.Solver("sat")
    return solver.solve(model).name, solver.objective_value


def by_pulp(path):
    _, prob = pulp.LpProblem.fromMPS(path)
    return pulp.LpStatus[prob.solve(pulp.PULP_CBC_CMD(msg=False))], pulp.value(prob.objective)


x = pulp.LpVariable("x", 0, 9, "Integer")
prob = pulp.LpProblem("most", pulp.LpMaximize)
prob += 3 * x
prob += x <= 4
prob.writeMPS("plain.mps")
with open("plain.mps") as plain, open("sense.mps", "w") as sense:
    name, mark, rest = plain.read().partition("ROWS")
    sense.write(f"{name}OBJSENSE\n    MAX\n{mark}{rest}")
print("PuLP", pulp.__version__)
for path, expected in (("plain.mps", [0, 0, 0, 0]), ("sense.mps", [12, 12, 12, 0])):
    found = [read(path) for read in (highs, scip, or_tools, by_pulp)]
    print(path, dict(zip(("HiGHS", "SCIP", "OR-Tools", "PuLP"), found)))
    assert all(status.lower() == "optimal" for status, _ in found), "this has changed"
    assert [round(value) for _, value in found] == expected, "this has changed"
PYTHON
env/bin/python read.py 2>/dev/null
echo "as found: maximise is a comment"
