"""Letter buckets per cell type, and the board classes they make: text, rank and unrank, canonical enumeration, counts.

A *partition* cuts a-z into buckets for each cell type; a *class* takes one bucket per cell and stands for all boards
that can be spelled with them.  The rank of a class is a number in mixed radix, cell 0 least significant.

    parse_partition -> Partition -> canonical_ranks -> (enumeration.py) kernels
    parse_class     -> letters per cell of one class given as text
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from boardclass.board import LETTERS, parse_board
from boardclass.canonical import canonical, orbit_sizes
from boardclass.errors import PartitionError, quote
from boardclass.geometry import CELL_TYPES, Dims, Geometry, geometry, parse_dims

CHUNK = 1 << 18
MAX_CLASSES = 2**63

_GRAMMAR = "expected buckets of letters such as 'aeiou bcdfghjklmnpqrstvwxyz', or 'center: ..., edge: ..., corner: ...'"


@lru_cache(1 << 14)
def letter_mask(letters: str) -> int:
    """Return the bit mask of a set of letters, bit 0 = ``a``."""
    return sum(1 << LETTERS.index(letter) for letter in set(letters))


@dataclass(frozen=True, eq=False)
class Partition:
    """The buckets of each cell type of one board size; made by :func:`parse_partition`.

    buckets : for each cell type of this board its buckets, in the order of the text, letters ascending

    Examples
    --------
    >>> partition = parse_partition("aeiou bcdfghjklmnpqrstvwxyz", "3x3")
    >>> partition.n_classes, partition.n_canonical
    (512, 102)
    >>> partition.rank_of_board("berlatdes")
    365
    >>> partition.class_letters(365)[:2]
    ('bcdfghjklmnpqrstvwxyz', 'aeiou')
    """

    dims: Dims
    buckets: Mapping[str, tuple[str, ...]]

    def __repr__(self) -> str:
        return f"parse_partition({self.text!r}, {str(self.dims)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partition) and (self.dims, self.text) == (other.dims, other.text)

    def __hash__(self) -> int:
        return hash((self.dims, self.text))

    def __reduce__(self) -> tuple[Any, ...]:
        return parse_partition, (self.text, str(self.dims))

    @property
    def text(self) -> str:
        """The normalised text: every cell type of the board by name, letters of a bucket ascending."""
        return ", ".join(f"{kind}: {' '.join(self.buckets[kind])}" for kind in CELL_TYPES if kind in self.buckets)

    @cached_property
    def geometry(self) -> Geometry:
        """The geometry of the board."""
        return geometry(self.dims)

    @cached_property
    def cell_buckets(self) -> tuple[tuple[str, ...], ...]:
        """The buckets of each cell."""
        return tuple(self.buckets[kind] for kind in self.geometry.cell_types)

    @cached_property
    def radix(self) -> npt.NDArray[np.int64]:
        """Number of buckets of each cell, int64[n]."""
        return np.array([len(buckets) for buckets in self.cell_buckets], dtype=np.int64)

    @cached_property
    def n_classes(self) -> int:
        """Number of classes, canonical or not."""
        return prod(len(buckets) for buckets in self.cell_buckets)

    @cached_property
    def n_canonical(self) -> int:
        """Number of canonical classes, by Burnside's lemma: the mean number of classes that a symmetry leaves alone."""
        rows = self.geometry.symmetries.tolist()
        return sum(self._n_fixed(row) for row in rows) // len(rows)

    def _n_fixed(self, row: Sequence[int]) -> int:
        seen: set[int] = set()
        n_fixed = 1
        for cell, buckets in enumerate(self.cell_buckets):
            if cell not in seen:
                n_fixed *= len(buckets)
            while cell not in seen:
                seen.add(cell)
                cell = row[cell]
        return n_fixed

    def _check_rank(self, rank: int) -> int:
        if not 0 <= rank < self.n_classes:
            raise PartitionError(f"no class {quote(rank)}: expected 0 to {self.n_classes - 1} for {self.text!r}")
        return int(rank)

    def unrank(self, rank: int) -> tuple[int, ...]:
        """Return the bucket number of each cell of a class."""
        rank = self._check_rank(rank)
        digits = []
        for buckets in self.cell_buckets:
            rank, digit = divmod(rank, len(buckets))
            digits.append(digit)
        return tuple(digits)

    def rank(self, digits: Sequence[int]) -> int:
        """Return the rank of the class with these bucket numbers, one per cell."""
        limits = [len(buckets) for buckets in self.cell_buckets]
        if len(digits) != len(limits) or not all(0 <= d < k for d, k in zip(digits, limits, strict=True)):
            raise PartitionError(
                f"no class has the bucket numbers {quote(list(digits))}: expected one below each {limits}"
            )
        rank = 0
        for digit, limit in zip(reversed(digits), reversed(limits), strict=True):
            rank = rank * limit + int(digit)
        return rank

    def class_letters(self, rank: int) -> tuple[str, ...]:
        """Return the letters of each cell of a class."""
        return tuple(buckets[digit] for buckets, digit in zip(self.cell_buckets, self.unrank(rank), strict=True))

    def class_masks(self, rank: int) -> npt.NDArray[np.int64]:
        """Return the letter mask of each cell of a class, int64[n], bit 0 = ``a``."""
        return np.array([letter_mask(letters) for letters in self.class_letters(rank)], dtype=np.int64)

    def n_boards(self, rank: int) -> int:
        """Return the number of boards of a class (may exceed 64 bits)."""
        return prod(len(letters) for letters in self.class_letters(rank))

    def canonical_rank(self, rank: int) -> int:
        """Return the rank of the canonical image of a class."""
        return self.rank(canonical(self.unrank(rank), self.geometry))

    def is_canonical(self, rank: int) -> bool:
        """Return whether a class is the canonical one among its images."""
        return self.canonical_rank(rank) == rank

    def rank_of_board(self, board: str) -> int:
        """Return the rank of the class that holds a board (not of its canonical image)."""
        digits = []
        for letter, buckets in zip(parse_board(board, self.dims), self.cell_buckets, strict=True):
            digits.append(next(number for number, letters in enumerate(buckets) if letter in letters))
        return self.rank(digits)

    def canonical_ranks(self, start: int = 0, stop: int | None = None) -> Iterator[npt.NDArray[np.int64]]:
        """Yield the canonical ranks of ``start <= rank < stop``, ascending, in int64 arrays of some 100,000 at most.

        Raises PartitionError if the partition has 2**63 classes or more.
        """
        self._check_countable()
        start, stop = max(0, start), self.n_classes if stop is None else min(stop, self.n_classes)
        if stop - start <= CHUNK:  # less work than loading numba
            few = np.arange(start, stop)
            found = few[self.orbit_sizes(few) > 0]
            if found.size:
                yield found
            return
        from boardclass.enumeration import fill_canonical

        ranks = np.empty(CHUNK, dtype=np.int64)
        for low in range(start, stop, CHUNK):
            count = fill_canonical(low, min(low + CHUNK, stop), self.radix, self.geometry.symmetries, ranks)
            if count:
                yield ranks[:count].copy()

    def orbit_sizes(self, ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the orbit size of each canonical rank, int64, and 0 for ranks that are not canonical."""
        self._check_countable()
        ranks = np.asarray(ranks, dtype=np.int64)
        if ranks.size:
            self._check_rank(int(ranks.min()))
            self._check_rank(int(ranks.max()))
        pieces = [ranks[start : start + CHUNK] for start in range(0, len(ranks), CHUNK)]
        return np.concatenate([np.empty(0, np.int64), *(orbit_sizes(x, self.radix, self.geometry) for x in pieces)])

    def n_boards_covered(self, ranks: npt.NDArray[np.int64]) -> int:
        """Return the exact number of boards in the orbits of canonical classes: 26**n for all of them together.

        The product over the cells is taken in thirds, each below 2**63, and these are multiplied as Python integers.
        """
        orbits = self.orbit_sizes(ranks)
        thirds = [np.ones(orbits.shape, dtype=np.int64) for _ in range(3)]
        rest = np.array(ranks, dtype=np.int64)
        for cell, buckets in enumerate(self.cell_buckets):
            sizes = np.array([len(letters) for letters in buckets], dtype=np.int64)
            thirds[cell * 3 // len(self.cell_buckets)] *= sizes[rest % len(buckets)]
            rest //= len(buckets)
        return int((orbits.astype(object) * thirds[0] * thirds[1] * thirds[2]).sum())

    def _check_countable(self) -> None:
        if self.n_classes >= MAX_CLASSES:
            raise PartitionError(
                f"partition {quote(self.text)} has {self.n_classes} classes for {self.dims}: expected below 2**63; "
                f"use fewer buckets for edges and corners"
            )


def parse_partition(text: str, dims: Dims | str) -> Partition:
    """Return the partition that ``text`` describes for boards of size ``dims``.

    text : parts separated by commas. A part is ``type: buckets`` with type ``center``, ``edge`` or ``corner``, or just
        ``buckets`` for every type not named. Buckets are separated by spaces. Types that the board lacks may be named.

    Raises PartitionError if a part is malformed, a type is named twice or left out, or the buckets of a type do not
    cover a-z exactly once.
    """
    dims = parse_dims(str(dims))
    named: dict[str, tuple[str, ...]] = {}
    for part in text.split(","):
        kind, colon, rest = part.partition(":")
        kind = kind.strip().lower() if colon else "default"
        if kind not in (*CELL_TYPES, "default") or (colon and kind == "default"):
            raise PartitionError(f"unknown cell type {quote(kind)} in {quote(text)}: expected {', '.join(CELL_TYPES)}")
        if kind in named:
            what = "buckets without a cell type" if kind == "default" else f"buckets for {kind}"
            raise PartitionError(f"{what} are given twice in {quote(text)}: {_GRAMMAR}")
        named[kind] = _parse_buckets(rest if colon else part, kind, text)
    buckets = {}
    for kind in dict.fromkeys(sorted(geometry(dims).cell_types, key=CELL_TYPES.index)):
        if kind not in named and "default" not in named:
            raise PartitionError(f"no buckets for {kind} in {quote(text)}, which {dims} boards have: add '{kind}: ...'")
        buckets[kind] = named.get(kind) or named["default"]
    return Partition(dims, MappingProxyType(buckets))


def _parse_buckets(part: str, kind: str, text: str) -> tuple[str, ...]:
    """Return the buckets of one part, letters ascending, after checking that they cover a-z exactly once."""
    where = f"in {quote(text)}" if kind == "default" else f"for {kind} in {quote(text)}"
    buckets = part.split()
    letters = Counter("".join(buckets))
    strange = sorted(set(letters) - set(LETTERS))
    if strange:
        raise PartitionError(f"{quote(''.join(strange))} is not a letter a-z {where}: {_GRAMMAR}")
    missing = "".join(letter for letter in LETTERS if not letters[letter])
    repeated = "".join(letter for letter in LETTERS if letters[letter] > 1)
    if missing or repeated:
        faults = [f"missing letters {missing!r}"] * bool(missing) + [f"repeated letters {repeated!r}"] * bool(repeated)
        raise PartitionError(f"{' and '.join(faults)} {where}: every letter a-z must stand in exactly one bucket")
    return tuple("".join(sorted(bucket)) for bucket in buckets)


def parse_class(text: str, dims: Dims | str) -> tuple[str, ...]:
    """Return the letters of each cell of a class given as text: one group of letters per cell, separated by spaces.

    Raises PartitionError if the number of groups is wrong, or a group holds a repeated letter or anything but a-z.
    """
    dims = parse_dims(str(dims))
    expected = f"expected {dims.n} groups of letters a-z for {dims}, one per cell down the columns"
    groups = text.split()
    if len(groups) != dims.n:
        raise PartitionError(f"class {quote(text)} has {len(groups)} groups: {expected}")
    for cell, group in enumerate(groups):
        if not set(group) <= set(LETTERS):
            raise PartitionError(f"group {quote(group)} of cell {cell} in class {quote(text)}: {expected}")
        if len(set(group)) != len(group):
            raise PartitionError(f"group {quote(group)} of cell {cell} repeats a letter: write each letter once")
    return tuple("".join(sorted(group)) for group in groups)
