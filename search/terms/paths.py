"""All simple paths of a board, as numbers: 4 bits a position, and what each path does on some cells."""

from __future__ import annotations

import numpy as np
from numba import int64, uint8, uint64, void
from numpy.typing import NDArray

from boardclass.geometry import Geometry
from boardclass.jit import kernel, read_only, writable
from search.bits import lowest_bit
from search.keys import LITERAL_BITS

MAX_CELLS = 16
CELL_BITS = 4  # of a path, for the cell of each position
CELL = (1 << CELL_BITS) - 1
PLACE_BITS = 5
ELSEWHERE = (1 << PLACE_BITS) - 1  # the position on a cell that a path does not meet
FREE = 0  # pattern symbol of a position on a free cell; bare cell number b is b + 1
SYMBOL_BITS = 4


@kernel(int64(read_only(int64), int64, int64, writable(uint64)))
def enumerate_paths(neighbours, length, start, out):  # type: ignore[no-untyped-def]
    """Write every simple path of ``length`` cells from ``start`` to ``out`` (4 bits a position, position 0 lowest);
    return the count.

    With an ``out`` of size 0 the paths are only counted.
    """
    left = np.zeros(MAX_CELLS + 1, np.int64)
    path = np.zeros(MAX_CELLS + 1, np.uint64)
    used = np.zeros(MAX_CELLS + 1, np.int64)
    path[0] = start
    used[0] = np.int64(1) << start
    if length == 1:
        if out.size:
            out[0] = path[0]
        return 1
    left[0] = neighbours[start]
    n = 0
    d = 0
    while d >= 0:
        if left[d] == 0:
            d -= 1
            continue
        c = lowest_bit(left[d])
        left[d] &= left[d] - 1
        longer = path[d] | (np.uint64(c) << np.uint64(CELL_BITS * (d + 1)))
        if d + 2 == length:
            if out.size:
                out[n] = longer
            n += 1
        else:
            d += 1
            path[d] = longer
            used[d] = used[d - 1] | (np.int64(1) << c)
            left[d] = neighbours[c] & ~used[d]
    return n


def paths_of_length(board: Geometry, length: int) -> NDArray[np.uint64]:
    """Return every simple directed path of ``length`` cells: uint64[n], 4 bits a position, position 0 lowest."""
    none = np.empty(0, np.uint64)
    counts = [enumerate_paths(board.neighbour_masks, length, c, none) for c in range(board.n)]
    out = np.empty(sum(counts), np.uint64)
    at = 0
    for c, count in enumerate(counts):
        if count:
            enumerate_paths(board.neighbour_masks, length, c, out[at : at + count])
        at += count
    return out


@kernel(void(read_only(uint64), int64, read_only(int64), writable(uint64)))
def patterns_of(paths, length, number, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with the pattern of each path, position 0 highest; ``number[c]`` is the bare number + 1, or 0."""
    for p in range(paths.size):
        pattern = np.uint64(0)
        for t in range(length):
            c = np.int64((paths[p] >> np.uint64(CELL_BITS * t)) & np.uint64(CELL))
            pattern = (pattern << np.uint64(SYMBOL_BITS)) | np.uint64(number[c])
        out[p] = pattern


@kernel(void(read_only(uint64), int64, read_only(int64), writable(uint64)))
def places_on(paths, length, cells, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with the positions of each path on some cells: PLACE_BITS each, the first cell's highest.

    ELSEWHERE stands for a cell that the path does not meet.
    """
    for p in range(paths.size):
        places = np.uint64(0)
        for cell in cells:
            place = np.uint64(ELSEWHERE)
            for t in range(length):
                if np.int64((paths[p] >> np.uint64(CELL_BITS * t)) & np.uint64(CELL)) == cell:
                    place = np.uint64(t)
            places = (places << np.uint64(PLACE_BITS)) | place
        out[p] = places


@kernel(void(read_only(uint64), int64, read_only(int64), read_only(int64), read_only(int64), writable(uint8)))
def fill_shifts(paths, length, number, shift, counts, shifts):  # type: ignore[no-untyped-def]
    """Write the shifts of all groups, which follow one another in ``paths`` with ``counts`` paths each."""
    begin = 0
    at = 0
    for count in counts:
        for t in range(length):
            if number[np.int64((paths[begin] >> np.uint64(CELL_BITS * t)) & np.uint64(CELL))]:
                continue
            for p in range(begin, begin + count):
                shifts[at] = shift[np.int64((paths[p] >> np.uint64(CELL_BITS * t)) & np.uint64(CELL))]
                at += 1
        begin += count


def level_shifts(board: Geometry, bare: int) -> NDArray[np.int64]:
    """Return the shift of each cell's level in a key (5 bits a level, first in cell order highest), 0 if bare."""
    free = [c for c in board.cell_order if not bare >> c & 1]
    shift = np.zeros(board.n, np.int64)
    for level, c in enumerate(free):
        shift[c] = LITERAL_BITS * (len(free) - 1 - level)
    return shift
