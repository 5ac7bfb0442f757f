"""The old bounds of the paper (listings 3 to 5) by their formulas; ``letters`` are the letters per cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.reference.classes import slow_neighbours


def sum_bound(letters: Sequence[str], w: int, h: int, points: Mapping[str, int]) -> int:
    """Return the points of every distinct word that the class can spell somewhere."""

    def can(word: str, path: tuple[int, ...]) -> bool:
        if len(path) == len(word):
            return True
        near = slow_neighbours(w, h, path[-1]) if path else range(w * h)
        return any(c not in path and word[len(path)] in letters[c] and can(word, (*path, c)) for c in near)

    return sum(worth for word, worth in points.items() if can(word, ()))


def max_bound(letters: Sequence[str], w: int, h: int, points: Mapping[str, int]) -> int:
    """Return, from each start cell on, the best letter of each next cell, all of them added up."""
    prefixes = {word[:k] for word in points for k in range(len(word) + 1)}

    def from_cell(path: tuple[int, ...], text: str) -> int:
        best = 0
        for letter in set(letters[path[-1]]):
            spelled = text + letter
            if spelled in prefixes:
                near = [c for c in slow_neighbours(w, h, path[-1]) if c not in path]
                best = max(best, points.get(spelled, 0) + sum(from_cell((*path, c), spelled) for c in near))
        return best

    return sum(from_cell((cell,), "") for cell in range(w * h))
