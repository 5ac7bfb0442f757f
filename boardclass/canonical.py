"""The only canonicaliser: boards, classes and plain sequences all go through :func:`canonical`.

Canonical means the lexicographically smallest of the symmetric images, cell 0 compared first.
``Partition.canonical_ranks`` tests the same property for many classes at once; tests hold both
together.

>>> from orderly_boggle.boardclass.geometry import geometry
>>> canonical_board("sedtalreb", geometry("3x3"))
'berlatdes'
>>> len(images("berlatdes", geometry("3x3")))
8
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from orderly_boggle.boardclass.geometry import Geometry


def images(values: Sequence[Any], geometry: Geometry) -> set[tuple[Any, ...]]:
    """Return the distinct symmetric images of one value per cell; their number is the orbit
    size.
    """
    if len(values) != geometry.n:
        raise ValueError(f"{len(values)} values for {geometry.dims}, expected {geometry.n}")
    return {itemgetter(*row)(values) for row in geometry.symmetries.tolist()}


def canonical(values: Sequence[Any], geometry: Geometry) -> tuple[Any, ...]:
    """Return the lexicographically smallest symmetric image of one comparable value per cell."""
    return min(images(values, geometry))


def canonical_board(board: str, geometry: Geometry) -> str:
    """Return the canonical image of a board (one letter per cell)."""
    return "".join(canonical(board, geometry))
