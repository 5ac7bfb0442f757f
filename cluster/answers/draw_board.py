"""A board as a picture file: ``orderly show BOARD --out FILE.svg`` or ``FILE.png``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boardclass.distribution import install
from boardclass.errors import InputError, quote
from cluster.streams import write_file

_PNG_SCALE = 2


def save_board(out: str, faces: Sequence[Sequence[str]], heat: Sequence[int], path: Sequence[int] = ()) -> Path:
    """Draw a board into a file and return its path; arguments as for :func:`boardclass.board_svg.board_svg`.

    Raises InputError when the name does not end in ``.svg`` or ``.png``, or the file cannot be written.
    """
    from boardclass.board_svg import SIZE, board_svg

    file = Path(out)
    if file.suffix == ".svg":
        data = board_svg(faces, heat, path, cell_px=2 * SIZE, styled=True).encode()
    elif file.suffix == ".png":
        data = _png(board_svg(faces, heat, path))
    else:
        raise InputError(f"{quote(out)}: expected a name that ends in .html, .svg or .png")
    return write_file(file, data)


def _png(svg: str) -> bytes:
    try:
        import vl_convert
    except ImportError as error:
        raise InputError(f"a PNG needs {error.name}: {install('report')}, or write an .svg") from error
    convert: Any = vl_convert.svg_to_png
    data: bytes = convert(svg, scale=_PNG_SCALE)
    return data
