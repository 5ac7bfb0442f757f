"""A board as a picture: in a notebook, in the report, on the pages of the server, as a file
(``orderly show --out``).

board_svg -> the elements with plain colours, understood by everything that reads SVG
board.css -> the same in the colours of the reader's light or dark page, where style sheets are
known
words.js -> words beside a board draw their paths on it

>>> heat_of_cells(4, [(1, (0, 1)), (2, (1, 3))])
[1, 3, 0, 2]
"""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import product
from pathlib import Path

SIZE = 50
INK = "#1d2327"
EDGE = "#d5d9dc"
PATH = "#b3261e"
_WARM = (214, 90, 60)
_COOLEST = 0.08
_WARMEST = 0.68
STYLE = Path(__file__).resolve().parent / "board.css"
SCRIPT = Path(__file__).resolve().parent / "words.js"


def heat_of_cells(n_cells: int, words: Iterable[tuple[int, Sequence[int]]]) -> list[int]:
    """Return, per cell, the points of the words whose path runs through it; ``words`` are pairs
    (points, path).
    """
    heat = [0] * n_cells
    for points, path in words:
        for cell in path:
            heat[cell] += points
    return heat


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
    heat : one number per cell, down the columns, which warms the cells; without it they are all
        alike
    path : cells of a word to draw, in order
    cell_px : width of a cell in pixels; 0: the page decides
    styled : whether the style sheet goes with it, for a file of its own
    strict : whether it is for a page that forbids style attributes: ``fill-opacity`` then says how
        warm a cell is
    """
    h = len(faces)
    w = len(faces[0])
    middle = SIZE // 2
    columns = range(middle, SIZE * w, SIZE)
    rows = range(middle, SIZE * h, SIZE)
    centres = list(product(columns, rows))
    heat = heat or [0] * len(centres)
    low = min(heat)
    span = max(1, max(heat) - min(heat))
    squares = []
    letters = []
    for cell, (x, y) in enumerate(centres):
        share = _COOLEST + (_WARMEST - _COOLEST) * (heat[cell] - low) / span
        paper = "#" + "".join(f"{round(255 + (value - 255) * share):02x}" for value in _WARM)
        if cell in path:
            mark = f'class="on" stroke="{PATH}" stroke-width="3"'
        else:
            mark = f'stroke="{EDGE}" stroke-width="1"'
        if strict:
            shown = f'fill-opacity="{share:.3f}"'
        else:
            shown = f'style="--share: {share:.3f}"'
        place = f'x="{x - 23}" y="{y - 23}" width="46" height="46" rx="7"'
        squares.append(f'<rect {place} fill="{paper}" {mark} {shown}/>')
        face = faces[cell % h][cell // h]
        letters.append(
            f'<text x="{x}" y="{y + 1}" fill="{INK}" font-family="system-ui, sans-serif" '
            f'font-weight="600" font-size="{66 // max(3, len(face))}" '
            'text-anchor="middle" dominant-baseline="central">'
            f"{escape(face)}</text>"
        )
    line = ""
    if path:
        line = _path([centres[cell] for cell in path])
    label = escape("Board " + " / ".join(map(" ".join, faces)), quote=True)
    size = ""
    if cell_px:
        size = f' width="{cell_px * w}" height="{cell_px * h}"'
    style = ""
    if styled:
        style = f"<style>{STYLE.read_text(encoding='utf-8')}</style>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" viewBox="0 0 {SIZE * w} '
        f'{SIZE * h}"{size} role="img" aria-label="{label}">{style}{"".join(squares)}<g '
        f'class="path">{line}</g>{"".join(letters)}</svg>'
    )


def _path(spots: Sequence[tuple[int, int]]) -> str:
    """Return the line through the middles of cells; a circle marks where it begins."""
    x, y = spots[0]
    points = " ".join(f"{x},{y}" for x, y in spots)
    return (
        f'<polyline points="{points}" fill="none" stroke="{PATH}" stroke-opacity=".75" '
        f'stroke-width="6" stroke-linecap="round" stroke-linejoin="round"/>'
        f'<circle cx="{x}" cy="{y}" r="10" fill="{PATH}" fill-opacity=".75"/>'
    )
