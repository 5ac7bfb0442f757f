"""Nodes of the search over one class: letters per cell, bare cells, residual symmetry, and how a
node splits.

A class is a node.  Splitting a node gives nodes that together hold every board of it, up to
symmetry, whichever of its fused cells is split.  A path of parts (boardclass.parts) says which
cells were, so with the class and the parameters it always names the same node.

Residual symmetry.  Let H be the symmetries that map the class to itself.  Take some cells in cell
order.  For each cell c demand ``letter(c) <= letter(d)`` for every d in the orbit of c under H,
then go on with the part of H that leaves c in place.  Every board of the class has an image that
meets all demands: first choose a symmetry that brings a smallest letter of the orbit to c; then,
among those that leave c in place, choose one for the next cell, and so on.  No later step moves an
earlier cell.  So only boards that meet the demands need to be searched, and every board found
stands for all its images.  That holds for any cells and any order of the letters.  A cell of one
letter demands nothing, for its orbit has the same letter, but it uses up the symmetries that move
it: it is passed over, unless an older run asks for it (Rules.demands).

>>> from orderly_boggle.boardclass.geometry import geometry
>>> node = class_node([0b11, 0b1, 0b1, 0b1], geometry("2x2"), Rules())
>>> node.n_boards, [part.path for part in split(node, geometry("2x2"), Rules())]
(2, ['0=b', '0=a'])
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, pairwise
from math import prod
from operator import itemgetter
from typing import NamedTuple

from orderly_boggle.boardclass.errors import PathError, quote
from orderly_boggle.boardclass.geometry import Geometry
from orderly_boggle.boardclass.partition import letter_mask
from orderly_boggle.boardclass.parts import join, way_to
from orderly_boggle.search.params import Rules

N_LETTERS = 26


@dataclass(frozen=True)
class Node:
    """A part of a class."""

    masks: tuple[int, ...]  # allowed letters per cell, bit 0 = ``a``
    # mask of the cells without literal: forced to one letter, or fused (all letters count as
    # present, but kin count once: search.terms.kin)
    bare: int
    # (c, d): letter(c) <= letter(d) in the order of demands
    demands: tuple[tuple[int, int], ...] = ()
    path: str = ""  # the parts forced since the class (boardclass.parts)

    @property
    def n_boards(self) -> int:
        """Number of boards in the product of the letters, before symmetry."""
        return prod(mask.bit_count() for mask in self.masks)

    def is_bare(self, cell: int) -> bool:
        """Return whether the cell carries no literal."""
        return bool(self.bare >> cell & 1)


class OpenClass(NamedTuple):
    """A class whose cells take every letter, but for its ``bare`` cells (in cell order);
    ``demands`` as of a node.
    """

    bare: tuple[int, ...]
    demands: tuple[tuple[int, int], ...]


@lru_cache(2**16)
def letters_of(mask: int) -> str:
    """Return the letters of a mask, alphabetically."""
    return "".join(chr(97 + x) for x in range(N_LETTERS) if mask >> x & 1)


def residual_demands(
    masks: Sequence[int], geometry: Geometry, cells: str = "open"
) -> tuple[tuple[int, int], ...]:
    """Return the demands that the symmetries of a class allow on some cells (see the module, and
    Rules.demands).
    """
    own = tuple(masks)
    group = []
    for row in geometry.symmetries.tolist():
        if itemgetter(*row)(own) == own:
            group.append(row)
    demands: list[tuple[int, int]] = []
    for cell in geometry.cell_order:
        if cells == "open" and masks[cell].bit_count() == 1:
            continue
        # of the group that is left, not of all symmetries: earlier cells must stay where they are
        orbit = {row[cell] for row in group} - {cell}
        demands += [(cell, d) for d in sorted(orbit)]
        group = [row for row in group if row[cell] == cell]
    return tuple(demands)


def class_node(masks: Sequence[int], geometry: Geometry, rules: Rules) -> Node:
    """Return the node of a whole class: single-letter cells and the fused cell types are bare."""
    fused = sum(1 << c for c, kind in enumerate(geometry.cell_types) if kind in rules.fused)
    single = sum(1 << c for c, mask in enumerate(masks) if mask.bit_count() == 1)
    demands = residual_demands(masks, geometry, rules.demands)
    return _settle(Node(tuple(int(m) for m in masks), fused | single, demands), rules)


@cache
def at_least(letter_order: str) -> tuple[int, ...]:
    """Return for each letter (0..25, alphabetical) the mask of the letters not before it in the
    letter order.
    """
    masks = []
    for x in range(N_LETTERS):
        place = letter_order.index(chr(97 + x))
        masks.append(letter_mask(letter_order[place:]))
    return tuple(masks)


@cache
def before(letter_order: str) -> tuple[int, ...]:
    """Return for each letter (0..25, alphabetical) the mask of the letters before it in the letter
    order.
    """
    return tuple((1 << N_LETTERS) - 1 & ~mask for mask in at_least(letter_order))


@lru_cache(2**16)
def _from_least(mask: int, letter_order: str) -> int:
    """Return the mask of the least letter of a mask, by the letter order, and all letters after
    it.
    """
    return letter_mask(
        letter_order[min((letter_order.index(x) for x in letters_of(mask)), default=0) :]
    )


def _settle(node: Node, rules: Rules) -> Node:
    """Take letters away that no board meeting the demands can have, and drop the demands this
    settles.
    """
    order = rules.demand_order
    masks = list(node.masks)
    changed = True
    # one demand may narrow the cells of another
    while changed:
        changed = False
        for c, d in node.demands:
            # only letters go that no board meeting the demands has (lemma 5)
            upper = _from_least(masks[c], order) & masks[d]
            lower = _from_least(masks[d], order[::-1]) & masks[c]
            changed |= upper != masks[d] or lower != masks[c]
            masks[d] = upper
            masks[c] = lower
    open_demands = []
    for c, d in node.demands:
        if masks[c].bit_count() > 1 and masks[d].bit_count() > 1:
            open_demands.append((c, d))
    return Node(tuple(masks), node.bare, tuple(open_demands), node.path)


def is_too_wide(node: Node, rules: Rules) -> bool:
    """Return whether a node has more free cells than a key holds; the next one is fused, then."""
    n_free = len(node.masks) - node.bare.bit_count()
    return bool(rules.coarse_groups) and n_free > rules.max_free


def split_cells(node: Node, geometry: Geometry, rules: Rules) -> list[int]:
    """Return the cells that a node may split at: its fused ones, else the next free cell in order,
    which comes first if the node is too wide; none for a board.
    """
    free = [c for c in geometry.cell_order if not node.is_bare(c)]
    # before fused cells: nothing is grown until the free cells fit a key
    if is_too_wide(node, rules):
        return free[:1]
    fused = []
    for c in geometry.cell_order:
        if node.is_bare(c) and node.masks[c].bit_count() > 1:
            fused.append(c)
    # any of the fused cells: a path says which was taken, so its readers need no rule for it
    return fused or free[:1]


def split_cell(node: Node, geometry: Geometry, rules: Rules) -> int:
    """Return where the search splits a node; -1 for a board.

    Of the fused cells that is the one with the strongest letter: unfusing it takes most off the
    bounds.
    """
    cells = split_cells(node, geometry, rules)

    def strength(cell: int) -> int:
        return max(map(rules.letter_order.index, letters_of(node.masks[cell])))

    return max(cells, key=strength, default=-1)


def _parts(node: Node, cell: int, rules: Rules) -> list[str]:
    """Return the letter groups that ``cell`` is forced to, or fused into, within its letters, in
    the letter order.
    """
    letters = "".join(x for x in rules.letter_order if node.masks[cell] >> (ord(x) - 97) & 1)
    if node.is_bare(cell):
        n = min(rules.unfuse_parts, len(letters))
        cuts = [len(letters) * i // n for i in range(n + 1)]
        return [letters[a:b] for a, b in pairwise(cuts)]
    groups = rules.force_groups
    if is_too_wide(node, rules):
        groups = rules.coarse_groups
    parts = []
    for group in groups:
        part = "".join(x for x in group if x in letters)
        if part:
            parts.append(part)
    return parts


def force(node: Node, cell: int, letters: str, rules: Rules) -> Node:
    """Return the part of ``node`` whose ``cell`` has one of ``letters`` and is bare; it may be
    empty (a mask of 0).
    """
    masks = list(node.masks)
    # intersected: demands may have taken some letters of the group already
    masks[cell] &= letter_mask(letters)
    path = join(node.path, cell, letters)
    part = Node(tuple(masks), node.bare | 1 << cell, node.demands, path)
    return _settle(part, rules)


def split(node: Node, geometry: Geometry, rules: Rules) -> list[Node]:
    """Return the parts of a node, without empty ones; together they hold every board of it that
    meets the demands.

    Splitting a fused cell unfuses it; where none is left, the next free cell is forced to one
    letter group after the other.  Before all that, while a node is too wide, its next free cell is
    fused into a few groups.
    """
    cell = split_cell(node, geometry, rules)
    assert cell >= 0, "a single board cannot be split"
    return split_at(node, cell, rules)


def split_at(node: Node, cell: int, rules: Rules) -> list[Node]:
    """Return the parts of a node by the letters of a fused or free cell, without empty ones, as
    :func:`split`.
    """
    parts = [force(node, cell, letters, rules) for letters in _parts(node, cell, rules)]
    # an empty part holds no board, so leaving it out loses none (lemma 4)
    return [part for part in parts if all(part.masks)]


def node_at(root: Node, path: str, geometry: Geometry, rules: Rules) -> Node:
    """Return the node that ``path`` names below ``root``.

    Raises PathError if the path does not lead to a node of this class: a part that no split makes.
    """
    node = root
    for wanted in way_to(path):
        cells = split_cells(node, geometry, rules)
        parts = chain.from_iterable(split_at(node, cell, rules) for cell in cells)
        # by making the splits, not by parsing: a path that no split makes must name nothing
        part = next((part for part in parts if part.path == wanted), None)
        if part is None:
            raise PathError(
                f"no node {quote(path)}: no split of {quote(node.path)} makes {quote(wanted)}; "
                "use the paths the run recorded"
            )
        node = part
    return node
