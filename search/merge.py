"""Merge sorted terms into an orderly tree without touching it: the new tree shares what the terms leave alone.

A node of the search differs from the one above it by few of its terms: those that use the cells forced last, and those
that absorption takes away there (negative points: each meets its equal in the tree).  So its tree is not built anew:
new sum nodes are written where these terms pass, everything beside them is referred to.  The result has the terms, the
bounds and the order of a tree that :func:`search.tree.build` would build from all the terms at once.

Design: search.md section 2.3 (branch: merge the part under a forced letter with the rest) and section 4, idea 6; the
paper merges whole subtrees in place of a batch of terms.
"""

from __future__ import annotations

import numpy as np
from numba import types

from boardclass.jit import kernel, writable
from search.bits import leading_zeros, lowest_bit, popcount
from search.tree import BOUND_TOO_LARGE, LARGEST_NODE, LETTER_BITS, LETTERS, MAX_BOUND, RUN_BITS, TREE_FULL

NO_EQUAL = -3
_MAX_LEVELS = 13
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_NOTHING = 1 << 40  # greater than any edge
_N_SAVED = 17


@kernel(
    types.UniTuple(types.int64, 4)(
        writable(types.uint64), writable(types.int32), types.int64, types.int64, types.int64, types.int64,
        writable(types.int32), types.int64, types.int64,
    )
)  # fmt: skip
def merge(keys, points, begin, end, spill, n_levels, cells, tip, base):  # type: ignore[no-untyped-def]
    """Merge ``keys[begin:end]`` (sorted, distinct) into the tree with root ``base``; return (tip or a status, root,
    root bound, spill).

    points : of each key, negative for points that the tree below has to lose
    spill : first unused place of ``keys`` and ``points``: keys of unbuilt subtrees that change are copied there
    tip : first unused place of ``cells`` (> 0); what lies below it is only read
    base : a sum node, or 0 for an empty tree

    Status TREE_FULL when ``cells`` or ``keys`` ran out, BOUND_TOO_LARGE when a bound passes MAX_BOUND, NO_EQUAL when
    points to lose met too few in the tree.  None of them says anything about the node.

    A frame per open sum node walks through the choices of its base and the keys in the one order both have: the edge
    (place << 5 | letter code) that comes first in the key, rising.  (The place of a level is its distance from the last
    one.)  The node is put together in ``buffer`` and copied to ``cells`` when it is complete, after all below it.  The
    state of the frame on top is in local variables, of the others in ``saved``.  Terms that end nowhere near another
    stay unbuilt, as in search.tree.
    """
    buffer = np.empty((_MAX_LEVELS + 1) * LARGEST_NODE, np.int32)
    saved = np.empty((_MAX_LEVELS + 1, _N_SAVED), np.int64)
    top = n_levels - 1
    depth = 0
    edge = np.int64(0)
    i = np.int64(begin)  # next key of the frame, and the end of its keys
    stop = np.int64(end)
    low = (_ONE << np.uint64(5 * n_levels)) - _ONE  # the part of a key below the edge
    node = np.int64(0)  # next choice of the base, and how many are left
    n_left = np.int64(0)
    letters = np.int64(0)  # its current choice: letters left, place, next entry
    place = np.int64(0)
    entry = np.int64(0)
    held = np.int64(0)  # points of the node
    total = np.int64(0)  # bound over the finished choices
    best = np.int64(0)  # largest bound in the current one
    current = np.int64(-1)  # its place
    word = np.int64(0)  # where its word is in the buffer
    out = np.int64(1)  # next place in the buffer; the node starts at start
    start = np.int64(0)
    n_choices = np.int64(0)
    if base > 0:
        head = np.int64(cells[base])
        node = base + 1
        n_left = head & 15
        held = head >> 4
    if i < stop and keys[i] & low == _ZERO:
        held += points[i]
        i += 1
    while True:
        in_keys = np.int64(_NOTHING)
        shift = _ZERO
        if i < stop:
            rest = keys[i] & low
            p = (63 - leading_zeros(np.int64(rest))) // 5
            shift = np.uint64(5 * p)
            in_keys = (p << 5) | np.int64(rest >> shift)
        in_base = np.int64(_NOTHING)
        while True:  # copy what the base has before the next key
            if letters == 0:
                if n_left == 0:
                    break
                n_left -= 1
                which = np.int64(cells[node])
                letters = which & LETTERS
                place = top - (which >> LETTER_BITS)
                entry = node + 1
                node = entry + 2 * popcount(letters)
                if place < in_keys >> 5:  # all of the choice
                    total += best
                    best = np.int64(0)
                    current = place
                    buffer[out] = which
                    n_choices += 1
                    out += 1
                    while entry < node:
                        best = max(best, np.int64(cells[entry]))
                        buffer[out] = cells[entry]
                        buffer[out + 1] = cells[entry + 1]
                        entry += 2
                        out += 2
                    letters = np.int64(0)
                    continue
            letter = lowest_bit(letters)
            in_base = (place << 5) | (letter + 1)
            if in_base >= in_keys:
                break
            if current != place:
                total += best
                best = np.int64(0)
                current = place
                word = out
                buffer[out] = (top - place) << LETTER_BITS
                n_choices += 1
                out += 1
            best = max(best, np.int64(cells[entry]))
            buffer[word] |= 1 << letter
            buffer[out] = cells[entry]
            buffer[out + 1] = cells[entry + 1]
            out += 2
            entry += 2
            letters &= letters - 1
            in_base = np.int64(_NOTHING)
        new_edge = in_keys
        new_bound = np.int64(0)
        new_ref = np.int64(0)
        if in_keys == _NOTHING:  # the frame is complete
            new_bound = held + total + best
            if held < 0:
                return NO_EQUAL, 0, 0, 0
            if new_bound > MAX_BOUND:
                return BOUND_TOO_LARGE, 0, 0, 0
            if tip + LARGEST_NODE > cells.size:
                return TREE_FULL, 0, 0, 0
            if n_choices or depth == 0:
                new_ref = tip
                buffer[start] = n_choices | (held << 4)
                for x in range(start, out):
                    cells[tip] = buffer[x]
                    tip += 1
            if depth == 0:
                return tip, new_ref, new_bound, spill
            new_edge = edge
            depth -= 1
            edge, i, stop, node, n_left = (
                saved[depth, 0],
                saved[depth, 1],
                saved[depth, 2],
                saved[depth, 3],
                saved[depth, 4],
            )
            letters, place, entry, held = saved[depth, 5], saved[depth, 6], saved[depth, 7], saved[depth, 8]
            total, best, current, word = saved[depth, 9], saved[depth, 10], saved[depth, 11], saved[depth, 12]
            out, start, n_choices, low = (
                saved[depth, 13],
                saved[depth, 14],
                saved[depth, 15],
                np.uint64(saved[depth, 16]),
            )
            if new_bound == 0:
                continue
        else:
            if in_base == in_keys:
                new_bound = np.int64(cells[entry])
                new_ref = np.int64(cells[entry + 1])
                letters &= letters - 1
                entry += 2
            j = i + 1
            group = keys[i] >> shift
            while j < stop and keys[j] >> shift == group:
                j += 1
            first = i
            i = j
            below = np.int64(0)  # what the base has behind the edge
            ended = np.int64(0)
            if new_ref < 0:  # unbuilt: its keys and the new ones become one run
                a = ~new_ref >> RUN_BITS
                a_stop = a + (~new_ref & ((1 << RUN_BITS) - 1)) + 1
                if spill + (a_stop - a) + (j - first) > keys.size:
                    return TREE_FULL, 0, 0, 0
                b = first
                first = spill
                while a < a_stop or b < j:
                    if b == j or (a < a_stop and keys[a] < keys[b]):
                        keys[spill] = keys[a]
                        points[spill] = points[a]
                        a += 1
                    elif a == a_stop or keys[b] < keys[a]:
                        keys[spill] = keys[b]
                        points[spill] = points[b]
                        b += 1
                    else:
                        keys[spill] = keys[a]
                        points[spill] = points[a] + points[b]
                        a += 1
                        b += 1
                    if points[spill] < 0:
                        return NO_EQUAL, 0, 0, 0
                    spill += points[spill] > 0
                j = spill
                if first == j:
                    continue
            elif new_ref > 0:
                below = new_ref
            else:
                ended = new_bound
            within = (_ONE << shift) - _ONE
            ends = keys[first] & within == _ZERO
            if below == 0 and ended == 0 and j - first == 2:
                a = np.int64(points[first])
                b = np.int64(points[first + 1])
                if a < 0 or b < 0:
                    return NO_EQUAL, 0, 0, 0
                differ = np.uint64(5 * ((63 - leading_zeros(np.int64(keys[first] ^ keys[first + 1]))) // 5))
                apart = (keys[first] >> differ) & np.uint64(31)  # both go on at one level: one of them holds
                new_bound = max(a, b) if apart else a + b
                new_ref = ~((first << RUN_BITS) | 1)
            elif below == 0 and j - first == 1 and (ended == 0 or ends):
                new_bound = ended + points[first]
                if new_bound < 0:
                    return NO_EQUAL, 0, 0, 0
                if new_bound == 0:
                    continue
                new_ref = np.int64(0) if ends else ~(first << RUN_BITS)
            else:
                saved[depth, 0], saved[depth, 1], saved[depth, 2], saved[depth, 3], saved[depth, 4] = (
                    edge,
                    i,
                    stop,
                    node,
                    n_left,
                )
                saved[depth, 5], saved[depth, 6], saved[depth, 7], saved[depth, 8] = letters, place, entry, held
                saved[depth, 9], saved[depth, 10], saved[depth, 11], saved[depth, 12] = total, best, current, word
                saved[depth, 13], saved[depth, 14], saved[depth, 15], saved[depth, 16] = (
                    out,
                    start,
                    n_choices,
                    np.int64(low),
                )
                depth += 1
                edge = new_edge
                low = within
                held = ended
                n_left = np.int64(0)
                letters = np.int64(0)
                if below:
                    head = np.int64(cells[below])
                    node = below + 1
                    n_left = head & 15
                    held = head >> 4
                if ends:
                    held += points[first]
                    first += 1
                i = first
                stop = j
                total = np.int64(0)
                best = np.int64(0)
                current = np.int64(-1)
                start = out
                out = start + 1
                n_choices = np.int64(0)
                continue
        if current != new_edge >> 5:
            total += best
            best = np.int64(0)
            current = new_edge >> 5
            word = out
            buffer[out] = (top - current) << LETTER_BITS
            n_choices += 1
            out += 1
        best = max(best, new_bound)
        buffer[word] |= 1 << ((new_edge & 31) - 1)
        buffer[out] = new_bound
        buffer[out + 1] = new_ref
        out += 2
