"""The space of boards that a run covers, as coverage sees it: its classes, their sizes, and how the search cuts them;
rows of classes that are not in it, which could never be settled; and how what is wrong is counted and named.

Sizes and orbits are computed here from buckets and symmetries, independently of the enumeration that they check.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from boardclass.geometry import geometry
from boardclass.partition import Partition
from boardclass.printable import counted
from results.store.parts import read_part
from results.store.rows import SCHEMA, Key
from results.store.run import Run

Letters = tuple[str, ...]
MAX_EXAMPLES = 10


class NodesLike(Protocol):
    """How the search cuts a class into parts: a pure function of class, path and the run's parameters."""

    def n_boards(self, class_id: int, path: str) -> int:
        """Return the number of boards of a part; InputError when no split makes it."""

    def parts(self, class_id: int, path: str) -> Sequence[str]:
        """Return the paths that a part is split into, in the order of the search."""


class ClassSizes:
    """Boards and orbit sizes of many classes at once, in exact Python integers."""

    def __init__(self, partition: Partition) -> None:
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


@dataclass
class Faults:
    """What is missing, and what cannot be true.

    Attributes
    ----------
    n_missing, n_problems : int
    missing, problems : list of str
        The first :data:`MAX_EXAMPLES` of each.
    """

    n_missing: int = 0
    n_problems: int = 0
    missing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add_missing(self, text: str, n: int = 1) -> None:
        """Note ``n`` units without a verdict that ``text`` names."""
        self.n_missing += n
        if len(self.missing) < MAX_EXAMPLES:
            self.missing.append(text)

    def add_problem(self, text: str) -> None:
        """Note something that cannot be true."""
        self.n_problems += 1
        if len(self.problems) < MAX_EXAMPLES:
            self.problems.append(text)


def listed(items: Sequence[object]) -> str:
    """Return the first few items as text, with dots instead of the others."""
    return ", ".join(map(str, items[:MAX_EXAMPLES])) + ", ..." * (len(items) > MAX_EXAMPLES)


def unit_name(key: Key) -> str:
    """Return how to name a unit in messages."""
    return f"class {key[0]} path {key[1]}" if key[1] else f"class {key[0]}"


def out_of_space(partition: Partition, ids: npt.NDArray[np.int64]) -> list[int]:
    """Return the ids (int64[n], distinct) that are not of canonical classes of a partition, ascending."""
    inside = (ids >= 0) & (ids < partition.n_classes)
    own = ids[inside]
    return sorted([*ids[~inside].tolist(), *own[partition.orbit_sizes(own) == 0].tolist()])


def describe_out_of_space(run: Run, classes: Sequence[int]) -> str:
    """Return which classes are not the run's own, where their rows stand and how to get rid of them; may be empty."""
    if not classes:
        return ""
    asked, names = pa.array(classes), []
    for part in run.manifest.parts:
        if part.first_id <= classes[-1] and part.last_id >= classes[0]:
            ids = read_part(run.folder, part, SCHEMA, ["class_id"]).column("class_id")
            names += [part.name] * bool(pc.any(pc.is_in(ids, asked)).as_py())
    which = counted(len(classes), "class that is not its own", "classes that are not its own")
    return (
        f"rows of {which}: {listed(classes)}, in {listed(names)}; the command "
        "that made the run takes these parts out with --drop-damaged, and searches again what else they held"
    )
