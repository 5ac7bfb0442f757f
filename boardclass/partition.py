"""Letter buckets per cell type, and the board classes they make: text, rank and unrank, canonical
enumeration, counts.

A *partition* cuts a-z into buckets for each cell type; a *class* takes one bucket per cell and
stands for all boards that can be spelled with them.  The rank of a class is a number in mixed
radix, cell 0 least significant.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import prod
from operator import getitem
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from orderly_boggle.boardclass.arrays import Int64s
from orderly_boggle.boardclass.board import LETTERS
from orderly_boggle.boardclass.errors import PartitionError, quote
from orderly_boggle.boardclass.geometry import CELL_TYPES, Dims, Geometry, geometry, parse_dims

_CHUNK = 1 << 18  # classes that are looked at together, at most
_BLOCK = 1 << 16
MAX_CLASSES = 2**63

_GRAMMAR = (
    "expected buckets of letters such as 'aeiou bcdfghjklmnpqrstvwxyz', or 'center: ..., edge: "
    "..., corner: ...'"
)


def among(ids: npt.ArrayLike, ascending: Int64s) -> npt.NDArray[np.bool_]:
    """Return whether each of some classes is in an ascending array, bool[n]: np.isin would look
    through all of both.
    """
    return np.append(ascending, -1)[np.searchsorted(ascending, ids)] == ids


@lru_cache(1 << 14)
def letter_mask(letters: str) -> int:
    """Return the bit mask of a set of letters, bit 0 = ``a``."""
    return sum(1 << LETTERS.index(letter) for letter in set(letters))


@dataclass(frozen=True)
class Partition:
    """The buckets of each cell type of one board size; made by :func:`parse_partition`.

    text : the normalised text: every cell type of the board by name, letters of a bucket ascending
    buckets : for each cell type of this board its buckets, in the order of the text
    cell_buckets : the buckets of each cell
    radix : int64[n], their number
    n_classes : number of classes, canonical or not

    Examples
    --------
    >>> partition = parse_partition("aeiou bcdfghjklmnpqrstvwxyz", "3x3")
    >>> partition.n_classes, partition.n_canonical
    (512, 102)
    >>> partition.class_letters(365)[:2]
    ('bcdfghjklmnpqrstvwxyz', 'aeiou')
    """

    dims: Dims
    text: str
    buckets: Mapping[str, tuple[str, ...]] = field(compare=False)
    geometry: Geometry = field(compare=False)
    cell_buckets: tuple[tuple[str, ...], ...] = field(compare=False)
    radix: Int64s = field(compare=False)
    n_classes: int = field(compare=False)

    def __repr__(self) -> str:
        return f"parse_partition({self.text!r}, {str(self.dims)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return parse_partition, (self.text, str(self.dims))

    @cached_property
    def n_canonical(self) -> int:
        """Number of canonical classes, by Burnside's lemma: the mean number of classes that a
        symmetry leaves alone.
        """
        once = self.geometry.symmetries  # all of them are of order 4 at most
        twice = np.take_along_axis(once, once, axis=1)
        thrice = np.take_along_axis(once, twice, axis=1)
        least = np.minimum(np.minimum(once, twice), thrice)
        leads_its_cycle = least >= np.arange(self.geometry.n)
        n_fixed = np.where(leads_its_cycle, self.radix.astype(object), 1).prod(axis=1)
        return int(n_fixed.sum()) // len(once)

    def _check_rank(self, rank: int) -> int:
        if not isinstance(rank, int | np.integer) or not 0 <= rank < self.n_classes:
            raise PartitionError(
                f"no class {quote(rank)}: expected 0 to {self.n_classes - 1} for {self.text!r}"
            )
        return int(rank)

    def unrank(self, rank: int) -> tuple[int, ...]:
        """Return the bucket number of each cell of a class."""
        rank = self._check_rank(rank)
        digits = []
        for buckets in self.cell_buckets:
            rank, digit = divmod(rank, len(buckets))
            digits.append(digit)
        return tuple(digits)

    def class_letters(self, rank: int) -> tuple[str, ...]:
        """Return the letters of each cell of a class."""
        return tuple(map(getitem, self.cell_buckets, self.unrank(rank)))

    def class_masks(self, rank: int) -> Int64s:
        """Return the letter mask of each cell of a class, int64[n], bit 0 = ``a``."""
        return np.array(list(map(letter_mask, self.class_letters(rank))), np.int64)

    @cached_property
    def _behind(self) -> Int64s:
        """int64[k - 1, n]: how far each other image lies behind the class, for each bucket number:
        cell 0 counts most, as in the order of the images.
        """
        weights = np.cumprod([1, *self.radix[:0:-1]], dtype=np.int64)[::-1]
        inverse = np.argsort(self.geometry.symmetries[1:], axis=1)
        return weights[inverse] - weights

    def canonical_ranks(self) -> Iterator[Int64s]:
        """Yield the canonical ranks, ascending, in int64 arrays of 262,144 at most.

        Raises PartitionError if the partition has 2**63 classes or more.
        """
        self._check_countable()
        # What the first cells, which take all of their values in each block, add to how far each
        # image lies behind the class, and the other cells, which have one value there.
        sizes = np.cumprod(self.radix[:-1])
        n = int(np.searchsorted(sizes, _BLOCK, side="right"))
        size = prod(self.radix[:n].tolist())
        digits = _digits(np.arange(size), self.radix[:n])
        first = self._behind[:, None, :n] @ digits
        n_blocks = self.n_classes // size
        step = _CHUNK // size
        for start in range(0, n_blocks, step):
            blocks = np.arange(start, min(start + step, n_blocks))
            others = self._behind[:, n:] @ _digits(blocks, self.radix[n:])
            ranks = np.flatnonzero((first >= -others[..., None]).all(axis=0))
            if ranks.size:
                yield start * size + ranks

    def foreign(self, ids: Int64s) -> list[int]:
        """Return those of some ids, int64[n], that are not of canonical classes, in their order.

        Raises PartitionError if the partition has 2**63 classes or more.
        """
        self._check_countable()
        own = (ids >= 0) & (ids < self.n_classes)
        for start in range(0, len(ids), _BLOCK):
            piece = slice(start, start + _BLOCK)
            digits = _digits(np.where(own[piece], ids[piece], 0), self.radix)
            own[piece] &= (self._behind @ digits >= 0).all(axis=0)
        strangers: list[int] = ids[~own].tolist()
        return strangers

    def _check_countable(self) -> None:
        if self.n_classes >= MAX_CLASSES:
            raise PartitionError(
                f"partition {quote(self.text)} has {self.n_classes} classes for {self.dims}: "
                "expected below 2**63; use fewer buckets for edges and corners"
            )


def _digits(ranks: Int64s, radix: Int64s) -> Int64s:
    """Return the numbers of the buckets, int64[cell, class], of classes over cells of this
    radix.
    """
    return np.array(np.unravel_index(ranks, radix, order="F"), np.int64)


def parse_partition(text: str, dims: Dims | str) -> Partition:
    """Return the partition that ``text`` describes for boards of size ``dims``.

    text : parts separated by commas. A part is ``type: buckets`` with type ``center``, ``edge`` or
        ``corner``, or just ``buckets`` for every type not named. Buckets are separated by spaces.
        Types that the board lacks may be named.

    Raises PartitionError if a part is malformed, a type is named twice or left out, or the buckets
    of a type do not cover a-z exactly once.
    """
    board = geometry(dims)
    if not isinstance(text, str):
        raise PartitionError(f"letter buckets {quote(text)}: expected a text, 'aeiou bcdf...'")
    named: dict[str, tuple[str, ...]] = {}
    for part in text.split(","):
        kind, colon, rest = part.partition(":")
        if colon:
            kind = kind.strip().lower()
        else:
            kind = "default"
        if kind not in (*CELL_TYPES, "default") or (colon and kind == "default"):
            raise PartitionError(
                f"unknown cell type {quote(kind)} in {quote(text)}: expected "
                f"{', '.join(CELL_TYPES)}"
            )
        if kind in named:
            if kind == "default":
                what = "buckets without a cell type"
            else:
                what = f"buckets for {kind}"
            raise PartitionError(f"{what} are given twice in {quote(text)}: {_GRAMMAR}")
        named[kind] = _parse_buckets(rest if colon else part, kind, text)
    buckets = {}
    texts = []
    for kind in CELL_TYPES:
        if kind not in board.cell_types:
            continue
        if kind not in named and "default" not in named:
            raise PartitionError(
                f"no buckets for {kind} in {quote(text)}, which {board.dims} boards have: add "
                f"'{kind}: ...'"
            )
        buckets[kind] = named.get(kind) or named["default"]
        texts.append(f"{kind}: {' '.join(buckets[kind])}")
    cell_buckets = tuple(buckets[kind] for kind in board.cell_types)
    radix = np.array(list(map(len, cell_buckets)), np.int64)
    n_classes = prod(map(len, cell_buckets))
    return Partition(
        board.dims,
        ", ".join(texts),
        MappingProxyType(buckets),
        board,
        cell_buckets,
        radix,
        n_classes,
    )


def _parse_buckets(part: str, kind: str, text: str) -> tuple[str, ...]:
    """Return the buckets of one part, letters ascending, after checking that they cover a-z exactly
    once.
    """
    buckets = tuple("".join(sorted(bucket)) for bucket in part.split())
    letters = sorted("".join(buckets))
    if letters == list(LETTERS):
        return buckets
    if kind == "default":
        where = f"in {quote(text)}"
    else:
        where = f"for {kind} in {quote(text)}"
    if strange := sorted(set(letters) - set(LETTERS)):
        raise PartitionError(f"{quote(''.join(strange))} is not a letter a-z {where}: {_GRAMMAR}")
    faults = {
        "missing": [letter for letter in LETTERS if letter not in letters],
        "repeated": [letter for letter in LETTERS if letters.count(letter) > 1],
    }
    summary = " and ".join(
        f"{what} letters {''.join(faulty)!r}" for what, faulty in faults.items() if faulty
    )
    raise PartitionError(f"{summary} {where}: every letter a-z must stand in exactly one bucket")


def parse_class(text: str, dims: Dims | str) -> tuple[str, ...]:
    """Return the letters of each cell of a class given as text: one group of letters per cell,
    separated by spaces.

    Raises PartitionError if the number of groups is wrong, or a group holds a repeated letter or
    anything but a-z.
    """
    dims = parse_dims(dims)
    expected = f"expected {dims.n} groups of letters a-z for {dims}, one per cell down the columns"
    groups = text.split()
    if len(groups) != dims.n:
        raise PartitionError(f"class {quote(text)} has {len(groups)} groups: {expected}")
    for cell, group in enumerate(groups):
        if not set(group) <= set(LETTERS):
            raise PartitionError(
                f"group {quote(group)} of cell {cell} in class {quote(text)}: {expected}"
            )
        if len(set(group)) != len(group):
            raise PartitionError(
                f"group {quote(group)} of cell {cell} repeats a letter: write each letter once"
            )
    return tuple("".join(sorted(group)) for group in groups)
