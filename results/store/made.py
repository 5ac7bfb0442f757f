"""How a run was begun: circumstances that ``run.json`` tells beside the question.

Types and sizes are checked when they are read, not truth: no verdict depends on them.
"""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import ConfigDict, Field, with_config

from orderly_boggle.boardclass.wordlist import LETTER, known_name, sources
from orderly_boggle.search.params import Budgets

EVERYTHING = "all that was discarded"  # what ``max_bound`` is the largest of, if a run says so

Text = Annotated[str, Field(max_length=4000)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Symbol = Annotated[str, Field(pattern="^[a-pr-z]$")]
Letter = Annotated[str, Field(pattern=f"^{LETTER}$")]
_config = with_config(ConfigDict(strict=True))  # other keys, of later versions, are passed over


@_config
@dataclass(frozen=True)
class ListTold:
    """What is told of a word list; its SHA-256 is part of the question."""

    name: Text = ""
    source: Text = ""  # name or path that it was asked for by
    n_words: Count = 0
    left_out: dict[Text, Count] | None = None  # lines, by reason; None: not told
    letters: dict[Symbol, Letter] = field(default_factory=dict)  # beyond a-z, by their symbols


@_config
@dataclass(frozen=True)
class Climbed:
    """The board that a cutoff was climbed to."""

    board: Text = ""
    score: Count | None = None
    seed: Count = 0


@_config
@dataclass(frozen=True)
class Extended:
    """The run that verdicts were taken over from."""

    location: Text = ""
    cutoff: Count = 0


@_config
@dataclass(frozen=True)
class Made:
    """How a run was begun."""

    words: ListTold = field(default_factory=ListTold)
    scores: Text = ""  # name of the score table
    config: Annotated[str, Field(max_length=2**20)] = ""  # its text, JSON
    budgets: Budgets = field(default_factory=Budgets)
    climbed: Climbed | None = None  # None: the cutoff was given
    share: Text = ""  # that the run began with; empty: all classes
    extends: Extended | None = None
    covers: Text = ""  # what ``max_bound`` of its rows is the largest of, see EVERYTHING
    kernel_hash: Text = ""
    versions: dict[Text, Text] = field(default_factory=dict)


def list_name(name: str, sha256: str) -> str:
    """Return how to call a word list: by its SHA-256 if it is well known, else as it is told, but
    not as another.

    >>> list_name("mine", "0" * 64), list_name("enable2k", "0" * 64)
    ('mine', 'a list that is not the enable2k that it is said to be')
    """
    if known := known_name(sha256):
        return known
    if not name:
        return "a list without a name"
    if name in sources():
        return f"a list that is not the {name} that it is said to be"
    return name
