"""Usage errors in plain words: recent versions of typer pass on what pydantic says to programmers."""

from __future__ import annotations

from typing import Any

_EXPECTED = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
}
_LIMITS = ("ge", "le")


def make_plain(error: Any) -> None:
    """Let the message of a usage error say what was given and what was expected."""
    found = getattr(error.__cause__, "errors", None)  # pydantic's
    if not callable(found):
        return
    from boardclass.errors import quote

    first = found()[0]
    if first["type"] in _EXPECTED:
        limits = {
            name: f"{value:,}".removesuffix(".0") for name, value in first.get("ctx", {}).items() if name in _LIMITS
        }
        error.message = f"{quote(first['input'])}, expected {_EXPECTED[first['type']].format(**limits)}"
    else:
        error.message = error.message.removeprefix("Value error, ")
