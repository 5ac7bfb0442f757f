"""The orderly tree of a node: sorted keys grouped into terms, then one pass that builds what two terms share.

A *sum node* holds the points of the terms that end there and one *choice* per level that goes on; a choice has a letter set, and
per letter a bound and a reference to the sum node behind it.  Subtrees of a single term are not built: their reference is the
complement of the term's index in the sorted key array (design: search.md section 4, idea 0b).

Layout of ``tree`` (int32), a sum node at offset r > 0:

    n_choices | points << 4, then per choice:  letters | level << 26,  bound per letter (ascending),  reference per letter

A reference is 0 for a leaf (its points are its bound), r > 0 for a sum node, ``~i`` for the single term ``keys[i]``.
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
RUN = 4  # subtrees of up to this many terms are not built
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
    """

    cells: NDArray[np.int32]
    keys: NDArray[np.uint64]
    points: NDArray[np.int32]
    n_levels: int


TREE_TYPE = types.NamedTuple([read_only(types.int32), read_only(types.uint64), read_only(types.int32), types.int64], Tree)


@kernel(types.int64(writable(types.uint64), writable(types.int32), read_only(types.int32), types.int64))
def group(terms, points, points_of_code, code_bits):  # type: ignore[no-untyped-def]
    """Merge the sorted ``terms`` with equal keys in place (keys without code, ``points`` filled); return how many keys are left."""
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
            terms[n] = key
            total = value
            points[n] = total
            last = key
            n += 1
    return n


class _Open(NamedTuple):
    """The sum nodes on the path to the current key, by depth: int64[depths], their entries so far [depths, entries]."""

    level: NDArray[np.int64]  # level and letter of the edge that leads to the node
    letter: NDArray[np.int64]
    first: NDArray[np.int64]  # its first key
    points: NDArray[np.int64]
    total: NDArray[np.int64]  # bound over the finished choices
    best: NDArray[np.int64]  # largest bound in the current choice
    current: NDArray[np.int64]  # level of the current choice
    n_entries: NDArray[np.int64]
    entry: NDArray[np.int64]  # (level << 5 | letter) << 32 | bound
    ref: NDArray[np.int32]


_OPEN_TYPE = types.NamedTuple([writable(types.int64)] * 8 + [writable(types.int64, 2), writable(types.int32, 2)], _Open)


@kernel(types.void(_OPEN_TYPE, types.int64, types.int64, types.int64, types.int64, types.int64))
def _add_entry(opened, depth, level, letter, bound, ref):  # type: ignore[no-untyped-def]
    """Append an entry to the open sum node at ``depth``; the entries of one choice arrive one after the other."""
    n = opened.n_entries[depth]
    same = opened.current[depth] == level
    best = opened.best[depth]
    opened.total[depth] += 0 if same else best
    opened.best[depth] = max(best if same else 0, bound)
    opened.current[depth] = level
    opened.entry[depth, n] = ((level << 5 | letter) << 32) | bound
    opened.ref[depth, n] = ref
    opened.n_entries[depth] = n + 1


@kernel(types.int64(_OPEN_TYPE, types.int64, writable(types.int32), types.int64))
def _write_node(opened, depth, cells, tip):  # type: ignore[no-untyped-def]
    """Write the open sum node at ``depth`` to ``cells`` at ``tip``; return the new tip."""
    entry = opened.entry[depth]
    n = opened.n_entries[depth]
    head = tip
    tip += 1
    n_choices = 0
    i = 0
    while i < n:
        level = entry[i] >> 37
        letters = 0
        j = i
        while j < n and (entry[j] >> 37) == level:
            letters |= 1 << ((entry[j] >> 32) & 31)
            j += 1
        k = j - i
        cells[tip] = letters | (level << LETTER_BITS)
        for x in range(k):
            cells[tip + 1 + x] = entry[i + x] & 0x7FFFFFFF
            cells[tip + 1 + k + x] = opened.ref[depth, i + x]
        tip += 1 + 2 * k
        n_choices += 1
        i = j
    cells[head] = n_choices | (opened.points[depth] << 4)
    return tip


@kernel(types.int64(types.uint64, types.uint64, types.int64))
def _first_difference(a, b, n_levels):  # type: ignore[no-untyped-def]
    """Return the highest level at which two different keys differ."""
    return n_levels - 1 - (63 - leading_zeros(np.int64(a ^ b))) // 5


@kernel(types.int64(_OPEN_TYPE, types.int64, types.uint64, types.int64, types.int64, types.int64))
def _open_edges(opened, depth, key, begin, end, word):  # type: ignore[no-untyped-def]
    """Open a sum node for each level of ``key`` in begin..end that is used; ``word`` packs n_levels | key index << 8; return the depth."""
    n_levels = word & 255
    rest = key & ((_ONE << np.uint64(5 * (n_levels - begin))) - _ONE)
    rest >>= np.uint64(5 * (n_levels - end))
    while rest:
        place = (63 - leading_zeros(np.int64(rest))) // 5
        shift = np.uint64(5 * place)
        depth += 1
        opened.level[depth] = end - 1 - place
        opened.letter[depth] = np.int64(rest >> shift) - 1
        opened.first[depth] = word >> 8
        opened.points[depth] = 0
        opened.total[depth] = 0
        opened.best[depth] = 0
        opened.current[depth] = -1
        opened.n_entries[depth] = 0
        rest &= (_ONE << shift) - _ONE
    return depth


@kernel(
    types.UniTuple(types.int64, 2)(
        read_only(types.uint64), read_only(types.int32), types.int64, types.int64, writable(types.int32)
    )
)
def build(keys, points, n, n_levels, cells):  # type: ignore[no-untyped-def]
    """Build the sum nodes over ``keys[:n]`` (sorted, distinct); return (tip or a status, root bound).

    The root is the node written last, at the offset stored in ``cells[0]``; it is written even for a single term.  ``tip`` is
    TREE_FULL when ``cells`` ran out and BOUND_TOO_LARGE when a bound passes MAX_BOUND: neither says anything about the node.
    The bound is U of search.md section 2.2.
    """
    depths = _MAX_LEVELS + 1
    opened = _Open(
        np.zeros(depths, np.int64), np.zeros(depths, np.int64), np.zeros(depths, np.int64), np.zeros(depths, np.int64),
        np.zeros(depths, np.int64), np.zeros(depths, np.int64), np.zeros(depths, np.int64), np.zeros(depths, np.int64),
        np.zeros((depths, _MAX_LEVELS * LETTER_BITS), np.int64), np.zeros((depths, _MAX_LEVELS * LETTER_BITS), np.int32),
    )  # fmt: skip
    largest_node = 1 + _MAX_LEVELS * (1 + 2 * LETTER_BITS)
    opened.level[0] = -1
    opened.current[0] = -1
    depth = 0
    tip = 1
    before = 0
    i = 0
    after = _first_difference(keys[0], keys[1], n_levels) if n > 1 else 0
    while i < n:
        key = keys[i]
        follow = _first_difference(keys[i + 1], keys[i + 2], n_levels) if i + 2 < n else 0
        if after > before and follow < after:  # the longest run of shared letters is with the next key alone
            alone = max(before, follow)
            rest = key & ((_ONE << np.uint64(5 * (n_levels - alone))) - _ONE)
            rest >>= np.uint64(5 * (n_levels - after))
            if rest:
                depth = _open_edges(opened, depth, key, before, alone, (i << 8) | n_levels)
                place = (63 - leading_zeros(np.int64(rest))) // 5
                letter = np.int64(rest >> np.uint64(5 * place)) - 1
                apart = ((key >> np.uint64(5 * (n_levels - 1 - after))) & np.uint64(31)) != _ZERO
                a = np.int64(points[i])
                b = np.int64(points[i + 1])
                _add_entry(opened, depth, after - 1 - place, letter, max(a, b) if apart else a + b, ~((i << RUN_BITS) | 1))
                i += 1
                after = follow
                follow = _first_difference(keys[i + 1], keys[i + 2], n_levels) if i + 2 < n else 0
                rest = _ONE  # the term is taken care of
                done = True
            else:
                done = False
        else:
            done = False
        if not done:
            alone = max(before, after)  # from this level on the term shares nothing with its neighbours
            if alone > before:
                depth = _open_edges(opened, depth, key, before, alone, (i << 8) | n_levels)
            rest = key & ((_ONE << np.uint64(5 * (n_levels - alone))) - _ONE)
            if rest:
                place = (63 - leading_zeros(np.int64(rest))) // 5
                shift = np.uint64(5 * place)
                letter = np.int64(rest >> shift) - 1
                leaf = (rest & ((_ONE << shift) - _ONE)) == _ZERO
                _add_entry(opened, depth, n_levels - 1 - place, letter, points[i], 0 if leaf else ~(i << RUN_BITS))
            else:
                opened.points[depth] += points[i]
        while depth and opened.level[depth] >= after:
            if tip + largest_node > cells.size:
                return TREE_FULL, 0
            bound = opened.points[depth] + opened.total[depth] + opened.best[depth]
            if bound > MAX_BOUND:
                return BOUND_TOO_LARGE, 0
            run = i - opened.first[depth]
            if run < RUN:
                ref = ~((opened.first[depth] << RUN_BITS) | run)
            else:
                ref = tip
                tip = _write_node(opened, depth, cells, tip)
            depth -= 1
            _add_entry(opened, depth, opened.level[depth + 1], opened.letter[depth + 1], bound, ref)
        before = after
        after = follow
        i += 1
    if tip + largest_node > cells.size:
        return TREE_FULL, 0
    bound = opened.points[0] + opened.total[0] + opened.best[0]
    if bound > MAX_BOUND:
        return BOUND_TOO_LARGE, 0
    cells[0] = tip
    return _write_node(opened, 0, cells, tip), bound
