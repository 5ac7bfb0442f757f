"""``orderly climb``: local search for good boards, with progress, no proof."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import IO, NamedTuple

import typer

from boardclass.board import LETTERS, format_rows, read_board
from boardclass.errors import InputError, quote
from boardclass.geometry import Dims, parse_dims
from boardclass.tracing import trace
from cluster.answers.boards import words_and_table
from cluster.answers.render import Format, draw_board, write_table
from cluster.cli.group import EXIT_INTERRUPTED
from cluster.driver.progress import LINE_S
from cluster.driver.signals import StopSignals
from cluster.streams import console, tell, write_lines


class Asked(NamedTuple):
    """The options of ``orderly climb`` as given."""

    dims: str | None
    method: str
    pool: int
    seed: int
    runs: int | None
    workers: int
    exclude: str
    start: str | None
    contains: str | None
    n: int


def climb(asked: Asked, wordlist: str | None, scores: str | None, fmt: Format) -> None:
    """Search and print the best boards, best first; when it is interrupted, the best so far.

    Raises
    ------
    InputError
        For options that do not fit the board or each other.
    """
    dims, board = _size_and_start(asked)
    letters = allowed_letters(asked.exclude)
    words, table = words_and_table(wordlist, scores)
    from search.local.climb import BatchScorer, Start
    from search.local.methods import default_runs, local_search
    from search.local.parallel import HoldingScorer, ParallelScorer
    from search.scoring.scorer import Scorer

    scorer: BatchScorer = ParallelScorer(Scorer(dims, words.words, table), asked.workers or os.cpu_count() or 1)
    start: Start | None = board
    if asked.contains is not None:
        word = asked.contains.strip().lower().replace("qu", "q")
        scorer = holding = HoldingScorer(scorer, word)
        start = start or holding.first
        if board is not None and trace(word, board, scorer.geometry) is None:
            raise InputError(f"--from {quote(board)} does not hold the word {quote(word)}: start from one that does")
    runs = asked.runs or default_runs(asked.method, start)
    with StopSignals() as signals, _progress(sys.stderr, runs) as told:
        finds = local_search(
            scorer,
            asked.method,
            seed=asked.seed,
            runs=runs,
            pool=asked.pool,
            letters=letters,
            start=start,
            progress=told,
            stop=lambda: bool(signals.reason),
        )
    if signals.reason:
        tell(f"stopped by {signals.reason}: the best boards so far")
    listed = [find for find in finds if find.score > 0][: asked.n]
    if not listed:
        tell("no board with any points was found")
    if fmt is Format.table and listed:
        console().print(draw_board(format_rows(listed[0].board, dims)))
    write_table(("board", "score", "found"), [tuple(find) for find in listed], fmt)
    if signals.reason:
        raise typer.Exit(EXIT_INTERRUPTED)


def _size_and_start(asked: Asked) -> tuple[Dims, str | None]:
    if asked.start is None:
        if asked.dims is None:
            raise InputError("which size? give --dims, such as --dims 4x4, or a board with --from")
        return parse_dims(asked.dims), None
    return read_board(asked.start, parse_dims(asked.dims) if asked.dims else None)


def allowed_letters(exclude: str) -> str:
    """Return the letters that are left when some are excluded.

    Raises
    ------
    InputError
        If anything but a-z is excluded, or everything is.
    """
    wrong = sorted(set(exclude.lower()) - set(LETTERS))
    if wrong:
        raise InputError(f"--exclude {quote(exclude)}: {wrong[0]!r} is not a letter; expected letters such as jqxz")
    left = "".join(letter for letter in LETTERS if letter not in exclude.lower())
    if not left:
        raise InputError("--exclude leaves no letter: expected fewer than 26")
    return left


@contextlib.contextmanager
def _progress(stream: IO[str], runs: int) -> Iterator[Callable[[int, int, int, int], None]]:
    """Yield what shows the progress: one line redrawn on a terminal, a plain line per 30 s elsewhere."""
    if not stream.isatty():
        yield _PlainLines(stream, runs)
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console(stream), transient=True, refresh_per_second=4) as bar:
        task = bar.add_task("", total=runs if runs > 1 else None)

        def show(run: int, number: int, best: int, n_scored: int) -> None:
            bar.update(task, completed=run, description=describe(run, runs, number, best, n_scored))

        yield show


class _PlainLines:
    """One line per 30 s, for log files."""

    def __init__(self, stream: IO[str], runs: int) -> None:
        self._stream, self._runs = stream, runs
        self._shown_at_s = time.monotonic()

    def __call__(self, run: int, number: int, best: int, n_scored: int) -> None:
        if time.monotonic() - self._shown_at_s >= LINE_S:
            self._shown_at_s = time.monotonic()
            write_lines(self._stream, describe(run, self._runs, number, best, n_scored))


def describe(run: int, runs: int, number: int, best: int, n_scored: int) -> str:
    """Return the progress as one line."""
    which = f"run {run + 1} of {runs}, " if runs > 1 else ""
    return f"{which}round {number:,}, best {best:,}, {n_scored:,} boards scored"
