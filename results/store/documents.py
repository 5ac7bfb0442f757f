"""JSON documents that carry their own SHA-256: ``run.json``, ``claim.json``, the manifest of the rescored boards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from results.errors import DamagedError
from results.storage.folder import Folder

_SEAL = "sha256"


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


def _digest(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself, whatever the layout of the file."""
    body = {key: value for key, value in values.items() if key != _SEAL}
    return hashlib.sha256(json.dumps(body, sort_keys=True, allow_nan=False).encode()).hexdigest()
