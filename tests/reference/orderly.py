"""Terms, the bound U and searches over them, as dictionaries and tuples: what search/ must agree
with.

A term is ``(word, literals)``; literals are a frozenset of (cell, letter).  ``weighted`` terms are
``(literals, points)`` pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from tests.reference.classes import slow_neighbours
from tests.reference.solver import paths_of, score

Literals = frozenset[tuple[int, str]]
Term = tuple[str, Literals]
Weighted = list[tuple[Literals, int]]


def terms_of_class(
    letters: Sequence[str], words: Iterable[str], dims: tuple[int, int]
) -> list[Term]:
    """Return one term per path and word (with multiplicity), sorted by word; ``dims`` is (w, h)."""
    return [
        (word, frozenset(zip(path, word, strict=True)))
        for word in sorted(set(words))
        for path in paths_of(letters, *dims, word)
    ]


def deduplicated(terms: Iterable[Term]) -> list[Term]:
    """Return each (word, literals) once."""
    return list(dict.fromkeys(terms))


def with_points(terms: Iterable[Term], points: Mapping[str, int]) -> Weighted:
    """Return (literals, points) of every term."""
    return [(literals, points[word]) for word, literals in terms]


def absorb(terms: Iterable[Term], forced_cells: Collection[int]) -> list[Term]:
    """Drop the literals of forced cells, then keep the minimal literal sets of each word (A or AB =
    A).
    """
    bare: dict[str, set[Literals]] = {}
    for word, literals in terms:
        bare.setdefault(word, set()).add(frozenset(x for x in literals if x[0] not in forced_cells))
    return [
        (word, t)
        for word, sets in bare.items()
        for t in sorted(sets, key=sorted)
        if not any(o < t for o in sets)
    ]


def orderly_bound(terms: Weighted, order: Sequence[int]) -> int:
    """U(T, k) = U(terms without cell k, k + 1) + max over letters of U(terms with (k, letter), k +
    1).
    """
    if not terms or not order:
        return sum(points for _, points in terms)
    without, by_letter = _split(terms, order[0])
    return orderly_bound(without, order[1:]) + max(
        (orderly_bound(x, order[1:]) for x in by_letter.values()), default=0
    )


def _split(terms: Weighted, cell: int) -> tuple[Weighted, dict[str, Weighted]]:
    without: Weighted = []
    by_letter: dict[str, Weighted] = {}
    for literals, points in terms:
        letter = next((x for c, x in literals if c == cell), None)
        (without if letter is None else by_letter.setdefault(letter, [])).append((literals, points))
    return without, by_letter


def branch(terms: Weighted, cell: int, letter: str) -> Weighted:
    """Force a cell: terms with another letter there go, the literal itself vanishes, equal literal
    sets merge.
    """
    total: dict[Literals, int] = {}
    for literals, points in terms:
        if all(c != cell or x == letter for c, x in literals):
            rest = literals - {(cell, letter)}
            total[rest] = total.get(rest, 0) + points
    return list(total.items())


def synchronised_bound(terms: Weighted, order: Sequence[int], chosen: Mapping[int, str]) -> int:
    """Bound of a state whose cells ``chosen`` (the first of the order) have letters: no merging,
    one letter a cell.

    What a term still needs is a subtree of the node that its chosen literals lead to.  Subtrees
    that begin on the same cell take the same letter there, so their bounds are added up letter by
    letter before the maximum.
    """
    points = 0
    sums: dict[int, dict[str, int]] = {}
    rest_order = [cell for cell in order if cell not in chosen]
    nodes: dict[Literals, Weighted] = {}
    for literals, worth in terms:
        done = frozenset(x for x in literals if x[0] in chosen)
        if all(chosen[c] == x for c, x in done):
            nodes.setdefault(done, []).append((literals - done, worth))
    for below in nodes.values():
        for cell, letter, part in _first_literals(below, rest_order):
            if cell is None:
                points += sum(worth for _, worth in part)
            else:
                own = sums.setdefault(cell, {})
                after = rest_order[rest_order.index(cell) + 1 :]
                own[letter] = own.get(letter, 0) + orderly_bound(part, after)
    return points + sum(max(own.values()) for own in sums.values())


def _first_literals(
    terms: Weighted, order: Sequence[int]
) -> Iterator[tuple[int | None, str, Weighted]]:
    """Yield the terms grouped by their first literal in the order; None for those without any."""
    groups: dict[tuple[int | None, str], Weighted] = {}
    for literals, points in terms:
        cell, letter = min(literals, key=lambda x: order.index(x[0])) if literals else (None, "")
        groups.setdefault((cell, letter), []).append((literals - {(cell, letter)}, points))
    for (cell, letter), part in groups.items():
        yield cell, letter, part


def boards_of(letters: Sequence[str]) -> Iterator[str]:
    """Yield every board of a class."""
    return ("".join(cells) for cells in itertools.product(*(sorted(set(x)) for x in letters)))


def all_scores(
    letters: Sequence[str], dims: tuple[int, int], points: Mapping[str, int]
) -> dict[str, int]:
    """Return the exact score of every board of a class (full enumeration)."""
    return {board: score(board, *dims, points) for board in boards_of(letters)}


def multi_score_of(board: str, terms: Weighted) -> int:
    """Return the points of the terms that hold on a board."""
    return sum(points for literals, points in terms if all(board[c] == x for c, x in literals))


def max_bound(letters: Sequence[str], w: int, h: int, points: Mapping[str, int]) -> int:
    """Return the paper's listing 4: from each start cell on the best letter of each next cell, all
    added up.
    """
    prefixes = {word[:k] for word in points for k in range(len(word) + 1)}

    def from_cell(path: tuple[int, ...], text: str) -> int:
        best = 0
        for letter in set(letters[path[-1]]):
            spelled = text + letter
            if spelled in prefixes:
                near = [c for c in slow_neighbours(w, h, path[-1]) if c not in path]
                best = max(
                    best, points.get(spelled, 0) + sum(from_cell((*path, c), spelled) for c in near)
                )
        return best

    return sum(from_cell((cell,), "") for cell in range(w * h))
