"""Boards as text: one letter per cell down the columns, ``q`` for a Qu cell."""

from __future__ import annotations

from boardclass.errors import BoardError, quote
from boardclass.geometry import DIMS, Dims, parse_dims

LETTERS = "abcdefghijklmnopqrstuvwxyz"

_DIMS_OF_LENGTH = {parse_dims(text).n: parse_dims(text) for text in DIMS}


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
            raise BoardError(f"board {quote(text)}: {character!r} at position {position + 1} is no letter; {expected}")
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
