"""The row of a unit: its columns in a table, and :class:`Row`, the same thing for Python.  rules.py checks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from boardclass import parts
from boardclass.errors import PathError
from results.errors import RowError
from results.store.fingerprint import Fingerprint

ELIMINATED, CANDIDATES, SPLIT = "eliminated", "candidates", "split"
ERROR, QUARANTINED = "error", "quarantined"
VERDICTS = (ELIMINATED, CANDIDATES, SPLIT)
STATUSES = (*VERDICTS, ERROR, QUARANTINED)
COUNTERS = ("n_terms", "n_nodes", "n_pushes", "n_splits", "n_survivors", "max_tree_bytes")

_CANDIDATE = pa.struct([pa.field("board", pa.string(), nullable=False), pa.field("score", pa.int32(), nullable=False)])
SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in (
            ("fingerprint", pa.string()),
            ("class_id", pa.int64()),
            ("path", pa.string()),  # "" or such as "5=ab/6=t": the parts forced since the class root
            ("status", pa.string()),
            ("n_boards", pa.string()),  # decimal digits: 26^16 overflows int64
            ("max_bound", pa.int64()),
            ("candidates", pa.list_(pa.field("element", _CANDIDATE, nullable=False))),
            ("children", pa.list_(pa.field("element", pa.string(), nullable=False))),  # paths, status split only
            ("settled", pa.list_(pa.field("element", pa.string(), nullable=False))),  # paths that the unit decided
            *((name, pa.int64()) for name in COUNTERS),
            ("seconds", pa.float64()),
            ("peak_rss_bytes", pa.int64()),
            ("host", pa.string()),
            ("cpu", pa.string()),
            ("attempt", pa.int32()),
            ("kernel_hash", pa.string()),
            ("message", pa.string()),  # why a unit has no verdict
        )
    ]
)
_STRUCT = pa.struct(list(SCHEMA))
VERDICT_COLUMNS = ("class_id", "path", "status", "n_boards", "candidates", "children", "settled")

Verdict = tuple[str, int, tuple[tuple[str, int], ...], tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Row:
    """The result of one unit.

    The *verdict* (status, n_boards, candidates, children, settled) is the same whoever finds it; the rest is
    circumstance.
    """

    fingerprint: str
    class_id: int
    path: str
    status: str
    n_boards: int
    max_bound: int = 0
    candidates: tuple[tuple[str, int], ...] = ()
    children: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    counters: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    seconds: float = 0.0
    peak_rss_bytes: int = 0
    host: str = ""
    cpu: str = ""
    attempt: int = 1
    kernel_hash: str = ""
    message: str = ""
    is_checked: bool = field(default=False, compare=False, repr=False)  # by rules.check_rows, for its fingerprint

    @property
    def key(self) -> tuple[int, str]:
        """Class id and path: what the row is about."""
        return self.class_id, self.path

    @property
    def is_verdict(self) -> bool:
        """Whether the row settles the unit or splits it; error and quarantined rows only tell that it was tried."""
        return self.status in VERDICTS

    @property
    def verdict(self) -> Verdict:
        """The part of the row that every correct machine must agree on, except for the order of the lists."""
        lists = tuple(sorted(self.children)), tuple(sorted(self.settled))
        return self.status, self.n_boards, tuple(sorted(self.candidates)), *lists

    @classmethod
    def of_result(cls, result: Any, fingerprint: Fingerprint, **circumstances: Any) -> Row:
        """Return the row of a ``search.breaker.UnitResult``; ``circumstances`` are host, cpu, attempt and the like."""
        return cls(
            fingerprint=fingerprint.digest,
            class_id=result.unit.class_id,
            path=result.unit.path,
            status=result.status,
            n_boards=result.n_boards,
            max_bound=result.max_bound,
            candidates=tuple((board, int(score)) for board, score in result.candidates),
            children=tuple(child.path for child in result.children),
            settled=tuple(result.settled),
            counters=dict(result.counters),
            seconds=result.seconds,
            **circumstances,
        )


def to_table(rows: Iterable[Row]) -> pa.Table:
    """Return rows as a table of :data:`SCHEMA`; not yet checked against a run.

    Raises
    ------
    RowError
        When a value does not fit its column, or a counter is unknown.
    """
    values = [_to_values(row) for row in rows]
    try:
        array = pa.array(values, _STRUCT)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise RowError(f"a row does not fit the schema: {error}") from error
    return pa.Table.from_arrays(array.flatten(), schema=SCHEMA)


def _to_values(row: Row) -> dict[str, Any]:
    unknown = set(row.counters) - set(COUNTERS)
    if unknown:
        raise RowError(f"class {row.class_id}: unknown counter {min(unknown)!r}; known are {', '.join(COUNTERS)}")
    values: dict[str, Any] = {**vars(row), **{name: row.counters.get(name, 0) for name in COUNTERS}}
    values["n_boards"] = str(row.n_boards)
    values["candidates"] = [{"board": board, "score": score} for board, score in row.candidates]
    return values


def from_table(table: pa.Table) -> list[Row]:
    """Return the rows of a checked table of :data:`SCHEMA`, in order."""
    rows = []
    for values in table.to_pylist():
        counters = {name: values.pop(name) for name in COUNTERS}
        values["n_boards"] = int(values["n_boards"])
        values["candidates"] = tuple((found["board"], found["score"]) for found in values["candidates"])
        values["children"], values["settled"] = tuple(values["children"]), tuple(values["settled"])
        rows.append(Row(**values, counters=MappingProxyType(counters)))
    return rows


def parse_path(path: str, n_cells: int) -> tuple[parts.Part, ...]:
    """Return ``(cell, letters)`` for each forced part of a unit's path.

    Raises
    ------
    RowError
        When it is not a path of this board (see :func:`boardclass.parts.parse_path`).
    """
    try:
        return parts.parse_path(path, n_cells)
    except PathError as error:
        raise RowError(str(error)) from error


@lru_cache(typed=True)  # typed: True is not 1 here
def scalar(value: str | int | bool) -> pa.Scalar:
    """Return an Arrow scalar; with a plain Python value pyarrow looks for pandas in every call."""
    return pa.scalar(value)
