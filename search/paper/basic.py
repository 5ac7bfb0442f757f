"""The basic method of the paper: sum and max bound, deduplicated orderly tree, branch, plain OrderlyBound.

Kept for teaching, for ``orderly bound`` and as the yardstick of the fast search; it works on every board size and
class that fits the memory.  Soundness of everything here: Score(B) <= deduplicated multi-score(B) <= bound for every
board B of the class.

    sum_bound, max_bound                  old and weak
    class_terms -> Terms -> orderly_tree  every way to realise a word once, sorted by the cell order
    Terms.force                           branch: one letter on the first cell, equal terms merged
    orderly_root_bound, boards_reaching   the nested bound; all boards with multi-score >= cutoff
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boardclass.cutoff import reaches
from boardclass.errors import InputError, OrderlyError, quote
from boardclass.geometry import Dims, Geometry, cell_order_of
from boardclass.orders import PAIRS
from search.paper.basic_kernels import (
    DONE,
    FULL,
    N_COLUMNS,
    KeyCode,
    SearchSpace,
    TermSpace,
    build,
    fill_bounds,
    generate,
    max_points,
    plain_bound,
    sum_points,
)
from search.scoring.scorer import Scorer

_PUBLISHED_3X3 = (4, 5, 3, 1, 7, 0, 2, 6, 8)
_WORD_LIMIT = 1 << 62
MAX_TERMS = 1 << 23  # of a class, before merging; with the tree over them 1.7 GB (8.0 million on 3x3)
NO_BUDGET = 1 << 62


def published_order(dims: Dims | str) -> tuple[int, ...]:
    """Return the cell order behind the published root bounds: pairs, on 3x3 beginning with cells 5 and 3."""
    return _PUBLISHED_3X3 if str(dims) == "3x3" else cell_order_of(dims, PAIRS)


class BudgetSpent(OrderlyError):
    """The plain OrderlyBound needed more nodes than it was given; nothing is known about the class."""

    exit_code = 4


@dataclass(frozen=True)
class KeyLayout:
    """How the literals of a term are packed into two integers: mixed radix, first cell of the order most significant.

    Attributes
    ----------
    cells : cells still free, in the cell order
    letters : sorted letters of each of them; digit 0 means no literal, d the letter ``letters[d - 1]``
    weights, bases, in_low : int64 by level: place value, number of letters + 1, whether the low word holds it
    """

    cells: tuple[int, ...]
    letters: tuple[str, ...]
    weights: NDArray[np.int64]
    bases: NDArray[np.int64]
    in_low: NDArray[np.int64]


@dataclass(frozen=True)
class Terms:
    """Terms sorted by literals, equal literal sets merged (their points added up).

    Attributes
    ----------
    layout : free cells and key layout
    high, low, points : int64[n_terms]
    n_paths : paths that spell a word (terms with multiplicity); 0 after ``force``
    n_unique : distinct (word, literal set) pairs
    multi_points, unique_points : points of the paths, and of the distinct pairs
    """

    layout: KeyLayout
    high: NDArray[np.int64]
    low: NDArray[np.int64]
    points: NDArray[np.int64]
    n_paths: int
    n_unique: int
    multi_points: int
    unique_points: int

    def force(self, letter: str) -> Terms:
        """Return the terms left when the first free cell takes ``letter`` (branch).

        Terms with another letter there drop out, the literal vanishes from the others, equal literal sets merge.

        Merging never raises the bound: what two subtrees had as separate maxima becomes one.
        """
        layout = self.layout
        weight, base = int(layout.weights[0]), int(layout.bases[0])
        digit = layout.letters[0].index(letter) + 1
        assert not layout.in_low[0] or not self.high.any()
        word = self.low if layout.in_low[0] else self.high
        own = word // weight % base
        keep = (own == 0) | (own == digit)
        stripped = (word - own * weight)[keep]
        high, low = (self.high[keep], stripped) if layout.in_low[0] else (stripped, self.low[keep])
        rest = KeyLayout(layout.cells[1:], layout.letters[1:], layout.weights[1:], layout.bases[1:], layout.in_low[1:])
        return _merged(rest, high, low, self.points[keep], (0, len(high), 0, int(self.points[keep].sum())))


@dataclass(frozen=True)
class Tree:
    """An orderly tree: records (columns in basic_kernels), number of nodes, root bound."""

    layout: KeyLayout
    nodes: NDArray[np.int64]
    n_nodes: int
    bound: int


def class_masks(class_letters: Sequence[str], geometry: Geometry) -> NDArray[np.int64]:
    """Return int64[n], the letter masks of a board class given as one string of letters a cell."""
    if len(class_letters) != geometry.n:
        raise InputError(f"class of {len(class_letters)} cells: expected {geometry.n} for {geometry.dims}")
    for letters in class_letters:
        if not letters or not (letters.isascii() and letters.isalpha() and letters.islower()):
            raise InputError(f"letters {letters!r} of a cell: expected one or more of a-z")
    return np.array([sum(1 << (ord(x) - 97) for x in set(letters)) for letters in class_letters], np.int64)


def sum_bound(class_letters: Sequence[str], scorer: Scorer) -> int:
    """Return the points of every distinct word that some board of the class might hold (paper, listing 3)."""
    masks = class_masks(class_letters, scorer.geometry)
    seen = np.zeros(len(scorer.trie.nodes), np.uint8)
    return int(sum_points(*scorer.trie, scorer.geometry.neighbour_masks, masks, seen))


def max_bound(class_letters: Sequence[str], scorer: Scorer) -> int:
    """Return the max bound (paper, listing 4): from each cell on the best letter of each next cell, all added up."""
    masks = class_masks(class_letters, scorer.geometry)
    return int(max_points(*scorer.trie, scorer.geometry.neighbour_masks, masks))


def old_bound(class_letters: Sequence[str], scorer: Scorer) -> int:
    """Return the smaller of the sum and the max bound (paper, listing 5)."""
    return min(sum_bound(class_letters, scorer), max_bound(class_letters, scorer))


def key_layout(class_letters: Sequence[str], cell_order: Sequence[int]) -> KeyLayout:
    """Return the layout of a class; fills the low word from the last cell up, then the high word."""
    letters = tuple("".join(sorted(set(class_letters[cell]))) for cell in cell_order)
    n = len(letters)
    weights, in_low = np.ones(n, np.int64), np.zeros(n, np.int64)
    low, value = True, 1
    for level in range(n - 1, -1, -1):
        base = len(letters[level]) + 1
        if value * base > _WORD_LIMIT:
            assert low, "more than two words a key"
            low, value = False, 1
        weights[level], in_low[level] = value, low
        value *= base
    return KeyLayout(tuple(cell_order), letters, weights, np.array([len(x) + 1 for x in letters], np.int64), in_low)


def class_terms(class_letters: Sequence[str], scorer: Scorer, cell_order: Sequence[int] | None = None) -> Terms:
    """Return the deduplicated terms of a class, sorted by ``cell_order`` (default: :func:`published_order`).

    Raises
    ------
    InputError
        If there are more than ``MAX_TERMS``.
    """
    geometry = scorer.geometry
    masks = class_masks(class_letters, geometry)
    layout = key_layout(class_letters, cell_order or published_order(geometry.dims))
    code = KeyCode(np.zeros((26, 25), np.int64), np.zeros((26, 25), np.int64))
    for level, cell in enumerate(layout.cells):
        for digit, letter in enumerate(layout.letters[level], 1):
            word = code.low if layout.in_low[level] else code.high
            word[ord(letter) - 97, cell] = digit * layout.weights[level]
    allowed = np.array([sum(1 << c for c in range(geometry.n) if masks[c] >> x & 1) for x in range(26)], np.int64)
    parts: list[tuple[NDArray[np.int64], ...]] = []
    totals = np.zeros(3, np.int64)
    size = 1 << 16
    for first in range(26):
        space = _term_space(size)
        while generate(*scorer.trie, geometry.neighbour_masks, allowed, first, code, space) == FULL:
            _check_size(size, class_letters)
            size *= 2
            space = _term_space(size)
        n_terms = int(space.totals[0])
        parts.append((space.high[:n_terms].copy(), space.low[:n_terms].copy(), space.points[:n_terms].copy()))
        totals += space.totals[:3]
        _check_size(int(totals[0]), class_letters)
    high, low, points = (np.concatenate(column) for column in zip(*parts, strict=True))
    n_unique, n_paths, multi_points = totals.tolist()
    return _merged(layout, high, low, points, (n_paths, n_unique, multi_points, int(points.sum())))


def _check_size(n_terms: int, class_letters: Sequence[str]) -> None:
    if n_terms > MAX_TERMS:
        raise InputError(
            f"class {quote(' '.join(class_letters))} has more than {MAX_TERMS:,} terms: too large to be looked at as a "
            "whole; name fewer letters per cell, or ask a run what it stored: orderly explain NUMBER --run DIR"
        )


def _term_space(size: int) -> TermSpace:
    sizes = [size] * 3 + [2 * size] * 3 + [8 * size] * 3 + [4]
    return TermSpace._make(np.zeros(size, np.int64) for size in sizes)


def _merged(
    layout: KeyLayout,
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    points: NDArray[np.int64],
    counts: tuple[int, int, int, int],
) -> Terms:
    """Return the terms sorted, equal keys added up; counts = n_paths, n_unique, multi and unique points."""
    order = np.lexsort((low, high)) if high.any() else np.argsort(low)
    high, low, points = high[order], low[order], points[order]
    if len(high):
        starts = np.flatnonzero(np.concatenate(([True], (high[1:] != high[:-1]) | (low[1:] != low[:-1]))))
        high, low, points = high[starts], low[starts], np.add.reduceat(points, starts)
    return Terms(layout, high, low, points, *counts)


def orderly_tree(terms: Terms) -> Tree:
    """Return the orderly tree of the terms, with the bound of every node.

    ``bound`` is U(T, 0) with U(T, k) = U(terms without cell k, k + 1) + max over l of U(terms with (k, l), k + 1).
    """
    layout = terms.layout
    size = 4 * len(terms.high) + 2  # pages that stay empty cost nothing
    while True:
        nodes = np.zeros((size, N_COLUMNS), np.int64)
        n_nodes = build(terms.high, terms.low, terms.points, layout.weights, layout.bases, layout.in_low, nodes)
        if n_nodes >= 0:
            return Tree(layout, nodes, int(n_nodes), int(fill_bounds(n_nodes, nodes)))
        size *= 2


def orderly_root_bound(class_letters: Sequence[str], scorer: Scorer, cell_order: Sequence[int] | None = None) -> int:
    """Return the orderly bound at the root of a class."""
    return orderly_tree(class_terms(class_letters, scorer, cell_order)).bound


def multi_score(board: str, scorer: Scorer) -> tuple[int, int]:
    """Return the multi-score of a board (every path counts) and its deduplicated multi-score."""
    terms = class_terms(tuple(board), scorer)
    return terms.multi_points, terms.unique_points


def tree_boards_reaching(tree: Tree, cutoff: int, budget: int = NO_BUDGET) -> list[tuple[tuple[str, ...], int]]:
    """Return (letters by level, multi-score) of every board whose deduplicated multi-score reaches the cutoff.

    Raises
    ------
    BudgetSpent
        If that takes more than ``budget`` nodes.
    """
    layout = tree.layout
    n_levels = len(layout.cells)
    n_letters = np.array([len(letters) for letters in layout.letters], np.int64)
    stack_size, found_size = 1 << 10, 1 << 10
    while True:
        space = SearchSpace(
            np.empty((n_levels, stack_size), np.int64),
            np.zeros((n_levels + 1, n_levels), np.int64),
            np.zeros(n_levels + 1, np.int64),
            np.zeros(n_levels + 1, np.int64),
            np.zeros(n_levels + 1, np.int64),
            np.zeros((found_size, n_levels + 1), np.int64),
            np.zeros(3, np.int64),
        )
        status = plain_bound(n_letters, cutoff, budget, tree.nodes, space)
        if status == DONE:
            break
        if status != FULL:
            raise BudgetSpent(f"the plain OrderlyBound spent its budget of {budget} nodes")
        stack_size, found_size = 4 * stack_size, 4 * found_size
    rows = space.found[: space.counts[0]].tolist()
    return [(tuple(layout.letters[k][row[k] - 1] for k in range(n_levels)), row[n_levels]) for row in rows]


def boards_reaching(
    class_letters: Sequence[str], scorer: Scorer, cutoff: int, *, n_branch: int = 4, budget: int = NO_BUDGET
) -> list[tuple[str, int]]:
    """Return every board of a class whose deduplicated multi-score reaches the cutoff, with that multi-score, sorted.

    The paper's breaker: branch on the first ``n_branch`` cells while the bound reaches the cutoff, then OrderlyBound.
    A superset of the boards whose score reaches the cutoff.
    """
    found: list[tuple[str, int]] = []
    board = [""] * scorer.geometry.n
    _branch(class_terms(class_letters, scorer), board, cutoff, n_branch, budget, found)
    return sorted(found)


def _branch(
    terms: Terms, board: list[str], cutoff: int, n_branch: int, budget: int, found: list[tuple[str, int]]
) -> None:
    tree = orderly_tree(terms)
    if not reaches(tree.bound, cutoff):
        return
    cells = terms.layout.cells
    if n_branch == 0 or not cells:
        for letters, points in tree_boards_reaching(tree, cutoff, budget):
            for cell, letter in zip(cells, letters, strict=True):
                board[cell] = letter
            found.append(("".join(board), points))
        return
    for letter in terms.layout.letters[0]:
        board[cells[0]] = letter
        _branch(terms.force(letter), board, cutoff, n_branch - 1, budget, found)
