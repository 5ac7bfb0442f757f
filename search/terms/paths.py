"""All simple paths of a board as numbers; what each does on some cells, and where it is not needed.

A number has 4 bits for the cell of each position, position 0 lowest, or 5 on a board of more than
16 cells, whose paths are therefore followed for their first LONGEST_WIDE cells only.

Two words of marks for each path say which terms are not needed.  A mark only ever drops a term that
another term of the same word dominates, so the bound stays a bound.

absorb
    bits of position t: the unused bare and extra cells that touch the cells of positions t - 1 and
    t + 1.  Where such a cell is bare and has the letter of position t, the path moved there is the
    same word with one literal less, and this term contains that one.  A position on a bare cell has
    no literal to lose: the path moved to another bare cell gives the same term, so of the two only
    the one on the cell that comes first in cell order is needed, and only cells before its own
    count.  For a position on an extra cell search.terms.shapes masks the later ones out if it is
    bare. swap
    one bit per pair of positions i < j, nearest pairs first: their cells may be swapped, the path
    stays a path, and the swapped one is smaller (cell of i above cell of j).  Where the two letters
    are equal both paths give the same term, and the smaller one gives it too.  The smallest path of
    each term is never dropped.

>>> from orderly_boggle.boardclass.geometry import geometry
>>> len(paths_of_length(geometry("4x4"), 3)), longest_path(16), longest_path(20)
(408, 16, 11)
>>> hex(paths_of_length(geometry("2x2"), 3)[0])  # cells 0, 1 and 2
'0x210'
"""

import numpy as np
from numba import int64, uint8, uint64, void

from orderly_boggle.boardclass.arrays import Int64s, UInt64s
from orderly_boggle.boardclass.geometry import Geometry
from orderly_boggle.boardclass.jit import kernel, read_only, writable
from orderly_boggle.search.bits import lowest_bit
from orderly_boggle.search.keys import KEY_LEVELS, LITERAL_BITS

MAX_LENGTH = 16  # of a path: absorb words have room for as many positions
LONGEST_WIDE = 11  # the same on more than 16 cells; 4x5 has 15.6 million paths of up to 11 cells
_FEW_CELLS = 16  # as many as 4 bits name
PLACE_BITS = 5
ELSEWHERE = (1 << PLACE_BITS) - 1  # the position on a cell that a path does not meet
FREE = 0  # pattern symbol of a position on a free cell; bare cell number b is b + 1
SYMBOL_BITS = 4
MAX_BARE = 8  # bare cells absorption looks at: 8 bits for each of up to 16 positions fill two words
_N_PAIRS = 64


def cell_bits(n_cells: int) -> int:
    """Return the bits of a path for the cell of each position, on a board of so many cells."""
    return 4 if n_cells <= _FEW_CELLS else 5


def longest_path(n_cells: int) -> int:
    """Return how many cells of a path are followed, on a board of so many cells."""
    if n_cells <= _FEW_CELLS:
        return min(n_cells, MAX_LENGTH)
    return LONGEST_WIDE


@kernel(int64(uint64, int64, int64), inline="always")
def cell_at(path, t, bits):  # type: ignore[no-untyped-def]
    """Return the cell of a position of a path that has so many bits for each."""
    return int64((path >> uint64(bits * t)) & ((uint64(1) << uint64(bits)) - uint64(1)))


@kernel(int64(read_only(int64), int64, int64, int64, writable(uint64)))
def enumerate_paths(neighbours, length, start, bits, out):  # type: ignore[no-untyped-def]
    """Write every simple path of ``length`` cells from ``start`` to ``out`` (``bits`` a position,
    position 0 lowest); return the count.

    With an ``out`` of size 0 the paths are only counted.
    """
    todo = np.zeros(MAX_LENGTH + 1, np.int64)
    path = np.zeros(MAX_LENGTH + 1, np.uint64)
    used = np.zeros(MAX_LENGTH + 1, np.int64)
    path[0] = start
    used[0] = int64(1) << start
    if length == 1:
        if out.size:
            out[0] = path[0]
        return 1
    todo[0] = neighbours[start]
    n = 0
    d = 0
    while d >= 0:
        if todo[d] == 0:
            d -= 1
            continue
        c = lowest_bit(todo[d])
        todo[d] &= todo[d] - 1
        longer = path[d] | (uint64(c) << uint64(bits * (d + 1)))
        if d + 2 == length:
            if out.size:
                out[n] = longer
            n += 1
        else:
            d += 1
            path[d] = longer
            used[d] = used[d - 1] | (int64(1) << c)
            todo[d] = neighbours[c] & ~used[d]
    return n


def paths_of_length(board: Geometry, length: int) -> UInt64s:
    """Return every simple directed path of ``length`` cells: uint64[n], :func:`cell_bits` bits a
    position, position 0 lowest.
    """
    none = np.empty(0, np.uint64)
    bits = cell_bits(board.n)
    counts = [enumerate_paths(board.neighbour_masks, length, c, bits, none) for c in range(board.n)]
    out = np.empty(sum(counts), np.uint64)
    at = 0
    for c, count in enumerate(counts):
        if count:
            enumerate_paths(board.neighbour_masks, length, c, bits, out[at : at + count])
        at += count
    return out


@kernel(void(read_only(uint64), int64, int64, read_only(int64), writable(uint64)))
def patterns_of(paths, length, bits, number, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with the pattern of each path, position 0 highest; ``number[c]`` is the bare
    number + 1, or 0.
    """
    for p in range(paths.size):
        pattern = uint64(0)
        for t in range(length):
            c = cell_at(paths[p], t, bits)
            pattern = (pattern << uint64(SYMBOL_BITS)) | uint64(number[c])
        out[p] = pattern


@kernel(void(read_only(uint64), int64, int64, read_only(int64), writable(uint64)))
def places_on(paths, length, bits, cells, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with the positions of each path on some cells: PLACE_BITS each, the first cell's
    highest.

    ELSEWHERE stands for a cell that the path does not meet.
    """
    for p in range(paths.size):
        places = uint64(0)
        for cell in cells:
            place = uint64(ELSEWHERE)
            for t in range(length):
                if cell_at(paths[p], t, bits) == cell:
                    place = uint64(t)
            places = (places << uint64(PLACE_BITS)) | place
        out[p] = places


@kernel(
    void(
        read_only(uint64),
        int64,
        int64,
        read_only(int64),
        read_only(int64),
        read_only(int64),
        writable(uint8),
    )
)
def fill_shifts(paths, length, bits, number, shift, counts, shifts):  # type: ignore[no-untyped-def]
    """Write the shifts of all groups, which follow one another in ``paths`` with ``counts`` paths
    each.
    """
    begin = 0
    at = 0
    for count in counts:
        for t in range(length):
            if number[cell_at(paths[begin], t, bits)]:
                continue
            for p in range(begin, begin + count):
                shifts[at] = shift[cell_at(paths[p], t, bits)]
                at += 1
        begin += count


def level_shifts(board: Geometry, bare: int) -> Int64s:
    """Return the shift of each cell's level in a key (5 bits a level, first in cell order highest),
    0 if it is bare or a key has no room for its level.
    """
    free = [c for c in board.cell_order if not bare >> c & 1]
    shift = np.zeros(board.n, np.int64)
    for place, c in enumerate(reversed(free[-KEY_LEVELS:])):
        shift[c] = LITERAL_BITS * place
    return shift


def pairs_of(length: int) -> Int64s:
    """Return the pairs of positions i < j that have a bit in ``swap``, nearest first, at most 64:
    int64[n, 2].
    """
    first, second = np.triu_indices(length, 1)
    nearest_first = np.argsort(second - first, kind="stable")[:_N_PAIRS]
    return np.column_stack((first, second))[nearest_first]


def pair_bits(length: int) -> Int64s:
    """Return int64[16, 16]: the bit of a pair of positions in ``swap``, -1 where it has none."""
    bits = np.full((MAX_LENGTH, MAX_LENGTH), -1, np.int64)
    for x, (i, j) in enumerate(pairs_of(length).tolist()):
        bits[i, j] = x
    return bits


@kernel(
    void(read_only(uint64), int64, int64, read_only(int64), read_only(int64), read_only(int64),
    read_only(int64, 2),
        writable(uint64, 2), writable(uint64, 2))
)  # fmt: skip
def mark_dominated(  # type: ignore[no-untyped-def]
    paths, length, per_cell, neighbours, number, target, pair_bit, absorb, swap
):
    """Fill the absorb and swap words of ``paths`` (see the module).

    per_cell : bits of a path for each position
    number : of each cell, the bare number + 1, or 0
    target : the same of bare and extra cells
    """
    cells = np.zeros(MAX_LENGTH + 2, np.int64)
    near = np.zeros(MAX_LENGTH + 2, np.int64)  # cells that touch both neighbours of a position
    place = np.zeros(neighbours.size, np.int64)  # position of a cell of the path
    every = (int64(1) << neighbours.size) - 1
    for p in range(paths.size):
        used = int64(0)
        for t in range(length):
            cells[t] = cell_at(paths[p], t, per_cell)
            used |= int64(1) << cells[t]
            place[cells[t]] = t
        for t in range(length):
            near[t] = every
            if t > 0:
                near[t] &= neighbours[cells[t - 1]]
            if t + 1 < length:
                near[t] &= neighbours[cells[t + 1]]
        for word in range(2):
            bits = uint64(0)
            for t in range(8 * word, min(length, 8 * word + 8)):
                last = min(MAX_BARE, number[cells[t]] - 1) if number[cells[t]] else MAX_BARE
                moves = near[t] & ~used
                while moves:
                    c = lowest_bit(moves)
                    moves &= moves - 1
                    if 0 < target[c] <= last:
                        bits |= uint64(1) << uint64(8 * (t - 8 * word) + target[c] - 1)
            absorb[p, word] = bits
        bits = uint64(0)
        for i in range(length):
            # cells of the path that position i could take over, but not its neighbours there
            mates = near[i] & used
            while mates:
                c = lowest_bit(mates)
                mates &= mates - 1
                j = place[c]
                if j > i + 1 and cells[i] > c and (near[j] >> cells[i]) & 1 and pair_bit[i, j] >= 0:
                    bits |= uint64(1) << uint64(pair_bit[i, j])
            j = i + 1  # neighbours in the path stay neighbours: only their outer sides must fit
            if j < length and cells[i] > cells[j] and pair_bit[i, j] >= 0:
                left = neighbours[cells[i - 1]] if i > 0 else every
                right = neighbours[cells[j + 1]] if j + 1 < length else every
                if (left >> cells[j]) & 1 and (right >> cells[i]) & 1:
                    bits |= uint64(1) << uint64(pair_bit[i, j])
        swap[p, 0] = bits
