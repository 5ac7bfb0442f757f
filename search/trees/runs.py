"""Runs of sorted keys: terms are sorted, equal terms become one key, two runs become one.

The radix sort is used where numpy's sort of uint64 is slower (search.trees.arrays).  It looks at
the bits of the key only: the points code, which follows them, may come in any order.

>>> keys = np.array([1, 5, 3, 5, 0, 0, 0, 0], np.uint64)
>>> points = np.ones(8, np.int32)
>>> end = join(keys, points, 0, 2, 2, 4, 4, np.uint64(31))
>>> keys[4:end].tolist(), points[4:end].tolist()
([1, 3, 5], [1, 1, 2])
"""

import numpy as np
from numba import int32, int64, uint64, void

from orderly_boggle.boardclass.jit import kernel, read_only, writable
from orderly_boggle.search.trees.tree import TREE_FULL

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_DIGIT = 11  # bits: what two passes count and write to at a time stays in the first cache


@kernel(int64(writable(uint64), writable(uint64), int64, int64))
def sort(terms, spare, code_bits, key_bits):  # type: ignore[no-untyped-def]
    """Sort ``terms`` by the ``key_bits`` bits above the lowest ``code_bits``; stable.

    terms : fewer than 2**31
    spare : of the same size; both arrays are overwritten

    Returns 1 if the sorted terms are in ``spare``, 0 if they are in ``terms``.  Bits above the key
    must be 0.
    """
    n = terms.size
    n_passes = (key_bits + _DIGIT - 1) // _DIGIT
    if n < 2 or n_passes == 0:
        return 0
    bits = uint64((key_bits + n_passes - 1) // n_passes)
    mask = (uint64(1) << bits) - uint64(1)
    # how often each digit comes, then where it goes
    places = np.zeros((n_passes, 1 << int64(bits)), np.int32)
    place = places[0]
    for i in range(n):
        place[int64((terms[i] >> uint64(code_bits)) & mask)] += 1
    for p in range(n_passes):
        place = places[p]
        total = int32(0)
        for d in range(place.size):
            count = place[d]
            place[d] = total
            total = int32(total + count)
        shift = uint64(code_bits) + uint64(p) * bits
        source, target = (spare, terms) if p & 1 else (terms, spare)
        if p == n_passes - 1:
            for i in range(n):
                term = source[i]
                digit = int64((term >> shift) & mask)
                at = place[digit]
                place[digit] = at + 1
                target[int64(at)] = term
        else:  # counting the next digit in this loop costs less than reading all terms for it
            counts = places[p + 1]
            for i in range(n):
                term = source[i]
                digit = int64((term >> shift) & mask)
                at = place[digit]
                place[digit] = at + 1
                target[int64(at)] = term
                counts[int64((term >> (shift + bits)) & mask)] += 1
    return n_passes & 1


@kernel(void(read_only(uint64), read_only(int32), writable(int64), writable(uint64)))
def part(terms, segments, ends, parted):  # type: ignore[no-untyped-def]
    """Write the terms to ``parted``, those of one segment after those of the one before; fill
    ``ends`` with where each ends.

    segments : of each term; ``ends`` has as many elements as there are segments
    """
    ends[:] = 0
    for s in segments:
        ends[s] += 1
    total = int64(0)
    for s in range(ends.size):
        count = ends[s]
        ends[s] = total
        total += count
    for i in range(terms.size):
        at = ends[segments[i]]
        ends[segments[i]] = at + 1
        parted[at] = terms[i]


@kernel(int64(read_only(uint64), writable(uint64), writable(int32), read_only(int32), int64))
def group(terms, keys, points, points_of_code, code_bits):  # type: ignore[no-untyped-def]
    """Write the distinct ``keys`` of the sorted ``terms`` (code dropped) and their ``points``;
    return their number.

    Keys whose points add up to 0 are left out: what is lost of them is gained again.
    ``keys`` may be the same array as ``terms``.
    """
    shift = uint64(code_bits)
    mask = (_ONE << shift) - _ONE
    last = _ZERO
    total = 0
    n = 0
    for i in range(terms.size):
        term = terms[i]
        key = term >> shift
        value = points_of_code[int64(term & mask)]
        if i and key == last:
            total += value
            points[n - 1] = total
        else:
            if i and total == 0:
                n -= 1
            keys[n] = key
            total = value
            points[n] = total
            last = key
            n += 1
    return n - 1 if n and total == 0 else n


@kernel(int64(writable(uint64), writable(int32), int64, int64, int64, int64, int64, uint64))
def join(keys, points, a, a_end, b, b_end, to, within):  # type: ignore[no-untyped-def]
    """Write the keys of two sorted ranges, sorted by their part ``within``, from ``to`` on; return
    the end.

    Equal keys become one with the sum of the points, those left with none are dropped; points may
    stay below 0, for their equal may be in a sum node.  TREE_FULL when there is no room.
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
