"""The breaker: one unit in, its verdict out.  Puts generation, tree, OrderlyBound, splitting and exact scoring together.

    break_unit -> for each node: generate terms (walk) -> sort -> group -> build -> OrderlyBound -> score survivors
                  a node that spends its budget, or does not fit the memory, splits (search.node); what is left of a unit that
                  spends the unit budget goes back to the caller as children

Pure: no files, no clock in any decision, so a unit gives the same verdict anywhere.  A budget or a full array is never an
elimination.  Design: search.md sections 2-3, architecture.md "Work units".
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from boardclass.cutoff import reaches
from boardclass.errors import InputError
from boardclass.geometry import Geometry, geometry
from boardclass.jit import frozen
from boardclass.partition import Partition, parse_partition
from boardclass.scores import ScoreTable, n_letters
from search import bound, shapes, tree, walk
from search.node import Node, at_least, class_node, letters_of, node_at, split
from search.params import Params
from search.paths import MAX_CELLS, path_table
from search.scorer import Scorer
from search.trie import build_trie

MAX_FREE_CELLS = 12
_BITS_PER_LEVEL = 5
_SURVIVORS = 4096


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
    """

    dims: str
    words: tuple[str, ...]
    points: tuple[int, ...]
    cutoff: int
    partition: str
    params: Params = field(default_factory=Params)


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
    max_bound : largest bound of a node that was eliminated without search
    candidates : boards with score >= cutoff, as scored here; each stands for its symmetric images
    counters : n_terms, n_nodes (states), n_pushes, n_splits, n_survivors, max_tree_bytes
    seconds : wall time, for information only
    """

    unit: Unit
    status: str
    n_boards: int
    max_bound: int
    candidates: tuple[tuple[str, int], ...]
    children: tuple[Unit, ...]
    counters: dict[str, int]
    seconds: float


@dataclass
class _Tally:
    """What the nodes of one unit add up to."""

    max_bound: int = 0
    candidates: set[tuple[str, int]] = field(default_factory=set)
    n_terms: int = 0
    n_nodes: int = 0
    n_pushes: int = 0
    n_splits: int = 0
    n_survivors: int = 0
    max_tree_bytes: int = 0

    @property
    def effort(self) -> int:
        return self.n_terms + self.n_pushes

    def counters(self) -> dict[str, int]:
        names = ("n_terms", "n_nodes", "n_pushes", "n_splits", "n_survivors", "max_tree_bytes")
        return {name: getattr(self, name) for name in names}


class Breaker:
    """Searches units of one run; holds the trie and the working memory, so make one per worker and keep it."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.geometry: Geometry = geometry(spec.dims)
        self.partition: Partition = parse_partition(spec.partition, spec.dims)
        self.scorer = Scorer(spec.dims, spec.words, ScoreTable("run", spec.points))
        n = self.geometry.n
        self._trie = build_trie(spec.words, [spec.points[n_letters(w)] for w in spec.words], n)
        codes = {int(p): code for code, p in enumerate(self._trie.points) if p}
        fitting = [w for w in spec.words if len(w) <= n and spec.points[n_letters(w)]]
        self._words = shapes.word_arrays(fitting, [codes[spec.points[n_letters(w)]] for w in fitting])
        self._max_len = max(map(len, fitting), default=1)
        n_codes = int(np.count_nonzero(self._trie.points)) + 1
        self._code_bits = max(4, (n_codes - 1).bit_length())
        self.max_free = min(MAX_FREE_CELLS, (64 - self._code_bits) // _BITS_PER_LEVEL)
        # Per term: 8 bytes of term (then key), 4 of points, and about as much again of tree.
        self._terms_capacity = spec.params.memory_mb * (1 << 20) // 20
        self._terms = np.empty(self._terms_capacity, np.uint64)
        self._points = np.empty(self._terms_capacity, np.int32)
        self._cells = np.empty(max(1 << 16, self._terms_capacity * 2), np.int32)
        self._front = walk.new_frontier(min(1 << 24, max(1 << 16, self._terms_capacity)))
        self._search = bound.new_search()
        self._survivors = np.zeros((_SURVIVORS, MAX_FREE_CELLS), np.int8)

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
        root = node_at(root, unit.path, self.geometry, params)
        tally = _Tally()
        todo = [root]
        while todo and tally.effort <= params.unit_budget:
            node = todo.pop()
            if not self._search_node(node, tally):
                tally.n_splits += 1
                todo += reversed(split(node, self.geometry, params))
        children = tuple(Unit(unit.class_id, node.path) for node in reversed(todo))
        return UnitResult(
            unit=unit,
            status="split" if children else "candidates" if tally.candidates else "eliminated",
            n_boards=root.n_boards,
            max_bound=tally.max_bound,
            candidates=tuple(sorted(tally.candidates)),
            children=children,
            counters=tally.counters(),
            seconds=time.perf_counter() - began,
        )

    def predicted_cost(self, class_id: int) -> float:
        """Return a figure that grows with the expected cost of a class: strong letters on bare cells."""
        weights = {x: 1.0 + i for i, x in enumerate(self.spec.params.letter_order)}
        letters = self.partition.class_letters(class_id)
        return prod(max(weights[x] for x in cell) for cell in letters)

    def _search_node(self, node: Node, tally: _Tally) -> bool:
        """Search one node; return False if it has to be split."""
        free = [c for c in self.geometry.cell_order if not node.is_bare(c)]
        if not free:
            return self._score(node, [dict[int, int]()], tally)
        if len(free) > self.max_free:
            return False
        orderly, root_bound = self._build(node, free, tally)
        if orderly is None:
            return False
        if not reaches(root_bound, self.spec.cutoff):
            tally.max_bound = max(tally.max_bound, root_bound)
            return True
        return self._bound(node, free, orderly, tally)

    def _terms_of(self, node: Node, free: list[int]) -> int:
        """Generate the terms of a node into the working array; return their number or a negative status.

        Path shapes look at every path and suit nodes whose free cells are nearly open; the walk suits narrow ones.
        """
        n_letters_free = sum(node.masks[c].bit_count() for c in free)
        if self.geometry.n <= MAX_CELLS and n_letters_free >= self.spec.params.shape_letters * len(free):
            return self._shape_terms(node, free)
        return self._walk_terms(node, free)

    def _shape_terms(self, node: Node, free: list[int]) -> int:
        table = path_table(self.spec.dims, node.bare, self._max_len)
        bare = [c for c in self.geometry.cell_order if node.is_bare(c)]
        on_bare = np.array([sum(1 << i for i, c in enumerate(bare) if node.masks[c] >> x & 1) for x in range(26)], np.int64)
        everything = (1 << 26) - 1
        tight = [(level, c) for level, c in enumerate(free) if node.masks[c] != everything]
        shift = np.array([_BITS_PER_LEVEL * (len(free) - 1 - level) for level, _ in tight], np.int64)
        forbidden = np.array([(everything & ~node.masks[c]) << 1 for _, c in tight], np.int64)
        rim = shapes.Rim(frozen(on_bare), frozen(shift), frozen(forbidden))
        n, _ = shapes.shape_terms(self._words, table, rim, self._terms, self._code_bits, shapes.ALL)
        return int(n)

    def _walk_terms(self, node: Node, free: list[int]) -> int:
        unit = np.zeros(self.geometry.n, np.uint64)
        for level, c in enumerate(free):
            unit[c] = 1 << (_BITS_PER_LEVEL * (len(free) - 1 - level))
        low = sum(1 << (_BITS_PER_LEVEL * i) for i in range(len(free)))
        holds = np.array([sum(1 << c for c, m in enumerate(node.masks) if m >> x & 1) for x in range(26)], np.int64)
        cells = walk.Cells(self.geometry.neighbour_masks, frozen(holds), frozen(unit), node.bare, low)
        n, _ = walk.walk(self._trie.nodes, cells, self._front, self._terms, self._code_bits, self.spec.params.absorb_limit)
        return int(n)

    def _build(self, node: Node, free: list[int], tally: _Tally) -> tuple[tree.Tree | None, int]:
        """Return the orderly tree of a node and its root bound; None if it does not fit."""
        n = self._terms_of(node, free)
        if n < 0:
            return None, 0
        tally.n_terms += n
        terms = self._terms[:n]
        terms.sort()
        n_keys = tree.group(terms, self._points, self._trie.points, self._code_bits)
        tip, root_bound = tree.build(self._terms, self._points, n_keys, len(free), self._cells)
        if tip < 0:
            return None, 0
        tally.max_tree_bytes = max(tally.max_tree_bytes, int(4 * tip + 12 * n_keys))
        return tree.Tree(frozen(self._cells), frozen(self._terms), frozen(self._points), len(free)), int(root_bound)

    def _prepare(self, node: Node, free: list[int]) -> None:
        """Reset the search state for a node: nothing pushed, letters outside the masks forbidden, demands by level."""
        s = self._search
        s.counts[:] = 0
        s.points[0] = 0
        s.n_choices[0] = s.n_tails[0] = 0
        s.sums[:] = bound.FORBIDDEN
        s.not_less[:] = 0
        order = at_least(self.spec.params.letter_order)
        s.smaller[:] = [((1 << 26) - 1) & ~mask for mask in order]
        for level, c in enumerate(free):
            s.sums[0, level, [x for x in range(26) if node.masks[c] >> x & 1]] = 0
            s.not_less[level] = sum(1 << free.index(d) for a, d in node.demands if a == c and d in free[level + 1 :])

    def _bound(self, node: Node, free: list[int], orderly: tree.Tree, tally: _Tally) -> bool:
        """Run OrderlyBound over a built tree and score what survives; return False if the node has to be split."""
        s = self._search
        self._prepare(node, free)
        first = bound.add_root(orderly, s, int(orderly.cells[0]))
        found = replace(tally, candidates=set(tally.candidates))
        if not reaches(first, self.spec.cutoff):
            found.max_bound = max(found.max_bound, int(first))
        status = bound.SURVIVORS_FULL
        n_before = 0
        scored = True
        while status == bound.SURVIVORS_FULL and scored:
            status = bound.orderly_bound(orderly, s, self.spec.cutoff, self.spec.params.node_budget, self._survivors)
            n = int(s.counts[bound.SURVIVORS]) - n_before
            n_before += n
            boards = [dict(zip(free, row.tolist(), strict=False)) for row in self._survivors[:n]]
            scored = self._score(node, boards, found)
        tally.n_nodes += int(s.counts[bound.STATES])
        tally.n_pushes += int(s.counts[bound.PUSHES])
        tally.n_survivors += n_before
        if status != bound.DONE or not scored:
            return False  # what was found so far is found again below
        tally.candidates = found.candidates
        tally.max_bound = found.max_bound
        return True

    def _score(self, node: Node, survivors: list[dict[int, int]], tally: _Tally) -> bool:
        """Score the boards that survivors stand for, all letters of fused cells; return False if they are too many."""
        bare = [c for c in range(self.geometry.n) if node.is_bare(c)]
        each = prod(node.masks[c].bit_count() for c in bare)
        if each > 1 and each * len(survivors) > self.spec.params.product_limit:
            return False
        boards = [self._board(s, bare, letters) for s in survivors for letters in product(*map(node.letters, bare))]
        if boards:
            scores: NDArray[np.int32] = self.scorer.scores(boards)
            tally.candidates.update((b, int(v)) for b, v in zip(boards, scores, strict=True) if reaches(int(v), self.spec.cutoff))
        return True

    def _board(self, survivor: dict[int, int], bare: list[int], letters: tuple[str, ...]) -> str:
        cells = dict(zip(bare, letters, strict=True)) | {c: chr(97 + x) for c, x in survivor.items()}
        return "".join(cells[c] for c in range(self.geometry.n))


def break_class(spec: Spec, class_id: int) -> UnitResult:
    """Search one class from start to end, splits included; see :class:`Breaker` for many.

    Raises
    ------
    InputError
        If the partition has no such class.
    """
    if class_id < 0:
        raise InputError(f"no class {class_id!r}: expected a number of 0 or more")
    whole = replace(spec, params=replace(spec.params, unit_budget=1 << 62))
    return Breaker(whole).break_unit(Unit(class_id))


__all__ = ["Breaker", "Spec", "Unit", "UnitResult", "break_class", "letters_of"]
