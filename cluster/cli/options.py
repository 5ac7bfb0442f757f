"""Options and arguments that several commands share; imports typer only, so that ``--help`` stays quick."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cluster.answers.render import Format
from cluster.cli import complete as cli_complete

FormatOption = Annotated[Format, typer.Option("--format", help="How to print.", show_choices=True)]
ConfigArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="CONFIG",
        help="A TOML file or the name of a preset.",
        show_default=False,
        autocompletion=cli_complete.presets,
    ),
]
CutoffOption = Annotated[str | None, typer.Option(metavar="N|auto", help="Lowest score to report.")]


def _wordlist(show_default: str) -> Any:
    return typer.Option(
        "--wordlist",
        "-w",
        metavar="NAME|PATH",
        help="Word list.",
        show_default=show_default,
        autocompletion=cli_complete.wordlists,
    )


WordlistOption = Annotated[str | None, _wordlist("bundled list")]
RunWordlistOption = Annotated[str | None, _wordlist("that of the run")]
ScoresOption = Annotated[
    str | None,
    typer.Option(
        "--scores",
        metavar="TABLE",
        help="standard, words, powers, or points from 3 letters on, such as 1,1,2,3,5,11.",
        show_default="standard",
        autocompletion=cli_complete.score_tables,
    ),
]
DimsOption = Annotated[
    str | None,
    typer.Option("--dims", "-d", metavar="WxH", help="Board size, such as 3x4.", autocompletion=cli_complete.sizes),
]
BucketsOption = Annotated[
    str | None,
    typer.Option(
        "--buckets", "-b", metavar="SPEC", help="Letter buckets, such as 'aeijou bcd..., corner: aeiosuy bcdf...'."
    ),
]
OrderOption = Annotated[
    str | None,
    typer.Option("--order", metavar="NAME", help="Cell order: ring, pairs or rows.", show_default="best for the size"),
]
_LATEST = "the latest under runs"
RunDirectory = Annotated[str | None, typer.Argument(metavar="DIR", help="Run directory.", show_default=_LATEST)]
RunDirectories = Annotated[
    list[str] | None,
    typer.Argument(metavar="DIR", help="One or more run directories.", show_default=_LATEST),
]
RunsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="RUN|FOLDER", help="Run directories, or folders of runs.", show_default="the folder runs"),
]
BoardArgument = Annotated[
    str,
    typer.Argument(
        metavar="BOARD",
        help="The letters down the columns, or its rows, such as bld/eae/rts; q is a Qu cell.",
        show_default=False,
    ),
]
MemoryOption = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="MIB",
        help="For terms, keys and tree of one worker, besides words and paths.",
        show_default="config",
    ),
]
ProbesOption = Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Processes that probe.")]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of all random choices.")]
LimitOption = Annotated[int, typer.Option("-n", metavar="N", min=1, help="How many boards to list.")]


def given(memory: int | None = None, **options: Any) -> dict[str, Any]:
    """Return the options that were given, as keys of a config: the memory is one of its search table."""
    search = {} if memory is None else {"search": {"memory_mb": memory}}
    return {name: value for name, value in options.items() if value is not None} | search
