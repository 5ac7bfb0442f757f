"""A table as HTML, for a notebook: every cell is text, and what came from a file cannot become markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from boardclass.printable import printable


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as HTML.

    title : stands above it
    columns : may be empty: no head is drawn then
    rows : numbers get thousands separators and are aligned right; None is an empty cell
    """
    head = "".join(f"<th>{_text(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    above = f"<thead><tr>{head}</tr></thead>" if columns else ""
    return f"<table><caption>{_text(title)}</caption>{above}<tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    text = "" if value is None else f"{value:,}" if is_number else str(value)
    return f'<td style="text-align: {"right" if is_number else "left"}">{_text(text)}</td>'


def _text(text: str) -> str:
    return escape(printable(text))
