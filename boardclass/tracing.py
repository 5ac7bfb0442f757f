"""Whether a word can be traced on a board: one word, one board, plain Python; the scorer takes whole lists."""

from __future__ import annotations

from boardclass.geometry import Geometry


def trace(word: str, board: str, geometry: Geometry) -> tuple[int, ...] | None:
    """Return the smallest path of cells that spells ``word`` (q-form), or None.

    >>> from boardclass.geometry import geometry
    >>> trace("tea", "aetx", geometry("2x2"))
    (2, 1, 0)
    >>> trace("teat", "aetx", geometry("2x2")) is None
    True
    """
    stack: list[tuple[int, ...]] = [(cell,) for cell in reversed(range(geometry.n)) if word and board[cell] == word[0]]
    while stack:
        path = stack.pop()
        if len(path) == len(word):
            return path
        following = word[len(path)]
        near = [cell for cell in geometry.neighbours[path[-1]] if board[cell] == following and cell not in path]
        stack += [(*path, cell) for cell in reversed(near)]
    return None
