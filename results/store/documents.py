"""JSON documents that carry their own SHA-256, and what ``run.json`` tells besides the fingerprint of the run.

Of ``run.json`` types and sizes are checked, not truth.  Every field may be missing, and there may be others.  A field
that is there has its type, and so has all that it holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from string import ascii_lowercase
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from boardclass.errors import quote
from boardclass.wordlist import KNOWN_SHA256, known_name
from results.errors import DamagedError
from results.storage.files import Folder

_SEAL, _FORMAT = "sha256", 1
_Model = TypeVar("_Model")


def format_document(values: Mapping[str, Any]) -> bytes:
    """Return ``values`` as JSON text with their SHA-256 added under ``sha256``."""
    return (
        json.dumps({**values, _SEAL: _digest(values)}, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    ).encode()


def parse_document(data: bytes, where: str, remedy: str) -> dict[str, Any]:
    """Return the values that :func:`format_document` wrote.

    Raises
    ------
    DamagedError
        When the text is not a JSON object or its digest does not match; the message ends with ``remedy``.
    """
    try:
        values = json.loads(data.decode())
        if not isinstance(values, dict):
            raise ValueError("it is not a JSON object")
        json.dumps(values, ensure_ascii=False).encode()  # half a surrogate pair is not text
        if _digest(values) != values.pop(_SEAL, None):
            raise ValueError("its content does not match its own SHA-256")
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{where} is damaged: {error}; {remedy}") from error
    return values


def read_document(folder: Folder, name: str, remedy: str) -> dict[str, Any] | None:
    """Return the document ``name`` of a run, or None when there is no such file.

    Raises
    ------
    DamagedError
        When it was altered.
    """
    data = folder.read(name)
    return None if data is None else parse_document(data, folder.where(name), remedy)


def read_model(folder: Folder, name: str, kind: TypeAdapter[_Model], remedy: str) -> _Model | None:
    """Return a document of a run as a model, types and sizes checked; None when there is no such file.

    Raises
    ------
    DamagedError
        When it was altered, or is not of this version.
    """
    values = read_document(folder, name, remedy)
    if values is None:
        return None
    if values.pop("format", None) != _FORMAT:
        raise DamagedError(f"{folder.where(name)} is not of this version; {remedy}")
    try:
        return kind.validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = ".".join(map(str, first["loc"]))
        told = f"{at} is {quote(first['input'])}: {first['msg']}"
        raise DamagedError(f"{folder.where(name)} is not of this version: {told}; {remedy}") from error


def _digest(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself, whatever the layout of the file."""
    body = {key: value for key, value in values.items() if key != _SEAL}
    return hashlib.sha256(json.dumps(body, sort_keys=True, allow_nan=False).encode()).hexdigest()


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
