"""Text as it is shown: what a terminal would obey, or an eye would not see, is escaped; numbers go with their nouns."""

from __future__ import annotations


def printable(text: str, keep: str = "") -> str:
    r"""Return ``text`` with everything escaped, as Python does it, that is not a visible character or a space.

    That is control characters (escape sequences begin with one), line and paragraph separators, marks that turn the
    direction of writing, invisible characters and halves of surrogate pairs.

    Parameters
    ----------
    text : str
    keep : str
        Characters to leave alone, such as a newline.

    Examples
    --------
    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun, singular or plural; without ``many`` the plural takes an s.

    Examples
    --------
    >>> counted(1, "unit was", "units were"), counted(1200, "unit")
    ('1 unit was', '1,200 units')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"
