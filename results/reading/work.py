"""Where the time of a run went, and what its bounds ruled out: from the rows, as charts and tables.

``charts`` is :mod:`results.reading.charts`, whose packages may be missing where only tables are wanted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from boardclass.board import LETTERS
from boardclass.partition import parse_partition
from boardclass.printable import printable
from results.reading.query import Summary
from results.reading.sql import Database

_BINS = 24
_MAX_NAME = 60  # of a stage: the drawing is as wide as its names
COSTS = "SELECT class_id, sum(seconds) AS seconds, sum(len(candidates)) AS found FROM classes GROUP BY class_id"
_DEPTHS = """
    SELECT depth, status, count(*) AS units, sum(seconds) AS seconds
    FROM classes GROUP BY depth, status ORDER BY depth, status
"""
_BOUNDS = "SELECT max_bound FROM classes WHERE status IN ('eliminated', 'candidates', 'split') AND max_bound > 0"


class Chart(NamedTuple):
    """A drawing with its title and one sentence; ``svg`` is empty when there is nothing to compare."""

    title: str
    text: str
    svg: str


def records(database: Database, sql: str) -> list[dict[str, Any]]:
    """Return the rows of an answer by name of column."""
    answer = database.query(sql)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def dear_classes(found: Summary, database: Database, n: int) -> list[dict[str, Any]]:
    """Return the classes of a run that took longest: ``class_id``, ``letters``, ``seconds``, ``found`` candidates."""
    partition = parse_partition(found.fingerprint.partition, found.fingerprint.dims)
    rows = records(database, f"{COSTS} ORDER BY seconds DESC, class_id LIMIT {n:d}")
    for row in rows:
        is_known = row["class_id"] < partition.n_classes
        letters = " ".join(partition.class_letters(row["class_id"])) if is_known else ""
        row["letters"] = letters.replace(LETTERS, "a-z")
        row |= {"seconds": row["seconds"] or 0.0, "found": row["found"] or 0}
    return rows


def time_charts(charts: Any, found: Summary, database: Database, stages: Mapping[str, float]) -> list[Chart]:
    """Return the charts of where the time went; ``stages`` are the seconds of each stage."""
    so_far = "." if found.proven else ", so far."
    costs = [row["seconds"] for row in records(database, COSTS)]
    named = [{"stage": printable(name)[:_MAX_NAME], "seconds": seconds} for name, seconds in stages.items()]
    log, depth = "Wall time of the driver, all sessions together", "Seconds of computing by the number of cells forced"
    return _drawn(
        _chart("Time by stage", log + so_far, charts.named_bars, named, "stage", "seconds", "seconds"),
        _chart(
            "Cost of a class",
            f"Seconds of computing per board class, subclasses included{so_far}",
            *(charts.bars, histogram(costs) if any(costs) else [], "x", "n", "seconds", "classes"),
        ),
        _chart(
            "Time by depth",
            depth + so_far,
            *(charts.stacked_by_status, records(database, _DEPTHS), "depth", "seconds", "forced cells", "seconds"),
        ),
    )


def search_charts(charts: Any, found: Summary, database: Database) -> list[Chart]:
    """Return the charts of what the bounds ruled out."""
    bounds = [row["max_bound"] for row in records(database, _BOUNDS)]
    cutoff = found.fingerprint.cutoff
    return _drawn(
        _chart(
            "Bounds",
            "The largest bound at which a part of a unit was discarded; the line is the cutoff.",
            *(charts.bars, histogram(bounds) if bounds else [], "x", "n", "largest bound", "units", cutoff),
        ),
        _chart(
            "Elimination by depth",
            "Units by the number of cells forced beyond the class.",
            *(charts.stacked_by_status, records(database, _DEPTHS), "depth", "units", "forced cells", "units"),
        ),
    )


def _chart(title: str, text: str, draw: Callable[..., str], *data: object) -> Chart:
    return Chart(title, text, draw(title, *data))


def _drawn(*made: Chart) -> list[Chart]:
    return [chart for chart in made if chart.svg]


def histogram(values: Sequence[float]) -> list[dict[str, float]]:
    """Return bars ``x`` to ``x_end`` of equal width, ``n`` high, over round numbers that hold all values."""
    low, high = min(values), max(values)
    step = 10.0 ** math.floor(math.log10((high - low) / _BINS)) if high > low else 1.0
    step *= next(factor for factor in (1, 2, 5, 10) if step * factor * _BINS >= high - low or factor == 10)
    if all(isinstance(value, int) for value in values):
        step = max(step, 1)
    first = math.floor(low / step)
    counts = [0] * (math.floor(high / step) - first + 1)
    for value in values:
        counts[math.floor(value / step) - first] += 1
    return [{"x": (first + i) * step, "x_end": (first + i + 1) * step, "n": n} for i, n in enumerate(counts)]
