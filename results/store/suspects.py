"""Units whose verdict rests on a host that was contradicted: to be searched again, here or elsewhere.

A replica that differs leaves a quarantined row that names the host not to be believed.  Verdicts of that host
from before that row do not count until the unit has been searched again, by another host or later by the same one: a
single machine can do no more.  The store keeps the row of such a second verdict, even if it repeats the first.  So what
is in doubt follows from the rows alone, whatever a claim says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from results.store.index import Key
from results.store.run import Run
from results.store.schema import QUARANTINED, VERDICTS


class _Found(NamedTuple):
    """A row: where it stands among all rows of the run, what it is about, who stored it."""

    place: int
    key: Key
    is_verdict: bool
    host: str


def suspects(run: Run) -> list[Key]:
    """Return the units that have verdicts, all of them in doubt, sorted."""
    hosts = run.index.doubted_hosts
    if not hosts:
        return []
    theirs = list(_rows(run, pc.field("host").isin(sorted(hosts))))
    doubted_at = {row.host: row.place for row in theirs if not row.is_verdict}  # the last time

    def is_doubtful(row: _Found) -> bool:
        return row.place < doubted_at.get(row.host, -1)

    doubtful = {row.key for row in theirs if row.is_verdict and is_doubtful(row)}
    again = doubtful & run.index.repeated.keys()
    if again:
        candidates = _rows(run, pc.field("class_id").isin(sorted({class_id for class_id, _ in again})))
        doubtful -= {row.key for row in candidates if row.is_verdict and row.key in again and not is_doubtful(row)}
    return sorted(doubtful)


def _rows(run: Run, condition: pc.Expression) -> Iterator[_Found]:
    """Yield the rows that meet a condition and are verdicts or name a host that is doubted."""
    first = 0
    for table in run.columns(("class_id", "path", "status", "host")):
        place = pa.array(np.arange(first, first + len(table)))
        first += len(table)
        is_verdict = pc.is_in(table.column("status"), pa.array(VERDICTS))
        told = table.append_column("place", place).append_column("is_verdict", is_verdict)
        kept = told.filter(condition & (pc.field("is_verdict") | (pc.field("status") == QUARANTINED)))
        for row in kept.select(["place", "class_id", "path", "is_verdict", "host"]).to_pylist():
            yield _Found(row["place"], (row["class_id"], row["path"]), row["is_verdict"], row["host"])
