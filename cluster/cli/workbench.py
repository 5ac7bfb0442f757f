"""Commands around the search: their options and help texts; the work is done in ``cluster/cli_*.py``.

Like ``cli.py``, this imports typer only and the commands import what they need.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cluster.cli import complete as cli_complete
from cluster.cli.options import (
    BoardArgument,
    BucketsOption,
    DimsOption,
    FormatOption,
    LimitOption,
    RunDirectories,
    RunDirectory,
    RunWordlistOption,
    ScoresOption,
    SeedOption,
    WordlistOption,
)
from cluster.cli.render import Format


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
    pool: Annotated[
        int,
        typer.Option(metavar="N", min=2, max=10**6, help="Boards kept, chains, or population, of all runs together."),
    ] = 500,
    seed: SeedOption = 0,
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

    The wordiest board: --scores words.  Points that double with every letter: --scores powers; climbing then misses
    boards with one very long word, such as rpqaselinifcoita: orderly longest --letters 17 --scores powers finds it.
    """
    from cluster.cli import climb as cli_climb

    asked = cli_climb.Asked(dims, method.value, pool, seed, runs, workers, exclude, start, contains, n)
    cli_climb.climb(asked, wordlist, scores, fmt)


def query(
    directories: RunDirectories,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT statement.", show_default=False)],
    timeout: Annotated[float, typer.Option("--timeout", metavar="S", min=0.1, help="Seconds it may take.")] = 60,
    memory: Annotated[
        int, typer.Option("--memory", metavar="MIB", min=64, max=2**24, help="MiB it may take beside the runs.")
    ] = 1024,
    fmt: FormatOption = Format.table,
) -> None:
    """Ask runs in SQL: views boards, classes and runs (DuckDB, read only).

    boards: run, board, score, n_images.  classes: one row per stored unit with class_id, path, depth, status, n_boards,
    max_bound, seconds, host ...  runs: dims, wordlist, cutoff, state, best_score, digest ...

    For example: orderly query runs/* "SELECT status, count(*), sum(seconds) FROM classes GROUP BY ALL", or "DESCRIBE
    classes" for the columns.  Files cannot be reached from SQL.
    """
    from cluster.cli import sql as cli_sql

    cli_sql.query(directories, sql, timeout, memory, fmt)


def compare(
    directory: RunDirectory,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Boards, one a line, a score may follow.", show_default=False)
    ],
    fmt: FormatOption = Format.table,
) -> None:
    """Compare the boards of a run with those of a file, whatever their rotation.

    FILE: what climb, top or score print as CSV, a published list, or bare boards.  Boards of the file with a score
    below the cutoff of the run are listed apart: the run has nothing to say about them.
    """
    from cluster.cli import sql as cli_sql

    cli_sql.compare(directory, file, fmt)


def roll(
    dice: Annotated[
        str,
        typer.Option(
            "--dice",
            metavar="NAME|FILE",
            help="classic, new, big, or a TOML file.",
            autocompletion=cli_complete.dice,
        ),
    ] = "new",
    n: LimitOption = 1,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", min=0, help="For the same rolls again.", show_default="random")
    ] = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Roll dice: random boards with their scores."""
    from cluster.cli import dice as cli_dice

    cli_dice.roll_boards(dice, n, seed, wordlist, scores, fmt)


def longest(
    dims: Annotated[
        str, typer.Option("--dims", "-d", metavar="WxH", help="Board size.", autocompletion=cli_complete.sizes)
    ] = "4x4",
    word: Annotated[str | None, typer.Option("--word", help="This word only; need not be in the list.")] = None,
    letters: Annotated[
        int | None, typer.Option(metavar="N", help="Words of N letters only: 17 on 4x4 has one Qu.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Try N random paths a word instead of all.")
    ] = None,
    seed: SeedOption = 0,
    workers: Annotated[int, typer.Option(metavar="N", min=0, max=256, help="Threads that score; 0: all cores.")] = 0,
    n: LimitOption = 10,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Find the best boards with a word that uses every cell: all paths through the board times all such words.

    Without --sample the answer is exhaustive, so a proof.  For the best board with a shorter word: climb --contains.
    """
    from cluster.cli import longest as cli_longest

    cli_longest.longest(dims, word, letters, sample, seed, workers, n, wordlist, scores, fmt)


def neighbours(
    board: BoardArgument,
    dims: DimsOption = None,
    n: LimitOption = 10,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """List the best boards one letter or one swap away."""
    from cluster.cli import longest as cli_longest

    cli_longest.neighbours(board, dims, n, wordlist, scores, fmt)


def lists(
    board: BoardArgument,
    dims: DimsOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Score a board under every word list that can be named."""
    from cluster.cli import longest as cli_longest

    cli_longest.lists(board, dims, scores, fmt)


def report(
    directory: RunDirectory,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Where to write it.", show_default="NAME-OF-DIR.html")
    ] = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=0, help="Boards drawn with their words.")] = 6,
    wordlist: RunWordlistOption = None,
) -> None:
    """Write one self-contained HTML page about a run: claim, boards with their words, charts."""
    from cluster.cli import report as cli_report

    cli_report.report(directory, out, n, wordlist)


def explain(
    board_class: Annotated[
        str,
        typer.Argument(
            metavar="CLASS", help="A number, or one group of letters per cell, as for bound.", show_default=False
        ),
    ],
    dims: DimsOption = None,
    buckets: BucketsOption = None,
    cutoff: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Tell where this cutoff eliminates the class.")
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="DIR", help="Tell what this run stored about class number CLASS.")
    ] = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Tell the story of one class: terms, bounds by forced cell, where it is eliminated."""
    from cluster.cli import explain as cli_explain

    cli_explain.explain(board_class, dims, buckets, wordlist, scores, cutoff, run, fmt)


wordlists = typer.Typer(name="wordlist", help="List, check and download word lists.", no_args_is_help=True)


@wordlists.command("list")
def wordlist_list(fmt: FormatOption = Format.table) -> None:
    """List the word lists that can be named, and how to come by the well-known others."""
    from cluster.cli import wordlist as cli_wordlist

    cli_wordlist.list_all(fmt)


@wordlists.command("check")
def wordlist_check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME",
            help="One word a line.",
            show_default=False,
            autocompletion=cli_complete.wordlists,
        ),
    ],
    fmt: FormatOption = Format.table,
) -> None:
    """Count usable words and lines left out by reason; tell whether it is a known list."""
    from cluster.cli import wordlist as cli_wordlist

    cli_wordlist.check(file, fmt)


@wordlists.command("get")
def wordlist_get(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Such as enable2k or yawl.",
            show_default=False,
            autocompletion=cli_complete.known_wordlists,
        ),
    ],
    url: Annotated[
        str | None, typer.Option("--url", help="Another place to take it from.", show_default="the documented one")
    ] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Download a known word list; it is kept only if its SHA-256 is the known one."""
    from cluster.cli import wordlist as cli_wordlist

    cli_wordlist.get(name, url, fmt)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (climb, longest, neighbours, lists, query, compare, report, explain, roll):
        app.command()(command)
    app.add_typer(wordlists)
