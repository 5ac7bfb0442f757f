"""``orderly climb``: local search for good boards, with progress, no proof."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import IO, TYPE_CHECKING, Annotated

import typer

from boardclass.errors import InputError, quote
from cluster.answers.render import Format, draw_board, write_table
from cluster.cli import options
from cluster.cli.app import EXIT_INTERRUPTED
from cluster.streams import console, tell, write_lines

if TYPE_CHECKING:
    pass


class Method(StrEnum):
    """How ``climb`` searches."""

    pool = "pool"
    anneal = "anneal"
    genetic = "genetic"


def climb(
    dims: options.Size = None,
    method: Annotated[
        Method, typer.Option(help="Pool hill climb, simulated annealing, genetic algorithm.")
    ] = Method.pool,
    pool: Annotated[
        int,
        typer.Option(metavar="N", min=2, max=10**6, help="Boards kept, chains, or population, of all runs together."),
    ] = 500,
    seed: options.Seed = 0,
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Searches that share the pool and are counted together.",
            show_default="5; others, and --from: 1",
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=256, help="Threads that score; never changes the result; 0: all cores."),
    ] = 0,
    exclude: Annotated[
        str, typer.Option(metavar="LETTERS", help="Letters that boards must not use.", show_default=False)
    ] = "",
    start: Annotated[
        str | None, typer.Option("--from", metavar="BOARD", help="Start from this board, not from random ones.")
    ] = None,
    contains: Annotated[
        str | None, typer.Option(metavar="WORD", help="Only boards on which this word can be traced.")
    ] = None,
    n: options.Limit = 10,
    wordlist: options.Wordlist = None,
    scores: options.Scores = None,
    min_letters: options.MinLetters = None,
    fmt: options.Format = Format.table,
) -> None:
    """Look for good boards by local search: fast, but without proof.

    Boards are canonical (one of their rotations and reflections).  The column "found" says how often a board was found:
    for annealing by how many chains, otherwise in how many of the --runs.  Ctrl-C prints the best boards so far (exit
    code 130); a second one prints nothing.

    The wordiest board: --scores words.  Points that double with every letter: --scores powers; climbing then misses
    boards with one very long word, such as rpqaselinifcoita: orderly longest --letters 17 --scores powers finds it.

    Boards have letters and Qu only, and points by length: climbing scores hundreds of thousands of boards, and the
    solver of other tiles, letter values and bonus cells (orderly show) takes milliseconds for each.
    """
    from boardclass.board import format_rows, in_symbols, read_board, trace, with_letters
    from boardclass.geometry import parse_dims
    from cluster.answers.boards import words_and_table
    from cluster.driver.session import StopSignals

    words, table = words_and_table(wordlist, scores)
    table = table.at_least(min_letters)
    if start is None and dims is None:
        raise InputError("which size? give --dims, such as --dims 4x4, or a board with --from")
    size, board = (parse_dims(dims or ""), None) if start is None else read_board(start, dims, tell, words.letters)
    letters = allowed_letters(in_symbols(exclude.lower(), words.letters))
    from search.local.boards import BatchScorer, Start
    from search.local.methods import default_runs, local_search
    from search.local.scorers import HoldingScorer, ParallelScorer
    from search.scoring.scorer import Scorer

    scorer: BatchScorer = ParallelScorer(Scorer(size, words.words, table), workers or os.cpu_count() or 1)
    origin: Start | None = board
    if contains is not None:
        word = in_symbols(contains.strip().lower(), words.letters).replace("qu", "q")
        scorer = holding = HoldingScorer(scorer, word)
        origin = origin or holding.first
        if board is not None and trace(word, board, scorer.geometry) is None:
            raise InputError(f"--from {quote(board)} does not hold the word {quote(word)}: start from one that does")
    runs = runs or default_runs(method, origin)
    with StopSignals() as signals, _progress(sys.stderr, runs) as told:
        finds = local_search(
            scorer,
            method,
            seed=seed,
            runs=runs,
            pool=pool,
            letters=letters,
            start=origin,
            progress=told,
            stop=lambda: bool(signals.reason),
        )
    if signals.reason:
        tell(f"stopped by {signals.reason}: the best boards so far")
    listed = [find for find in finds if find.score > 0][:n]
    if not listed:
        tell("no board with any points was found")
    if fmt is Format.table and listed:
        console().print(draw_board(format_rows(listed[0].board, size, words.letters)))
    rows = [tuple(find._replace(board=with_letters(find.board, words.letters))) for find in listed]
    write_table(("board", "score", "found"), rows, fmt)
    if signals.reason:
        raise typer.Exit(EXIT_INTERRUPTED)


def allowed_letters(exclude: str) -> str:
    """Return the letters that are left; InputError if anything but a-z is excluded, or everything."""
    from boardclass.board import LETTERS

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


class _PlainLines:  # one per 30 s, for log files
    def __init__(self, stream: IO[str], runs: int) -> None:
        self._stream, self._runs = stream, runs
        self._shown_at_s = time.monotonic()

    def __call__(self, run: int, number: int, best: int, n_scored: int) -> None:
        from cluster.driver.progress import LINE_S

        if time.monotonic() - self._shown_at_s >= LINE_S:
            self._shown_at_s = time.monotonic()
            write_lines(self._stream, describe(run, self._runs, number, best, n_scored))


def describe(run: int, runs: int, number: int, best: int, n_scored: int) -> str:
    """Return the progress as one line."""
    which = f"run {run + 1} of {runs}, " if runs > 1 else ""
    return f"{which}round {number:,}, best {best:,}, {n_scored:,} boards scored"
