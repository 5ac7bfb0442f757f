"""Documents of format 1, which named the question ``fingerprint`` and the rest ``info``; the only
file that knows them.

Of a run that does not name its rules some were others than today's: all cells were compared with
their images (``demands``), and no cell of a wide class was fused first (``coarse_groups``).

>>> from importlib.resources import files
>>> stored = files("orderly_boggle.results") / "published/3x3-scowl70/run.json"
>>> question, made = read_run(stored.read_text())
>>> question.dims, question.cutoff, made.words.name
('3x3', 400, 'scowl70')
"""

import json
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict  # that of Python 3.11 is not enough for pydantic

from orderly_boggle.boardclass.scores import MAX_LETTERS, MIN_LETTERS, SUM_LIMIT
from orderly_boggle.results.store.documents import adapter
from orderly_boggle.results.store.made import (
    Climbed,
    Count,
    Extended,
    Letter,
    ListTold,
    Made,
    Symbol,
    Text,
)
from orderly_boggle.search.params import Budgets, Rules
from orderly_boggle.search.question import Question

_OLDER = {"demands": "every", "coarse_groups": []}
_Points = Annotated[int, Field(ge=0, lt=2**63)]
_Tables = dict[Text, Any]
_Kind = TypeVar("_Kind", Rules, Budgets)


@with_config(ConfigDict(strict=True, extra="forbid"))
@dataclass(frozen=True)
class Fingerprint:
    """The question but for its rules."""

    dims: str
    wordlist_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    scores: Annotated[
        tuple[_Points, ...], Field(min_length=MIN_LETTERS + 1, max_length=MAX_LETTERS + 1)
    ]
    cutoff: Annotated[int, Field(gt=0, lt=SUM_LIMIT)]
    partition: str
    cell_order: tuple[int, ...]

    def question(self, rules: Rules) -> Question:
        """Return the question with its rules."""
        return Question(
            self.dims,
            self.wordlist_sha256,
            self.scores,
            self.cutoff,
            self.partition,
            self.cell_order,
            rules,
        )


class _Wordlist(TypedDict, total=False):
    name: Text
    n_words: Count
    counts: dict[Text, Count]  # of the oldest runs, which tolerated lines that are no words
    left_out: dict[Text, Count] | None
    letters: dict[Symbol, Letter]


class _Config(TypedDict, total=False):
    wordlist: Text
    search: _Tables


class _Info(TypedDict, total=False):
    wordlist: _Wordlist
    config: _Config
    structure: _Tables
    climbed: Climbed | None
    versions: dict[Text, Text]
    scores: Text
    share: Text
    extends: Extended
    max_bound_covers: Text
    kernel_hash: Text


@with_config(ConfigDict(strict=True, extra="allow"))  # of those inside as well
class _RunFile(TypedDict):
    fingerprint: Fingerprint
    info: _Info


def read_run(text: str) -> tuple[Question, Made]:
    """Return what a ``run.json`` of this format tells.

    Raises ValueError, InputError when it is none.
    """
    document = adapter(_RunFile).validate_json(text, strict=True)
    info = document["info"]
    config = info.get("config", _Config())
    structure = info.get("structure", {})
    if strange := set(structure) - {each.name for each in fields(Rules)}:
        raise ValueError(f"no search has the rule {min(strange)!r}")
    # what was left to its default stands there as null
    settings = {}
    for k, v in config.get("search", {}).items():
        if v is not None:
            settings[k] = v
    told = info.get("wordlist", _Wordlist())
    made = Made(
        words=ListTold(
            name=told.get("name", ""),
            source=config.get("wordlist", ""),
            n_words=told.get("n_words", 0),
            left_out=told.get("left_out"),
            letters=told.get("letters", {}),
        ),
        scores=info.get("scores", ""),
        config=json.dumps(config),
        budgets=_values(Budgets, settings),
        climbed=info.get("climbed"),
        share=info.get("share", ""),
        extends=info.get("extends"),
        covers=info.get("max_bound_covers", ""),
        kernel_hash=info.get("kernel_hash", ""),
        versions=info.get("versions", {}),
    )
    return document["fingerprint"].question(_values(Rules, _OLDER | settings | structure)), made


def _values(kind: type[_Kind], recorded: _Tables) -> _Kind:
    """Return the rules or budgets among some settings."""
    known = {each.name for each in fields(kind)}
    chosen = {}
    for name, value in recorded.items():
        if name in known:
            chosen[name] = value
    return TypeAdapter(kind).validate_json(json.dumps(chosen), strict=True)


def with_question(text: str, rules: Rules) -> str:
    """Return a ``claim.json`` of this format, JSON, in the layout of the second: with its question,
    which is cut by the ``rules`` of its run.

    Raises ValueError, InputError when it tells no question.
    """
    values = json.loads(text)
    told = json.dumps(values.pop("fingerprint", None))
    fingerprint = adapter(Fingerprint).validate_json(told, strict=True)
    return json.dumps({**values, "question": asdict(fingerprint.question(rules))})
