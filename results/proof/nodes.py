"""How the search cuts classes into parts, for the coverage check: what workers say of their splits
is not believed.

The rules are those of ``search.node``; the structural parameters that they follow are recorded with
the run.

>>> from orderly_boggle.results.store.run import open_run
>>> nodes = run_nodes(open_run("runs/2x2-scowl70-14"))
>>> nodes.n_boards(0, "")
625
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.parts import way_to
from orderly_boggle.search.node import Node, at_least, class_node, split_at, split_cells
from orderly_boggle.search.question import Question

if TYPE_CHECKING:
    from orderly_boggle.boardclass.wordlist import WordList
    from orderly_boggle.results.store.run import Run
    from orderly_boggle.search.breaker import Spec, UnitResult

_KEPT = 1 << 16


def run_nodes(run: Run) -> SearchNodes:
    """Return how the search of a run cuts its classes."""
    return SearchNodes(run.question)


def run_spec(run: Run, words: WordList) -> Spec:
    """Return what a breaker is told to search classes of a run again."""
    from orderly_boggle.search.breaker import Spec

    return Spec(run.question, words.words, run.made.budgets)


class SearchNodes:
    """The parts that splits of the search make."""

    def __init__(self, question: Question) -> None:
        self._partition = question.partition
        self._geometry = question.geometry
        self._rules = question.rules
        # The check goes through a run class by class, from the top down, so the last split is asked
        # for again.
        self._split = lru_cache(_KEPT)(self._split_anew)

    def n_boards(self, class_id: int, path: str) -> int:
        """Return the number of boards of a part, without those that residual symmetry leaves out.

        Raises InputError when no split of the search makes the part.
        """
        return self._node(class_id, path).n_boards

    def parts(self, class_id: int, path: str, cell: int) -> tuple[str, ...]:
        """Return the paths that a part is split into at a cell, in the order of the search; none if
        no search splits it there.

        Raises InputError when no split of a search makes the part, or it is a single board.
        """
        return tuple(self._split(class_id, path).get(cell, ()))

    def difference(self, original: UnitResult, replica: UnitResult) -> str:
        """Return in what a verdict and its replica differ, or an empty text.

        It compares the boards that every search of the unit's own parts must list: those that meet
        the demands of residual symmetry.  Other boards stand for images that are listed elsewhere.
        """
        class_id = original.unit.class_id
        try:
            nodes = [self._node(class_id, path) for path in paths_of(original)]
        except InputError as error:
            return str(error)
        n_boards = sum(node.n_boards for node in nodes)
        # of other parts nothing can be compared
        if replica.n_boards != n_boards:
            return f"the replica has {replica.n_boards} boards, the parts of the unit {n_boards}"
        first, second = (self._demanded(nodes, result) for result in (original, replica))
        lone = {"verdict": first - second, "replica": second - first}
        return ", ".join(
            f"only the {who} has {min(boards)}" for who, boards in lone.items() if boards
        )

    def _demanded(self, nodes: Sequence[Node], result: UnitResult) -> set[tuple[str, int]]:
        demanded: set[tuple[str, int]] = set()
        for node in nodes:
            demanded |= {item for item in result.candidates if self._holds(node, item[0])}
        return demanded

    def _holds(self, node: Node, board: str) -> bool:
        letters = [ord(letter) - 97 for letter in board]
        # demands compare by their own order of letters, not by the alphabet
        later = at_least(self._rules.demand_order)
        cells = zip(node.masks, letters, strict=True)
        if not all(mask >> letter & 1 for mask, letter in cells):
            return False
        return all(later[letters[c]] >> letters[d] & 1 for c, d in node.demands)

    def _node(self, class_id: int, path: str) -> Node:
        node = class_node(
            self._partition.class_masks(class_id).tolist(), self._geometry, self._rules
        )
        parent = ""
        # from the top down: a path of any length is given up where it ends
        for here in way_to(path):
            part = None
            for parts in self._split(class_id, parent).values():
                part = part or parts.get(here)
            if part is None:
                raise InputError(
                    f"no part {quote(here)} of class {class_id}: expected one that splitting "
                    f"{quote(parent)} makes"
                )
            node = part
            parent = here
        return node

    def _split_anew(self, class_id: int, path: str) -> dict[int, dict[str, Node]]:
        node = self._node(class_id, path)
        cells = split_cells(node, self._geometry, self._rules)
        if not cells:
            raise InputError(
                f"part {quote(path)} of class {class_id} is a single board: it has no parts"
            )
        parts = {}
        for cell in cells:
            parts[cell] = {part.path: part for part in split_at(node, cell, self._rules)}
        return parts


def paths_of(result: UnitResult) -> tuple[str, ...]:
    """Return the parts of a unit that its verdict settles: the unit itself unless others are
    left.
    """
    if result.children:
        return result.settled
    return (result.unit.path,)
