"""A class as a model for general solvers: a cost function network, or a linear program.

    cfn_lines         for toulbar2: a variable for each cell, a function for each set of cells
    linear_program    the orderly tree as a flow; lp_lines and mps_lines write it

What a model maximises is the *deduplicated multi-score*: the points of every distinct pair of a
word and the letters that it needs on the cells.  A word that a board spells on two different sets
of cells counts twice, so the maximum is at least the best score of the class, and no more than the
orderly bound.  To prove a cutoff, list all boards whose multi-score reaches it, and score them.

Each node of the orderly tree, a beginning of the literals of some term in cell order, has a
variable from 0 to 1: whether a board has all of these literals.  The children of a node on one cell
add up to at most the node, since a board has one letter there.  With a variable for each letter of
each cell, exactly one a cell, and each node at most the letter of its last literal, the maximum is
the best multi-score.  *Without* these letters it is the orderly bound (docs/algorithm.md).

>>> from orderly_boggle.search import Scorer
>>> from orderly_boggle.search.class_bounds import walk_class
>>> terms = walk_class(["t", "e", "a", "rs"], Scorer("2x2", ["tea", "tears"], "words")).terms
>>> print(*lp_lines(linear_program(terms), "two boards"), sep="\\n")
\\ two boards
Maximize
 points: + 1 n2
Subject To
 t0c0: + 1 n0 <= 1
 t1c2: + 1 n1 - 1 n0 <= 0
 t2c1: + 1 n2 - 1 n1 <= 0
End
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.search.class_bounds import Terms, n_nodes

MAX_NODES = 2_000_000  # of a tree, or terms of a network: no solver has ended on larger ones
_PER_LINE = 8  # summands: some readers of LP take no line of more than 510 characters
OBJECTIVE = (
    "objective: the deduplicated multi-score, every distinct pair of a word and the letters that "
    "it needs on the cells; its maximum is at least the best exact score of the class"
)


@dataclass(frozen=True)
class Constraint:
    """The sum of coefficient * variable is at most ``most``, or equal to it."""

    name: str
    summands: tuple[tuple[int, str], ...]
    most: int
    is_equal: bool = False


@dataclass
class LinearProgram:
    """Maximise the points; ``binary`` variables are 0 or 1, all others 0 or more."""

    points: dict[str, int] = field(default_factory=dict)
    constraints: list[Constraint] = field(default_factory=list)
    binary: list[str] = field(default_factory=list)


def linear_program(terms: Terms, letters: Sequence[str] | None = None) -> LinearProgram:
    """Return the orderly tree of one part as a linear program.

    letters : letters of each cell, for a program whose value is the best multi-score; None: without
        them, for one whose value is the orderly bound

    Raises InputError if the tree has more than :data:`MAX_NODES` nodes.
    """
    _check_size("nodes", n_nodes(terms), MAX_NODES)
    program = LinearProgram()
    numbers: dict[tuple[tuple[int, str], ...], int] = {}
    children: dict[tuple[int, int], list[int]] = {}
    links = []
    for literals, points in zip(terms.literals(), terms.points.tolist(), strict=True):
        node = -1  # the root
        for length, (cell, letter) in enumerate(literals, 1):
            beginning = tuple(literals[:length])
            if beginning not in numbers:
                numbers[beginning] = len(numbers)
                program.points[f"n{numbers[beginning]}"] = 0
                children.setdefault((node, cell), []).append(numbers[beginning])
                links.append(f"x{cell}{letter}")
            node = numbers[beginning]
        program.points[f"n{node}"] = points
    for (node, cell), below in children.items():
        summands = [(1, f"n{child}") for child in below]
        if node >= 0:
            summands.append((-1, f"n{node}"))
        if node < 0:
            most = 1
        else:
            most = 0
        program.constraints.append(Constraint(f"t{node + 1}c{cell}", tuple(summands), most))
    if letters is not None:
        _link(program, letters, links)
    return program


def _link(program: LinearProgram, letters: Sequence[str], links: Sequence[str]) -> None:
    """Let every cell have one letter, and a node hold only where its last literal does."""
    for cell, group in enumerate(letters):
        names = [f"x{cell}{letter}" for letter in sorted(set(group))]
        program.binary += names
        summands = tuple((1, name) for name in names)
        program.constraints.append(Constraint(f"cell{cell}", summands, 1, is_equal=True))
    for node, name in enumerate(links):
        program.constraints.append(Constraint(f"l{node}", ((1, f"n{node}"), (-1, name)), 0))


def _check_size(what: str, n: int, most: int) -> None:
    if n > most:
        raise InputError(
            f"the model of this class has {n:,} {what}: expected at most {most:,}, more is "
            "too large for any solver that we know; name fewer letters a cell or a shorter list"
        )


def lp_lines(program: LinearProgram, title: str) -> Iterator[str]:
    """Yield the lines of a program in the LP format of CPLEX; ``title`` is a comment."""
    yield from (f"\\ {line}" for line in title.splitlines())
    yield "Maximize"
    yield from _sum("points", [(points, name) for name, points in program.points.items()])
    yield "Subject To"
    for constraint in program.constraints:
        *lines, last = _sum(constraint.name, constraint.summands)
        yield from lines
        yield f"{last} {'=' if constraint.is_equal else '<='} {constraint.most}"
    if program.binary:
        yield "Binaries"
        yield from (f" {name}" for name in program.binary)
    yield "End"


def _sum(name: str, summands: Sequence[tuple[int, str]]) -> list[str]:
    """Return the lines of a named sum, without what is taken 0 times."""
    texts = []
    for coefficient, variable in summands:
        if not coefficient:
            continue
        sign = "+"
        if coefficient < 0:
            sign = "-"
        texts.append(f"{sign} {abs(coefficient)} {variable}")
    lines = []
    for at in range(0, max(len(texts), 1), _PER_LINE):
        lines.append(" ".join(["", *texts[at : at + _PER_LINE]]))
    lines[0] = f" {name}:{lines[0]}"
    return lines


def mps_lines(program: LinearProgram, title: str) -> Iterator[str]:
    """Yield the lines of a program in free MPS format; ``title`` is a comment.

    MPS has no common way to say *maximise*, so the points are negative and to be minimised.
    """
    yield from (f"* {line}" for line in title.splitlines())
    yield "* to be minimised: the points are negative, the value is minus the multi-score"
    yield "NAME orderly"
    yield "ROWS"
    yield " N points"
    columns: dict[str, list[tuple[str, int]]] = {}
    for name, points in program.points.items():
        columns.setdefault(name, []).append(("points", -points))
    for constraint in program.constraints:
        yield f" {'E' if constraint.is_equal else 'L'} {constraint.name}"
        for coefficient, name in constraint.summands:
            columns.setdefault(name, []).append((constraint.name, coefficient))
    yield "COLUMNS"
    for name, entries in columns.items():
        for row, value in entries:
            yield f" {name} {row} {value}"
    yield "RHS"
    for constraint in program.constraints:
        if constraint.most:
            yield f" rhs {constraint.name} {constraint.most}"
    if program.binary:
        yield "BOUNDS"
        yield from (f" BV bound {name}" for name in program.binary)
    yield "ENDATA"


def cfn_lines(
    terms: Terms, letters: Sequence[str], title: str, max_terms: int = MAX_NODES
) -> Iterator[str]:
    """Yield the lines of a cost function network in the CFN format of toulbar2, to be maximised.

    The terms that need letters of the same set of cells are one function, given by its tuples that
    are not 0.  A board is a value for each cell.

    Raises InputError if there are more than ``max_terms`` terms.
    """
    _check_size("terms", len(terms.points), max_terms)
    functions: dict[tuple[int, ...], list[str | int]] = {}
    for literals, points in zip(terms.literals(), terms.points.tolist(), strict=True):
        cells = tuple(cell for cell, _ in literals)
        needed = [letter for _, letter in literals]
        functions.setdefault(cells, []).extend([*needed, points])
    variables = {f"c{cell}": sorted(set(group)) for cell, group in enumerate(letters)}
    # toulbar2 1.4 takes a quoted name for several words where it has spaces
    problem = {"name": re.sub(r"\W+", "_", title), "mustbe": ">-1"}
    yield "{"
    yield f' "problem": {json.dumps(problem)},'
    yield f' "variables": {json.dumps(variables)},'
    yield ' "functions": {'
    separator = ""
    for cells, costs in functions.items():
        name = "f" + "_".join(map(str, cells))
        body = {"scope": [f"c{cell}" for cell in cells], "defaultcost": 0, "costs": costs}
        yield f'{separator}  "{name}": {json.dumps(body)}'
        separator = ","
    yield " }"
    yield "}"
