"""The boards of the proof as text: one letter per cell down the columns, ``q`` for a Qu cell.

Rows, such as ``bld/eae/rts``, are read as well; people may type boards in more ways
(``cluster/boards``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import Self

from orderly_boggle.boardclass.board_svg import SIZE, board_svg
from orderly_boggle.boardclass.canonical import canonical_board, images
from orderly_boggle.boardclass.errors import BoardError, quote
from orderly_boggle.boardclass.geometry import SIZES, USUAL, Dims, geometry, parse_dims

MAX_TEXT = 2000
_between_rows = re.compile(r"\s*[/\n]\s*")
_between_cells = re.compile(r"[\s,;]+")
LETTERS = "abcdefghijklmnopqrstuvwxyz"

# beyond a-z, by the symbol that stands for each
NO_LETTERS: Mapping[str, str] = MappingProxyType({})


class Board(str):
    """A board: its letters as a text that is known to be one, so it goes wherever a board is
    expected.

    It is read as :func:`read_board` does: the number of letters tells the size; rows may be given
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


def read_board(text: str, dims: Dims | str | None = None) -> tuple[Dims, str]:
    """Return the size and the letters, down the columns, of a board that is written as letters or
    as rows; of one that is wider than high those of the turned one, which is the same game.

    text : letters down the columns, such as ``berlatdes``, or rows with ``/``, line breaks or
        blanks between, such as ``bld/eae/rts``; Qu stands for a Qu cell, as q does
    dims : the size that it must have; otherwise the letters tell it

    Raises BoardError if it is not a board, or can be read in two ways; DimsError if there is no
    such size.
    """
    if dims is None:
        wanted = None
    else:
        wanted = parse_dims(dims)
    if not isinstance(text, str):
        raise BoardError(f"a board is a text, not {quote(text)}: expected such as 'bld/eae/rts'")
    if len(text) > MAX_TEXT:
        raise BoardError(f"board {quote(text)} has {len(text):,} characters: expected one board")
    if "/" in text and "\n" in text.strip():
        raise BoardError(f"board {quote(text)} is more than one: expected / or lines between rows")
    rows = _between_rows.split(text.strip())
    if len(rows) == 1:
        rows = rows[0].split()
        # as well a list of boards
        if len(rows) > 1 and len(rows[0]) in USUAL and abs(len(rows[0]) - len(rows)) > 1:
            raise BoardError(f"board {quote(text)} may be several: expected / between its rows")
    rows = [_together(row) for row in rows]
    if len(rows) == 1 and wanted and str(dims).strip().lower() != str(wanted):
        # its columns as it is typed are the rows of the turned one
        rows = re.findall(f".{{1,{wanted.w}}}", rows[0])
    if strange := set("".join(rows).lower()) - set(LETTERS):
        raise BoardError(
            f"board {quote(text)} has {quote(min(strange))}: expected letters a-z and Qu; orderly "
            "show, solve and score take other tiles"
        )
    plain = [row.lower() for row in rows]
    titled = [row.replace("Qu", "q").lower() for row in rows]
    found = {_placed(plain, wanted), _placed(titled, wanted)} - {None}
    if not found:  # u is a cell of its own wherever that makes a board
        q_form = [row.replace("qu", "q") for row in plain]
        found = {_placed(q_form, wanted)} - {None}
    if len(found) > 1:
        raise BoardError(f"board {quote(text)} can be read in two ways: write q for a Qu cell")
    for size, letters in filter(None, found):
        return size, letters
    lengths = ", ".join(str(len(row)) for row in plain)
    expected = ", ".join(f"{n} ({size})" for n, size in USUAL.items())
    if wanted:
        expected = f"{wanted.n} ({wanted})"
    raise BoardError(
        f"board {quote(text)} has {lengths or 0} letters in {len(rows)} rows: expected {expected} "
        "down the columns, or the rows of such a board"
    )


def _together(row: str) -> str:
    """Return a row without what stands between its cells; with that, Qu is one of them."""
    cells = _between_cells.split(row)
    if len(cells) > 1:
        cells = ["q" if cell.lower() == "qu" else cell for cell in cells]
    return "".join(cells)


def _placed(rows: list[str], wanted: Dims | None) -> tuple[Dims, str] | None:
    """Return the size and the letters down the columns of some rows, or of one string of letters;
    None if no board has them.
    """
    if not rows:
        return None
    if len(rows) == 1:
        size = wanted or USUAL.get(len(rows[0]))
        letters = rows[0]
    else:
        w = len(rows[0])
        h = len(rows)
        size = Dims(min(w, h), max(w, h))
        if w > h:
            letters = "".join(rows)
        else:
            letters = "".join(chain.from_iterable(zip(*rows, strict=False)))
        is_even = all(len(row) == w for row in rows)
        if not is_even or size not in SIZES or wanted not in (None, size):
            return None
    if size is None or size.n != len(letters):
        return None
    return size, letters


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
    cells = []
    for c, new in faces:
        is_plain = new == c or (len(new) == 1 and new != "q")
        cells.append(new if is_plain else f"[{new}]")
    return "".join(cells)


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
