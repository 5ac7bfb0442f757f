"""All simple paths of a board, grouped by what they do on the bare cells: the tables behind search.terms.shapes.

The cells of a path that are bare carry no literal, so for a word only the *pattern* matters: which positions lie on
which bare cell.  Paths of one length and pattern form a *group*; a word that fits the pattern (its letters are on those
bare cells) fits every path of the group, and its terms differ only in the levels of the other positions.

Forcing the next free cell, and the one after it, does not take a table of its own: the paths of a group are sorted by
the position at which they meet the first *extra* cell (the free cells that come first in cell order), then the second,
so what goes over or around them are ranges of the group.

Per path two more words say when its term is not needed (both only ever drop a term that another term of the same word
makes superfluous, so the bound stays a bound):

absorb
    bits of position t: the unused bare and extra cells that touch the cells of positions t - 1 and t + 1.  Where such a
    cell is bare and has the letter of position t, the path moved there is the same word with one literal less, and this
    term contains that one.  A position on a bare cell has no literal to lose: the path moved to another bare cell gives
    the same term, so of the two only the one on the cell that comes first in cell order is needed, and only cells
    before its own count.  For a position on an extra cell search.terms.shapes masks the later ones out if it is bare.
swap
    one bit per pair of positions i < j, nearest pairs first: their cells may be swapped, the path stays a path, and the
    swapped one is smaller (cell of i above cell of j).  Where the two letters are equal both paths give the same term,
    and the smaller one gives it too.  The smallest path of each term is never dropped.
"""

from __future__ import annotations

import contextlib
import ctypes
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from boardclass.geometry import Geometry, geometry
from boardclass.jit import frozen, kernel, read_only, writable
from search.bits import lowest_bit

MAX_CELLS = 16
MIN_LEN = 1
N_PAIRS = 64
TABLES = 2  # that are kept
MAX_EXTRA = 3  # nodes that are forced deeper are for the walk
ELSEWHERE = 31
FREE = 0  # pattern symbol of a position on a free cell; bare cell number b is b + 1
_SYMBOL_BITS = 4
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ODD = np.uint64(0x9E3779B97F4A7C15)
MAX_BARE = 8  # bare cells absorption looks at: 8 bits for each of up to 16 positions fill two words


class PathTable(NamedTuple):
    """Paths by length and pattern (all arrays read-only).

    Attributes
    ----------
    root : int64[18], pattern trie node at which length L starts
    child : int32[n_nodes, n_bare + 1], next pattern node by symbol, 0 = none; for the last position the group + 1
    first : int64[n_groups + 1], number of the first path of each group
    block : int64[n_groups + 1], where the shifts of a group start
    shifts : uint8[], per group: free position after free position, the shift of the level of every path
    absorb : uint32[n_paths], which row of ``absorb_words`` is the path's
    absorb_words : uint64[n, 2], all different ones (8 bits per position)
    swap : uint32[n_paths], which row of ``swap_words`` is the path's
    swap_words : uint64[n, 1], all different ones
    parts : int32[n_groups + 1], where the ranges of each group by its first extra cell start in the arrays below
    place : uint8[], position of the range's paths on its extra cell, ELSEWHERE if they do not meet it
    start : int32[], first path of the range; it goes on to that of the next one
    sub : int32[], where its ranges by the next extra cell start, up to those of the next one
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


TABLE_TYPE = types.NamedTuple(
    [
        read_only(types.int64),
        read_only(types.int32, 2),
        read_only(types.int64),
        read_only(types.int64),
        read_only(types.uint8),
        read_only(types.uint32),
        read_only(types.uint64, 2),
        read_only(types.uint32),
        read_only(types.uint64, 2),
        read_only(types.int32),
        read_only(types.uint8),
        read_only(types.int32),
        read_only(types.int32),
        types.int64,
        types.int64,
    ],
    PathTable,
)


@kernel(types.int64(read_only(types.int64), types.int64, types.int64, writable(types.uint64)))
def enumerate_paths(neighbours, length, start, out):  # type: ignore[no-untyped-def]
    """Write every simple path of ``length`` cells from ``start`` to ``out`` (4 bits a position, position 0 lowest);
    return the count.

    With an ``out`` of size 0 the paths are only counted.
    """
    left = np.zeros(MAX_CELLS + 1, np.int64)
    path = np.zeros(MAX_CELLS + 1, np.uint64)
    used = np.zeros(MAX_CELLS + 1, np.int64)
    path[0] = start
    used[0] = np.int64(1) << start
    if length == 1:
        if out.size:
            out[0] = path[0]
        return 1
    left[0] = neighbours[start]
    n = 0
    d = 0
    while d >= 0:
        if left[d] == 0:
            d -= 1
            continue
        c = lowest_bit(left[d])
        left[d] &= left[d] - 1
        longer = path[d] | (np.uint64(c) << np.uint64(4 * (d + 1)))
        if d + 2 == length:
            if out.size:
                out[n] = longer
            n += 1
        else:
            d += 1
            path[d] = longer
            used[d] = used[d - 1] | (np.int64(1) << c)
            left[d] = neighbours[c] & ~used[d]
    return n


def paths_of_length(board: Geometry, length: int) -> NDArray[np.uint64]:
    """Return every simple directed path of ``length`` cells: uint64[n], 4 bits a position, position 0 lowest."""
    none = np.empty(0, np.uint64)
    counts = [enumerate_paths(board.neighbour_masks, length, c, none) for c in range(board.n)]
    out = np.empty(sum(counts), np.uint64)
    at = 0
    for c, count in enumerate(counts):
        if count:
            enumerate_paths(board.neighbour_masks, length, c, out[at : at + count])
        at += count
    return out


@kernel(types.void(read_only(types.uint64), types.int64, read_only(types.int64), writable(types.uint64)))
def _patterns(paths, length, number, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with the pattern of each path, position 0 highest; ``number[c]`` is the bare number + 1, or 0."""
    for p in range(paths.size):
        pattern = np.uint64(0)
        for t in range(length):
            c = np.int64((paths[p] >> np.uint64(4 * t)) & np.uint64(15))
            pattern = (pattern << np.uint64(_SYMBOL_BITS)) | np.uint64(number[c])
        out[p] = pattern


@kernel(
    types.void(
        read_only(types.uint64),
        types.int64,
        read_only(types.int64),
        read_only(types.int64),
        read_only(types.int64),
        read_only(types.int64, 2),
        writable(types.uint64, 2),
        writable(types.uint64, 2),
    )
)
def _superfluous(paths, length, neighbours, number, target, pair_bit, absorb, swap):  # type: ignore[no-untyped-def]
    """Fill the absorb and swap words of ``paths`` (see the module).

    number : of each cell, the bare number + 1, or 0
    target : the same of bare and extra cells
    """
    cells = np.zeros(MAX_CELLS + 2, np.int64)
    near = np.zeros(MAX_CELLS + 2, np.int64)  # cells that touch both neighbours of a position
    place = np.zeros(MAX_CELLS + 2, np.int64)  # position of a cell of the path
    every = (np.int64(1) << neighbours.size) - 1
    for p in range(paths.size):
        used = np.int64(0)
        for t in range(length):
            cells[t] = np.int64((paths[p] >> np.uint64(4 * t)) & np.uint64(15))
            used |= np.int64(1) << cells[t]
            place[cells[t]] = t
        for t in range(length):
            near[t] = every
            if t > 0:
                near[t] &= neighbours[cells[t - 1]]
            if t + 1 < length:
                near[t] &= neighbours[cells[t + 1]]
        for word in range(2):
            bits = np.uint64(0)
            for t in range(8 * word, min(length, 8 * word + 8)):
                last = min(MAX_BARE, number[cells[t]] - 1) if number[cells[t]] else MAX_BARE
                moves = near[t] & ~used
                while moves:
                    c = lowest_bit(moves)
                    moves &= moves - 1
                    if 0 < target[c] <= last:
                        bits |= np.uint64(1) << np.uint64(8 * (t - 8 * word) + target[c] - 1)
            absorb[p, word] = bits
        bits = np.uint64(0)
        for i in range(length):
            mates = near[i] & used  # cells of the path that position i could take over, neighbours in the path apart
            while mates:
                c = lowest_bit(mates)
                mates &= mates - 1
                j = place[c]
                if j > i + 1 and cells[i] > c and (near[j] >> cells[i]) & 1 and pair_bit[i, j] >= 0:
                    bits |= np.uint64(1) << np.uint64(pair_bit[i, j])
            j = i + 1  # neighbours in the path stay neighbours: only their outer sides must fit
            if j < length and cells[i] > cells[j] and pair_bit[i, j] >= 0:
                left = neighbours[cells[i - 1]] if i > 0 else every
                right = neighbours[cells[j + 1]] if j + 1 < length else every
                if (left >> cells[j]) & 1 and (right >> cells[i]) & 1:
                    bits |= np.uint64(1) << np.uint64(pair_bit[i, j])
        swap[p, 0] = bits


@kernel(types.void(read_only(types.uint64), types.int64, read_only(types.int64), writable(types.uint64)))
def _places(paths, length, cells, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with the positions of each path on some cells: 5 bits each, the first cell's highest.

    ELSEWHERE stands for a cell that the path does not meet.
    """
    for p in range(paths.size):
        places = np.uint64(0)
        for cell in cells:
            place = np.uint64(ELSEWHERE)
            for t in range(length):
                if np.int64((paths[p] >> np.uint64(4 * t)) & np.uint64(15)) == cell:
                    place = np.uint64(t)
            places = (places << np.uint64(5)) | place
        out[p] = places


@kernel(
    types.int64(
        read_only(types.uint64, 2),
        writable(types.uint64, 2),
        types.int64,
        writable(types.int32),
        writable(types.uint32),
    )
)
def _number(rows, distinct, n, slots, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with the place of each row among the first ``n`` of ``distinct``; new ones are appended there.

    slots : a hash table of places + 1, 0 where nothing is: a power of two, at least twice the places of ``distinct``

    Returns the new number of distinct rows, or -1 when there is no place left.
    """
    last = np.uint64(slots.size - 1)
    width = rows.shape[1]
    for p in range(len(rows)):
        mixed = _ZERO
        for k in range(width):
            mixed = (mixed ^ rows[p, k]) * _ODD
            mixed ^= mixed >> np.uint64(32)
        at = mixed & last
        while True:
            place = slots[at] - 1
            if place < 0:
                if n == len(distinct):
                    return -1
                place = n
                for k in range(width):
                    distinct[place, k] = rows[p, k]
                n += 1
                slots[at] = place + 1
            same = True
            for k in range(width):
                same = same and distinct[place, k] == rows[p, k]
            if same:
                break
            at = (at + _ONE) & last
        out[p] = place
    return n


class _Distinct:
    """Rows of words, each kept once: there are 40 times as many paths as different ones of either kind."""

    def __init__(self, width: int) -> None:
        self.rows = np.zeros((1 << 12, width), np.uint64)
        self.slots = np.zeros(2 * len(self.rows), np.int32)
        self.n = 0

    def number(self, rows: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Return the place of each row."""
        out = np.empty(len(rows), np.uint32)
        while (n := _number(frozen(rows), self.rows, self.n, self.slots, out)) < 0:
            known = frozen(self.rows)
            self.rows = np.zeros((2 * len(known), known.shape[1]), np.uint64)
            self.slots = np.zeros(2 * len(self.rows), np.int32)
            self.n = _number(known, self.rows, 0, self.slots, np.empty(len(known), np.uint32))
        self.n = n
        return out

    def table(self) -> NDArray[np.uint64]:
        """Return the rows by place, read only."""
        return frozen(self.rows[: self.n].copy())


def pairs_of(length: int) -> NDArray[np.int64]:
    """Return the pairs of positions i < j that have a bit in ``swap``, nearest first, at most 64: int64[n, 2]."""
    pairs = [(i, i + gap) for gap in range(1, length) for i in range(length - gap)][:N_PAIRS]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _pair_bits(length: int) -> NDArray[np.int64]:
    """Return int64[16, 16]: the bit of a pair of positions in ``swap``, -1 where it has none."""
    bits = np.full((MAX_CELLS, MAX_CELLS), -1, np.int64)
    for x, (i, j) in enumerate(pairs_of(length).tolist()):
        bits[i, j] = x
    return bits


@kernel(
    types.void(
        read_only(types.uint64),
        types.int64,
        read_only(types.int64),
        read_only(types.int64),
        read_only(types.int64),
        writable(types.uint8),
    )
)
def _fill_shifts(paths, length, number, shift, counts, shifts):  # type: ignore[no-untyped-def]
    """Write the shifts of all groups, which follow one another in ``paths`` with ``counts`` paths each."""
    begin = 0
    at = 0
    for count in counts:
        for t in range(length):
            if number[np.int64((paths[begin] >> np.uint64(4 * t)) & np.uint64(15))]:
                continue
            for p in range(begin, begin + count):
                shifts[at] = shift[np.int64((paths[p] >> np.uint64(4 * t)) & np.uint64(15))]
                at += 1
        begin += count


def level_shifts(board: Geometry, bare: int) -> NDArray[np.int64]:
    """Return the shift of each cell's level in a key (5 bits a level, first in cell order highest), 0 if bare."""
    free = [c for c in board.cell_order if not bare >> c & 1]
    shift = np.zeros(board.n, np.int64)
    for level, c in enumerate(free):
        shift[c] = 5 * (len(free) - 1 - level)
    return shift


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
    """Let the C library return to the system what is freed; glibc would keep 500 MB of the four tables of 4x4."""
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
        self.absorb_words, self.swap_words = _Distinct(2), _Distinct(1)
        self.starts: list[list[NDArray[np.int64]]] = [[] for _ in extra]
        self.places: list[list[NDArray[np.uint64]]] = [[] for _ in extra]

    def add(self, length: int) -> None:
        paths = paths_of_length(self.board, length)
        if not paths.size:
            return
        patterns = np.empty_like(paths)
        _patterns(frozen(paths), length, frozen(self.number), patterns)
        order = np.argsort(patterns)
        paths = frozen(paths[order])
        patterns = patterns[order]
        fresh = np.concatenate([[True], patterns[1:] != patterns[:-1]])
        paths = self._add_parts(paths, length, np.cumsum(fresh, dtype=np.uint64))
        first = np.flatnonzero(fresh)
        distinct = patterns[first]
        counts = frozen(np.diff(np.append(first, patterns.size)))
        symbols = (
            distinct[:, None] >> (np.arange(length - 1, -1, -1, dtype=np.uint64) * np.uint64(_SYMBOL_BITS))
        ) & np.uint64(15)
        self._add_trie(length, symbols.astype(np.int64))
        n_free = (symbols == 0).sum(1)
        absorb = np.empty((paths.size, 2), np.uint64)
        swap = np.empty((paths.size, 1), np.uint64)
        pair_bits = frozen(_pair_bits(length))
        number, target = frozen(self.number), frozen(self.target)
        _superfluous(paths, length, self.board.neighbour_masks, number, target, pair_bits, absorb, swap)
        block = np.empty(int((n_free * counts).sum()), np.uint8)
        _fill_shifts(paths, length, number, self.shift, counts, block)
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
        _places(paths, length, self.extra, key)
        key |= group << np.uint64(5 * n)
        order = np.argsort(key)  # the order within a range is of no account: terms are sorted later
        key = key[order]
        for k in range(n):
            above = key >> np.uint64(5 * (n - 1 - k))
            begins = np.flatnonzero(np.concatenate([[True], above[1:] != above[:-1]]))
            self.starts[k].append(begins + self.n_paths)
            self.places[k].append(above[begins] & np.uint64(31))
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
            key = node * 16 + symbols[:, t]
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
    """Return the parts as one array; the list is emptied on the way, for the parts of 4x4 are as large as the whole."""
    out = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
    end = len(out)
    while parts:
        part = parts.pop()
        out[end - len(part) : end] = part
        end -= len(part)
    return out
