"""The orderly tree of a node: sorted keys grouped into terms, then one pass that builds what two terms share.

A *sum node* holds the points of the terms that end there and one *choice* per level that goes on; a choice has a letter
set, and per letter a bound and a reference to the sum node behind it.  Subtrees of a single term are not built: their
reference is the complement of the term's place in the sorted key array; neither are subtrees of two terms (design:
search.md section 4, idea 0b). Longer runs would save memory and time here but cost more than that in OrderlyBound (runs
of up to 4: +60 %, 8: +170 %).

Layout of ``tree`` (int32), a sum node at offset r > 0:

    n_choices | points << 4, then per choice:  letters | level << 26,  then per letter (ascending):  bound, reference

A reference is 0 for a leaf (its points are its bound), r > 0 for a sum node, ``~(i << 4 | k)`` for the terms ``keys[i :
i + k + 1]``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from boardclass.jit import kernel, read_only, writable
from search.bits import leading_zeros

TREE_FULL = -1
BOUND_TOO_LARGE = -2
MAX_BOUND = (1 << 27) - 1  # points share an int32 with the number of choices
LETTER_BITS = 26
LETTERS = (1 << LETTER_BITS) - 1
_MAX_LEVELS = 13
RUN_BITS = 4
LARGEST_NODE = 1 + _MAX_LEVELS * (1 + 2 * LETTER_BITS)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Tree(NamedTuple):
    """An orderly tree and the keys its references point into.

    Attributes
    ----------
    cells : int32[], sum nodes (layout: see the module)
    keys : uint64[], distinct keys, sorted, 5 bits per level, without points code
    points : int32[], summed points of each key
    n_levels : number of levels of a key
    first : levels before this one have no literal anywhere in the tree (their cells are forced)
    """

    cells: NDArray[np.int32]
    keys: NDArray[np.uint64]
    points: NDArray[np.int32]
    n_levels: int
    first: int


TREE_TYPE = types.NamedTuple(
    [read_only(types.int32), read_only(types.uint64), read_only(types.int32), types.int64, types.int64], Tree
)


@kernel(
    types.int64(
        read_only(types.uint64), writable(types.uint64), writable(types.int32), read_only(types.int32), types.int64
    )
)  # fmt: skip
def group(terms, keys, points, points_of_code, code_bits):  # type: ignore[no-untyped-def]
    """Write the distinct ``keys`` of the sorted ``terms`` (code dropped) and their ``points``; return their number.

    ``keys`` may be the same array as ``terms``.
    """
    shift = np.uint64(code_bits)
    mask = (_ONE << shift) - _ONE
    last = _ZERO
    total = 0
    n = 0
    for i in range(terms.size):
        term = terms[i]
        key = term >> shift
        value = points_of_code[np.int64(term & mask)]
        if i and key == last:
            total += value
            points[n - 1] = total
        else:
            keys[n] = key
            total = value
            points[n] = total
            last = key
            n += 1
    return n


@kernel(
    types.int64(
        writable(types.int32), types.int64, types.int64, writable(types.int64), writable(types.int32),
        writable(types.int32), types.int64,
    )
)  # fmt: skip
def _write_node(cells, tip, points, edges, bounds, refs, n):  # type: ignore[no-untyped-def]
    """Write a sum node with ``n`` entries to ``cells`` at ``tip``; return the new tip."""
    head = tip
    tip += 1
    n_choices = 0
    i = 0
    while i < n:
        level = edges[i] >> 5
        letters = np.int64(1) << (edges[i] & 31)
        j = i + 1
        while j < n and edges[j] >> 5 == level:
            letters |= np.int64(1) << (edges[j] & 31)
            j += 1
        k = j - i
        cells[tip] = letters | (level << LETTER_BITS)
        for x in range(k):
            cells[tip + 1 + 2 * x] = bounds[i + x]
            cells[tip + 2 + 2 * x] = refs[i + x]
        tip += 1 + 2 * k
        n_choices += 1
        i = j
    cells[head] = n_choices | (points << 4)
    return tip


@kernel(types.int64(types.uint64, types.uint64, types.int64))
def _first_difference(a, b, n_levels):  # type: ignore[no-untyped-def]
    """Return the highest level at which two different keys differ."""
    return n_levels - 1 - (63 - leading_zeros(np.int64(a ^ b))) // 5


@kernel(
    types.UniTuple(types.int64, 3)(
        read_only(types.uint64), read_only(types.int32), types.int64, types.int64, types.int64, writable(types.int32),
        types.int64,
    )
)  # fmt: skip
def build(keys, points, begin, n, n_levels, cells, tip):  # type: ignore[no-untyped-def]
    """Build the sum nodes over ``keys[begin:n]`` (sorted, distinct) from ``tip`` (> 0) on; return (tip or a status,
    root, root bound).

    The root is written last, and even for a single term.  The new tip is TREE_FULL when ``cells`` ran out and
    BOUND_TOO_LARGE when a bound passes MAX_BOUND: neither says anything about the node. The bound is U of search.md
    section 2.2.

    One pass over the keys: neighbours share the letters above the level at which they first differ, so that level says
    which sum nodes close and which open.  The open ones, one per depth, collect their entries (level, letter, bound,
    reference); entries of one choice arrive one after the other.  One long kernel for the reason given at
    search.bound.orderly_bound.
    """
    depths = _MAX_LEVELS + 1
    edge = np.zeros(depths, np.int64)  # level << 5 | letter of the edge to the open node
    points_of = np.zeros(depths, np.int64)
    total = np.zeros(depths, np.int64)  # bound over the finished choices
    best = np.zeros(depths, np.int64)  # largest bound in the current choice
    current = np.zeros(depths, np.int64)  # level of the current choice
    n_entries = np.zeros(depths, np.int64)
    entry_edge = np.zeros((depths, _MAX_LEVELS * LETTER_BITS), np.int64)
    entry_bound = np.zeros((depths, _MAX_LEVELS * LETTER_BITS), np.int32)
    entry_ref = np.zeros((depths, _MAX_LEVELS * LETTER_BITS), np.int32)
    edge[0] = -1
    current[0] = -1
    depth = 0
    before = 0
    i = begin
    after = _first_difference(keys[i], keys[i + 1], n_levels) if i + 1 < n else 0
    while i < n:
        key = keys[i]
        follow = _first_difference(keys[i + 1], keys[i + 2], n_levels) if i + 2 < n else 0
        alone = max(before, after)  # from this level on the term shares nothing with its neighbours
        pair = _ZERO
        if after > before and follow < after:  # the longest run of shared letters is with the next key alone
            shared = max(before, follow)
            pair = (key & ((_ONE << np.uint64(5 * (n_levels - shared))) - _ONE)) >> np.uint64(5 * (n_levels - after))
            if pair:
                alone = shared
        if alone > before:
            rest = (key & ((_ONE << np.uint64(5 * (n_levels - before))) - _ONE)) >> np.uint64(5 * (n_levels - alone))
            while rest:
                place = (63 - leading_zeros(np.int64(rest))) // 5
                shift = np.uint64(5 * place)
                depth += 1
                edge[depth] = ((alone - 1 - place) << 5) | (np.int64(rest >> shift) - 1)
                points_of[depth] = 0
                total[depth] = 0
                best[depth] = 0
                current[depth] = -1
                n_entries[depth] = 0
                rest &= (_ONE << shift) - _ONE
        new = True
        if pair:
            place = (63 - leading_zeros(np.int64(pair))) // 5
            new_edge = ((after - 1 - place) << 5) | (np.int64(pair >> np.uint64(5 * place)) - 1)
            apart = (key >> np.uint64(5 * (n_levels - 1 - after))) & np.uint64(
                31
            )  # both go on at one level: one of them holds
            a = np.int64(points[i])
            b = np.int64(points[i + 1])
            new_bound = max(a, b) if apart else a + b
            new_ref = ~((i << RUN_BITS) | 1)
            i += 1
            after = follow
            follow = _first_difference(keys[i + 1], keys[i + 2], n_levels) if i + 2 < n else 0
        else:
            rest = key & ((_ONE << np.uint64(5 * (n_levels - alone))) - _ONE)
            new_bound = np.int64(points[i])
            if rest:
                place = (63 - leading_zeros(np.int64(rest))) // 5
                code = rest >> np.uint64(5 * place)
                new_edge = ((n_levels - 1 - place) << 5) | (np.int64(code) - 1)
                new_ref = 0 if rest == code << np.uint64(5 * place) else ~(i << RUN_BITS)
            else:
                points_of[depth] += new_bound
                new_edge = 0
                new_ref = 0
                new = False
        while True:
            if new:
                at = n_entries[depth]
                if current[depth] == new_edge >> 5:
                    best[depth] = max(best[depth], new_bound)
                else:
                    total[depth] += best[depth]
                    best[depth] = new_bound
                    current[depth] = new_edge >> 5
                entry_edge[depth, at] = new_edge
                entry_bound[depth, at] = new_bound
                entry_ref[depth, at] = new_ref
                n_entries[depth] = at + 1
            if depth == 0 or edge[depth] >> 5 < after:
                break
            new = True
            new_bound = points_of[depth] + total[depth] + best[depth]
            if tip + LARGEST_NODE > cells.size:
                return TREE_FULL, 0, 0
            if new_bound > MAX_BOUND:
                return BOUND_TOO_LARGE, 0, 0
            new_ref = tip
            tip = _write_node(
                cells, tip, points_of[depth], entry_edge[depth], entry_bound[depth], entry_ref[depth], n_entries[depth]
            )
            new_edge = edge[depth]
            depth -= 1
        before = after
        after = follow
        i += 1
    if tip + LARGEST_NODE > cells.size:
        return TREE_FULL, 0, 0
    root_bound = points_of[0] + total[0] + best[0]
    if root_bound > MAX_BOUND:
        return BOUND_TOO_LARGE, 0, 0
    root = tip
    tip = _write_node(cells, tip, points_of[0], entry_edge[0], entry_bound[0], entry_ref[0], n_entries[0])
    return tip, root, root_bound
