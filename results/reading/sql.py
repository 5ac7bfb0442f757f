"""SQL over runs: DuckDB in memory, three views, and no way out of it.

    connect(locations) -> Database.query(sql) -> Answer (answer.py)

    boards    run, board, score, n_images, proven: whether these are all there are
    classes   run, and one row per stored unit: class_id, path, depth, status, n_boards, max_bound, seconds ...
    runs      run, dims, wordlist, cutoff, state, n_boards, best_score, digest ...

Everything is read with checksums first (``results.store.run``) and copied into memory.  Then DuckDB loses the right to
open files, to load extensions and to change settings.  It takes single SELECT statements only, each in a transaction
that may only read.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from boardclass.errors import InputError, quote
from results.errors import LimitError
from results.proof.prove import NodesOf
from results.reading.answer import Answer
from results.reading.limits import Limits, Watch, limited
from results.reading.query import summary
from results.reading.views import boards_table, classes_table, named_runs, runs_table
from results.store.run import Run

VIEWS = ("boards", "classes", "runs")
MAX_SQL_CHARACTERS = 100_000

_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # names in SQL are never variables of this program
    "temp_directory": "",  # nothing is spilled to disk
    "enable_external_access": "false",  # after the others, some of which it locks
}
_SELECT, _EXPLAIN = "SELECT", "EXPLAIN"
_EXPLAINED = re.compile(r"\s*EXPLAIN\s+(?:ANALYZE\s+)?(?:\([^()]*\)\s*)?(.*)", re.DOTALL | re.IGNORECASE)
_BATCH_ROWS = 10_000


class Database:
    """The views of some runs, read only.

    Parameters
    ----------
    runs : sequence of (str, Run)
    nodes_of : callable, optional
        That of :func:`results.reading.query.summary`.
    memory_mb : int, optional
        MiB that DuckDB may take for a query, beyond the views; no limit by default.

    Attributes
    ----------
    summaries : dict of str to Summary
        By name of run: what each of them proves.
    """

    def __init__(
        self, runs: Sequence[tuple[str, Run]], nodes_of: NodesOf | None = None, memory_mb: int | None = None
    ) -> None:
        self.summaries = {name: summary(run, nodes_of) for name, run in runs}
        self._connection = duckdb.connect(":memory:", config={"threads": 2})
        views = {
            "boards": boards_table(self.summaries),
            "classes": classes_table(runs),
            "runs": runs_table(self.summaries),
        }
        for name, table in views.items():
            self._connection.register("given", table)
            columns = "*"
            if name == "classes":  # decimal digits in the store, because 26^16 overflows int64
                depth = "len(string_split(path, '/')) - (path = '')::int"
                columns = f"run, class_id, path, ({depth})::int AS depth, * EXCLUDE (run, class_id, path, fingerprint) "
                columns += "REPLACE (n_boards::HUGEINT AS n_boards)"
            self._connection.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM given")
            self._connection.unregister("given")
        settings = dict(_SETTINGS)
        if self._connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (True,):
            settings = {"enable_progress_bar": "false", **settings}  # a notebook without widgets refuses to set it
        if memory_mb is not None:
            (used,) = self._connection.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()[0]
            settings = {"memory_limit": f"{int(used) // 2**20 + memory_mb}MiB", **settings}
        for setting, value in settings.items():
            self._connection.execute(f"SET {setting} = '{value}'")
        self._connection.execute("SET lock_configuration = true")

    def query(self, sql: str, limits: Limits | None = None) -> Answer:
        """Return the answer to one SELECT (also DESCRIBE, SHOW, SUMMARIZE, WITH, FROM, and EXPLAIN of one).

        Parameters
        ----------
        sql : str
        limits : Limits, optional
            What it may take; they hold for the whole process, which ends if DuckDB does not notice that the time is up.

        Raises
        ------
        LimitError
            When it takes more.
        InputError
            With DuckDB's message, when the statement is wrong, changes something or reaches for files.
        """
        watch = Watch()
        try:
            statement = self._statement(sql)
            if limits is None:
                return self._answer(statement, sys.maxsize)
            late = f"orderly: {_too_long(sql, limits)}"
            with limited(limits, self._connection.interrupt, late) as watch:
                return self._answer(statement, limits.rows)
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise LimitError(
                f"SQL {quote(sql)} takes too much memory: ask for less, or allow more (--memory)"
            ) from error
        except duckdb.Error as error:
            if limits and watch.is_late:
                raise LimitError(_too_long(sql, limits)) from error
            hint = "" if "Candidate" in str(error) else f"; the views are {', '.join(VIEWS)}: try DESCRIBE classes"
            raise InputError(f"SQL {quote(sql)}: {str(error).strip()[:600]}{hint}") from error

    def _statement(self, sql: str) -> Any:
        """Return the one statement of a text, if it only reads."""
        statements = self._connection.extract_statements(sql[:MAX_SQL_CHARACTERS])
        if len(sql) > MAX_SQL_CHARACTERS or len(statements) != 1:
            raise InputError(f"SQL {quote(sql)}: expected one statement, such as SELECT * FROM boards LIMIT 5")
        kinds = [statements[0].type.name]
        if kinds == [_EXPLAIN]:  # with ANALYZE it carries out what it explains
            match = _EXPLAINED.fullmatch(statements[0].query)
            kinds = [inner.type.name for inner in self._connection.extract_statements(match[1])] if match else kinds
        if kinds != [_SELECT]:
            raise InputError(f"SQL {quote(sql)} is {' '.join(kinds)}: a run is only read; expected a SELECT statement")
        return statements[0]

    def _answer(self, statement: Any, most: int) -> Answer:
        self._connection.execute("BEGIN TRANSACTION READ ONLY")
        try:
            self._connection.execute(statement)
            columns = list(self._connection.description or ())
            rows: list[tuple[Any, ...]] = []
            while batch := self._connection.fetchmany(_BATCH_ROWS):
                rows += [tuple(_plain(value) for value in row) for row in batch]
                if len(rows) > most:
                    raise LimitError(f"the answer has more than {most:,} rows: ask for fewer (LIMIT), or for CSV")
        finally:
            self._connection.execute("ROLLBACK")
        return Answer(_distinct([name for name, *_ in columns]), rows, tuple(str(kind) for _, kind, *_ in columns))

    def close(self) -> None:
        """Give the memory back."""
        self._connection.close()


def connect(locations: Sequence[str | Path], nodes_of: NodesOf | None = None, memory_mb: int | None = None) -> Database:
    """Return the views of one or more run directories; ``run`` is the last part of the path, made distinct.

    Parameters
    ----------
    locations : sequence of str or Path
    nodes_of : callable, optional
        That of :func:`results.reading.query.summary`.
    memory_mb : int, optional
        MiB that DuckDB may take for a query.

    Raises
    ------
    StoreError
        When one holds no run, or a damaged one.

    Examples
    --------
    >>> database = connect(["runs/2x2-scowl70-14"])
    >>> database.query("SELECT score, count(*) AS boards FROM boards GROUP BY score")
    Answer(columns=('score', 'boards'), rows=[(14, 6)])
    >>> database.close()
    """
    return Database(named_runs(locations), nodes_of, memory_mb)


def _too_long(sql: str, limits: Limits) -> str:
    return f"SQL {quote(sql)} took more than {limits.seconds:g} s: ask for less or allow more (--timeout)"


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names; a name that came before gets a number."""
    seen: list[str] = []
    for name in names:
        number, fresh = 1, name
        while fresh in seen:
            number += 1
            fresh = f"{name}_{number}"
        seen.append(fresh)
    return tuple(seen)


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, bool | int | str | None) else str(value)
