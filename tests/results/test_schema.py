"""Rows are checked as if hostile, by one set of rules for writing and reading."""

from __future__ import annotations

import math
from dataclasses import replace

import pyarrow as pa
import pytest

from results.errors import RowError
from results.store.parts import parse_parquet, serialise
from results.store.rows import COUNTERS, SCHEMA, check_table, from_table, to_table
from tests.results.helpers import all_rows, fingerprint, row, split_rows

FOUND = {"status": "candidates", "candidates": (("wxyz", 94),)}
HOSTILE = [
    ("belongs to another run", {"fingerprint": "0" * 64}),
    ("class_id is negative", {"class_id": -1}),
    ("status is unknown", {"status": "proved"}),
    ("n_boards is not a number", {"n_boards": -3}),
    ("n_boards is more than there are", {"n_boards": 26**4 + 1}),
    ("n_boards is more than there are", {"n_boards": 10**40 - 1}),
    ("a verdict needs boards", {"n_boards": 0}),
    ("attempt < 1", {"attempt": 0}),
    ("seconds is negative", {"seconds": -1.0}),
    ("seconds is not a number", {"seconds": math.nan}),
    ("seconds is more than any unit takes", {"seconds": 1e308}),
    ("host is longer", {"host": "h" * 5000}),
    ("host is missing", {"host": None}),
    ("n_nodes is negative", {"counters": {"n_nodes": -1}}),
    ("unknown counter 'n_node'", {"counters": {"n_node": 1}}),
    ("max_bound is negative", {"max_bound": -1}),
    ("peak_rss_bytes is negative", {"peak_rss_bytes": -1}),
    ("by bounds below the cutoff", {"max_bound": 80}),
    ("path is not of the form", {"path": "0=ab//1=c"}),
    ("needs candidates", {"status": "candidates"}),
    ("do not go together", {"status": "error", "candidates": (("wxyz", 94),)}),
    ("do not go together", {"candidates": (("wxyz", 94),)}),
    ("goes with children", {"status": "split"}),
    ("goes with children", {"children": ("0=a",)}),
    ("is not a board of 4 letters", {**FOUND, "candidates": (("wxy", 94),)}),
    ("is not a board of 4 letters", {**FOUND, "candidates": (("wxyZ", 94),)}),
    ("is missing in its list", {**FOUND, "candidates": ((None, 94),)}),
    ("below cutoff 80", {**FOUND, "candidates": (("wxyz", 79),)}),
    ("is listed twice", {**FOUND, "candidates": (("wxyz", 94), ("wxyz", 94))}),
    ("is listed twice", {"status": "split", "children": ("0=a", "0=a")}),
    ("is listed twice", {"status": "split", "children": ("0=a",), "settled": ("0=a",)}),
    ("only a split unit has settled parts", {"settled": ("0=a",)}),
    ("does not extend the path", {"path": "0=a", "status": "split", "children": ("0=a/1=b",), "settled": ("1=a",)}),
    ("does not extend the path", {"path": "0=a", "status": "split", "children": ("1=a",)}),
    ("does not extend the path", {"path": "0=a", "status": "split", "children": ("0=a/",)}),
    ("is not of the form 5=ab", {"status": "split", "children": ("1=a ",)}),
    ("needs a cell below 4", {"status": "split", "children": ("4=a",)}),
    ("distinct letters", {"status": "split", "children": ("1=bb",)}),
    ("does not fit the schema", {"class_id": 2**63}),
    ("does not fit the schema", {"class_id": "seven"}),
]


@pytest.mark.parametrize(("message", "changes"), HOSTILE)
def test_hostile_rows_are_refused(message, changes):
    with pytest.raises(RowError, match=message):
        check_table(to_table([row(1), row(**changes)]), fingerprint(), "part 7")


def test_foreign_columns_are_refused():
    with pytest.raises(RowError, match="columns"):
        check_table(pa.table({"class_id": [1]}), fingerprint(), "here")


def test_round_trip_through_parquet():
    rows = [*all_rows(), *split_rows(0), row(5, status="error", n_boards=0, message="worker died")]
    rows.append(row(max_bound=95, counters={"n_survivors": 1}))  # a survivor that scores less had a bound at the cutoff
    rows.append(row(6, status="split", children=("0=a",), candidates=(("wxyz", 94),), max_bound=79))
    check_table(to_table(rows), fingerprint(), "here")
    every = dict.fromkeys(COUNTERS, 7)
    rows.append(row(6, n_boards=26**16, counters=every, seconds=1.5, host="h", attempt=2))
    back = from_table(parse_parquet(serialise(to_table(rows)), "here", SCHEMA))
    assert [replace(r, counters={}) for r in back] == [replace(r, counters={}) for r in rows]
    assert dict(back[-1].counters) == every


def test_verdict_ignores_circumstances_and_order():
    one = row(candidates=(("wxyz", 94), ("wxyy", 80)), status="candidates", host="a", seconds=1.0, attempt=1)
    two = replace(one, candidates=one.candidates[::-1], host="b", seconds=2.0, attempt=3, peak_rss_bytes=9, cpu="c")
    assert one.verdict == two.verdict
    for change in ({"n_boards": 2}, {"status": "eliminated"}, {"candidates": (("wxyz", 94),)}, {"children": ("0=a",)}):
        assert replace(one, **change).verdict != one.verdict
