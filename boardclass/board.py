"""Boards as text: one letter per cell down the columns, ``q`` for a Qu cell."""

from __future__ import annotations

from typing import Self

from boardclass.board_svg import SIZE, board_svg
from boardclass.canonical import canonical_board, images
from boardclass.errors import BoardError, quote
from boardclass.geometry import DIMS, Dims, geometry, parse_dims

LETTERS = "abcdefghijklmnopqrstuvwxyz"

_DIMS_OF_LENGTH = {parse_dims(text).n: parse_dims(text) for text in DIMS}


class Board(str):
    """A board: its letters as a text that is known to be one, so it goes wherever a board is expected.

    The number of letters tells the size; letters may be given in capitals.

    Raises
    ------
    BoardError
        If the text is not a board.

    Examples
    --------
    >>> board = Board("BERLATDES")
    >>> board
    Board('berlatdes')
    >>> str(board.dims)
    '3x3'
    >>> print(board.drawn)
    B L D
    E A E
    R T S
    >>> len(board.images)
    8
    >>> Board("sedtalreb").canonical
    Board('berlatdes')
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check the letters."""
        return super().__new__(cls, parse_board(text, dims_of_length(len(text.strip()))))

    def __repr__(self) -> str:
        return f"Board({str(self)!r})"

    def _repr_svg_(self) -> str:
        """Return the drawing that a notebook shows."""
        return board_svg(self.rows, cell_px=SIZE)

    @property
    def dims(self) -> Dims:
        """Width and height."""
        return dims_of_length(len(self))

    @property
    def rows(self) -> list[list[str]]:
        """The rows from top to bottom, capitals, ``Qu`` for a Qu cell."""
        return format_rows(self, self.dims)

    @property
    def drawn(self) -> str:
        """The rows as text, one a line."""
        width = max(len(face) for row in self.rows for face in row)
        return "\n".join(" ".join(f"{face:<{width}}" for face in row).rstrip() for row in self.rows)

    @property
    def images(self) -> frozenset[Board]:
        """The distinct rotations and reflections, itself included."""
        return frozenset(Board("".join(image)) for image in images(self, geometry(self.dims)))

    @property
    def canonical(self) -> Board:
        """The image that stands for all of them: the first in alphabetical order."""
        return Board(canonical_board(self, geometry(self.dims)))


def parse_board(text: str, dims: Dims | str) -> str:
    """Return the board that ``text`` spells: a-z in lower case, one letter per cell, cell 0 first.

    Raises
    ------
    BoardError
        If the length is wrong or a character is not a letter a-z.
    """
    dims = parse_dims(str(dims))
    expected = f"expected {dims.n} letters a-z for {dims}, down the columns, q for a Qu cell"
    board = text.strip()
    for position, character in enumerate(board):
        if not (character.isascii() and character.isalpha()):
            raise BoardError(
                f"board {quote(text)}: {character!r} at position {position + 1} is not a letter; {expected}"
            )
    board = board.lower()
    if len(board) != dims.n:
        hint = "; write the Qu cell as q alone" if len(board.replace("qu", "q")) == dims.n else ""
        raise BoardError(f"board {quote(text)} has {len(board)} letters; {expected}{hint}")
    return board


def dims_of_length(n: int) -> Dims:
    """Return the dimensions of boards with ``n`` cells.

    Raises
    ------
    BoardError
        If no supported board has that many cells.
    """
    if n not in _DIMS_OF_LENGTH:
        known = ", ".join(f"{size} ({dims})" for size, dims in _DIMS_OF_LENGTH.items())
        raise BoardError(f"no board has {n} letters: expected one of {known}; a Qu cell is written q alone")
    return _DIMS_OF_LENGTH[n]


def format_rows(board: str, dims: Dims | str) -> list[list[str]]:
    """Return the rows of the drawn board, top to bottom, with ``Qu`` for q and capitals elsewhere."""
    dims = parse_dims(str(dims))
    cells = ["Qu" if letter == "q" else letter.upper() for letter in parse_board(board, dims)]
    return [[cells[x * dims.h + y] for x in range(dims.w)] for y in range(dims.h)]
