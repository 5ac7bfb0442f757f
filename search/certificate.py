"""The shape of a search that others can check: which parts of a class were split until bounds ruled
them out.

    Certifier.shape -> Forest.terms (forest.py), the terms of a part -> grow
    (certificate_kernels.py) -> Shape

This is not the fast search.  It uses only the nested bound U (docs/algorithm.md) over the terms of
a part, merged anew in every smaller part.  It has no fused letters, no residual symmetry, no
synchronised letters and no budget, so a checker needs none of them.

>>> from boardclass import load_wordlist, parse_scores
>>> from boardclass.geometry import geometry
>>> words, points = load_wordlist("scowl70").words, parse_scores("standard").points
>>> shape = Certifier(geometry("2x2"), words, points, 14).shape(["rst", "rst", "ae", "ae"])
>>> shape.n_splits, shape.n_leaves, shape.n_boards
(18, 18, 8)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boardclass.arrays import Int32s, Int64s, UInt32s, UInt64s
from boardclass.errors import IncompleteError, InputError
from boardclass.geometry import Geometry
from boardclass.jit import frozen
from boardclass.partition import letter_mask
from boardclass.scores import ScoreTable
from search.certificate_kernels import DONE, FULL_BODY, Space, grow
from search.node import Node
from search.params import Params
from search.scoring.scorer import trie_of
from search.trees.forest import Forest

MAX_SPLITS = 100_000_000


@dataclass(frozen=True)
class Shape:
    """A tree of parts."""

    order: tuple[int, ...]  # cells in the order in which they are split
    # letters of the first cells of the order; they name the part of the class that the tree covers
    forced: str
    # per split, preorder: bit l (0 = ``a``) says that the part with letter l goes on
    body: UInt32s
    n_leaves: int  # parts that the bound rules out
    n_boards: int  # boards that the bound does not rule out

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.body)


class Certifier:
    """Makes the shapes of one run; holds working memory, so make one and keep it.

    ``words`` are in q-form, ``points`` by number of letters.  ``memory_mb``, in MiB, is for the
    terms of a part; the tree over them takes about as much again.
    """

    def __init__(
        self, board: Geometry, words: Sequence[str], points: Sequence[int], cutoff: int,
        memory_mb: int = Params.memory_mb,
    ) -> None:  # fmt: skip
        self.geometry, self.cutoff = board, cutoff
        trie = trie_of(tuple(words), ScoreTable("certificate", tuple(points)), board.n)
        self._forest = Forest(board, trie, Params(memory_mb=memory_mb))

    def n_to_force(self, class_letters: Sequence[str]) -> int:
        """Return how many cells, first in the cell order, must have one letter for the others to
        fit a tree.
        """
        several = [len(set(class_letters[cell])) > 1 for cell in self.geometry.cell_order]
        return next(k for k in range(len(several) + 1) if sum(several[k:]) <= self._forest.max_free)

    def shape(
        self, class_letters: Sequence[str], forced: str = "", max_splits: int = MAX_SPLITS
    ) -> Shape:
        """Return the shape of the search of a class, or of the part whose first cells have the
        ``forced`` letters.

        Raises InputError if there is no such part, or too many cells have several letters;
        IncompleteError if it takes more than ``max_splits`` splits, or the terms do not fit the
        memory.
        """
        order = self.geometry.cell_order
        letters = list(class_letters)
        for cell, letter in zip(order, forced, strict=False):
            if len(forced) > len(order) or len(letter) != 1 or letter not in letters[cell]:
                wanted = f"of class {' '.join(class_letters)!r}: expected letters of its cells"
                raise InputError(f"no part {forced!r} {wanted}")
            letters[cell] = letter
        free = [cell for cell in order if len(set(letters[cell])) > 1]
        if not free:
            return Shape(order, forced, np.empty(0, np.uint32), 0, 1)
        if len(free) > self._forest.max_free:
            raise InputError(
                f"class {' '.join(letters)!r} has {len(free)} cells with several letters: "
                f"certificates take {self._forest.max_free} at most; force more cells"
            )
        masks = tuple(letter_mask(x) for x in letters)
        bare = sum(1 << cell for cell in order if cell not in free)
        terms = self._forest.terms(Node(masks, bare), free)
        if terms is None:
            raise IncompleteError(
                f"the terms of part {' '.join(letters)!r} do not fit the memory; force more cells"
            )
        space = self._grown(
            *terms, frozen(np.array([masks[cell] for cell in free], np.int64)), max_splits
        )
        if space is None:
            raise IncompleteError(
                f"part {' '.join(letters)!r} takes more than {max_splits:,} "
                "splits; force more cells"
            )
        n_splits, n_leaves, n_boards = space.counts.tolist()
        return Shape(order, forced, space.body[:n_splits].astype(np.uint32), n_leaves, n_boards)

    def _grown(
        self,
        keys: UInt64s,
        points: Int32s,
        masks: Int64s,
        max_splits: int,
    ) -> Space | None:
        """Return the grown tree, with as much space as it takes; None if that is too much."""
        # untouched pages cost nothing
        n, n_spare, n_body = len(keys), 3 * len(keys) + (1 << 16), 1 << 22
        while n_body < 8 * max(max_splits, 1 << 20):
            terms = np.empty(n + n_spare, np.int64), np.empty(n + n_spare, np.int32)
            space = Space(*terms, np.empty(n_body, np.int64), np.zeros(3, np.int64))
            space.keys[:n], space.points[:n] = keys, points
            status = grow(n, self.cutoff, masks, space)
            if status == DONE:
                return space if int(space.counts[0]) <= max_splits else None
            n_body, n_spare = (
                (8 * n_body, n_spare) if status == FULL_BODY else (n_body, 2 * n_spare)
            )
        return None
