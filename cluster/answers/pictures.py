"""Boards in files: one as a picture (``orderly show --out``), several as a worksheet, a PDF
(``orderly roll --out``).

All is drawn as SVG, which vl-convert turns into PNG and PDF; nothing is fetched.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boardclass.distribution import install
from boardclass.errors import InputError, quote
from boardclass.printable import counted
from cluster.streams import write_file

if TYPE_CHECKING:
    from cluster.answers.boards import Solved

_WIDTH, _HEIGHT, _EDGE = 595, 842, 42  # A4, in points of 1/72 inch
_PER_PAGE, _BOARD = 6, 172
_LINE, _COLUMN = 10.0, 63.8  # of the answers
_BODY = 7.5
_PNG_SCALE = 2


def save_board(
    out: str, faces: Sequence[Sequence[str]], heat: Sequence[int], path: Sequence[int] = ()
) -> Path:
    """Draw a board into a file and return its path; arguments as for
    :func:`boardclass.board_svg.board_svg`.

    Raises InputError when the name does not end in ``.svg`` or ``.png``, or the file cannot be
    written.
    """
    from boardclass.board_svg import SIZE, board_svg

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


def sheet(boards: Sequence[Solved], title: str) -> bytes:
    """Return a PDF: the boards, six a page, with room for what was found; then the words of each,
    longest first.

    The title is on the head of every page.  Raises InputError when what draws PDF is not installed.
    """
    try:
        import vl_convert
        from pypdf import PdfWriter
    except ImportError as error:
        raise InputError(f"a PDF needs more than is installed: {install('report')}") from error
    writer = PdfWriter()
    for drawing in (*_board_pages(boards), *_answer_pages(boards)):
        head = _text(_EDGE, 34, title, 9, "#5b6469")
        page = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" '
            f'height="{_HEIGHT}">{head}{drawing}</svg>'
        )
        writer.append(io.BytesIO(vl_convert.svg_to_pdf(page)))
    writer.add_metadata({"/Title": title})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _board_pages(boards: Sequence[Solved]) -> Iterator[str]:
    for first in range(0, len(boards), _PER_PAGE):
        drawn = []
        for place, board in enumerate(boards[first : first + _PER_PAGE]):
            x, y = _EDGE + (place % 2) * 270, 58 + (place // 2) * 252
            n_words, n_points = counted(len(board.words), "word"), counted(board.score, "point")
            told = f"Board {first + place + 1}: {n_words}, {n_points} to find"
            drawn += [_text(x, y + 8, told, 10), _drawn(board, x, y + 18)]
            drawn.append(
                _text(
                    x,
                    y + _BOARD + 34,
                    "Name ______________________   words _____   points _____",
                    8,
                )
            )
        yield "".join(drawn)


def _drawn(board: Solved, x: float, y: float) -> str:
    cell = _BOARD / max(len(board.rows), len(board.rows[0]))
    parts = []
    for row, faces in enumerate(board.rows):
        for column, face in enumerate(faces):
            at_x, at_y = x + column * cell, y + row * cell
            parts.append(
                f'<rect x="{at_x:.1f}" y="{at_y:.1f}" width="{cell - 3:.1f}" '
                f'height="{cell - 3:.1f}" rx="{cell / 9:.1f}" '
                f'fill="{"none" if face != "." else "#d5d9dc"}" stroke="#1d2327"/>'
            )
            if face != ".":  # no word goes through a hole
                size, middle = cell * 0.58 / max(1.0, len(face) / 1.6), (cell - 3) / 2
                parts.append(
                    _text(at_x + middle, at_y + middle + size * 0.36, face, size, anchor="middle")
                )
    return "".join(parts)


def _answer_pages(boards: Sequence[Solved]) -> Iterator[str]:
    """Yield pages of words in columns; the words of one length stand together under a line that
    names it.
    """
    n_columns = int((_WIDTH - 2 * _EDGE) // _COLUMN)
    y, drawn = 62.0, list[str]()
    for number, board in enumerate(boards, 1):
        told = (
            f"{board.board}, {counted(len(board.words), 'word')}, {counted(board.score, 'point')}"
        )
        lines: list[tuple[str, float, Sequence[str]]] = [(f"Board {number}: {told}", 10, ())]
        for letters, group in groupby(board.words, key=lambda word: word.letters):
            words = [word.word for word in group]
            lines.append((f"{letters} letters ({len(words)})", 8, ()))
            step = range(0, len(words), n_columns)
            lines += [("", 0.0, words[first : first + n_columns]) for first in step]
        for place, (heading, size, row) in enumerate(lines):
            # a heading is never the last line of a page
            if y + _LINE * (3 if size else 1) > _HEIGHT - _EDGE:
                yield "".join(drawn)
                y, drawn = 62.0, []
            y += _LINE * (1.6 if place and size else 1.0)
            drawn.append(_text(_EDGE, y, heading, size) if heading else "")
            drawn += [
                _text(_EDGE + column * _COLUMN, y, word, _BODY) for column, word in enumerate(row)
            ]
        y += 2 * _LINE
    yield "".join(drawn)


def _text(
    x: float, y: float, text: str, size: float, ink: str = "#1d2327", anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-family="sans-serif" font-size="{size:.1f}" '
        f'fill="{ink}" text-anchor="{anchor}">{escape(text)}</text>'
    )
