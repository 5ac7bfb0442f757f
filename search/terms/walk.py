"""Term generation by a walk over the word trie: the general generator, for any letters on any cell.

A term is one way a word can lie on the board, reduced to its literals on the free cells: a key
(search.keys), then the points code of the word in the low bits.  Bare cells (forced, or fused)
carry no literal.  The walk keeps, for every prefix on the current trie path, all its partial paths
side by side (cell, used cells, key).  So a trie edge is looked at once and not once per path.

Per word equal terms are dropped (deduplication), then those that contain another term of the word
(absorption).

>>> new_frontier(capacity=8).key.size
8
"""

from typing import NamedTuple

import numpy as np
from numba import int8, int32, int64, types, uint64

from orderly_boggle.boardclass.arrays import Int8s, Int32s, Int64s, UInt64s
from orderly_boggle.boardclass.jit import kernel, read_only, writable
from orderly_boggle.search.bits import lowest_bit, popcount
from orderly_boggle.search.keys import LITERAL, used_levels
from orderly_boggle.search.scoring.trie import CHILD_SHIFT, CODE_SHIFT, LETTER_MASK

MAX_LEN = 26  # deepest word, in cells
FRONTIER_FULL = -1
TERMS_FULL = -2
_CODE_MASK = 63
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Frontier(NamedTuple):
    """Partial paths of the prefixes on the current trie path, prefix after prefix: last cell, used
    cells, key.
    """

    cell: Int8s
    used: Int32s
    key: UInt64s
    scratch: UInt64s


class Cells(NamedTuple):
    """What generation must know of a node."""

    neighbours: Int64s  # [n], neighbour masks
    holds: Int64s  # [26], cells per letter
    # [n], 1 shifted to the level of a free cell: a literal is (letter + 1) * unit; 0: bare
    unit: UInt64s
    bare: int  # mask of bare cells
    low: int  # the lowest bit of each level


FRONTIER_TYPE = types.NamedTuple(
    [writable(int8), writable(int32), writable(uint64), writable(uint64)], Frontier
)
CELLS_TYPE = types.NamedTuple(
    [read_only(int64), read_only(int64), read_only(uint64), int64, int64], Cells
)


def new_frontier(capacity: int) -> Frontier:
    """Return working space for ``capacity`` partial paths; untouched pages cost no memory."""
    cell = np.empty(capacity, np.int8)
    used = np.empty(capacity, np.int32)
    return Frontier(cell, used, np.empty(capacity, np.uint64), np.empty(capacity, np.uint64))


@kernel(int64(FRONTIER_TYPE, int64, int64, int64, CELLS_TYPE, int64, int64))
def _extend(front, begin, end, tip, cells, letter, first):  # type: ignore[no-untyped-def]
    """Append the partial paths of begin..end carried on by ``letter``; return the new tip, or
    FRONTIER_FULL.
    """
    capacity = front.cell.size
    holds = cells.holds[letter]
    literal = uint64(letter + 1)
    if first:
        if tip + 64 > capacity:
            return FRONTIER_FULL
        todo = holds
        while todo:
            c = lowest_bit(todo)
            todo &= todo - 1
            front.cell[tip] = c
            front.used[tip] = 1 << c
            front.key[tip] = literal * cells.unit[c]
            tip += 1
        return tip
    for i in range(begin, end):
        used = front.used[i]
        todo = cells.neighbours[front.cell[i]] & holds & ~used
        if tip + 8 > capacity:
            return FRONTIER_FULL
        key = front.key[i]
        while todo:
            c = lowest_bit(todo)
            todo &= todo - 1
            front.cell[tip] = c
            front.used[tip] = used | (1 << c)
            front.key[tip] = key | literal * cells.unit[c]
            tip += 1
    return tip


@kernel(int64(writable(uint64), int64))
def _sorted_unique(keys, n):  # type: ignore[no-untyped-def]
    """Sort ``keys[:n]`` in place, drop repetitions, return how many are left."""
    if n <= 32:
        for i in range(1, n):
            key = keys[i]
            j = i - 1
            while j >= 0 and keys[j] > key:
                keys[j + 1] = keys[j]
                j -= 1
            keys[j + 1] = key
    else:
        keys[:n].sort()
    kept = 0
    for i in range(n):
        if i == 0 or keys[i] != keys[kept - 1]:
            keys[kept] = keys[i]
            kept += 1
    return kept


@kernel(int64(writable(uint64), int64, uint64, int64))
def _absorb(keys, n, low, limit):  # type: ignore[no-untyped-def]
    """Drop from the distinct ``keys[:n]`` of one word those that contain another; return how many
    are left.

    Sound: where the longer term holds the shorter one holds too, so the word is still counted.  At
    most ``limit`` comparisons are made; a term that stays for that reason loosens the bound and
    breaks nothing.
    """
    fewest = 64
    for i in range(n):
        fewest = min(fewest, popcount(int64(used_levels(keys[i], low))))
    kept = 0
    budget = limit
    for i in range(n):
        key = keys[i]
        size = popcount(int64(used_levels(key, low)))
        absorbed = False
        if size > fewest and budget > 0:
            for j in range(n):
                other = keys[j]
                if (other & ~key) == _ZERO and other != key:
                    mask = used_levels(other, low) * uint64(LITERAL)
                    if (key & mask) == other:
                        absorbed = True
                        break
            budget -= n
        if not absorbed:
            keys[n + kept] = key
            kept += 1
    for i in range(kept):
        keys[i] = keys[n + i]
    return kept


@kernel(int64(FRONTIER_TYPE, int64, int64, CELLS_TYPE, int64, int64))
def _finish_word(front, begin, end, cells, repeats, limit):  # type: ignore[no-untyped-def]
    """Copy the keys of a word to ``front.scratch``, deduplicated and absorbed; return their number
    or FRONTIER_FULL.
    """
    n = end - begin
    if 2 * n > front.scratch.size:
        return FRONTIER_FULL
    for i in range(n):
        front.scratch[i] = front.key[begin + i]
    if repeats & 1:
        n = _sorted_unique(front.scratch, n)
    if repeats & 2 and limit:
        n = _absorb(front.scratch, n, uint64(cells.low), limit)
    return n


@kernel(
    types.UniTuple(int64, 2)(
        read_only(int64), CELLS_TYPE, FRONTIER_TYPE, writable(uint64), int64, int64
    )
)
def walk(nodes, cells, front, terms, code_bits, limit):  # type: ignore[no-untyped-def]
    """Write the terms of a node to ``terms``; return (their number or FRONTIER_FULL or TERMS_FULL,
    paths walked).

    nodes : int64[], trie records (search.scoring.trie)
    terms : uint64[], filled in place from 0
    code_bits : low bits of a term that hold the points code
    limit : comparisons of absorption per word, 0 = no absorption
    """
    node = np.zeros(MAX_LEN + 2, np.int64)
    todo = np.zeros(MAX_LEN + 2, np.int64)
    base = np.zeros(MAX_LEN + 3, np.int64)  # frontier of depth d: base[d]..base[d + 1]
    seen = np.zeros(MAX_LEN + 2, np.int64)  # letters so far
    repeats = np.zeros(MAX_LEN + 2, np.int64)  # 1: equal terms possible, 2: absorption possible
    todo[0] = nodes[0] & LETTER_MASK
    shift = uint64(code_bits)
    n_terms = 0
    n_paths = 0
    d = 0
    while d >= 0:
        if todo[d] == 0:
            d -= 1
            continue
        letter = lowest_bit(todo[d])
        todo[d] &= todo[d] - 1
        record = nodes[node[d]]
        child = (record >> CHILD_SHIFT) + popcount(record & LETTER_MASK & ((1 << letter) - 1))
        begin = base[d + 1]
        end = _extend(front, base[d], begin, begin, cells, letter, d == 0)
        if end < 0:
            return FRONTIER_FULL, n_paths
        if end == begin:
            continue
        flags = repeats[d]
        here = cells.holds[letter] & cells.bare
        if (seen[d] >> letter) & 1 or popcount(here) > 1:
            flags |= 1
        if here:
            flags |= 2
        record = nodes[child]
        code = (record >> CODE_SHIFT) & _CODE_MASK
        if code:
            n_paths += end - begin
            n = _finish_word(front, begin, end, cells, flags, limit)
            if n < 0:
                return FRONTIER_FULL, n_paths
            if n_terms + n > terms.size:
                return TERMS_FULL, n_paths
            for i in range(n):
                terms[n_terms + i] = (front.scratch[i] << shift) | uint64(code)
            n_terms += n
        if record & LETTER_MASK:
            d += 1
            node[d] = child
            todo[d] = record & LETTER_MASK
            seen[d] = seen[d - 1] | (1 << letter)
            repeats[d] = flags
            base[d + 1] = end
    return n_terms, n_paths
