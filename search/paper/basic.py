"""The basic method of the paper: sum and max bound, orderly tree, branch, plain OrderlyBound.

It is kept for teaching, for ``orderly bound``, and as the yardstick of the fast search.  It works on every board size
and class that fits the memory.  All of it is sound: Score(B) <= deduplicated multi-score(B) <= bound for every board B
of the class.

    sum_bound, max_bound                  the bounds that the paper improves on
    class_terms -> Terms -> orderly_tree  terms (search.paper.terms) and the tree over them
    orderly_root_bound, boards_reaching   the nested bound; all boards with multi-score >= cutoff
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boardclass.cutoff import reaches
from boardclass.errors import OrderlyError
from search.paper.old_kernels import max_points, sum_points
from search.paper.term_kernels import DONE, FULL
from search.paper.terms import KeyLayout, Terms, class_masks, class_terms
from search.paper.tree_kernels import N_COLUMNS, N_FOUND, SearchSpace, build, fill_bounds, plain_bound
from search.scoring.scorer import Scorer

NO_BUDGET = 1 << 62


class BudgetSpent(OrderlyError):
    """The plain OrderlyBound needed more nodes than it was given; nothing is known about the class."""

    exit_code = 4


@dataclass(frozen=True)
class Tree:
    """An orderly tree: records (columns in tree_kernels), number of nodes, root bound."""

    layout: KeyLayout
    nodes: NDArray[np.int64]
    n_nodes: int
    bound: int


def sum_bound(class_letters: Sequence[str], scorer: Scorer) -> int:
    """Return the points of every distinct word that some board of the class might hold (paper, listing 3)."""
    masks = class_masks(class_letters, scorer.geometry)
    seen = np.zeros(len(scorer.trie.nodes), np.uint8)
    return int(sum_points(*scorer.trie, scorer.geometry.neighbour_masks, masks, seen))


def max_bound(class_letters: Sequence[str], scorer: Scorer) -> int:
    """Return the max bound (paper, listing 4): from each cell on the best letter of each next cell, all added up."""
    masks = class_masks(class_letters, scorer.geometry)
    return int(max_points(*scorer.trie, scorer.geometry.neighbour_masks, masks))


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
    rows = space.found[: space.counts[N_FOUND]].tolist()
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
