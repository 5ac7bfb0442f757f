"""JSON documents that carry their own SHA-256: ``run.json``, ``claim.json``, the manifest of the rescored boards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from boardclass.errors import quote
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
