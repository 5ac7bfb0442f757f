"""A replica: the boards of a unit found a second time in another way, so that a faulty machine gives itself away.

    Replicator.replicate -> each node: its image under a random symmetry, searched in another cell order
                         -> the boards found, turned back

Image and order are drawn from a seed.  The demands of residual symmetry belong to the node and turn with it.  Cells are
shuffled within their type; a cell that a demand puts before another stays before it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

from boardclass.errors import IncompleteError
from boardclass.geometry import CELL_TYPES, Geometry, geometry
from search.breaker import Breaker, Unit, UnitResult
from search.node import Node, class_node, node_at
from search.node_search import Tally

_PATIENCE = 10  # effort of a replica, in unit budgets, before it is given up: another order may be a worse one


class Replicator(Breaker):
    """A breaker that also answers by replica."""

    def replicate(self, unit: Unit, paths: Sequence[str], seed: int) -> UnitResult:
        """Search the parts of a unit that ``paths`` name for all boards at or above the cutoff, without splits.

        The candidates stand for their symmetric images as far as the demands of each part allow, so compare only those
        that meet the demands.

        Raises InputError if a path does not name a part of the class; IncompleteError if it takes far more than a unit
        should.
        """
        began = time.perf_counter()
        rng = random.Random(seed)
        board, params = self.geometry, self.spec.params
        root = class_node(self.partition.class_masks(unit.class_id).tolist(), board, params)
        nodes = [node_at(root, path, board, params) for path in paths]
        tally, found = Tally(self.spec.cutoff), set()
        try:
            for node in nodes:
                symmetry = rng.choice(board.symmetries.tolist())
                turned = image(node, symmetry)
                self.turn(geometry(board.dims, another_order(board, turned.demands, rng)))
                tally.candidates = set()
                open_class = self._open_class(unit.class_id, image(root, symmetry))
                if self._search_down(turned, open_class, tally, _PATIENCE * params.unit_budget):
                    raise IncompleteError(f"the replica takes more than {_PATIENCE} times what a unit may")
                found |= {(_turned_back(text, symmetry), score) for text, score in tally.candidates}
        finally:
            self.turn(board)
        return UnitResult(
            unit=unit,
            status="candidates" if found else "eliminated",
            n_boards=sum(node.n_boards for node in nodes),
            max_bound=tally.max_bound,
            candidates=tuple(sorted(found)),
            children=(),
            settled=(),
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


def _turned_back(board: str, symmetry: Sequence[int]) -> str:
    letters = dict(zip(symmetry, board, strict=True))
    return "".join(letters[cell] for cell in range(len(board)))


def another_order(board: Geometry, demands: Sequence[tuple[int, int]], rng: random.Random) -> tuple[int, ...]:
    """Return the cells by type as in the board's own order, shuffled within each type.

    In every demand (c, d) c stays before d: only then does the search use it.
    """
    order: list[int] = []
    for kind in sorted({CELL_TYPES.index(name) for name in board.cell_types}):
        left = [cell for cell in range(board.n) if board.cell_types[cell] == CELL_TYPES[kind]]
        while left:
            held_back = {d for c, d in demands if c in left}
            order.append(rng.choice([cell for cell in left if cell not in held_back]))
            left.remove(order[-1])
    return tuple(order)
