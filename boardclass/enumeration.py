"""Kernels over ranges of board classes: which ranks are canonical.

A class is a number in mixed radix, cell 0 least significant; ``radix[c]`` is the number of buckets
of cell c. Canonical means what canonical.py says: no symmetric image is lexicographically smaller,
cell 0 compared first.
"""

from __future__ import annotations

import numpy as np
from numba import int64, void

from boardclass.jit import kernel, read_only, writable

_INT64S = read_only(int64)
_TABLE = read_only(int64, 2)


@kernel(int64(_INT64S, _TABLE))
def compare_images(digits: np.ndarray, symmetries: np.ndarray) -> int:
    """Return -1 if an image of ``digits`` is smaller, otherwise the number of images equal to it,
    identity included.
    """
    n_equal = 0
    for g in range(symmetries.shape[0]):
        order = 0
        for cell in range(digits.shape[0]):
            order = digits[symmetries[g, cell]] - digits[cell]
            if order != 0:
                break
        if order < 0:
            return -1
        if order == 0:
            n_equal += 1
    return n_equal


@kernel(void(int64, _INT64S, writable(int64)))
def unrank_into(rank: int, radix: np.ndarray, digits: np.ndarray) -> None:
    """Fill ``digits`` with the mixed-radix digits of ``rank``, cell 0 least significant."""
    for cell in range(radix.shape[0]):
        digits[cell] = rank % radix[cell]
        rank //= radix[cell]


@kernel(int64(int64, int64, _INT64S, _TABLE, writable(int64)))
def fill_canonical(
    start: int, stop: int, radix: np.ndarray, symmetries: np.ndarray, ranks: np.ndarray
) -> int:
    """Write the canonical ranks of ``start <= rank < stop`` to ``ranks``, ascending, and return how
    many there are.

    ``ranks`` must have room for ``stop - start`` values.
    """
    digits = np.empty(radix.shape[0], np.int64)
    unrank_into(start, radix, digits)
    count = 0
    for rank in range(start, stop):
        if compare_images(digits, symmetries) > 0:
            ranks[count] = rank
            count += 1
        for cell in range(radix.shape[0]):
            digits[cell] += 1
            if digits[cell] < radix[cell]:
                break
            digits[cell] = 0
    return count
