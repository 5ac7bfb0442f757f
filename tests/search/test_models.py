"""Models for other solvers: what they say of every board, and the value of the linear program."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import numpy as np
import pytest

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.search import models
from orderly_boggle.search.class_bounds import Terms, orderly_bounds, walk_class
from orderly_boggle.search.models import (
    Constraint,
    LinearProgram,
    cfn_lines,
    linear_program,
    lp_lines,
    mps_lines,
)
from orderly_boggle.search.scoring.scorer import Scorer

STANDARD = parse_scores("standard")


def classes(dims: str, n: int, seed: int) -> Iterator[tuple[list[str], Scorer, Terms]]:
    """Yield random classes with a few random words each."""
    rng = np.random.default_rng(seed)
    cells = Scorer(dims, ["abc"], STANDARD).geometry.n
    for _ in range(n):
        lengths = rng.integers(3, cells + 1, rng.integers(1, 25))
        words = sorted({"".join(rng.choice(list("abc"), k)) for k in lengths})
        letters = []
        for k in rng.integers(1, 4, cells):
            letters.append("".join(sorted(rng.choice(list("abc"), k, replace=False))))
        scorer = Scorer(dims, words, STANDARD)
        yield letters, scorer, walk_class(letters, scorer).terms


def multi_score(board: str, scorer: Scorer) -> int:
    return int(walk_class(list(board), scorer).terms.points.sum())


def value_of(program: LinearProgram, board: str) -> int:
    """Return the largest value of a program with the letters of a board: each node as large as its
    constraints let it be.
    """
    chosen = {f"x{cell}{letter}" for cell, letter in enumerate(board)}
    most = dict.fromkeys(program.points, 1)
    for constraint in program.constraints:
        if constraint.is_equal:
            assert sum(name in chosen for _, name in constraint.summands) == 1
            continue
        *left, (sign, name) = constraint.summands
        if constraint.name.startswith("l"):
            most[left[0][1]] = int(name in chosen)
        elif sign < 0:
            for _, child in left:
                most[child] = min(most[child], most[name])
    for constraint in program.constraints:
        # what was chosen is allowed
        total = 0
        for sign, name in constraint.summands:
            total += sign * most.get(name, int(name in chosen))
        assert total <= constraint.most
    return sum(points * most[name] for name, points in program.points.items())


def order_of(program: LinearProgram) -> LinearProgram:
    """Return the program with the constraints of letters first, so that parents are final before
    their children are looked at.
    """
    links = [item for item in program.constraints if item.name.startswith(("l", "cell"))]
    tree = [item for item in program.constraints if item.name.startswith("t")]
    tree.sort(key=lambda item: int(item.name[1:].partition("c")[0]))
    return LinearProgram(program.points, [*links, *tree], program.binary)


def from_lp(lines: list[str]) -> LinearProgram:
    """Read the lines of an LP file as a solver does."""
    program = LinearProgram()
    text = " ".join(line for line in lines if not line.startswith("\\"))
    assert max(map(len, lines)) <= 510
    objective, _, rest = text.partition("Subject To")
    rest, _, binary = rest.partition("Binaries")
    program.binary += binary.replace("End", "").split()
    for coefficient, name in summands_of(objective.partition(":")[2].split()):
        program.points[name] = coefficient
    words = rest.replace("End", "").split()
    while words:
        at = next(k for k, word in enumerate(words) if word in ("<=", "="))
        items = tuple(summands_of(words[1:at]))
        name = words[0].removesuffix(":")
        program.constraints.append(Constraint(name, items, int(words[at + 1]), words[at] == "="))
        words = words[at + 2 :]
    return program


def summands_of(words: list[str]) -> Iterator[tuple[int, str]]:
    for at in range(0, len(words), 3):
        sign, number, name = words[at : at + 3]
        yield int(f"{sign}{number}"), name


def from_mps(lines: list[str]) -> LinearProgram:
    """Read the lines of a free MPS file; rows and columns as they come."""
    program, section = LinearProgram(), ""
    rows: dict[str, list[tuple[int, str]]] = {}
    kinds, most = {}, {}
    for line in lines:
        if line.startswith("*"):
            continue
        if not line.startswith(" "):
            section = line.split()[0]
            continue
        words = line.split()
        if section == "ROWS":
            kinds[words[1]] = words[0]
            rows[words[1]] = []
        elif section == "COLUMNS":
            rows[words[1]].append((int(words[2]), words[0]))
        elif section == "RHS":
            most[words[1]] = int(words[2])
        elif section == "BOUNDS":
            program.binary.append(words[2])
    for coefficient, name in rows.pop("points"):
        program.points[name] = -coefficient
    for name, items in rows.items():
        is_equal = kinds[name] == "E"
        program.constraints.append(Constraint(name, tuple(items), most.get(name, 0), is_equal))
    return program


def as_sets(program: LinearProgram) -> tuple:
    rows = {(c.name, frozenset(c.summands), c.most, c.is_equal) for c in program.constraints}
    points = {name: value for name, value in program.points.items() if value}
    return points, rows, sorted(program.binary)


@pytest.mark.parametrize(("dims", "n"), [("2x2", 40), ("2x3", 12)])
def test_each_model_gives_every_board_its_multi_score(dims, n):
    for letters, scorer, terms in classes(dims, n, seed=7):
        program = linear_program(terms, letters)
        read = from_lp(list(lp_lines(program, "some\nlines")))
        assert as_sets(read) == as_sets(program)
        assert as_sets(from_mps(list(mps_lines(program, "some\nlines")))) == as_sets(program)
        network = json.loads("\n".join(cfn_lines(terms, letters, "a name of: words")))
        assert " " not in network["problem"]["name"]
        assert network["variables"] == {f"c{k}": list(x) for k, x in enumerate(letters)}
        functions = list(tuples_of(network))
        for board in map("".join, itertools.product(*letters)):
            expected = multi_score(board, scorer)
            assert value_of(order_of(program), board) == expected
            total = 0
            for cells, values in functions:
                total += values.get(tuple(board[cell] for cell in cells), 0)
            assert total == expected


def tuples_of(network: dict) -> Iterator[tuple[list[int], dict[tuple[str, ...], int]]]:
    for function in network["functions"].values():
        cells = [int(name[1:]) for name in function["scope"]]
        assert function["defaultcost"] == 0
        step = len(cells) + 1
        values = {}
        for at in range(0, len(function["costs"]), step):
            *key, points = function["costs"][at : at + step]
            assert tuple(key) not in values
            values[tuple(key)] = points
        yield cells, values


@pytest.mark.parametrize(("dims", "n"), [("2x2", 60), ("2x3", 20), ("3x3", 2)])
def test_the_program_without_letters_has_the_value_of_the_orderly_bound(dims, n):
    """A pair of solutions of the program and of its dual with one value proves both, in integers
    (docs/algorithm.md).
    """
    for _, _, terms in classes(dims, n, seed=8):
        program = linear_program(terms)
        tree = order_of(program).constraints
        value = dict(program.points)
        dual = {}
        for constraint in reversed(tree):
            children = [name for sign, name in constraint.summands if sign > 0]
            dual[constraint.name] = max(value[child] for child in children)
            for sign, parent in constraint.summands:
                if sign < 0:
                    value[parent] += dual[constraint.name]
        flow = dict.fromkeys(program.points, 0)
        for constraint in tree:
            above = [flow[name] for sign, name in constraint.summands if sign < 0]
            children = [name for sign, name in constraint.summands if sign > 0]
            best = max(children, key=value.__getitem__)
            flow[best] = above[0] if above else constraint.most
        bound = int(orderly_bounds(terms)[0])
        assert sum(program.points[name] * flow[name] for name in flow) == bound
        assert sum(dual[c.name] * c.most for c in tree) == bound
        column = dict.fromkeys(program.points, 0)
        for constraint in tree:
            total = 0
            for sign, name in constraint.summands:
                total += sign * flow[name]
                column[name] += sign * dual[constraint.name]
            assert total <= constraint.most
        assert min(flow.values(), default=0) >= 0 <= min(dual.values(), default=0)
        assert all(column[name] >= points for name, points in program.points.items())


def test_a_class_that_is_too_large_is_refused(monkeypatch):
    _, _, terms = next(classes("2x3", 1, seed=9))
    monkeypatch.setattr(models, "MAX_NODES", 1)
    with pytest.raises(InputError, match="expected at most 1,"):
        linear_program(terms)
    with pytest.raises(InputError, match="expected at most 2,"):
        list(cfn_lines(terms, ["a"] * 6, "", max_terms=2))
