"""Ask what a run found: top, query, compare, report."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.answers.render import Format
from cluster.cli import complete as cli_complete
from cluster.cli.latest import run_or_latest, runs_or_latest
from cluster.cli.options import FormatOption, LimitOption, RunDirectories, RunDirectory, RunWordlistOption


def top(
    directories: RunDirectories = None,
    n: LimitOption = 10,
    contains: Annotated[
        list[str] | None,
        typer.Option("--contains", metavar="WORD", help="Only boards on which WORD can be traced; may be repeated."),
    ] = None,
    min_words: Annotated[int, typer.Option(metavar="N", min=0, help="Only boards with at least N words.")] = 0,
    rollable: Annotated[
        str | None,
        typer.Option(
            metavar="DICE",
            help="Only boards that these dice can show: classic, new, big, or a TOML file.",
            autocompletion=cli_complete.dice,
        ),
    ] = None,
    words: Annotated[bool, typer.Option("--words", help="Show the number of words as well.")] = False,
    wordlist: Annotated[
        str | None,
        typer.Option(
            "--wordlist",
            "-w",
            metavar="NAME|PATH",
            help="For --words and --min-words.",
            show_default="that of the run",
            autocompletion=cli_complete.wordlists,
        ),
    ] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """List the best boards of one or more runs."""
    from cluster.cli import sql as cli_sql

    filters = cli_sql.Filters(tuple(contains or ()), min_words, rollable, words)
    cli_sql.top(runs_or_latest(directories), n, filters, wordlist, fmt)


def query(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN|SQL",
            help="Run directories, the latest under runs by default; one SELECT statement, or none for a prompt.",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", metavar="S", min=0.1, help="Seconds it may take.")] = 60,
    memory: Annotated[
        int, typer.Option("--memory", metavar="MIB", min=64, max=2**24, help="MiB it may take besides the runs.")
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

    directories, sql = cli_sql.split_words(words or [])
    cli_sql.query(runs_or_latest(directories), sql, timeout, memory, fmt)


def compare(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN|FILE",
            help="A run directory, the latest under runs by default; boards, one a line, a score may follow.",
            show_default=False,
        ),
    ],
    wordlist: RunWordlistOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Compare the boards of a run with those of a file, whatever their rotation.

    FILE: what climb, top or score print as CSV, a published list, or bare boards, which are scored with the run's word
    list.  Boards of the file with a score below the cutoff of the run are listed separately: the run says nothing about
    them.
    """
    from cluster.cli import compare as cli_compare

    *directories, file = words
    if len(directories) > 1:
        raise typer.BadParameter(f"expected one run and one file, not {len(words)} arguments", param_hint="FILE")
    cli_compare.compare(run_or_latest(*directories), file, wordlist, fmt)


def report(
    directory: RunDirectory = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Where to write it.", show_default="NAME-OF-DIR.html")
    ] = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=0, help="Boards drawn with their words.")] = 6,
    wordlist: RunWordlistOption = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Write one self-contained HTML page about a run: claim, boards with their words, charts."""
    from cluster.cli import report as cli_report

    cli_report.report(run_or_latest(directory), out, n, wordlist, show=show)


COMMANDS = (top, query, compare, report)
