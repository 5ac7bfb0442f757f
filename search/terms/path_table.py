"""Path tables: all simple paths of a board, grouped by what they do on the bare cells; and words as
rows of letters.

search.terms.shapes reads both.

The cells of a path that are bare carry no literal, so for a word only the *pattern* matters: which
positions lie on which bare cell.  Paths of one length and pattern form a *group*; a word that fits
the pattern (its letters are on those bare cells) fits every path of the group, and its terms differ
only in the levels of the other positions.

Forcing the next free cell, and the one after it, does not take a table of its own: the paths of a
group are sorted by the position at which they meet the first *extra* cell (the free cells that come
first in cell order), then the second, so the paths that use or avoid these cells are ranges of the
group.

Each path has marks that say when its term is not needed (search.terms.paths).

>>> table = path_table("3x3", bare=1 << 4, max_len=4)
>>> table.n_bare, len(table.absorb)
(1, 705)
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import int32, int64, types, uint8, uint32, uint64
from numpy.typing import NDArray

from orderly_boggle.boardclass.arrays import Int32s, Int64s, UInt8s, UInt32s, UInt64s
from orderly_boggle.boardclass.geometry import ORDERS, Geometry, cell_order_of, geometry
from orderly_boggle.boardclass.jit import frozen, kernel, read_only, writable
from orderly_boggle.boardclass.shared_arrays import Arrays, shared, shared_copy
from orderly_boggle.search.scoring.trie import CODE_SHIFT, LETTER_MASK, N_CODES, Trie
from orderly_boggle.search.terms.paths import (
    ELSEWHERE,
    FREE,
    MAX_LENGTH,
    PLACE_BITS,
    SYMBOL_BITS,
    cell_bits,
    fill_shifts,
    level_shifts,
    longest_path,
    mark_dominated,
    pair_bits,
    pairs_of,
    paths_of_length,
    patterns_of,
    places_on,
)

TABLES = 2  # how many are kept
_SHARED_CELLS = 14  # of a board; what one of fewer needs is made at once
MAX_EXTRA = 3  # the walk serves nodes that are forced deeper
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ODD = np.uint64(0x9E3779B97F4A7C15)


class PathTable(NamedTuple):
    """Paths by length and pattern (all arrays read-only)."""

    root: Int64s  # [18], pattern trie node at which length L starts
    # [n_nodes, n_bare + 1], next pattern node by symbol, 0 = none; at the last the group + 1
    child: Int32s
    first: Int64s  # [n_groups + 1], number of the first path of each group
    block: Int64s  # [n_groups + 1], where the shifts of a group start
    # per group: free position after free position, the shift of the level of every path
    shifts: UInt8s
    absorb: UInt32s  # [n_paths], the row of ``absorb_words`` of each path
    absorb_words: UInt64s  # [n, 2], those of each length distinct (8 bits per position)
    swap: UInt32s  # [n_paths], the row of ``swap_words`` of each path
    swap_words: UInt64s  # [n, 1], the same
    # [n_groups + 1], where the ranges of each group by its first extra cell start below
    parts: Int32s
    # position of the range's paths on its extra cell, ELSEWHERE if they do not meet it
    place: UInt8s
    start: Int32s  # first path of the range, which ends where the next one starts
    # where its ranges by the next extra cell start; they end where those of the next range do
    sub: Int32s
    n_bare: int
    n_extra: int


TABLE_TYPE = types.NamedTuple([
    read_only(int64), read_only(int32, 2), read_only(int64), read_only(int64), read_only(uint8),
    read_only(uint32),
    read_only(uint64, 2), read_only(uint32), read_only(uint64, 2), read_only(int32),
    read_only(uint8), read_only(int32),
    read_only(int32), int64, int64
], PathTable)  # fmt: skip


def extra_cells(board: Geometry, bare: int) -> tuple[int, ...]:
    """Return the extra cells of a table: the next ones in cell order, if the bare cells are the
    first ones.
    """
    n = bare.bit_count()
    is_first = all(bare >> c & 1 for c in board.cell_order[:n])
    if is_first:
        return board.cell_order[n : n + MAX_EXTRA]
    return ()


@lru_cache(maxsize=TABLES)
def path_table(dims: str, bare: int, max_len: int, cell_order: tuple[int, ...] = ()) -> PathTable:
    """Return the path table of a board for a mask of bare cells and words of up to ``max_len``
    cells.

    The levels follow ``cell_order``, by default that of the geometry.  The last ``TABLES`` tables
    are kept.  Those that every worker of a run needs are shared (boardclass.shared_arrays).
    """
    board = geometry(dims, cell_order)
    n_extra = len(extra_cells(board, bare))
    longest = min(max_len, longest_path(board.n))
    if n_extra and is_shared(board):
        order = ".".join(map(str, board.cell_order))
        name = f"paths/{dims}-{bare}-{longest}-{order}"
        arrays = shared(name, lambda: _made(board, bare, longest))
    else:
        arrays = _made(board, bare, longest)
    return PathTable._make([*arrays, bare.bit_count(), n_extra])


def is_shared(board: Geometry) -> bool:
    """Return whether the workers of a machine share what is made for a board: all of them need it,
    and it takes seconds.

    Runs have orders with a name; that of a replica is drawn, and nobody else has it.
    """
    usual = [cell_order_of(board.dims, name) for name in ORDERS]
    return board.n >= _SHARED_CELLS and board.cell_order in usual


def _made(board: Geometry, bare: int, longest: int) -> Arrays:
    builder = _TableBuilder(board, bare)
    for length in range(1, longest + 1):
        builder.add(length)
    return builder.arrays()


class _TableBuilder:
    """Collects the groups of one length after the other."""

    def __init__(self, board: Geometry, bare: int) -> None:
        self.board = board
        self.cell_bits = cell_bits(board.n)
        self.n_bare = bare.bit_count()
        extra = extra_cells(board, bare)
        self.extra = frozen(np.array(extra, np.int64))
        number = np.zeros(board.n, np.int64)
        target = np.zeros(board.n, np.int64)
        for b, c in enumerate(c for c in board.cell_order if bare >> c & 1):
            number[c] = target[c] = b + 1
        for b, c in enumerate(extra):
            target[c] = self.n_bare + b + 1
        self.number = frozen(number)
        self.target = frozen(target)
        self.shift = frozen(level_shifts(board, bare))
        self.root = np.zeros(MAX_LENGTH + 2, np.int64)
        self.child: list[Int32s] = [np.zeros((1, self.n_bare + 1), np.int32)]
        self.n_nodes = 1
        self.n_groups = 0
        self.n_paths = 0
        self.counts: list[Int64s] = []
        self.sizes: list[Int64s] = []
        self.shifts: list[UInt8s] = []
        self.absorb: list[UInt32s] = []
        self.swap: list[UInt32s] = []
        self.absorb_words: list[UInt64s] = []
        self.swap_words: list[UInt64s] = []
        self.starts: list[list[Int64s]] = [[] for _ in extra]
        self.places: list[list[UInt64s]] = [[] for _ in extra]

    def add(self, length: int) -> None:
        paths = paths_of_length(self.board, length)
        if not paths.size:
            return
        patterns = np.empty_like(paths)
        patterns_of(frozen(paths), length, self.cell_bits, self.number, patterns)
        order = np.argsort(patterns)
        distinct, first, group = np.unique(patterns[order], return_index=True, return_inverse=True)
        paths = self._add_parts(frozen(paths[order]), length, group.astype(np.uint64))
        counts = frozen(np.diff(np.append(first, patterns.size)))
        places = np.arange(length - 1, -1, -1, dtype=np.uint64) * np.uint64(SYMBOL_BITS)
        symbols = (distinct[:, None] >> places).astype(np.int64) & ((1 << SYMBOL_BITS) - 1)
        self._add_trie(length, symbols)
        n_free = (symbols == FREE).sum(1)
        absorb = np.empty((paths.size, 2), np.uint64)
        swap = np.empty((paths.size, 1), np.uint64)
        pairs = frozen(pair_bits(length))
        mark_dominated(
            paths, length, self.cell_bits, self.board.neighbour_masks, self.number, self.target,
            pairs, absorb, swap,
        )  # fmt: skip
        block = np.empty(int((n_free * counts).sum()), np.uint8)
        fill_shifts(paths, length, self.cell_bits, self.number, self.shift, counts, block)
        self.counts.append(counts)
        self.sizes.append(n_free * counts)
        self.shifts.append(block)
        self.absorb.append(add_distinct(absorb, self.absorb_words))
        self.swap.append(add_distinct(swap, self.swap_words))
        self.n_groups += len(distinct)
        self.n_paths += paths.size

    def _add_parts(self, paths: UInt64s, length: int, group: UInt64s) -> UInt64s:
        """Return the paths of each group sorted by their positions on the extra cells; append the
        ranges this makes.
        """
        n = self.extra.size
        if not n:
            return paths
        key = np.empty_like(paths)
        places_on(paths, length, self.cell_bits, self.extra, key)
        key |= group << np.uint64(PLACE_BITS * n)
        order = np.argsort(key)  # the order within a range does not matter: terms are sorted later
        key = key[order]
        for k in range(n):
            above = key >> np.uint64(PLACE_BITS * (n - 1 - k))
            begins = np.flatnonzero(np.concatenate([[True], above[1:] != above[:-1]]))
            self.starts[k].append(begins + self.n_paths)
            self.places[k].append(above[begins] & np.uint64(ELSEWHERE))
        return frozen(paths[order])

    def _add_trie(self, length: int, symbols: Int64s) -> None:
        """Append the pattern trie of one length: ``symbols`` [n_patterns, length], sorted."""
        self.root[length] = self.n_nodes
        node, n_here = np.zeros(len(symbols), np.int64), 1  # within this level
        for t in range(length):
            rows = np.zeros((n_here, self.n_bare + 1), np.int32)
            self.child.append(rows)
            self.n_nodes += n_here
            if t == length - 1:
                rows[node, symbols[:, t]] = self.n_groups + 1 + np.arange(len(symbols))
                return
            _, first, following = np.unique(
                node << SYMBOL_BITS | symbols[:, t], return_index=True, return_inverse=True
            )
            rows[node[first], symbols[first, t]] = self.n_nodes + np.arange(len(first))
            node = following
            n_here = len(first)

    def arrays(self) -> Arrays:
        """Return the arrays of a PathTable, in its order."""
        first, block = (
            np.append(0, np.cumsum(np.concatenate(parts))) for parts in (self.counts, self.sizes)
        )
        arrays = (
            self.root,
            np.concatenate(self.child),
            first.astype(np.int64),
            block.astype(np.int64),
            _joined(self.shifts),
            _joined(self.absorb),
            np.concatenate(self.absorb_words),
            _joined(self.swap),
            np.concatenate(self.swap_words),
            *self._ranges(first),
        )
        return list(map(frozen, arrays))

    def _ranges(self, first: Int64s) -> tuple[Int32s, UInt8s, Int32s, Int32s]:
        """Return ``parts``, ``place``, ``start`` and ``sub``: the ranges by the first extra cell,
        one more that ends them, those by the second, and so on.
        """
        starts = []
        for ranges in self.starts:
            starts.append(np.append(np.concatenate(ranges), self.n_paths))
        places = []
        for ranges in self.places:
            places.append(np.append(np.concatenate(ranges), ELSEWHERE))
        base = np.cumsum([0, *map(len, starts)])
        subs = []
        for k in range(len(starts) - 1):
            subs.append(base[k + 1] + np.searchsorted(starts[k + 1], starts[k]))
        subs += [np.zeros(len(ranges), np.int64) for ranges in starts[-1:]]
        if starts:
            parts = np.searchsorted(starts[0], first)
        else:
            parts = np.zeros(len(first))
        none = np.zeros(0)
        return (
            parts.astype(np.int32),
            np.concatenate([none, *places]).astype(np.uint8),
            np.concatenate([none, *starts]).astype(np.int32),
            np.concatenate([none, *subs]).astype(np.int32),
        )


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the parts as one array; empty the list on the way: the parts of 4x4 are as large as
    the whole.
    """
    out = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
    end = len(out)
    while parts:
        part = parts.pop()
        out[end - len(part) : end] = part
        end -= len(part)
    return out


@kernel(int64(read_only(uint64, 2), writable(uint64, 2), writable(int32), writable(uint32)))
def _number(rows, distinct, slots, out):  # type: ignore[no-untyped-def]
    """Fill ``distinct``, which has room for all rows, with each row once, and ``out`` with the
    place of each.

    slots : an empty hash table of places + 1, 0 for an empty slot; its size is a power of two, at
        least twice the number of rows

    Returns the number of distinct rows.
    """
    last = uint64(slots.size - 1)
    width = rows.shape[1]
    n = 0
    for p in range(len(rows)):
        mixed = _ZERO
        for k in range(width):
            mixed = (mixed ^ rows[p, k]) * _ODD
            mixed ^= mixed >> uint64(32)
        at = mixed & last
        while True:
            place = slots[at] - 1
            if place < 0:
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


def add_distinct(rows: UInt64s, table: list[UInt64s]) -> UInt32s:
    """Append the distinct ones of some rows to a table; return the place of each row there.

    On 4x4 there are 40 times as many paths as distinct rows of either kind.
    """
    distinct = np.empty_like(rows)
    places = np.empty(len(rows), np.uint32)
    slots = np.zeros(2 << len(rows).bit_length(), np.int32)
    n = _number(frozen(rows), distinct, slots, places)
    places += np.uint32(sum(map(len, table)))
    table.append(distinct[:n].copy())
    return places


class Words(NamedTuple):
    """The words of a run: letters uint8[n, 16] (0..25), length, points code int64[n], equal pairs
    uint64[n]; the first ``n_whole`` are whole words, the rest are cut to the longest paths.
    """

    letters: UInt8s
    length: Int64s
    code: Int64s
    equal: UInt64s
    n_whole: int

    def sample(self, step: int) -> "Words":
        """Return every ``step``-th word."""
        letters, length, code, equal, n_whole = self
        some = (frozen(values[::step].copy()) for values in (letters, length, code, equal))
        return Words._make((*some, -(-n_whole // step)))


WORDS_TYPE = types.NamedTuple(
    [read_only(uint8, 2), read_only(int64), read_only(int64), read_only(uint64), int64], Words
)


def shared_words(board: Geometry, trie: Trie) -> tuple[Trie, Words]:
    """Return a trie and the arrays of its words, which the workers of a machine share."""
    words = word_arrays(trie, board.n)
    arrays: Arrays = [*trie, words.letters, words.length, words.code, words.equal]
    if is_shared(board):
        arrays = shared_copy("words", arrays)
    return Trie(*arrays[:2]), Words._make((*arrays[2:], words.n_whole))


def word_arrays(trie: Trie, n_cells: int) -> Words:
    """Return the arrays of the words of a trie that fit on a board, by length, then by letters.

    Of a word that is longer than the paths of the board's tables only the letters of such a path
    are kept: wherever the word lies, they lie as well (lemma 1 of docs/trust.md).  These words come
    last.
    """
    longest = longest_path(n_cells)
    nodes = np.zeros(1, np.int64)
    letters = np.zeros((1, MAX_LENGTH), np.uint8)
    by_length = []
    n_whole = 0
    for depth in range(n_cells):  # a row for each node, in order of their numbers
        masks = (trie.nodes[nodes] & LETTER_MASK).astype("<u4").view(np.uint8).reshape(-1, 4)
        above, letter = np.nonzero(np.unpackbits(masks, axis=1, bitorder="little"))
        nodes = nodes[-1] + 1 + np.arange(len(above))
        letters = letters[above]
        if depth < longest:
            letters[:, depth] = letter
        length = min(depth + 1, longest)
        code = trie.nodes[nodes] >> CODE_SHIFT & (N_CODES - 1)
        words = letters[code > 0]
        equal = np.zeros(len(words), np.uint64)
        at = words.T.copy()
        for bit, (i, j) in enumerate(pairs_of(length)):
            equal |= (at[i] == at[j]).astype(np.uint64) << np.uint64(bit)
        by_length.append((words, np.full(len(words), length), code[code > 0], equal))
        if depth < longest:
            n_whole += len(words)
        if not len(above):
            break
    arrays = (frozen(np.concatenate(parts)) for parts in zip(*by_length, strict=True))
    return Words._make((*arrays, n_whole))
