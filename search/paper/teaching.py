"""Trees of small classes to look at: the Sum/Choice tree of the paper and the orderly tree, as plain nested nodes.

Sum/Choice: a *sum* node stands for a prefix that ends on a cell and adds up what follows on the neighbours; a *choice*
node stands for a cell with several letters, of which only the best counts.  Its bound counts every path (multi-score).
Orderly: the same terms once each, sorted by the cell order, so that equal literals meet; its bound is never larger
than the sum of the points of all terms.  Slow and recursive on purpose: these are for drawings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boardclass.errors import InputError
from boardclass.geometry import Geometry
from boardclass.scores import ScoreTable
from search.paper.basic import Tree
from search.paper.tree_kernels import BOUND, DIGIT, FIRST_RUN, LEVEL, NEXT_RUN, POINTS, RUN_BOUND, SIBLING

SUM, CHOICE = "sum", "choice"
MAX_NODES = 400


@dataclass(frozen=True)
class TreeNode:
    """A node to draw: its kind, cell and letter, the points of the words that end here, the bound with all below it."""

    kind: str
    label: str
    points: int
    bound: int
    children: tuple[TreeNode, ...] = ()

    @property
    def n_nodes(self) -> int:
        """Nodes of the tree, this one included."""
        return 1 + sum(child.n_nodes for child in self.children)


def sum_choice_tree(
    class_letters: Sequence[str], words: Sequence[str], table: ScoreTable, geometry: Geometry
) -> TreeNode:
    """Return the Sum/Choice tree of a class, given as the letters of each cell; ``words`` are in q-form.

    Raises
    ------
    InputError
        If it would have more than ``MAX_NODES`` nodes.
    """
    fitting = {word for word in words if len(word) <= geometry.n and table.of(word)}
    prefixes = {word[:i] for word in fitting for i in range(len(word) + 1)}
    return _SumChoice(class_letters, fitting, prefixes, table, geometry).root()


class _SumChoice:
    def __init__(
        self, letters: Sequence[str], words: set[str], prefixes: set[str], table: ScoreTable, geometry: Geometry
    ) -> None:
        self._letters, self._words, self._prefixes = letters, words, prefixes
        self._table, self._geometry = table, geometry
        self._n_nodes = 0

    def root(self) -> TreeNode:
        children = self._around(range(self._geometry.n), "", ())
        return TreeNode(SUM, "all words", 0, sum(child.bound for child in children), children)

    def _around(self, cells: Sequence[int], prefix: str, used: tuple[int, ...]) -> tuple[TreeNode, ...]:
        made = (self._cell(cell, prefix, (*used, cell)) for cell in cells if cell not in used)
        return tuple(node for node in made if node is not None)

    def _cell(self, cell: int, prefix: str, used: tuple[int, ...]) -> TreeNode | None:
        options = [self._letter(cell, prefix + letter, used) for letter in self._letters[cell]]
        real = tuple(node for node in options if node is not None)
        if len(self._letters[cell]) == 1 or not real:
            return real[0] if real else None
        self._count()
        return TreeNode(
            CHOICE, f"cell {_place(cell, self._geometry.dims.h)}", 0, max(node.bound for node in real), real
        )

    def _letter(self, cell: int, prefix: str, used: tuple[int, ...]) -> TreeNode | None:
        if prefix not in self._prefixes:
            return None
        points = self._table.of(prefix) if prefix in self._words else 0
        children = self._around(self._geometry.neighbours[cell], prefix, used)
        bound = points + sum(child.bound for child in children)
        if not bound:
            return None
        self._count()
        label = f"{_place(cell, self._geometry.dims.h)}={prefix[-1]}"
        return TreeNode(SUM, label + (f" {prefix}" if points else ""), points, bound, children)

    def _count(self) -> None:
        self._n_nodes += 1
        if self._n_nodes > MAX_NODES:
            raise InputError(
                f"the Sum/Choice tree has more than {MAX_NODES} nodes: too many to look at; "
                "take fewer letters a cell or a shorter word list"
            )


def _place(cell: int, h: int) -> str:
    """Return row and column of a cell, as options take them."""
    return f"{cell % h + 1}.{cell // h + 1}"


def orderly_nodes(tree: Tree, h: int) -> TreeNode:
    """Return an orderly tree over a board of ``h`` rows as nested nodes.

    Raises
    ------
    InputError
        If it has more than ``MAX_NODES`` nodes.
    """
    if tree.n_nodes > MAX_NODES:
        raise InputError(
            f"the orderly tree has {tree.n_nodes:,} nodes, more than {MAX_NODES}: too many to look at; "
            "take fewer letters a cell or a shorter word list"
        )
    return _orderly(tree, h, 0)


def _orderly(tree: Tree, h: int, index: int) -> TreeNode:
    record = tree.nodes[index].tolist()
    runs = []
    first = record[FIRST_RUN]
    while first:
        head = tree.nodes[first].tolist()
        cell = _place(tree.layout.cells[head[LEVEL]], h)
        members = []
        node = first
        while node:
            members.append(_orderly(tree, h, node))
            node = int(tree.nodes[node, SIBLING])
        runs.append(TreeNode(CHOICE, f"cell {cell}", 0, head[RUN_BOUND], tuple(members)))
        first = head[NEXT_RUN]
    label = "all terms"
    if index:
        level = record[LEVEL]
        label = f"{_place(tree.layout.cells[level], h)}={tree.layout.letters[level][record[DIGIT] - 1]}"
    return TreeNode(SUM, label, record[POINTS], record[BOUND], tuple(runs))
