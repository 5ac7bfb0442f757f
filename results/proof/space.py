"""The space of boards that a run covers, as coverage sees it: its classes, their sizes, and how the search cuts them.

Sizes and orbits are computed here from buckets and symmetries, independently of the enumeration that they check.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from boardclass.geometry import Dims, geometry

Letters = tuple[str, ...]


class PartitionLike(Protocol):
    """What coverage needs of a partition into classes."""

    @property
    def dims(self) -> Dims:
        """Board size."""

    @property
    def text(self) -> str:
        """Normalised text."""

    @property
    def buckets(self) -> Mapping[str, tuple[str, ...]]:
        """Letter buckets by cell type."""

    @property
    def n_classes(self) -> int:
        """Number of classes, canonical or not."""

    @property
    def n_canonical(self) -> int:
        """Number of canonical classes, counted without enumerating them."""

    def orbit_sizes(self, ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the orbit size of each canonical class, 0 for a class that is not canonical."""

    def canonical_ranks(self) -> Iterator[npt.NDArray[np.int64]]:
        """Yield the canonical class ids in chunks."""

    def class_letters(self, rank: int) -> Letters:
        """Return the letters of each cell."""


class NodesLike(Protocol):
    """How the search cuts a class into parts: a pure function of class, path and the run's parameters."""

    def n_boards(self, class_id: int, path: str) -> int:
        """Return the number of boards of a part; InputError when no split makes it."""

    def parts(self, class_id: int, path: str) -> Sequence[str]:
        """Return the paths that a part is split into, in the order of the search."""


class ClassSizes:
    """Boards and orbit sizes of many classes at once, in exact Python integers."""

    def __init__(self, partition: PartitionLike) -> None:
        shape = geometry(partition.dims)
        buckets = [[len(letters) for letters in partition.buckets[kind]] for kind in shape.cell_types]
        self._lengths = [np.array(lengths, dtype=object) for lengths in buckets]
        self._radices = [len(lengths) for lengths in buckets]
        self._weights = [math.prod(self._radices[:cell]) for cell in range(shape.n)]
        self._symmetries = shape.symmetries

    def of(self, ranks: npt.NDArray[np.int64]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the number of boards and of distinct images (object arrays of int) of each class."""
        cells = zip(self._weights, self._radices, strict=True)
        digits = np.stack([(ranks // weight) % radix for weight, radix in cells], axis=1)
        n_boards = np.ones(len(ranks), dtype=object)
        for cell, lengths in enumerate(self._lengths):
            n_boards = n_boards * lengths[digits[:, cell]]
        weights = np.array(self._weights, dtype=np.int64)
        images = np.sort(np.stack([digits[:, symmetry] @ weights for symmetry in self._symmetries], axis=1), axis=1)
        n_images = 1 + np.count_nonzero(images[:, 1:] != images[:, :-1], axis=1)
        return n_boards, n_images.astype(object)
