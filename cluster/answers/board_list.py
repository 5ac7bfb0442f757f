"""Lists of boards: one a line with a score or without, or the CSV that a command printed."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import NamedTuple


class Line(NamedTuple):
    """A board in a list, with the number of its line and the score behind it, if any."""

    number: int
    text: str
    score: int | None


def read_lines(data: bytes) -> Iterator[Line]:
    """Yield the boards of a list; blank lines and ``#`` comments are skipped, and bytes that are not UTF-8 do not stop
    the reading.

    The first field of a line is the board, the second its score.  If the first line is a CSV header with the column
    ``board``, that column and the column ``score`` are taken instead.
    """
    columns: list[str] | None = None
    is_first = True
    for number, line in enumerate(data.decode("utf-8-sig", "backslashreplace").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if is_first and "board" in (names := _csv_fields(text)):
            columns, is_first = names, False
            continue
        is_first = False
        if columns is None:
            fields = [field for field in re.split(r"[\s,;:]+", text) if field] or [text]
            yield Line(number, fields[0], _score(fields[1]) if len(fields) > 1 else None)
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
