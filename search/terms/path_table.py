"""Path tables: all simple paths of a board, grouped by what they do on the bare cells; search.terms.shapes reads them.

The cells of a path that are bare carry no literal, so for a word only the *pattern* matters: which positions lie on
which bare cell.  Paths of one length and pattern form a *group*; a word that fits the pattern (its letters are on those
bare cells) fits every path of the group, and its terms differ only in the levels of the other positions.

Forcing the next free cell, and the one after it, does not take a table of its own: the paths of a group are sorted by
the position at which they meet the first *extra* cell (the free cells that come first in cell order), then the second,
so the paths that use or avoid these cells are ranges of the group.

Each path has marks that say when its term is not needed (search.terms.dominated).
"""

from __future__ import annotations

import contextlib
import ctypes
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import int32, int64, types, uint8, uint32, uint64
from numpy.typing import NDArray

from boardclass.geometry import Geometry, geometry
from boardclass.jit import frozen, read_only
from search.terms.distinct import Distinct
from search.terms.dominated import mark_dominated, pair_bits
from search.terms.paths import (
    ELSEWHERE,
    MAX_CELLS,
    PLACE_BITS,
    SYMBOL_BITS,
    fill_shifts,
    level_shifts,
    paths_of_length,
    patterns_of,
    places_on,
)

TABLES = 2  # how many are kept
MAX_EXTRA = 3  # the walk serves nodes that are forced deeper


class PathTable(NamedTuple):
    """Paths by length and pattern (all arrays read-only).

    root : int64[18], pattern trie node at which length L starts
    child : int32[n_nodes, n_bare + 1], next pattern node by symbol, 0 = none; for the last position the group + 1
    first : int64[n_groups + 1], number of the first path of each group
    block : int64[n_groups + 1], where the shifts of a group start
    shifts : uint8[], per group: free position after free position, the shift of the level of every path
    absorb : uint32[n_paths], the row of ``absorb_words`` of each path
    absorb_words : uint64[n, 2], the distinct rows (8 bits per position)
    swap : uint32[n_paths], the row of ``swap_words`` of each path
    swap_words : uint64[n, 1], the distinct rows
    parts : int32[n_groups + 1], where the ranges of each group by its first extra cell start in the arrays below
    place : uint8[], position of the range's paths on its extra cell, ELSEWHERE if they do not meet it
    start : int32[], first path of the range, which ends where the next one starts
    sub : int32[], where its ranges by the next extra cell start; they end where those of the next range start
    n_bare : number of bare cells
    n_extra : number of extra cells
    """

    root: NDArray[np.int64]
    child: NDArray[np.int32]
    first: NDArray[np.int64]
    block: NDArray[np.int64]
    shifts: NDArray[np.uint8]
    absorb: NDArray[np.uint32]
    absorb_words: NDArray[np.uint64]
    swap: NDArray[np.uint32]
    swap_words: NDArray[np.uint64]
    parts: NDArray[np.int32]
    place: NDArray[np.uint8]
    start: NDArray[np.int32]
    sub: NDArray[np.int32]
    n_bare: int
    n_extra: int


TABLE_TYPE = types.NamedTuple([
    read_only(int64), read_only(int32, 2), read_only(int64), read_only(int64), read_only(uint8), read_only(uint32),
    read_only(uint64, 2), read_only(uint32), read_only(uint64, 2), read_only(int32), read_only(uint8), read_only(int32),
    read_only(int32), int64, int64
], PathTable)  # fmt: skip


def extra_cells(board: Geometry, bare: int) -> tuple[int, ...]:
    """Return the extra cells of a table: the next ones in cell order, if the bare cells are the first ones."""
    n = bare.bit_count()
    is_first = all(bare >> c & 1 for c in board.cell_order[:n])
    return board.cell_order[n : n + MAX_EXTRA] if is_first else ()


@lru_cache(maxsize=TABLES)
def path_table(dims: str, bare: int, max_len: int, cell_order: tuple[int, ...] = ()) -> PathTable:
    """Return the path table of a board for a mask of bare cells and words of up to ``max_len`` cells.

    The levels follow ``cell_order``, by default that of the geometry.

    The last ``TABLES`` tables are kept: a run asks for the same one again and again.
    """
    board = geometry(dims, cell_order)
    if board.n > MAX_CELLS:
        raise ValueError(f"path tables are for up to {MAX_CELLS} cells, not {dims}")
    builder = _TableBuilder(board, bare)
    for length in range(1, min(max_len, board.n) + 1):
        builder.add(length)
    table = builder.table()
    del builder
    give_back_memory()
    return table


def give_back_memory() -> None:
    """Make the C library return freed memory to the system; glibc would keep 500 MB of the four tables of 4x4."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


class _TableBuilder:
    """Collects the groups of one length after the other."""

    def __init__(self, board: Geometry, bare: int) -> None:
        self.board = board
        self.n_bare = bare.bit_count()
        extra = extra_cells(board, bare)
        self.extra = frozen(np.array(extra, np.int64))
        self.number, self.target = np.zeros(board.n, np.int64), np.zeros(board.n, np.int64)
        for b, c in enumerate(c for c in board.cell_order if bare >> c & 1):
            self.number[c] = self.target[c] = b + 1
        for b, c in enumerate(extra):
            self.target[c] = self.n_bare + b + 1
        self.shift = frozen(level_shifts(board, bare))
        self.root = np.zeros(MAX_CELLS + 2, np.int64)
        self.child: list[NDArray[np.int32]] = [np.zeros((1, self.n_bare + 1), np.int32)]
        self.n_nodes = 1
        self.n_groups = 0
        self.n_paths = 0
        self.counts: list[NDArray[np.int64]] = []
        self.sizes: list[NDArray[np.int64]] = []
        self.shifts: list[NDArray[np.uint8]] = []
        self.absorb: list[NDArray[np.uint32]] = []
        self.swap: list[NDArray[np.uint32]] = []
        self.absorb_words, self.swap_words = Distinct(2), Distinct(1)
        self.starts: list[list[NDArray[np.int64]]] = [[] for _ in extra]
        self.places: list[list[NDArray[np.uint64]]] = [[] for _ in extra]

    def add(self, length: int) -> None:
        paths = paths_of_length(self.board, length)
        if not paths.size:
            return
        patterns = np.empty_like(paths)
        patterns_of(frozen(paths), length, frozen(self.number), patterns)
        order = np.argsort(patterns)
        paths = frozen(paths[order])
        patterns = patterns[order]
        fresh = np.concatenate([[True], patterns[1:] != patterns[:-1]])
        paths = self._add_parts(paths, length, np.cumsum(fresh, dtype=np.uint64))
        first = np.flatnonzero(fresh)
        distinct = patterns[first]
        counts = frozen(np.diff(np.append(first, patterns.size)))
        symbols = (
            distinct[:, None] >> (np.arange(length - 1, -1, -1, dtype=np.uint64) * np.uint64(SYMBOL_BITS))
        ) & np.uint64((1 << SYMBOL_BITS) - 1)
        self._add_trie(length, symbols.astype(np.int64))
        n_free = (symbols == 0).sum(1)
        absorb = np.empty((paths.size, 2), np.uint64)
        swap = np.empty((paths.size, 1), np.uint64)
        pairs = frozen(pair_bits(length))
        number, target = frozen(self.number), frozen(self.target)
        mark_dominated(paths, length, self.board.neighbour_masks, number, target, pairs, absorb, swap)
        block = np.empty(int((n_free * counts).sum()), np.uint8)
        fill_shifts(paths, length, number, self.shift, counts, block)
        self.counts.append(counts)
        self.sizes.append(n_free * counts)
        self.shifts.append(block)
        self.absorb.append(self.absorb_words.number(absorb))
        self.swap.append(self.swap_words.number(swap))
        self.n_groups += len(distinct)
        self.n_paths += paths.size

    def _add_parts(self, paths: NDArray[np.uint64], length: int, group: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the paths of each group sorted by their positions on the extra cells; append the ranges this makes."""
        n = self.extra.size
        if not n:
            return paths
        key = np.empty_like(paths)
        places_on(paths, length, self.extra, key)
        key |= group << np.uint64(PLACE_BITS * n)
        order = np.argsort(key)  # the order within a range does not matter: terms are sorted later
        key = key[order]
        for k in range(n):
            above = key >> np.uint64(PLACE_BITS * (n - 1 - k))
            begins = np.flatnonzero(np.concatenate([[True], above[1:] != above[:-1]]))
            self.starts[k].append(begins + self.n_paths)
            self.places[k].append(above[begins] & np.uint64(ELSEWHERE))
        return frozen(paths[order])

    def _add_trie(self, length: int, symbols: NDArray[np.int64]) -> None:
        """Append the pattern trie of one length: ``symbols`` [n_patterns, length], sorted."""
        self.root[length] = self.n_nodes
        n = len(symbols)
        node = np.zeros(n, np.int64)  # within this level
        n_here = 1
        for t in range(length):
            rows = np.zeros((n_here, self.n_bare + 1), np.int32)
            if t == length - 1:
                rows[node, symbols[:, t]] = self.n_groups + 1 + np.arange(n)
                self.child.append(rows)
                self.n_nodes += n_here
                break
            key = (node << SYMBOL_BITS) + symbols[:, t]
            fresh = np.ones(n, bool)
            fresh[1:] = key[1:] != key[:-1]
            nxt = np.cumsum(fresh) - 1
            rows[node[fresh], symbols[fresh, t]] = self.n_nodes + n_here + nxt[fresh]
            self.child.append(rows)
            self.n_nodes += n_here
            node = nxt
            n_here = int(nxt[-1]) + 1

    def table(self) -> PathTable:
        def starts(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
            return frozen(np.concatenate([[0], np.cumsum(np.concatenate(parts))]).astype(np.int64))

        first = starts(self.counts)
        parts, place, start, sub = self._ranges(first)
        return PathTable(
            frozen(self.root),
            frozen(np.concatenate(self.child)),
            first,
            starts(self.sizes),
            frozen(_joined(self.shifts)),
            frozen(_joined(self.absorb)),
            self.absorb_words.table(),
            frozen(_joined(self.swap)),
            self.swap_words.table(),
            frozen(parts),
            frozen(place),
            frozen(start),
            frozen(sub),
            self.n_bare,
            self.extra.size,
        )

    def _ranges(
        self, first: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32]]:
        """Return ``parts``, ``place``, ``start`` and ``sub``: the ranges by the first extra cell, one more that ends
        them, those by the second, and so on."""
        starts = [np.append(np.concatenate(found), self.n_paths) for found in self.starts]
        places = [np.append(np.concatenate(found), ELSEWHERE) for found in self.places]
        base = np.cumsum([0, *map(len, starts)])
        subs = [base[k + 1] + np.searchsorted(starts[k + 1], starts[k]) for k in range(len(starts) - 1)]
        subs += [np.zeros(len(found), np.int64) for found in starts[-1:]]
        parts = np.searchsorted(starts[0], first) if starts else np.zeros(len(first))
        none = np.zeros(0)
        return (
            parts.astype(np.int32),
            np.concatenate([none, *places]).astype(np.uint8),
            np.concatenate([none, *starts]).astype(np.int32),
            np.concatenate([none, *subs]).astype(np.int32),
        )


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the parts as one array; empty the list on the way: the parts of 4x4 are as large as the whole."""
    out = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
    end = len(out)
    while parts:
        part = parts.pop()
        out[end - len(part) : end] = part
        end -= len(part)
    return out
