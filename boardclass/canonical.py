"""The only canonicaliser: boards, classes and plain sequences all go through :func:`canonical`.

Canonical means the lexicographically smallest of the symmetric images, cell 0 compared first.  The kernel in
enumeration.py tests the same property for whole ranges of classes; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

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
