"""The terms of a node, generated the faster way: from path shapes or by a walk over the word
trie.

>>> from orderly_boggle.boardclass.geometry import geometry
>>> from orderly_boggle.search.scoring.trie import build_trie
>>> generator = Generator(geometry("3x4"), Rules(), Budgets(), build_trie({"tea": 1}, 12), 1 << 12)
>>> generator.code_bits, generator.max_free, generator.max_walked
(4, 12, 6)
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, Int64s, UInt64s
from orderly_boggle.boardclass.geometry import Geometry
from orderly_boggle.boardclass.jit import frozen
from orderly_boggle.search.keys import LITERAL_BITS, MAX_OUTSIDE, N_CODES
from orderly_boggle.search.node import N_LETTERS, Node, at_least, before
from orderly_boggle.search.params import KEY_CELLS, MOST_CELLS_OUTSIDE, Budgets, Rules
from orderly_boggle.search.scoring.trie import Trie
from orderly_boggle.search.terms import shapes, walk
from orderly_boggle.search.terms.emit import Rim
from orderly_boggle.search.terms.kin import Kin
from orderly_boggle.search.terms.path_table import MAX_EXTRA, PathTable, path_table, shared_words
from orderly_boggle.search.terms.paths import level_shifts

_ALL_LETTERS = (1 << 26) - 1
_SAMPLED = 32  # one word in so many tells about how many terms there will be

_NO_SEGMENTS = np.empty(0, np.int32)
Bare = tuple[tuple[int, int], ...]  # (cell, letter mask) of bare cells, in cell order
# ``shift``, ``forbidden`` and ``pairs`` of a Rim
_Limits = tuple[list[int], list[int], list[tuple[int, int]]]


class Generator:
    """Generates the terms of one node at a time; ``capacity`` is the most terms that fit the
    memory.

    buckets : the letters (masks) of cells that are fused from the start, on which words may have
        kin
    rim : the bare cells of the rim, whose path table serves the nodes over it as well; empty if
        there is no rim
    demands : those of the class whose layers are grown (search.node); terms that contradict them
        are left out
    code_bits : low bits of a term that hold the points code; the highest of them marks points to
        lose
    points_of_code : int32[], points by code
    max_free : most free cells of a node that a key has room for
    max_open : most free cells of an open node, whose first ones may be outside the keys
        (search.trees.segments)
    max_walked : with at most this many free cells the walk is at least as fast as path shapes

    All terms are written to ``room``, uint64[]; methods return their number, or a negative status.
    """

    def __init__(
        self, board: Geometry, rules: Rules, budgets: Budgets, trie: Trie, capacity: int,
        buckets: Iterable[int] = (),
    ) -> None:  # fmt: skip
        self.board = board
        self.rim: tuple[int, ...] = ()
        self.demands: tuple[tuple[int, int], ...] = ()
        self._rules = rules
        self._budgets = budgets
        self.trie, self._words = shared_words(board, trie)
        self._kin = Kin(self._words, buckets)
        self._sample = self._words.sample(_SAMPLED)
        self._max_len = int(self._words.length.max(initial=1))
        n_codes = int(np.count_nonzero(self.trie.points))
        self.code_bits = max(4, n_codes.bit_length() + 1)
        kept = self.trie.points[: 1 << (self.code_bits - 1)]
        gain = np.zeros(1 << (self.code_bits - 1), np.int32)
        gain[: kept.size] = kept
        self.points_of_code = frozen(np.concatenate([gain, -gain]))
        self._smaller = before(rules.demand_order)
        self._greater = [mask & ~(1 << x) for x, mask in enumerate(at_least(rules.demand_order))]
        codes = np.zeros(1 << LITERAL_BITS, np.int64)
        codes[1 : N_LETTERS + 1] = [mask << 1 for mask in self._smaller]
        self._smaller_codes = frozen(codes)
        self.max_free = min(rules.max_free, KEY_CELLS, (64 - self.code_bits) // LITERAL_BITS)
        self.max_open = self.max_free
        if rules.max_free > KEY_CELLS and board.n <= MOST_CELLS_OUTSIDE:
            self.max_open = min(rules.max_free, self.max_free + MAX_OUTSIDE)
        # The walk needs no table: the one for nine bare cells of 4x4 would take 900 MB, and 3 GB
        # while it is made.
        self.max_walked = board.n // 2
        self._n_fused = sum(kind in rules.fused for kind in board.cell_types)
        self._front = walk.new_frontier(min(1 << 24, max(1 << 12, capacity)))

    def of_node(
        self, node: Node, free: list[int], room: UInt64s, needs_whole_words: bool = False
    ) -> int:
        """Write all terms of a node.

        Path shapes look at every path and suit nodes with many, nearly open free cells; the walk
        suits the others.  On a large board path shapes know only a part of the longest words.
        """
        wide = sum(node.masks[c].bit_count() for c in free) >= self._budgets.shape_letters * len(
            free
        )
        is_cut = self._words.n_whole < len(self._words.length)
        if not wide or len(free) <= self.max_walked or (needs_whole_words and is_cut):
            return self._walk(node, free, room)
        shifts = level_shifts(self.board, node.bare).tolist()
        tight = [c for c in free if node.masks[c] != _ALL_LETTERS]
        forbidden = [(_ALL_LETTERS & ~node.masks[c]) << 1 for c in tight]
        bare = tuple((c, node.masks[c]) for c in self.board.cell_order if node.is_bare(c))
        return self.of_open(bare, room, limits=([shifts[c] for c in tight], forbidden, []))

    def n_outside(self, bare: Bare) -> int:
        """Return how many free cells of an open node are outside the keys."""
        return max(0, self.board.n - len(bare) - self.max_free)

    def n_segments(self, bare: Bare) -> int:
        """Return how many segments the terms of an open node are in."""
        return int(N_CODES ** self.n_outside(bare))

    def of_base(self, bare: Bare, room: UInt64s, new: int, segments: Int32s = _NO_SEGMENTS) -> int:
        """Write those of the terms of :meth:`of_open` that do not use the first free cell."""
        # that cell is bare and has no letter: paths over it are passed over
        if self._n_extra(len(bare)) < MAX_EXTRA:
            hole = self.board.cell_order[len(bare)], 0
            return self.of_open((*bare, hole), room, new, segments=segments)
        limit = np.uint64((self.first_key(bare) << self.code_bits) - 1)
        return self.of_open(bare, room, new, limit=limit)

    def seems_to_fit(self, bare: Bare, room: UInt64s, new: int) -> bool:
        """Return whether the terms of :meth:`of_open` seem to fit, from a sample of the words;
        ``room`` is used.
        """
        n = self.of_open(bare, room, new, every=_SAMPLED)
        return 0 <= n * _SAMPLED <= room.size

    def n_at_most(self, bare: Bare) -> int:
        """Return a number that the terms of an open node do not exceed."""
        return self.of_open(bare, None)

    def first_key(self, bare: Bare) -> int:
        """Return the smallest key that uses the first free cell of a layer: its base has only
        smaller ones.
        """
        return 1 << LITERAL_BITS * (self.board.n - len(bare) - 1)

    def _demanded(self, bare: Bare) -> _Limits:
        """Return what the demands leave to the free cells of a layer; nothing is demanded of the
        rim, which is shared, and nothing while cells are outside the keys.

        What one layer leaves out, every later one leaves out as well, so no layer loses a term that
        was never gained.
        """
        letters = dict(bare)
        shift_of = level_shifts(self.board, 0).tolist()
        shift: list[int] = []
        forbidden: list[int] = []
        pairs: list[tuple[int, int]] = []
        if not any(letters.values()) or self.n_outside(bare):
            return shift, forbidden, pairs
        for c, d in self.demands:
            if c not in letters and d not in letters:
                pairs.append((shift_of[c], shift_of[d]))
            elif d not in letters and letters[c]:
                shift.append(shift_of[d])
                forbidden.append(_common(letters[c], self._smaller) << 1)
            elif c not in letters and letters[d]:
                shift.append(shift_of[c])
                forbidden.append(_common(letters[d], self._greater) << 1)
        return shift, forbidden, pairs

    def _table(self, bare: int) -> tuple[PathTable, int]:
        """Return a path table for some bare cells and how many of its extra cells are among them.

        Where the bare cells are the first ones in cell order, some more than those of the first
        table, that table will do.
        """
        order = self.board.cell_order
        n = bare.bit_count()
        n_extra = 0
        if all(bare >> c & 1 for c in order[:n]):
            n_extra = self._n_extra(n)
            bare = sum(1 << c for c in order[: n - n_extra])
        return path_table(str(self.board.dims), bare, self._max_len, order), n_extra

    def _n_extra(self, n_bare: int) -> int:
        """Return how many of the first ``n_bare`` cells in cell order, bare, are extra cells of
        their table: after the bare cells of the rim, each table serves a few more.

        More cells than a key holds may be outside the centre: then the first table is that of the
        centre, for with every bare cell more there are more groups of paths.
        """
        n_first = len(self.rim)
        n_open = self.board.n - self._n_fused
        if self._n_fused and self.max_free < n_open <= self.max_free + MAX_OUTSIDE:
            n_first = self._n_fused
        if 0 < n_first <= n_bare:
            return (n_bare - n_first) % (MAX_EXTRA + 1)
        return 0

    def of_open(
        self, bare: Bare, out: UInt64s | None, new: int = 0, only: int = shapes.ALL,
        limit: np.uint64 = shapes.NO_LIMIT,
        limits: _Limits | None = None, every: int = 1, segments: Int32s = _NO_SEGMENTS,
    ) -> int:  # fmt: skip
        """Write, from path shapes (search.terms.shapes), all terms of an open node with some bare
        cells, or those that change when the ``new`` ones of these (a mask of numbers) become bare;
        only count them if ``out`` is None.

        If none of its bare cells has a letter, that is the rim.  If it has cells outside the keys,
        ``segments`` are filled with the segment of each term.
        """
        if out is None:
            out = np.empty(0, np.uint64)
        elif not out.size:  # the kernel would only count
            return shapes.TERMS_FULL
        table, n_extra = self._table(sum(1 << c for c, _ in bare))
        shift, forbidden, pairs = limits or self._demanded(bare)
        fused = []
        for i, (c, letters) in enumerate(bare):
            if self._has_kin(c, letters):
                fused.append(i)
        kin = np.zeros((len(fused), self._words.length.size), np.int8)
        for row, number in zip(kin, fused, strict=True):
            row[:] = self._kin.on(bare[number][1])
        arrays = (
            _by_letter([letters for _, letters in bare]),
            np.array(shift, np.int64),
            np.array(forbidden, np.int64),
            np.array(pairs, np.int64).reshape(-1, 2),
            self._smaller_codes,
            np.array(fused, np.int64),
            kin[:, ::every].copy(),
        )
        n_outside = self.n_outside(bare)
        rim = Rim._make((*map(frozen, arrays), n_extra, n_outside))
        if every == 1:
            words = self._words
        else:
            words = self._sample
        n, _ = shapes.shape_terms(
            words, table, rim, out, self.code_bits, new, limit, only,
            segments if n_outside else _NO_SEGMENTS,
        )  # fmt: skip
        return int(n)

    def _has_kin(self, cell: int, letters: int) -> bool:
        """Return whether words may have kin on a cell: it is fused from the start, so every layer
        but the rim and that with a hole there knows it with the same letters.
        """
        return letters.bit_count() > 1 and self.board.cell_types[cell] in self._rules.fused

    def _walk(self, node: Node, free: list[int], out: UInt64s) -> int:
        """Write terms to ``out`` by the walk (search.terms.walk)."""
        unit = np.zeros(self.board.n, np.uint64)
        unit[free] = np.uint64(1) << level_shifts(self.board, node.bare)[free].astype(np.uint64)
        low = sum(1 << (LITERAL_BITS * i) for i in range(len(free)))
        holds = _by_letter(node.masks)
        cells = walk.Cells(self.board.neighbour_masks, frozen(holds), frozen(unit), node.bare, low)
        n, _ = walk.walk(
            self.trie.nodes, cells, self._front, out, self.code_bits, self._budgets.absorb_limit
        )
        return int(n)


def _by_letter(masks: Sequence[int]) -> Int64s:
    """Return int64[26]: for each letter the places of the masks that have it, as a mask."""
    has_letter = np.array(masks, np.int64)[:, None] >> np.arange(N_LETTERS) & 1
    return (1 << np.arange(len(masks))) @ has_letter


def _common(letters: int, masks: Sequence[int]) -> int:
    """Return what the masks of all these letters (a mask) have in common."""
    return reduce(and_, (mask for x, mask in enumerate(masks) if letters >> x & 1))
