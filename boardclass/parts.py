"""Paths of parts, the only owner of their text: ``5=ab/6=t`` forces cell 5 to ``a`` or ``b``, and
then cell 6 to ``t``.

A path names a part of a class.  Each step forces the letters of one cell, within those the steps
before it left there. The empty path is the whole class.
"""

import re
from collections.abc import Iterator

from orderly_boggle.boardclass.errors import PathError, quote

Part = tuple[int, str]  # a cell and the letters it is forced to

SEPARATOR = "/"
_PART = "(0|[1-9][0-9]?)=[a-z]{1,26}"
PATH_PATTERN = f"{_PART}({SEPARATOR}{_PART})*"  # of a path that is not empty
_PATH = re.compile(PATH_PATTERN)
_N_LETTERS = 26


def max_depth(n_cells: int) -> int:
    """Return the largest number of parts in a path: each takes a letter away from a cell."""
    return _N_LETTERS * n_cells


def parse_path(path: str, n_cells: int) -> tuple[Part, ...]:
    """Return the parts of a path, the first forced first.

    Raises PathError if a part is not ``cell=letters`` with a cell of the board and distinct
    letters, or there are too many parts.

    Examples
    --------
    >>> parse_path("5=ab/6=t", 9)
    ((5, 'ab'), (6, 't'))
    """
    if not path:
        return ()
    if not _PATH.fullmatch(path):
        raise PathError(
            f"path {quote(path)} is not of the form 5=ab/6=t: expected a path that the run recorded"
        )
    parts = tuple(_parse_part(part) for part in path.split(SEPARATOR))
    if len(parts) > max_depth(n_cells):
        raise PathError(
            f"path {quote(path)} has {len(parts):,} parts, and each takes a letter away from a cell"
        )
    for cell, letters in parts:
        if cell >= n_cells or len(set(letters)) < len(letters):
            raise PathError(
                f"path {quote(path)}: {cell}={letters} needs a cell below {n_cells} "
                "and distinct letters"
            )
    return parts


def join(path: str, cell: int, letters: str) -> str:
    """Return the path of the part of ``path`` whose ``cell`` is forced to ``letters``."""
    return f"{path}{SEPARATOR if path else ''}{cell}={letters}"


def last_part(path: str) -> Part:
    """Return the part that a path ends with: its cell and letters.

    Raises PathError if the path does not end with a part.
    """
    part = path.rpartition(SEPARATOR)[2]
    if not _PATH.fullmatch(part):
        raise PathError(f"path {quote(path)} does not end with a part: expected such as 5=ab")
    return _parse_part(part)


def _parse_part(part: str) -> Part:
    cell, _, letters = part.partition("=")
    return int(cell), letters


def way_to(path: str) -> Iterator[str]:
    """Yield the paths that lead from the class to a part, the shortest first, without the class,
    with the part.

    They are made one at a time, so a caller may give up on a hostile path where its first step
    leads nowhere.
    """
    end = path.find(SEPARATOR)
    while end >= 0:
        yield path[:end]
        end = path.find(SEPARATOR, end + 1)
    if path:
        yield path


def ancestors(path: str) -> tuple[str, ...]:
    """Return the paths of all that a part lies in, the class (the empty path) first; nothing lies
    above the class.
    """
    return ("", *way_to(path))[:-1]


def is_below(path: str, above: str) -> bool:
    """Return whether ``path`` goes on where ``above`` ends; a path is not below itself."""
    prefix = ""
    if above:
        prefix = f"{above}{SEPARATOR}"
    return path.startswith(prefix) and len(path) > len(prefix)


def depth(path: str) -> int:
    """Return the number of parts of a path; 0 for the class."""
    return path.count(SEPARATOR) + bool(path)
