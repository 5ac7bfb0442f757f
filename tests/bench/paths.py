"""The tables and the plot of docs/paths.md: numbers of simple paths, and how fast they grow.

    python -m tests.bench.paths [--largest 7]

Prints the tables, and draws docs/images/paths.svg.  8x8 takes 1.2 GB and some minutes.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import altair as alt
import vl_convert

from orderly_boggle.boardclass.king_paths import n_paths

PICTURE = Path(__file__).resolve().parents[2] / "docs/images/paths.svg"
LONGEST = {2: 40, 3: 40, 4: 30, 5: 24, 6: 20, 7: 14}  # columns of a strip of so many rows


def growth(number: int, cells: int, ends: int) -> float:
    """Return the base that gives a number of paths: (number / ends) ** (1 / cells)."""
    return math.exp((math.log(number) - math.log(ends)) / cells)


def squares(largest: int) -> list[tuple[str, int, float, float]]:
    """Return for each square (size, paths, base a cell, paths over n^2 e^(n^2))."""
    rows = []
    for n in range(2, largest + 1):
        number = n_paths(n, n)
        base = growth(number, n * n, n * n)
        rows.append((f"{n}x{n}", number, base, (base / math.e) ** (n * n)))
    return rows


def strips(tallest: int) -> list[tuple[int, int, float]]:
    """Return for each height (height, longest width, base a cell).

    The base is taken from the last two widths, without the factor that stands for the two ends of
    a path, which may lie in any two columns.
    """
    rows = []
    for height in range(2, tallest + 1):
        width = LONGEST[height]
        longer, shorter = n_paths(width, height), n_paths(width - 1, height)
        base = growth(longer, height, 1) / growth(shorter, height, 1)
        rows.append((height, width, base * ((width - 1) / width) ** (2 / height)))
    return rows


def draw(of_squares: list[tuple[str, int, float, float]], of_strips: list) -> None:
    """Draw the bases of squares and strips beside e."""
    values = [
        {"rows": int(size.split("x")[0]), "base": base, "board": "squares n x n"}
        for size, _, base, _ in of_squares
    ]
    values += [
        {"rows": height, "base": base, "board": "long strips of n rows"}
        for height, _, base in of_strips
    ]
    points = (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("rows:Q", title="rows n", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("base:Q", title="base of the growth, a cell", scale=alt.Scale(zero=False)),
            color=alt.Color("board:N", title=None),
        )
    )
    e_line = alt.Chart(alt.Data(values=[{"e": math.e}])).mark_rule(strokeDash=[4, 4])
    chart = (points + e_line.encode(y="e:Q")).properties(width=420, height=240)
    PICTURE.write_text(vl_convert.vegalite_to_svg(chart.to_json()))


def main() -> None:
    """Print the tables and draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=7, help="largest square")
    arguments = parser.parse_args()
    of_squares = squares(arguments.largest)
    for size, number, base, share in of_squares:
        sys.stdout.write(f"| {size} | {number:,} | {base:.4f} | {share:.4f} |\n")
    of_strips = strips(min(arguments.largest, max(LONGEST)))
    for height, width, base in of_strips:
        sys.stdout.write(f"| {height} | {width} | {base:.4f} |\n")
    draw(of_squares, of_strips)


if __name__ == "__main__":
    main()
