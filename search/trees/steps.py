"""The layers that a node of an open class is grown on, from the rim to the node, each told by its
bare cells with their letters (search.trees.forest).

>>> from orderly_boggle.boardclass.geometry import geometry
>>> board = geometry("2x2", (0, 1, 2, 3))
>>> every = (1 << 26) - 1
>>> ab, c = 0b11, 0b100
>>> node = Node((ab, ab, c, every), bare=0b111)
>>> steps_to(node, 2, board, Rules(fused=("corner",)))
[(), ((0, 0), (1, 3)), ((0, 3), (1, 3)), ((0, 3), (1, 3), (2, 4))]
"""

from orderly_boggle.boardclass.geometry import Geometry
from orderly_boggle.boardclass.parts import parse_path
from orderly_boggle.search.node import Node, split_cell
from orderly_boggle.search.params import Rules
from orderly_boggle.search.trees.generator import Bare


def steps_to(node: Node, n_rim: int, board: Geometry, rules: Rules) -> list[Bare]:
    """Return the bare cells of every layer below a node, and its own, which come last; those of the
    rim, the first ``n_rim`` in cell order, are left out: it has no letters.

    The class with the hole is there if one of its cells is fused, or was.
    """
    bare = tuple((c, node.masks[c]) for c in board.cell_order if node.is_bare(c))
    steps: list[Bare] = [()]
    of_class = bare[:n_rim]
    hole = _hole(node, of_class, board, rules)
    # with one bare cell it would be the rim again
    if hole is not None and len(of_class) > 1:
        steps.append(_without_letter(of_class, hole))
    for n in range(n_rim, len(bare) + 1):
        steps.append(bare[:n])
    return steps


def _hole(node: Node, of_class: Bare, board: Geometry, rules: Rules) -> int | None:
    """Return the cell of the class that was unfused last, or the one that will be first; None if
    there is none.
    """
    cells = dict(of_class)
    unfused = [c for c, _ in parse_path(node.path, board.n) if c in cells]
    if unfused:
        return unfused[-1]
    cell = split_cell(node, board, rules)
    if cell in cells:
        return cell
    return None


def _without_letter(bare: Bare, cell: int) -> Bare:
    cells = dict(bare)
    cells[cell] = 0
    return tuple(cells.items())
