"""SQL over runs: DuckDB in memory, three views, and no way out of it.

    connect(locations) -> Database.query(sql) -> Answer

    boards    run, board, score, n_images, proven: whether these are all there are
    classes   run, and one row per stored unit: class_id, path, depth, status, n_boards, max_bound,
              seconds ...
    runs      run, dims, wordlist, cutoff, state, n_boards, best_score, digest ...

Everything is read with checksums and copied into memory.  Then DuckDB loses the right to open
files, to load extensions and to change settings.  It takes single SELECT statements only, each in a
transaction that may only read.
"""

import importlib.util
import itertools
import math
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from operator import attrgetter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from orderly_boggle.boardclass.board import with_letters
from orderly_boggle.boardclass.distribution import install
from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.printable import counted, html_table
from orderly_boggle.results.errors import LimitError
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.proof.summary import Summary, distinct_names
from orderly_boggle.results.reading.limits import Limits, limited
from orderly_boggle.results.store.rows import SCHEMA
from orderly_boggle.results.store.run import Run, open_run

_DRAWN = 60  # rows in a notebook
# the first that holds all values
_WHOLE: tuple[Any, ...] = (pa.int64(), pa.decimal128(38), pa.decimal256(39))
_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_WANTED = dict.fromkeys((*_SIGNED, *(f"U{kind}" for kind in _SIGNED)), _WHOLE)
_WANTED |= {"BOOLEAN": (pa.bool_(),), "VARCHAR": (pa.string(),)}
_REAL = ("FLOAT", "DOUBLE", "DECIMAL")


@dataclass(frozen=True)
class Answer:
    """The answer to a query: its rows one after the other, each a dictionary; data frames, DuckDB
    and whatever else reads Arrow take it as it is.
    """

    columns: tuple[str, ...]  # all different
    rows: list[tuple[Any, ...]]  # plain values: numbers, texts, booleans, None, lists, dicts
    kinds: tuple[str, ...] = field(repr=False)  # the SQL type of each column

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            yield dict(zip(self.columns, row, strict=True))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """Return the answer as an Arrow table: whole numbers become int64, or decimals where one
        does not fit; other numbers float64; lists and structs what Arrow makes of them, and
        everything else text.
        """
        values = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        arrays = []
        for kind, column in zip(self.kinds, values, strict=True):
            arrays.append(_array(kind, list(column)))
        return pa.Table.from_arrays(arrays, names=list(self.columns))

    def to_pandas(self) -> Any:
        """Return the answer as a data frame of pandas; raises InputError when pandas is not
        installed.
        """
        if importlib.util.find_spec("pandas") is None:
            raise InputError(
                f"a data frame needs pandas: {install('notebook')}; to_arrow() does without"
            )
        return self.to_arrow().to_pandas()

    def _repr_html_(self) -> str:
        rows = counted(len(self.rows), "row")
        if len(self.rows) <= _DRAWN:
            title = rows
        else:
            title = f"the first {_DRAWN} of {rows}"
        return html_table(title, self.columns, self.rows[:_DRAWN])


def _array(kind: str, values: list[Any]) -> pa.Array:
    if kind.startswith(_REAL):  # what is not finite is a text in an answer
        floats = [None if value is None else float(value) for value in values]
        return pa.array(floats, pa.float64())
    for wanted in _WANTED.get(kind, (None, *_WHOLE)):
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return pa.array(values, wanted)
    texts = [None if value is None else str(value) for value in values]
    return pa.array(texts, pa.string())


_TEXT = pa.string()
_NUMBER = pa.int64()
_BOARDS = pa.schema(
    {
        "run": _TEXT,
        "board": _TEXT,
        "score": pa.int32(),
        "n_images": pa.int32(),
        "proven": pa.bool_(),
    }
)
# columns of ``runs``: type, and where a Summary has the value
_RUNS: dict[str, tuple[pa.DataType, str]] = {
    "state": (_TEXT, "state"),
    "dims": (_TEXT, "question.dims"),
    "wordlist": (_TEXT, "wording.wordlist"),
    "wordlist_sha256": (_TEXT, "question.words_sha256"),
    "n_words": (_NUMBER, "wording.n_words"),
    "scores": (_TEXT, "wording.score_table"),
    "cutoff": (_NUMBER, "question.cutoff"),
    "partition": (_TEXT, "question.buckets"),
    "n_classes": (_NUMBER, "n_classes"),
    "n_classes_begun": (_NUMBER, "n_classes_begun"),
    "n_classes_done": (_NUMBER, "n_classes_done"),
    "n_rows": (_NUMBER, "n_stored"),
    "n_boards": (_NUMBER, "listed.n_canonical"),
    "n_boards_with_images": (_NUMBER, "listed.n_raw"),
    "best_score": (_NUMBER, "listed.best_score"),
    "digest": (_TEXT, "result_digest"),
    "statement": (_TEXT, "statement"),
    "why_not": (_TEXT, "why_not"),
}


def _classes(runs: Sequence[tuple[str, Run]]) -> pa.Table:
    # runs without rows must still have the view, with its columns
    tables = [_named(SCHEMA.empty_table(), "")]
    for name, run in runs:
        tables += [_named(table, name) for _, table in run.checked()]
    return pa.concat_tables(tables)


def _named(table: pa.Table, name: str) -> pa.Table:
    return table.append_column("run", pa.repeat(name, len(table)))


def _boards(summaries: Mapping[str, Summary]) -> pa.Table:
    rows = []
    for name, found in summaries.items():
        for item in found.listed.boards:
            typed = with_letters(item.board, found.wording.letters)
            rows.append((name, typed, item.score, item.n_images, found.proven))
    return _table(rows, _BOARDS)


def _runs(summaries: Mapping[str, Summary]) -> pa.Table:
    columns = [("run", _TEXT)]
    for name, (kind, _) in _RUNS.items():
        columns.append((name, kind))
    schema = pa.schema(columns)
    values = attrgetter(*(place for _, place in _RUNS.values()))
    return _table([(name, *values(found)) for name, found in summaries.items()], schema)


def _table(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """Return rows as a table; an empty text is no value."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = []
    for column, kind in zip(columns, schema.types, strict=True):
        values = [None if value == "" else value for value in column]
        arrays.append(pa.array(values, kind))
    return pa.Table.from_arrays(arrays, schema=schema)


VIEWS = ("boards", "classes", "runs")
MAX_SQL_CHARACTERS = 100_000

_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # names in SQL are never variables of this program
    "temp_directory": "",  # nothing is spilled to disk
    "enable_external_access": "false",  # after the others, some of which it locks
}
_BATCH_ROWS = 10_000
# What may be asked in place of what the database calls these.
_INSTEAD = {
    "MULTI": "a PIVOT whose values are given is one statement that only reads: "
    "PIVOT (SELECT status FROM classes) ON status IN ('eliminated', 'candidates') USING count(*)",
    "EXPLAIN": "expected a SELECT statement without EXPLAIN",
    "PRAGMA": "expected SHOW TABLES or DESCRIBE classes",
    "COPY": "expected a SELECT statement; --format csv or json makes the file",
    "CREATE": "expected a SELECT statement; WITH name AS (SELECT ...) before it names a part",
    "SET": "expected a SELECT statement; --timeout and --memory set the limits",
}


class Database:
    """The views of some runs, read only; DuckDB may take ``memory_mb`` MiB for a query, beyond the
    views.  Threads may share it: their queries are answered one after the other.

    ``summaries`` says by name of run what each of them proves.
    """

    def __init__(self, runs: Sequence[tuple[str, Run]], memory_mb: int | None = None) -> None:
        self.summaries = {name: summary(run) for name, run in runs}
        self._connection = duckdb.connect(":memory:", config={"threads": 2})
        self._alone = threading.Lock()  # a connection holds one statement, in one transaction
        views = {
            "boards": _boards(self.summaries),
            "classes": _classes(runs),
            "runs": _runs(self.summaries),
        }
        for name, table in views.items():
            self._connection.register("given", table)
            columns = "*"
            if name == "classes":  # decimal digits in the store, because 26^16 overflows int64
                depth = "len(string_split(path, '/')) - (path = '')::int"
                columns = (
                    f"run, class_id, path, ({depth})::int AS depth, * EXCLUDE (run, class_id, "
                    "path, fingerprint) "
                )
                columns += "REPLACE (n_boards::HUGEINT AS n_boards)"
            self._connection.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM given")
            self._connection.unregister("given")
        settings = dict(_SETTINGS)
        if self._connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (
            True,
        ):
            # a notebook without widgets refuses to set it
            settings = {"enable_progress_bar": "false", **settings}
        if memory_mb is not None:
            # the views are in memory already: the limit is for what a query takes on top
            (used,) = self._connection.execute(
                "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
            ).fetchall()[0]
            settings = {"memory_limit": f"{int(used) // 2**20 + memory_mb}MiB", **settings}
        for setting, value in settings.items():
            self._connection.execute(f"SET {setting} = '{value}'")
        # the last of all: from here on a query cannot take back what was forbidden
        self._connection.execute("SET lock_configuration = true")

    def __repr__(self) -> str:
        return f"connect({list(self.summaries)})"

    def query(self, sql: str, limits: Limits | None = None) -> Answer:
        """Return the answer to one SELECT (also DESCRIBE, SHOW, SUMMARIZE, WITH and FROM).

        ``limits`` hold for the whole process, which ends if DuckDB does not notice that the time is
        up.  Raises LimitError when the query takes more; InputError with DuckDB's message when the
        statement is wrong, changes something or reaches for files.
        """
        with self._alone:
            return self._answered(sql, limits)

    def _answered(self, sql: str, limits: Limits | None) -> Answer:
        began_s = time.monotonic()
        try:
            statement = self._statement(sql)
            if limits is None:
                return self._answer(statement, sys.maxsize)
            late = f"orderly: {_too_long(sql, limits)}"
            with limited(limits, self._connection.interrupt, late):
                return self._answer(statement, limits.rows)
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise LimitError(
                f"SQL {quote(sql)} takes too much memory: ask for less, or allow more (--memory)"
            ) from error
        except duckdb.Error as error:
            if limits and time.monotonic() - began_s >= limits.seconds:
                raise LimitError(_too_long(sql, limits)) from error
            if "Candidate" in str(error):
                hint = ""
            else:
                hint = f"; the views are {', '.join(VIEWS)}: try DESCRIBE classes"
            raise InputError(f"SQL {quote(sql)}: {str(error).strip()[:600]}{hint}") from error

    def _statement(self, sql: str) -> Any:
        # cut first: the parser of a long text would take its time before anybody could refuse it
        statements = self._connection.extract_statements(sql[:MAX_SQL_CHARACTERS])
        if len(sql) > MAX_SQL_CHARACTERS or len(statements) != 1:
            raise InputError(
                f"SQL {quote(sql)}: expected one statement, such as SELECT * FROM boards LIMIT 5"
            )
        kind = statements[0].type.name
        # by the parser of the database: looking for words in SQL has always been got round
        if kind != "SELECT":  # EXPLAIN ANALYZE carries out what it explains
            way_out = _INSTEAD.get(kind, "expected a SELECT statement")
            raise InputError(f"SQL {quote(sql)} is {kind}: a run is only read; {way_out}")
        return statements[0]

    def _answer(self, statement: Any, most: int) -> Answer:
        # a second wall, should a SELECT be able to write after all
        self._connection.execute("BEGIN TRANSACTION READ ONLY")
        try:
            self._connection.execute(statement)
            columns = list(self._connection.description or ())
            rows: list[tuple[Any, ...]] = []
            while batch := self._connection.fetchmany(_BATCH_ROWS):
                rows += [tuple(map(_plain, row)) for row in batch]
                # while they come: an endless answer would be in memory before it is counted
                if len(rows) > most:
                    way_out = "ask for fewer (LIMIT)"
                    if most < Limits().rows:  # those of a table
                        way_out += ", or for CSV"
                    raise LimitError(f"the answer has more than {most:,} rows: {way_out}")
        finally:
            # also after an error: the next query would be refused in a transaction that failed
            self._connection.execute("ROLLBACK")
        return Answer(
            _distinct([name for name, *_ in columns]),
            rows,
            tuple(str(kind) for _, kind, *_ in columns),
        )

    def close(self) -> None:
        """Give the memory back, when the query of another thread is answered."""
        with self._alone:
            self._connection.close()


def connect(
    locations: str | Path | Run | Iterable[str | Path | Run], memory_mb: int | None = None
) -> Database:
    """Return the views of one or more runs, see ``open_run``; ``run`` is the last part of the path,
    made distinct.

    DuckDB may take ``memory_mb`` MiB for a query.  Raises StoreError when one holds no run, or a
    damaged one.

    Examples
    --------
    >>> database = connect("runs/2x2-scowl70-14")
    >>> database.query("SELECT score, count(*) AS boards FROM boards GROUP BY score")
    Answer(columns=('score', 'boards'), rows=[(14, 6)])
    >>> database.close()
    """
    if isinstance(locations, str | Path | Run) or not isinstance(locations, Iterable):
        locations = [locations]
    locations = list(locations)
    runs = [open_run(location) for location in locations]
    named = [x.folder.where("") if isinstance(x, Run) else x for x in locations]
    return Database(list(zip(distinct_names(named), runs, strict=True)), memory_mb)


def _too_long(sql: str, limits: Limits) -> str:
    return (
        f"SQL {quote(sql)} took more than {limits.seconds:g} s: ask for less or allow more "
        "(--timeout)"
    )


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    seen: list[str] = []
    for name in names:
        taken = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
        seen.append(next(fresh for fresh in taken if fresh not in seen))
    return tuple(seen)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        if value == value.to_integral_value():
            return int(value)
        return float(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | int | str | None):
        return value
    return str(value)
