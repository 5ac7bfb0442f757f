"""Solver ``words``: one word after the other; where its letters lie on the board comes first, paths second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from boardclass.errors import InputError
from search.solvers.grid import Grid


class WordsSolver:
    """The words with the set of letters that each of them needs, as a bit mask."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted(set(words) - {""})
        if not all(word.isascii() and word.isalpha() and word.islower() for word in self._words):
            raise InputError("a word has a character other than a-z")
        self._needs = np.array([_letters(word) for word in self._words], np.int64)

    def solve(self, grid: Grid) -> list[str]:
        """Return the words on a board, sorted, each once."""
        places: dict[str, list[int]] = {}
        for cell, letter in enumerate(grid.board):
            places.setdefault(letter, []).append(cell)
        possible = np.flatnonzero(self._needs & ~_letters(grid.board) == 0)
        return [word for word in map(self._words.__getitem__, possible.tolist()) if _fits(word, places, grid)]


def _letters(text: str) -> int:
    return sum(1 << (ord(letter) - 97) for letter in set(text))


def _fits(word: str, places: dict[str, list[int]], grid: Grid) -> bool:
    """Return whether a word whose letters all occur can be spelled: choose a place for each letter in turn."""
    if any(word.count(letter) > len(places[letter]) for letter in set(word)):
        return False
    choices = [places[letter] for letter in word]
    return any(_goes_on(choices, 1, (cell,), grid) for cell in choices[0])


def _goes_on(choices: Sequence[list[int]], at: int, path: tuple[int, ...], grid: Grid) -> bool:
    if at == len(choices):
        return True
    near = grid.moves[path[-1]]
    return any(
        cell in near and cell not in path and _goes_on(choices, at + 1, (*path, cell), grid) for cell in choices[at]
    )
