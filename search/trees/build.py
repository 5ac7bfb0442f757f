"""The one-pass builder: sorted keys in, an orderly tree over them out."""

from __future__ import annotations

import numpy as np
from numba import int32, int64, types, uint64

from boardclass.jit import kernel, read_only, writable
from search.keys import LITERAL, LITERAL_BITS, MAX_LEVELS, first_place, last_levels
from search.trees.tree import (
    BOUND_TOO_LARGE,
    BOUND_TYPES,
    LARGEST_NODE,
    LETTER_BITS,
    MAX_BOUND,
    MAX_LAZY_TERMS,
    MAX_NARROW,
    PUT_TYPES,
    RUN_BITS,
    TREE_FULL,
    put_node,
)

_ZERO = np.uint64(0)
_MAX_ENTRIES = MAX_LEVELS * LETTER_BITS  # of one node
_MAX_WORDS = MAX_LEVELS + 1  # of its choices, and one for the choice before the first


# Not inlined: with two copies of it the loop over keys has too few registers.
_put_node = kernel(PUT_TYPES)(getattr(put_node, "py_func", put_node))


@kernel(int64(uint64, uint64, int64))
def _first_difference(a, b, n_levels):  # type: ignore[no-untyped-def]
    """Return the highest level at which two different keys differ."""
    return n_levels - 1 - first_place(a ^ b)


@kernel(uint64(uint64, int64, int64, int64))
def _between(key, n_levels, begin, end):  # type: ignore[no-untyped-def]
    """Return what a key of ``n_levels`` has on the levels from ``begin`` up to ``end``, without
    ``end``.
    """
    return (key & last_levels(n_levels - begin)) >> np.uint64(LITERAL_BITS * (n_levels - end))


@kernel(int64(uint64, int64, int64))
def _edge(key, level, place):  # type: ignore[no-untyped-def]
    """Return the edge at the first literal of a key, which is at ``place`` and on ``level``."""
    return (level << LITERAL_BITS) | np.int64(key >> np.uint64(LITERAL_BITS * place))


@kernel(
    [
        types.UniTuple(int64, 3)(
            read_only(uint64),
            read_only(int32),
            int64,
            int64,
            int64,
            writable(int32),
            writable(bound),
            int64,
        )
        for bound in BOUND_TYPES
    ]
)
def build(keys, points, begin, n, n_levels, cells, bounds, tip):  # type: ignore[no-untyped-def]
    """Build the sum nodes over ``keys[begin:n]`` (sorted, distinct) from ``tip`` (> 0) on; return
    (tip or a status, root, root bound).

    The root is written last, and even for a single term.  The new tip is TREE_FULL when ``cells``
    ran out and BOUND_TOO_LARGE when a bound passes MAX_BOUND, or one of an entry what ``bounds``
    can hold: neither says anything about the node. The bound is U (docs/algorithm.md).

    Neighbouring keys share the letters above the level at which they first differ, so that level
    says which sum nodes close and which open.  The open ones, one per depth, collect their choices
    and entries; the entries of one choice arrive one after the other.
    """
    depths = MAX_LEVELS + 1
    largest = MAX_BOUND if bounds.size == cells.size else MAX_NARROW
    begins = np.zeros(depths, np.int64)  # its first key
    edge = np.zeros(depths, np.int64)  # to the open node: level << LITERAL_BITS | literal
    points_of = np.zeros(depths, np.int64)
    total = np.zeros(depths, np.int64)  # bound over the finished choices
    best = np.zeros(depths, np.int64)  # largest bound in the current choice
    current = np.zeros(depths, np.int64)  # its word: letters and level, as cells have them
    # the words of the open node of depth d begin behind place d * _MAX_WORDS, its entries at
    # d * _MAX_ENTRIES
    last_word = np.arange(depths) * _MAX_WORDS
    last_entry = np.arange(depths) * _MAX_ENTRIES
    words = np.zeros(depths * _MAX_WORDS, np.int32)
    entries = np.zeros(depths * _MAX_ENTRIES, np.int32)
    refs = np.zeros(depths * _MAX_ENTRIES, np.int32)
    edge[0] = -1
    current[0] = -1
    depth = 0
    before = 0
    i = begin
    after = _first_difference(keys[i], keys[i + 1], n_levels) if i + 1 < n else 0
    while i < n:
        key = keys[i]
        alone = max(before, after)  # from this level on the term shares nothing with its neighbours
        if alone > before:
            rest = _between(key, n_levels, before, alone)
            while rest:
                place = first_place(rest)
                depth += 1
                begins[depth] = i
                edge[depth] = _edge(rest, alone - 1 - place, place)
                points_of[depth] = 0
                total[depth] = 0
                best[depth] = 0
                current[depth] = -1
                last_word[depth] = depth * _MAX_WORDS
                last_entry[depth] = depth * _MAX_ENTRIES
                rest &= last_levels(place)
        new = True
        rest = key & last_levels(n_levels - alone)
        new_bound = np.int64(points[i])
        if rest:
            place = first_place(rest)
            new_edge = _edge(rest, n_levels - 1 - place, place)
            new_ref = 0 if rest & last_levels(place) == _ZERO else ~(i << RUN_BITS)
        else:
            points_of[depth] += new_bound
            new_edge = 0
            new_ref = 0
            new = False
        while True:
            if new:
                if new_bound > largest:
                    return BOUND_TOO_LARGE, 0, 0
                level = new_edge >> LITERAL_BITS
                bit = np.int64(1) << ((new_edge & LITERAL) - 1)
                if current[depth] >> LETTER_BITS == level:
                    best[depth] = max(best[depth], new_bound)
                    current[depth] |= bit
                else:
                    total[depth] += best[depth]
                    best[depth] = new_bound
                    words[last_word[depth]] = current[depth]
                    last_word[depth] += 1
                    current[depth] = (level << LETTER_BITS) | bit
                at = last_entry[depth]
                entries[at] = new_bound
                refs[at] = new_ref
                last_entry[depth] = at + 1
            if depth == 0 or edge[depth] >> LITERAL_BITS < after:
                break
            new = True
            new_bound = points_of[depth] + total[depth] + best[depth]
            n_below = i + 1 - begins[depth]
            if n_below <= MAX_LAZY_TERMS:
                new_ref = ~((begins[depth] << RUN_BITS) | (n_below - 1))
            else:
                if tip + LARGEST_NODE > cells.size:
                    return TREE_FULL, 0, 0
                words[last_word[depth]] = current[depth]
                entry = depth * _MAX_ENTRIES
                tip, new_ref = _put_node(
                    cells,
                    bounds,
                    tip,
                    points_of[depth],
                    new_bound,
                    words,
                    depth * _MAX_WORDS + 1,
                    last_word[depth] + 1,
                    entries,
                    entry,
                    last_entry[depth],
                    refs,
                    entry,
                )
            new_edge = edge[depth]
            depth -= 1
        before = after
        i += 1
        after = _first_difference(keys[i], keys[i + 1], n_levels) if i + 1 < n else 0
    if tip + LARGEST_NODE > cells.size:
        return TREE_FULL, 0, 0
    root_bound = points_of[0] + total[0] + best[0]
    if root_bound > MAX_BOUND:
        return BOUND_TOO_LARGE, 0, 0
    words[last_word[0]] = current[0]
    tip, root = _put_node(
        cells,
        bounds,
        tip,
        points_of[0],
        root_bound,
        words,
        1,
        last_word[0] + 1,
        entries,
        0,
        last_entry[0],
        refs,
        0,
    )
    return tip, root, root_bound
