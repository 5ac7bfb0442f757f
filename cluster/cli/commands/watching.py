"""Watch and look: runs, watch, serve."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.answers.render import Format
from cluster.cli.latest import run_or_latest
from cluster.cli.options import FormatOption, RunDirectory, RunsArgument


def runs(given: RunsArgument = None, fmt: FormatOption = Format.table) -> None:
    """List the runs under a folder: how far each is, its best board, and whether its rows prove it."""
    from cluster.cli import runs as cli_runs

    cli_runs.runs(given or [], fmt)


def watch(directory: RunDirectory = None) -> None:
    """Watch a run in the terminal: progress, time left, best boards, workers, disk; q quits and changes nothing."""
    from cluster.cli import watch as cli_watch

    cli_watch.watch(run_or_latest(directory))


def serve(
    given: RunsArgument = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", min=0, max=65535, help="0: any.", show_default="8765 or a free one"),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="127.0.0.1 or ::1: this machine only.")
    ] = "127.0.0.1",
    price: Annotated[float, typer.Option(metavar="P", min=0, help="Price of one core for an hour.")] = 0.02,
    opens: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Show runs, records, boards and classes in a browser of this machine; Ctrl-C ends it.

    The address that is printed holds a random token: nobody is answered without it.  Nothing can be changed there.
    """
    from cluster.cli import serve as cli_serve

    cli_serve.serve(given or [], port, host, price, opens=opens)


COMMANDS = (runs, watch, serve)
