"""The terms of a class by the basic method: every way to realise a word once, sorted by the cell order.

class_terms -> Terms          equal literal sets are merged, their points added up
Terms.force                   branch: one letter on the first cell
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boardclass.errors import InputError, quote
from boardclass.geometry import Dims, Geometry, cell_order_of
from boardclass.orders import PAIRS
from search.paper.term_kernels import FULL, N_TERMS, KeyCode, TermSpace, generate
from search.scoring.scorer import Scorer

_PUBLISHED_3X3 = (4, 5, 3, 1, 7, 0, 2, 6, 8)
_WORD_LIMIT = 1 << 62
MAX_TERMS = 1 << 23  # of a class, before merging; with the tree over them 1.7 GB (8.0 million on 3x3)


@dataclass(frozen=True)
class KeyLayout:
    """How the literals of a term are packed into two integers: mixed radix, first cell of the order most significant.

    Attributes
    ----------
    cells : cells still free, in the cell order
    letters : sorted letters of each of them; digit 0 means no literal, d the letter ``letters[d - 1]``
    weights, bases, in_low : int64 by level: place value, number of letters + 1, whether the low word holds it
    """

    cells: tuple[int, ...]
    letters: tuple[str, ...]
    weights: NDArray[np.int64]
    bases: NDArray[np.int64]
    in_low: NDArray[np.int64]


@dataclass(frozen=True)
class Terms:
    """Terms sorted by literals, equal literal sets merged (their points added up).

    Attributes
    ----------
    layout : free cells and key layout
    high, low, points : int64[n_terms]
    n_paths : paths that spell a word (terms with multiplicity); 0 after ``force``
    n_unique : distinct (word, literal set) pairs
    multi_points, unique_points : points of the paths, and of the distinct pairs
    """

    layout: KeyLayout
    high: NDArray[np.int64]
    low: NDArray[np.int64]
    points: NDArray[np.int64]
    n_paths: int
    n_unique: int
    multi_points: int
    unique_points: int

    def force(self, letter: str) -> Terms:
        """Return the terms left when the first free cell takes ``letter`` (branch).

        Terms with another letter there drop out, the literal vanishes from the others, equal literal sets merge.

        Merging never raises the bound: what two subtrees had as separate maxima becomes one.
        """
        layout = self.layout
        weight, base = int(layout.weights[0]), int(layout.bases[0])
        digit = layout.letters[0].index(letter) + 1
        assert not layout.in_low[0] or not self.high.any()
        word = self.low if layout.in_low[0] else self.high
        own = word // weight % base
        keep = (own == 0) | (own == digit)
        stripped = (word - own * weight)[keep]
        high, low = (self.high[keep], stripped) if layout.in_low[0] else (stripped, self.low[keep])
        rest = KeyLayout(layout.cells[1:], layout.letters[1:], layout.weights[1:], layout.bases[1:], layout.in_low[1:])
        return _merged(rest, high, low, self.points[keep], (0, len(high), 0, int(self.points[keep].sum())))


def published_order(dims: Dims | str) -> tuple[int, ...]:
    """Return the cell order behind the published root bounds: pairs, on 3x3 beginning with cells 5 and 3."""
    return _PUBLISHED_3X3 if str(dims) == "3x3" else cell_order_of(dims, PAIRS)


def class_masks(class_letters: Sequence[str], geometry: Geometry) -> NDArray[np.int64]:
    """Return int64[n], the letter masks of a board class given as one string of letters a cell."""
    if len(class_letters) != geometry.n:
        raise InputError(f"class of {len(class_letters)} cells: expected {geometry.n} for {geometry.dims}")
    for letters in class_letters:
        if not letters or not (letters.isascii() and letters.isalpha() and letters.islower()):
            raise InputError(f"letters {letters!r} of a cell: expected one or more of a-z")
    return np.array([sum(1 << (ord(x) - 97) for x in set(letters)) for letters in class_letters], np.int64)


def key_layout(class_letters: Sequence[str], cell_order: Sequence[int]) -> KeyLayout:
    """Return the layout of a class; fills the low word from the last cell up, then the high word."""
    letters = tuple("".join(sorted(set(class_letters[cell]))) for cell in cell_order)
    n = len(letters)
    weights, in_low = np.ones(n, np.int64), np.zeros(n, np.int64)
    low, value = True, 1
    for level in range(n - 1, -1, -1):
        base = len(letters[level]) + 1
        if value * base > _WORD_LIMIT:
            assert low, "more than two words a key"
            low, value = False, 1
        weights[level], in_low[level] = value, low
        value *= base
    return KeyLayout(tuple(cell_order), letters, weights, np.array([len(x) + 1 for x in letters], np.int64), in_low)


def class_terms(class_letters: Sequence[str], scorer: Scorer, cell_order: Sequence[int] | None = None) -> Terms:
    """Return the deduplicated terms of a class, sorted by ``cell_order`` (default: :func:`published_order`).

    Raises
    ------
    InputError
        If there are more than ``MAX_TERMS``.
    """
    geometry = scorer.geometry
    masks = class_masks(class_letters, geometry)
    layout = key_layout(class_letters, cell_order or published_order(geometry.dims))
    code = KeyCode(np.zeros((26, 25), np.int64), np.zeros((26, 25), np.int64))
    for level, cell in enumerate(layout.cells):
        for digit, letter in enumerate(layout.letters[level], 1):
            word = code.low if layout.in_low[level] else code.high
            word[ord(letter) - 97, cell] = digit * layout.weights[level]
    allowed = np.array([sum(1 << c for c in range(geometry.n) if masks[c] >> x & 1) for x in range(26)], np.int64)
    parts: list[tuple[NDArray[np.int64], ...]] = []
    totals = np.zeros(3, np.int64)
    size = 1 << 16
    for first in map(int, np.flatnonzero(allowed)):
        space = _term_space(size)
        while generate(*scorer.trie, geometry.neighbour_masks, allowed, first, code, space) == FULL:
            _check_size(size, class_letters)
            size *= 2
            space = _term_space(size)
        n_terms = int(space.totals[N_TERMS])
        parts.append((space.high[:n_terms].copy(), space.low[:n_terms].copy(), space.points[:n_terms].copy()))
        totals += space.totals[:3]
        _check_size(int(totals[0]), class_letters)
    high, low, points = (np.concatenate(column) for column in zip(*parts, strict=True))
    n_unique, n_paths, multi_points = totals.tolist()
    return _merged(layout, high, low, points, (n_paths, n_unique, multi_points, int(points.sum())))


def _check_size(n_terms: int, class_letters: Sequence[str]) -> None:
    if n_terms > MAX_TERMS:
        raise InputError(
            f"class {quote(' '.join(class_letters))} has more than {MAX_TERMS:,} terms: too large to be looked at as a "
            "whole; name fewer letters per cell, or ask a run what it stored: orderly explain NUMBER --run DIR"
        )


def _term_space(size: int) -> TermSpace:
    sizes = [size] * 3 + [2 * size] * 3 + [8 * size] * 3 + [4]
    return TermSpace._make(np.zeros(size, np.int64) for size in sizes)


def _merged(
    layout: KeyLayout,
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    points: NDArray[np.int64],
    counts: tuple[int, int, int, int],
) -> Terms:
    """Return the terms sorted, equal keys added up; counts = n_paths, n_unique, multi and unique points."""
    order = np.lexsort((low, high)) if high.any() else np.argsort(low)
    high, low, points = high[order], low[order], points[order]
    if len(high):
        starts = np.flatnonzero(np.concatenate(([True], (high[1:] != high[:-1]) | (low[1:] != low[:-1]))))
        high, low, points = high[starts], low[starts], np.add.reduceat(points, starts)
    return Terms(layout, high, low, points, *counts)
