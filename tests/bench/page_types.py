"""Write the types of what pages are told for the type check of the JavaScript.

python -m tests.bench.page_types    writes cluster/web/answers.d.ts from cluster/answers/told.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from orderly_boggle.cluster.answers.told import PAGES

ROOT = Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "cluster/web/answers.d.ts"
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}
_HEAD = """\
// What the server answers, for the type check of static/*.js (tsc).
// Made from cluster/answers/told.py by python -m tests.bench.page_types.
"""


def type_of(kind: Any) -> str:
    """Return a type of Python as TypeScript writes it."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " | ".join(map(type_of, inner))
    if origin is tuple:
        return f"[{', '.join(map(type_of, inner))}]"
    if origin in (list, Sequence):
        item = type_of(inner[0])
        return f"({item})[]" if " | " in item else f"{item}[]"
    if origin in (dict, Mapping):
        return f"Record<{type_of(inner[0])}, {type_of(inner[1])}>"
    if kind in PAGES:
        return str(kind.__name__)
    raise TypeError(f"{kind} has no name in TypeScript yet")


def interface(page: type) -> str:
    """Return the interface of a TypedDict."""
    lines = [f"export interface {page.__name__} {{"]
    for name, kind in get_type_hints(page, include_extras=True).items():
        is_optional = get_origin(kind) is NotRequired
        if get_origin(kind) in (NotRequired, Required):
            (kind,) = get_args(kind)
        lines.append(f"  {name}{'?' if is_optional else ''}: {type_of(kind)};")
    return "\n".join([*lines, "}\n"])


def text() -> str:
    """Return the file."""
    return "\n".join([_HEAD, *map(interface, PAGES)])


if __name__ == "__main__":
    FILE.write_text(text())
