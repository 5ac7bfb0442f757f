"""Kernels of the basic method: every way to realise a word of a class, as terms.

Speed is secondary here: these kernels are the readable baseline that the fast search is tested against.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import boolean, int64, types
from numpy.typing import NDArray

from boardclass.jit import kernel, read_only, writable
from search.bits import popcount
from search.scoring.trie import CHILD_SHIFT, CODE_SHIFT, LETTER_MASK

MAX_CELLS = 25
CELL_SHIFT = 32
CELLS_MASK = (1 << MAX_CELLS) - 1
CODE_MASK = 63  # of a trie record, for the points code
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


_IN = read_only(int64)
_POINTS = read_only(types.int32)
_TERM_SPACE = types.NamedUniTuple(writable(int64), 10, TermSpace)
_KEY_CODE = types.NamedUniTuple(writable(int64, 2), 2, KeyCode)
N_TERMS, N_PATHS, PATH_POINTS, STAMP = range(4)  # what is where in ``totals``


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
    if space.totals[N_TERMS] + stop - start > len(space.high):
        return False
    mask = len(space.table_stamp) - 1
    space.totals[STAMP] += 1
    stamp = space.totals[STAMP]
    n_terms = space.totals[N_TERMS]
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
    space.totals[N_TERMS] = n_terms
    space.totals[N_PATHS] += stop - start
    space.totals[PATH_POINTS] += (stop - start) * points
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
        worth = np.int64(points[(nodes[child] >> CODE_SHIFT) & CODE_MASK])
        if worth and not _emit_terms(stop, end, worth, space):
            return FULL
        depth += 1
        node[depth] = child
        rest[depth] = nodes[child] & LETTER_MASK
        begin[depth] = stop
        begin[depth + 1] = end
    return DONE
