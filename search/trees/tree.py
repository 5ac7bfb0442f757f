"""The orderly tree of a node: sorted keys grouped into terms, then one pass that builds what two terms share.

A *sum node* holds the points of the terms that end there and one *choice* per level that goes on; a choice has a letter
set, and per letter an *entry*: a bound and a reference to the sum node behind it.  Subtrees of a single term are not
built: their reference is the complement of the term's place in the sorted key array.  Neither are subtrees of two
terms.  Longer runs would save memory and time here, but OrderlyBound would lose more than that on them.

This module owns the layout.  A sum node at place r > 0 of ``cells`` (int32), with ``n`` choices:

    r - 1 - x      reference of entry x; entries go choice by choice, letters ascending
    r              n | points << 4
    r + 1          its bound
    r + 2 ...      per choice, later levels first:  letters | level << 26
    r + 2 + n ...  bound of entry x, as the x-th element of ``bounds`` from there

``bounds`` is the same memory as ``cells``, in elements of 2 bytes, or of 4 for score tables whose bounds need it: what
OrderlyBound reads of a node when it is pushed lies together, and a reference is read only for a letter that is taken.

A reference is 0 for a leaf (its points are its bound), r > 0 for a sum node, ``~(i << 4 | k)`` for the terms ``keys[i :
i + k + 1]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from boardclass.jit import kernel, read_only, writable
from search.bits import leading_zeros

TREE_FULL = -1
BOUND_TOO_LARGE = -2
MAX_BOUND = (1 << 27) - 1  # points share an int32 with the number of choices
NARROW, WIDE = np.dtype(np.int16), np.dtype(np.int32)  # of the bounds of entries
MAX_NARROW = (1 << 15) - 1
LETTER_BITS = 26
LETTERS = (1 << LETTER_BITS) - 1
_MAX_LEVELS = 13
RUN_BITS = 4
LINE = 16  # cells in a cache line
LARGEST_NODE = 2 + _MAX_LEVELS * (1 + 2 * LETTER_BITS)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Tree(NamedTuple):
    """An orderly tree and the keys its references point into.

    Attributes
    ----------
    cells : int32[], sum nodes (layout: see the module)
    bounds : int16[] or int32[], the same memory
    keys : uint64[], distinct keys, sorted, 5 bits per level, without points code
    points : int32[], summed points of each key
    n_levels : number of levels of a key
    first : levels before this one have no literal anywhere in the tree (their cells are forced)
    """

    cells: NDArray[np.int32]
    bounds: NDArray[np.int16] | NDArray[np.int32]
    keys: NDArray[np.uint64]
    points: NDArray[np.int32]
    n_levels: int
    first: int


BOUND_TYPES = (types.int16, types.int32)
TREE_TYPES = tuple(
    types.NamedTuple(
        [
            read_only(types.int32),
            read_only(bound),
            read_only(types.uint64),
            read_only(types.int32),
            types.int64,
            types.int64,
        ],
        Tree,
    )
    for bound in BOUND_TYPES
)


class Choice(NamedTuple):
    """A choice of a sum node: its level, its letters as a mask, and bound and reference of each, letters ascending."""

    level: int
    letters: int
    bounds: NDArray[np.int32]
    refs: NDArray[np.int32]


def read_node(cells: NDArray[np.int32], bounds: NDArray[Any], node: int) -> tuple[int, list[Choice]]:
    """Return the points of a sum node and its choices, later levels first."""
    n = int(cells[node]) & 15
    begin, last = (node + 2 + n) * (bounds.size // cells.size), node
    choices = []
    for word in cells[node + 2 : node + 2 + n].tolist():
        letters = word & LETTERS
        k = letters.bit_count()
        refs = cells[last - k : last][::-1]
        choices.append(Choice(word >> LETTER_BITS, letters, bounds[begin : begin + k].astype(np.int32), refs.copy()))
        begin, last = begin + k, last - k
    return int(cells[node]) >> 4, choices


def write_node(
    cells: NDArray[np.int32], bounds: NDArray[Any], tip: int, points: int, choices: Sequence[Choice]
) -> tuple[int, int]:
    """Write a sum node to ``cells`` at ``tip``, in place; return (the new tip or TREE_FULL, the node)."""
    if tip + LARGEST_NODE > cells.size:
        return TREE_FULL, 0
    per, n = bounds.size // cells.size, len(choices)
    k = sum(len(choice.refs) for choice in choices)
    node = tip + k
    cells[node] = n | points << 4
    cells[node + 1] = points + sum(int(choice.bounds.max()) for choice in choices)
    cells[node + 2 : node + 2 + n] = [choice.letters | choice.level << LETTER_BITS for choice in choices]
    begin = (node + 2 + n) * per
    if k:
        cells[tip:node] = np.concatenate([choice.refs for choice in choices])[::-1]
        bounds[begin : begin + k] = np.concatenate([choice.bounds for choice in choices])
    return node + 2 + n + -(-k // per), node


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


@kernel([
    types.UniTuple(types.int64, 2)(
        writable(types.int32), writable(bound), types.int64, types.int64, types.int64, writable(types.int64),
        writable(types.int32), writable(types.int32), types.int64,
    )
    for bound in BOUND_TYPES
])  # fmt: skip
def _write_node(cells, bounds, tip, points, bound, edges, entry_bounds, refs, n):  # type: ignore[no-untyped-def]
    """Write a sum node with ``n`` entries to ``cells`` at ``tip``; return the new tip and the node."""
    node = tip + n
    at = node + 2
    n_choices = 0
    i = 0
    while i < n:
        level = edges[i] >> 5
        letters = np.int64(0)
        while i < n and edges[i] >> 5 == level:
            letters |= np.int64(1) << (edges[i] & 31)
            cells[node - 1 - i] = refs[i]
            i += 1
        cells[at] = letters | (level << LETTER_BITS)
        at += 1
        n_choices += 1
    cells[node] = n_choices | (points << 4)
    cells[node + 1] = bound
    per = bounds.size // cells.size
    begin = at * per
    for i in range(n):
        bounds[begin + i] = entry_bounds[i]
    return at + (n + per - 1) // per, node


@kernel(types.int64(types.uint64, types.uint64, types.int64))
def _first_difference(a, b, n_levels):  # type: ignore[no-untyped-def]
    """Return the highest level at which two different keys differ."""
    return n_levels - 1 - (63 - leading_zeros(np.int64(a ^ b))) // 5


@kernel([
    types.UniTuple(types.int64, 3)(
        read_only(types.uint64), read_only(types.int32), types.int64, types.int64, types.int64, writable(types.int32),
        writable(bound), types.int64,
    )
    for bound in BOUND_TYPES
])  # fmt: skip
def build(keys, points, begin, n, n_levels, cells, bounds, tip):  # type: ignore[no-untyped-def]
    """Build the sum nodes over ``keys[begin:n]`` (sorted, distinct) from ``tip`` (> 0) on; return (tip or a status,
    root, root bound).

    The root is written last, and even for a single term.  The new tip is TREE_FULL when ``cells`` ran out and
    BOUND_TOO_LARGE when a bound passes MAX_BOUND, or one of an entry what ``bounds`` can hold: neither says anything
    about the node. The bound is U (docs/algorithm.md).

    One pass over the keys: neighbours share the letters above the level at which they first differ, so that level says
    which sum nodes close and which open.  The open ones, one per depth, collect their entries (level, letter, bound,
    reference); entries of one choice arrive one after the other.  One long kernel for the reason given at
    search.trees.bound.orderly_bound.
    """
    depths = _MAX_LEVELS + 1
    largest = MAX_BOUND if bounds.size == cells.size else MAX_NARROW
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
                if new_bound > largest:
                    return BOUND_TOO_LARGE, 0, 0
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
            tip, new_ref = _write_node(
                cells, bounds, tip, points_of[depth], new_bound, entry_edge[depth], entry_bound[depth],
                entry_ref[depth], n_entries[depth],
            )  # fmt: skip
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
    tip, root = _write_node(
        cells, bounds, tip, points_of[0], root_bound, entry_edge[0], entry_bound[0], entry_ref[0], n_entries[0]
    )
    return tip, root, root_bound
