"""JSON documents with their own SHA-256.

>>> format_document({"n": 1}).decode().split()[:3]
['{', '"n":', '1,']
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.results.errors import DamagedError, NewerError
from orderly_boggle.results.storage.local import Folder

_SEAL = "sha256"
_FORMAT = 1
_UNKNOWN = {"extra_forbidden", "unexpected_keyword_argument"}  # as pydantic calls such fields
UPGRADE = "use the version of orderly that wrote it, or a newer one"
_Model = TypeVar("_Model")
Reader = Callable[[str], _Model]  # of the JSON text of a document without its seal and format


def format_document(values: Mapping[str, Any]) -> bytes:
    """Return ``values`` as JSON text with their SHA-256 added under ``sha256``."""
    sealed = {**values, _SEAL: json_digest(values)}
    return (json.dumps(sealed, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def publish_document(
    folder: Folder, name: str, values: Mapping[str, Any], version: int = _FORMAT
) -> None:
    """Write a document into a run."""
    folder.publish(name, format_document({"format": version, **values}))


# making one takes ten times as long as using it
adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


def reader_of(kind: type[_Model]) -> Reader[_Model]:
    """Return what reads a document as a model, types and sizes checked."""
    return partial(adapter(kind).validate_json, strict=True)


def read_model(folder: Folder, name: str, kind: type[_Model], remedy: str) -> _Model | None:
    """Return a document of a run as a model, which has not changed since the first format; see
    :func:`read_versions`.
    """
    return read_versions(folder, name, {_FORMAT: reader_of(kind)}, remedy)


def read_versions(
    folder: Folder, name: str, readers: Mapping[int, Reader[_Model]], remedy: str
) -> _Model | None:
    """Return a document of a run as a model, by the reader of its format; None when there is no
    such file.

    Raises DamagedError when it was altered, or is of a format without a reader; NewerError when it
    is of a newer format, or has a field that the model does not.
    """
    data = folder.read(name)
    if data is None:
        return None
    try:
        values = json.loads(data.decode())
        if not isinstance(values, dict):
            raise ValueError("it is not a JSON object")
        json.dumps(values, ensure_ascii=False).encode()  # half a surrogate pair is not text
        seal = values.pop(_SEAL, None)
        if json_digest(values) != seal:
            raise ValueError("its content does not match its own SHA-256")
        version = values.pop("format", None)
        read = None
        if isinstance(version, int):
            read = readers.get(version)
        if read is None:
            known = " and ".join(map(str, sorted(readers)))
            what = f"it has format {quote(version)}, this version reads {known}"
            if isinstance(version, int) and version > max(readers):
                raise NewerError(f"{folder.where(name)} is of a newer version: {what}; {UPGRADE}")
            raise ValueError(what)
        return read(json.dumps(values))
    except ValidationError as error:
        if unknown := unknown_field(error):
            raise NewerError(
                f"{folder.where(name)} tells what this version does not know: {unknown}; {UPGRADE}"
            ) from error
        raise DamagedError(
            f"{folder.where(name)} is damaged: {first_fault(error)}; {remedy}"
        ) from error
    except (ValueError, RecursionError, InputError) as error:
        raise DamagedError(f"{folder.where(name)} is damaged: {error}; {remedy}") from error


def unknown_field(error: ValidationError) -> str:
    """Return the first field that a model does not have, with its value, if nothing else is wrong:
    a document that lacks fields as well is another one, which took the place of this.
    """
    faults = error.errors(include_url=False)
    if not {fault["type"] for fault in faults} <= _UNKNOWN:
        return ""
    return f"{'.'.join(map(str, faults[0]['loc']))} is {quote(faults[0]['input'])}"


def first_fault(error: ValidationError) -> str:
    """Return the first field that a model refuses, its value, and why."""
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))} is {quote(first['input'])}: {first['msg']}"


def json_digest(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of values, 64 hex digits, whatever the layout of a file of them."""
    text = json.dumps(values, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
