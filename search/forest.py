"""Working memory of a worker and what grows in it: the terms of a node and the orderly trees over them.

    grow(node)       all terms of a node as one tree
    grow_beside_rim  only the terms that use a bare cell, beside the *rim tree*: the terms that use none, which are
                     the same for every class with the same bare cells; grown once, kept at the front of the arrays

Two roots bound a little looser than one (no absorption of rim terms, no merged maximum) but cost a fraction to grow:
the rim has more terms than all the rest of a weak class.  Design: search.md section 4, idea 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boardclass.geometry import Geometry
from boardclass.jit import frozen
from boardclass.scores import n_letters
from search import shapes, tree, walk
from search.node import Node
from search.params import Params
from search.paths import MAX_CELLS, path_table
from search.trie import build_trie

MAX_FREE_CELLS = 12
BITS_PER_LEVEL = 5
_ALL_LETTERS = (1 << 26) - 1
_BYTES_PER_TERM = 24  # 8 term or key, 4 points, 12 tree


class Grown(NamedTuple):
    """Trees over a node: the shared arrays, the roots, and how many terms were generated for it."""

    orderly: tree.Tree
    roots: tuple[int, ...]
    bound: int
    n_terms: int
    n_bytes: int


class Forest:
    """Holds the word arrays and the working memory; grows the trees of one node at a time.

    Parameters
    ----------
    board : geometry
    words : words in q-form
    points : points by number of letters
    params : Params
    """

    def __init__(self, board: Geometry, words: Sequence[str], points: Sequence[int], params: Params) -> None:
        self.geometry = board
        self.params = params
        fitting = [w for w in words if len(w) <= board.n and points[n_letters(w)]]
        self._trie = build_trie(fitting, [points[n_letters(w)] for w in fitting], board.n)
        codes = {int(p): code for code, p in enumerate(self._trie.points) if p}
        self._words = shapes.word_arrays(fitting, [codes[points[n_letters(w)]] for w in fitting])
        self._max_len = max(map(len, fitting), default=1)
        self._code_bits = max(4, len(codes).bit_length())
        self.max_free = min(MAX_FREE_CELLS, (64 - self._code_bits) // BITS_PER_LEVEL)
        capacity = params.memory_mb * (1 << 20) // _BYTES_PER_TERM
        self._terms = np.empty(capacity, np.uint64)
        self._points = np.empty(capacity, np.int32)
        self._cells = np.empty(max(1 << 12, capacity * 3), np.int32)
        self._front = walk.new_frontier(min(1 << 24, max(1 << 12, capacity)))
        self._rim_bare = -1
        self._rim: Grown | None = None

    def grow(self, node: Node, free: list[int]) -> Grown | None:
        """Return one tree over all terms of a node; None if it does not fit the memory."""
        self._rim_bare, self._rim = -1, None
        return self._grow(node, free, shapes.ALL, 0, 1)

    def terms(self, node: Node, free: list[int]) -> tuple[NDArray[np.uint64], NDArray[np.int32]] | None:
        """Return the distinct keys of a node, sorted, and their points, in arrays that the next call overwrites.

        None if they do not fit the memory.
        """
        self._rim_bare, self._rim = -1, None
        n = self._generate(node, free, shapes.ALL, 0)
        if n < 0:
            return None
        terms = self._terms[:n]
        terms.sort()
        n_keys = int(tree.group(terms, self._points, self._trie.points, self._code_bits))
        return self._terms[:n_keys], self._points[:n_keys]

    def suits_rim(self, node: Node, free: list[int]) -> bool:
        """Return whether :meth:`grow_beside_rim` applies: every free cell is open to all letters."""
        return self.geometry.n <= MAX_CELLS and all(node.masks[c] == _ALL_LETTERS for c in free)

    def grow_beside_rim(self, node: Node, free: list[int]) -> Grown | None:
        """Return the rim tree and the tree over the other terms of a node; None if they do not fit the memory."""
        if self._rim_bare != node.bare:
            self._rim_bare, self._rim = -1, None
            self._rim = self._grow(node, free, shapes.RIM_ONLY, 0, 1)
            self._rim_bare = node.bare
        rim = self._rim
        if rim is None:
            return None
        own = self._grow(node, free, shapes.WITH_BARE, self._n_keys_rim, self._tip_rim)
        if own is None:
            return None
        return Grown(own.orderly, rim.roots + own.roots, rim.bound + own.bound, own.n_terms, rim.n_bytes + own.n_bytes)

    def _grow(self, node: Node, free: list[int], which: int, begin: int, tip: int) -> Grown | None:
        """Grow a tree in the arrays from key ``begin`` and tree offset ``tip`` on."""
        n = self._generate(node, free, which, begin)
        if n < 0:
            return None
        terms = self._terms[begin : begin + n]
        terms.sort()
        n_keys = int(tree.group(terms, self._points[begin:], self._trie.points, self._code_bits))
        end = begin + n_keys
        grown, root, bound = tree.build(self._terms, self._points, begin, end, len(free), self._cells, tip)
        if grown < 0:
            return None
        if which == shapes.RIM_ONLY:
            self._n_keys_rim, self._tip_rim = end, int(grown)
        orderly = tree.Tree(frozen(self._cells), frozen(self._terms), frozen(self._points), len(free))
        return Grown(orderly, (int(root),), int(bound), n, 12 * n_keys + 4 * int(grown - tip))

    def _generate(self, node: Node, free: list[int], which: int, begin: int) -> int:
        """Generate terms from index ``begin`` on; return their number or a negative status.

        Path shapes look at every path and suit nodes whose free cells are nearly open; the walk suits narrow ones.
        """
        n_letters_free = sum(node.masks[c].bit_count() for c in free)
        wide = n_letters_free >= self.params.shape_letters * len(free)
        if which != shapes.ALL or (self.geometry.n <= MAX_CELLS and wide):
            return self._generate_shapes(node, free, which, begin)
        return self._generate_walk(node, free, begin)

    def _generate_shapes(self, node: Node, free: list[int], which: int, begin: int) -> int:
        table = path_table(str(self.geometry.dims), node.bare, self._max_len)
        bare = [c for c in self.geometry.cell_order if node.is_bare(c)]
        on_bare = [sum(1 << i for i, c in enumerate(bare) if node.masks[c] >> x & 1) for x in range(26)]
        if which == shapes.RIM_ONLY:
            on_bare = [0] * 26  # the rim tree serves every class: no bare letter may absorb its terms
        tight = [(level, c) for level, c in enumerate(free) if node.masks[c] != _ALL_LETTERS]
        shift = [BITS_PER_LEVEL * (len(free) - 1 - level) for level, _ in tight]
        forbidden = [(_ALL_LETTERS & ~node.masks[c]) << 1 for _, c in tight]
        rim = shapes.Rim(*(frozen(np.array(values, np.int64)) for values in (on_bare, shift, forbidden)))
        n, _ = shapes.shape_terms(self._words, table, rim, self._terms[begin:], self._code_bits, which)
        return int(n)

    def _generate_walk(self, node: Node, free: list[int], begin: int) -> int:
        unit = np.zeros(self.geometry.n, np.uint64)
        for level, c in enumerate(free):
            unit[c] = 1 << (BITS_PER_LEVEL * (len(free) - 1 - level))
        low = sum(1 << (BITS_PER_LEVEL * i) for i in range(len(free)))
        holds = np.array([sum(1 << c for c, m in enumerate(node.masks) if m >> x & 1) for x in range(26)], np.int64)
        cells = walk.Cells(self.geometry.neighbour_masks, frozen(holds), frozen(unit), node.bare, low)
        limit = self.params.absorb_limit
        n, _ = walk.walk(self._trie.nodes, cells, self._front, self._terms[begin:], self._code_bits, limit)
        return int(n)
