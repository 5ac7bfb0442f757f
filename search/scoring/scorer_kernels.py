"""The portable scoring kernel: depth-first, scalar, on every machine; also the check of the vector
kernel.

>>> from orderly_boggle.boardclass import parse_scores
>>> from orderly_boggle.search import Scorer
>>> Scorer("2x2", ["tea", "teat"], parse_scores("standard"), portable=True).score("aetx")
1
"""

from typing import Any

import numpy as np
from numba import int32, int64, uint8

from orderly_boggle.boardclass.jit import kernel, read_only, writable
from orderly_boggle.search.bits import popcount
from orderly_boggle.search.scoring.trie import CHILD_SHIFT, CODE_SHIFT, LETTER_MASK

MAX_CELLS = 25
CELL_SHIFT = 32
CELLS_MASK = (1 << MAX_CELLS) - 1
_STACK = 9 * MAX_CELLS  # the start cells, then at most eight neighbours a level

SIGNATURE_ARRAYS = (read_only(int64), read_only(int32), read_only(int64), read_only(uint8, 2))


@kernel(int64(writable(uint8), writable(int64)))
def next_generation(seen: Any, generation: Any) -> int:
    """Return the generation of the next board, 1 to 255, kept in ``generation[0]``.

    ``seen[node]`` holds the one that last counted the word of a node, so a word counts once a board
    without clearing anything in between.
    """
    generation[0] += 1
    if generation[0] == 256:
        seen[:] = 0
        generation[0] = 1
    return int(generation[0])


@kernel(int64(*SIGNATURE_ARRAYS, writable(uint8), writable(int64), writable(int32)))
def score_boards(
    nodes: Any, points: Any, neighbour_masks: Any, boards: Any, seen: Any, generation: Any, out: Any
) -> int:
    """Fill ``out`` with the scores of ``boards``; return their number.

    ``seen`` and ``generation`` as in :func:`next_generation`.
    """
    n_boards, n = boards.shape
    stack_node = np.zeros(_STACK, np.int64)
    stack_place = np.zeros(_STACK, np.int64)  # cell << 32 | used cells
    cells_of = np.zeros(32, np.int64)  # cells of a letter
    around = np.zeros(MAX_CELLS, np.int64)  # letters around a cell
    for b in range(n_boards):
        current = next_generation(seen, generation)
        cells_of[:] = 0
        around[:] = 0
        top = 0
        for cell in range(n):
            letter = int64(boards[b, cell])
            cells_of[letter] |= 1 << cell
            bit = 1 << letter
            rest = neighbour_masks[cell]
            while rest:
                around[popcount((rest & -rest) - 1)] |= bit
                rest &= rest - 1
            if nodes[0] & bit:
                stack_node[top] = (nodes[0] >> CHILD_SHIFT) + popcount(nodes[0] & (bit - 1))
                stack_place[top] = (cell << CELL_SHIFT) | (1 << cell)
                top += 1
        score = 0
        while top:
            top -= 1
            node = stack_node[top]
            place = stack_place[top]
            record = nodes[node]
            code = (record >> CODE_SHIFT) & 63
            if code and seen[node] != current:
                seen[node] = current
                score += points[code]
            cell = place >> CELL_SHIFT
            used = place & CELLS_MASK
            letters = record & around[cell] & LETTER_MASK
            free = neighbour_masks[cell] & ~used
            while letters:
                below = (letters & -letters) - 1
                letters &= letters - 1
                cells = cells_of[popcount(below)] & free
                if cells:
                    child = (record >> CHILD_SHIFT) + popcount(record & below)
                    while cells:
                        bit = cells & -cells
                        cells ^= bit
                        stack_node[top] = child
                        stack_place[top] = (popcount(bit - 1) << CELL_SHIFT) | used | bit
                        top += 1
        out[b] = score
    return n_boards
