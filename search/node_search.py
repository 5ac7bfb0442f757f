"""One node of the search: its trees are grown and searched, what survives is scored, and the rest
of it is split.

    search -> grow its trees, a loose one first (search.trees.forest)
           -> OrderlyBound (search.trees.bound), with what the last levels can give behind each
              letter of the next cell (search.trees.last_levels)
           -> score what is left

    the letters of the next cell whose search spends its budget are forced and searched as nodes of
    their own
    a node that does not fit the memory splits (search.node)
    a fused node is unfused; before that, letters of the next cell are ruled out for all its fused
    letters.  Where the rim is not open, a fused centre is unfused at once: its parts take less time
    a node with more free cells than a key holds is not grown: the next one is fused

A budget or a full array is never an elimination.

>>> Tally(cutoff=14, n_terms=100, n_pushes=20, n_splits=1).effort
121
"""

from dataclasses import replace
from math import prod

import numpy as np

from orderly_boggle.boardclass.arrays import Int8s, Int64s
from orderly_boggle.boardclass.geometry import Geometry
from orderly_boggle.boardclass.parts import Part, parse_path
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.search.node import Node, OpenClass, before, split, split_at
from orderly_boggle.search.params import MAX_FREE_CELLS, Budgets
from orderly_boggle.search.question import Question
from orderly_boggle.search.scoring.scorer import Scorer, decode_boards
from orderly_boggle.search.tally import Tally
from orderly_boggle.search.trees import bound, state
from orderly_boggle.search.trees.forest import Forest
from orderly_boggle.search.trees.last_levels import LEVELS_LEFT, bound_last_levels
from orderly_boggle.search.trees.layer import Grown
from orderly_boggle.search.trees.lazy_subtree import collapse

_SURVIVORS = 1024
_BOARD_PUSHES = 230  # what it takes to score a board, in pushes


class NodeSearch:
    """Searches one node after the other; holds the state of OrderlyBound."""

    def __init__(
        self, question: Question, budgets: Budgets, scorer: Scorer, forest: Forest
    ) -> None:
        self.board = question.geometry
        self.rules = question.rules
        self.budgets = budgets
        self.scorer = scorer
        self.forest = forest
        self._search = state.new_search()
        self._survivors = np.zeros((_SURVIVORS, MAX_FREE_CELLS), np.int8)
        # by what was forced outside the centre, the letters of the next cell that were left; with
        # no letter for the last of these cells: those of the node searched there most recently
        self._left_of: dict[tuple[Part, ...], int] = {}

    def begin(self) -> None:
        """Begin a unit: what the one before has left must not decide where this one is split."""
        self.forest.begin()
        self._left_of.clear()

    def turn(self, board: Geometry) -> None:
        """Go on with another cell order of the same board."""
        self.board = board
        self.forest.turn(board)
        self._left_of.clear()

    def search(
        self, node: Node, ruled_out: int, open_class: OpenClass | None, tally: Tally
    ) -> tuple[list[Node], int]:
        """Search one node; return the parts of it that are still to be searched, and what is ruled
        out in all of them: letters (a mask) that the next free cell has on no board that reaches
        the cutoff.

        ``open_class`` is the class if its nodes are grown layer by layer.
        """
        free = [c for c in self.board.cell_order if not node.is_bare(c)]
        if not free and self._score(node, np.zeros((1, 0), np.int8), tally) is not None:
            return [], 0
        everything = split(node, self.board, self.rules)
        is_layered = open_class is not None and self.forest.suits_layers(open_class, node)
        if not free or (len(free) > self.forest.max_free and not is_layered):
            return everything, 0
        left = node.masks[free[0]] & ~ruled_out
        if not left:
            return [], 0
        if open_class is None and self._has_a_fused_centre_alone(node):
            return everything, ruled_out
        fused = any(node.masks[c].bit_count() > 1 for c in range(self.board.n) if node.is_bare(c))
        left = self._search_loosely(node, free, left, open_class, tally)
        if fused:
            budget = self.budgets.fused_budget
            left = self._search_tree(node, free, left, open_class, budget, tally)
            if left and len(free) > 1:
                left = self._rule_out(node, free, left, open_class, tally)
            if not left:
                return [], 0
            return everything, node.masks[free[0]] & ~left
        left = self._search_letters(node, free, left, open_class, tally)
        if not left:
            return [], 0
        # every part forces the next free cell: parts with a letter that is left are still to be
        # searched
        parts = []
        for part in everything:
            if part.masks[free[0]] & left:
                parts.append(part)
            else:
                tally.done.add(part.path)
        return parts, 0

    def _search_letters(
        self, node: Node, free: list[int], left: int, open_class: OpenClass | None, tally: Tally
    ) -> int:
        """Search a node without fused letters for the letters ``left`` of the next cell; return the
        letters that are left then.

        Letters that were left where the last forced cell had the letter before this one are not
        tried.  This letter is stronger, so they would rarely be ruled out, and spending the budget
        on them takes longer than forcing them.
        """
        budget = self.budgets.node_budget
        forced: tuple[Part, ...] = ()
        if open_class:
            forced = self._forced(node, open_class)
        if not forced:
            return self._search_tree(node, free, left, open_class, budget, tally)
        *above, (cell, _) = forced
        any_letter = *above, (cell, "")
        # a part with a weaker letter in the centre may have had the very same cells forced: that
        # tells more than the letter before
        of_last = self._left_of.get(any_letter, 0)
        known = self._left_of.get(forced, of_last)
        hopeless = left & known
        left = self._search_tree(node, free, left & ~known, open_class, budget, tally) | hopeless
        self._left_of[forced] = left
        self._left_of[any_letter] = left
        return left

    def _forced(self, node: Node, open_class: OpenClass) -> tuple[Part, ...]:
        """Return the cells outside the centre that were forced, with their letters."""
        path = parse_path(node.path, self.board.n)
        return tuple((c, letters) for c, letters in path if c not in open_class.bare)

    def _has_a_fused_centre_alone(self, node: Node) -> bool:
        """Return whether a node has fused cells, and all of them are centre cells."""
        kinds = set()
        for c, kind in enumerate(self.board.cell_types):
            if node.is_bare(c) and node.masks[c].bit_count() > 1:
                kinds.add(kind)
        return kinds == {"center"}

    def _search_loosely(
        self, node: Node, free: list[int], left: int, open_class: OpenClass | None, tally: Tally
    ) -> int:
        """Search a loose tree of a node, if there is one, for the letters ``left`` of the next
        cell; return the letters that are left then.
        """
        grown = open_class and self.forest.grow_loosely(open_class, node)
        if not grown:
            return left
        part = _with_letters(node, free[0], left)
        return self._attempt(part, free, grown, self.budgets.loose_budget, tally, whole=True)

    def _search_tree(
        self, node: Node, free: list[int], left: int, open_class: OpenClass | None, budget: int,
        tally: Tally, whole: bool = False,
    ) -> int:  # fmt: skip
        """Search the tree of a node for the letters ``left`` of the next cell; return the letters
        that are left then.

        If only the ``whole`` node helps, more than the budget may be spent on many terms.
        """
        if left:
            grown = self._grow(node, free, open_class)
        else:
            grown = None
        if not grown:
            return left
        if whole:
            budget = max(budget, self.budgets.fused_per_term * grown.n_terms)
        part = _with_letters(node, free[0], left)
        return self._attempt(part, free, grown, budget, tally, whole)

    def _grow(self, node: Node, free: list[int], open_class: OpenClass | None) -> Grown | None:
        if open_class and self.forest.suits_layers(open_class, node):
            return self.forest.grow_on_layers(open_class, node)
        return self.forest.grow(node, free)

    def _rule_out(
        self, node: Node, free: list[int], letters: int, open_class: OpenClass | None, tally: Tally
    ) -> int:
        """Force the letters ``letters`` on the next cell of a fused node, weak ones first; return
        those still left.

        A letter ruled out here is ruled out for all the parts that the node is unfused into, dozens
        of them.  Strong letters follow weak ones, so after ``fused_misses`` letters that cannot be
        ruled out, the rest are not tried; after as many that a loose tree did not rule out, no
        more loose trees are grown.
        """
        cell = free[0]
        n_missed = 0
        n_missed_loosely = 0
        parts = split_at(node, cell, self.rules)
        letters &= sum(part.masks[cell] for part in parts)  # no board has any other letter
        for part in parts:
            if n_missed == self.budgets.fused_misses:
                break
            if part.masks[cell] & letters:
                left = part.masks[free[1]]
                if n_missed_loosely < self.budgets.fused_misses:
                    left = self._search_loosely(part, free[1:], left, open_class, tally)
                    n_missed_loosely += left > 0
                budget = self.budgets.fused_budget
                left = self._search_tree(
                    part, free[1:], left, open_class, budget, tally, whole=True
                )
                if left:
                    n_missed += 1
                else:
                    letters &= ~part.masks[cell]
        return letters

    def _prepare(self, node: Node, free: list[int], grown: Grown) -> tuple[state.Search, int]:
        """Reset the search state for a node, push the root; return the state and its bound."""
        s = state.sized_for(self._search, grown.orderly, grown.root)
        first = grown.orderly.first
        s.counts[:] = 0
        s.counts[state.DEPTH] = first
        s.counts[state.PAUSE] = LEVELS_LEFT
        s.points[first] = 0
        rows = state.rows_at(s, first)
        s.not_less[:] = 0
        s.smaller[:] = before(self.rules.demand_order)
        for level, c in enumerate(free, first):
            rows[level, _letters_in(node.masks[c])] = 0
            for other, d in enumerate(free, first):
                if (c, d) in node.demands:
                    s.not_less[level] |= 1 << other
        root_bound = state.add_root(grown.orderly, s, grown.root)
        return s, int(root_bound)

    def _attempt(
        self,
        node: Node,
        free: list[int],
        grown: Grown,
        budget: int,
        tally: Tally,
        whole: bool = False,
    ) -> int:
        """Run OrderlyBound over the tree of a node and score what survives; return the letters of
        the next cell left.

        Returns a mask of the letters that spent the budget, which is halved each time.  Boards that
        were scored in vain count as pushes there.  All letters are left if the survivors stand for
        too many boards.  If only the ``whole`` node helps, the search ends with the first letter
        that is left, and those after it are left as well.
        """
        every = node.masks[free[0]]
        tally.n_terms += grown.n_terms
        tally.max_tree_bytes = max(tally.max_tree_bytes, grown.n_bytes)
        first = grown.orderly.first
        s, root_bound = self._prepare(node, free, grown)
        if not reaches(root_bound, tally.cutoff):
            tally.max_bound = max(tally.max_bound, root_bound)
            return 0
        letters = 0
        n_before = 0
        status = bound.SURVIVORS_FULL
        try:
            while status != bound.DONE and not (letters and whole) and letters != every:
                status = bound.orderly_bound(
                    grown.orderly, s, tally.cutoff, budget, self._survivors
                )
                if status == bound.LETTER_TAKEN:
                    bound_last_levels(grown.orderly, s, tally.cutoff)
                n = int(s.counts[state.SURVIVORS]) - n_before
                n_before += n
                n_in_vain = self._score(node, self._survivors[:n, first:], tally)
                s.counts[state.SINCE] -= (n_in_vain or 0) * _BOARD_PUSHES
                if n_in_vain is None:
                    letters = every
                elif status == bound.BUDGET_SPENT:
                    letter = state.skip_letter(s, first)
                    letters |= every >> letter << letter if whole else 1 << letter
                    budget = max(budget // 2, min(budget, self.budgets.least_budget))
        finally:
            collapse(grown.orderly.cells, s.counts[state.LINK])
        tally.max_bound = max(tally.max_bound, int(s.counts[state.DISCARDED]))
        tally.n_nodes += int(s.counts[state.STATES])
        tally.n_pushes += int(s.counts[state.PUSHES])
        tally.n_survivors += n_before
        return letters

    def _score(self, node: Node, survivors: Int8s, tally: Tally) -> int | None:
        """Score the boards that survivors stand for, all letters of fused cells; return how many do
        not reach the cutoff, or None if they are too many to be scored.
        """
        free = [c for c in self.board.cell_order if not node.is_bare(c)]
        bare = [c for c in range(self.board.n) if node.is_bare(c)]
        letters = [_letters_in(node.masks[c]) for c in bare]
        each = prod(map(len, letters))
        if each > 1 and each * len(survivors) > self.budgets.product_limit:
            return None
        n_in_vain = 0
        if len(survivors):
            boards = np.zeros((len(survivors), each, self.board.n), np.uint8)
            boards[:, :, free] = survivors[:, None, : len(free)]
            grid = np.meshgrid(*letters, indexing="ij")
            choices = np.array(grid, np.uint8).reshape(len(bare), each)
            boards[:, :, bare] = choices.T[None]
            flat = boards.reshape(-1, self.board.n)
            scores = self.scorer.scores(flat)
            reaching = np.array([reaches(int(v), tally.cutoff) for v in scores])
            good = np.flatnonzero(reaching)
            n_in_vain = len(flat) - len(good)
            tally.max_bound = max(tally.max_bound, int(scores[~reaching].max(initial=0)))
            texts = decode_boards(flat[good])
            tally.candidates.update(zip(texts, scores[good].tolist(), strict=True))
        return n_in_vain


def _letters_in(mask: int) -> Int64s:
    return np.flatnonzero(mask >> np.arange(26) & 1)


def _with_letters(node: Node, cell: int, letters: int) -> Node:
    masks = list(node.masks)
    masks[cell] = letters
    return replace(node, masks=tuple(masks))
