"""Boards in files: one as a picture (``orderly show --out``), several as a worksheet, a PDF
(``orderly roll --out``).

All is drawn as SVG, which vl-convert turns into PNG and PDF; nothing is fetched.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orderly_boggle.boardclass.board_svg import INK, SIZE, board_svg
from orderly_boggle.boardclass.distribution import install
from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.printable import printable
from orderly_boggle.cluster.streams import write_file

if TYPE_CHECKING:
    from orderly_boggle.cluster.boards.scoring import Solved

PAPERS = {"a4": (595, 842), "letter": (612, 792)}  # width and height in points of 1/72 inch
# countries that print on Letter (paperSize of Unicode CLDR), at the end of the name of a locale
_is_american = re.compile(
    r"[a-z]+_(BZ|CA|CL|CO|CR|GT|MX|NI|PA|PH|PR|SV|US|VE)\b.*", re.ASCII
).fullmatch
_EDGE = 42
_PER_COLUMN = 3
_BOARD = 172
# of the answers
_LINE = 10.0
_COLUMN = 63.8
_BODY = 7.5
_SOFT = "#5b6469"
_PNG_SCALE = 2


def save_board(
    out: str, faces: Sequence[Sequence[str]], heat: Sequence[int], path: Sequence[int] = ()
) -> Path:
    """Draw a board into a file and return its path; arguments as for
    :func:`orderly_boggle.boardclass.board_svg.board_svg`.

    Raises InputError when the name does not end in ``.svg`` or ``.png``, or the file cannot be
    written.
    """
    file = Path(out)
    if file.suffix == ".svg":
        data = board_svg(faces, heat, path, cell_px=2 * SIZE, styled=True).encode()
    elif file.suffix == ".png":
        try:
            import vl_convert
        except ImportError as error:
            raise InputError(
                f"a PNG needs {error.name}: {install('report')}, or write an .svg"
            ) from error
        convert: Any = vl_convert.svg_to_png
        data = convert(board_svg(faces, heat, path), scale=_PNG_SCALE)
    else:
        raise InputError(f"{quote(out)}: expected a name that ends in .html, .svg or .png")
    return write_file(file, data)


def paper_here() -> str:
    """Return what people print on where the locale of this process is from: ``letter`` or ``a4``.

    >>> paper_here() in PAPERS
    True
    """
    for name in ("LC_ALL", "LC_PAPER", "LANG"):  # the first that is set counts, as in POSIX
        if os.environ.get(name):
            if _is_american(os.environ[name]):
                return "letter"
            return "a4"
    return "a4"


def sheet(
    boards: Sequence[Solved],
    source: str,
    counting: str,
    title: str = "",
    n_lines: int = 0,
    paper: str | None = None,
) -> bytes:
    """Return a PDF: the boards, with room for what was found; then the words of each, longest
    first.

    source : what the boards come from, at the foot of every page, or at its head if there is no
        ``title``
    counting : which words count, as ``ScoreTable.counting`` says
    n_lines : lines to write on beside each board, three boards a page; 0: six boards a page
    paper : one of :data:`PAPERS`; None: that of :func:`paper_here`

    Raises InputError when what draws PDF is not installed.
    """
    try:
        import vl_convert
        from pypdf import PdfWriter
    except ImportError as error:
        raise InputError(f"a PDF needs more than is installed: {install('report')}") from error
    writer = PdfWriter()
    width, height = PAPERS[paper or paper_here()]
    head = _text(_EDGE, 32, source, 9, _SOFT)
    if title:
        foot = _text(_EDGE, height - 18, source, 7, _SOFT)
        head = _text(_EDGE, 34, title, 15) + foot
    head += _text(_EDGE, 48, f"{counting.capitalize()} count.", 9, _SOFT)
    board_pages = _board_pages(boards, n_lines, width, height)
    for drawing in (*board_pages, *_answer_pages(boards, width, height)):
        page = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{height}">{head}{drawing}</svg>'
        )
        writer.append(io.BytesIO(vl_convert.svg_to_pdf(page)))
    writer.add_metadata({"/Title": title or source})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _board_pages(boards: Sequence[Solved], n_lines: int, width: int, height: int) -> Iterator[str]:
    n_across = 1 if n_lines else 2
    per_page = n_across * _PER_COLUMN
    for first in range(0, len(boards), per_page):
        parts = []
        for place, board in enumerate(boards[first : first + per_page]):
            x = _EDGE + (place % n_across) * (width - 2 * _EDGE + 29) // 2
            y = 58 + (place // n_across) * (height - 86) // _PER_COLUMN
            title = f"Board {first + place + 1}: {board.worth} to find"
            parts += [_text(x, y + 8, title, 10), _drawing(board, x, y + 18)]
            room = "Name ______________________   words _____   points _____"
            parts.append(_text(x, y + _BOARD + 34, room, 8))
            parts += _lines_to_write_on(x + 230, y + 18, n_lines)
        yield "".join(parts)


def _lines_to_write_on(left: float, top: float, n_lines: int) -> Iterator[str]:
    n_rows = (n_lines + 1) // 2
    for number in range(n_lines):
        column, row = divmod(number, n_rows)
        x = left + 145 * column
        y = top + (_BOARD + 16) * (row + 1) / n_rows
        yield f'<line x1="{x}" x2="{x + 130}" y1="{y:.1f}" y2="{y:.1f}" stroke="{_SOFT}"/>'


def _drawing(board: Solved, x: float, y: float) -> str:
    frame = f'<svg x="{x}" y="{y}" width="{_BOARD}" height="{_BOARD}"'
    return board_svg(board.rows).replace("<svg", frame, 1)


def _answer_pages(boards: Sequence[Solved], width: int, height: int) -> Iterator[str]:
    """Yield pages of words in columns; the words of one length stand together under a line that
    names it.
    """
    n_columns = int((width - 2 * _EDGE) // _COLUMN)
    y = 62.0
    parts = list[str]()
    for number, board in enumerate(boards, 1):
        title = f"Board {number}: {'/'.join(map(''.join, board.rows))}, {board.worth}"
        lines: list[tuple[str, float, Sequence[str]]] = [(title, 10, ())]
        for letters, group in groupby(board.words, key=attrgetter("letters")):
            words = [word.word for word in group]
            lines.append((f"{letters} letters ({len(words)})", 8, ()))
            step = range(0, len(words), n_columns)
            lines += [("", 0.0, words[first : first + n_columns]) for first in step]
        for place, (heading, size, row) in enumerate(lines):
            # a heading is never the last line of a page
            if y + _LINE * (3 if size else 1) > height - _EDGE:
                yield "".join(parts)
                y = 62.0
                parts = []
            y += _LINE * (1.6 if place and size else 1.0)
            parts.append(_text(_EDGE, y, heading, size) if heading else "")
            for column, word in enumerate(row):
                parts.append(_text(_EDGE + column * _COLUMN, y, word, _BODY))
        y += 2 * _LINE
    yield "".join(parts)


def _text(x: float, y: float, text: str, size: float, ink: str = INK) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-family="sans-serif" font-size="{size:.1f}" '
        f'fill="{ink}">{escape(printable(text))}</text>'
    )
