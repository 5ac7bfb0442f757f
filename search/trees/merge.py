"""Merge two orderly trees, and sorted terms, into a new tree that shares what they leave alone;
terms merged with an empty tree are a tree of their own.

A node of the search differs from the one above it by few of its terms.  Forcing the first free cell
to a letter leaves the terms that do not use the cell, adds those behind that letter (a subtree of
the tree above), and absorption takes some away: terms to lose come as keys with negative points,
and each meets its equal in a tree.  New sum nodes are written only where something meets;
everything else is referred to.  The result has the terms, the bounds and the order of the tree of
all the terms at once, whatever was merged with what.

A *loose* tree is merged in its upper part only: where both trees have an edge, and one of them has
little behind it, the two subtrees become a bundle (search.trees.tree).  Most of the time of a merge
goes into such subtrees.  The bound of a bundle is the sum of two bounds instead of that of all the
terms, which is never greater.  A loose tree is searched; nothing is merged with it.

>>> keys = np.array([0, 1, 2 << 5, 2 << 5 | 1], np.uint64)
>>> points = np.array([1, 2, 3, 4], np.int32)
>>> cells = np.zeros(1000, np.int32)
>>> grown = merge(keys, points, 0, 4, 4, 2, 0, cells, cells.view(np.int16), 1, 0, 0, 0, 0)
>>> grown[2]  # the bound: 1 + max(2, 3 + 4)
10
"""

import numpy as np
from numba import int32, int64, types, uint64

from orderly_boggle.boardclass.jit import kernel, writable
from orderly_boggle.search.bits import lowest_bit, popcount
from orderly_boggle.search.keys import LITERAL, LITERAL_BITS, MAX_LEVELS, first_edge, last_levels
from orderly_boggle.search.trees.lazy_subtree import SCRATCH, bound_of
from orderly_boggle.search.trees.runs import join
from orderly_boggle.search.trees.tree import (
    BOUND_TOO_LARGE,
    BOUND_TYPES,
    LARGEST_NODE,
    LETTER_BITS,
    LETTERS,
    MAX_BOUND,
    MAX_LAZY_TERMS,
    MAX_NARROW,
    RUN,
    RUN_BITS,
    TREE_FULL,
    ask_ahead,
    places_in,
    points_of,
    put_bundle,
    put_node,
)

NO_EQUAL = -3
_ZERO = np.uint64(0)
_NOTHING = 1 << 40  # greater than any edge
# What ``saved`` keeps of a frame: its edge, next key and end of its keys, mask of the levels below
# the edge, points;
(_EDGE, _NEXT, _STOP, _LOW, _HELD) = range(5)
# of each sum node the next choice, how many are left, letters left of the current one and its
# place, next bound, next reference;
(_A_WORD, _A_LEFT, _A_LETTERS, _A_PLACE, _A_BOUND, _A_REF) = range(5, 11)
(_B_WORD, _B_LEFT, _B_LETTERS, _B_PLACE, _B_BOUND, _B_REF) = range(11, 17)
# bound over the finished choices, largest bound in the current one and its place, where the node
# starts in the buffers.
(_TOTAL, _BEST, _CURRENT, _START_WORD, _START_ENTRY, _SLOTS) = range(17, 23)


@kernel([
    types.UniTuple(int64, 4)(writable(uint64), writable(int32), int64, int64, int64, int64, int64,
    writable(int32),
        writable(entry), int64, int64, int64, int64, int64)
    for entry in BOUND_TYPES
])  # fmt: skip
def merge(  # type: ignore[no-untyped-def]
    keys,
    points,
    begin,
    end,
    spill,
    n_levels,
    first_level,
    cells,
    bounds,
    tip,
    base,
    bound,
    other,
    loose,
):
    """Merge ``keys[begin:end]`` (sorted, distinct) and the tree behind ``other`` into the tree with
    root ``base``; return (tip or a status, root, root bound, spill).

    points : of each key, negative where the trees have to lose them
    spill : first unused place of ``keys`` and ``points``: keys of lazy subtrees that change are
        copied there
    first_level : the levels before it have no literal here; what keys say of them does not count
    cells, bounds : the trees (search.trees.tree); what lies below ``tip`` (> 0) is only read
    base : a sum node, or 0 for an empty tree
    bound, other : of the second tree, as an entry has them: a sum node, 0 for a leaf with ``bound``
        points (0 and 0 for no tree), or the complement of a lazy run
    loose : where both trees have an edge, and one of the two bounds behind it is at most this, they
        are bundled; 0 for none

    Status TREE_FULL: ``cells`` or ``keys`` ran out.  BOUND_TOO_LARGE: a bound passes MAX_BOUND, or
    one of an entry what ``bounds`` can hold.  NO_EQUAL: points to lose met too few in the trees.
    None of them says anything about the node.

    A frame per open sum node walks through the choices of its two sum nodes, a and b, and its keys
    in the one order all have: by edge (search.keys), rising.  What only one tree has is copied, up
    to the next edge of anything else.  Where two meet at an edge, a frame opens for what lies
    behind it.  The node is put together in three buffers, and written to ``cells`` when it is
    complete, after all below it.  The state of the frame on top is in local variables, of the
    others in ``saved``.  Subtrees of few terms stay lazy (search.trees.lazy_subtree).
    """
    per = bounds.size // cells.size
    largest = MAX_BOUND if per == 1 else MAX_NARROW
    room = (MAX_LEVELS + 1) * LARGEST_NODE
    # letters and level of each choice; references
    words, refs = np.empty(room, np.int32), np.empty(room, np.int32)
    entries = np.empty(room, np.int32)  # bounds
    saved = np.empty((MAX_LEVELS + 1, _SLOTS), np.int64)
    scratch = np.empty(SCRATCH, np.int32)
    top = n_levels - 1
    depth = 0
    edge = int64(0)
    low = last_levels(n_levels - first_level)  # the part of a key below the edge
    a_word = a_left = int64(0)  # next choice of the first sum node, and how many are left
    a_letters = a_place = int64(0)  # its current choice: letters left, place of the level
    a_bound = a_ref = int64(0)  # next entry: its bound, its reference
    b_word = b_left = b_letters = b_place = b_bound = b_ref = int64(0)
    total = best = int64(0)  # bound over the finished choices, largest bound in the current one
    current = int64(-1)  # the place of that
    n_words = n_entries = int64(0)  # filled part of the buffers; the node starts at the others
    start_word = start_entry = int64(0)
    i = int64(begin)  # next key of the frame, and the end of its keys
    stop = int64(end)
    held = int64(0)  # points of the node
    if other < 0:
        run = ~other >> RUN_BITS
        i = int64(spill)
        stop = join(keys, points, begin, end, run, run + (~other & RUN) + 1, spill, low)
        if stop < 0:
            return stop, 0, 0, 0
        spill = stop
    elif other == 0:
        held = int64(bound)
    if base > 0:
        a_left, a_word, a_bound, a_ref = places_in(base, cells[base], per)
        held += points_of(cells[base])
    if other > 0:
        b_left, b_word, b_bound, b_ref = places_in(other, cells[other], per)
        held += points_of(cells[other])
    if i < stop and keys[i] & low == _ZERO:
        held += points[i]
        i += 1
    while True:
        in_keys = first_edge(int64(keys[i] & low)) if i < stop else int64(_NOTHING)
        if a_letters == 0 and a_left:
            a_left -= 1
            a_letters = int64(cells[a_word]) & LETTERS
            a_place = top - (int64(cells[a_word]) >> LETTER_BITS)
            a_word += 1
        if b_letters == 0 and b_left:
            b_left -= 1
            b_letters = int64(cells[b_word]) & LETTERS
            b_place = top - (int64(cells[b_word]) >> LETTER_BITS)
            b_word += 1
        in_a = (
            (a_place << LITERAL_BITS) | (lowest_bit(a_letters) + 1)
            if a_letters
            else int64(_NOTHING)
        )
        in_b = (
            (b_place << LITERAL_BITS) | (lowest_bit(b_letters) + 1)
            if b_letters
            else int64(_NOTHING)
        )
        here = min(in_a, in_b)
        if here < in_keys and in_a != in_b:  # one tree alone, up to the next edge of anything else
            letters = a_letters if here == in_a else b_letters
            from_bound = a_bound if here == in_a else b_bound
            from_ref = a_ref if here == in_a else b_ref
            place = here >> LITERAL_BITS
            limit = min(in_keys, max(in_a, in_b))
            if limit >> LITERAL_BITS == place:
                letters &= (int64(1) << ((limit & LITERAL) - 1)) - 1
            if current != place:
                total += best
                best = int64(0)
                current = place
                words[n_words] = (top - place) << LETTER_BITS
                n_words += 1
            words[n_words - 1] |= letters
            n = popcount(letters)
            for x in range(n):
                entries[n_entries + x] = bounds[from_bound + x]
                best = max(best, int64(bounds[from_bound + x]))
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
        new_bound = new_ref = int64(0)
        if new_edge == _NOTHING:  # the frame is complete
            new_bound = held + total + best
            if held < 0:
                return NO_EQUAL, 0, 0, 0
            if new_bound > MAX_BOUND:
                return BOUND_TOO_LARGE, 0, 0, 0
            if tip + LARGEST_NODE > cells.size:
                return TREE_FULL, 0, 0, 0
            if n_words > start_word or depth == 0:
                tip, new_ref = put_node(
                    cells, bounds, tip, held, new_bound, words, start_word, n_words, entries,
                    start_entry,
                    n_entries, refs, start_entry,
                )  # fmt: skip
            if depth == 0:
                return tip, new_ref, new_bound, spill
            new_edge = edge
            n_words, n_entries = start_word, start_entry
            depth -= 1
            s = saved[depth]
            edge, i, stop, low, held = s[_EDGE], s[_NEXT], s[_STOP], uint64(s[_LOW]), s[_HELD]
            a_word, a_left, a_letters = s[_A_WORD], s[_A_LEFT], s[_A_LETTERS]
            a_place, a_bound, a_ref = s[_A_PLACE], s[_A_BOUND], s[_A_REF]
            b_word, b_left, b_letters = s[_B_WORD], s[_B_LEFT], s[_B_LETTERS]
            b_place, b_bound, b_ref = s[_B_PLACE], s[_B_BOUND], s[_B_REF]
            total, best, current = s[_TOTAL], s[_BEST], s[_CURRENT]
            start_word, start_entry = s[_START_WORD], s[_START_ENTRY]
            if new_bound == 0:
                continue
        elif new_edge < in_keys and in_a == in_b and min(bounds[a_bound], bounds[b_bound]) <= loose:
            if tip + LARGEST_NODE > cells.size:
                return TREE_FULL, 0, 0, 0
            new_bound = int64(bounds[a_bound]) + int64(bounds[b_bound])
            behind_a = int64(cells[a_ref])
            behind_b = int64(cells[b_ref])
            if behind_a or behind_b:
                tip, new_ref = put_bundle(cells, tip, new_bound, behind_a, behind_b)
            a_letters &= a_letters - 1
            a_bound += 1
            a_ref -= 1
            b_letters &= b_letters - 1
            b_bound += 1
            b_ref -= 1
        else:
            shift = uint64(LITERAL_BITS * (new_edge >> LITERAL_BITS))
            within = last_levels(new_edge >> LITERAL_BITS)
            first = i
            if in_keys == new_edge:
                group = (keys[i] & low) >> shift
                i += 1
                while i < stop and (keys[i] & low) >> shift == group:
                    i += 1
            last = i
            a_below = b_below = int64(0)  # sum nodes behind the edge
            ended = int64(0)  # points of leaves behind it
            for side in range(2):
                if side == 0:
                    if in_a != new_edge:
                        continue
                    at = a_bound
                    ref = int64(cells[a_ref])
                    a_letters &= a_letters - 1
                    a_bound += 1
                    a_ref -= 1
                else:
                    if in_b != new_edge:
                        continue
                    at = b_bound
                    ref = int64(cells[b_ref])
                    b_letters &= b_letters - 1
                    b_bound += 1
                    b_ref -= 1
                if ref == 0:
                    ended += bounds[at]
                elif ref > 0:
                    b_below = a_below
                    a_below = ref
                else:  # lazy: its keys and those of the frame become one range
                    run = ~ref >> RUN_BITS
                    run_end = run + (~ref & RUN) + 1
                    if first == last:
                        first, last = run, run_end
                    else:
                        begins = spill
                        spill = join(keys, points, first, last, run, run_end, spill, within)
                        if spill < 0:
                            return spill, 0, 0, 0
                        first, last = begins, spill
            n = last - first
            ends = n > 0 and keys[first] & within == _ZERO
            if a_below or n > MAX_LAZY_TERMS or (ended and (n > 1 or (n == 1 and not ends))):
                if i < stop and a_letters:  # prefetch the sum node that the next key will meet
                    ask_ahead(cells, first_edge(int64(keys[i] & low)), a_letters, a_place, a_ref)
                s = saved[depth]
                s[_EDGE], s[_NEXT], s[_STOP], s[_LOW], s[_HELD] = edge, i, stop, int64(low), held
                s[_A_WORD], s[_A_LEFT], s[_A_LETTERS] = a_word, a_left, a_letters
                s[_A_PLACE], s[_A_BOUND], s[_A_REF] = a_place, a_bound, a_ref
                s[_B_WORD], s[_B_LEFT], s[_B_LETTERS] = b_word, b_left, b_letters
                s[_B_PLACE], s[_B_BOUND], s[_B_REF] = b_place, b_bound, b_ref
                s[_TOTAL], s[_BEST], s[_CURRENT] = total, best, current
                s[_START_WORD], s[_START_ENTRY] = start_word, start_entry
                depth += 1
                edge = new_edge
                low = within
                held = ended
                a_left = a_letters = b_left = b_letters = int64(0)
                if a_below:
                    a_left, a_word, a_bound, a_ref = places_in(a_below, cells[a_below], per)
                    held += points_of(cells[a_below])
                if b_below:
                    b_left, b_word, b_bound, b_ref = places_in(b_below, cells[b_below], per)
                    held += points_of(cells[b_below])
                if ends:
                    held += points[first]
                    first += 1
                i, stop = first, last
                total = best = int64(0)
                current = int64(-1)
                start_word, start_entry = n_words, n_entries
                continue
            if n > 1:
                new_bound = bound_of(keys, points, first, last, within, scratch)
                new_ref = ~((first << RUN_BITS) | (n - 1))
                if new_bound < 0:
                    return NO_EQUAL, 0, 0, 0
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
        if current != new_edge >> LITERAL_BITS:
            total += best
            best = int64(0)
            current = new_edge >> LITERAL_BITS
            words[n_words] = (top - current) << LETTER_BITS
            n_words += 1
        best = max(best, new_bound)
        words[n_words - 1] |= 1 << ((new_edge & LITERAL) - 1)
        entries[n_entries] = new_bound
        refs[n_entries] = new_ref
        n_entries += 1
