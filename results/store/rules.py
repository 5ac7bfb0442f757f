"""The rules that every row must obey, the same when it is written and when it is read.

A stored row may have been altered by a disk, a machine or a person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from boardclass import parts
from boardclass.cutoff import reaches
from boardclass.errors import quote
from results.errors import RowError
from results.store.fingerprint import Fingerprint
from results.store.schema import (
    CANDIDATES,
    COUNTERS,
    ELIMINATED,
    SCHEMA,
    SPLIT,
    STATUSES,
    VERDICTS,
    Row,
    parse_path,
    scalar,
    to_table,
)

_MAX_TEXT = 4000
_MAX_SECONDS = 1e9  # thirty years


def check_table(table: pa.Table, fingerprint: Fingerprint, where: str) -> None:
    """Check every row of a table with :data:`SCHEMA` against the schema, itself and the run.

    Raises
    ------
    RowError
        Naming ``where``, the first offending row and the rule it breaks.
    """
    if not table.schema.equals(SCHEMA):
        raise RowError(
            f"{where}: the columns are not those of a result: {table.schema.to_string(show_field_metadata=False)!r}"
        )
    n_before = 0
    for rows in table.combine_chunks().to_batches():  # one, unless its texts are more than 2 GiB
        for rule, bad in (*_plain_rules(rows, fingerprint), *_status_rules(rows, fingerprint)):
            if bad.true_count:
                index = pc.index(bad, scalar(True)).as_py()
                values = rows.slice(index, 1).select(["class_id", "path", "status"]).to_pylist()[0]
                raise RowError(f"{where}: row {n_before + index} {values!r}: {rule}")
        _check_lists(rows, fingerprint, where)
        n_before += rows.num_rows


def check_rows(rows: Sequence[Row], fingerprint: Fingerprint, where: str) -> list[Row]:
    """Return rows after a check; those that passed one for this run before are not checked again.

    Raises
    ------
    RowError
        As :func:`check_table`.
    """
    digest = fingerprint.digest
    if new := [row for row in rows if not row.is_checked or row.fingerprint != digest]:
        check_table(to_table(new), fingerprint, where)
    return [replace(row, is_checked=True) for row in rows]


@cache
def _names(names: tuple[str, ...]) -> pa.Array:
    return pa.array(names)


def _plain_rules(rows: pa.RecordBatch, fingerprint: Fingerprint) -> list[tuple[str, Any]]:
    """Return ``(rule, mask of the rows that break it)``, column by column."""
    col = rows.column
    nulls = [(f"{name} is missing", pc.is_null(col(name))) for name in SCHEMA.names if col(name).null_count]
    nulls += [(f"{name} is not a number", pc.invert(pc.is_finite(col(name)))) for name in ("seconds",)]
    counts = ("class_id", "max_bound", *COUNTERS, "peak_rss_bytes")
    is_sound = not pc.less(pc.min_element_wise(*map(col, counts)), scalar(0)).true_count  # one look for all of them
    small = [
        (f"{name} is negative", pc.less(col(name), scalar(0)))
        for name in (("seconds",) if is_sound else (*counts, "seconds"))
    ]
    small += [("attempt < 1", pc.less(col("attempt"), scalar(1)))]
    texts = ("host", "cpu", "kernel_hash", "message", "path")
    long = [
        (f"{name} is longer than {_MAX_TEXT}", pc.greater(pc.utf8_length(col(name)), scalar(_MAX_TEXT)))
        for name in texts
        if col(name).nbytes > _MAX_TEXT
    ]
    return [
        *nulls,
        ("it belongs to another run (fingerprint)", pc.not_equal(col("fingerprint"), scalar(fingerprint.digest))),
        *small,
        *long,
        ("the status is unknown", pc.invert(pc.is_in(col("status"), _names(STATUSES)))),
        ("seconds is more than any unit takes", pc.greater(col("seconds"), pa.scalar(_MAX_SECONDS))),
        ("n_boards is not a number", pc.invert(pc.match_substring_regex(col("n_boards"), r"\A(0|[1-9][0-9]{0,39})\z"))),
        ("n_boards is more than there are", _exceeds(col("n_boards"), 26**fingerprint.n_cells)),
        (
            "the path is not of the form 5=ab/6=t",
            pc.invert(pc.match_substring_regex(col("path"), rf"\A({parts.PATH_PATTERN})?\z")),
        ),
        (  # each takes a letter away from a cell
            "the path has more parts than that many cells can be cut into",
            pc.greater_equal(
                pc.count_substring(col("path"), parts.SEPARATOR), scalar(parts.max_depth(fingerprint.n_cells))
            ),
        ),
    ]


def _exceeds(digits: Any, most: int) -> Any:
    """Return the mask of texts of decimal digits that stand for more than ``most``."""
    n_digits, text = pc.utf8_length(digits), str(most)
    longer, as_long = pc.greater(n_digits, scalar(len(text))), pc.equal(n_digits, scalar(len(text)))
    return pc.or_(longer, pc.and_(as_long, pc.greater(digits, scalar(text))))


def _status_rules(rows: pa.RecordBatch, fingerprint: Fingerprint) -> list[tuple[str, Any]]:
    """Return the rules that tie the status to the other columns."""
    col, both = rows.column, pc.and_
    status = {name: pc.equal(col("status"), scalar(name)) for name in STATUSES}
    verdict = pc.is_in(col("status"), _names(VERDICTS))
    n_candidates, n_children = pc.list_value_length(col("candidates")), pc.list_value_length(col("children"))
    n_settled = pc.list_value_length(col("settled"))
    found = pc.greater(n_candidates, scalar(0))  # a split unit lists those of the parts it settled itself
    # a survivor of the bound that exact scoring refuted may have had a bound at the cutoff; nothing else may
    discarded = both(status[ELIMINATED], pc.equal(col("n_survivors"), scalar(0)))
    bounds = pc.unique(col("max_bound"))
    reached = pa.array([reaches(bound, fingerprint.cutoff) for bound in bounds.to_pylist()], pa.bool_())
    reaching = pc.take(reached, pc.index_in(col("max_bound"), bounds))
    return [
        ("status candidates needs candidates", both(status[CANDIDATES], pc.invert(found))),
        ("status and candidates do not go together", both(found, pc.invert(pc.or_(status[CANDIDATES], status[SPLIT])))),
        ("status split goes with children", pc.not_equal(status[SPLIT], pc.greater(n_children, scalar(0)))),
        ("only a split unit has settled parts", both(pc.invert(status[SPLIT]), pc.greater(n_settled, scalar(0)))),
        ("a verdict needs boards", both(verdict, pc.equal(col("n_boards"), scalar("0")))),
        ("a unit without survivors is eliminated by bounds below the cutoff", both(discarded, reaching)),
    ]


def _check_lists(rows: pa.RecordBatch, fingerprint: Fingerprint, where: str) -> None:
    """Check boards, scores, children and settled parts of the rows that have any."""
    names = ("candidates", "children", "settled")
    found, children, settled = (pc.list_flatten(rows.column(name)) for name in names)
    if any(values.null_count for values in (found, found.field("board"), found.field("score"), children, settled)):
        raise RowError(f"{where}: a candidate or a part is missing in its list")
    n_cells = fingerprint.n_cells
    board = re.compile(rf"[a-z]{{{n_cells}}}")
    lengths = pc.add(pc.list_value_length(rows.column("candidates")), pc.list_value_length(rows.column("children")))
    for values in rows.select(["class_id", "path", *names]).filter(pc.greater(lengths, scalar(0))).to_pylist():
        here = f"{where}: class {values['class_id']} path {quote(values['path'])}"
        boards = [item["board"] for item in values["candidates"]]
        for item in values["candidates"]:
            if not board.fullmatch(item["board"]):
                raise RowError(f"{here}: {quote(item['board'])} is not a board of {n_cells} letters a-z")
            if not reaches(item["score"], fingerprint.cutoff):
                raise RowError(
                    f"{here}: candidate {item['board']} scores {item['score']}, below cutoff {fingerprint.cutoff}"
                )
        named = [*values["children"], *values["settled"]]
        if len(set(boards)) < len(boards) or len(set(named)) < len(named):
            raise RowError(f"{here}: a candidate or a part is listed twice")
        for part in named:
            if not parts.is_below(part, values["path"]):
                raise RowError(f"{here}: part {quote(part)} does not extend the path")
            parse_path(part, n_cells)
