"""Working memory of a worker and what grows in it: the terms of a node and the orderly tree over them.

    grow(node)           all terms of a node as one tree
    grow_on_layers(node) the same tree, merged layer by layer: each layer adds what forcing some more cells changes
        0  the *rim*: terms that use no bare cell, the same for every class; grown once
        1  the class: terms that use its bare cells, less the rim terms that absorption takes away
        2  the next cell forced to a letter, and so on down to the node

Layers lie in the arrays one behind the other, like the nodes of a depth-first search, and stay until another branch
needs the place.  A layer has two trees: the *whole*, over all terms, to be searched, and the *base*, over the terms
that do not use the next free cell.  Forcing that cell to a letter makes a new whole of the base and of what the whole
has behind that letter (the gains); only the terms that absorption takes away have to be generated (the losses).  Where
a whole is too large to be there, the gains are generated as well.

Where half of the cells or fewer are free there is little to keep: such a node is grown at once, by the walk, behind the
layers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boardclass.geometry import Geometry
from boardclass.jit import frozen
from boardclass.scores import n_letters
from search.node import Node
from search.params import Params
from search.scoring.trie import Trie, build_trie
from search.terms import radix, shapes, walk
from search.terms.paths import MAX_CELLS, MAX_EXTRA, PathTable, path_table
from search.trees import build, merge, runs, tree

MAX_FREE_CELLS = 12
BITS_PER_LEVEL = 5
_ALL_LETTERS = (1 << 26) - 1
_MOST_NARROW = 64  # points of a word up to which the bounds of a tree take 2 bytes; above they may not fit
_BYTES_PER_TERM = 22  # 8 term or key, 4 points, 10 tree: 2.5 cells; strong classes of 4x4 fill up to 2.46
_ROOM = 8  # a whole that leaves less than this part of the cells free is given up when one of its parts is grown
_MOST_SPILLED = 3  # keys that one new key can make a merge copy: itself and an unbuilt pair


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


def make_lexicon(board: Geometry, words: Sequence[str], points: Sequence[int], trie: Trie | None = None) -> Lexicon:
    """Return the arrays of the words that fit a board and are worth something; ``points`` by number of letters.

    trie : that of the same words and points (a scorer's), where there is one
    """
    fitting = [w for w in words if len(w) <= board.n and points[n_letters(w)]]
    trie = trie or build_trie(fitting, [points[n_letters(w)] for w in fitting], board.n)
    codes = {int(p): code for code, p in enumerate(trie.points) if p}
    return Lexicon(trie, shapes.word_arrays(fitting, [codes[points[n_letters(w)]] for w in fitting]))


class _Layer(NamedTuple):
    """What is in the arrays for one node of the layers.

    Attributes
    ----------
    bare : (cell, letter mask) of the bare cells, in cell order
    base : root over the terms that the next layer can keep: none uses the first free cell
    n_keys, tip : first unused place of the keys and of the cells behind the base
    end_keys, end_tip : the same behind the whole
    whole : root over all terms, 0 if there is none (any more); what is only there lies behind the base
    bound : its bound
    n_bytes : size of all layers so far
    n_terms : terms generated for it
    """

    bare: tuple[tuple[int, int], ...]
    base: int
    n_keys: int
    tip: int
    end_keys: int
    end_tip: int
    whole: int = 0
    bound: int = 0
    n_bytes: int = 0
    n_terms: int = 0


def _n_bytes(n_keys: int, tip: int) -> int:
    """Return the size of so many keys and points and of the cells before ``tip``."""
    return 12 * n_keys + 4 * (tip - 1)


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
        # Up to so many free cells the walk is as fast as path shapes or faster, and needs no table: the one for nine
        # bare cells of 4x4 would take 900 MB, and 3 GB while it is made.
        self._max_walked = board.n // 2
        capacity = params.memory_mb * (1 << 20) // _BYTES_PER_TERM
        self._terms = np.empty(capacity, np.uint64)
        self._points = np.empty(capacity, np.int32)
        self._cells = np.empty(max(1 << 12, capacity * 5 // 2), np.int32)
        self._bounds = self._cells.view(tree.NARROW if max(points) <= _MOST_NARROW else tree.WIDE)
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
        """Return one tree over all terms of a node; None if it does not fit the memory.

        It goes behind the layers that are there; they are given up if it does not fit there.
        """
        if self._layers:
            last = self._with_room()
            grown = self._grow_at(node, free, last.end_keys, last.end_tip)
            if grown:
                return grown
            self._layers.clear()
        return self._grow_at(node, free, 0, 1)

    def _grow_at(self, node: Node, free: list[int], begin: int, tip: int) -> Grown | None:
        """Return one tree over all terms of a node, with its keys from ``begin`` on and its cells from ``tip`` on."""
        n = self._generate(node, free, begin)
        if n < 0:
            return None
        n_keys = self._sort(begin, n, len(free), tip)
        end, root, bound = build.build(
            self._terms, self._points, begin, begin + n_keys, len(free), self._cells, self._bounds, tip
        )
        if end < 0:
            return None
        return Grown(self._tree(len(free), 0), int(root), int(bound), n, _n_bytes(n_keys, int(end) - tip + 1))

    def terms(self, node: Node, free: list[int]) -> tuple[NDArray[np.uint64], NDArray[np.int32]] | None:
        """Return the distinct keys of a node, sorted, and their points, in arrays that the next call overwrites.

        None if they do not fit the memory.
        """
        self._layers.clear()
        n = self._generate(node, free, 0)
        if n < 0:
            return None
        n_keys = self._sort(0, n, len(free), 1)
        return self._terms[:n_keys], self._points[:n_keys]

    def suits_layers(self, class_bare: Sequence[int], node: Node) -> bool:
        """Return whether :meth:`grow_on_layers` applies to a node of an open class.

        The bare cells of the class, then those of the node, must come first in cell order, so that every layer numbers
        them alike and levels are taken away from the top; no more may be free than a key has room for, and more than
        the walk is for.
        """
        order, n_bare = self.geometry.cell_order, node.bare.bit_count()
        is_first = set(class_bare) == set(order[: len(class_bare)]) and all(map(node.is_bare, order[:n_bare]))
        is_suited = self._max_walked < self.geometry.n - n_bare <= self.max_free
        return is_first and is_suited and self.geometry.n <= MAX_CELLS

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
            if is_new and not self._add_layer(bare[:n]):
                self._too_large.add(bare[:n])
        last = self._layers[-1]
        if last.bare != bare:
            return self._grow_if_it_fits(node)
        if not last.whole:
            return None
        first = len(bare) - n_rim
        orderly = self._tree(len(order) - n_rim, first)
        return Grown(orderly, last.whole, last.bound, last.n_terms, last.n_bytes)

    def _grow_if_it_fits(self, node: Node) -> Grown | None:
        """Grow one tree without layers, unless counting its terms beforehand says that it will not fit."""
        free = [c for c in self.geometry.cell_order if not node.is_bare(c)]
        on_bare = self._on_bare([(c, node.masks[c]) for c in self.geometry.cell_order if node.is_bare(c)])
        if self._shapes(node.bare, on_bare, 0, shapes.NO_LIMIT, None) > self._terms.size:
            return None
        self._layers.clear()  # so large a tree would not fit behind them
        return self.grow(node, free)

    def _on_bare(self, bare: Sequence[tuple[int, int]]) -> list[int]:
        """Return for each letter the mask of the bare cell numbers that may hold it."""
        return [sum(1 << i for i, (_, letters) in enumerate(bare) if letters >> x & 1) for x in range(26)]

    def _tree(self, n_levels: int, first: int) -> tree.Tree:
        """Return the arrays as a tree, read only."""
        cells, bounds, keys, points = map(frozen, (self._cells, self._bounds, self._terms, self._points))
        return tree.Tree(cells, bounds, keys, points, n_levels, first)

    def _sort(self, begin: int, n: int, n_levels: int, tip: int) -> int:
        """Sort and group the terms from ``begin`` on; return the number of keys.

        The cells from ``tip`` on are overwritten: the tree over these terms, larger than they, will go there.
        """
        terms = self._terms[begin : begin + n]
        even = tip + tip % 2  # where 8 bytes are aligned
        cells = self._cells[even : even + 2 * n]
        ordered = terms
        if cells.size < 2 * n:  # rare: the tree will hardly fit either
            terms.sort()
        elif radix.sort(terms, spare := cells.view(np.uint64), self._code_bits, BITS_PER_LEVEL * n_levels):
            ordered = spare
        return int(runs.group(ordered, terms, self._points[begin:], self._points_of_code, self._code_bits))

    def _add_rim(self) -> bool:
        """Put down the rim; return whether it fits."""
        bare = sum(1 << c for c in self._rim_bare)
        n_levels = self.geometry.n - len(self._rim_bare)
        n = self._shapes(bare, [0] * 26, 0, shapes.NO_LIMIT, self._terms)
        if n < 0:
            return False
        n_keys = self._sort(0, n, n_levels, 1)
        tip, root, bound = build.build(self._terms, self._points, 0, n_keys, n_levels, self._cells, self._bounds, 1)
        if tip > 0:
            n_bytes = _n_bytes(n_keys, int(tip))
            root, tip = int(root), int(tip)
            self._layers.append(_Layer((), root, n_keys, tip, n_keys, tip, root, int(bound), n_bytes, n))
        return bool(tip > 0)

    def _with_room(self) -> _Layer:
        """Return the last layer; a whole that leaves little room behind it is given up first.

        How much is there depends on the layers alone: what a node's search does must not depend on which nodes were
        searched before it.
        """
        last = self._layers[-1]
        is_crowded = last.end_tip > self._cells.size - self._cells.size // _ROOM
        if last.bare and last.whole and is_crowded:
            last = self._layers[-1] = last._replace(whole=0, end_keys=last.n_keys, end_tip=last.tip)
        return last

    def _add_layer(self, bare: tuple[tuple[int, int], ...]) -> bool:
        """Put a layer on the last one; return whether it fits, its base at least."""
        below = self._with_room()
        letters = bare[-1][1]
        if below.bare and below.whole and len(bare) == len(below.bare) + 1 and letters.bit_count() == 1:
            return self._add_forced(bare, below, letters.bit_length() - 1)
        n_levels = self.geometry.n - len(self._rim_bare)
        first = len(bare) - len(self._rim_bare)
        new = (1 << len(bare)) - (1 << len(below.bare))
        first_key = 1 << 5 * (n_levels - 1 - first)  # keys from here on have a literal on the first free cell
        limit = np.uint64((first_key << self._code_bits) - 1)
        begin = below.end_keys
        n = self._generate_layer(bare, new, shapes.NO_LIMIT, begin)
        whole = n >= 0
        if not whole:
            n = self._generate_layer(bare, new, limit, begin)
        if n < 0:
            return False
        end = begin + self._sort(begin, n, n_levels - first, below.end_tip)
        cut = begin + int(np.searchsorted(self._terms[begin:end], np.uint64(first_key)))
        n_later = end - cut  # keys of the whole only: they wait behind all that the base may need, up to the end
        wait = min(cut + _MOST_SPILLED * (cut - begin), self._terms.size - n_later)
        self._move_keys(cut, wait, n_later)
        root, tip = self._root_of(below.end_tip, below.base, first + 1, 0)
        merged = self._merge(begin, cut, cut, wait, first, tip, root)
        if merged is None and n_later:
            whole = False
            merged = self._merge(begin, cut, cut, self._terms.size, first, tip, root)
        if merged is None:
            return False
        tip, base, _, spill = merged
        layer = _Layer(bare, base, spill, tip, spill, tip)
        if whole:
            later = spill + n_later
            self._move_keys(wait, spill, n_later)
            root, tip = self._root_of(tip, base, first + 1, below.base)
            merged = self._merge(spill, later, later, self._terms.size, first, tip, root)
            if merged is not None:
                tip, root, bound, spill = merged
                layer = layer._replace(whole=root, bound=bound, n_bytes=_n_bytes(spill, tip), n_terms=n)
                layer = layer._replace(end_keys=spill, end_tip=tip)
        self._layers.append(layer)
        return True

    def _add_forced(self, bare: tuple[tuple[int, int], ...], below: _Layer, letter: int) -> bool:
        """Put a layer on the last one, whose first free cell is forced to a letter; return whether it fits.

        What the whole below has behind the letter is merged with its base, less the terms that absorption takes away.
        """
        first = len(bare) - len(self._rim_bare)
        begin = below.end_keys
        n = self._generate_layer(bare, 1 << (len(bare) - 1), shapes.NO_LIMIT, begin, only_losses=True)
        if n < 0:
            return False
        end = begin + self._sort(begin, n, self.geometry.n - len(self._rim_bare) - first, below.end_tip)
        behind = self._behind(below.whole, first - 1, letter)
        merged = self._merge(begin, end, end, self._terms.size, first, below.end_tip, below.base, behind)
        if merged is None:
            return False
        end_tip, whole, bound, spill = merged
        base, tip = self._root_of(end_tip, whole, first + 1, 0)
        n_bytes = _n_bytes(spill, tip)
        self._layers.append(_Layer(bare, base, spill, tip, spill, tip, whole, bound, n_bytes, n))
        return tip < self._cells.size

    def _generate_layer(
        self, bare: Sequence[tuple[int, int]], new: int, limit: np.uint64, begin: int, only_losses: bool = False
    ) -> int:
        """Generate what the ``new`` bare cells change; return the number of terms or a negative status.

        Without a limit more than ``whole_terms`` are too many.
        """
        mask = sum(1 << c for c, _ in bare)
        room = self._terms.size - begin
        most = min(room, self.params.whole_terms) if limit == shapes.NO_LIMIT else room
        return self._shapes(
            mask, self._on_bare(bare), new, limit, self._terms[begin : begin + most], (), (), only_losses
        )

    def _move_keys(self, begin: int, to: int, n: int) -> None:
        """Move ``n`` keys with their points; the places may overlap (numpy would copy them twice then)."""
        for array in (self._terms, self._points):
            source, target = array[begin : begin + n], array[to : to + n]
            assert source.size == target.size, "there is room"
            ctypes.memmove(target.ctypes.data, source.ctypes.data, source.nbytes)

    def _merge(
        self,
        begin: int,
        end: int,
        spill: int,
        key_end: int,
        first: int,
        tip: int,
        root: int,
        other: tuple[int, int] = (0, 0),
    ) -> tuple[int, int, int, int] | None:
        """Merge keys, and bound and reference of another tree, into a tree whose levels before ``first`` are forced,
        using no place of the keys from ``key_end`` on (search.trees.merge).

        Returns (tip, root, bound, spill), or None if it does not fit.
        """
        n_levels = self.geometry.n - len(self._rim_bare)
        keys, points = self._terms[:key_end], self._points[:key_end]
        tip, root, bound, spill = merge.merge(
            keys, points, begin, end, spill, n_levels, first, self._cells, self._bounds, tip, root, *other
        )
        if tip == merge.NO_EQUAL:
            raise AssertionError("terms to lose are not in the tree they were taken from")
        return (int(tip), int(root), int(bound), int(spill)) if tip > 0 else None

    def _root_of(self, tip: int, root: int, level: int, other: int) -> tuple[int, int]:
        """Write a sum node with the choices of ``root`` on ``level`` and later ones and, if there is an ``other`` root,
        its choice on the level before; return (the node, the new tip)."""
        points, choices = tree.read_node(self._cells, self._bounds, root)
        kept = [choice for choice in choices if choice.level >= level]
        if other:
            kept += [x for x in tree.read_node(self._cells, self._bounds, other)[1] if x.level == level - 1]
        end, node = tree.write_node(self._cells, self._bounds, tip, points, kept)
        return (node, end) if end > 0 else (root, self._cells.size)  # merge will find no room either

    def _behind(self, root: int, level: int, letter: int) -> tuple[int, int]:
        """Return bound and reference behind a letter (0..25) of a root's level; (0, 0) if nothing is there."""
        for choice in tree.read_node(self._cells, self._bounds, root)[1]:
            if choice.level == level and choice.letters >> letter & 1:
                before = (choice.letters & ((1 << letter) - 1)).bit_count()
                return int(choice.bounds[before]), int(choice.refs[before])
        return 0, 0

    def _generate(self, node: Node, free: list[int], begin: int) -> int:
        """Generate all terms of a node, from ``begin`` on; return their number or a negative status.

        Path shapes look at every path and suit nodes with many, nearly open free cells; the walk suits the others.
        """
        room = self._terms[begin:]
        wide = sum(node.masks[c].bit_count() for c in free) >= self.params.shape_letters * len(free)
        if not wide or len(free) <= self._max_walked or self.geometry.n > MAX_CELLS:
            return self._generate_walk(node, free, room)
        on_bare = self._on_bare([(c, node.masks[c]) for c in self.geometry.cell_order if node.is_bare(c)])
        tight = [(level, c) for level, c in enumerate(free) if node.masks[c] != _ALL_LETTERS]
        shift = [BITS_PER_LEVEL * (len(free) - 1 - level) for level, _ in tight]
        forbidden = [(_ALL_LETTERS & ~node.masks[c]) << 1 for _, c in tight]
        return self._shapes(node.bare, on_bare, 0, shapes.NO_LIMIT, room, shift, forbidden)

    def _table(self, bare: int) -> tuple[PathTable, int]:
        """Return a path table for some bare cells and how many of its extra cells are among them.

        Where the bare cells are the first ones in cell order, some more than those of the rim, the rim's table will do.
        """
        order, n, n_rim = self.geometry.cell_order, bare.bit_count(), len(self._rim_bare)
        n_extra = 0
        if n_rim and n >= n_rim and all(bare >> c & 1 for c in order[:n]):
            n_extra = (n - n_rim) % (MAX_EXTRA + 1)
            bare = sum(1 << c for c in order[: n - n_extra])
        return path_table(str(self.geometry.dims), bare, self._max_len, order), n_extra

    def _shapes(
        self,
        bare: int,
        on_bare: list[int],
        new: int,
        limit: np.uint64,
        out: NDArray[np.uint64] | None,
        shift: Sequence[int] = (),
        forbidden: Sequence[int] = (),
        only_losses: bool = False,
    ) -> int:
        """Write terms from path shapes to ``out``, or only count them if it is None (search.terms.shapes)."""
        if out is None:
            out = self._terms[:0]
        elif not out.size:  # the kernel would take it for that question
            return shapes.TERMS_FULL
        table, n_extra = self._table(bare)
        arrays = [frozen(np.array(values, np.int64)) for values in (on_bare, shift, forbidden)]
        rim = shapes.Rim(arrays[0], arrays[1], arrays[2], n_extra)
        n, _ = shapes.shape_terms(self._words, table, rim, out, self._code_bits, new, limit, only_losses)
        return int(n)

    def _generate_walk(self, node: Node, free: list[int], out: NDArray[np.uint64]) -> int:
        unit = np.zeros(self.geometry.n, np.uint64)
        for level, c in enumerate(free):
            unit[c] = 1 << (BITS_PER_LEVEL * (len(free) - 1 - level))
        low = sum(1 << (BITS_PER_LEVEL * i) for i in range(len(free)))
        holds = np.array([sum(1 << c for c, m in enumerate(node.masks) if m >> x & 1) for x in range(26)], np.int64)
        cells = walk.Cells(self.geometry.neighbour_masks, frozen(holds), frozen(unit), node.bare, low)
        limit = self.params.absorb_limit
        n, _ = walk.walk(self._trie.nodes, cells, self._front, out, self._code_bits, limit)
        return int(n)
