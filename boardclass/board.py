"""The boards of the proof as text: one letter per cell down the columns, ``q`` for a Qu cell.

People may type them in other ways (``boardclass.tiles``), such as ``bld/eae/rts``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Self

from boardclass.board_svg import SIZE, board_svg
from boardclass.canonical import canonical_board, images
from boardclass.errors import BoardError, quote
from boardclass.geometry import SIZES, USUAL, Dims, geometry, parse_dims
from boardclass.tiles import read_tiles

_is_one_group = re.compile(r"[^\s/,]+").fullmatch
LETTERS = "abcdefghijklmnopqrstuvwxyz"

# beyond a-z, by the symbol that stands for each
NO_LETTERS: Mapping[str, str] = MappingProxyType({})


class Board(str):
    """A board: its letters as a text that is known to be one, so it goes wherever a board is
    expected.

    It is read as on the command line: the number of letters tells the size; rows may be given
    instead, and capitals.  ``dims`` chooses another size of as many letters, such as 2x8 for 4x4.

    Raises BoardError if the text is not a board; DimsError if there is no such size.

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
    >>> Board("bld/eae/rts") == board
    True
    >>> len(board.images)
    8
    >>> Board("sedtalreb").canonical
    Board('berlatdes')
    """

    __slots__ = ("dims",)
    dims: Dims

    def __new__(cls, text: str, dims: Dims | str | None = None) -> Self:
        """Check the letters."""
        size, letters = read_board(text, dims or getattr(text, "dims", None))
        board = super().__new__(cls, letters)
        board.dims = size
        return board

    def __reduce__(self) -> tuple[type[Board], tuple[str, str]]:
        return Board, (str(self), str(self.dims))

    def __repr__(self) -> str:
        if self.dims == USUAL[len(self)]:
            size = ""
        else:
            size = f", {str(self.dims)!r}"
        return f"Board({str(self)!r}{size})"

    def _repr_svg_(self) -> str:
        """Return the drawing that a notebook shows."""
        return board_svg(self.rows, cell_px=SIZE)

    @property
    def rows(self) -> list[list[str]]:
        """The rows from top to bottom, capitals, ``Qu`` for a Qu cell."""
        return format_rows(self, self.dims)

    @property
    def drawn(self) -> str:
        """The rows as text, one a line."""
        width = max(map(len, chain.from_iterable(self.rows)))
        lines = []
        for row in self.rows:
            lines.append(" ".join(face.ljust(width) for face in row).rstrip())
        return "\n".join(lines)

    @property
    def images(self) -> frozenset[Board]:
        """The distinct rotations and reflections, itself included."""
        shape = geometry(self.dims)
        return frozenset(Board("".join(image), self.dims) for image in images(self, shape))

    @property
    def canonical(self) -> Board:
        """The image that stands for all of them: the first in alphabetical order."""
        return Board(canonical_board(self, geometry(self.dims)), self.dims)


def read_board(
    text: str,
    dims: Dims | str | None = None,
    say: Callable[[str], object] = str,
    letters: Mapping[str, str] = NO_LETTERS,
) -> tuple[Dims, str]:
    """Return the size and the letters, down the columns, of the board that a person typed
    (``boardclass.tiles``).

    Of a board that is wider than high it is the turned one, which is the same game.

    text : such as ``berlatdes`` or ``bld/eae/rts``, which are the same board
    dims : the size that it must have, columns x rows; otherwise the letters tell it
    say : is told when the board was turned, or its letters might be those of another size
    letters : letters beyond a-z of the word list; the board has their symbols

    Raises BoardError if it is not a board, or has a tile that no board of the proof has, which the
    message names; DimsError if there is no such size.
    """
    if dims is not None:
        parse_dims(dims)
    others = "".join(letters.values())
    tiles = read_tiles(
        text,
        None if dims is None else str(dims),
        letters=others,
        sizes=SIZES,
        usual=USUAL.values(),
    )
    if letters:
        one = [
            tile._replace(spellings=(in_symbols("".join(tile.spellings[:1]), letters),))
            for tile in tiles.tiles
        ]
        pairs = zip(tiles.tiles, one, strict=True)
        tiles = tiles._replace(
            tiles=tuple(new if len(old.spellings) == 1 else old for old, new in pairs)
        )
    if tiles.features:
        raise BoardError(
            f"board {quote(text)} has {tiles.features[0]}: expected letters a-z and Qu; orderly "
            "show, solve and score take other tiles"
        )
    if tiles.w > tiles.h:
        upright = tiles.turned
    else:
        upright = tiles
    size = Dims(upright.w, upright.h)
    if upright is not tiles:
        say(f"{tiles.w} wide and {tiles.h} high: turned, the same game as {size}")
    rest = [str(other) for other in SIZES if other.n == size.n and other != size]
    if dims is None and rest and _is_one_group(text.strip()):
        say(f"{size.n} cells, read as {size}: rows, or --dims {rest[0]}, choose another size")
    return size, "".join(tile.spellings[0][0] for tile in upright.tiles)


def in_symbols(text: str, letters: Mapping[str, str]) -> str:
    """Return a word or face as it is stored, its letters beyond a-z written by their symbols.

    Raises BoardError if a symbol is in it: in this list it stands for another letter.
    """
    symbols = {letter: symbol for symbol, letter in letters.items()}
    for symbol in letters.keys() & set(text) - symbols.keys():
        raise BoardError(
            f"{quote(text)}: {symbol} stands for {letters[symbol]} in this word "
            "list: write that letter"
        )
    longest_first = sorted(symbols, key=len, reverse=True)
    return re.sub("|".join(longest_first) or "(?!)", lambda match: symbols[match[0]], text)


def with_letters(board: str, letters: Mapping[str, str]) -> str:
    """Return a board as it is typed, with the letters that its symbols stand for."""
    if not letters:
        return board
    faces = [(c, letters.get(c, c)) for c in board]
    return "".join(
        new if new == c or (len(new) == 1 and new != "q") else f"[{new}]" for c, new in faces
    )


def dims_of_length(n: int) -> Dims:
    """Return the usual dimensions of boards with ``n`` cells, the squarest.

    Raises BoardError if no supported board has that many cells.
    """
    if n in USUAL:
        return USUAL[n]
    known = ", ".join(f"{n_cells} ({dims})" for n_cells, dims in USUAL.items())
    raise BoardError(
        f"no board has {n} letters: expected one of {known}; a Qu cell is written q alone"
    )


def format_rows(
    board: str, dims: Dims | str, letters: Mapping[str, str] = NO_LETTERS
) -> list[list[str]]:
    """Return the rows of the drawn board, top to bottom: ``Qu`` for q, capitals, ``letters``
    instead of symbols.
    """
    dims = parse_dims(dims)
    faces = {"q": "qu", **letters}
    cells = [faces.get(letter, letter).capitalize() for letter in board]
    return [cells[y :: dims.h] for y in range(dims.h)]
