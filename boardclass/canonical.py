"""The only canonicaliser: boards, classes and plain sequences all go through :func:`canonical`.

Canonical means the lexicographically smallest of the symmetric images, cell 0 compared first.  ``orbit_sizes`` and the
kernel in enumeration.py test the same property for many classes at once; tests hold the three together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from boardclass.geometry import Dims, Geometry


@cache
def _symmetry_rows(geometry: Geometry) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in geometry.symmetries.tolist())


def _check_length(values: Sequence[Any], dims: Dims) -> None:
    if len(values) != dims.n:
        raise ValueError(f"{len(values)} values for {dims}, expected {dims.n}")


def images(values: Sequence[Any], geometry: Geometry) -> set[tuple[Any, ...]]:
    """Return the distinct symmetric images of one value per cell; their number is the orbit size."""
    _check_length(values, geometry.dims)
    return {tuple([values[cell] for cell in row]) for row in _symmetry_rows(geometry)}


def canonical(values: Sequence[Any], geometry: Geometry) -> tuple[Any, ...]:
    """Return the lexicographically smallest symmetric image of one comparable value per cell."""
    return min(images(values, geometry))


def canonical_board(board: str, geometry: Geometry) -> str:
    """Return the canonical image of a board (one letter per cell)."""
    return "".join(canonical(board, geometry))


def orbit_sizes(
    ranks: npt.NDArray[np.int64], radix: npt.NDArray[np.int64], geometry: Geometry
) -> npt.NDArray[np.int64]:
    """Return the number of distinct images of each class, 0 for a class that is not canonical.

    An image is compared as a number with cell 0 most significant, which orders images as their sequences are ordered.

    ranks : int64[m], numbers in mixed radix, cell 0 least significant
    radix : int64[n], number of buckets of each cell, equal for cells of one type; their product is below 2**63
    """
    digits, rest = [], ranks
    for n_buckets in radix:
        rest, digit = np.divmod(rest, n_buckets)
        digits.append(digit)
    numbers = np.zeros((len(geometry.symmetries), len(ranks)), np.int64)
    for number, row in zip(numbers, _symmetry_rows(geometry), strict=True):
        for n_buckets, cell in zip(radix, row, strict=True):
            number *= n_buckets
            number += digits[cell]
    n_equal = np.count_nonzero(numbers == numbers[0], axis=0)  # row 0 is the class itself
    return np.where(numbers.min(axis=0) < numbers[0], 0, len(numbers) // n_equal)
