"""Kernels of the basic method: walks over the word trie, term generation, the orderly tree and its plain bound.

Speed is secondary here; these kernels are the readable baseline that the fast search is tested against.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import boolean, int64, types, uint8
from numpy.typing import NDArray

from boardclass.cutoff import reaches
from boardclass.jit import kernel, read_only, writable
from search.bits import popcount
from search.scoring.trie import CHILD_SHIFT, CODE_SHIFT, LETTER_MASK

MAX_CELLS = 25
CELL_SHIFT = 32
CELLS_MASK = (1 << MAX_CELLS) - 1
_WALK_STACK = 26 * MAX_CELLS + 8 * 26 * MAX_CELLS
_HASH_PRIME = 2147483647

DONE, FULL, SPENT = 0, 1, 2  # what a kernel came to: all done; an array is too small; the budget is spent


class TermSpace(NamedTuple):
    """Arrays of the term generation, int64 all of them; the caller makes them larger when the kernel returns FULL.

    Attributes
    ----------
    place, path_high, path_low : open paths: cell << 32 | used cells, and the key of their literals
    table_high, table_low, table_stamp : hash set of the keys of one word (a slot counts if its stamp is the word's)
    high, low, points : the terms
    totals : n_terms, n_paths, points of all paths, last stamp
    """

    place: NDArray[np.int64]
    path_high: NDArray[np.int64]
    path_low: NDArray[np.int64]
    table_high: NDArray[np.int64]
    table_low: NDArray[np.int64]
    table_stamp: NDArray[np.int64]
    high: NDArray[np.int64]
    low: NDArray[np.int64]
    points: NDArray[np.int64]
    totals: NDArray[np.int64]


class KeyCode(NamedTuple):
    """What a literal adds to the two words of a key: int64[26, 25] each, by letter and cell (one of them is 0)."""

    high: NDArray[np.int64]
    low: NDArray[np.int64]


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
_POINTS = read_only(types.int32)
_TERM_SPACE = types.NamedUniTuple(writable(int64), 10, TermSpace)
_KEY_CODE = types.NamedUniTuple(writable(int64, 2), 2, KeyCode)
TREE = writable(int64, 2)
_SEARCH = types.NamedTuple(
    [writable(int64, 2), writable(int64, 2), *[writable(int64)] * 3, writable(int64, 2), writable(int64)], SearchSpace
)


@kernel(int64(_IN, _POINTS, _IN, _IN, writable(uint8)))
def sum_points(nodes: Any, points: Any, neighbour_masks: Any, letters: Any, seen: Any) -> int:
    """Return the points of the distinct words that the class ``letters`` (int64[n] masks) can spell; ``seen`` is 0."""
    stack_node = np.zeros(_WALK_STACK, np.int64)
    stack_place = np.zeros(_WALK_STACK, np.int64)
    total = 0
    top = 1
    stack_place[0] = -1  # before the first cell
    while top:
        top -= 1
        node = stack_node[top]
        place = stack_place[top]
        record = nodes[node]
        if not seen[node]:
            seen[node] = 1
            total += points[(record >> CODE_SHIFT) & 63]
        used = place & CELLS_MASK
        free = neighbour_masks[place >> CELL_SHIFT] & ~used
        if place < 0:
            used = 0
            free = (1 << len(letters)) - 1
        while free:
            bit = free & -free
            free ^= bit
            cell = popcount(bit - 1)
            rest = record & letters[cell]
            while rest:
                below = (rest & -rest) - 1
                rest &= rest - 1
                stack_node[top] = (record >> CHILD_SHIFT) + popcount(record & below)
                stack_place[top] = (cell << CELL_SHIFT) | used | bit
                top += 1
    return total


@kernel(int64(_IN, _POINTS, _IN, _IN))
def max_points(nodes: Any, points: Any, neighbour_masks: Any, letters: Any) -> int:
    """Return the sum over start cells of the largest bound over the cell's letters, recursively (no deduplication).

    Depth 0 stands before the first cell; ``total`` collects finished cells, ``best`` the letters of the current one.
    """
    n = len(letters)
    node = np.zeros(n + 1, np.int64)
    used = np.zeros(n + 1, np.int64)
    cells = np.zeros(n + 1, np.int64)  # cells still to do
    cell = np.zeros(n + 1, np.int64)
    rest = np.zeros(n + 1, np.int64)  # letters still to do on that cell
    best = np.zeros(n + 1, np.int64)
    total = np.zeros(n + 1, np.int64)
    cells[0] = (1 << n) - 1
    depth = 0
    while True:
        if rest[depth]:
            below = (rest[depth] & -rest[depth]) - 1
            rest[depth] &= rest[depth] - 1
            record = nodes[node[depth]]
            child = (record >> CHILD_SHIFT) + popcount(record & below)
            depth += 1
            node[depth] = child
            used[depth] = used[depth - 1] | (1 << cell[depth - 1])
            cells[depth] = neighbour_masks[cell[depth - 1]] & ~used[depth]
            rest[depth] = 0
            best[depth] = 0
            total[depth] = points[(nodes[child] >> CODE_SHIFT) & 63]
            continue
        total[depth] += best[depth]
        best[depth] = 0
        if cells[depth]:
            bit = cells[depth] & -cells[depth]
            cells[depth] ^= bit
            cell[depth] = popcount(bit - 1)
            rest[depth] = nodes[node[depth]] & letters[cell[depth]]
        elif depth == 0:
            return total[0]
        else:
            depth -= 1
            best[depth] = max(best[depth], total[depth + 1])


@kernel(int64(_IN, int64, int64, int64, int64, int64, _KEY_CODE, _TERM_SPACE))
def _extend_paths(
    neighbour_masks: Any, allowed: int, letter: int, start: int, stop: int, depth: int, code: KeyCode, space: TermSpace
) -> int:
    """Append the paths of a prefix with one more ``letter`` to those at start..stop; return their end, -1 if full."""
    end = stop
    for i in range(start, max(stop, start + 1)):
        cells = allowed
        used = 0
        high = 0
        low = 0
        if depth:
            used = space.place[i] & CELLS_MASK
            cells &= neighbour_masks[space.place[i] >> CELL_SHIFT] & ~used
            high = space.path_high[i]
            low = space.path_low[i]
        if end + MAX_CELLS > len(space.place):
            return -1
        while cells:
            bit = cells & -cells
            cells ^= bit
            cell = popcount(bit - 1)
            space.place[end] = (cell << CELL_SHIFT) | used | bit
            space.path_high[end] = high + code.high[letter, cell]
            space.path_low[end] = low + code.low[letter, cell]
            end += 1
    return end


@kernel(boolean(int64, int64, int64, _TERM_SPACE))
def _emit_terms(start: int, stop: int, points: int, space: TermSpace) -> bool:
    """Append a term of one word for each *distinct* key at start..stop; return False if there is no room."""
    if space.totals[0] + stop - start > len(space.high):
        return False
    mask = len(space.table_stamp) - 1
    space.totals[3] += 1
    stamp = space.totals[3]
    n_terms = space.totals[0]
    for i in range(start, stop):
        high = space.path_high[i]
        low = space.path_low[i]
        slot = (high % _HASH_PRIME + 3 * (low % _HASH_PRIME)) & mask
        while space.table_stamp[slot] == stamp and (space.table_high[slot] != high or space.table_low[slot] != low):
            slot = (slot + 1) & mask
        if space.table_stamp[slot] != stamp:
            space.table_stamp[slot] = stamp
            space.table_high[slot] = high
            space.table_low[slot] = low
            space.high[n_terms] = high
            space.low[n_terms] = low
            space.points[n_terms] = points
            n_terms += 1
    space.totals[0] = n_terms
    space.totals[1] += stop - start
    space.totals[2] += (stop - start) * points
    return True


@kernel(int64(_IN, _POINTS, _IN, _IN, int64, _KEY_CODE, _TERM_SPACE))
def generate(
    nodes: Any, points: Any, neighbour_masks: Any, allowed: Any, first: int, code: KeyCode, space: TermSpace
) -> int:
    """Fill ``space`` with the deduplicated terms of all words that begin with letter ``first``; return DONE or FULL.

    One walk over the word trie that carries all partial paths of the current prefix, so the paths of a word come
    together. ``allowed[letter]`` is the mask of the cells that may hold it.
    """
    depth_max = MAX_CELLS + 2
    node = np.zeros(depth_max, np.int64)
    rest = np.zeros(depth_max, np.int64)
    begin = np.zeros(depth_max + 1, np.int64)  # paths of depth d: begin[d] .. begin[d + 1]
    rest[0] = nodes[0] & (1 << first)
    depth = 0
    while depth >= 0:
        if not rest[depth]:
            depth -= 1
            continue
        record = nodes[node[depth]]
        below = (rest[depth] & -rest[depth]) - 1
        rest[depth] &= rest[depth] - 1
        letter = popcount(below)
        start = begin[depth]
        stop = begin[depth + 1]
        end = _extend_paths(neighbour_masks, allowed[letter], letter, start, stop, depth, code, space)
        if end < 0:
            return FULL
        if end == stop:
            continue
        child = (record >> CHILD_SHIFT) + popcount(record & below)
        worth = np.int64(points[(nodes[child] >> CODE_SHIFT) & 63])
        if worth and not _emit_terms(stop, end, worth, space):
            return FULL
        depth += 1
        node[depth] = child
        rest[depth] = nodes[child] & LETTER_MASK
        begin[depth] = stop
        begin[depth + 1] = end
    return DONE


@kernel(int64(_IN, _IN, _IN, _IN, _IN, _IN, TREE))
def build(high: Any, low: Any, points: Any, weights: Any, bases: Any, in_low: Any, tree: Any) -> int:
    """Build the tree of the sorted, distinct keys; return the number of nodes, -1 if ``tree`` is too small.

    Level by level ``weights``, ``bases`` (letters + 1) and ``in_low`` say where a key holds its letter; 0 = no literal.
    A key begins with as many of the previous key's literals as their letters agree on from the first level on.
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

    Soundness: a board takes one letter a cell, so of each run at most one child holds.
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
            if space.counts[0] == len(space.found):
                return FULL
            space.found[space.counts[0], :n_levels] = space.digits[:n_levels]
            space.found[space.counts[0], n_levels] = space.points[depth]
            space.counts[0] += 1
            depth -= 1
            continue
        space.digits[depth] += 1
        digit = space.digits[depth]
        if digit > n_letters[depth]:
            depth -= 1
            continue
        space.counts[1] += 1
        if space.counts[1] > budget:
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
                space.counts[2] += n_pushed
        depth += 1
        space.points[depth] = points
        space.bounds[depth] = bound
        if depth < n_levels:
            space.digits[depth] = 0
    return DONE
