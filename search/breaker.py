"""The breaker: one unit in, its verdict out.

    break_unit -> each node of the unit: NodeSearch.search (search.node_search) -> the parts still to be searched
               -> what is left of a unit that spends the unit budget goes back to the caller as children

The breaker reads no files, and no decision depends on a clock, so a unit gives the same verdict anywhere.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from boardclass.errors import InputError
from boardclass.geometry import Geometry, geometry
from boardclass.partition import Partition, parse_partition
from boardclass.parts import ancestors, is_below
from boardclass.printable import html_table
from boardclass.scores import ScoreTable
from search.node import Node, OpenClass, class_node, node_at, split
from search.node_search import EFFORT, NodeSearch, Tally
from search.params import Params
from search.scoring.scorer import Scorer
from search.trees.forest import Forest
from search.trees.generator import make_lexicon

_ALL_LETTERS = (1 << 26) - 1
_DRAWN = 10  # boards in a notebook


@dataclass(frozen=True)
class Spec:
    """What to search and how; small and picklable.

    dims : board size such as ``3x4``
    words : usable words in q-form
    points : points by number of letters
    cutoff : points
    partition : text of the letter buckets
    params : Params
    cell_order : the order in which cells are forced and searched; empty: the default one of the board's geometry
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

    status : ``eliminated``, ``candidates``, or ``split``: the ``children`` are still to be searched
    n_boards : boards of the unit, before residual symmetry
    max_bound : largest bound or score of all nodes, states and boards that were discarded; below the cutoff
    candidates : boards with score >= cutoff, as scored here; each stands for its symmetric images
    settled : paths of the parts decided here when others are left; together with the children they make up the unit
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

    @property
    def effort(self) -> int:
        """Work done, the same on every machine: terms, pushes and splits."""
        return sum(self.counters.get(name, 0) for name in EFFORT)

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        boards = sorted(self.candidates, key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"{board} {score:,}" for board, score in boards[:_DRAWN]) + ", ..." * (len(boards) > _DRAWN)
        facts = [
            ("status", self.status),
            ("boards, before symmetry", self.n_boards),
            ("candidates", len(boards)),
            *([("the best", listed)] if boards else []),
            ("largest bound discarded", self.max_bound),
            *([("parts left", len(self.children))] if self.children else []),
            *((name.removeprefix("n_").replace("_", " "), n) for name, n in self.counters.items()),
            ("seconds", f"{self.seconds:.3f}"),
        ]
        return html_table(f"Class {self.unit.class_id}{', ' * bool(self.unit.path)}{self.unit.path}", (), facts)


class Breaker:
    """Searches units of one run; holds the working memory, so make one per worker and keep it."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.geometry: Geometry = geometry(spec.dims, spec.cell_order)
        self.partition: Partition = parse_partition(spec.partition, spec.dims)
        self.scorer = Scorer(spec.dims, spec.words, ScoreTable("run", spec.points))
        lexicon = make_lexicon(self.scorer.geometry, spec.words, spec.points, self.scorer.trie)
        forest = Forest(self.geometry, spec.words, spec.points, spec.params, lexicon)
        self._nodes = NodeSearch(self.geometry, spec.params, self.scorer, forest)

    def turn(self, board: Geometry) -> None:
        """Go on with another cell order of the same board: another way to the same boards."""
        self.geometry = board
        self._nodes.turn(board)

    def break_unit(self, unit: Unit) -> UnitResult:
        """Search a unit.

        Raises InputError if the unit does not name a class or a part of one.
        """
        began = time.perf_counter()
        params = self.spec.params
        self._nodes.forest.begin()
        root = class_node(self.partition.class_masks(unit.class_id).tolist(), self.geometry, params)
        open_class = self._open_class(unit.class_id, root)
        root = node_at(root, unit.path, self.geometry, params)
        tally = Tally(self.spec.cutoff)
        left = self._search_down(root, open_class, tally, params.unit_budget)
        # a child tries again the letters that were ruled out here: that takes seconds, and no state has to be kept
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

    def _search_down(self, root: Node, open_class: OpenClass | None, tally: Tally, budget: int) -> list[Node]:
        """Search a node and all that it splits into until the tally's effort is above the budget; return what is left,
        in search order."""
        todo = [(root, 0)]
        while todo and tally.effort <= budget:
            node, ruled_out = todo.pop()
            parts, ruled_out = self._nodes.search(node, ruled_out, open_class, tally)
            tally.n_splits += bool(parts)
            todo += [(part, ruled_out) for part in reversed(parts)]
            if not parts:
                tally.done.add(node.path)
        return [node for node, _ in reversed(todo)]

    def _open_class(self, class_id: int, root: Node) -> OpenClass | None:
        """Return the class of a root (or of an image of it) if all its cells but the bare ones are open."""
        kinds = zip(self.partition.class_masks(class_id).tolist(), self.geometry.cell_types, strict=True)
        narrow = (m for m, kind in kinds if m.bit_count() > 1 and kind not in self.spec.params.fused)
        is_open = all(mask == _ALL_LETTERS for mask in narrow)
        bare = tuple(c for c in self.geometry.cell_order if root.is_bare(c))
        return OpenClass(bare, root.demands) if is_open and bare else None

    def _settled(self, node: Node, left: set[str], done: set[str]) -> list[str]:
        """Return the widest parts of a node that are ``done`` and hold nothing of what is ``left``, in search order.

        A part is done when it was searched itself or when all its parts are done.  A part that is neither left nor done
        would be missing here, and the coverage check would find that.
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


def break_class(spec: Spec, class_id: int) -> UnitResult:
    """Search one class from start to end, splits included; see :class:`Breaker` for many.

    Raises InputError if the partition has no such class.

    Examples
    --------
    >>> from boardclass import load_wordlist, parse_scores
    >>> words = load_wordlist("scowl70").words
    >>> spec = Spec("2x2", words, parse_scores("standard").points, cutoff=14, partition="aeiou bcdfghjklmnpqrstvwxyz")
    >>> break_class(spec, 3).candidates  # consonants in cells 0 and 1, vowels in 2 and 3
    (('trae', 14), ('trea', 14), ('tsae', 14), ('tsea', 14))
    >>> break_class(spec, 15).status  # consonants alone
    'eliminated'
    """
    if class_id < 0:
        raise InputError(f"no class {class_id!r}: expected a number of 0 or more")
    whole = replace(spec, params=replace(spec.params, unit_budget=1 << 62))
    return Breaker(whole).break_unit(Unit(class_id))
