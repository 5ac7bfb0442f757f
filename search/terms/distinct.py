"""Rows of words, each kept once."""

from __future__ import annotations

import numpy as np
from numba import int32, int64, uint32, uint64
from numpy.typing import NDArray

from boardclass.jit import frozen, kernel, read_only, writable

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ODD = np.uint64(0x9E3779B97F4A7C15)


@kernel(int64(read_only(uint64, 2), writable(uint64, 2), int64, writable(int32), writable(uint32)))
def _number(rows, distinct, n, slots, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with the place of each row among the first ``n`` of ``distinct``; new ones are appended there.

    slots : a hash table of places + 1, 0 for an empty slot; its size is a power of two, at least twice that of
        ``distinct``

    Returns the new number of distinct rows, or -1 when there is no place left.
    """
    last = np.uint64(slots.size - 1)
    width = rows.shape[1]
    for p in range(len(rows)):
        mixed = _ZERO
        for k in range(width):
            mixed = (mixed ^ rows[p, k]) * _ODD
            mixed ^= mixed >> np.uint64(32)
        at = mixed & last
        while True:
            place = slots[at] - 1
            if place < 0:
                if n == len(distinct):
                    return -1
                place = n
                for k in range(width):
                    distinct[place, k] = rows[p, k]
                n += 1
                slots[at] = place + 1
            same = True
            for k in range(width):
                same = same and distinct[place, k] == rows[p, k]
            if same:
                break
            at = (at + _ONE) & last
        out[p] = place
    return n


class Distinct:
    """Rows of words, each kept once: a table has 40 times as many paths as distinct rows of either kind."""

    def __init__(self, width: int) -> None:
        self.rows = np.zeros((1 << 12, width), np.uint64)
        self.slots = np.zeros(2 * len(self.rows), np.int32)
        self.n = 0

    def number(self, rows: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Return the place of each row."""
        out = np.empty(len(rows), np.uint32)
        while (n := _number(frozen(rows), self.rows, self.n, self.slots, out)) < 0:
            known = frozen(self.rows)
            self.rows = np.zeros((2 * len(known), known.shape[1]), np.uint64)
            self.slots = np.zeros(2 * len(self.rows), np.int32)
            self.n = _number(known, self.rows, 0, self.slots, np.empty(len(known), np.uint32))
        self.n = n
        return out

    def table(self) -> NDArray[np.uint64]:
        """Return the rows by place, read only."""
        return frozen(self.rows[: self.n].copy())
