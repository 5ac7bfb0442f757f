"""The breaker: one unit in, its verdict out.  Puts trees, OrderlyBound, splitting and exact scoring together.

    break_unit -> for each node: grow its trees (search.trees.forest) -> OrderlyBound (search.trees.bound) -> score what
                  is left
                  the letters of the next cell whose search spends its budget are forced and searched as nodes of
                  their own; a node that does not fit the memory splits (search.node)
                  a fused node is unfused instead, and before that the letters of the next cell that can be ruled out
                  for all of its fused letters are: its parts need not try them
                  what is left of a unit that spends the unit budget goes back to the caller as children

Pure: no files, no clock in any decision, so a unit gives the same verdict anywhere.  A budget or a full array is never
an elimination.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from boardclass.cutoff import reaches
from boardclass.errors import InputError
from boardclass.geometry import Geometry, geometry
from boardclass.partition import Partition, parse_partition
from boardclass.parts import ancestors, is_below
from boardclass.scores import ScoreTable
from search.node import Node, at_least, class_node, node_at, split, split_at
from search.params import Params
from search.scoring.scorer import Scorer, decode_boards
from search.trees import bound
from search.trees.forest import MAX_FREE_CELLS, Forest, Grown, Lexicon, make_lexicon

_SURVIVORS = 4096
_ALL_LETTERS = (1 << 26) - 1


@dataclass(frozen=True)
class Spec:
    """What to search and how; small and picklable.

    Attributes
    ----------
    dims : board size such as ``3x4``
    words : usable words in q-form
    points : points by number of letters
    cutoff : points
    partition : text of the letter buckets
    params : Params
    cell_order : in which cells are forced and searched; empty: that of the board's geometry
    """

    dims: str
    words: tuple[str, ...]
    points: tuple[int, ...]
    cutoff: int
    partition: str
    params: Params = field(default_factory=Params)
    cell_order: tuple[int, ...] = ()


@dataclass(frozen=True)
class Unit:
    """A class, or the part of it behind ``path``."""

    class_id: int
    path: str = ""


@dataclass(frozen=True)
class UnitResult:
    """Verdict on a unit.

    Attributes
    ----------
    status : ``eliminated``, ``candidates``, or ``split``: the ``children`` are still to be searched
    n_boards : boards of the unit, before residual symmetry
    max_bound : largest bound or score of what was discarded: nodes, states, boards; below the cutoff
    candidates : boards with score >= cutoff, as scored here; each stands for its symmetric images
    settled : paths of the parts decided here when others are left: with the children they are all of the unit
    counters : n_terms, n_nodes (states), n_pushes, n_splits, n_survivors, max_tree_bytes
    seconds : wall time, for information only
    """

    unit: Unit
    status: str
    n_boards: int
    max_bound: int
    candidates: tuple[tuple[str, int], ...]
    children: tuple[Unit, ...]
    settled: tuple[str, ...]
    counters: dict[str, int]
    seconds: float


@dataclass
class _Tally:
    """What the nodes of one unit add up to."""

    max_bound: int = 0
    candidates: set[tuple[str, int]] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    n_terms: int = 0
    n_nodes: int = 0
    n_pushes: int = 0
    n_splits: int = 0
    n_survivors: int = 0
    max_tree_bytes: int = 0

    @property
    def effort(self) -> int:
        return self.n_terms + self.n_pushes + self.n_splits

    def counters(self) -> dict[str, int]:
        names = ("n_terms", "n_nodes", "n_pushes", "n_splits", "n_survivors", "max_tree_bytes")
        return {name: getattr(self, name) for name in names}


def share(spec: Spec) -> Lexicon:
    """Return the arrays that the breakers of a spec have in common: made once, read by all workers."""
    scorer = Scorer(spec.dims, spec.words, ScoreTable("run", spec.points))
    return make_lexicon(scorer.geometry, spec.words, spec.points, scorer.trie)


class Breaker:
    """Searches units of one run; holds the working memory, so make one per worker and keep it."""

    def __init__(self, spec: Spec, lexicon: Lexicon | None = None) -> None:
        lexicon = lexicon or share(spec)
        self.spec = spec
        self.geometry: Geometry = geometry(spec.dims, spec.cell_order)
        self.partition: Partition = parse_partition(spec.partition, spec.dims)
        self.scorer = Scorer(spec.dims, spec.words, ScoreTable("run", spec.points), trie=lexicon.trie)
        self.forest = Forest(self.geometry, spec.words, spec.points, spec.params, lexicon)
        self._search = bound.new_search()
        self._survivors = np.zeros((_SURVIVORS, MAX_FREE_CELLS), np.int8)

    def turn(self, board: Geometry) -> None:
        """Go on with another cell order of the same board: another way to the same boards."""
        self.geometry = board
        self.forest.turn(board)

    def break_unit(self, unit: Unit) -> UnitResult:
        """Search a unit.

        Raises
        ------
        InputError
            If the unit names no class or no part of one.
        """
        began = time.perf_counter()
        params = self.spec.params
        root = class_node(self.partition.class_masks(unit.class_id).tolist(), self.geometry, params)
        layers = self._layers(unit.class_id, root)
        root = node_at(root, unit.path, self.geometry, params)
        tally = _Tally()
        left = self._search_down(root, layers, tally, params.unit_budget)
        # a child searched by itself tries the letters that were ruled out here once more: seconds, and no state to keep
        children = tuple(Unit(unit.class_id, node.path) for node in left)
        return UnitResult(
            unit=unit,
            status="split" if children else "candidates" if tally.candidates else "eliminated",
            n_boards=root.n_boards,
            max_bound=tally.max_bound,
            candidates=tuple(sorted(tally.candidates)),
            children=children,
            settled=tuple(self._settled(root, {node.path for node in left}, tally.done)),
            counters=tally.counters(),
            seconds=time.perf_counter() - began,
        )

    def _search_down(self, root: Node, layers: tuple[int, ...], tally: _Tally, budget: int) -> list[Node]:
        """Search a node and all that it splits into until the tally's effort is above the budget; return what is left,
        in search order."""
        todo = [(root, 0)]
        while todo and tally.effort <= budget:
            node, ruled_out = todo.pop()
            parts, ruled_out = self._search_node(node, ruled_out, layers, tally)
            tally.n_splits += bool(parts)
            todo += [(part, ruled_out) for part in reversed(parts)]
            if not parts:
                tally.done.add(node.path)
        return [node for node, _ in reversed(todo)]

    def _layers(self, class_id: int, root: Node) -> tuple[int, ...]:
        """Return the bare cells of a class (``root`` or an image of it) if all its other cells are open, else none."""
        kinds = zip(self.partition.class_masks(class_id).tolist(), self.geometry.cell_types, strict=True)
        narrow = (m for m, kind in kinds if m.bit_count() > 1 and kind not in self.spec.params.fused)
        is_open = all(mask == _ALL_LETTERS for mask in narrow)
        return tuple(c for c in self.geometry.cell_order if root.is_bare(c)) if is_open else ()

    def _settled(self, node: Node, left: set[str], done: set[str]) -> list[str]:
        """Return the widest parts of a node that are ``done`` and hold nothing of what is ``left``, in search order.

        A part is done by itself or by its parts; what is neither left nor done would be missing here, and coverage
        would notice.
        """
        if not left or node.path in left:
            return []
        above = {path for end in left for path in ancestors(end)}
        found: list[str] = []
        for part in split(node, self.geometry, self.spec.params):
            if part.path in above:
                found += self._settled(part, left, done)
            elif part.path not in left and self._is_done(part, done):
                found.append(part.path)
        return found

    def _is_done(self, node: Node, done: set[str]) -> bool:
        """Return whether a node is among the done ones, or all of its parts are."""
        if node.path in done:
            return True
        if not any(is_below(path, node.path) for path in done):
            return False
        return all(self._is_done(part, done) for part in split(node, self.geometry, self.spec.params))

    def _search_node(
        self, node: Node, ruled_out: int, layers: tuple[int, ...], tally: _Tally
    ) -> tuple[list[Node], int]:
        """Search one node; return the parts of it that are still to be searched, and what is ruled out in all of them.

        ruled_out : mask of letters that the next free cell cannot have on a board that counts: it was shown for a node
            that holds this one
        layers : the bare cells of the class, if its nodes are grown layer by layer; else empty
        """
        free = [c for c in self.geometry.cell_order if not node.is_bare(c)]
        if not free and self._score(node, np.zeros((1, 0), np.int8), tally):
            return [], 0
        everything = split(node, self.geometry, self.spec.params)
        if not free or len(free) > self.forest.max_free:
            return everything, 0
        left = node.masks[free[0]] & ~ruled_out
        if not left:
            return [], 0
        grown = self._grow(node, free, layers)
        fused = any(node.masks[c].bit_count() > 1 for c in range(self.geometry.n) if node.is_bare(c))
        if grown:
            budget = self.spec.params.fused_budget if fused else self.spec.params.node_budget
            left = self._attempt(_with_letters(node, free[0], left), free, grown, budget, tally)
        if fused:
            if left and len(free) > 1:
                left = self._rule_out(node, free, left, layers, tally)
            return (everything, node.masks[free[0]] & ~left) if left else ([], 0)
        # each of everything forces the next free cell: those with a letter that is left stay to be searched
        if left:
            tally.done |= {part.path for part in everything if not part.masks[free[0]] & left}
        return [part for part in everything if part.masks[free[0]] & left], 0

    def _grow(self, node: Node, free: list[int], layers: tuple[int, ...]) -> Grown | None:
        """Return one tree over the terms of a node, on layers if it can be; None if it does not fit."""
        if layers and self.forest.suits_layers(layers, node):
            return self.forest.grow_on_layers(layers, node)
        return self.forest.grow(node, free)

    def _rule_out(self, node: Node, free: list[int], left: int, layers: tuple[int, ...], tally: _Tally) -> int:
        """Force the letters ``left`` on the next cell of a fused node, weak ones first; return those still left.

        A letter ruled out here is ruled out for all the parts that the node is unfused into, dozens of them.  Strong
        letters follow weak ones, so after ``fused_misses`` that stay the rest is left alone.
        """
        cell, n_missed = free[0], 0
        parts = split_at(node, cell, self.spec.params)
        left &= sum(part.masks[cell] for part in parts)  # no board has any other letter
        for part in parts:
            if n_missed == self.spec.params.fused_misses:
                break
            if part.masks[cell] & left:
                grown = self._grow(part, free[1:], layers)
                budget = self.spec.params.fused_budget
                if grown and not self._attempt(part, free[1:], grown, budget, tally, whole=True):
                    left &= ~part.masks[cell]
                else:
                    n_missed += 1
        return left

    def _prepare(self, node: Node, free: list[int], grown: Grown) -> int:
        """Reset the search state for a node, push the root, and return the bound.

        Letters outside the masks are forbidden, demands go by level.
        """
        s = self._search
        first = grown.orderly.first
        s.counts[:] = 0
        s.counts[bound.DEPTH] = first
        s.points[first] = 0
        s.n_choices[first] = s.n_tails[first] = 0
        rows = bound.rows_at(s, first)
        rows[:] = bound.FORBIDDEN
        s.not_less[:] = 0
        s.smaller[:] = [((1 << 26) - 1) & ~mask for mask in at_least(self.spec.params.letter_order)]
        for level, c in enumerate(free, first):
            rows[level, [x for x in range(26) if node.masks[c] >> x & 1]] = 0
            s.not_less[level] = sum(1 << level_of for level_of, d in enumerate(free, first) if (c, d) in node.demands)
        return int(bound.add_root(grown.orderly, s, grown.root))

    def _attempt(
        self, node: Node, free: list[int], grown: Grown, budget: int, tally: _Tally, whole: bool = False
    ) -> int:
        """Run OrderlyBound over the tree of a node and score what survives; return the letters of the next cell left.

        A mask: letters that spent the budget (which is halved each time, for they may be many), or all if survivors
        stand for too many boards, or if only the ``whole`` node is of use.
        """
        params = self.spec.params
        every = node.masks[free[0]]
        tally.n_terms += grown.n_terms
        tally.max_tree_bytes = max(tally.max_tree_bytes, grown.n_bytes)
        s = self._search
        first = grown.orderly.first
        root_bound = self._prepare(node, free, grown)
        if not reaches(root_bound, self.spec.cutoff):
            tally.max_bound = max(tally.max_bound, root_bound)
            return 0
        left = 0
        n_before = 0
        status = bound.SURVIVORS_FULL
        while status != bound.DONE and left != every:
            status = bound.orderly_bound(grown.orderly, s, self.spec.cutoff, budget, self._survivors)
            n = int(s.counts[bound.SURVIVORS]) - n_before
            n_before += n
            if not self._score(node, self._survivors[:n, first:], tally):
                left = every
            elif status == bound.BUDGET_SPENT:
                left |= every if whole else 1 << bound.skip_letter(s, first)
                budget = max(budget // 2, min(budget, params.least_budget))
        tally.max_bound = max(tally.max_bound, int(s.counts[bound.DISCARDED]))
        tally.n_nodes += int(s.counts[bound.STATES])
        tally.n_pushes += int(s.counts[bound.PUSHES])
        tally.n_survivors += n_before
        return left

    def _score(self, node: Node, survivors: NDArray[np.int8], tally: _Tally) -> bool:
        """Score the boards that survivors stand for, all letters of fused cells; return False if they are too many."""
        free = [c for c in self.geometry.cell_order if not node.is_bare(c)]
        bare = [c for c in range(self.geometry.n) if node.is_bare(c)]
        letters = [[x for x in range(26) if node.masks[c] >> x & 1] for c in bare]
        each = prod(map(len, letters))
        if each > 1 and each * len(survivors) > self.spec.params.product_limit:
            return False
        if len(survivors):
            boards = np.zeros((len(survivors), each, self.geometry.n), np.uint8)
            boards[:, :, free] = survivors[:, None, : len(free)]
            choices = np.array(np.meshgrid(*letters, indexing="ij"), np.uint8).reshape(len(bare), each)
            boards[:, :, bare] = choices.T[None]
            flat = boards.reshape(-1, self.geometry.n)
            scores = self.scorer.scores(flat)
            reaching = np.array([reaches(int(v), self.spec.cutoff) for v in scores])
            good = np.flatnonzero(reaching)
            tally.max_bound = max(tally.max_bound, int(scores[~reaching].max(initial=0)))
            tally.candidates.update(zip(decode_boards(flat[good]), scores[good].tolist(), strict=True))
        return True


def _with_letters(node: Node, cell: int, letters: int) -> Node:
    """Return the node with just these letters (a mask) on a cell."""
    return replace(node, masks=tuple(letters if c == cell else mask for c, mask in enumerate(node.masks)))


def break_class(spec: Spec, class_id: int) -> UnitResult:
    """Search one class from start to end, splits included; see :class:`Breaker` for many.

    Raises
    ------
    InputError
        If the partition has no such class.

    Examples
    --------
    >>> from boardclass import load_wordlist, parse_scores
    >>> words = load_wordlist("scowl70").words
    >>> spec = Spec("2x2", words, parse_scores("standard").points, cutoff=14, partition="aeiou bcdfghjklmnpqrstvwxyz")
    >>> break_class(spec, 3).candidates  # consonants in cells 0 and 1, vowels in 2 and 3
    (('rtae', 14), ('rtea', 14), ('stae', 14), ('stea', 14))
    >>> break_class(spec, 15).status  # consonants alone
    'eliminated'
    """
    if class_id < 0:
        raise InputError(f"no class {class_id!r}: expected a number of 0 or more")
    whole = replace(spec, params=replace(spec.params, unit_budget=1 << 62))
    return Breaker(whole).break_unit(Unit(class_id))
