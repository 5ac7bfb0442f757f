"""Exact scores by the definition: two independent solvers in plain Python, words in q-form, cells
column-major.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.reference.classes import slow_neighbours


def paths_of(board: Sequence[str], w: int, h: int, word: str) -> list[tuple[int, ...]]:
    """Return every path of distinct neighbouring cells that spells ``word`` (word-driven); a cell
    may have letters.
    """
    found: list[tuple[int, ...]] = []

    def walk(path: tuple[int, ...]) -> None:
        if len(path) == len(word):
            found.append(path)
            return
        for cell in slow_neighbours(w, h, path[-1]) if path else range(w * h):
            if cell not in path and word[len(path)] in board[cell]:
                walk((*path, cell))

    walk(())
    return found


def words_on(board: Sequence[str], w: int, h: int, points: Mapping[str, int]) -> set[str]:
    """Return the words with points on a board, word by word."""
    return {
        word for word, worth in points.items() if worth and word and paths_of(board, w, h, word)
    }


def score(board: Sequence[str], w: int, h: int, points: Mapping[str, int]) -> int:
    """Return the exact score: the points of the distinct words on the board."""
    return sum(points[word] for word in words_on(board, w, h, points))


def score_by_walk(board: Sequence[str], w: int, h: int, points: Mapping[str, int]) -> int:
    """Return the exact score by walking every path as long as some word begins with it
    (path-driven).
    """
    prefixes = {word[:k] for word in points for k in range(len(word) + 1)}
    found: set[str] = set()

    def walk(path: tuple[int, ...], text: str) -> None:
        if text in points:
            found.add(text)
        for cell in slow_neighbours(w, h, path[-1]) if path else range(w * h):
            if cell not in path and text + board[cell] in prefixes:
                walk((*path, cell), text + board[cell])

    walk((), "")
    return sum(points[word] for word in found)
