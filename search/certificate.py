"""The shape of a search that others can check: which parts of a class were split until bounds ruled
them out.

    Certifier.shape -> Forest.terms, the terms of a part -> _Tree, which merges (trees/runs.py) and
    bounds (trees/lazy_subtree.py) them -> Shape

This is not the fast search.  It uses only the nested bound U (docs/algorithm.md) over the terms of
a part, merged anew in every smaller part.  It has no fused letters, no residual symmetry, no
synchronised letters and no budget, so a checker needs none of them.

>>> from orderly_boggle.boardclass import load_wordlist
>>> from orderly_boggle.search.question import ask
>>> words = load_wordlist("scowl70")
>>> question = ask("2x2", words.sha256, "standard", 14, "abcdefghijklmnopqrstuvwxyz")
>>> shape = Certifier(question, words.words).shape(["rst", "rst", "ae", "ae"])
>>> shape.n_splits, shape.n_leaves, shape.n_boards
(18, 18, 8)
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, UInt32s, UInt64s
from orderly_boggle.boardclass.board import LETTERS
from orderly_boggle.boardclass.errors import IncompleteError, InputError
from orderly_boggle.boardclass.partition import letter_mask
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.search.keys import LITERAL_BITS, last_levels
from orderly_boggle.search.node import N_LETTERS, Node, letters_of
from orderly_boggle.search.one_thread import OneThread
from orderly_boggle.search.params import Budgets, Rules
from orderly_boggle.search.question import Question
from orderly_boggle.search.scoring.scorer import trie_of
from orderly_boggle.search.trees.forest import Forest
from orderly_boggle.search.trees.lazy_subtree import SCRATCH, bound_of
from orderly_boggle.search.trees.runs import join
from orderly_boggle.search.trees.tree import MAX_BOUND, TREE_FULL

# room for the 100 million terms of a class of 3x4 and of its parts; what is not touched costs none
_MEMORY_MB = 2 * Budgets.memory_mb
_NO_ROOM = "has more terms than fit the memory"


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
    """Makes the shapes of one run; holds working memory, so make one per thread and keep it.

    ``words`` are in q-form.  ``memory_mb``, in MiB, is for the terms of a part and of those that it
    is split into.
    """

    def __init__(
        self, question: Question, words: Sequence[str], memory_mb: int = _MEMORY_MB
    ) -> None:
        self.geometry = question.geometry
        self.cutoff = question.cutoff
        trie = trie_of(tuple(words), question.table, question.n_cells)
        self._forest = Forest(self.geometry, trie, Rules(), Budgets(memory_mb=memory_mb))
        self._alone = OneThread(
            f"the Certifier of {question.dims} boards", "make a Certifier for each thread"
        )

    def n_to_force(self, class_letters: Sequence[str]) -> int:
        """Return how many cells, first in the cell order, must have one letter for the others to
        fit a tree.
        """
        several = []
        for cell in self.geometry.cell_order:
            several.append(len(set(class_letters[cell])) > 1)
        most = self._forest.max_free
        return next(k for k in range(len(several) + 1) if sum(several[k:]) <= most)

    def shape(self, class_letters: Sequence[str], forced: str = "") -> Shape:
        """Return the shape of the search of a class, or of the part whose first cells have the
        ``forced`` letters, which must be letters of the class.

        Raises InputError if too many cells have several letters, or the certifier is at work;
        IncompleteError if the terms do not fit the memory.
        """
        with self._alone:
            return self._shape(class_letters, forced)

    def _shape(self, class_letters: Sequence[str], forced: str) -> Shape:
        order = self.geometry.cell_order
        letters = list(class_letters)
        for cell, letter in zip(order, forced, strict=False):
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
        try:
            if terms is None:
                raise IncompleteError(_NO_ROOM)
            n_terms, keys, points = terms
            tree = _Tree(keys, points, self.cutoff)
            tree.split([letters_of(masks[cell]) for cell in free], 0, n_terms)
        except IncompleteError as error:
            raise IncompleteError(
                f"part {' '.join(letters)!r} {error}; force more cells"
            ) from error
        body = np.array(tree.body, np.uint32)
        return Shape(order, forced, body, tree.n_leaves, tree.n_boards)


class _Tree:
    """The tree of a part.  In ``keys`` and ``points`` stand its terms and, behind them, those of
    the parts that are open, from the largest to the smallest.
    """

    def __init__(self, keys: UInt64s, points: Int32s, cutoff: int) -> None:
        self._keys = keys
        self._points = points
        self._cutoff = cutoff
        self._scratch = np.empty(SCRATCH, np.int32)
        self.body = array("I")
        self.n_leaves = self.n_boards = 0

    def split(self, cells: Sequence[str], start: int, stop: int) -> None:
        """Split the part with the terms at start..stop, whose free ``cells`` have these letters, by
        the first of them, and every part whose bound reaches the cutoff, down to boards.
        """
        at = len(self.body)
        keys = self._keys
        later = cells[1:]
        self.body.append(0)
        low = np.uint64(last_levels(len(later)))
        codes = np.arange(1, N_LETTERS + 2, dtype=np.uint64)
        firsts = codes << np.uint64(LITERAL_BITS * len(later))
        ends = (start + np.searchsorted(keys[start:stop], firsts)).tolist()
        without = self._bound(start, ends[0], low)
        for letter in cells[0]:
            x = LETTERS.index(letter)
            goes_on = reaches(without + self._bound(ends[x], ends[x + 1], low), self._cutoff)
            if goes_on:
                end = join(keys, self._points, start, ends[0], ends[x], ends[x + 1], stop, low)
                if end == TREE_FULL:
                    raise IncompleteError(_NO_ROOM)
                keys[stop:end] &= low
                goes_on = reaches(self._bound(stop, end, low), self._cutoff)
            if not goes_on:
                self.n_leaves += 1
                continue
            self.body[at] |= 1 << x
            if later:
                self.split(later, stop, end)
            else:
                self.n_boards += 1

    def _bound(self, first: int, end: int, within: np.uint64) -> int:
        """Return the bound U of the terms at first..end, of what they have ``within``; one that is
        too large to be told reaches the cutoff.
        """
        if first == end:
            return 0
        bound = int(bound_of(self._keys, self._points, first, end, within, self._scratch))
        if bound <= MAX_BOUND:
            return bound
        return max(bound, self._cutoff)
