"""What commands share: options, groups of them, what the shell offers after a TAB, and the run that
is meant.

Only typer is imported here, so that ``--help`` stays quick; functions import what they need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from orderly_boggle import boardclass, results
from orderly_boggle.boardclass.errors import ConfigError, DimsError, InputError
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.cluster.answers import render
from orderly_boggle.results.storage.files import named_run

if TYPE_CHECKING:
    from orderly_boggle.boardclass.scores import ScoreTable
    from orderly_boggle.boardclass.wordlist import WordList
    from orderly_boggle.cluster.boards.scoring import Scoring
    from orderly_boggle.configs.model import RunConfig
    from orderly_boggle.results.store.run import Run as StoredRun


def option(text: str, *names: str, **more: Any) -> Any:
    """Return an option with this help."""
    return Option(*names, help=text, **more)


def typed_word(text: str, letters: Mapping[str, str]) -> str:
    """Return a word that a person typed in q-form, its ``letters`` beyond a-z by their symbols."""
    from orderly_boggle.boardclass.wordlist import words_in_q_form

    word = boardclass.in_symbols(text.strip().lower(), letters)
    return words_in_q_form([word])[0]


numeric = partial(option, metavar="N")  # an option that takes a number


def argument(name: str, text: str, *, show_default: bool | str = False, **more: Any) -> Any:
    """Return an argument with this help."""
    return Argument(metavar=name, help=text, show_default=show_default, **more)


def _offer(module: str, name: str) -> Callable[[str], list[str]]:
    """Return what completes a name: the module is imported after a TAB only; if none begins so,
    files are offered.
    """

    def complete(incomplete: str) -> list[str]:
        offered = getattr(import_module(module), name)
        if callable(offered):
            offered = offered()
        return [text for text in offered if text.startswith(incomplete)]

    return complete


complete_sizes = _offer("orderly_boggle.boardclass.geometry", "DIMS")
complete_wordlists = _offer("orderly_boggle.boardclass.wordlist", "available_names")
complete_known_wordlists = _offer("orderly_boggle.boardclass.wordlist", "sources")
complete_dice = _offer("orderly_boggle.cluster.boards.dicesets", "dice_names")
complete_solvers = _offer("orderly_boggle.search.solvers", "METHODS")


_wordlist = partial(
    option,
    "Word list.",
    "--wordlist",
    "-w",
    metavar="NAME|PATH",
    autocompletion=complete_wordlists,
)
_scores = partial(
    option,
    "standard, words, powers, or points from 3 letters on, such as 1,1,2,3,5,11.",
    "--scores",
    metavar="TABLE",
    autocompletion=_offer("orderly_boggle.boardclass.scores", "TABLES"),
)


def _say_turned(dims: str | None) -> str | None:
    from orderly_boggle.cluster.streams import tell

    if dims is None:
        return None
    size = str(boardclass.parse_dims(dims))
    if size != dims.strip().lower():
        tell(f"{dims} turned: the same game as {size}, in which the boards are written")
    return dims


def _chosen(ctx: typer.Context, directory: str) -> str:
    if ctx.resilient_parsing:  # after a TAB
        return directory
    if directory == LATEST:
        return chosen_run()
    return chosen_run(directory)


Format = Annotated[render.Format, option("Output format.", "--format", show_choices=True)]
Wordlist = Annotated[str | None, _wordlist(show_default="bundled list")]
RunWordlist = Annotated[str | None, _wordlist(show_default="that of the run")]
Scores = Annotated[str | None, _scores(show_default="standard")]
RunScores = Annotated[str | None, _scores(show_default="those of the run")]
_typed_size = partial(option, metavar="WxH", autocompletion=complete_sizes)
Dims = Annotated[
    str | None,
    _typed_size("Columns x rows, such as 3x4; each 2 or more, 25 cells at most.", "--dims", "-d"),
]
AnyDims = Annotated[
    str | None, _typed_size("Columns x rows, such as 3x4 or 6x6; 12x12 at most.", "--dims", "-d")
]
# of boards that are not typed: they are never wider than high
_size = partial(option, metavar="WxH", callback=_say_turned, autocompletion=complete_sizes)
Size = Annotated[
    str | None, _size("Columns x rows; each 2 or more, 25 cells at most.", "--dims", "-d")
]
SmallSize = Annotated[
    str | None, _size("Columns x rows; each 2 or more, 16 cells at most.", "--dims", "-d")
]
Buckets = Annotated[
    str | None,
    option(
        "Letter buckets, such as 'aeijou bcd..., corner: aeiosuy bcdf...'.",
        "--buckets",
        "-b",
        metavar="SPEC",
    ),
]
Order = Annotated[
    str | None,
    option(
        "Cell order: ring, far, pairs or rows.",
        metavar="NAME",
        show_default="config, else the best for the size",
    ),
]
LATEST = "\0"  # instead of a run directory: no directory is called so
_LATEST = "the latest under runs"
Run = Annotated[str, argument("DIR", "Run directory.", show_default=_LATEST, callback=_chosen)]
RunList = Annotated[
    list[str] | None,
    argument("DIR", "One or more run directories.", show_default=_LATEST),
]
Runs = Annotated[
    list[str] | None,
    argument(
        "RUN|FOLDER",
        "Run directories, or folders of runs; published: those that come with orderly.",
        show_default="the folder runs",
    ),
]
TypedBoard = Annotated[
    str,
    argument(
        "BOARD",
        "The letters column by column, or the rows, such as bld/eae/rts; q or Qu is a Qu cell.",
    ),
]
MinLetters = Annotated[
    int | None, numeric("Shorter words do not count; 3 or more.", show_default="as --scores says")
]
Memory = Annotated[
    int | None,
    option(
        "Memory for the terms, keys and trees of one worker, in addition to words and paths.",
        metavar="MIB",
        show_default="config",
    ),
]
Probes = Annotated[int, numeric("Processes that search the probes.", "--workers", min=1)]
Threads = Annotated[
    int,
    numeric(
        "Threads that score boards; 0: all cores. The result does not depend on it.",
        "--workers",
        min=0,
        max=256,
    ),
]
Seed = Annotated[int, numeric("Seed of all random choices.", min=0)]
ProbeSeed = Annotated[int, numeric("Seed that draws the probes.", min=0)]
Limit = Annotated[int, numeric("How many boards to list.", "-n", min=1, max=10**9)]
Dice = Annotated[
    str,
    option(
        "classic, new, big, super, german, german-big, german-box, spanish, spanish-big, or a "
        "TOML file.",
        metavar="NAME|FILE",
        autocompletion=complete_dice,
    ),
]
RollSeed = Annotated[
    int | None, numeric("Seed: the same seed repeats the same rolls.", min=0, show_default="random")
]
RunOut = Annotated[
    str | None,
    option("Run directory.", metavar="DIR", show_default="runs/DIMS-WORDLIST-CUTOFF"),
]
Price = Annotated[float, option("Price of one core hour.", metavar="P", min=0, max=10**9)]


class Group:
    """Options that several commands take: a dataclass with one field for each of them."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the fields of its parameters of a :class:`Group` as options of
    its own.
    """
    parameters: list[Parameter] = []
    groups: dict[str, type[Any]] = {}
    for parameter in signature(command, eval_str=True).parameters.values():
        kind = parameter.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            groups[parameter.name] = kind
            parameters += signature(kind, eval_str=True).parameters.values()
        else:
            parameters.append(parameter)

    def call(**values: Any) -> None:
        for name, kind in groups.items():
            own = {field.name: values.pop(field.name) for field in fields(kind)}
            values[name] = kind(**own)
        command(**values)

    call.__name__ = command.__name__
    call.__doc__ = command.__doc__
    named = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    vars(call)["__signature__"] = Signature(named)
    return call


@dataclass(frozen=True)
class ListOptions(Group):
    """A word list and a score table."""

    wordlist: Wordlist = None
    scores: Scores = None

    def load(
        self, plain_q: bool | None = False, scores: str = "standard"
    ) -> tuple[WordList, ScoreTable]:
        """Return both; ``scores`` counts when no table was named, ``plain_q`` is for
        ``load_wordlist``.
        """
        from orderly_boggle.boardclass.wordlist import DEFAULT_WORDLIST, load_wordlist

        if self.scores is not None:
            scores = self.scores
        table = boardclass.parse_scores(scores)
        source = self.wordlist
        if source is None:
            source = DEFAULT_WORDLIST
        return load_wordlist(source, plain_q=plain_q), table


@dataclass(frozen=True)
class RuleOptions(ListOptions):
    """The rules for boards of any kind."""

    plain_q: Annotated[bool, option("A q on the board is a plain Q, not Qu.", "--plain-q")] = False
    min_letters: MinLetters = None
    letter_values: Annotated[
        str | None,
        option(
            "Points of a word: the values of its letters, times what --scores says.",
            metavar="scrabble|a=1,...",
        ),
    ] = None
    bonus: Annotated[
        str | None,
        option(
            "Double and triple letters and words on cells, by row and column: 1.1=dl,2.3=tw.",
            metavar="ROW.COLUMN=KIND,...",
        ),
    ] = None
    without: Annotated[
        str | None,
        option("Words that do not count, such as crude ones for a classroom.", metavar="FILE"),
    ] = None

    def scoring(self, scores: str = "standard") -> Scoring:
        """Return the list and the rules; ``scores`` counts when no table was named."""
        from orderly_boggle.cluster.boards.scoring import Scoring

        words, table = self.load(None, scores)
        source = self.wordlist or words.name
        left_out = frozenset[str]()
        if self.without is not None:
            from orderly_boggle.boardclass.word_entries import read_entries
            from orderly_boggle.boardclass.word_import import spellings
            from orderly_boggle.cluster.streams import tell

            entries = read_entries(Path(self.without))
            left_out = spellings(entries.words, words.letters.values())
            fewer = words.without(left_out)
            n_found = len(words) - len(fewer)
            tell(f"{self.without} leaves out {counted(n_found, 'word')} of {words.name}")
            words = fewer
        rules = table.at_least(self.min_letters), self.plain_q, self.letter_values, self.bonus
        return Scoring(words, source, *rules, left_out)


@dataclass(frozen=True)
class DiceRules(RuleOptions):
    """The rules for boards that dice show."""

    scores: Annotated[str | None, _scores(show_default="those of the dice")] = None


@dataclass(frozen=True)
class RunWords(Group):
    """A run directory, and the word list of the run."""

    directory: Run = LATEST
    wordlist: RunWordlist = None

    def open(self) -> tuple[StoredRun, WordList]:
        """Return both, read."""
        run = results.open_run(self.directory)
        return run, results.run_wordlist(run, self.wordlist)


Configured = Callable[..., "RunConfig"]  # see about_a_run
# the config of a run, and options for keys of it (search/question.py)
_ABOUT = {
    "config": Annotated[
        str | None,
        argument(
            "CONFIG",
            "A TOML file, the name of a preset, or a size.",
            autocompletion=_offer("orderly_boggle.configs.model", "bundled_names"),
        ),
    ],
    "dims": Size,
    "wordlist": Annotated[str | None, _wordlist(show_default="config, else the bundled list")],
    "cutoff": Annotated[
        str | None,
        option(
            "Lowest score to report; auto: the best of a hill climb.",
            metavar="N|auto",
            show_default="config, else auto",
        ),
    ],
    "buckets": Buckets,
    "scores": Annotated[str | None, _scores(show_default="config, else standard")],
}


def about_a_run(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes a config and options for its keys; its first parameter becomes a
    function that returns the config of these, and of more.
    """
    about = []
    for name, kind in _ABOUT.items():
        about.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind))
    own = list(signature(command, eval_str=True).parameters.values())[1:]

    def call(**values: Any) -> None:
        given = {name: values.pop(name) for name in _ABOUT}
        command(partial(_config, given), **values)

    call.__name__ = command.__name__
    call.__doc__ = command.__doc__
    named = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in own]
    vars(call)["__signature__"] = Signature([*about, *named])
    return call


def _config(about: Mapping[str, str | None], memory: int | None = None, **more: Any) -> RunConfig:
    """Return the config of some options, and of ``more``; None: not given."""
    from orderly_boggle.configs.model import bundled_names, load_config

    values = {}
    for name, value in {**about, **more}.items():
        if value is not None:
            values[name] = value
    source = values.pop("config", None)
    if source is None and "dims" not in values:
        raise ConfigError(
            "nothing to run: name a config, such as configs/3x3.toml or 3x3, or give --dims"
        )
    if source and source not in bundled_names() and _is_size(source):
        _say_turned(source)
        values = {"dims": source, **values}
        source = None
    if memory is not None:
        values["search"] = {"memory_mb": memory}
    return load_config(source, values)


def _is_size(text: str) -> bool:
    try:
        boardclass.parse_dims(text)
    except DimsError:
        return False
    return True


def chosen_run(directory: str | None = None) -> str:
    """Return the run that was named, or else the one under ``runs`` that was written to last, and
    say which.

    Raises InputError when there is none, or the one named is neither a directory on this machine
    nor a record that comes with orderly; addresses are left to the store.
    """
    if directory is not None:
        return named_run(directory)
    from orderly_boggle.cluster.streams import tell
    from orderly_boggle.cluster.watch.view import DEFAULT_FOLDER, MAX_RUNS, Catalog

    catalog = Catalog(())
    places = [place.location for place in catalog.places().values()]
    if catalog.is_cut:
        raise InputError(
            f"more than {MAX_RUNS:,} runs in the folder {DEFAULT_FOLDER} here: name the one that "
            "is meant"
        )
    if not places:
        raise InputError(
            f"no run in the folder {DEFAULT_FOLDER} here: name its directory; orderly run makes one"
        )
    _, latest = max((_written_s(Path(place)), place) for place in places)
    tell(f"orderly: the latest run, {latest}")
    return latest


def _written_s(run: Path) -> float:
    from orderly_boggle.results.storage import files

    written = (files.RUN, files.MANIFEST, files.EVENTS)
    changed_s = []
    for path in map(run.joinpath, written):
        if path.exists():
            changed_s.append(path.lstat().st_mtime)
    return max(changed_s, default=0.0)
