"""Geometry of the supported boards: cells, neighbours, cell types, cell order, symmetries.

One convention everywhere: cell (x, y) of a board w wide and h high has the number ``x * h + y`` (column-major), w <= h.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from boardclass.errors import DimsError, InputError, quote
from boardclass.orders import default_order, named_order

DIMS = ("2x2", "2x3", "3x3", "3x4", "4x4", "4x5", "5x5")
CELL_TYPES = ("center", "edge", "corner")

_DIMS_PATTERN = re.compile(r"([1-9])[xX]([1-9])", re.ASCII)


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


def parse_dims(text: str) -> Dims:
    """Return the dimensions that ``text`` names, such as ``3x4``; ``4x3`` is turned into ``3x4``.

    Raises DimsError if the text is not two digits around an ``x``, or names a size that is not supported.
    """
    match = _DIMS_PATTERN.fullmatch(str(text).strip())
    if match:
        dims = Dims(*sorted((int(match[1]), int(match[2]))))
        if str(dims) in DIMS:
            return dims
    raise DimsError(f"unknown dimensions {quote(text)}: expected one of {', '.join(DIMS)}")


def cell_name(cell: int, h: int) -> str:
    """Return where a cell of a board of ``h`` rows is, as people are told: ``row 2, column 1``."""
    return f"row {cell % h + 1}, column {cell // h + 1}"


def short_cell_name(cell: int, h: int) -> str:
    """Return the same as options take it: ``2.1``."""
    return f"{cell % h + 1}.{cell // h + 1}"


_place = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,3}))?", re.ASCII).fullmatch


def read_cell(text: str, w: int, h: int) -> int | None:
    """Return the number of the cell that ``ROW.COLUMN``, such as ``2.1``, or a number names; None if there is none."""
    found = _place(text.strip())
    if found and found[2]:
        y, x = int(found[1]) - 1, int(found[2]) - 1
        return x * h + y if 0 <= x < w and 0 <= y < h else None
    return int(found[1]) if found and int(found[1]) < w * h else None


@dataclass(frozen=True, eq=False)
class Geometry:
    """Everything about a board size that does not depend on letters.

    n : number of cells
    neighbours : for each cell the cells a king's move away, ascending
    neighbour_masks : int64[n], read-only, the same as bit masks, bit c = cell c
    cell_types : ``center``, ``edge`` or ``corner`` for each cell
    cell_order : the order in which cells are forced and searched, the same in all orderly trees (boardclass.orders)
    symmetries : int64[k, n], read-only, ``image[i] = original[symmetries[g, i]]``; row 0 is the identity, k is 8 for
        squares and 4 for rectangles
    """

    dims: Dims
    n: int
    neighbours: tuple[tuple[int, ...], ...]
    neighbour_masks: npt.NDArray[np.int64]
    cell_types: tuple[str, ...]
    cell_order: tuple[int, ...]
    symmetries: npt.NDArray[np.int64]

    def __repr__(self) -> str:
        return f"geometry({str(self.dims)!r})"

    def __reduce__(self) -> tuple[Callable[..., Geometry], tuple[Any, ...]]:
        # Arrays would come back writable: rebuild instead, and share the cached object.
        return geometry, (str(self.dims), self.cell_order)


def geometry(dims: Dims | str, cell_order: Sequence[int] = ()) -> Geometry:
    """Return the (cached) geometry of a supported board size.

    cell_order : an order of all its cells instead of the default one

    Raises DimsError if the size is not supported; InputError if the order does not name each cell once.
    """
    size = parse_dims(str(dims))
    order = tuple(int(cell) for cell in cell_order) or cell_order_of(size)
    if sorted(order) != list(range(size.n)):
        raise InputError(f"cell order {quote(list(order))}: expected each of the cells 0 to {size.n - 1} once")
    return _geometry(size, order)


def cell_order_of(dims: Dims | str, name: str | None = None) -> tuple[int, ...]:
    """Return the cells of a board in the order of that name (``boardclass.orders``), by default that of its size.

    Raises DimsError if the size is not supported; InputError if there is no order of that name.
    """
    return _cell_order(parse_dims(str(dims)), name)


@cache
def _cell_order(size: Dims, name: str | None) -> tuple[int, ...]:
    kinds = [CELL_TYPES.index(_cell_type(size, cell)) for cell in range(size.n)]
    return named_order(name or default_order(size), size, kinds)


@cache
def _geometry(dims: Dims, cell_order: tuple[int, ...]) -> Geometry:
    neighbours = _neighbours(dims)
    masks = [sum(1 << other for other in near) for near in neighbours]
    types = tuple(_cell_type(dims, cell) for cell in range(dims.n))
    return Geometry(
        dims=dims,
        n=dims.n,
        neighbours=neighbours,
        neighbour_masks=_frozen(masks),
        cell_types=types,
        cell_order=cell_order,
        symmetries=_frozen(_symmetries(dims)),
    )


def _frozen(values: Any) -> npt.NDArray[np.int64]:
    array = np.array(values, dtype=np.int64)
    array.flags.writeable = False
    return array


def _neighbours(dims: Dims) -> tuple[tuple[int, ...], ...]:
    cells = [divmod(cell, dims.h) for cell in range(dims.n)]
    return tuple(tuple(b for b, (u, v) in enumerate(cells) if max(abs(x - u), abs(y - v)) == 1) for x, y in cells)


def _cell_type(dims: Dims, cell: int) -> str:
    x, y = divmod(cell, dims.h)
    n_borders = (x in (0, dims.w - 1)) + (y in (0, dims.h - 1))
    return CELL_TYPES[n_borders]


def _symmetries(dims: Dims) -> list[list[int]]:
    w, h = dims
    flips = [(flip_x, flip_y) for flip_x in (False, True) for flip_y in (False, True)]
    rows = []
    for transposed in (False, True) if w == h else (False,):
        for flip_x, flip_y in flips:
            row = []
            for cell in range(w * h):
                x, y = divmod(cell, h)
                if transposed:
                    x, y = y, x
                row.append((w - 1 - x if flip_x else x) * h + (h - 1 - y if flip_y else y))
            rows.append(row)
    return rows
