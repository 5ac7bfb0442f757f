"""Ask what a run found: top, query, compare, report."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.answers.render import Format
from cluster.cli import complete as cli_complete
from cluster.cli.options import FormatOption, LimitOption, RunDirectories, RunDirectory, RunWordlistOption


def top(
    directories: RunDirectories,
    n: LimitOption = 10,
    contains: Annotated[
        list[str] | None,
        typer.Option("--contains", metavar="WORD", help="Only boards on which WORD can be traced; may be repeated."),
    ] = None,
    min_words: Annotated[int, typer.Option(metavar="N", min=0, help="Only boards with so many words.")] = 0,
    rollable: Annotated[
        str | None,
        typer.Option(
            metavar="DICE",
            help="Only boards that these dice can show: classic, new, big, or a TOML file.",
            autocompletion=cli_complete.dice,
        ),
    ] = None,
    wordlist: Annotated[
        str | None,
        typer.Option(
            "--wordlist",
            "-w",
            metavar="NAME|PATH",
            help="For --min-words.",
            show_default="that of the run",
            autocompletion=cli_complete.wordlists,
        ),
    ] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """List the best boards of one or more runs."""
    from cluster.cli import sql as cli_sql

    filters = cli_sql.Filters(tuple(contains or ()), min_words, rollable)
    cli_sql.top(directories, n, filters, wordlist, fmt)


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


def report(
    directory: RunDirectory,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Where to write it.", show_default="NAME-OF-DIR.html")
    ] = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=0, help="Boards drawn with their words.")] = 6,
    wordlist: RunWordlistOption = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Write one self-contained HTML page about a run: claim, boards with their words, charts."""
    from cluster.cli import report as cli_report

    cli_report.report(directory, out, n, wordlist, show=show)


COMMANDS = (top, query, compare, report)
