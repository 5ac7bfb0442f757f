"""Rows of several runs side by side, each with the file and the place where it stands: what is new, what disagrees.

Tables have the columns of a run and two more: ``file``, a position in a list of names, and ``row``, its place there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from results.errors import ConflictError
from results.store.run import Run, describe_conflict
from results.store.schema import ELIMINATED, SCHEMA, SPLIT, VERDICTS, Row, from_table

_PLACED = pa.schema(
    [*SCHEMA, pa.field("file", pa.int64(), nullable=False), pa.field("row", pa.int64(), nullable=False)]
)
_KEY = ["class_id", "path"]
_MAX_TOLD = 3


def read_placed(run: Run, names: list[str]) -> pa.Table:
    """Return all rows of a run, checked, with their places; the names of its files are added to ``names``."""
    tables = [_PLACED.empty_table()]
    for part, table in zip(run.manifest.parts, run.tables(), strict=True):
        names.append(run.folder.where(part.name))
        file = pa.array(np.full(table.num_rows, len(names) - 1, np.int64))
        row = pa.array(np.arange(table.num_rows, dtype=np.int64))
        tables.append(table.append_column("file", file).append_column("row", row).cast(_PLACED))
    return pa.concat_tables(tables)


def no_rows() -> pa.Table:
    """Return a table without rows."""
    return _PLACED.empty_table()


def apart(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the rows that are verdicts, and the others."""
    is_verdict = pc.is_in(table.column("status"), pa.array(VERDICTS))
    return table.filter(is_verdict), table.filter(pc.invert(is_verdict))


def once(verdicts: pa.Table) -> pa.Table:
    """Return the first row of each unit; the rows of a unit agree."""
    numbered = verdicts.select(_KEY).append_column("place", pa.array(np.arange(verdicts.num_rows, dtype=np.int64)))
    first = numbered.group_by(_KEY, use_threads=False).aggregate([("place", "min")]).column("place_min")
    return verdicts.take(np.sort(first.to_numpy()))


def lacking(known: pa.Table, offered: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the offered verdicts on units that have none among the known ones.

    Raises
    ------
    ConflictError
        When a unit has another verdict there.
    """
    mine, theirs = _met(known, offered)
    _check_agreement(known.take(mine), offered.take(theirs), names)
    lacks = np.ones(offered.num_rows, np.bool_)
    lacks[theirs] = False
    return offered.filter(pa.array(lacks))


def _met(known: pa.Table, offered: pa.Table) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the places, in either table, of the rows about the same unit."""
    sides = (
        table.select(_KEY).append_column(name, pa.array(np.arange(table.num_rows, dtype=np.int64)))
        for table, name in ((known, "known"), (offered, "offered"))
    )
    both = next(sides).join(next(sides), _KEY, join_type="inner", use_threads=False).sort_by("offered")
    return both.column("known").to_numpy(), both.column("offered").to_numpy()


def _check_agreement(known: pa.Table, offered: pa.Table, names: Sequence[str]) -> None:
    """Compare verdicts on the same units, row by row."""
    plain = [pc.equal(table.column("status"), ELIMINATED) for table in (known, offered)]
    same_size = pc.equal(known.column("n_boards"), offered.column("n_boards"))
    doubtful = pc.invert(pc.and_(pc.and_(*plain), same_size))  # the other rows cannot differ in anything else
    pairs = zip(*(_placed(table.filter(doubtful), names) for table in (known, offered)), strict=True)
    conflicts = [pair for pair in pairs if pair[0][1].verdict != pair[1][1].verdict]
    if conflicts:
        told = [describe_conflict(list(pair), _remedy(pair)) for pair in conflicts[:_MAX_TOLD]]
        more = f"\n... and {len(conflicts) - _MAX_TOLD} more units" if len(conflicts) > _MAX_TOLD else ""
        raise ConflictError("\n".join(told) + more)


def _remedy(pair: Sequence[tuple[str, Row]]) -> str:
    told = "Nothing was merged. Find out which is wrong; `orderly repeat` searches a class again."
    if any(row.status == SPLIT for _, row in pair):
        told += " Where one is split, another budget ([search] of the config) is enough to explain it."
    return told


def _placed(table: pa.Table, names: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Yield each row with the name of its place."""
    places = zip(table.column("file").to_pylist(), table.column("row").to_pylist(), strict=True)
    for (file, number), row in zip(places, from_table(table.select(SCHEMA.names)), strict=True):
        yield f"{names[file]} row {number}", row


def unlike(known: pa.Table, offered: pa.Table) -> pa.Table:
    """Return the offered rows that are not among the known ones, each once; few rows are not verdicts."""
    seen = {_text(row) for row in known.select(SCHEMA.names).to_pylist()}
    keep = []
    for row in offered.select(SCHEMA.names).to_pylist():
        text = _text(row)
        keep.append(text not in seen)
        seen.add(text)
    return offered.filter(pa.array(keep, pa.bool_()))


def _text(row: dict[str, Any]) -> str:
    return json.dumps(row, sort_keys=True)
