"""Kernels of the bounds that the paper improves on: two walks over the word trie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, types, uint8

from boardclass.jit import kernel, read_only, writable
from search.bits import popcount
from search.paper.term_kernels import CELL_SHIFT, CELLS_MASK, CODE_MASK, MAX_CELLS
from search.scoring.trie import CHILD_SHIFT, CODE_SHIFT

_WALK_STACK = 26 * MAX_CELLS + 8 * 26 * MAX_CELLS
_IN = read_only(int64)
_POINTS = read_only(types.int32)


@kernel(int64(_IN, _POINTS, _IN, _IN, writable(uint8)))
def sum_points(nodes: Any, points: Any, neighbour_masks: Any, letters: Any, seen: Any) -> int:
    """Return the points of the distinct words that the class ``letters`` (int64[n] masks) can spell; ``seen`` is all
    0."""
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
            total += points[(record >> CODE_SHIFT) & CODE_MASK]
        if place < 0:
            used = 0
            free = (1 << len(letters)) - 1
        else:
            used = place & CELLS_MASK
            free = neighbour_masks[place >> CELL_SHIFT] & ~used
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
            total[depth] = points[(nodes[child] >> CODE_SHIFT) & CODE_MASK]
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
