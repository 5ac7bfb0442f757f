"""What a person or a program reads: boards drawn, tables as text, JSON or CSV.

Everything that the command line prints on standard output goes through here, so that ``--format``
means the same thing in every command: ``table`` for people, ``json`` and ``csv`` for programs.
Texts may come from files of strangers: control characters are escaped in every format.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from numbers import Number
from typing import TYPE_CHECKING, Any, Literal

from orderly_boggle.boardclass.printable import printable
from orderly_boggle.cluster.streams import console, say

if TYPE_CHECKING:
    from rich.table import Table

# background colours from cold to hot, 256-colour palette: readable with black letters
_HEAT = ("#c6dbef", "#d9ead3", "#fff2cc", "#ffd966", "#f6b26b", "#e06666")
_CELL_WIDTH = 4
_WHOLE = 16  # columns at most this wide are not folded


Format = Literal["table", "json", "csv"]  # how a table is written


def _style(value: int, low: int, high: int) -> str:
    if high <= low:
        return "bold"
    step = (value - low) * len(_HEAT) // (high - low + 1)
    return f"bold black on {_HEAT[step]}"


def draw_board(rows: Sequence[Sequence[str]], heat: Sequence[int] | None = None) -> Table:
    """Return the drawing of a board.

    The faces come row by row from the top, as ``boardclass.board.format_rows`` returns them;
    ``heat``, one number per cell, column-major, colours the cells from cold to hot.
    """
    from rich.box import SQUARE
    from rich.table import Table
    from rich.text import Text

    wide = max(_CELL_WIDTH, 1 + max(map(len, chain(*rows))))
    drawing = Table(box=SQUARE, padding=0, show_header=False, show_lines=True)
    for y, row in enumerate(rows):
        cells = []
        for x, face in enumerate(row):
            style = "bold"
            if heat is not None:
                style = _style(heat[x * len(rows) + y], min(heat), max(heat))
            cells.append(Text(f" {face:<{wide - 1}}", style, no_wrap=True))
        drawing.add_row(*cells)
    return drawing


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a header row and the rows to standard output."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_shown, columns))
    writer.writerows(map(_shown, row) for row in rows)
    sys.stdout.write(text.getvalue())


def write_json(value: Any) -> None:
    """Write one JSON value to standard output, indented, keys in the order given; what is not
    visible is escaped.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if not text.replace("\n", "").isprintable():  # newlines stand between values only
        shown = []
        for c in text:
            if c.isprintable() or c == "\n":
                shown.append(c)
            else:
                shown.append(json.dumps(c)[1:-1])
        text = "".join(shown)
    sys.stdout.write(f"{text}\n")


def _shown(value: object) -> object:
    if isinstance(value, str):
        return printable(value)
    return value


def write_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], fmt: Format = "table"
) -> None:
    """Write rows under column names in the format asked for; JSON becomes a list of objects."""
    if fmt == "csv":
        write_csv(columns, rows)
    elif fmt == "json":
        write_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        _write_rich_table(columns, rows)


def write_record(record: Mapping[str, Any], fmt: Format = "table") -> None:
    """Write one record: a line per field for people, one object in JSON, a header and one line in
    CSV.

    For people and in CSV a list is one text with spaces between.
    """
    if fmt == "json":
        write_json(dict(record))
        return
    plain = {}
    for name, value in record.items():
        if isinstance(value, list | tuple):
            plain[name] = " ".join(map(str, value))
        else:
            plain[name] = value
    if fmt == "csv":
        write_csv(list(plain), [list(plain.values())])
        return
    width = max(map(len, plain))
    for name, value in plain.items():
        say(f"{name.replace('_', ' '):<{width}}  {_cell(value)}")


def _write_rich_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a table: a narrow terminal folds long texts, never numbers and short texts; elsewhere
    nothing is folded.
    """
    from rich.cells import cell_len
    from rich.markup import escape
    from rich.table import Table

    out = console()
    table = Table(box=None, pad_edge=False)
    widest = 0
    for name, *values in zip(columns, *rows, strict=True):
        cells = list(map(_cell, values))
        width = max(map(cell_len, (printable(name), *cells)))
        is_number = bool(rows) and all(isinstance(value, Number | None) for value in values)
        table.add_column(
            escape(printable(name)),
            overflow="fold",
            justify="right" if is_number else "left",
            min_width=width if is_number else min(width, _WHOLE),
        )
        widest += width + 2
    for row in rows:
        table.add_row(*map(escape, map(_cell, row)))
    if not out.is_terminal:
        out.width = max(out.width, widest)
    out.print(table, crop=False)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    if value is None:
        return ""
    return printable(str(value))
