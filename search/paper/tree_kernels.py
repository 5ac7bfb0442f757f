"""Kernels of the basic method: the orderly tree, its bounds, and the plain OrderlyBound over it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, types
from numpy.typing import NDArray

from boardclass.cutoff_kernel import reaches
from boardclass.jit import kernel, read_only, writable
from search.paper.term_kernels import DONE, FULL, SPENT

# The orderly tree: int64[n_nodes, 8], one cache line a node; node 0 is the root, 0 elsewhere means none; parents
# before children.  A node stands for a literal below its parent's literals.  Children on the same cell form a *run*
# (a choice node of the paper), linked by SIBLING; the runs of a node are linked, first child to first child, by
# NEXT_RUN.
LEVEL = 0  # cell of the literal, as its position in the cell order
DIGIT = 1  # its letter: 1 + index within the cell's letters
POINTS = 2  # points of the terms that end here
BOUND = 3  # upper bound of this subtree: points plus the run bounds
FIRST_RUN = 4  # first child
SIBLING = 5  # next child of the same parent on the same cell
NEXT_RUN = 6  # on the first child of a run: the first child of the next run
RUN_BOUND = 7  # on the first child of a run: the largest bound within the run
N_COLUMNS = 8


class SearchSpace(NamedTuple):
    """Arrays of the plain OrderlyBound.

    Attributes
    ----------
    stack : int64[n_levels, capacity], first nodes of the runs stacked on each cell
    sizes : int64[n_levels + 1, n_levels], stack sizes at each depth
    digits : int64[n_levels + 1], letter tried at each depth
    points, bounds : int64[n_levels + 1]
    found : int64[m, n_levels + 1], letters of the boards found, then their multi-score
    counts : n_found, n_nodes, n_pushes
    """

    stack: NDArray[np.int64]
    sizes: NDArray[np.int64]
    digits: NDArray[np.int64]
    points: NDArray[np.int64]
    bounds: NDArray[np.int64]
    found: NDArray[np.int64]
    counts: NDArray[np.int64]


_IN = read_only(int64)
TREE = writable(int64, 2)
_SEARCH = types.NamedTuple(
    [writable(int64, 2), writable(int64, 2), *[writable(int64)] * 3, writable(int64, 2), writable(int64)], SearchSpace
)
N_FOUND, N_NODES, N_PUSHES = range(3)  # what is where in ``counts``


@kernel(int64(_IN, _IN, _IN, _IN, _IN, _IN, TREE))
def build(high: Any, low: Any, points: Any, weights: Any, bases: Any, in_low: Any, tree: Any) -> int:
    """Build the tree of the sorted, distinct keys; return the number of nodes, -1 if ``tree`` is too small.

    Level by level ``weights``, ``bases`` (letters + 1) and ``in_low`` say where a key holds its letter; 0 = no literal.
    A key shares the previous key's literals up to the first level at which their letters differ.
    """
    n_levels = len(weights)
    previous = np.zeros(n_levels, np.int64)
    on_path = np.zeros(n_levels + 1, np.int64)  # node after the literals of the levels before this one
    last_run = np.zeros(len(tree), np.int64)  # first child of a node's last run, then the last child of that run
    last_child = np.zeros(len(tree), np.int64)
    n_nodes = 1
    for i in range(len(high)):
        same = True
        for k in range(n_levels):
            word = low[i] if in_low[k] else high[i]
            digit = (word // weights[k]) % bases[k]
            same = same and digit == previous[k]
            previous[k] = digit
            if same:
                continue
            node = on_path[k]
            if digit:
                if n_nodes == len(tree):
                    return -1
                parent = node
                node = n_nodes
                n_nodes += 1
                tree[node, LEVEL] = k
                tree[node, DIGIT] = digit
                if last_child[parent] and tree[last_child[parent], LEVEL] == k:
                    tree[last_child[parent], SIBLING] = node
                else:
                    if last_run[parent]:
                        tree[last_run[parent], NEXT_RUN] = node
                    else:
                        tree[parent, FIRST_RUN] = node
                    last_run[parent] = node
                last_child[parent] = node
            on_path[k + 1] = node
        tree[on_path[n_levels], POINTS] += points[i]
    return n_nodes


@kernel(int64(int64, TREE))
def fill_bounds(n_nodes: int, tree: Any) -> int:
    """Fill BOUND and RUN_BOUND from the last node to the first (children come after their parents); return the root's.

    Soundness: a board takes one letter a cell, so at most one child of each run holds.
    """
    for node in range(n_nodes - 1, -1, -1):
        bound = tree[node, POINTS]
        run = tree[node, FIRST_RUN]
        while run:
            best = 0
            child = run
            while child:
                best = max(best, tree[child, BOUND])
                child = tree[child, SIBLING]
            tree[run, RUN_BOUND] = best
            bound += best
            run = tree[run, NEXT_RUN]
        tree[node, BOUND] = bound
    return tree[0, BOUND]


@kernel(int64(int64, int64, TREE, _SEARCH))
def _push(node: int, depth: int, tree: Any, space: SearchSpace) -> int:
    """Stack the runs of a node for the state at ``depth``; return their number, -1 if a stack is full."""
    n = 0
    run = tree[node, FIRST_RUN]
    while run:
        level = tree[run, LEVEL]
        size = space.sizes[depth, level]
        if size == space.stack.shape[1]:
            return -1
        space.stack[level, size] = run
        space.sizes[depth, level] = size + 1
        n += 1
        run = tree[run, NEXT_RUN]
    return n


@kernel(int64(int64, int64, TREE, _SEARCH))
def _matching_child(run: int, digit: int, tree: Any, space: SearchSpace) -> int:
    """Return the child of a run with this letter, or 0."""
    while run and tree[run, DIGIT] != digit:
        run = tree[run, SIBLING]
    return run


@kernel(int64(_IN, int64, int64, TREE, _SEARCH))
def plain_bound(n_letters: Any, cutoff: int, budget: int, tree: Any, space: SearchSpace) -> int:
    """Depth-first search over the cells in order: fill ``found`` with every board whose multi-score reaches the cutoff.

    ``n_letters[level]`` letters per cell.  Returns DONE, FULL (a stack or ``found`` is too small) or SPENT (more
    nodes than ``budget``).  State bound (paper): points so far plus, for every run stacked on a cell, the largest
    bound of its letters.
    """
    n_levels = len(n_letters)
    space.sizes[:] = 0
    space.counts[:] = 0
    space.points[0] = tree[0, POINTS]
    space.bounds[0] = tree[0, BOUND]
    space.digits[0] = 0
    if _push(0, 0, tree, space) < 0:
        return FULL
    depth = 0
    if not reaches(tree[0, BOUND], cutoff):
        return DONE
    while depth >= 0:
        if depth == n_levels:
            if space.counts[N_FOUND] == len(space.found):
                return FULL
            space.found[space.counts[N_FOUND], :n_levels] = space.digits[:n_levels]
            space.found[space.counts[N_FOUND], n_levels] = space.points[depth]
            space.counts[N_FOUND] += 1
            depth -= 1
            continue
        space.digits[depth] += 1
        digit = space.digits[depth]
        if digit > n_letters[depth]:
            depth -= 1
            continue
        space.counts[N_NODES] += 1
        if space.counts[N_NODES] > budget:
            return SPENT
        bound = space.bounds[depth]
        for i in range(space.sizes[depth, depth]):
            run = space.stack[depth, i]
            bound -= tree[run, RUN_BOUND]
            child = _matching_child(run, digit, tree, space)
            if child:
                bound += tree[child, BOUND]
        if not reaches(bound, cutoff):
            continue
        space.sizes[depth + 1] = space.sizes[depth]
        points = space.points[depth]
        for i in range(space.sizes[depth, depth]):
            child = _matching_child(space.stack[depth, i], digit, tree, space)
            if child:
                points += tree[child, POINTS]
                n_pushed = _push(child, depth + 1, tree, space)
                if n_pushed < 0:
                    return FULL
                space.counts[N_PUSHES] += n_pushed
        depth += 1
        space.points[depth] = points
        space.bounds[depth] = bound
        if depth < n_levels:
            space.digits[depth] = 0
    return DONE
