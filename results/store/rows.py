"""The row of a unit: its columns in a table, :class:`Row`, the same thing for Python, and the rules
that it must obey.

The rules are the same when a row is written and when it is read, because a disk, a machine or a
person may have altered what is stored.

>>> row = Row("", 5, "0=ab", ELIMINATED, n_boards=100)
>>> row.key, row.is_verdict
((5, '0=ab'), True)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orderly_boggle.boardclass import parts
from orderly_boggle.boardclass.errors import PathError, quote
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.results.errors import RowError
from orderly_boggle.search.question import Question

ELIMINATED = "eliminated"
CANDIDATES = "candidates"
SPLIT = "split"
# not verdicts: they say that a unit was tried, and leave it open
ERROR = "error"
QUARANTINED = "quarantined"
VERDICTS = (ELIMINATED, CANDIDATES, SPLIT)
STATUSES = (*VERDICTS, ERROR, QUARANTINED)
COUNTERS = ("n_terms", "n_nodes", "n_pushes", "n_splits", "n_survivors", "max_tree_bytes")

_BOARD = pa.field("board", pa.string(), nullable=False)
_SCORE = pa.field("score", pa.int32(), nullable=False)
_CANDIDATE = pa.struct([_BOARD, _SCORE])
_PATHS = pa.list_(pa.field("element", pa.string(), nullable=False))
_COLUMNS = {
    "fingerprint": pa.string(),
    "class_id": pa.int64(),
    "path": pa.string(),  # "" or such as "5=ab/6=t": the parts forced since the class root
    "status": pa.string(),
    "n_boards": pa.string(),  # decimal digits: 26^16 overflows int64
    "max_bound": pa.int64(),
    "candidates": pa.list_(pa.field("element", _CANDIDATE, nullable=False)),
    "children": _PATHS,  # status split only
    "settled": _PATHS,  # that the unit decided itself
    **dict.fromkeys(COUNTERS, pa.int64()),
    "seconds": pa.float64(),
    "peak_rss_bytes": pa.int64(),
    "host": pa.string(),
    "cpu": pa.string(),
    "attempt": pa.int32(),
    "kernel_hash": pa.string(),
    "message": pa.string(),  # why a unit has no verdict
}
# nothing may be missing: an empty value would pass comparisons that a wrong one fails
SCHEMA = pa.schema([pa.field(*column, nullable=False) for column in _COLUMNS.items()])
_VERDICTS = pa.array(VERDICTS)
_STATUSES = pa.array(STATUSES)
_STRUCT = pa.struct(list(SCHEMA))
VERDICT_COLUMNS = ("class_id", "path", "status", "n_boards", "candidates", "children", "settled")

Key = tuple[int, str]  # class id and path
Verdict = tuple[str, int, tuple[tuple[str, int], ...], tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Row:
    """The result of one unit.

    The *verdict* (status, n_boards, candidates, children, settled) is the same whoever finds it;
    the rest is circumstance.
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
    # a row is shared between index, store and log: nobody may count on in it
    counters: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    seconds: float = 0.0
    peak_rss_bytes: int = 0
    host: str = ""
    cpu: str = ""
    attempt: int = 1
    kernel_hash: str = ""
    message: str = ""

    @property
    def key(self) -> Key:
        """Class id and path: what the row is about."""
        return self.class_id, self.path

    @property
    def is_verdict(self) -> bool:
        """Whether the row settles the unit or splits it; error and quarantined rows only tell that
        it was tried.
        """
        return self.status in VERDICTS

    @property
    def verdict(self) -> Verdict:
        """The part of the row that every correct machine must agree on, except for the order of the
        lists.
        """
        lists = tuple(sorted(self.children)), tuple(sorted(self.settled))
        return self.status, self.n_boards, tuple(sorted(self.candidates)), *lists

    @classmethod
    def of_result(cls, result: Any, question: Question, **circumstances: Any) -> Row:
        """Return the row of a ``search.breaker.UnitResult``; ``circumstances`` are host, cpu,
        attempt and the like.
        """
        return cls(
            fingerprint=question.digest,
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

    Raises RowError when a value does not fit its column, or a counter is unknown.
    """
    values = [_to_values(row) for row in rows]
    try:
        array = pa.array(values, _STRUCT)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise RowError(f"a row does not fit the schema: {error}") from error
    return pa.Table.from_arrays(array.flatten(), schema=SCHEMA)


def _to_values(row: Row) -> dict[str, Any]:
    # a worker of another version: a counter that is lost would look like work that was not done
    unknown = set(row.counters) - set(COUNTERS)
    if unknown:
        raise RowError(
            f"class {row.class_id}: unknown counter {min(unknown)!r}; known are "
            f"{', '.join(COUNTERS)}"
        )
    values: dict[str, Any] = {**vars(row), **{name: row.counters.get(name, 0) for name in COUNTERS}}
    values["n_boards"] = str(row.n_boards)
    return values


def from_table(table: pa.Table) -> list[Row]:
    """Return the rows of a checked table of :data:`SCHEMA`, in order."""
    rows = []
    for values in table.to_pylist():
        counters = {name: values.pop(name) for name in COUNTERS}
        values["n_boards"] = int(values["n_boards"])
        boards = [(item["board"], item["score"]) for item in values["candidates"]]
        values["candidates"] = tuple(boards)
        values["children"] = tuple(values["children"])
        values["settled"] = tuple(values["settled"])
        rows.append(Row(**values, counters=MappingProxyType(counters)))
    return rows


def keys_of(table: pa.Table) -> list[Key]:
    """Return class id and path of each row."""
    class_ids = table.column("class_id").to_pylist()
    paths = table.column("path").to_pylist()
    return list(zip(class_ids, paths, strict=True))


def verdicts_of(table: pa.Table) -> pa.Table:
    """Return the rows of a table that settle or split their unit."""
    return table.filter(pc.is_in(table.column("status"), _VERDICTS))


@lru_cache(typed=True)  # typed: True is not 1 here
def scalar(value: str | int | bool) -> pa.Scalar:
    """Return an Arrow scalar; with a plain Python value pyarrow looks for pandas in every call."""
    return pa.scalar(value)


_MAX_TEXT = 4000
_MAX_SECONDS = 1e9  # thirty years


def check_table(table: pa.Table, question: Question, where: str) -> None:
    """Check every row of a table with :data:`SCHEMA` against the schema, itself and the run.

    Raises RowError, naming ``where``, the first offending row and the rule it breaks.
    """
    # names, types and order: Arrow would otherwise read a column under the name of another
    if not table.schema.equals(SCHEMA):
        raise RowError(
            f"{where}: the columns are not those of a result: "
            f"{table.schema.to_string(show_field_metadata=False)!r}"
        )
    n_before = 0
    for rows in table.combine_chunks().to_batches():  # one, unless its texts are more than 2 GiB
        for rule, bad in chain(_rules(rows, question), _rules_of_status(rows, question)):
            if bad.true_count:
                index = pc.index(bad, scalar(True)).as_py()
                faulty = rows.slice(index, 1).select(["class_id", "path", "status"])
                (values,) = faulty.to_pylist()
                raise RowError(f"{where}: row {n_before + index} {values!r}: {rule}")
        _check_lists(rows, question, where)
        n_before += rows.num_rows


@dataclass(frozen=True)
class Checked:
    """Rows of a run that obey the rules, and the table of them, which is what is stored."""

    rows: tuple[Row, ...]
    table: pa.Table

    def each(self) -> Iterator[Checked]:
        """Yield the rows one by one."""
        for place, row in enumerate(self.rows):
            yield Checked((row,), self.table.slice(place, 1))


def checked(rows: Sequence[Row], question: Question, where: str) -> Checked:
    """Return rows with their table; raises RowError as :func:`check_table`."""
    table = to_table(rows)
    check_table(table, question, where)
    return Checked(tuple(rows), table)


def _rules(rows: pa.RecordBatch, question: Question) -> Iterator[tuple[str, Any]]:
    """Yield ``(rule, mask of the rows that break it)`` of single columns."""
    col = rows.column
    for name in SCHEMA.names:
        if col(name).null_count:
            yield f"{name} is missing", pc.is_null(col(name))
    # NaN passes every comparison below
    yield "seconds is not a number", pc.invert(pc.is_finite(col("seconds")))
    yield "seconds is more than any unit takes", pc.greater(col("seconds"), pa.scalar(_MAX_SECONDS))
    yield (
        "it belongs to another run (fingerprint)",
        pc.not_equal(col("fingerprint"), scalar(question.digest)),
    )
    # what is added up later must not be made smaller by one row
    for name in ("class_id", "max_bound", *COUNTERS, "peak_rss_bytes", "seconds"):
        yield f"{name} is negative", pc.less(col(name), scalar(0))
    yield "attempt < 1", pc.less(col("attempt"), scalar(1))
    for name in ("host", "cpu", "kernel_hash", "message", "path"):
        # the whole column is short as a rule: then no text in it is looked at
        if col(name).nbytes > _MAX_TEXT:
            yield (
                f"{name} is longer than {_MAX_TEXT}",
                pc.greater(pc.utf8_length(col(name)), scalar(_MAX_TEXT)),
            )
    yield "the status is unknown", pc.invert(pc.is_in(col("status"), _STATUSES))
    # compared as text of 40 digits: these numbers do not fit any integer of Arrow
    digits = col("n_boards")
    most = str(26**question.n_cells)
    yield (
        "n_boards is not a number",
        pc.invert(pc.match_substring_regex(digits, r"\A(0|[1-9][0-9]{0,39})\z")),
    )
    padded = pc.utf8_lpad(digits, 40, "0")
    yield "n_boards is more than there are", pc.greater(padded, scalar(most.zfill(40)))
    # before anything splits it: a path of a stranger may be megabytes of nonsense
    is_path = pc.match_substring_regex(col("path"), rf"\A({parts.PATH_PATTERN})?\z")
    yield "the path is not of the form 5=ab/6=t", pc.invert(is_path)
    depth = pc.count_substring(col("path"), parts.SEPARATOR)
    max_depth = scalar(parts.max_depth(question.n_cells))
    yield (
        "the path has more parts than that many cells can be cut into",
        pc.greater_equal(depth, max_depth),
    )


def _rules_of_status(rows: pa.RecordBatch, question: Question) -> Iterator[tuple[str, Any]]:
    """Yield likewise what the status and the other columns say of each other."""
    col = rows.column
    both = pc.and_
    either = pc.or_
    is_eliminated, has_boards, is_split = (
        pc.equal(col("status"), scalar(name)) for name in VERDICTS
    )
    n_candidates, n_children, n_settled = map(
        pc.list_value_length, map(col, ("candidates", "children", "settled"))
    )
    # a split unit lists those of the parts it settled itself
    has_candidates = pc.greater(n_candidates, scalar(0))
    yield "status candidates needs candidates", both(has_boards, pc.invert(has_candidates))
    yield (
        "status and candidates do not go together",
        both(has_candidates, pc.invert(either(has_boards, is_split))),
    )
    yield (
        "status split goes with children",
        pc.not_equal(is_split, pc.greater(n_children, scalar(0))),
    )
    yield (
        "only a split unit has settled parts",
        both(pc.invert(is_split), pc.greater(n_settled, scalar(0))),
    )
    is_verdict = pc.is_in(col("status"), _VERDICTS)
    yield "a verdict needs boards", both(is_verdict, pc.equal(col("n_boards"), scalar("0")))
    # a survivor of the bound that exact scoring refuted may have had a bound at the cutoff; nothing
    # else may
    discarded = both(is_eliminated, pc.equal(col("n_survivors"), scalar(0)))
    # one rule says what reaches the cutoff, and it is asked once for each value
    bounds = pc.unique(col("max_bound"))
    are_reached = [reaches(bound, question.cutoff) for bound in bounds.to_pylist()]
    reached = pa.array(are_reached, pa.bool_())
    reaching = pc.take(reached, pc.index_in(col("max_bound"), bounds))
    yield (
        "a unit without survivors is eliminated by bounds below the cutoff",
        both(discarded, reaching),
    )


def _check_lists(rows: pa.RecordBatch, question: Question, where: str) -> None:
    names = ("candidates", "children", "settled")
    candidates, children, settled = (pc.list_flatten(rows.column(name)) for name in names)
    columns = (candidates, candidates.field("board"), candidates.field("score"), children, settled)
    if any(column.null_count for column in columns):
        raise RowError(f"{where}: a candidate or a part is missing in its list")
    n_cells = question.n_cells
    board = re.compile(rf"[a-z]{{{n_cells}}}")
    # rows without lists need not become Python objects
    n_candidates = pc.list_value_length(rows.column("candidates"))
    n_children = pc.list_value_length(rows.column("children"))
    lengths = pc.add(n_candidates, n_children)
    of_rows = rows.select(["class_id", "path", *names])
    for values in of_rows.filter(pc.greater(lengths, scalar(0))).to_pylist():
        here = f"{where}: class {values['class_id']} path {quote(values['path'])}"
        boards = [item["board"] for item in values["candidates"]]
        for item in values["candidates"]:
            if not board.fullmatch(item["board"]):
                raise RowError(
                    f"{here}: {quote(item['board'])} is not a board of {n_cells} letters a-z"
                )
            if not reaches(item["score"], question.cutoff):
                raise RowError(
                    f"{here}: candidate {item['board']} scores {item['score']}, below cutoff "
                    f"{question.cutoff}"
                )
        named = [*values["children"], *values["settled"]]
        # twice would be counted twice
        if len(set(boards)) < len(boards) or len(set(named)) < len(named):
            raise RowError(f"{here}: a candidate or a part is listed twice")
        for part in named:
            if not parts.is_below(part, values["path"]):
                raise RowError(f"{here}: part {quote(part)} does not extend the path")
            try:
                parts.parse_path(part, n_cells)
            except PathError as error:
                raise RowError(f"{here}: {error}") from error


def one_by_one(rows: Iterable[Row | Checked]) -> list[Row | Checked]:
    """Return all rows, those that were checked together each alone."""
    offered: list[Row | Checked] = []
    for item in rows:
        if isinstance(item, Checked):
            offered += item.each()
        else:
            offered.append(item)
    return offered


def row_of(item: Row | Checked) -> Row:
    """Return the row itself, or the only one that was checked."""
    if isinstance(item, Checked):
        return item.rows[0]
    return item
