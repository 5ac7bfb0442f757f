"""Sort terms by their keys: a radix sort, which needs no vector instructions.

It is used where numpy's sort of uint64 is slower (search.trees.arrays).  Only the bits of the key are looked at: the
points code, which follows them, may come in any order.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from boardclass.jit import kernel, writable

_DIGIT = 11  # bits: what two passes count and write to at a time stays in the first cache


@kernel(int64(writable(uint64), writable(uint64), int64, int64))
def sort(terms, spare, code_bits, key_bits):  # type: ignore[no-untyped-def]
    """Sort ``terms`` by the ``key_bits`` bits above the lowest ``code_bits``; stable.

    terms : fewer than 2**31
    spare : of the same size; both arrays are overwritten

    Returns 1 if the sorted terms are in ``spare``, 0 if they are in ``terms``.  Bits above the key must be 0.
    """
    n = terms.size
    n_passes = (key_bits + _DIGIT - 1) // _DIGIT
    if n < 2 or n_passes == 0:
        return 0
    bits = np.uint64((key_bits + n_passes - 1) // n_passes)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    places = np.zeros((n_passes, 1 << np.int64(bits)), np.int32)  # how often each digit comes, then where it goes
    place = places[0]
    for i in range(n):
        place[np.int64((terms[i] >> np.uint64(code_bits)) & mask)] += 1
    for p in range(n_passes):
        place = places[p]
        total = np.int32(0)
        for d in range(place.size):
            count = place[d]
            place[d] = total
            total = np.int32(total + count)
        shift = np.uint64(code_bits) + np.uint64(p) * bits
        source, target = (spare, terms) if p & 1 else (terms, spare)
        if p == n_passes - 1:
            for i in range(n):
                term = source[i]
                digit = np.int64((term >> shift) & mask)
                at = place[digit]
                place[digit] = at + 1
                target[np.int64(at)] = term
        else:  # a loop of its own: counting the next digit here costs less than reading all terms for it
            counts = places[p + 1]
            for i in range(n):
                term = source[i]
                digit = np.int64((term >> shift) & mask)
                at = place[digit]
                place[digit] = at + 1
                target[np.int64(at)] = term
                counts[np.int64((term >> (shift + bits)) & mask)] += 1
    return n_passes & 1
