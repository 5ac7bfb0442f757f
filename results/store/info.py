"""What ``run.json`` says about a run besides its fingerprint, checked when it is read: types and sizes, not truth.

Every field may be missing, and there may be others.  A field that is there has its type, and so has all that it holds.
"""

from __future__ import annotations

from string import ascii_lowercase
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from boardclass.errors import quote
from boardclass.wordlist import KNOWN_SHA256, known_name

_Text = Annotated[str, Field(max_length=4000)]
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Letters = TypeVar("_Letters", str, list[str])


def _each_letter_once(value: _Letters) -> _Letters:
    if sorted("".join(value)) != list(ascii_lowercase):
        raise ValueError("it lacks or repeats a letter")
    return value


class _Told(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Wordlist(_Told):
    name: _Text = ""
    n_words: _Count = 0
    counts: dict[_Text, _Count] = {}  # of older runs, which tolerated lines that are no words
    left_out: dict[_Text, _Count] | None = None
    letters: dict[_Text, _Text] = {}  # beyond a-z, by the symbol that stands for them


class _Config(_Told):
    wordlist: _Text = ""
    search: dict[_Text, Any] = {}


class _Climbed(_Told):
    board: _Text = ""
    score: _Count = 0


class _Extends(_Told):
    location: _Text = ""
    cutoff: _Count = 0


class _Structure(_Told):
    fused: list[Literal["center", "edge", "corner"]] = []
    letter_order: Annotated[str, AfterValidator(_each_letter_once)] = ascii_lowercase
    unfuse_parts: Annotated[int, Field(ge=2, le=26)] = 2
    force_groups: Annotated[list[str], AfterValidator(_each_letter_once)] = [ascii_lowercase]


class _Info(_Told):
    wordlist: _Wordlist = _Wordlist()
    config: _Config = _Config()
    structure: _Structure = _Structure()
    scores: _Text = ""
    climbed: _Climbed | None = None
    extends: _Extends = _Extends()
    n_classes: _Count = 0
    kernel_hash: _Text = ""
    versions: dict[_Text, _Text] = {}
    max_bound_covers: _Text = ""


def check_info(info: Any) -> dict[str, Any]:
    """Return what was recorded about a run.

    Raises
    ------
    ValueError
        Naming the first field of another type or size, with its value.
    """
    try:
        _Info.model_validate(info)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, ("info", *first["loc"])))
        raise ValueError(f"{where} is {quote(first['input'])}: {first['msg']}") from error
    return dict(info)


def list_name(told: object, sha256: str) -> str:
    """Return how to call a word list: by its SHA-256 if it is well known, else as it is told, but not as another."""
    if known := known_name(sha256):
        return known
    if not isinstance(told, str) or not told:
        return "a list without a name"
    return f"a list that is not the {told} that it is said to be" if told in KNOWN_SHA256 else told
