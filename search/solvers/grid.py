"""The board as the solvers see it: letters, and directed moves computed from coordinates.

Special tiles need nothing but moves: no move leads to a cell that may only begin a word, none leaves one that may only
end it.
"""

from __future__ import annotations

from collections.abc import Collection

from boardclass.errors import BoardError, InputError, quote

_USUAL = {4: (2, 2), 6: (2, 3), 9: (3, 3), 12: (3, 4), 16: (4, 4), 20: (4, 5), 25: (5, 5)}


class Grid:
    """A board of ``w`` columns of ``h`` cells; cell (x, y) has the number ``x * h + y``.

    Attributes
    ----------
    board : letters a-z, one per cell
    moves : for each cell the cells that may follow it in a word
    """

    def __init__(
        self,
        board: str,
        dims: tuple[int, int] | None = None,
        begin_only: Collection[int] = (),
        end_only: Collection[int] = (),
    ) -> None:
        size = dims or _USUAL.get(len(board))
        if size is None or size[0] * size[1] != len(board):
            expected = f"{size[0] * size[1]} cells" if size else f"one of {', '.join(map(str, _USUAL))} cells, or dims"
            raise BoardError(f"board {quote(board)} has {len(board)} cells: expected {expected}")
        if not (board.isascii() and board.isalpha() and board.islower()):
            raise BoardError(f"board {quote(board)}: expected letters a-z only, one per cell, q for a Qu cell")
        for cell in (*begin_only, *end_only):
            if not 0 <= cell < len(board):
                raise InputError(f"no cell {cell!r} on {quote(board)}: expected 0 to {len(board) - 1}")
        self.board = board
        self.moves = _moves(*size, frozenset(begin_only), frozenset(end_only))

    @property
    def n(self) -> int:
        """Number of cells."""
        return len(self.board)


def _moves(w: int, h: int, begin_only: frozenset[int], end_only: frozenset[int]) -> tuple[tuple[int, ...], ...]:
    steps = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)]
    moves = []
    for x in range(w):
        for y in range(h):
            near = [(x + dx) * h + y + dy for dx, dy in steps if 0 <= x + dx < w and 0 <= y + dy < h]
            moves.append(() if x * h + y in end_only else tuple(c for c in near if c not in begin_only))
    return tuple(moves)
