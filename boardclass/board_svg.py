"""A board as a picture: in a notebook, in the report, on the pages of the server, as a file (``orderly show --out``).

board_svg -> the elements with plain colours, understood by everything that reads SVG
board.css -> the same in the colours of the reader's light or dark page, where style sheets are known
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

SIZE = 50
INK, EDGE, PATH = "#1d2327", "#d5d9dc", "#b3261e"
_WARM = (214, 90, 60)
_COOLEST, _WARMEST = 0.08, 0.68
STYLE = Path(__file__).resolve().parent / "board.css"


def board_svg(
    faces: Sequence[Sequence[str]],
    heat: Sequence[int] = (),
    path: Sequence[int] = (),
    *,
    cell_px: int = 0,
    styled: bool = False,
    strict: bool = False,
) -> str:
    """Return the drawing of a board as one ``svg`` element.

    faces : rows from the top (``boardclass.board.format_rows``)
    heat : one number per cell, down the columns, which warms the cells; without it they are all alike
    path : cells of a word to draw, in order
    cell_px : width of a cell in pixels; 0: the page decides
    styled : whether the style sheet goes with it, for a file of its own
    strict : whether it is for a page that forbids style attributes: ``fill-opacity`` then says how warm a cell is
    """
    h, w = len(faces), len(faces[0])
    label = escape("Board " + " / ".join(" ".join(row) for row in faces), quote=True)
    size = f' width="{cell_px * w}" height="{cell_px * h}"' if cell_px else ""
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="board" viewBox="0 0 {SIZE * w} {SIZE * h}"{size} '
            f'role="img" aria-label="{label}">',
            f"<style>{STYLE.read_text(encoding='utf-8')}</style>" if styled else "",
            *(
                _square(cell, h, share, cell in path, strict)
                for cell, share in enumerate(_shares(heat or [0] * (w * h)))
            ),
            f'<g class="path">{_line(path, h) if path else ""}</g>',
            *(_face(cell, h, faces) for cell in range(w * h)),
            "</svg>",
        ]
    )


def _shares(heat: Sequence[int]) -> list[float]:
    """Return how warm each cell is drawn."""
    low, high = min(heat), max(heat)
    span = _WARMEST - _COOLEST
    return [_COOLEST + span * ((value - low) / (high - low) if high > low else 0.5) for value in heat]


def _centre(cell: int, h: int) -> tuple[int, int]:
    x, y = divmod(cell, h)
    return SIZE * x + SIZE // 2, SIZE * y + SIZE // 2


def _square(cell: int, h: int, share: float, on: bool, strict: bool) -> str:
    x, y = _centre(cell, h)
    paper = "#" + "".join(f"{round(255 + (value - 255) * share):02x}" for value in _WARM)
    mark = f'class="on" stroke="{PATH}" stroke-width="3"' if on else f'stroke="{EDGE}" stroke-width="1"'
    return f'<rect x="{x - 23}" y="{y - 23}" width="46" height="46" rx="7" fill="{paper}" {mark} ' + (
        f'fill-opacity="{share:.3f}"/>' if strict else f'style="--share: {share:.3f}"/>'
    )


def _line(path: Sequence[int], h: int) -> str:
    points = [_centre(cell, h) for cell in path]
    joined = " ".join(f"{x},{y}" for x, y in points)
    return (
        f'<polyline points="{joined}" fill="none" stroke="{PATH}" stroke-opacity=".75" stroke-width="6" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
        f'<circle cx="{points[0][0]}" cy="{points[0][1]}" r="10" fill="{PATH}" fill-opacity=".75"/>'
    )


def _face(cell: int, h: int, faces: Sequence[Sequence[str]]) -> str:
    x, y = _centre(cell, h)
    column, row = divmod(cell, h)
    face = faces[row][column]
    return (
        f'<text x="{x}" y="{y + 1}" fill="{INK}" font-family="system-ui, sans-serif" font-weight="600" '
        f'font-size="{66 // max(3, len(face))}" text-anchor="middle" dominant-baseline="central">{escape(face)}</text>'
    )
