"""The bound U of an orderly tree and the letter-synchronised bound of a search state, by their formulas.

``total`` maps sets of literals (cell, letter) to points; ``order`` is the order of the cells that carry literals.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.reference.terms import Literals


def orderly_bound(total: dict[Literals, int], order: Sequence[int]) -> int:
    """Return U: terms without the first cell, plus the best letter of the first cell."""
    if not order or not total:
        return sum(total.values())
    cell, rest = order[0], order[1:]
    without: dict[Literals, int] = {}
    by_letter: dict[str, dict[Literals, int]] = {}
    for term, points in total.items():
        letter = next((x for c, x in term if c == cell), None)
        (without if letter is None else by_letter.setdefault(letter, {}))[term] = points
    return orderly_bound(without, rest) + max((orderly_bound(some, rest) for some in by_letter.values()), default=0)


def state_bound(total: dict[Literals, int], order: Sequence[int], chosen: Sequence[str]) -> int:
    """Return the synchronised bound after the first cells of the order took the letters ``chosen``.

    Terms that contradict a choice are gone.  The others are told apart by the literals already fulfilled (one sum node each) and by
    their next literal: points + sum over cells of the best letter's sum of U over all nodes.
    """
    fixed = dict(zip(order, chosen, strict=False))
    points = 0
    behind: dict[tuple[int, str], dict[Literals, dict[Literals, int]]] = {}
    for term, value in total.items():
        if any(c in fixed and fixed[c] != x for c, x in term):
            continue
        open_literals = sorted((order.index(c), x) for c, x in term if c not in fixed)
        if not open_literals:
            points += value
            continue
        level, letter = open_literals[0]
        node = frozenset((c, x) for c, x in term if c in fixed)
        behind.setdefault((level, letter), {}).setdefault(node, {})[term] = value
    best: dict[int, int] = {}
    for (level, _), nodes in behind.items():
        value = sum(orderly_bound(some, order[level + 1 :]) for some in nodes.values())
        best[level] = max(best.get(level, 0), value)
    return points + sum(best.values())
