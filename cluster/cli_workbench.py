"""Commands around the search: their options and help texts; the work is done in ``cluster/cli_*.py``.

Like ``cli.py``, this imports typer only and the commands import what they need.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cluster.cli_options import (
    BoardArgument,
    DimsOption,
    FormatOption,
    LimitOption,
    RunDirectories,
    RunDirectory,
    ScoresOption,
    SeedOption,
    WordlistOption,
)
from cluster.render import Format


class Method(StrEnum):
    """How ``climb`` searches."""

    pool = "pool"
    anneal = "anneal"
    genetic = "genetic"


def climb(
    dims: DimsOption = None,
    method: Annotated[
        Method, typer.Option("--method", help="Pool hill climb, simulated annealing, genetic algorithm.")
    ] = Method.pool,
    pool: Annotated[int, typer.Option(metavar="N", min=2, help="Boards kept, chains, or population.")] = 500,
    seed: SeedOption = 0,
    runs: Annotated[
        int, typer.Option(metavar="N", min=1, help="Searches, with seeds from --seed on, counted together.")
    ] = 1,
    workers: Annotated[
        int, typer.Option(metavar="N", min=0, help="Threads that score; never changes the result; 0: all cores.")
    ] = 0,
    exclude: Annotated[
        str, typer.Option("--exclude", metavar="LETTERS", help="Letters that boards must not use.", show_default=False)
    ] = "",
    start: Annotated[
        str | None, typer.Option("--from", metavar="BOARD", help="Start from this board, not from random ones.")
    ] = None,
    contains: Annotated[
        str | None, typer.Option("--contains", metavar="WORD", help="Only boards on which this word can be traced.")
    ] = None,
    n: LimitOption = 10,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Look for good boards by local search: fast, and no proof.

    Boards are canonical (one of their rotations and reflections).  The column "found" tells how often a board was
    found: for annealing by how many chains, otherwise in how many of the --runs.

    The wordiest board: --scores words.  Points that double with every letter: --scores powers; there the best board
    known (rpqaselinifcoita) is one that hill climbing misses, try --method anneal.
    """
    from cluster import cli_climb

    asked = cli_climb.Asked(dims, method.value, pool, seed, runs, workers, exclude, start, contains, n)
    cli_climb.climb(asked, wordlist, scores, fmt)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(climb)
