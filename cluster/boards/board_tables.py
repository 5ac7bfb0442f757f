"""Boards as other programs write them: drawn with lines, as a table, as JSON or nested lists.

plain_rows   the text of one board with a line for each row   -> tiles.py
json_boards  the boards of a JSON text, each with its score   -> cluster/boards/scoring.py

>>> print(plain_rows("| B | L |\\n| E | Qu |"))
B L
E [Qu]
>>> json_boards('[["b", "l"], ["e", "a"]]')
[('b l\\ne a', None)]
"""

import json
import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

_bar = re.compile("[│|║┃]")
_is_border = re.compile(r"[-+|:\s\u2500-\u257f]+").fullmatch  # between the rows of a drawing
_AS_JSON = str.maketrans("{}'", '[]"')  # lists of Python, arrays of C and Java
Found = tuple[str, int | None]


def plain_rows(text: str) -> str:
    """Return a board that is drawn, a table or a nested list as lines of cells with blanks between;
    any other text as it is.
    """
    boards = json_boards(text)
    if boards is not None and len(boards) == 1:
        return boards[0][0]
    if not _bar.search(text):
        return text
    rows = []
    for line in text.splitlines():
        if not _is_border(line):
            cells = _bar.split(line.strip().strip("│|║┃"))
            rows.append(_row_of(list(map(str.strip, cells))))
    return "\n".join(rows)


def json_boards(text: str) -> list[Found] | None:
    """Return the boards of a JSON text with their scores, if told; None if it is no such text.

    It may be one board as a list of rows, of letters or strings; a list of boards; or what commands
    print with ``--format json``.
    """
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    for readable in (text, text.translate(_AS_JSON)):
        try:
            return _boards_of(json.loads(readable))
        except (ValueError, RecursionError):
            continue
    return None


def _boards_of(value: Any) -> list[Found]:
    """Return the boards of a JSON value; raise ValueError if it has something else."""
    if isinstance(value, dict) and "board" in value:
        board = value["board"]
        score = value.get("score")
        if isinstance(score, int):
            points = score
        else:
            points = None
        if isinstance(board, str):
            return [(board, points)]
        return _boards_of(board)
    if not isinstance(value, list) or not value:
        raise ValueError("no board")
    if all(isinstance(item, str) for item in value):
        return [(item, None) for item in value]
    lists = [item for item in value if isinstance(item, list)]
    cells = list(chain.from_iterable(lists))
    if len(lists) < len(value) or not all(isinstance(cell, str) for cell in cells):
        return list(chain.from_iterable(map(_boards_of, value)))
    if any(len(cell) == 1 for cell in cells):
        return [("\n".join(map(_row_of, lists)), None)]
    return [("\n".join(item), None) for item in lists]


def _row_of(cells: Sequence[str]) -> str:
    return " ".join(cell if len(cell) == 1 else f"[{cell}]" for cell in cells)
