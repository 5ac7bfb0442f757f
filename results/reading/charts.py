"""The charts of the report: plain rows in, SVG text out; Altair draws, vl-convert renders, nothing
is fetched.

Text takes the colour of the page around it (``currentColor``), so one drawing serves light, dark
and print. A chart with one bar compares nothing: it is left out, and the text returned is empty.

>>> bars("Bounds", [{"x": 1, "x_end": 2, "n": 5}], "bound", "units")
''
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import count
from typing import Any

import altair as alt

Rows = Sequence[Mapping[str, Any]]

ACCENT, SECOND, WARN = "#4c78a8", "#f2a541", "#d1495b"
_STATUS_COLOURS = {
    "eliminated": ACCENT,
    "candidates": WARN,
    "split": SECOND,
    "error": "#888",
    "quarantined": "#555",
}
_WIDTH, _HEIGHT = 440, 220
_EDGES = 6
_numbers = count(1)


def bars(name: str, rows: Rows, x_title: str, y_title: str, rule: int | None = None) -> str:
    """Return a histogram: one bar a row from ``x`` to ``x_end``, ``n`` high; ``rule`` draws a line
    at that value.
    """
    edges = sorted({float(row["x"]) for row in rows} | {float(row["x_end"]) for row in rows})
    # otherwise ticks at fractions
    is_short = len(edges) <= _EDGES and all(edge.is_integer() for edge in edges)
    axis = alt.Axis(values=edges, format="d") if is_short else alt.Axis()
    x = alt.X("x:Q", title=x_title, bin="binned", axis=axis)
    y = alt.Y("n:Q", title=y_title, axis=alt.Axis(tickMinStep=1))
    chart = _data(rows).mark_bar(color=ACCENT).encode(x=x, x2="x_end:Q", y=y)
    if rule is not None:
        chart += _data([{"at": rule}]).mark_rule(color=WARN, strokeWidth=2).encode(x="at:Q")
    return _svg(name, chart) if _n_bars(rows, "x", "n") > 1 else ""


def stages(name: str, rows: Rows) -> str:
    """Return a bar of ``seconds`` for each ``stage``, in the order given."""
    x = alt.X("stage:N", title=None, sort=None, axis=alt.Axis(labelAngle=0))
    chart = _data(rows).mark_bar(color=ACCENT).encode(x=x, y=alt.Y("seconds:Q", title="seconds"))
    return _svg(name, chart) if _n_bars(rows, "stage", "seconds") > 1 else ""


def by_depth(name: str, rows: Rows, y: str) -> str:
    """Return a column for each ``depth``, as high as the rows' ``y``, cut by their ``status``."""
    names = list(_STATUS_COLOURS)
    shown = sorted({row["status"] for row in rows}, key=names.index)
    scale = alt.Scale(domain=names, range=list(_STATUS_COLOURS.values()))
    color = alt.Color(
        "status:N", title=None, scale=scale, legend=alt.Legend(orient="top", values=shown)
    )
    x = alt.X("depth:O", title="forced cells", axis=alt.Axis(labelAngle=0))
    chart = _data(rows).mark_bar().encode(x=x, y=alt.Y(f"{y}:Q", title=y), color=color)
    return _svg(name, chart) if _n_bars(rows, "depth", y) > 1 else ""


def letter_map(name: str, rows: Rows) -> str:
    """Return the score (colour) of a board with each ``cell`` replaced by each ``letter``."""
    x = alt.X("letter:O", title=None, axis=alt.Axis(labelAngle=0, orient="top"))
    color = alt.Color("score:Q", title="score", scale=alt.Scale(scheme="viridis"))
    chart = (
        _data(rows).mark_rect().encode(x=x, y=alt.Y("cell:O", title=None, sort=None), color=color)
    )
    return _svg(name, chart, height=20 * len({row["cell"] for row in rows}), width=520)


def _data(rows: Rows) -> Any:
    return alt.Chart(alt.Data(values=list(rows)))


def _n_bars(rows: Rows, x: str, y: str) -> int:
    return len({row[x] for row in rows if row[y]})


def _svg(name: str, chart: Any, height: int = _HEIGHT, width: int = _WIDTH) -> str:
    """Return a chart as SVG for a page, with a name to be read aloud; ids get a number, for several
    on a page.
    """
    text = {"labelColor": "currentColor", "titleColor": "currentColor"}
    chart = chart.properties(height=height, width=width, background="transparent").configure_view(
        stroke=None
    )
    chart = chart.configure_axis(
        **text, domainColor="currentColor", tickColor="currentColor", gridOpacity=0.25
    )
    chart = chart.configure_legend(**text)
    out = io.StringIO()
    chart.save(out, format="svg")
    svg = out.getvalue()
    number = next(_numbers)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="c{number}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#c{number}-\1)", svg)
    named = rf'<svg \1 role="img" aria-label="{escape(name)}"'
    return re.sub(r'<svg ([^>]*?)\s*width="[^"]*"\s*height="[^"]*"', named, svg, count=1)
