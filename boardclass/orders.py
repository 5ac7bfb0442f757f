"""Cell orders by name: the order in which the cells of a board are forced and searched.

Any order finds the same boards; the order decides how long that takes.  All of them go from the most connected cells to
the least: centre, edges, corners.

    ring    edges once round the rim, each beside the one before it, then the corners once round
    pairs   edges, then corners, opposite ones next to each other: the order of the published bounds of 3x4 and 4x4
    rows    by number

A ring starts beside cell (1, 1).  Of all images of a class, the canonical one has the smallest bucket on that cell.
With buckets listed from weak letters to strong, the ring thus starts beside the weakest letters, where a forced cell
adds the fewest terms.
"""

from __future__ import annotations

from collections.abc import Sequence

from boardclass.errors import InputError, quote

RING = "ring"
PAIRS = "pairs"
ROWS = "rows"
ORDERS = (RING, PAIRS, ROWS)
_RINGED = ((3, 4), (4, 4))  # measured: on 3x3 no order is better than another


def default_order(dims: tuple[int, int]) -> str:
    """Return the name of the order that a board is searched in unless another one is asked for."""
    return RING if dims in _RINGED else PAIRS


def named_order(name: str, dims: tuple[int, int], kinds: Sequence[int]) -> tuple[int, ...]:
    """Return the cells of a board in the order of this name.

    name : one of ``ORDERS``
    dims : width and height
    kinds : rank of the type of each cell: 0 for centre, 1 for edge, 2 for corner

    Raises InputError if there is no order of that name.
    """
    keys = {RING: _ring_key, PAIRS: _pairs_key, ROWS: _rows_key}
    if name not in keys:
        raise InputError(f"unknown cell order {quote(name)}: expected one of {', '.join(ORDERS)}")
    key = keys[name]
    return tuple(sorted(range(dims[0] * dims[1]), key=lambda cell: (kinds[cell], key(dims, cell, kinds[cell]))))


def _ring_key(dims: tuple[int, int], cell: int, kind: int) -> tuple[int, ...]:
    """Edges round the rim from cell 1 on; corners likewise, the one behind the first side first."""
    (w, h), (x, y) = dims, divmod(cell, dims[1])
    if kind == 0:
        return x, y
    if x == 0 and y:
        return (y,)
    if y == h - 1:
        return (h + x,)
    if x == w - 1:
        return (h + w + h - y,)
    return (2 * h + w + w - x,)


def _pairs_key(dims: tuple[int, int], cell: int, kind: int) -> tuple[int, ...]:
    """Edges of the left and right sides before those of top and bottom, opposite cells next to each other."""
    x, y = divmod(cell, dims[1])
    if kind == 2 and dims == (3, 3):
        return 0, x, y  # stored runs depend on it; other sizes pair corners across instead
    if kind == 2 or (kind == 1 and x in (0, dims[0] - 1)):
        return 0, y, x
    return 1, x, y


def _rows_key(dims: tuple[int, int], cell: int, kind: int) -> tuple[int, ...]:
    del dims, kind
    return (cell,)
