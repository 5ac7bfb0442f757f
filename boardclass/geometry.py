"""Geometry of the supported boards: cells, neighbours, cell types, symmetries, cell orders.

One convention everywhere: cell (x, y) of a board w wide and h high has the number ``x * h + y``
(column-major), w <= h.

Any cell order finds the same boards; the order decides how long that takes.  All of them go from
the most connected cells to the least: centre, edges, corners.

    ring    edges once round the rim, each beside the one before it, then the corners once round
    far     the same from the middle of a long side, the one away from cell (1, 1)
    pairs   edges, then corners, opposite ones next to each other: the order of the published
            bounds of 3x4 and 4x4
    rows    by number

A ring starts beside cell (1, 1).  Of all images of a class, the canonical one has the smallest
bucket on that cell. With buckets listed from weak letters to strong, the ring thus starts beside
the weakest letters, where a forced cell adds the fewest terms.  On 4x5, where hardly
anything is forced, the far ring takes fewer pushes: its first cells touch three cells of the
centre, the strong ones, so their letters decide most.

>>> parse_dims("4x3")
Dims(w=3, h=4)
>>> geometry("2x2").neighbours
((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2))
>>> cell_order_of("3x3")[:3], short_cell_name(5, 3)
((4, 1, 7), '3.2')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Int64s
from orderly_boggle.boardclass.errors import DimsError, InputError, quote

MAX_CELLS = 25
CELL_TYPES = ("center", "edge", "corner")
ORDERS = (RING, FAR, PAIRS, ROWS) = ("ring", "far", "pairs", "rows")

# measured (docs/notes/speed.md): on 3x3 no order is better than another
_USUAL = {(3, 4): RING, (3, 5): RING, (4, 4): RING, (4, 5): FAR}


class Dims(NamedTuple):
    """Width and height of a board, in cells, with w <= h."""

    w: int
    h: int

    @property
    def n(self) -> int:
        """Number of cells."""
        return self.w * self.h

    def __str__(self) -> str:
        return f"{self.w}x{self.h}"


def _all_sizes() -> list[Dims]:
    sides = range(2, MAX_CELLS // 2 + 1)
    sizes = []
    for w, h in product(sides, sides):
        if w <= h and w * h <= MAX_CELLS:
            sizes.append(Dims(w, h))
    return sorted(sizes, key=attrgetter("n", "w"))


# By number of cells; of the sizes with the same number the squarest is the last, and the usual one.
SIZES = tuple(_all_sizes())
USUAL = {size.n: size for size in SIZES}
DIMS = tuple(map(str, SIZES))
_size = re.compile(r"([0-9]{1,2})x([0-9]{1,2})", re.ASCII | re.IGNORECASE).fullmatch


def parse_dims(text: Dims | str) -> Dims:
    """Return the dimensions that ``text`` names, such as ``3x4``; ``4x3`` is turned into ``3x4``.

    Raises DimsError if they are not supported.
    """
    match = _size(str(text).strip())
    size = None
    if match:
        size = Dims(*sorted(map(int, match.groups())))
    if size not in SIZES:
        raise DimsError(
            f"unknown dimensions {quote(text)}: expected columns x rows, such as 3x4, each 2 or "
            f"more, {MAX_CELLS} cells at most"
        )
    return size


def cell_name(cell: int, h: int) -> str:
    """Return where a cell of a board of ``h`` rows is, as people are told: ``row 2, column 1``."""
    return f"row {cell % h + 1}, column {cell // h + 1}"


def short_cell_name(cell: int, h: int) -> str:
    """Return the same as options take it: ``2.1``."""
    return f"{cell % h + 1}.{cell // h + 1}"


_place = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,3}))?", re.ASCII).fullmatch


def read_cell(text: str, w: int, h: int) -> int | None:
    """Return the number of the cell that ``ROW.COLUMN``, such as ``2.1``, or a number names; None
    if there is none.
    """
    match = _place(text.strip())
    if match and match[2]:
        y = int(match[1]) - 1
        x = int(match[2]) - 1
        if 0 <= x < w and 0 <= y < h:
            return x * h + y
        return None
    if match and int(match[1]) < w * h:
        return int(match[1])
    return None


@dataclass(frozen=True, eq=False)
class Geometry:
    """Everything about a board size that does not depend on letters.

    n : number of cells
    neighbours : for each cell the cells a king's move away, ascending
    neighbour_masks : int64[n], read-only, the same as bit masks, bit c = cell c
    cell_types : ``center``, ``edge`` or ``corner`` for each cell
    cell_order : the order in which cells are forced and searched, the same in all orderly trees
    symmetries : int64[k, n], read-only, ``image[i] = original[symmetries[g, i]]``; row 0 is the
        identity, k is 8 for squares and 4 for rectangles
    """

    dims: Dims
    n: int
    neighbours: tuple[tuple[int, ...], ...]
    neighbour_masks: Int64s
    cell_types: tuple[str, ...]
    cell_order: tuple[int, ...]
    symmetries: Int64s

    def __repr__(self) -> str:
        return f"geometry({str(self.dims)!r})"

    def __reduce__(self) -> tuple[Callable[..., Geometry], tuple[Any, ...]]:
        # Arrays would come back writable: rebuild instead, and share the cached object.
        return geometry, (str(self.dims), self.cell_order)


def geometry(dims: Dims | str, cell_order: Sequence[int] = ()) -> Geometry:
    """Return the (cached) geometry of a supported board size.

    cell_order : an order of all its cells instead of the default one

    Raises DimsError if the size is not supported; InputError if the order does not name each cell
    once.
    """
    size = parse_dims(dims)
    order = tuple(map(int, cell_order)) or cell_order_of(size)
    if sorted(order) != list(range(size.n)):
        raise InputError(
            f"cell order {quote(list(order))}: expected each of the cells 0 to {size.n - 1} once"
        )
    return _geometry(size, order)


@cache
def cell_order_of(dims: Dims | str, name: str | None = None) -> tuple[int, ...]:
    """Return the cells of a board in the order of that name, by default in the best one for its
    size.

    Raises DimsError if the size is not supported; InputError if there is no order of that name.
    """
    w, h = size = parse_dims(dims)
    cells = np.arange(size.n)
    x, y, kinds = _cells(size)
    name = name or _USUAL.get(size, PAIRS)
    if name in (RING, FAR):
        sides = [(x == 0) & (y > 0), y == h - 1, x == w - 1]
        last = 2 * (h + w)
        around = np.select(sides, [y, h + x, 2 * h + w - y], last - x)
        if name == FAR:
            middle = (w - 1) * h + h // 2
            around = (around - around[middle]) % last
        places = np.where(kinds == 0, cells, around)
    elif name == PAIRS:  # edges of the left and right sides before those of top and bottom
        across = (kinds == 2) | ((kinds == 1) & np.isin(x, (0, w - 1)))
        places = np.where(across, y * w + x, size.n + cells)
        if size == (3, 3):
            places[kinds == 2] = cells[kinds == 2]  # not across: stored runs depend on it
    elif name == ROWS:
        places = cells
    else:
        raise InputError(f"unknown cell order {quote(name)}: expected one of {', '.join(ORDERS)}")
    return tuple(np.lexsort((places, kinds)).tolist())


def _cells(dims: Dims) -> tuple[Int64s, Int64s, Int64s]:
    """Return the column, the row and the number of the type of each cell."""
    x, y = np.divmod(np.arange(dims.n), dims.h)
    on_side = np.isin(x, (0, dims.w - 1))
    on_end = np.isin(y, (0, dims.h - 1))
    return x, y, on_side.astype(int) + on_end


@cache
def _geometry(dims: Dims, cell_order: tuple[int, ...]) -> Geometry:
    x, y, kinds = _cells(dims)
    cells = np.arange(dims.n)
    apart_x = abs(x[:, None] - x)
    apart_y = abs(y[:, None] - y)
    near = np.maximum(apart_x, apart_y) == 1
    masks = near @ (1 << cells)
    grid = cells.reshape(dims)
    flips = np.array([grid, grid[:, ::-1], grid[::-1], grid[::-1, ::-1]])
    if dims.w < dims.h:
        images = flips
    else:
        images = np.concatenate([flips, flips.transpose(0, 2, 1)])
    symmetries = images.reshape(-1, dims.n)
    masks.flags.writeable = symmetries.flags.writeable = False
    neighbours = tuple(tuple(row.nonzero()[0].tolist()) for row in near)
    types = tuple(np.array(CELL_TYPES)[kinds].tolist())
    return Geometry(dims, dims.n, neighbours, masks, types, cell_order, symmetries)
