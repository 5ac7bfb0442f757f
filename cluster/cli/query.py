"""``orderly query``: questions in SQL about one or more runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boardclass.errors import InputError, OrderlyError, quote
from cluster.answers.render import Format, write_json, write_table
from cluster.answers.status import require_all_proven
from cluster.cli import options
from cluster.streams import console, tell

if TYPE_CHECKING:
    from results.reading.sql import Answer

MAX_DRAWN, MAX_ROWS = 10_000, 1_000_000  # rows of an answer: as a table for people, and for programs
_MAX_PATH = 4096
_EXPECTED = "expected a statement, such as: orderly query RUN 'SELECT * FROM boards LIMIT 5'"
_PLAN_COLUMNS = ("explain_key", "explain_value")  # of EXPLAIN: a drawing


def query(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN|SQL",
            help="Run directories, the latest under runs by default; one SELECT statement, or none for a prompt.",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="S", min=0.1, help="Seconds it may take.")] = 60,
    memory: Annotated[
        int, typer.Option(metavar="MIB", min=64, max=2**24, help="MiB it may take besides the runs.")
    ] = 1024,
    fmt: options.Format = Format.table,
) -> None:
    """Ask runs in SQL: views boards, classes and runs (DuckDB, read only).

    boards: run, board, score, n_images.  classes: one row per stored unit with class_id, path, depth, status, n_boards,
    max_bound, seconds, host ...  runs: dims, wordlist, cutoff, state, best_score, digest ...

    For example: orderly query runs/* "SELECT status, count(*), sum(seconds) FROM classes GROUP BY ALL", or "DESCRIBE
    classes" for the columns.  Files cannot be reached from SQL.
    """
    directories, sql = _split_words(words or [])
    directories = list(map(options.chosen_run, directories or (None,)))
    if sql is None and not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(f"nothing is asked; {_EXPECTED}")
    from results.reading.limits import Limits
    from results.reading.sql import connect

    with closing(connect(directories, memory)) as database:
        n_rows = MAX_DRAWN if fmt is Format.table else MAX_ROWS
        limits = Limits(timeout, memory, n_rows)
        if sql is None:
            _prompt(lambda text: _print(database.query(text, limits), fmt))
        else:
            _print(database.query(sql, limits), fmt)
    require_all_proven(database.summaries)


def _split_words(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the runs and the statement among the arguments of ``query``: the last one is the statement unless it names
    a run.

    Raises InputError when the last argument can be neither.
    """
    if not words:
        return [], None
    *directories, sql = words
    is_word = len(sql.split()) == 1
    if ("://" in sql and is_word) or (sql and "\0" not in sql and len(sql) < _MAX_PATH and Path(sql).is_dir()):
        return list(words), None
    if is_word:
        raise InputError(f"{quote(sql)} is neither a run directory nor a statement; {_EXPECTED}")
    return directories, sql


def _prompt(ask: Callable[[str], None]) -> None:
    """Answer statements, one a line, until Ctrl-D; an error ends its own statement only."""
    with suppress(ImportError):
        import readline  # noqa: F401 - input() edits lines with it
    tell("one statement a line, such as SELECT * FROM boards LIMIT 5, or DESCRIBE classes; Ctrl-D ends")
    while True:
        try:
            text = input("sql> ").strip()
            if text:
                ask(text)
        except EOFError:
            console().print()
            return
        except OrderlyError as error:
            tell(f"orderly: {error}")


def _print(answer: Answer, fmt: Format) -> None:
    if fmt is Format.json:
        write_json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
    elif fmt is Format.table and answer.columns == _PLAN_COLUMNS:
        for row in answer.rows:
            console().print(row[-1], markup=False, soft_wrap=True)
    else:
        write_table(answer.columns, answer.rows, fmt)
