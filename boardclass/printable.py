"""Text from a file, made safe to show: what a terminal would obey, or an eye would not see, is escaped."""

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
