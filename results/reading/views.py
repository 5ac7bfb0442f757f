"""The three views that SQL sees, as Arrow tables; sql.py lists their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from boardclass.errors import InputError, quote
from results.reading.query import Summary
from results.store.rows import SCHEMA
from results.store.run import Run, open_run

_BOARDS = pa.schema(
    [
        pa.field("run", pa.string()),
        pa.field("board", pa.string()),
        pa.field("score", pa.int32()),
        pa.field("n_images", pa.int32()),
        pa.field("proven", pa.bool_()),
    ]
)
_RUNS = pa.schema(
    [
        pa.field(name, kind)
        for name, kind in (
            ("run", pa.string()),
            ("state", pa.string()),
            ("dims", pa.string()),
            ("wordlist", pa.string()),
            ("wordlist_sha256", pa.string()),
            ("n_words", pa.int64()),
            ("scores", pa.string()),
            ("cutoff", pa.int64()),
            ("partition", pa.string()),
            ("n_classes", pa.int64()),
            ("n_classes_begun", pa.int64()),
            ("n_classes_done", pa.int64()),
            ("n_rows", pa.int64()),
            ("n_boards", pa.int64()),
            ("n_boards_with_images", pa.int64()),
            ("best_score", pa.int64()),
            ("digest", pa.string()),
            ("statement", pa.string()),
            ("why_not", pa.string()),
        )
    ]
)


def named_runs(locations: Sequence[str | Path]) -> list[tuple[str, Run]]:
    """Return each run with a distinct name: its folder's, or the whole location where folders have the same name."""
    texts = [str(location).rstrip("/") or "/" for location in locations]
    short = [text.rpartition("/")[2] or text for text in texts]
    names = short if len(set(short)) == len(short) else texts
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"run directory {quote(twice)} is given twice")
    return [(name, open_run(location)) for name, location in zip(names, locations, strict=True)]


def _with_run(name: str, table: pa.Table) -> pa.Table:
    return table.append_column(pa.field("run", pa.string()), pa.array([name] * len(table), pa.string()))


def classes_table(runs: Sequence[tuple[str, Run]]) -> pa.Table:
    """Return one row for each stored unit of the runs: run and the columns of the store."""
    empty = _with_run("", SCHEMA.empty_table())
    return pa.concat_tables([empty, *(_with_run(name, table) for name, run in runs for table in run.tables())])


def boards_table(summaries: Mapping[str, Summary]) -> pa.Table:
    """Return one row for each board of each run."""
    rows = [
        {"run": name, **item._asdict(), "proven": found.proven}
        for name, found in summaries.items()
        for item in found.listed.boards
    ]
    return pa.Table.from_pylist(rows, schema=_BOARDS)


def runs_table(summaries: Mapping[str, Summary]) -> pa.Table:
    """Return one row for each run."""
    return pa.Table.from_pylist([{"run": name, **_run_record(item)} for name, item in summaries.items()], schema=_RUNS)


def _run_record(found: Summary) -> dict[str, Any]:
    listed, asked = found.listed, found.question
    return {
        "state": found.state.value,
        "dims": found.fingerprint.dims,
        "wordlist": asked.wordlist,
        "wordlist_sha256": found.fingerprint.wordlist_sha256,
        "n_words": asked.n_words,
        "scores": asked.scores,
        "cutoff": found.fingerprint.cutoff,
        "partition": found.fingerprint.partition,
        "n_classes": found.n_classes,
        "n_classes_begun": found.n_classes_begun,
        "n_classes_done": found.n_classes_done,
        "n_rows": sum(found.n_rows.values()),
        "n_boards": listed.n_canonical,
        "n_boards_with_images": listed.n_raw,
        "best_score": listed.boards[0].score if listed.boards else None,
        "digest": found.result_digest,
        "statement": found.statement,
        "why_not": found.why_not or None,
    }
