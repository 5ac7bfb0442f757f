"""What commands share: options, groups of them, what the shell offers after a TAB, and the run that
is meant.

Only typer is imported here, so that ``--help`` stays quick; functions import what they need.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from boardclass.errors import ConfigError, InputError, quote
from cluster.answers import render
from results.storage.files import PUBLISHED

if TYPE_CHECKING:
    from boardclass.scores import ScoreTable
    from boardclass.wordlist import WordList
    from cluster.answers.boards import Asked
    from configs.model import RunConfig


def _offer(module: str, name: str) -> Callable[[str], list[str]]:
    """Return what completes a name: the module is imported after a TAB only; if none begins so,
    files are offered.
    """

    def complete(incomplete: str) -> list[str]:
        found = getattr(import_module(module), name)
        return [
            text for text in (found() if callable(found) else found) if text.startswith(incomplete)
        ]

    return complete


complete_sizes = _offer("boardclass.geometry", "DIMS")
complete_wordlists = _offer("boardclass.wordlist", "available_names")
complete_known_wordlists = _offer("configs.sources", "sources")
complete_dice = _offer("configs.dicesets", "dice_names")
complete_solvers = _offer("search.solvers", "METHODS")


def _wordlist(show_default: str) -> Any:
    names = ("--wordlist", "-w")
    return Option(
        *names,
        metavar="NAME|PATH",
        help="Word list.",
        show_default=show_default,
        autocompletion=complete_wordlists,
    )


def _say_turned(dims: str | None) -> str | None:
    from boardclass.geometry import parse_dims
    from cluster.streams import tell

    if dims is not None and (size := str(parse_dims(dims))) != dims.strip().lower():
        tell(f"{dims} turned: the same game as {size}, in which the boards are written")
    return dims


def _chosen(ctx: typer.Context, directory: str) -> str:
    if ctx.resilient_parsing:  # after a TAB
        return directory
    return chosen_run(None if directory == LATEST else directory)


Format = Annotated[render.Format, Option("--format", help="Output format.", show_choices=True)]
Wordlist = Annotated[str | None, _wordlist("bundled list")]
RunWordlist = Annotated[str | None, _wordlist("that of the run")]
Scores = Annotated[
    str | None,
    Option(
        metavar="TABLE",
        help="standard, words, powers, or points from 3 letters on, such as 1,1,2,3,5,11.",
        show_default="standard",
        autocompletion=_offer("boardclass.scores", "TABLES"),
    ),
]
Dims = Annotated[
    str | None,
    Option(
        "--dims",
        "-d",
        metavar="WxH",
        help="Columns x rows, such as 3x4; each 2 or more, 25 cells at most.",
        autocompletion=complete_sizes,
    ),
]
Size = Annotated[  # of boards that are not typed: they are never wider than high
    str | None,
    Option(
        "--dims",
        "-d",
        metavar="WxH",
        help="Columns x rows; each 2 or more, 25 cells at most.",
        callback=_say_turned,
        autocompletion=complete_sizes,
    ),
]
Buckets = Annotated[
    str | None,
    Option(
        "--buckets",
        "-b",
        metavar="SPEC",
        help="Letter buckets, such as 'aeijou bcd..., corner: aeiosuy bcdf...'.",
    ),
]
Order = Annotated[
    str | None,
    Option(
        metavar="NAME", help="Cell order: ring, pairs or rows.", show_default="best for the size"
    ),
]
LATEST = "\0"  # instead of a run directory: no directory is called so
_LATEST = "the latest under runs"
Run = Annotated[
    str, Argument(metavar="DIR", help="Run directory.", show_default=_LATEST, callback=_chosen)
]
RunList = Annotated[
    list[str] | None,
    Argument(metavar="DIR", help="One or more run directories.", show_default=_LATEST),
]
Runs = Annotated[
    list[str] | None,
    Argument(
        metavar="RUN|FOLDER",
        help="Run directories, or folders of runs.",
        show_default="the folder runs",
    ),
]
Board = Annotated[
    str,
    Argument(
        metavar="BOARD",
        help="The letters column by column, or the rows, such as bld/eae/rts; q or Qu is a Qu "
        "cell.",
        show_default=False,
    ),
]
MinLetters = Annotated[
    int | None, Option(metavar="N", min=1, help="Shorter words do not count.", show_default="3")
]
Memory = Annotated[
    int | None,
    Option(
        metavar="MIB",
        help="Memory for the terms, keys and trees of one worker, in addition to words and paths.",
        show_default="config",
    ),
]
Probes = Annotated[
    int, Option("--workers", metavar="N", min=1, help="Processes that search the probes.")
]
Threads = Annotated[
    int,
    Option(
        "--workers",
        metavar="N",
        min=0,
        max=256,
        help="Threads that score boards; 0: all cores. The result does not depend on it.",
    ),
]
Seed = Annotated[int, Option(metavar="N", min=0, help="Seed of all random choices.")]
Limit = Annotated[int, Option("-n", metavar="N", min=1, help="How many boards to list.")]
Dice = Annotated[
    str,
    Option(
        metavar="NAME|FILE",
        help="classic, new, big, super, or a TOML file.",
        autocompletion=complete_dice,
    ),
]
Price = Annotated[float, Option(metavar="P", min=0, help="Price of one core hour.")]


class Group:
    """Options that several commands take: a dataclass with one field for each of them."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the fields of its parameters of a :class:`Group` as options of
    its own.
    """
    parameters: list[Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in signature(command, eval_str=True).parameters.values():
        kind = parameter.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            groups[parameter.name] = kind
            parameters += signature(kind, eval_str=True).parameters.values()
        else:
            parameters.append(parameter)

    def call(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    call.__name__, call.__doc__ = command.__name__, command.__doc__
    named = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    vars(call)["__signature__"] = Signature(named)
    return call


@dataclass(frozen=True)
class Words(Group):
    """A word list and a score table."""

    wordlist: Wordlist = None
    scores: Scores = None

    def load(
        self, plain_q: bool | None = False, scores: str = "standard"
    ) -> tuple[WordList, ScoreTable]:
        """Return both; ``scores`` counts when no table was named, ``plain_q`` is for
        ``load_wordlist``.
        """
        from boardclass.scores import parse_scores
        from boardclass.wordlist import DEFAULT_WORDLIST, load_wordlist

        table = parse_scores(scores if self.scores is None else self.scores)
        return load_wordlist(
            DEFAULT_WORDLIST if self.wordlist is None else self.wordlist, plain_q=plain_q
        ), table


@dataclass(frozen=True)
class Rules(Words):
    """The rules for boards of any kind."""

    plain_q: Annotated[bool, Option("--plain-q", help="A q on the board is a plain Q, not Qu.")] = (
        False
    )
    min_letters: MinLetters = None
    letter_values: Annotated[
        str | None,
        Option(
            metavar="scrabble|a=1,...",
            help="Points of a word: the values of its letters, times what --scores says.",
        ),
    ] = None
    bonus: Annotated[
        str | None,
        Option(
            metavar="ROW.COLUMN=KIND,...",
            help="Double and triple letters and words on cells, by row and column: 1.1=dl,2.3=tw.",
        ),
    ] = None
    without: Annotated[
        str | None,
        Option(metavar="FILE", help="Words that do not count, such as crude ones for a classroom."),
    ] = None

    def asked(self, scores: str = "standard") -> Asked:
        """Return the list and the rules; ``scores`` counts when no table was named."""
        from cluster.answers.boards import Asked

        words, table = self.load(None, scores)
        source, left_out = self.wordlist or words.name, frozenset[str]()
        if self.without is not None:
            from boardclass.word_files import read_entries
            from boardclass.word_import import spellings
            from cluster.streams import tell

            entries = read_entries(Path(self.without))
            left_out = spellings(entries.words, words.letters.values())
            fewer = words.without(left_out)
            n_found = len(words) - len(fewer)
            tell(f"{n_found:,} words of {words.name} are in {self.without} and do not count")
            words = fewer
        return Asked(
            words,
            source,
            table.at_least(self.min_letters),
            self.plain_q,
            self.letter_values,
            self.bonus,
            left_out,
        )


@dataclass(frozen=True)
class RunOptions(Group):
    """What a run is about."""

    config: Annotated[
        str | None,
        Argument(
            metavar="CONFIG",
            help="A TOML file, the name of a preset, or a size.",
            show_default=False,
            autocompletion=_offer("configs.model", "bundled_names"),
        ),
    ] = None
    dims: Size = None
    wordlist: Wordlist = None
    cutoff: Annotated[
        str | None,
        Option(metavar="N|auto", help="Lowest score to report; auto: the best of a hill climb."),
    ] = None
    buckets: Buckets = None
    scores: Scores = None

    def resolve(self, memory: int | None = None, **more: Any) -> RunConfig:
        """Return the config of these options, and of ``more``; None: not given."""
        from boardclass.geometry import DIMS
        from configs.model import bundled_names, load_config

        given = {name: value for name, value in (vars(self) | more).items() if value is not None}
        source = given.pop("config", None)
        if source is None and "dims" not in given:
            raise ConfigError(
                "nothing to run: name a config, such as configs/3x3.toml or 3x3, or give --dims"
            )
        if source in DIMS and source not in bundled_names():  # a size that no preset has
            source, given = None, {"dims": source, **given}
        return load_config(
            source, given if memory is None else {**given, "search": {"memory_mb": memory}}
        )


def chosen_run(directory: str | None = None) -> str:
    """Return the run that was named, or else the one under ``runs`` that was written to last, and
    say which.

    Raises InputError when there is none, or the one named is neither a directory on this machine
    nor a record that comes with orderly; addresses are left to the store.
    """
    if directory is not None:
        return named_run(directory)
    from cluster.streams import tell
    from cluster.watch.view import DEFAULT_FOLDER, Catalog

    places = [place.location for place in Catalog(()).places().values()]
    if not places:
        raise InputError(
            f"no run in the folder {DEFAULT_FOLDER} here: name its directory; orderly run makes one"
        )
    latest = max(places, key=lambda place: (_written_s(Path(place)), place))
    tell(f"orderly: the latest run, {latest}")
    return latest


def named_run(directory: str) -> str:
    """Return the run directory that is named, or the record of that name that comes with orderly;
    refuse the rest.
    """
    if "://" in directory or ("\0" not in directory and Path(directory).is_dir()):
        return directory
    records = {path.parent.name: path.parent for path in sorted(PUBLISHED.glob("*/run.json"))}
    if directory in records:
        return str(records[directory])
    near = difflib.get_close_matches(directory.lower(), records, 3, 0.4) or list(records)[-1:]
    raise InputError(
        f"no run directory {quote(directory)}: expected what `orderly run --out DIR` wrote, or a "
        f"record that comes with orderly, such as {', '.join(near)}"
    )


def _written_s(run: Path) -> float:
    from results.storage import files

    written = (files.RUN, files.MANIFEST, files.EVENTS)
    return max(
        (path.lstat().st_mtime for path in map(run.joinpath, written) if path.exists()), default=0.0
    )
