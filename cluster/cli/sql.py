"""``orderly query``, and ``top`` with its filters: questions about one or more runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from boardclass.errors import InputError, OrderlyError, quote
from boardclass.geometry import geometry
from boardclass.rolling import assign_dice
from boardclass.tracing import trace
from cluster.answers.query import check_run_directory, require_all_proven, tell_so_far
from cluster.answers.render import Format, write_json, write_table
from cluster.streams import console, tell

if TYPE_CHECKING:
    from boardclass.geometry import Geometry
    from results.proof.rescore import Board
    from results.reading.answer import Answer
    from results.store.run import Run

MAX_DRAWN, MAX_ROWS = 10_000, 1_000_000  # rows of an answer: as a table for people, and for programs
_MAX_PATH = 4096
_EXPECTED = "expected a statement, such as: orderly query RUN 'SELECT * FROM boards LIMIT 5'"
_PLAN_COLUMNS = ("explain_key", "explain_value")  # of EXPLAIN: a drawing


def split_words(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the runs and the statement among the arguments of ``query``: the last one is the statement unless it names
    a run.

    Raises
    ------
    InputError
        When the last argument can be neither.
    """
    if not words or _names_a_run(words[-1]):
        return list(words), None
    *directories, sql = words
    if len(sql.split()) == 1:
        raise InputError(f"{quote(sql)} is neither a run directory nor a statement; {_EXPECTED}")
    return directories, sql


def _names_a_run(text: str) -> bool:
    is_address = "://" in text and len(text.split()) == 1
    return is_address or bool(text and "\0" not in text and len(text) < _MAX_PATH and Path(text).is_dir())


def query(directories: Sequence[str], sql: str | None, timeout_s: float, memory_mb: int, fmt: Format) -> None:
    """Print the answer to one SELECT statement over the views boards, classes and runs; without one, prompt for some.

    Raises
    ------
    InputError
        When there is no statement and no terminal to ask for one.
    IncompleteError, MismatchError
        When a run is not proven; the answer is printed all the same.
    """
    if sql is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(f"nothing is asked; {_EXPECTED}")
    for directory in directories:
        check_run_directory(directory)
    from cluster.planning.nodes import run_nodes
    from results.reading.limits import Limits
    from results.reading.sql import connect

    with closing(connect(directories, run_nodes, memory_mb)) as database:
        n_rows = MAX_DRAWN if fmt is Format.table else MAX_ROWS
        limits = Limits(timeout_s, memory_mb, n_rows)
        if sql is None:
            _prompt(lambda text: _print(database.query(text, limits), fmt))
        else:
            _print(database.query(sql, limits), fmt)
    require_all_proven(database.summaries)


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


class Filters(NamedTuple):
    """What ``top`` keeps: boards on which words can be traced, with enough words, that some dice can show.

    With ``n_words``, the number of words is listed.
    """

    contains: tuple[str, ...] = ()
    min_words: int = 0
    rollable: str | None = None
    n_words: bool = False


def top(directories: Sequence[str], n: int, filters: Filters, wordlist: str | None, fmt: Format) -> None:
    """Print the best boards of one or more runs that pass the filters, best first, then in alphabetical order.

    Raises
    ------
    IncompleteError, MismatchError
        When a run is not proven; what was found so far is printed all the same.
    """
    for directory in directories:
        check_run_directory(directory)
    from cluster.planning.nodes import run_nodes
    from results.reading.query import summary
    from results.reading.views import named_runs

    runs = named_runs(directories)
    passing = {name: _Passing(run, filters, wordlist) for name, run in runs}
    summaries = {name: summary(run, run_nodes) for name, run in runs}
    kept: list[tuple[str, Board]] = []
    for name, found in summaries.items():
        kept += [(name, item) for item in _first(found.listed.boards, n, passing[name])]
    kept.sort(key=lambda pair: (-pair[1].score, pair[1].board, pair[0]))
    proven = {name: found.proven for name, found in summaries.items()}
    counted = ("words",) if filters.n_words else ()
    columns: tuple[str, ...] = ("run", "board", "score", *counted, "proven")
    rows: list[tuple[object, ...]] = [
        (name, item.board, item.score, *(passing[name].n_words(item.board) for _ in counted), proven[name])
        for name, item in kept[:n]
    ]
    if len(runs) == 1:
        columns, rows = columns[1:], [row[1:] for row in rows]
    if fmt is Format.table:  # people are told in a sentence
        columns, rows = columns[:-1], [row[:-1] for row in rows]
        tell_so_far(summaries)
    write_table(columns, rows, fmt)
    require_all_proven(summaries)


def _first(items: Sequence[Board], n: int, passing: _Passing) -> list[Board]:
    found: list[Board] = []
    for item in items:
        if len(found) == n:
            break
        if passing(item.board):
            found.append(item)
    return found


class _Passing:
    """Whether a board of a run passes the filters; loads the word list only when it takes one."""

    def __init__(self, run: Run, filters: Filters, wordlist: str | None) -> None:
        from boardclass.scores import ScoreTable, parse_scores

        self._geometry: Geometry = geometry(run.fingerprint.dims)
        self._words = tuple(_spelling(word) for word in filters.contains)
        self._min_words = filters.min_words
        self._dice = None
        if filters.rollable is not None:
            from configs.dicesets import dice_for

            self._dice = dice_for(filters.rollable, self._geometry.n).dice
        self._scorer = None
        if filters.min_words > 0 or filters.n_words:
            from cluster.cli.verify import run_wordlist
            from search.scoring.scorer import Scorer

            table: ScoreTable = parse_scores("words")
            self._scorer = Scorer(self._geometry.dims, run_wordlist(run, wordlist).words, table)

    def __call__(self, board: str) -> bool:
        """Test the cheap things first."""
        if any(trace(word, board, self._geometry) is None for word in self._words):
            return False
        if self._dice is not None and assign_dice(board, self._dice) is None:
            return False
        return self._min_words == 0 or self.n_words(board) >= self._min_words

    def n_words(self, board: str) -> int:
        """Return how many words of the list can be traced on a board."""
        assert self._scorer is not None, "loaded when words are counted"
        return self._scorer.score(board)


def _spelling(word: str) -> str:
    """Return the q-form of a word that boards are to contain."""
    spelled = word.strip().lower()
    if not re.fullmatch(r"[a-z]+", spelled):
        raise InputError(f"--contains {quote(word)}: expected a word of letters a-z")
    return spelled.replace("qu", "q")
