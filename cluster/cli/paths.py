"""``orderly paths``: how many simple paths a board has, whatever its letters."""

from __future__ import annotations

import re
from typing import Annotated

from orderly_boggle.boardclass.errors import BoardError, quote
from orderly_boggle.cluster.answers.render import write_record, write_table
from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.options import argument, option


def paths(
    size: Annotated[str, argument("WxH", "Columns x rows, such as 6x6 or 30x2.")],
    by_length: Annotated[
        bool, option("One line for each number of cells of a path.", "--by-length")
    ] = False,
    fmt: options.Format = "table",
) -> None:
    """Count the simple paths of a board: every way to draw a word of any length on it.

    A path goes from cell to cell, also diagonally, uses no cell twice, and has a direction; a
    single cell is a path as well.  The numbers are exact.  6x6 takes seconds, 8x8 a minute or
    two.  A board may have up to 200 cells; its shorter side may be up to 11.
    """
    from orderly_boggle.boardclass.king_paths import n_paths, n_paths_by_length

    width, height = _sides(size)
    if by_length:
        rows = list(enumerate(n_paths_by_length(width, height), 1))
        write_table(("cells", "paths"), rows, fmt)
        return
    write_record({"size": f"{width}x{height}", "paths": n_paths(width, height)}, fmt)


def _sides(text: str) -> tuple[int, int]:
    """Return columns and rows; boards that can only be counted may be larger than others."""
    parts = text.lower().split("x")
    are_numbers = all(re.fullmatch(r"[0-9]{1,9}", part) for part in parts)
    if len(parts) != 2 or not are_numbers:
        raise BoardError(f"size {quote(text)}: expected columns x rows, such as 6x6")
    return int(parts[0]), int(parts[1])
