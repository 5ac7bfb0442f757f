"""Merge two orderly trees, and sorted terms, into a new tree that shares what they leave alone.

A node of the search differs from the one above it by few of its terms.  Forcing the first free cell to a letter leaves
the terms that do not use the cell, adds those behind that letter (a subtree of the tree above: the literal is true and
vanishes), and absorption takes some away: terms to lose come as keys with negative points, and each meets its equal in
a tree.  New sum nodes are written only where something meets; everything else is referred to.  The result has the
terms, the bounds and the order of a tree that :func:`search.trees.tree.build` would build from all the terms at once.
"""

from __future__ import annotations

import numpy as np
from numba import types

from boardclass.jit import kernel, writable
from search.bits import leading_zeros, lowest_bit, popcount, prefetch
from search.trees.tree import (
    BOUND_TOO_LARGE,
    BOUND_TYPES,
    LARGEST_NODE,
    LETTER_BITS,
    LETTERS,
    LINE,
    MAX_BOUND,
    MAX_NARROW,
    RUN_BITS,
    TREE_FULL,
)

NO_EQUAL = -3
_MAX_LEVELS = 13
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_NOTHING = 1 << 40  # greater than any edge
_RUN = (1 << RUN_BITS) - 1
_SLOTS = 22  # of the state of a frame


@kernel(
    types.int64(
        writable(types.uint64), writable(types.int32), types.int64, types.int64, types.int64, types.int64,
        types.int64, types.uint64,
    )
)  # fmt: skip
def _join(keys, points, a, a_end, b, b_end, to, within):  # type: ignore[no-untyped-def]
    """Write the keys of two sorted ranges, sorted by their part ``within``, from ``to`` on; return the end.

    Equal keys become one with the sum of the points, those left with none are dropped; points may stay below 0, for
    their equal may be in a sum node.  TREE_FULL when there is no room.
    """
    if to + (a_end - a) + (b_end - b) > keys.size:
        return TREE_FULL
    while a < a_end or b < b_end:
        if b == b_end or (a < a_end and keys[a] & within < keys[b] & within):
            keys[to] = keys[a]
            points[to] = points[a]
            a += 1
        elif a == a_end or keys[b] & within < keys[a] & within:
            keys[to] = keys[b]
            points[to] = points[b]
            b += 1
        else:
            keys[to] = keys[a]
            points[to] = points[a] + points[b]
            a += 1
            b += 1
        to += points[to] != 0
    return to


@kernel([
    types.UniTuple(types.int64, 4)(
        writable(types.uint64), writable(types.int32), types.int64, types.int64, types.int64, types.int64,
        types.int64, writable(types.int32), writable(entry), types.int64, types.int64, types.int64, types.int64,
    )
    for entry in BOUND_TYPES
])  # fmt: skip
def merge(keys, points, begin, end, spill, n_levels, first_level, cells, bounds, tip, base, bound, other):  # type: ignore[no-untyped-def]
    """Merge ``keys[begin:end]`` (sorted, distinct) and the tree behind ``other`` into the tree with root ``base``;
    return (tip or a status, root, root bound, spill).

    points : of each key, negative for points that the trees have to lose
    spill : first unused place of ``keys`` and ``points``: keys of unbuilt subtrees that change are copied there
    first_level : the levels before it have no literal here; what keys say of them does not count
    cells, bounds : the trees (search.trees.tree); what lies below ``tip`` (> 0) is only read
    base : a sum node, or 0 for an empty tree
    bound, other : of the second tree, as an entry has them: a sum node, 0 for a leaf with ``bound`` points (0 and 0 for
        no tree), or the complement of an unbuilt run

    Status TREE_FULL when ``cells`` or ``keys`` ran out, BOUND_TOO_LARGE when a bound passes MAX_BOUND or one of an
    entry what ``bounds`` can hold, NO_EQUAL when points to lose met too few in the trees.  None of them says anything
    about the node.

    A frame per open sum node walks through the choices of its two sum nodes, a and b, and its keys in the one order all
    have: the edge (place << 5 | letter code) that comes first in the key, rising.  (The place of a level is its
    distance from the last one.)  What only one tree has is copied, up to the next edge of anything else; where two meet
    at an edge, a frame opens for what lies behind it.  The node is put together in three buffers, whose last part is
    that of the frame on top, and written to ``cells`` when it is complete, after all below it.  The state of the frame
    on top is in local variables, of the others in ``saved``.  Terms that end nowhere near another stay unbuilt, as in
    search.trees.tree.
    """
    per = bounds.size // cells.size
    largest = MAX_BOUND if per == 1 else MAX_NARROW
    room = (_MAX_LEVELS + 1) * LARGEST_NODE
    words = np.empty(room, np.int32)  # letters and level of each choice
    entries = np.empty(room, np.int32)  # bounds
    refs = np.empty(room, np.int32)
    saved = np.empty((_MAX_LEVELS + 1, _SLOTS), np.int64)
    top = n_levels - 1
    depth = 0
    edge = np.int64(0)
    low = (_ONE << np.uint64(5 * (n_levels - first_level))) - _ONE  # the part of a key below the edge
    a_word = np.int64(0)  # next choice of the first sum node, and how many are left
    a_left = np.int64(0)
    a_letters = np.int64(0)  # its current choice: letters left, place of the level
    a_place = np.int64(0)
    a_bound = np.int64(0)  # next entry: its bound, its reference
    a_ref = np.int64(0)
    b_word = np.int64(0)
    b_left = np.int64(0)
    b_letters = np.int64(0)
    b_place = np.int64(0)
    b_bound = np.int64(0)
    b_ref = np.int64(0)
    total = np.int64(0)  # bound over the finished choices
    best = np.int64(0)  # largest bound in the current one
    current = np.int64(-1)  # its place
    n_words = np.int64(0)  # filled part of the buffers; the node starts at the others
    n_entries = np.int64(0)
    start_word = np.int64(0)
    start_entry = np.int64(0)
    i = np.int64(begin)  # next key of the frame, and the end of its keys
    stop = np.int64(end)
    held = np.int64(0)  # points of the node
    if other < 0:
        run = ~other >> RUN_BITS
        i = np.int64(spill)
        stop = _join(keys, points, begin, end, run, run + (~other & _RUN) + 1, spill, low)
        if stop < 0:
            return stop, 0, 0, 0
        spill = stop
    elif other == 0:
        held = np.int64(bound)
    if base > 0:
        a_left = np.int64(cells[base]) & 15
        held += np.int64(cells[base]) >> 4
        a_word = base + 2
        a_bound = (a_word + a_left) * per
        a_ref = base - 1
    if other > 0:
        b_left = np.int64(cells[other]) & 15
        held += np.int64(cells[other]) >> 4
        b_word = other + 2
        b_bound = (b_word + b_left) * per
        b_ref = other - 1
    if i < stop and keys[i] & low == _ZERO:
        held += points[i]
        i += 1
    while True:
        in_keys = np.int64(_NOTHING)
        if i < stop:
            rest = np.int64(keys[i] & low)
            p = (63 - leading_zeros(rest)) // 5
            in_keys = (p << 5) | (rest >> (5 * p))
        if a_letters == 0 and a_left:
            a_left -= 1
            a_letters = np.int64(cells[a_word]) & LETTERS
            a_place = top - (np.int64(cells[a_word]) >> LETTER_BITS)
            a_word += 1
        if b_letters == 0 and b_left:
            b_left -= 1
            b_letters = np.int64(cells[b_word]) & LETTERS
            b_place = top - (np.int64(cells[b_word]) >> LETTER_BITS)
            b_word += 1
        in_a = (a_place << 5) | (lowest_bit(a_letters) + 1) if a_letters else np.int64(_NOTHING)
        in_b = (b_place << 5) | (lowest_bit(b_letters) + 1) if b_letters else np.int64(_NOTHING)
        here = min(in_a, in_b)
        if here < in_keys and in_a != in_b:  # one tree alone, up to the next edge of anything else
            letters = a_letters if here == in_a else b_letters
            from_bound = a_bound if here == in_a else b_bound
            from_ref = a_ref if here == in_a else b_ref
            place = here >> 5
            limit = min(in_keys, max(in_a, in_b))
            if limit >> 5 == place:
                letters &= (np.int64(1) << ((limit & 31) - 1)) - 1
            if current != place:
                total += best
                best = np.int64(0)
                current = place
                words[n_words] = (top - place) << LETTER_BITS
                n_words += 1
            words[n_words - 1] |= letters
            n = popcount(letters)
            for x in range(n):
                entries[n_entries + x] = bounds[from_bound + x]
                best = max(best, np.int64(bounds[from_bound + x]))
            for x in range(n):
                refs[n_entries + x] = cells[from_ref - x]
            n_entries += n
            if here == in_a:
                a_letters ^= letters
                a_bound += n
                a_ref -= n
            else:
                b_letters ^= letters
                b_bound += n
                b_ref -= n
            continue
        new_edge = min(here, in_keys)
        new_bound = np.int64(0)
        new_ref = np.int64(0)
        if new_edge == _NOTHING:  # the frame is complete
            new_bound = held + total + best
            if held < 0:
                return NO_EQUAL, 0, 0, 0
            if new_bound > MAX_BOUND:
                return BOUND_TOO_LARGE, 0, 0, 0
            if tip + LARGEST_NODE > cells.size:
                return TREE_FULL, 0, 0, 0
            n_choices = n_words - start_word
            if n_choices or depth == 0:
                n = n_entries - start_entry
                for x in range(n):
                    cells[tip + x] = refs[n_entries - 1 - x]
                tip += n
                new_ref = tip
                cells[tip] = n_choices | (held << 4)
                cells[tip + 1] = new_bound
                tip += 2
                for x in range(n_choices):
                    cells[tip + x] = words[start_word + x]
                tip += n_choices
                at = tip * per
                for x in range(n):
                    bounds[at + x] = entries[start_entry + x]
                tip += (n + per - 1) // per
            if depth == 0:
                return tip, new_ref, new_bound, spill
            new_edge = edge
            n_words = start_word
            n_entries = start_entry
            depth -= 1
            s = saved[depth]
            edge, i, stop, low, held = s[0], s[1], s[2], np.uint64(s[3]), s[4]
            a_word, a_left, a_letters, a_place, a_bound, a_ref = s[5], s[6], s[7], s[8], s[9], s[10]
            b_word, b_left, b_letters, b_place, b_bound, b_ref = s[11], s[12], s[13], s[14], s[15], s[16]
            total, best, current, start_word, start_entry = s[17], s[18], s[19], s[20], s[21]
            if new_bound == 0:
                continue
        else:
            shift = np.uint64(5 * (new_edge >> 5))
            within = (_ONE << shift) - _ONE
            first = i
            if in_keys == new_edge:
                group = (keys[i] & low) >> shift
                i += 1
                while i < stop and (keys[i] & low) >> shift == group:
                    i += 1
            last = i
            a_below = np.int64(0)  # sum nodes behind the edge
            b_below = np.int64(0)
            ended = np.int64(0)  # points of leaves behind it
            for side in range(2):
                if side == 0:
                    if in_a != new_edge:
                        continue
                    at = a_bound
                    ref = np.int64(cells[a_ref])
                    a_letters &= a_letters - 1
                    a_bound += 1
                    a_ref -= 1
                else:
                    if in_b != new_edge:
                        continue
                    at = b_bound
                    ref = np.int64(cells[b_ref])
                    b_letters &= b_letters - 1
                    b_bound += 1
                    b_ref -= 1
                if ref == 0:
                    ended += bounds[at]
                elif ref > 0:
                    b_below = a_below
                    a_below = ref
                else:  # unbuilt: its keys and those of the frame become one range
                    run = ~ref >> RUN_BITS
                    run_end = run + (~ref & _RUN) + 1
                    if first == last:
                        first, last = run, run_end
                    else:
                        begins = spill
                        spill = _join(keys, points, first, last, run, run_end, spill, within)
                        if spill < 0:
                            return spill, 0, 0, 0
                        first, last = begins, spill
            n = last - first
            ends = n > 0 and keys[first] & within == _ZERO
            if a_below or n > 2 or (n == 2 and ended) or (n == 1 and ended and not ends):
                if i < stop and a_letters:  # ask for the sum node that the next key will meet
                    rest = np.int64(keys[i] & low)
                    p = (63 - leading_zeros(rest)) // 5
                    letter = (rest >> (5 * p)) - 1
                    if p == a_place and (a_letters >> letter) & 1:
                        ref = np.int64(cells[a_ref - popcount(a_letters & ((np.int64(1) << letter) - 1))])
                        if ref > 0:
                            prefetch(cells, ref)
                            prefetch(cells, ref - LINE)
                            prefetch(cells, ref + LINE)
                s = saved[depth]
                s[0], s[1], s[2], s[3], s[4] = edge, i, stop, np.int64(low), held
                s[5], s[6], s[7], s[8], s[9], s[10] = a_word, a_left, a_letters, a_place, a_bound, a_ref
                s[11], s[12], s[13], s[14], s[15], s[16] = b_word, b_left, b_letters, b_place, b_bound, b_ref
                s[17], s[18], s[19], s[20], s[21] = total, best, current, start_word, start_entry
                depth += 1
                edge = new_edge
                low = within
                held = ended
                a_left = np.int64(0)
                a_letters = np.int64(0)
                b_left = np.int64(0)
                b_letters = np.int64(0)
                if a_below:
                    a_left = np.int64(cells[a_below]) & 15
                    held += np.int64(cells[a_below]) >> 4
                    a_word = a_below + 2
                    a_bound = (a_word + a_left) * per
                    a_ref = a_below - 1
                if b_below:
                    b_left = np.int64(cells[b_below]) & 15
                    held += np.int64(cells[b_below]) >> 4
                    b_word = b_below + 2
                    b_bound = (b_word + b_left) * per
                    b_ref = b_below - 1
                if ends:
                    held += points[first]
                    first += 1
                i = first
                stop = last
                total = np.int64(0)
                best = np.int64(0)
                current = np.int64(-1)
                start_word = n_words
                start_entry = n_entries
                continue
            if n == 2:
                x = np.int64(points[first])
                y = np.int64(points[first + 1])
                if x < 0 or y < 0:
                    return NO_EQUAL, 0, 0, 0
                differ = np.uint64(5 * ((63 - leading_zeros(np.int64((keys[first] ^ keys[first + 1]) & within))) // 5))
                apart = (keys[first] >> differ) & np.uint64(31)  # both go on at one level: one of them holds
                new_bound = max(x, y) if apart else x + y
                new_ref = ~((first << RUN_BITS) | 1)
            else:
                new_bound = ended
                if n == 1:
                    new_bound += points[first]
                    if not ends:
                        new_ref = ~(first << RUN_BITS)
                if new_bound < 0:
                    return NO_EQUAL, 0, 0, 0
                if new_bound == 0:
                    continue
        if new_bound > largest:
            return BOUND_TOO_LARGE, 0, 0, 0
        if current != new_edge >> 5:
            total += best
            best = np.int64(0)
            current = new_edge >> 5
            words[n_words] = (top - current) << LETTER_BITS
            n_words += 1
        best = max(best, new_bound)
        words[n_words - 1] |= 1 << ((new_edge & 31) - 1)
        entries[n_entries] = new_bound
        refs[n_entries] = new_ref
        n_entries += 1
