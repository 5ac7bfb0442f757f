"""The trees of a node: decides how each is grown, and keeps the working memory of a worker.

    grow(node)            all terms of a node as one tree
    grow_on_layers(node)  the same without terms that contradict a demand, merged layer by layer (search.trees.layers)

A node with half of the cells free, or fewer, has little to keep: it is grown at once, by the walk, behind the layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boardclass.geometry import Geometry
from search.node import Node, OpenClass
from search.params import Params
from search.terms.paths import MAX_CELLS
from search.trees.arrays import Arrays, n_terms_in
from search.trees.generator import Generator
from search.trees.layers import Layers, n_bytes_of
from search.trees.lexicon import Lexicon, make_lexicon
from search.trees.tree import Tree


class Grown(NamedTuple):
    """A tree over a node: the shared arrays, the root and its bound, how many terms were generated for it, bytes."""

    orderly: Tree
    root: int
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
    lexicon : Lexicon, optional
        One made earlier of the same words and points.
    """

    def __init__(
        self,
        board: Geometry,
        words: Sequence[str],
        points: Sequence[int],
        params: Params,
        lexicon: Lexicon | None = None,
    ) -> None:
        lexicon = lexicon or make_lexicon(board, words, points)
        self._generator = Generator(board, params, lexicon, n_terms_in(params.memory_mb))
        self._arrays = Arrays(params.memory_mb, max(points), self._generator.code_bits, self._generator.points_of_code)
        self._layers = Layers(board, self._generator, self._arrays)
        self.geometry = board
        self.max_free = self._generator.max_free

    def turn(self, board: Geometry) -> None:
        """Go on with another cell order of the same board; what was grown is given up."""
        self.geometry = board
        self._generator.board = board
        self._layers.turn(board)

    def begin(self) -> None:
        """Forget what the last unit left behind if it could change how this one is searched."""
        self._layers.begin()

    def grow(self, node: Node, free: list[int]) -> Grown | None:
        """Return one tree over all terms of a node; None if it does not fit the memory.

        It goes behind the layers that are in the arrays.  If it does not fit, they are reduced to one of them; if it
        still does not fit, all of them are given up.
        """
        while self._layers.stack:
            last = self._layers.with_room()
            grown = self._grow_at(node, free, last.end_keys, last.end_tip)
            if grown:
                return grown
            if not self._layers.start_anew():
                self._layers.stack.clear()
        return self._grow_at(node, free, 0, 1)

    def _grow_at(self, node: Node, free: list[int], begin: int, tip: int) -> Grown | None:
        """Return one tree over all terms of a node, with its keys from ``begin`` on and its cells from ``tip`` on."""
        n = self._generator.of_node(node, free, self._arrays.terms[begin:])
        if n < 0:
            return None
        n_keys = self._arrays.sort(begin, n, len(free), tip)
        built = self._arrays.build(begin, n_keys, len(free), tip)
        if built is None:
            return None
        end, root, bound = built
        return Grown(self._arrays.as_tree(len(free), 0, end), root, bound, n, n_bytes_of(n_keys, end - tip + 1))

    def terms(self, node: Node, free: list[int]) -> tuple[NDArray[np.uint64], NDArray[np.int32]] | None:
        """Return the distinct keys of a node, sorted, and their points, in arrays that the next call overwrites.

        None if they do not fit the memory.
        """
        self._layers.stack.clear()
        n = self._generator.of_node(node, free, self._arrays.terms)
        if n < 0:
            return None
        n_keys = self._arrays.sort(0, n, len(free), 1)
        return self._arrays.terms[:n_keys], self._arrays.points[:n_keys]

    def suits_layers(self, open_class: OpenClass, node: Node) -> bool:
        """Return whether :meth:`grow_on_layers` applies to a node of an open class.

        The bare cells of the class, then those of the node, must come first in cell order, so that every layer numbers
        them alike and levels are taken away from the top.  The free cells must fit a key and be more than the walk is
        for.
        """
        order, n_bare = self.geometry.cell_order, node.bare.bit_count()
        class_bare = set(open_class.bare)
        is_first = class_bare == set(order[: len(class_bare)]) and all(map(node.is_bare, order[:n_bare]))
        is_suited = self._generator.max_walked < self.geometry.n - n_bare <= self.max_free
        return is_first and is_suited and self.geometry.n <= MAX_CELLS

    def grow_on_layers(self, open_class: OpenClass, node: Node) -> Grown | None:
        """Return one tree over the terms of a node of an open class, all letters on its free cells.

        Terms that no board of the class has, for they contradict its demands, may be missing.

        Parameters
        ----------
        open_class : the class of the node
        node : the node; what its free cells may hold is left to the search

        Returns None if the tree does not fit the memory or has more than ``whole_terms`` terms of its own.  The base,
        from which its parts start, may still be there.
        """
        layer = self._layers.reach(open_class, node)
        if layer is None or not layer.whole:
            return None
        n_rim = len(self._generator.rim)
        orderly = self._arrays.as_tree(self.geometry.n - n_rim, len(layer.bare) - n_rim, layer.end_tip)
        return Grown(orderly, layer.whole, layer.bound, layer.n_terms, layer.n_bytes)
