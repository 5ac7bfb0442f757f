"""Text as it is shown: control and invisible characters are escaped; numbers go with their
nouns.
"""

from collections.abc import Iterable, Sequence
from html import escape


def printable(text: str, keep: str = "") -> str:
    r"""Return ``text`` with everything escaped, as Python does it, that is not a visible character
    or a space.

    That is control characters (escape sequences begin with one), line and paragraph separators,
    marks that turn the direction of writing, invisible characters and halves of surrogate pairs.

    keep : characters to leave alone, such as a newline

    Examples
    --------
    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    shown = []
    for c in text:
        if not c.isprintable() and c not in keep:
            c = c.encode("unicode_escape").decode()
        shown.append(c)
    return "".join(shown)


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun, singular or plural; without ``many`` the plural takes an s.

    Examples
    --------
    >>> counted(1, "unit was", "units were"), counted(1200, "unit")
    ('1 unit was', '1,200 units')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def enumerated(names: Sequence[str], most: int = 5) -> str:
    """Return names as they are read in a sentence, and of more than ``most`` the number of the
    rest.

    Examples
    --------
    >>> enumerated(["a"]), enumerated(["a", "b", "c"]), enumerated(["a", "b", "c"], most=2)
    ('a', 'a, b and c', 'a, b and 1 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def percent(n_done: int, n_all: int) -> str:
    """Return a percentage that is 100 only when it is all of them."""
    return f"{100 if n_done >= n_all else min(99.9, 100 * n_done / n_all):.1f} %"


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    total = round(seconds)
    hours, minutes = divmod(total // 60, 60)
    if hours >= 48:
        return f"{hours / 24:.1f} d"
    if hours:
        return f"{hours} h {minutes:02d} min"
    if minutes:
        return f"{minutes} min {total % 60:02d} s"
    return f"{total} s"


def between(low_s: float | None, high_s: float | None) -> str:
    """Return the 95 % interval of a time, to stand behind it; empty where it is not known."""
    if low_s is None or high_s is None:
        return ""
    return f" (95 %: {duration(low_s)} to {duration(high_s)})"


def memory_size(n_bytes: int) -> str:
    """Return a number of bytes in the unit that fits, such as ``1.8 GiB``."""
    value = float(n_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024:
            if unit == "bytes":
                return f"{value:,.0f} {unit}"
            return f"{value:,.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} TiB"


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as HTML.

    title : stands above it
    columns : may be empty: no head is drawn then
    rows : numbers get thousands separators and are aligned right; None is an empty cell
    """
    head = "".join(f"<th>{_text(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    above = ""
    if columns:
        above = f"<thead><tr>{head}</tr></thead>"
    return f"<table><caption>{_text(title)}</caption>{above}<tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number:
        text = f"{value:,}"
    else:
        text = str(value)
    if value is None:
        text = ""
    return f'<td style="text-align: {"right" if is_number else "left"}">{_text(text)}</td>'


def _text(text: str) -> str:
    return escape(printable(text))
