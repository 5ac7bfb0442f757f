"""Lists of boards: one a line with a score or without, the CSV that a command printed, or one board over many lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import NamedTuple

_BOARD_AND_NUMBERS = re.compile(r"(.*?)[\s,;:]+([0-9]+)(?:[\s,;:]+[0-9]+)*", re.ASCII)
_is_board_file = re.compile(r"[0-9]{1,2}(?:\s+[0-9]{1,2})?", re.ASCII).fullmatch
_CELL = r"(?:[^\W\d_]|[Qq][Uu]|[A-Z][a-z]|\[[^\[\]]+\]|[.*])"
_is_row = re.compile(rf"{_CELL}(?:[\s,]+{_CELL})+").fullmatch


class Line(NamedTuple):
    """A board in a list, with the number of its line and the score behind it, if any."""

    number: int
    text: str
    score: int | None


def read_lines(data: bytes) -> Iterator[Line]:
    """Yield the boards of a list; blank lines and ``#`` comments are skipped, and bytes that are not UTF-8 do not stop
    the reading.

    A line is a board; numbers behind it are its score and more.  If the first line is a CSV header with the column
    ``board``, that column and the column ``score`` are taken instead.  A first line of one or two numbers is that of a
    board file, and lines of single cells with blanks between are the rows of one board.
    """
    columns: list[str] | None = None
    is_first = True
    lines = [line.strip() for line in data.decode("utf-8-sig", "backslashreplace").splitlines()]
    told = [(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if told and (_is_board_file(told[0][1]) or all(_is_row(line) for _, line in told)):
        yield Line(told[0][0], "\n".join(line for _, line in told), None)
        return
    for number, text in told:
        if is_first and "board" in (names := _csv_fields(text)):
            columns, is_first = names, False
            continue
        is_first = False
        if columns is None:
            match = _BOARD_AND_NUMBERS.fullmatch(text)
            yield Line(number, match[1], _score(match[2])) if match else Line(number, text, None)
        else:
            named = dict(zip(columns, _csv_fields(text), strict=False))
            yield Line(number, named.get("board", ""), _score(named.get("score", "")))


def _csv_fields(text: str) -> list[str]:
    try:
        return [field.strip() for field in next(csv.reader([text]))]
    except csv.Error:  # a field beyond its limit: not a board
        return [text]


def _score(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,10}", text) else None
