"""Working memory of a worker and what grows in it: the terms of a node and the orderly tree over them.

    grow(node)           all terms of a node as one tree
    grow_on_layers(node) the same tree, merged layer by layer: each layer adds what forcing some more cells changes
        0  the *rim*: terms that use no bare cell, the same for every class; grown once
        1  the class: terms that use its bare cells, less the rim terms that absorption takes away
        2  the next cell forced to a letter, and so on down to the node

Layers lie in the arrays one behind the other, like the nodes of a depth-first search, and stay until another branch
needs the place.  A layer keeps two trees: one over all terms, to be searched, and one over the terms that do not use
the next free cell, which the next layer starts from.  Design: search.md section 4, ideas 2 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boardclass.geometry import Geometry
from boardclass.jit import frozen
from boardclass.scores import n_letters
from search import merge, shapes, tree, walk
from search.node import Node
from search.params import Params
from search.paths import MAX_CELLS, path_table
from search.trie import Trie, build_trie

MAX_FREE_CELLS = 12
BITS_PER_LEVEL = 5
_ALL_LETTERS = (1 << 26) - 1
_BYTES_PER_TERM = 24  # 8 term or key, 4 points, 12 tree


class Grown(NamedTuple):
    """A tree over a node: the shared arrays, the root and its bound, how many terms were generated for it, bytes."""

    orderly: tree.Tree
    root: int
    bound: int
    n_terms: int
    n_bytes: int


class Lexicon(NamedTuple):
    """What the words of a run come to: arrays that workers share, read only."""

    trie: Trie
    words: shapes.Words


def make_lexicon(board: Geometry, words: Sequence[str], points: Sequence[int]) -> Lexicon:
    """Return the arrays of the words that fit a board and are worth something; ``points`` by number of letters."""
    fitting = [w for w in words if len(w) <= board.n and points[n_letters(w)]]
    trie = build_trie(fitting, [points[n_letters(w)] for w in fitting], board.n)
    codes = {int(p): code for code, p in enumerate(trie.points) if p}
    return Lexicon(trie, shapes.word_arrays(fitting, [codes[points[n_letters(w)]] for w in fitting]))


class _Layer(NamedTuple):
    """What is in the arrays for one node of the layers.

    Attributes
    ----------
    bare : (cell, letter mask) of the bare cells, in cell order
    base : root over the terms that the next layer can keep: none uses the first free cell
    whole : root over all terms, 0 if there is none (any more)
    bound : its bound
    n_keys : first unused place of the keys
    tip : first unused place of the cells when ``whole`` is given up
    end : first unused place of the cells
    n_terms : terms generated for it
    """

    bare: tuple[tuple[int, int], ...]
    base: int
    whole: int
    bound: int
    n_keys: int
    tip: int
    end: int
    n_terms: int


class Forest:
    """Holds the word arrays and the working memory; grows the trees of one node at a time.

    Parameters
    ----------
    board : geometry
    words : words in q-form
    points : points by number of letters
    params : Params
    lexicon : Lexicon, optional
        That of the same words and points, where there is one.
    """

    def __init__(
        self,
        board: Geometry,
        words: Sequence[str],
        points: Sequence[int],
        params: Params,
        lexicon: Lexicon | None = None,
    ) -> None:
        self.geometry = board
        self.params = params
        self._trie, self._words = lexicon or make_lexicon(board, words, points)
        self._max_len = int(self._words.length.max(initial=1))
        n_codes = int(np.count_nonzero(self._trie.points))
        self._code_bits = max(4, n_codes.bit_length() + 1)  # the highest bit marks points to lose
        kept = self._trie.points[: 1 << (self._code_bits - 1)]
        gain = np.zeros(1 << (self._code_bits - 1), np.int32)
        gain[: kept.size] = kept
        self._points_of_code = frozen(np.concatenate([gain, -gain]))
        self.max_free = min(MAX_FREE_CELLS, (64 - self._code_bits) // BITS_PER_LEVEL)
        capacity = params.memory_mb * (1 << 20) // _BYTES_PER_TERM
        self._terms = np.empty(capacity, np.uint64)
        self._points = np.empty(capacity, np.int32)
        self._cells = np.empty(max(1 << 12, capacity * 3), np.int32)
        self._front = walk.new_frontier(min(1 << 24, max(1 << 12, capacity)))
        self._rim_bare: tuple[int, ...] = ()
        self._layers: list[_Layer] = []
        self._too_large: set[tuple[tuple[int, int], ...]] = set()

    def turn(self, board: Geometry) -> None:
        """Go on with another cell order of the same board; what was grown is void."""
        self.geometry = board
        self._layers.clear()
        self._too_large.clear()
        self._rim_bare = ()

    def grow(self, node: Node, free: list[int]) -> Grown | None:
        """Return one tree over all terms of a node; None if it does not fit the memory."""
        self._layers.clear()
        n = self._generate(node, free)
        if n < 0:
            return None
        n_keys = self._sort(0, n)
        tip, root, bound = tree.build(self._terms, self._points, 0, n_keys, len(free), self._cells, 1)
        return None if tip < 0 else self._grown(len(free), 0, int(root), int(bound), n, n_keys, int(tip))

    def terms(self, node: Node, free: list[int]) -> tuple[NDArray[np.uint64], NDArray[np.int32]] | None:
        """Return the distinct keys of a node, sorted, and their points, in arrays that the next call overwrites.

        None if they do not fit the memory.
        """
        self._layers.clear()
        n = self._generate(node, free)
        if n < 0:
            return None
        n_keys = self._sort(0, n)
        return self._terms[:n_keys], self._points[:n_keys]

    def suits_layers(self, class_bare: Sequence[int], node: Node) -> bool:
        """Return whether :meth:`grow_on_layers` applies to a node of an open class.

        The bare cells of the class, then those of the node, must come first in cell order, so that every layer numbers
        them alike and levels are taken away from the top; and no more may be free than a key has room for.
        """
        order, n_bare = self.geometry.cell_order, node.bare.bit_count()
        is_first = set(class_bare) == set(order[: len(class_bare)]) and all(map(node.is_bare, order[:n_bare]))
        return is_first and self.geometry.n - self.max_free <= n_bare and self.geometry.n <= MAX_CELLS

    def grow_on_layers(self, class_bare: Sequence[int], node: Node) -> Grown | None:
        """Return one tree over all terms of a node of an open class, all letters on its free cells.

        Parameters
        ----------
        class_bare : the cells that are bare in the class
        node : the node; what its free cells may hold is left to the search

        Returns None if the tree does not fit the memory or has more than ``whole_terms`` terms of its own; the base
        that its parts start from may be there all the same.  A node whose base does not fit is grown by itself.
        """
        order = self.geometry.cell_order
        n_rim = max(len(class_bare), self.geometry.n - self.max_free)
        bare = tuple((c, node.masks[c]) for c in order if node.is_bare(c))
        if self._rim_bare != order[:n_rim]:
            self._layers.clear()
            self._too_large.clear()
            self._rim_bare = order[:n_rim]
        if not self._layers and (() in self._too_large or not self._add_rim()):
            self._too_large.add(())
            return self._grow_if_it_fits(node)
        while self._layers[-1].bare != bare[: len(self._layers[-1].bare)]:
            self._layers.pop()
        if self._layers[-1].bare == bare and not self._layers[-1].whole:  # given up for a part of it
            self._layers.pop()
        for n in range(n_rim, len(bare) + 1):
            is_new = n > len(self._layers[-1].bare) and bare[:n] not in self._too_large
            if is_new and not self._add_layer(bare[:n], n == len(bare)):
                self._too_large.add(bare[:n])
        last = self._layers[-1]
        if last.bare != bare:
            return self._grow_if_it_fits(node)
        if not last.whole:
            return None
        first = len(bare) - n_rim
        return self._grown(len(order) - n_rim, first, last.whole, last.bound, last.n_terms, last.n_keys, last.end)

    def _grow_if_it_fits(self, node: Node) -> Grown | None:
        """Grow one tree without layers, unless counting its terms beforehand says that it will not fit."""
        free = [c for c in self.geometry.cell_order if not node.is_bare(c)]
        on_bare = self._on_bare([(c, node.masks[c]) for c in self.geometry.cell_order if node.is_bare(c)])
        expected = self._shapes(node.bare, on_bare, 0, shapes.NO_LIMIT, -1)
        return self.grow(node, free) if expected <= self._terms.size else None

    def _on_bare(self, bare: Sequence[tuple[int, int]]) -> list[int]:
        """Return for each letter the mask of the bare cell numbers that may hold it."""
        return [sum(1 << i for i, (_, letters) in enumerate(bare) if letters >> x & 1) for x in range(26)]

    def _grown(self, n_levels: int, first: int, root: int, bound: int, n_terms: int, n_keys: int, tip: int) -> Grown:
        orderly = tree.Tree(frozen(self._cells), frozen(self._terms), frozen(self._points), n_levels, first)
        return Grown(orderly, root, bound, n_terms, 12 * n_keys + 4 * (tip - 1))

    def _sort(self, begin: int, n: int) -> int:
        """Sort and group the terms from ``begin`` on; return the number of keys."""
        terms = self._terms[begin : begin + n]
        terms.sort()
        return int(tree.group(terms, self._points[begin:], self._points_of_code, self._code_bits))

    def _add_rim(self) -> bool:
        """Put down the rim; return whether it fits."""
        bare = sum(1 << c for c in self._rim_bare)
        n_levels = self.geometry.n - len(self._rim_bare)
        n = self._shapes(bare, [0] * 26, 0, shapes.NO_LIMIT, 0)
        if n < 0:
            return False
        n_keys = self._sort(0, n)
        tip, root, bound = tree.build(self._terms, self._points, 0, n_keys, n_levels, self._cells, 1)
        if tip > 0:
            self._layers.append(_Layer((), int(root), int(root), int(bound), n_keys, int(tip), int(tip), n))
        return bool(tip > 0)

    def _add_layer(self, bare: tuple[tuple[int, int], ...], wanted: bool) -> bool:
        """Put a layer on the last one; return whether it fits.  Its whole tree is grown if ``wanted`` and not large."""
        below = self._layers[-1]
        n_levels = self.geometry.n - len(self._rim_bare)
        first = len(bare) - len(self._rim_bare)
        mask = sum(1 << c for c, _ in bare)
        on_bare = self._on_bare(bare)
        new = (1 << len(bare)) - (1 << len(below.bare))
        begin = below.n_keys
        expected = self._shapes(mask, on_bare, new, shapes.NO_LIMIT, -1)
        room = self._terms.size - begin
        whole = wanted and expected <= min(self.params.whole_terms, room)
        first_key = 1 << 5 * (n_levels - 1 - first)  # keys from here on have a literal on the first free cell
        limit = shapes.NO_LIMIT if whole else np.uint64((first_key << self._code_bits) - 1)
        n = self._shapes(mask, on_bare, new, limit, begin)
        if n < 0:
            return False
        end = begin + self._sort(begin, n)
        cut = begin + int(np.searchsorted(self._terms[begin:end], np.uint64(first_key)))
        root, tip = self._root_of(below.tip, below.base, first + 1, 0)
        tip, base, bound, spill = self._merge(begin, cut, end, n_levels, tip, root)
        if tip < 0:
            return False
        self._layers[-1] = below._replace(whole=0) if below.bare else below
        layer = _Layer(bare, base, 0, bound, spill, tip, tip, n)
        if whole:
            root, tip = self._root_of(tip, base, first + 1, below.base)
            tip, root, bound, spill = self._merge(cut, end, spill, n_levels, tip, root)
            if tip > 0:
                layer = layer._replace(whole=root, bound=bound, n_keys=spill, end=tip)
        self._layers.append(layer)
        return True

    def _merge(self, begin: int, end: int, spill: int, n_levels: int, tip: int, root: int) -> tuple[int, int, int, int]:
        """Merge keys into a tree (search.merge)."""
        tip, root, bound, spill = merge.merge(
            self._terms, self._points, begin, end, spill, n_levels, self._cells, tip, root
        )
        if tip == merge.NO_EQUAL:
            raise AssertionError("terms to lose are not in the tree they were taken from")
        return int(tip), int(root), int(bound), int(spill)

    def _root_of(self, tip: int, root: int, level: int, other: int) -> tuple[int, int]:
        """Write a sum node with the choices of ``root`` on ``level`` and later ones and, if there is an ``other`` root,
        its choice on the level before; return (the node, the new tip)."""
        cells = self._cells
        if tip + tree.LARGEST_NODE > cells.size:
            return root, cells.size  # merge will find no room either
        kept = [x for x in self._choices(root) if x[0] >= level]
        kept += [x for x in self._choices(other) if x[0] == level - 1] if other else []
        cells[tip] = len(kept) | (int(cells[root]) >> 4) << 4
        end = tip + 1
        for _, begin, size in kept:
            cells[end : end + size] = cells[begin : begin + size]
            end += size
        return tip, end

    def _choices(self, root: int) -> list[tuple[int, int, int]]:
        """Return (level, offset, size) of the choices of a sum node."""
        found = []
        at = root + 1
        for _ in range(int(self._cells[root]) & 15):
            word = int(self._cells[at]) & ((1 << 32) - 1)
            size = 1 + 2 * (word & _ALL_LETTERS).bit_count()
            found.append((word >> tree.LETTER_BITS, at, size))
            at += size
        return found

    def _generate(self, node: Node, free: list[int]) -> int:
        """Generate all terms of a node; return their number or a negative status.

        Path shapes look at every path and suit nodes whose free cells are nearly open; the walk suits narrow ones.
        """
        wide = sum(node.masks[c].bit_count() for c in free) >= self.params.shape_letters * len(free)
        if self.geometry.n > MAX_CELLS or not wide:
            return self._generate_walk(node, free)
        on_bare = self._on_bare([(c, node.masks[c]) for c in self.geometry.cell_order if node.is_bare(c)])
        tight = [(level, c) for level, c in enumerate(free) if node.masks[c] != _ALL_LETTERS]
        shift = [BITS_PER_LEVEL * (len(free) - 1 - level) for level, _ in tight]
        forbidden = [(_ALL_LETTERS & ~node.masks[c]) << 1 for _, c in tight]
        return self._shapes(node.bare, on_bare, 0, shapes.NO_LIMIT, 0, shift, forbidden)

    def _shapes(
        self,
        bare: int,
        on_bare: list[int],
        new: int,
        limit: np.uint64,
        begin: int,
        shift: Sequence[int] = (),
        forbidden: Sequence[int] = (),
    ) -> int:
        """Write terms from path shapes from index ``begin`` on, or only count them if it is negative."""
        table = path_table(str(self.geometry.dims), bare, self._max_len, self.geometry.cell_order)
        rim = shapes.Rim(*(frozen(np.array(values, np.int64)) for values in (on_bare, shift, forbidden)))
        out = self._terms[begin:] if begin >= 0 else self._terms[:0]
        n, _ = shapes.shape_terms(self._words, table, rim, out, self._code_bits, new, limit)
        return int(n)

    def _generate_walk(self, node: Node, free: list[int]) -> int:
        unit = np.zeros(self.geometry.n, np.uint64)
        for level, c in enumerate(free):
            unit[c] = 1 << (BITS_PER_LEVEL * (len(free) - 1 - level))
        low = sum(1 << (BITS_PER_LEVEL * i) for i in range(len(free)))
        holds = np.array([sum(1 << c for c, m in enumerate(node.masks) if m >> x & 1) for x in range(26)], np.int64)
        cells = walk.Cells(self.geometry.neighbour_masks, frozen(holds), frozen(unit), node.bare, low)
        limit = self.params.absorb_limit
        n, _ = walk.walk(self._trie.nodes, cells, self._front, self._terms, self._code_bits, limit)
        return int(n)
