"""Independent solvers: four ways to find the words on a board, none of which shares code with the
scorer.

They are referees of the production scorer and of each other, so they keep their own adjacency; what
reads boards and word lists is shared, and error types.  Words in q-form (a ``q`` is a Qu cell), no
points: a solver says which words are there.  ``heap.py`` is a solver without a trie.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from orderly_boggle.boardclass.board import Board
from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.wordlist import words_in_q_form
from orderly_boggle.search.solvers.heap import HeapSolver


class Grid:
    """A board of ``w`` columns of ``h`` cells; cell (x, y) has the number ``x * h + y``."""

    def __init__(
        self,
        board: str,
        dims: tuple[int, int],
        begin_only: Collection[int] = (),
        end_only: Collection[int] = (),
    ) -> None:
        self.board = board
        self.n = len(board)
        self.moves = moves(*dims, begin_only, end_only)


def moves(
    w: int, h: int, begin_only: Collection[int], end_only: Collection[int]
) -> tuple[tuple[int, ...], ...]:
    """Return for each cell the cells that may follow it in a word."""
    following: list[tuple[int, ...]] = []
    for cell in range(w * h):
        x, y = divmod(cell, h)
        near = []
        for other in range(w * h):
            u, v = divmod(other, h)
            if max(abs(x - u), abs(y - v)) == 1 and other not in begin_only:
                near.append(other)
        following.append(() if cell in end_only else tuple(near))
    return tuple(following)


_END = ""  # no letter: marks a node at which a word ends, and holds the word


class TrieSolver:
    """Depth-first over the board along a prefix tree of nested dictionaries."""

    def __init__(self, words: Iterable[str]) -> None:
        self._root: dict[str, Any] = {}
        for word in words:
            node = self._root
            for letter in word:
                node = node.setdefault(letter, {})
            if word:
                node[_END] = word

    def solve(self, grid: Grid) -> list[str]:
        """Return the words on a board, sorted, each once."""
        found: set[str] = set()
        board = grid.board
        stack = []
        for cell, letter in enumerate(board):
            if letter in self._root:
                stack.append((cell, 1 << cell, self._root[letter]))
        while stack:
            cell, used, node = stack.pop()
            if _END in node:
                found.add(node[_END])
            for other in grid.moves[cell]:
                if not used >> other & 1 and board[other] in node:
                    stack.append((other, used | 1 << other, node[board[other]]))
        return sorted(found)


class WordsSolver:
    """One word after the other; where its letters lie on the board comes first, paths second."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted(set(words) - {""})
        masks = [_letter_mask(word) for word in self._words]
        self._needs = np.array(masks, np.int64)

    def solve(self, grid: Grid) -> list[str]:
        """Return the words on a board, sorted, each once."""
        places: dict[str, list[int]] = {}
        for cell, letter in enumerate(grid.board):
            places.setdefault(letter, []).append(cell)
        possible = np.flatnonzero(self._needs & ~_letter_mask(grid.board) == 0)
        found = []
        for number in possible.tolist():
            word = self._words[number]
            if _fits(word, places, grid):
                found.append(word)
        return found


def _letter_mask(text: str) -> int:
    return sum(1 << (ord(letter) - 97) for letter in set(text))


def _fits(word: str, places: dict[str, list[int]], grid: Grid) -> bool:
    if any(word.count(letter) > len(places[letter]) for letter in set(word)):
        return False
    choices = [places[letter] for letter in word]
    return any(_goes_on(choices, 1, (cell,), grid) for cell in choices[0])


def _goes_on(choices: Sequence[list[int]], at: int, path: tuple[int, ...], grid: Grid) -> bool:
    if at == len(choices):
        return True
    near = grid.moves[path[-1]]
    return any(
        cell in near and cell not in path and _goes_on(choices, at + 1, (*path, cell), grid)
        for cell in choices[at]
    )


MAX_CELLS = 16


class PathsSolver:
    """Every simple path of the board is spelled and looked up in a set: the slowest, and the
    hardest to get wrong.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)

    def solve(self, grid: Grid) -> list[str]:
        """Return the words on a board, sorted, each once; InputError if it has more than 16
        cells.
        """
        if grid.n > MAX_CELLS:
            raise InputError(
                f"method 'paths' looks at every path: expected at most {MAX_CELLS} cells, not "
                f"{grid.n}; use 'trie'"
            )
        return sorted(self._words.intersection(texts_of_paths(grid)))


def texts_of_paths(grid: Grid) -> Iterator[str]:
    """Yield what each simple path of a board spells."""
    board = grid.board
    stack = [(cell, 1 << cell, board[cell]) for cell in range(grid.n)]
    while stack:
        cell, used, text = stack.pop()
        yield text
        for other in grid.moves[cell]:
            if not used >> other & 1:
                stack.append((other, used | 1 << other, text + board[other]))


Solver = TrieSolver | WordsSolver | PathsSolver | HeapSolver
METHODS: dict[str, type[Solver]] = {
    "trie": TrieSolver,
    "words": WordsSolver,
    "paths": PathsSolver,
    "heap": HeapSolver,
}


def make_solver(words: Iterable[str], method: str = "trie") -> Solver:
    """Return the solver of that name for a word list in q-form; InputError if there is none."""
    if method not in METHODS:
        raise InputError(f"unknown method {quote(method)}: expected one of {', '.join(METHODS)}")
    return METHODS[method](words)


_solver = lru_cache(maxsize=4)(make_solver)


def holds(board: str, dims: tuple[int, int], words: Collection[str]) -> bool:
    """Return whether all words of a set, in q-form, can be spelled on a board of letters.

    >>> holds("rate", (2, 2), {"ate", "rater"})
    False
    """
    return len(TrieSolver(words).solve(Grid(board, dims))) == len(words)


def solve(
    board: str,
    words: str | Path | Iterable[str],
    *,
    method: str = "trie",
) -> list[str]:
    """Return the words of a list that can be spelled on a board, sorted: as people write them, but
    for letters beyond a-z of a list, which stay symbols (``WordList.letters``).

    board : as people type it
    words : name or path of a word list, a word list, or words as people write them
    method : ``trie``, ``words``, ``paths`` or ``heap``

    Raises InputError if the method is unknown or the board does not fit.

    Examples
    --------
    >>> solve("rate", ["ate", "rate", "rater", "tea", "trace"])
    ['ate', 'rate', 'tea']
    """
    typed = Board(board)
    found = _solver(words_in_q_form(words), method).solve(Grid(typed, typed.dims))
    return sorted(word.replace("q", "qu") for word in found)
