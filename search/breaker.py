"""The breaker: one unit in, its verdict out.

    break_unit -> each node of the unit: NodeSearch.search (search.node_search)
               -> the parts still to be searched
               -> what is left of a unit that spends the unit budget goes back to the caller as
                  children
    replicate  -> each node: its image under a random symmetry, searched in another cell order
               -> the boards found, turned back

The breaker reads no files, and no decision depends on a clock, so a unit gives the same verdict
anywhere.  A replica finds the boards of a unit a second time in another way, so that a faulty
machine gives itself away.  Image and order are drawn from a seed.  The demands of residual symmetry
belong to the node and turn with it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from orderly_boggle.boardclass.errors import IncompleteError, InputError, quote
from orderly_boggle.boardclass.geometry import CELL_TYPES, Dims, Geometry, geometry
from orderly_boggle.boardclass.notebook import bar
from orderly_boggle.boardclass.partition import Partition, letter_mask
from orderly_boggle.boardclass.parts import ancestors, is_below
from orderly_boggle.boardclass.printable import html_table
from orderly_boggle.boardclass.scores import Scores
from orderly_boggle.boardclass.wordlist import WordList, sha256_of, words_in_q_form
from orderly_boggle.search.node import Node, OpenClass, class_node, node_at, split
from orderly_boggle.search.one_thread import OneThread
from orderly_boggle.search.params import Budgets, Rules
from orderly_boggle.search.question import Question, ask
from orderly_boggle.search.scoring.scorer import Scorer
from orderly_boggle.search.tally import EFFORT, Tally

_ALL_LETTERS = (1 << 26) - 1
_DRAWN = 10  # boards in a notebook
# effort of a replica, in unit budgets, before it is given up: another order may be a worse one
_PATIENCE = 10


@dataclass(frozen=True)
class Spec:
    """What to search and with which budgets; small and picklable."""

    question: Question
    words: tuple[str, ...] = field(repr=False)  # of the list of the question, in q-form
    budgets: Budgets = field(default_factory=Budgets)

    @classmethod
    def of(
        cls, dims: str | Dims, words: str | Path | WordList | Sequence[str],
        points: Scores, cutoff: int, buckets: str | None = None,
        budgets: Budgets | None = None, rules: Rules | None = None, cell_order: Sequence[int] = (),
    ) -> Spec:  # fmt: skip
        """Return what people write: see :func:`orderly_boggle.search.question.ask`.

        words : name or path of a word list, a WordList, or words in q-form
        buckets : must be given, since class ids mean something only together with them

        Raises InputError if something cannot be read, or no buckets are given.
        """
        if buckets is None:
            raise InputError(
                "letter buckets None: expected a text such as 'aeiou bcdfghjklmnpqrstvwxyz'; "
                "open_run(RUN).question.buckets are those of a run, load_config(PRESET).buckets "
                "those of a preset"
            )
        own = words_in_q_form(words, spelled=False)
        if isinstance(words, WordList):
            sha256 = words.sha256
        else:
            sha256 = sha256_of(own)
        question = ask(dims, sha256, points, cutoff, buckets, cell_order, rules)
        return cls(question, own, budgets or Budgets())


@dataclass(frozen=True)
class Unit:
    """A class, or the part of it behind ``path``."""

    class_id: int
    path: str = ""


@dataclass(frozen=True)
class UnitResult:
    """Verdict on a unit."""

    unit: Unit
    # ``eliminated``, ``candidates``, or ``split``: the ``children`` are still to be searched
    status: str
    n_boards: int  # boards of the unit, before residual symmetry
    # largest bound or score of all nodes, states and boards that were discarded; below the cutoff
    max_bound: int
    # boards with score >= cutoff; each stands for its symmetric images
    candidates: tuple[tuple[str, int], ...]
    children: tuple[Unit, ...]
    # paths of the parts decided here when others are left; with the children all of the unit
    settled: tuple[str, ...]
    counters: dict[str, int]  # search.tally.COUNTERS
    seconds: float  # wall time, for information only

    @property
    def effort(self) -> int:
        """Work done, the same on every machine: terms, pushes and splits."""
        return sum(self.counters.get(name, 0) for name in EFFORT)

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        boards = sorted(sorted(self.candidates), key=itemgetter(1), reverse=True)
        facts: list[tuple[str, object]] = [
            ("status", self.status),
            ("boards, before symmetry", self.n_boards),
            ("candidates", len(boards)),
        ]
        if boards:
            drawn = [f"{board} {score:,}" for board, score in boards[:_DRAWN]]
            if len(boards) > _DRAWN:
                drawn.append("...")
            facts.append(("the best", ", ".join(drawn)))
        facts.append(("largest bound discarded", self.max_bound))
        if self.children:
            facts.append(("parts left", len(self.children)))
        for name, n in self.counters.items():
            facts.append((name.removeprefix("n_").replace("_", " "), n))
        facts.append(("seconds", f"{self.seconds:.3f}"))
        title = f"Class {self.unit.class_id}"
        if self.unit.path:
            title += f", {self.unit.path}"
        return html_table(title, (), facts)


class Settled(NamedTuple):
    """How far the search of a unit is."""

    done: float  # share of its boards that is settled, 0 to 1


class Breaker:
    """Searches units of one run; holds the working memory, so make one per worker and keep it.

    Each thread needs a breaker of its own: one that is used while it searches raises InputError,
    also from ``progress``.

    ``progress`` is told after each node how far the unit is, see :class:`Settled`.  While it
    ``hurries``, a unit splits as soon as its effort is above ``hurried_budget``: some ten seconds.
    With ``split_at`` it splits as soon as its effort is that much, whatever its budget: a unit that
    was split there is found again as it was.
    """

    hurries = False
    hurried_budget = 120_000_000
    split_at = 0

    def __init__(self, spec: Spec, progress: Callable[[Settled], object] = bool) -> None:
        from orderly_boggle.search.node_search import NodeSearch  # loads the kernels
        from orderly_boggle.search.trees.forest import Forest

        question = spec.question
        self.question = question
        self.budgets = spec.budgets
        self._progress = progress
        self.geometry: Geometry = question.geometry
        self.partition: Partition = question.partition
        self.scorer = Scorer.of(question, spec.words)
        buckets = []
        for kind in question.rules.fused:
            # only fused cells are cut, and only along the letters of their own buckets
            buckets += [letter_mask(letters) for letters in self.partition.buckets.get(kind, ())]
        forest = Forest(self.geometry, self.scorer.trie, question.rules, spec.budgets, buckets)
        self.scorer.trie = forest.trie  # which the workers of a machine share
        self._nodes = NodeSearch(question, spec.budgets, self.scorer, forest)
        self._alone = OneThread(
            f"the Breaker of {question.dims} boards",
            "make a Breaker for each thread, or call break_class",
        )

    @property
    def n_short_layers(self) -> int:
        """How often the memory was too small for a layer of terms of the last unit, or for more
        than its base: such a node is split, or its terms are generated again, so more memory saves
        time.
        """
        return self._nodes.forest.n_short

    def turn(self, board: Geometry) -> None:
        """Go on with another cell order of the same board: another way to the same boards."""
        with self._alone:
            self._turn(board)

    def _turn(self, board: Geometry) -> None:
        self.geometry = board
        self._nodes.turn(board)

    def break_unit(self, unit: Unit) -> UnitResult:
        """Search a unit.

        Raises InputError if the unit does not name a class or a part of one, or the breaker is at
        work.
        """
        with self._alone:
            return self._break(unit)

    def _break(self, unit: Unit) -> UnitResult:
        began = time.perf_counter()
        tally = Tally(self.question.cutoff)
        self._nodes.begin()
        # before anything is grown: a path from outside that names no part is refused here
        root, (node,) = self._nodes_at(unit, [unit.path])
        open_class = self._open_class(unit.class_id, root)
        budget = self.budgets.unit_budget
        # other workers are idle: what is left of the unit becomes work for them
        if self.hurries:
            budget = min(budget, self.hurried_budget)
        if self.split_at:
            budget = self.split_at - 1
        # in order, so that a unit splits into the same children on every machine
        open_paths = [part.path for part in self._search_down(node, open_class, tally, budget)]
        # a child tries again the letters that were ruled out here: that takes seconds, and no state
        # has to be kept
        settled = self._settled(node, set(open_paths), tally.done)
        return _verdict(unit, began, [node], tally, tally.candidates, open_paths, settled)

    def replicate(self, unit: Unit, paths: Sequence[str], seed: int) -> UnitResult:
        """Search the parts of a unit that ``paths`` name for all boards at or above the cutoff,
        without splits.

        Compare only boards that meet the demands: the others stand for images as far as each part
        allows.

        Raises InputError if a path does not name a part of the class, or the breaker is at work;
        IncompleteError if it takes far more than a unit should.
        """
        with self._alone:
            return self._replicated(unit, paths, seed)

    def _replicated(self, unit: Unit, paths: Sequence[str], seed: int) -> UnitResult:
        began = time.perf_counter()
        tally = Tally(self.question.cutoff)
        rng = random.Random(seed)
        # the order is restored at the end, whatever happens: the next unit expects it
        board = self.geometry
        candidates = set()
        patience = _PATIENCE * self.budgets.unit_budget
        self._nodes.begin()
        root, nodes = self._nodes_at(unit, paths)
        try:
            for node in nodes:
                # the same boards turned and in another order: a bug that depends on cells shows as
                # a difference
                symmetry = rng.choice(board.symmetries.tolist())
                turned = image(node, symmetry)
                order = another_order(board, turned.demands, rng)
                self._turn(geometry(board.dims, order))
                # these are candidates of the turned board, and are turned back below
                tally.candidates = set()
                open_class = self._open_class(unit.class_id, image(root, symmetry))
                # a replica cannot leave work to children: it searches to the end, or gives up
                left = self._search_down(turned, open_class, tally, patience)
                if left:
                    raise IncompleteError(
                        f"the replica takes more than {_PATIENCE} times what a unit may"
                    )
                back = itemgetter(*map(symmetry.index, range(board.n)))
                for text, score in tally.candidates:
                    candidates.add(("".join(back(text)), score))
        finally:
            self._turn(board)
        return _verdict(unit, began, nodes, tally, candidates)

    def _nodes_at(self, unit: Unit, paths: Sequence[str]) -> tuple[Node, list[Node]]:
        """Return the node of a unit's class, and those that the paths name below it."""
        rules = self.question.rules
        masks = self.partition.class_masks(unit.class_id).tolist()
        root = class_node(masks, self.geometry, rules)
        return root, [node_at(root, path, self.geometry, rules) for path in paths]

    def _search_down(
        self, root: Node, open_class: OpenClass | None, tally: Tally, budget: int
    ) -> list[Node]:
        """Search a node and its parts until the tally's effort is above the budget; return what is
        left, in order.
        """
        # a stack: depth first, so that few nodes are open and trees above are reused
        todo = [(root, 0, 1.0)]
        settled = 0.0
        while todo and tally.effort <= budget:
            node, ruled_out, share = todo.pop()
            parts, ruled_out = self._nodes.search(node, ruled_out, open_class, tally)
            tally.n_splits += bool(parts)
            # all parts get the same share: their sizes say little about their cost
            todo += [(part, ruled_out, share / len(parts)) for part in reversed(parts)]
            if not parts:
                tally.done.add(node.path)
                settled += share
            if not todo:  # shares do not add up to 1 exactly
                settled = 1.0
            self._progress(Settled(settled))
        return [node for node, *_ in reversed(todo)]

    def _open_class(self, class_id: int, root: Node) -> OpenClass | None:
        """Return the class of a root (or of an image of it) if all its cells but the bare ones are
        open.
        """
        masks = self.partition.class_masks(class_id).tolist()
        for mask, kind in zip(masks, self.geometry.cell_types, strict=True):
            is_bare = mask.bit_count() == 1 or kind in self.question.rules.fused
            # a narrow cell outside the centre makes a class of its own kind, whose layers no other
            # shares; without one, trees serve every class with the same centre
            if not is_bare and mask != _ALL_LETTERS:
                return None
        bare = tuple(c for c in self.geometry.cell_order if root.is_bare(c))
        if bare:
            return OpenClass(bare, root.demands)
        return None

    def _settled(self, node: Node, open_paths: set[str], done: set[str]) -> list[str]:
        """Return the widest parts of a node that are ``done`` and hold nothing that is open,
        in search order.

        A part that is neither would be missing here, and the coverage check would find that.
        """
        # a part with something open below is not settled itself, though much of it may be
        above = set(chain.from_iterable(map(ancestors, open_paths)))
        settled = []
        todo = []
        if open_paths:
            todo.append(node)
        while todo:
            part = todo.pop()
            if part.path in above:
                todo += reversed(split(part, self.geometry, self.question.rules))
            elif part.path not in open_paths and self._is_done(part, done):
                settled.append(part.path)
        return settled

    def _is_done(self, node: Node, done: set[str]) -> bool:
        """Return whether a node is among the done ones, or all of its parts are."""
        if node.path in done:
            return True
        if not any(is_below(path, node.path) for path in done):
            return False
        parts = split(node, self.geometry, self.question.rules)
        return all(self._is_done(part, done) for part in parts)


def _verdict(
    unit: Unit, began: float, nodes: Sequence[Node], tally: Tally,
    candidates: Collection[tuple[str, int]],
    open_paths: Sequence[str] = (), settled: Sequence[str] = (),
) -> UnitResult:  # fmt: skip
    if open_paths:
        status = "split"
    elif candidates:
        status = "candidates"
    else:
        status = "eliminated"
    return UnitResult(
        unit=unit,
        status=status,
        n_boards=sum(node.n_boards for node in nodes),
        max_bound=tally.max_bound,
        candidates=tuple(sorted(candidates)),
        children=tuple(Unit(unit.class_id, path) for path in open_paths),
        settled=tuple(settled),
        counters=tally.counters(),
        seconds=time.perf_counter() - began,
    )


def image(node: Node, symmetry: Sequence[int]) -> Node:
    """Return the node as it looks when cell ``symmetry[i]`` of the board has moved to cell i."""
    place = {cell: i for i, cell in enumerate(symmetry)}
    return Node(
        masks=tuple(node.masks[cell] for cell in symmetry),
        bare=sum(1 << i for i, cell in enumerate(symmetry) if node.is_bare(cell)),
        demands=tuple((place[c], place[d]) for c, d in node.demands),
    )


def another_order(
    board: Geometry, demands: Sequence[tuple[int, int]], rng: random.Random
) -> tuple[int, ...]:
    """Return the cells by type as in the board's own order, shuffled within each type.

    In every demand (c, d) c stays before d: only then does the search use it.
    """
    order: list[int] = []
    for kind in sorted(set(board.cell_types), key=CELL_TYPES.index):
        waiting = [cell for cell in range(board.n) if board.cell_types[cell] == kind]
        while waiting:
            held_back = {d for c, d in demands if c in waiting}
            able = [cell for cell in waiting if cell not in held_back]
            chosen = rng.choice(able)
            order.append(chosen)
            waiting.remove(chosen)
    return tuple(order)


def break_class(
    spec: Spec, class_id: int, progress: Callable[[Settled], object] | None = None
) -> UnitResult:
    """Search one class from start to end, splits included; see :class:`Breaker` for many.  Threads
    may call it at the same time.

    ``progress`` is told which share is ``done``, see :class:`Settled`; by default it is a bar in a
    notebook.

    Raises InputError if the question cannot be read, or has no such class.

    Examples
    --------
    >>> spec = Spec.of("2x2", "scowl70", "standard", 14, "aeiou bcdfghjklmnpqrstvwxyz")
    >>> break_class(spec, 3).candidates  # consonants in cells 0 and 1, vowels in 2 and 3
    (('trae', 14), ('trea', 14), ('tsae', 14), ('tsea', 14))
    >>> break_class(spec, 15).status  # consonants alone
    'eliminated'
    """
    if not isinstance(spec, Spec):
        raise InputError(f"{quote(spec)} is no question: expected a Spec")
    spec.question.partition.unrank(class_id)  # before kernels are loaded
    # nobody would search the children of a split, so there is none
    patient = replace(spec.budgets, unit_budget=1 << 62)
    breaker = Breaker(replace(spec, budgets=patient), progress or bar())
    return breaker.break_unit(Unit(class_id))
