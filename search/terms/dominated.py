"""Which terms are not needed: two words of marks for each path.

A mark only ever drops a term that another term of the same word dominates, so the bound stays a bound.

absorb
    bits of position t: the unused bare and extra cells that touch the cells of positions t - 1 and t + 1.  Where such a
    cell is bare and has the letter of position t, the path moved there is the same word with one literal less, and this
    term contains that one.  A position on a bare cell has no literal to lose: the path moved to another bare cell gives
    the same term, so of the two only the one on the cell that comes first in cell order is needed, and only cells
    before its own count.  For a position on an extra cell search.terms.shapes masks the later ones out if it is bare.
swap
    one bit per pair of positions i < j, nearest pairs first: their cells may be swapped, the path stays a path, and the
    swapped one is smaller (cell of i above cell of j).  Where the two letters are equal both paths give the same term,
    and the smaller one gives it too.  The smallest path of each term is never dropped.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64, void
from numpy.typing import NDArray

from boardclass.jit import kernel, read_only, writable
from search.bits import lowest_bit
from search.terms.paths import CELL, CELL_BITS, MAX_CELLS

MAX_BARE = 8  # bare cells absorption looks at: 8 bits for each of up to 16 positions fill two words
_N_PAIRS = 64


def pairs_of(length: int) -> NDArray[np.int64]:
    """Return the pairs of positions i < j that have a bit in ``swap``, nearest first, at most 64: int64[n, 2]."""
    pairs = [(i, i + gap) for gap in range(1, length) for i in range(length - gap)][:_N_PAIRS]
    return np.array(pairs, np.int64).reshape(-1, 2)


def pair_bits(length: int) -> NDArray[np.int64]:
    """Return int64[16, 16]: the bit of a pair of positions in ``swap``, -1 where it has none."""
    bits = np.full((MAX_CELLS, MAX_CELLS), -1, np.int64)
    for x, (i, j) in enumerate(pairs_of(length).tolist()):
        bits[i, j] = x
    return bits


@kernel(
    void(read_only(uint64), int64, read_only(int64), read_only(int64), read_only(int64), read_only(int64, 2),
        writable(uint64, 2), writable(uint64, 2))
)  # fmt: skip
def mark_dominated(paths, length, neighbours, number, target, pair_bit, absorb, swap):  # type: ignore[no-untyped-def]
    """Fill the absorb and swap words of ``paths`` (see the module).

    number : of each cell, the bare number + 1, or 0
    target : the same of bare and extra cells
    """
    cells = np.zeros(MAX_CELLS + 2, np.int64)
    near = np.zeros(MAX_CELLS + 2, np.int64)  # cells that touch both neighbours of a position
    place = np.zeros(MAX_CELLS + 2, np.int64)  # position of a cell of the path
    every = (np.int64(1) << neighbours.size) - 1
    for p in range(paths.size):
        used = np.int64(0)
        for t in range(length):
            cells[t] = np.int64((paths[p] >> np.uint64(CELL_BITS * t)) & np.uint64(CELL))
            used |= np.int64(1) << cells[t]
            place[cells[t]] = t
        for t in range(length):
            near[t] = every
            if t > 0:
                near[t] &= neighbours[cells[t - 1]]
            if t + 1 < length:
                near[t] &= neighbours[cells[t + 1]]
        for word in range(2):
            bits = np.uint64(0)
            for t in range(8 * word, min(length, 8 * word + 8)):
                last = min(MAX_BARE, number[cells[t]] - 1) if number[cells[t]] else MAX_BARE
                moves = near[t] & ~used
                while moves:
                    c = lowest_bit(moves)
                    moves &= moves - 1
                    if 0 < target[c] <= last:
                        bits |= np.uint64(1) << np.uint64(8 * (t - 8 * word) + target[c] - 1)
            absorb[p, word] = bits
        bits = np.uint64(0)
        for i in range(length):
            mates = near[i] & used  # cells of the path that position i could take over, but not its neighbours there
            while mates:
                c = lowest_bit(mates)
                mates &= mates - 1
                j = place[c]
                if j > i + 1 and cells[i] > c and (near[j] >> cells[i]) & 1 and pair_bit[i, j] >= 0:
                    bits |= np.uint64(1) << np.uint64(pair_bit[i, j])
            j = i + 1  # neighbours in the path stay neighbours: only their outer sides must fit
            if j < length and cells[i] > cells[j] and pair_bit[i, j] >= 0:
                left = neighbours[cells[i - 1]] if i > 0 else every
                right = neighbours[cells[j + 1]] if j + 1 < length else every
                if (left >> cells[j]) & 1 and (right >> cells[i]) & 1:
                    bits |= np.uint64(1) << np.uint64(pair_bit[i, j])
        swap[p, 0] = bits
