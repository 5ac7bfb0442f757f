"""Boards as people type them: the one reader of every command, page and function.

    read_tiles -> Tiles     any grid of tiles up to 12 by 12, for the plain solver
                            (solver.py)
    read_board (typed.py)   the boards of the proof: letters a-z and Qu on a supported size

What can be typed: rows with ``/``, line breaks or blanks between them; cells of a row together, or
with blanks, commas or semicolons between; one string of letters, which goes down the columns; a
board file, whose first line counts rows and columns; what other programs write (board_tables.py).
What can be read in two ways is refused, with both.

>>> board = read_tiles("qu i/t [a/e]")
>>> print(board, board.features)
Qui/t[a/e] ['a tile with a choice of letters']
>>> read_tiles("bld/eae").rows
[['B', 'L', 'D'], ['E', 'A', 'E']]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from orderly_boggle.boardclass.errors import BoardError, DimsError, quote
from orderly_boggle.cluster.boards.board_tables import plain_rows

MAX_SIDE = 12
MAX_TEXT = 2000

_ALL = tuple("abcdefghijklmnopqrstuvwxyz")
_pieces = re.compile(
    r"(\[[^\[\]]*\])|([/\n])|([^\S\n]*[,;][^\S\n]*|[^\S\n]+)|([^\[\]/\s,;]+)|(.)", re.S
)
# the tiles of two letters that Boggle dice have
_mixed_cells = re.compile(r"Qu|Th|In|Er|He|An|.", re.S).findall
_joined_cells = re.compile(r"[Qq][Uu]|.", re.S).findall
_SIZE = re.compile(r"([0-9]{1,2})[xX]([0-9]{1,2})", re.ASCII)

Group = list[str]  # what is written together: texts, and tiles in brackets


class Tile(NamedTuple):
    """One cell."""

    spellings: tuple[str, ...]  # the letters that it may stand for; none: a hole
    begins: bool = False  # it may only be the first of a word
    ends: bool = False  # it may only be the last of a word

    @property
    def face(self) -> str:
        """What stands on it."""
        if len(self.spellings) != 1:
            if not self.spellings:
                return "."
            if len(self.spellings) == 26:
                return "*"
            return "/".join(map(str.capitalize, self.spellings))
        text = self.spellings[0].capitalize()
        if self.begins:
            return f"{text}-"
        return f"-{text}" if self.ends else text

    @property
    def text(self) -> str:
        """How it is typed."""
        if len(self.spellings) in (0, 26):
            return self.face
        text = f"{'-' * self.ends}{'/'.join(self.spellings)}{'-' * self.begins}"
        if text == "qu":
            return "Qu"
        if len(text) == 1 and text != "q":
            return text
        return f"[{text}]"

    @property
    def feature(self) -> str:
        """What it has that no cell of the proof has; empty if nothing."""
        if self.begins or self.ends:
            return f"a tile only for the {'beginning' if self.begins else 'end'} of a word"
        n_choices = len(self.spellings)
        if n_choices != 1:
            return {0: "a hole", 26: "a tile for any letter"}.get(
                n_choices, "a tile with a choice of letters"
            )
        (text,) = self.spellings
        if text == "q":
            return "a plain Q"
        if len(text) == 1 or text == "qu":
            return ""
        return "a tile with several letters"


class Tiles(NamedTuple):
    """A board of ``w`` columns and ``h`` rows; the tile in column x and row y has the number ``x *
    h + y``.
    """

    w: int
    h: int
    tiles: tuple[Tile, ...]

    @property
    def by_row(self) -> list[tuple[Tile, ...]]:
        """The tiles row by row."""
        return [self.tiles[y :: self.h] for y in range(self.h)]

    @property
    def turned(self) -> Tiles:
        """The same game with rows and columns exchanged."""
        return Tiles(self.h, self.w, tuple(chain.from_iterable(self.by_row)))

    @property
    def rows(self) -> list[list[str]]:
        """The faces row by row."""
        return [list(map(attrgetter("face"), row)) for row in self.by_row]

    def __str__(self) -> str:
        rows = []
        for row in self.by_row:
            rows.append("".join(tile.text for tile in row))
        return "/".join(rows)

    @property
    def features(self) -> list[str]:
        """What this board has that no board of the proof has, apart from its size; each once."""
        return list(dict.fromkeys(filter(None, map(attrgetter("feature"), self.tiles))))


def parse_size(text: str) -> tuple[int, int]:
    """Return the columns and rows, each 1 to 12, that ``WxH`` names; DimsError if it names none."""
    match = _SIZE.fullmatch(str(text).strip())
    if match:
        size = (int(match[1]), int(match[2]))
    else:
        size = (0, 0)
    if not all(1 <= side <= MAX_SIDE for side in size):
        raise DimsError(
            f"unknown dimensions {quote(text)}: expected columns x rows, each 1 to "
            f"{MAX_SIDE}, such as 4x3"
        )
    return size


def read_tiles(
    text: str,
    size: str | None = None,
    *,
    plain_q: bool = False,
    letters: str = "",
    sizes: Iterable[tuple[int, int]] = (),
    usual: Iterable[tuple[int, int]] = (),
) -> Tiles:
    """Return the board that a person typed.

    size : ``WxH``; rows may also be those of its turn
    plain_q : a q is a plain Q, not Qu
    letters : letters beyond a-z that the word list has
    sizes : the only ones allowed; either way up
    usual : those that the length of a string of letters, or rows with blanks between, may stand for
        without ``size``

    Raises BoardError if it is not a board, or more than one, or can be read in two ways; DimsError
    if ``size`` is none.
    """
    if not isinstance(text, str):
        raise BoardError(
            f"a board is a text, not {quote(text)}: expected one such as 'bld/eae/rts'"
        )
    if len(text) > MAX_TEXT:
        raise BoardError(f"board {quote(text)} has {len(text):,} characters: expected one board")
    wanted = parse_size(size) if size else None
    if wanted:
        upright = {wanted}
    else:
        upright = set(sizes)
    either = upright | {(h, w) for w, h in upright}
    reader = _Reader(plain_rows(text), plain_q, letters, either, wanted)
    return reader.read({wanted} if wanted else set(usual))


@dataclass
class _Reader:
    """One text to be read."""

    text: str
    plain_q: bool
    letters: str
    sizes: set[tuple[int, int]]  # the only ones; none: any
    asked: tuple[int, int] | None

    def read(self, usual: set[tuple[int, int]]) -> Tiles:
        lines = []
        for line in self._lines():
            if rows := [row for row in line if row or len(line) > 1]:
                lines.append(rows)
        if not lines:
            raise self._error("has 0 cells: expected letters a-z")
        if len(lines) > 1 and lines[0] == [lines[0][0]] and (counted := _counts(lines[0][0])):
            board = self._from_rows(list(chain.from_iterable(lines[1:])))
            if (board.h, board.w) != counted:
                expected = f"{counted[0]} of {counted[1]} as its first line says"
                raise self._error(f"has {board.h} rows of {board.w}, not {expected}")
            return board
        if len(lines) > 1 and any(len(line) > 1 for line in lines):
            raise self._error(f"is more than one: {len(lines)} lines with / in them")
        if len(lines) > 1:
            rows = [line[0] for line in lines]
        else:
            rows = lines[0]
        if len(rows) > 1:
            return self._from_rows(rows)
        if len(rows[0]) == 1:
            return self._from_columns(rows[0][0], usual)
        if all(map(_is_one_cell, rows[0])):
            raise self._error(
                f"is {len(rows[0])} cells without a sign where a row ends: write / between the rows"
            )
        either = usual | {(h, w) for w, h in usual}
        whole_boards = {w * h for w, h in usual}
        widths = {w for w, h in either if h == len(rows[0])}
        one_board = set()
        for w in widths:
            if w not in whole_boards or abs(w - len(rows[0])) <= 1:
                one_board.add(w)
        return self._from_rows([[group] for group in rows[0]], one_board)

    def _lines(self) -> list[list[list[Group]]]:  # each line its rows, each row its groups
        lines: list[list[list[Group]]] = [[[]]]
        together = False
        text = self.text.replace("\r\n", "\n").replace("\r", "\n")
        for match in _pieces.finditer(unicodedata.normalize("NFC", text)):
            bracket, separator, gap, letters, stray = match.groups()
            if stray:
                raise self._error(
                    f"has a {stray!r} without its partner: a tile in brackets is "
                    "such as [a/e] or [-ing]"
                )
            if separator:
                if separator == "\n":
                    lines.append([[]])
                else:
                    lines[-1].append([])
            elif not gap:
                row = lines[-1][-1]
                cell = bracket or letters
                if together:
                    row[-1].append(cell)
                else:
                    row.append([cell])
            together = not (separator or gap)
        return lines

    def _from_columns(self, group: Group, usual: set[tuple[int, int]]) -> Tiles:
        size_of = {w * h: (w, h) for w, h in usual}
        nearly_square = {n for n, (w, h) in size_of.items() if abs(w - h) <= 1}
        mixed, letters, joined = self._readings([group])
        by_length: dict[int, list[Tile]] = {}
        for numbers in (nearly_square, set(size_of)):  # 16 letters with a qu: 4x4, not 3x5
            for cells in (mixed, letters):
                if len(cells) in numbers:
                    by_length[len(cells)] = cells
            if not by_length and len(joined) in numbers:
                by_length[len(joined)] = joined
            if by_length:
                break
        if len(by_length) > 1:
            raise self._two_ways(by_length)
        if not by_length:
            known = ", ".join(f"{n} ({w}x{h})" for n, (w, h) in sorted(size_of.items()))
            raise self._error(f"has {len(letters)} cells: expected {known}, or rows with / between")
        ((n, cells),) = by_length.items()
        return Tiles(*size_of[n], tuple(cells))

    def _from_rows(self, rows: list[list[Group]], widths: set[int] | None = None) -> Tiles:
        readings = [self._readings(row) for row in rows]
        lengths = sorted({len(row[1]) for row in readings})
        shape = f"{len(rows)} rows of {' and '.join(map(str, lengths[:4]))} letters"
        for modes in ((0, 1), (0, 1, 2)):
            by_width = []
            for row in readings:
                by_width.append({len(row[mode]): row[mode] for mode in modes})
            common = set.intersection(*map(set, by_width)) - {0}
            if widths is not None:
                common &= widths
            possible = {w for w in common if self._fits(w, len(rows))}
            if len(possible) > 1:
                raise self._two_ways(possible)
            if possible:
                (w,) = possible
                cells = [row[w] for row in by_width]
                columns = zip(*cells, strict=True)
                return Tiles(w, len(rows), tuple(chain.from_iterable(columns)))
        if widths is not None:
            raise self._error(
                f"is {shape}, or more than one board: write / between the rows of one board"
            )
        if self.asked:
            w, h = self.asked
            raise self._error(f"has {shape}: expected the {h} rows of {w} of {w}x{h}")
        raise self._error(f"has {shape}: expected rows of one length, of a size that this takes")

    def _fits(self, w: int, h: int) -> bool:
        if self.sizes:
            return (w, h) in self.sizes
        return max(w, h) <= MAX_SIDE

    def _readings(self, row: list[Group]) -> tuple[list[Tile], list[Tile], list[Tile]]:
        """Return a row with tiles of two letters, letter by letter, and with qu as one tile."""
        if len(row) == 1:
            mixed = self._cells(row[0], _mixed_cells)
            single = self._cells(row[0], list)
            joined = self._cells(row[0], _joined_cells)
            return mixed, single, joined
        cells = [self._one_cell(group) for group in row]
        return cells, cells, cells

    def _cells(self, group: Group, split: Callable[[str], list[str]]) -> list[Tile]:
        cells: list[str] = []
        for piece in group:
            cells += [piece] if piece.startswith("[") else split(piece)
        return list(map(self._tile, cells))

    def _one_cell(self, group: Group) -> Tile:
        if not _is_one_cell(group):
            text = "".join(group)
            raise self._error(
                f"has {quote(text)} among cells with blanks between: write a tile "
                f"as [{text.lower()}]"
            )
        return self._tile(group[0])

    def _tile(self, text: str) -> Tile:
        if text == ".":
            return Tile(())
        if text == "*":
            return Tile(_ALL)
        inner = text.removeprefix("[").removesuffix("]").lower()
        begins = inner.endswith("-")
        ends = inner.startswith("-")
        spellings = tuple(dict.fromkeys(inner.strip("-").split("/")))
        letters = {*_ALL, *self.letters}
        is_word = all(0 < len(s) <= 8 and letters.issuperset(s) for s in spellings)
        if not is_word or (begins and ends) or (len(text) == 1 and (begins or ends)):
            expected = "expected a letter a-z, Qu, [a/e], [un-], . or *"
            raise self._error(f"has {quote(text)}, which is not a tile: {expected}")
        if text in ("q", "Q") and not self.plain_q:
            spellings = ("qu",)
        return Tile(spellings, begins, ends)

    def _two_ways(self, counts: Iterable[int]) -> BoardError:
        ways = " or ".join(map(str, sorted(counts)))
        return self._error(
            f"can be read with {ways} cells: write a tile of several letters as [qu]"
        )

    def _error(self, what: str) -> BoardError:
        return BoardError(f"board {quote(self.text)} {what}")


def _is_one_cell(group: Sequence[str]) -> bool:
    text = group[0]
    is_tile = len(text) == 1 or text.startswith("[") or text.lower() == "qu"
    return len(group) == 1 and (is_tile or (text[:1].isupper() and text[1:].islower()))


def _counts(row: list[Group]) -> tuple[int, int] | None:
    numbers = []
    for group in row:
        if len(group) == 1 and group[0].isdecimal() and len(group[0]) <= 2:
            numbers.append(int(group[0]))
    if len(numbers) != len(row) or len(row) not in (1, 2):
        return None
    return numbers[0], numbers[-1]
