"""Word lists: list, check, get."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.answers.render import Format
from cluster.cli import complete as cli_complete
from cluster.cli.group import Whole
from cluster.cli.options import FormatOption

wordlists = typer.Typer(name="wordlist", cls=Whole, help="List, check and download word lists.", no_args_is_help=True)


@wordlists.command("list")
def wordlist_list(fmt: FormatOption = Format.table) -> None:
    """List the word lists that can be named, and how to get the other well-known ones."""
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
    """Count usable words and lines left out by reason; say whether it is a known list."""
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
