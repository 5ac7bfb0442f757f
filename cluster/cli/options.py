"""What commands share: options, arguments, what the shell offers after a TAB, and the run that is meant.

Only typer is imported here, so that ``--help`` stays quick; functions import what they need.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from boardclass.errors import InputError, quote
from cluster.answers import render
from cluster.answers.records import PUBLISHED


def _offer(module: str, name: str) -> Callable[[str], list[str]]:
    """Return what completes a name: the module is imported after a TAB only; if none begins so, files are offered."""

    def complete(incomplete: str) -> list[str]:
        found = getattr(import_module(module), name)
        return [text for text in (found() if callable(found) else found) if text.startswith(incomplete)]

    return complete


complete_presets = _offer("configs.model", "preset_names")
complete_sizes = _offer("boardclass.geometry", "DIMS")
complete_wordlists = _offer("boardclass.wordlist", "available_names")
complete_known_wordlists = _offer("configs.sources", "sources")
complete_score_tables = _offer("boardclass.scores", "TABLES")
complete_dice = _offer("configs.dicesets", "dice_names")
complete_solvers = _offer("search.solvers", "METHODS")

Format = Annotated[render.Format, typer.Option("--format", help="How to print.", show_choices=True)]
Config = Annotated[
    str | None,
    typer.Argument(
        metavar="CONFIG",
        help="A TOML file or the name of a preset.",
        show_default=False,
        autocompletion=complete_presets,
    ),
]
Cutoff = Annotated[str | None, typer.Option(metavar="N|auto", help="Lowest score to report.")]


def _wordlist(show_default: str) -> Any:
    return typer.Option(
        "--wordlist",
        "-w",
        metavar="NAME|PATH",
        help="Word list.",
        show_default=show_default,
        autocompletion=complete_wordlists,
    )


Wordlist = Annotated[str | None, _wordlist("bundled list")]
RunWordlist = Annotated[str | None, _wordlist("that of the run")]
Scores = Annotated[
    str | None,
    typer.Option(
        "--scores",
        metavar="TABLE",
        help="standard, words, powers, or points from 3 letters on, such as 1,1,2,3,5,11.",
        show_default="standard",
        autocompletion=complete_score_tables,
    ),
]
Dims = Annotated[
    str | None,
    typer.Option("--dims", "-d", metavar="WxH", help="Columns x rows, such as 3x4.", autocompletion=complete_sizes),
]


def _say_turned(dims: str | None) -> str | None:
    from boardclass.geometry import parse_dims
    from cluster.streams import tell

    if dims is not None and (size := str(parse_dims(dims))) != dims.strip().lower():
        tell(f"{dims} turned: the same game as {size}, in which the boards are written")
    return dims


Size = Annotated[  # of boards that are not typed: they are never wider than high
    str | None,
    typer.Option(
        "--dims", "-d", metavar="WxH", help="Columns x rows.", callback=_say_turned, autocompletion=complete_sizes
    ),
]
Buckets = Annotated[
    str | None,
    typer.Option(
        "--buckets", "-b", metavar="SPEC", help="Letter buckets, such as 'aeijou bcd..., corner: aeiosuy bcdf...'."
    ),
]
Order = Annotated[
    str | None,
    typer.Option("--order", metavar="NAME", help="Cell order: ring, pairs or rows.", show_default="best for the size"),
]
_LATEST = "the latest under runs"
Run = Annotated[str | None, typer.Argument(metavar="DIR", help="Run directory.", show_default=_LATEST)]
RunList = Annotated[
    list[str] | None, typer.Argument(metavar="DIR", help="One or more run directories.", show_default=_LATEST)
]
Runs = Annotated[
    list[str] | None,
    typer.Argument(metavar="RUN|FOLDER", help="Run directories, or folders of runs.", show_default="the folder runs"),
]
Board = Annotated[
    str,
    typer.Argument(
        metavar="BOARD",
        help="The letters down the columns, or its rows, such as bld/eae/rts; q or Qu is a Qu cell.",
        show_default=False,
    ),
]
PlainQ = Annotated[bool, typer.Option("--plain-q", help="A q on the board is a plain Q, not Qu.")]
MinLetters = Annotated[
    int | None, typer.Option("--min-letters", metavar="N", min=1, help="Shorter words do not count.", show_default="3")
]
Values = Annotated[
    str | None,
    typer.Option(
        "--letter-values",
        metavar="scrabble|a=1,...",
        help="Points of a word: the values of its letters, times what --scores says.",
        show_default=False,
    ),
]
Bonus = Annotated[
    str | None,
    typer.Option(
        "--bonus",
        metavar="ROW.COLUMN=KIND,...",
        help="Double and triple letters and words on cells, by row and column: 1.1=dl,2.3=tw.",
        show_default=False,
    ),
]
Memory = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="MIB",
        help="For terms, keys and tree of one worker, besides words and paths.",
        show_default="config",
    ),
]
Probes = Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Processes that probe.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of all random choices.")]
Limit = Annotated[int, typer.Option("-n", metavar="N", min=1, help="How many boards to list.")]


def given(memory: int | None = None, **options: Any) -> dict[str, Any]:
    """Return the options that were given, as keys of a config: the memory is one of its search table."""
    search = {} if memory is None else {"search": {"memory_mb": memory}}
    return {name: value for name, value in options.items() if value is not None} | search


def chosen_run(directory: str | None = None) -> str:
    """Return the run that was named, or else the one under ``runs`` that was written to last, and say which.

    Raises InputError when there is none, or the one named is neither a directory on this machine nor a record that
    comes with orderly; addresses are left to the store.
    """
    if directory is not None:
        return named_run(directory)
    from cluster.streams import tell
    from cluster.watch.catalog import DEFAULT_FOLDER, Catalog

    places = [place.location for place in Catalog(()).places().values()]
    if not places:
        raise InputError(f"no run in the folder {DEFAULT_FOLDER} here: name its directory; orderly run makes one")
    latest = max(places, key=lambda place: (_written_s(Path(place)), place))
    tell(f"orderly: the latest run, {latest}")
    return latest


def named_run(directory: str) -> str:
    """Return the run directory that is named, or the record of that name that comes with orderly; refuse the rest."""
    if "://" in directory or ("\0" not in directory and Path(directory).is_dir()):
        return directory
    records = {path.parent.name: path.parent for path in sorted(PUBLISHED.glob("*/run.json"))}
    if directory in records:
        return str(records[directory])
    raise InputError(
        f"no run directory {quote(directory)}: expected what `orderly run --out DIR` wrote, or a record that "
        f"comes with orderly: {', '.join(records)}"
    )


def _written_s(run: Path) -> float:
    from results.storage import files

    written = (files.RUN, files.MANIFEST, files.EVENTS)
    return max((path.lstat().st_mtime for path in map(run.joinpath, written) if path.exists()), default=0.0)
