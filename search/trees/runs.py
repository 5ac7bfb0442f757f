"""Runs of sorted keys: equal terms become one key, two runs become one."""

from __future__ import annotations

import numpy as np
from numba import int32, int64, uint64

from boardclass.jit import kernel, read_only, writable
from search.trees.tree import TREE_FULL

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@kernel(int64(read_only(uint64), writable(uint64), writable(int32), read_only(int32), int64))
def group(terms, keys, points, points_of_code, code_bits):  # type: ignore[no-untyped-def]
    """Write the distinct ``keys`` of the sorted ``terms`` (code dropped) and their ``points``; return their number.

    Keys whose points add up to 0 are left out: what is lost of them is gained again.
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
