"""One solver on one model: ``ask.py SOLVER FILE LIMIT [KEY=VALUE ...]`` prints its answer as JSON.

Runs in the environment of the solvers and uses nothing of orderly: it reads files that ``orderly
export`` wrote.  The limit is CPU seconds of one thread.  The answer has

    status    optimal; limit; or what the solver says
    value     of the best board that it knows
    bound     above the value of every board, as far as it got
    root      that bound before any branching, where it says so
    cpu_s     from reading the file to the end, without loading the library
    boards    with a list of boards: how many
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

Answer = dict[str, Any]


class Clock:
    """Counts the CPU time of this process, and calls ``stop`` when the limit is reached."""

    def __init__(self, limit_s: float, stop: Callable[[], object]) -> None:
        self._began, self._limit_s, self._stop = time.process_time(), limit_s, stop
        self.is_over = False
        threading.Thread(target=self._watch, daemon=True).start()

    def used_s(self) -> float:
        return time.process_time() - self._began

    def _watch(self) -> None:
        while self.used_s() < self._limit_s:
            time.sleep(0.2)
        self.is_over = True
        self._stop()


class Network:
    """A class as ``orderly export --format cfn`` writes it."""

    def __init__(self, path: str) -> None:
        read = json.loads(Path(path).read_text())
        self.letters: list[str] = ["".join(values) for values in read["variables"].values()]
        self.functions: dict[tuple[int, ...], list[tuple[str, int]]] = {}
        for function in read["functions"].values():
            cells = tuple(int(name[1:]) for name in function["scope"])
            self.functions[cells] = list(self._tuples(function["costs"], len(cells)))

    @staticmethod
    def _tuples(costs: list, n: int) -> Iterator[tuple[str, int]]:
        for at in range(0, len(costs), n + 1):
            yield "".join(costs[at : at + n]), costs[at + n]

    def terms(self) -> Iterator[tuple[list[tuple[int, str]], int]]:
        """Yield the literals of each term, and its points."""
        for cells, tuples in self.functions.items():
            for letters, points in tuples:
                yield list(zip(cells, letters, strict=True)), points


def toulbar2(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """The network as it is: optimum, or with ``above`` all boards above a multi-score."""
    import pytoulbar2

    clock = Clock(10 * limit_s, bool)
    network = pytoulbar2.CFN()
    if "above" in given:
        text = Path(path).read_text().replace('"mustbe": ">-1"', f'"mustbe": ">{given["above"]}"')
        path += ".above"
        Path(path).write_text(text)
    network.Read(path)
    at_most = 10**6 if "above" in given else 0
    if given.get("order"):
        for cell in given["order"].split(","):
            network.AddLinearConstraint([1, -1], ["c0", f"c{cell}"], "<=", 0)
    answer = network.Solve(timeLimit=int(limit_s), allSolutions=at_most)
    used_s = clock.used_s()
    found: Answer = {"cpu_s": used_s, "value": answer and answer[1]}
    found["status"], bound = "optimal", network.GetDDualBound()
    if used_s > limit_s - 1 and bound != found["value"]:
        found |= {"status": "limit", "bound": bound}
    if "above" in given:
        found["boards"] = answer[2] if answer else 0
        rows = network.GetSolutions() if answer else []
        Path(given["out"]).write_text("".join(f"{_board(path, row[1])}\n" for row in rows))
    return found


def _board(path: str, values: list[int]) -> str:
    variables = json.loads(Path(path).read_text())["variables"].values()
    return "".join(letters[value] for letters, value in zip(variables, values, strict=True))


def toulbar2_root(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """The bound of the network after preprocessing."""
    import pytoulbar2

    clock = Clock(limit_s, bool)
    network = pytoulbar2.CFN()
    network.Read(path)
    network.SolveFirst()
    return {"status": "root", "root": network.GetDDualBound(), "cpu_s": clock.used_s()}


def highs(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """A linear or integer program; ``scopes``: made of the network instead."""
    import highspy

    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    for name in ("mip_detect_symmetry", "solve_relaxation"):
        if name in given:
            model.setOptionValue(name, given[name] == "true")
    model.HandleUserInterrupt = True
    clock = Clock(limit_s, model.cancelSolve)
    if given.get("form") == "scopes":
        program = path + ".scopes.mps"
        Path(program).write_text("\n".join(scopes(Network(path))))
        path = program
    model.readModel(path)
    model.solve()
    info, status = model.getInfo(), model.modelStatusToString(model.getModelStatus())
    is_integer = any(
        kind != highspy.HighsVarType.kContinuous for kind in model.getLp().integrality_
    )
    known = info.primal_solution_status == 2
    found = {"cpu_s": clock.used_s(), "status": "limit" if clock.is_over else status.lower()}
    found["value"] = abs(info.objective_function_value) if known else None
    if is_integer and "solve_relaxation" not in given:
        found["bound"] = abs(info.mip_dual_bound)
    return found


def highs_many(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """Every program of a folder: its value with fractions, and in integers."""
    import highspy

    clock, values = Clock(limit_s, _give_up), {}
    for file in sorted(Path(path).glob("*.lp")):
        pair = []
        for relaxed in (True, False):
            model = highspy.Highs()
            model.setOptionValue("output_flag", False)
            model.setOptionValue("threads", 1)
            model.setOptionValue("solve_relaxation", relaxed)
            model.readModel(str(file))
            model.run()
            assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal, file
            pair.append(model.getInfo().objective_function_value)
        values[file.name] = pair
    return {"status": "optimal", "values": values, "cpu_s": clock.used_s()}


def scopes(network: Network) -> Iterator[str]:
    """Yield a program in MPS with a variable for each tuple of each function: those of one
    function add up to at most 1, and those with a letter on a cell to at most that letter.
    """
    columns: dict[str, list[str]] = {}
    rows, right = [], []
    for cell, letters in enumerate(network.letters):
        rows.append(f" E cell{cell}")
        right.append(f" rhs cell{cell} 1")
        for letter in letters:
            columns[f"x{cell}{letter}"] = [f"cell{cell} 1"]
    for cells, tuples in network.functions.items():
        name = "_".join(map(str, cells))
        known = set()
        for number, (letters, points) in enumerate(tuples):
            entries = columns.setdefault(f"z{name}n{number}", [f"points {-points}"])
            for cell, letter in zip(cells, letters, strict=True):
                row = f"f{name}c{cell}{letter}"
                if row not in known:
                    known.add(row)
                    rows.append(f" L {row}")
                    columns[f"x{cell}{letter}"].append(f"{row} -1")
                entries.append(f"{row} 1")
    yield from ("NAME scopes", "ROWS", " N points", *rows, "COLUMNS")
    for column, entries in columns.items():
        for entry in entries:
            yield f" {column} {entry}"
    yield from ("RHS", *right, "BOUNDS")
    for column in columns:
        if column.startswith("x"):
            yield f" BV bound {column}"
    yield "ENDATA"


def scip(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """An integer program."""
    import pyscipopt

    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("timing/clocktype", 1)  # CPU time
    model.setParam("limits/time", limit_s)
    if "usesymmetry" in given:
        model.setParam("misc/usesymmetry", int(given["usesymmetry"]))
    clock = Clock(10 * limit_s, bool)
    model.readProblem(path)
    model.optimize()
    status = model.getStatus()
    found: Answer = {"cpu_s": clock.used_s(), "status": status.replace("timelimit", "limit")}
    found["bound"] = model.getDualbound()
    found["root"] = model.getDualboundRoot()
    found["value"] = model.getPrimalbound() if model.getNSols() else None
    return found


def cp_sat(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """A variable for each term, at most each of its letters: reads the network."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if "symmetry_level" in given:
        solver.parameters.symmetry_level = int(given["symmetry_level"])
    clock = Clock(limit_s, solver.stop_search)
    network, model = Network(path), cp_model.CpModel()
    letter_of = {}
    for cell, letters in enumerate(network.letters):
        for letter in letters:
            letter_of[cell, letter] = model.new_bool_var(f"x{cell}{letter}")
        model.add_exactly_one(letter_of[cell, letter] for letter in letters)
    summands = []
    for number, (literals, points) in enumerate(network.terms()):
        term = model.new_bool_var(f"t{number}")
        for literal in literals:
            model.add_implication(term, letter_of[literal])
        if given.get("form") == "equivalence":
            model.add_bool_or([term, *(~letter_of[literal] for literal in literals)])
        summands.append(points * term)
    model.maximize(sum(summands))
    status = solver.solve(model)
    found: Answer = {"cpu_s": clock.used_s()}
    found["status"] = "limit" if clock.is_over else solver.status_name(status).lower()
    found["bound"] = solver.best_objective_bound
    is_known = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    found["value"] = solver.objective_value if is_known else None
    return found


def cp_sat_mps(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """An integer program."""
    from ortools.linear_solver.python import model_builder

    clock = Clock(limit_s, lambda: solver.interrupt_solve())
    model = model_builder.Model()
    model.import_from_mps_file(path)
    solver = model_builder.Solver("sat")
    solver.set_solver_specific_parameters("num_workers:1")
    status = solver.solve(model)
    found: Answer = {"cpu_s": clock.used_s()}
    found["status"] = "limit" if clock.is_over else status.name.lower()
    is_known = status.name in ("OPTIMAL", "FEASIBLE")
    found["value"] = abs(solver.objective_value) if is_known else None
    found["bound"] = abs(solver.best_objective_bound) if is_known else None
    return found


def clingo(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """An answer set program: a term holds where its letters do."""
    import clingo as asp

    control = asp.Control(["--opt-mode=opt"])
    clock = Clock(limit_s, lambda: control.interrupt())
    network, lines = Network(path), []
    for cell, letters in enumerate(network.letters):
        lines.append(f"1{{x({cell},({';'.join(letters)}))}}1.")
    for number, (literals, points) in enumerate(network.terms()):
        body = ",".join(f"x({cell},{letter})" for cell, letter in literals)
        lines.append(f"y({number},{points}):-{body}.")
    lines.append("#maximize{P,N:y(N,P)}.")
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    best: list[int] = []
    with control.solve(on_model=lambda model: best.append(-model.cost[0]), async_=True) as handle:
        while not handle.wait(0.2) and not clock.is_over:
            pass
        if clock.is_over:
            handle.cancel()
        result = handle.get()
    status = "optimal" if result.exhausted and not clock.is_over else "limit"
    return {"cpu_s": clock.used_s(), "status": status, "value": best[-1] if best else None}


def rc2(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """Weighted MaxSAT: every term is a soft clause, and needs its letters."""
    from pysat.examples.rc2 import RC2Stratified
    from pysat.formula import WCNF

    clock = Clock(limit_s, _give_up)
    network, formula, number = Network(path), WCNF(), {}
    for cell, letters in enumerate(network.letters):
        for letter in letters:
            number[cell, letter] = len(number) + 1
        own = [number[cell, letter] for letter in letters]
        formula.append(own)
        for one, other in combinations(own, 2):
            formula.append([-one, -other])
    n, total = len(number), 0
    for literals, points in network.terms():
        n, total = n + 1, total + points
        formula.append([n], weight=points)
        for literal in literals:
            formula.append([-n, number[literal]])
    with RC2Stratified(formula, solver="g4") as solver:
        solver.compute()
        return {"cpu_s": clock.used_s(), "status": "optimal", "value": total - solver.cost}


def z3(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """Weighted soft constraints."""
    import z3 as smt

    clock = Clock(limit_s, _give_up)
    network, solver, total = Network(path), smt.Optimize(), 0
    letter_of = {}
    for cell, letters in enumerate(network.letters):
        own = [smt.Bool(f"x{cell}{letter}") for letter in letters]
        letter_of |= {(cell, letter): own[k] for k, letter in enumerate(letters)}
        solver.add(smt.PbEq([(each, 1) for each in own], 1))
    for literals, points in network.terms():
        total += points
        solver.add_soft(smt.And([letter_of[literal] for literal in literals]), points)
    status = str(solver.check())
    lost = solver.model().eval(solver.objectives()[0]).as_long()
    is_done = status == "sat"
    return {
        "cpu_s": clock.used_s(),
        "status": "optimal" if is_done else status,
        "value": total - lost,
    }


def didp(path: str, limit_s: float, given: dict[str, str]) -> Answer:
    """A dynamic program, letter by letter, by a solver that searches in beams of states: the
    nearest to decision diagrams that the package index has.
    """
    import didppy as dp

    clock = Clock(100 * limit_s, bool)
    network = Network(path)
    n = len(network.letters)
    model = dp.Model(maximize=True)
    kind = model.add_object_type(number=n + 1)
    depth = model.add_element_var(object_type=kind, target=0)
    cells = []
    for letters in network.letters:
        of_cell = model.add_object_type(number=len(letters))
        cells.append(model.add_element_var(object_type=of_cell, target=0))
    tables: dict[int, list] = {cell: [] for cell in range(n)}
    most = [0] * (n + 1)
    for scope, tuples in network.functions.items():
        ascending = sorted(range(len(scope)), key=scope.__getitem__)
        own = [scope[k] for k in ascending]
        values = {}
        for letters, points in tuples:
            key = tuple(network.letters[scope[k]].index(letters[k]) for k in ascending)
            values[key] = points
        tables[own[-1]].append((own, model.add_int_table(values, default=0)))
        most[own[-1]] += max(values.values())
    for cell, letters in enumerate(network.letters):
        for value in range(len(letters)):
            cost = dp.IntExpr.state_cost()
            for own, of_scope in tables[cell]:
                cost += of_scope[(*(cells[k] for k in own[:-1]), value)]
            effects = [(depth, cell + 1), (cells[cell], value)]
            model.add_transition(
                dp.Transition(f"{cell}{letters[value]}", cost, [depth == cell], effects)
            )
    left = [sum(most[k:]) for k in range(n + 1)]
    model.add_dual_bound(model.add_int_table(left)[depth])
    model.add_base_case([depth == n])
    # it can only be limited by the wall, and lets no other thread run: on a busy machine it has
    # less CPU time than the others
    found = dp.CABS(model, threads=1, time_limit=4 * limit_s, quiet=True).search()
    status = "optimal" if found.is_optimal else "limit"
    used_s = clock.used_s()
    return {"cpu_s": used_s, "status": status, "value": found.cost, "bound": found.best_bound}


def _give_up() -> None:
    """End this process: the library cannot be stopped."""
    _tell({"status": "limit"})
    os._exit(0)


def _tell(answer: Answer) -> None:
    sys.stdout.write(json.dumps(answer | {"peak_mib": _peak_mib()}) + "\n")
    sys.stdout.flush()


def _peak_mib() -> int:
    """Return the largest resident size since this program began; ru_maxrss would include that of
    the process that started it.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) >> 10


SOLVERS = {
    solver.__name__: solver
    for solver in (
        toulbar2, toulbar2_root, highs, highs_many, scip, cp_sat, cp_sat_mps, clingo, rc2, z3, didp,
    )
}  # fmt: skip


def main() -> None:
    """Ask, and print the answer."""
    name, path, limit_s, *rest = sys.argv[1:]
    given = dict(word.split("=", 1) for word in rest)
    answer = SOLVERS[name](path, float(limit_s), given)
    _tell(answer)


if __name__ == "__main__":
    main()
