"""Kernels over ranges of board classes: which ranks are canonical.

A class is a number in mixed radix, cell 0 least significant; ``radix[c]`` is the number of buckets
of cell c. Canonical means what canonical.py says: no symmetric image is lexicographically smaller,
cell 0 compared first.

>>> from boardclass.geometry import geometry
>>> digits = np.array([0, 1, 1, 1])
>>> is_canonical(digits, geometry("2x2").symmetries)
True
>>> is_canonical(digits[::-1].copy(), geometry("2x2").symmetries)
False
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64

from boardclass.jit import kernel, read_only, writable

_INT64S = read_only(int64)
_TABLE = read_only(int64, 2)


@kernel(boolean(_INT64S, _TABLE))
def is_canonical(digits: np.ndarray, symmetries: np.ndarray) -> bool:
    """Return whether no image of ``digits`` is smaller."""
    for g in range(symmetries.shape[0]):
        for cell in range(digits.shape[0]):
            order = digits[symmetries[g, cell]] - digits[cell]
            if order < 0:
                return False
            if order > 0:
                break
    return True


@kernel(int64(int64, int64, _INT64S, _TABLE, writable(int64)))
def fill_canonical(
    start: int, stop: int, radix: np.ndarray, symmetries: np.ndarray, ranks: np.ndarray
) -> int:
    """Write the canonical ranks of ``start <= rank < stop`` to ``ranks``, ascending, and return how
    many there are.

    ``ranks`` must have room for ``stop - start`` values.
    """
    digits = np.empty(radix.shape[0], np.int64)
    rank = start
    for cell in range(radix.shape[0]):
        digits[cell] = rank % radix[cell]
        rank //= radix[cell]
    count = 0
    for rank in range(start, stop):
        if is_canonical(digits, symmetries):
            ranks[count] = rank
            count += 1
        for cell in range(radix.shape[0]):
            digits[cell] += 1
            if digits[cell] < radix[cell]:
                break
            digits[cell] = 0
    return count
