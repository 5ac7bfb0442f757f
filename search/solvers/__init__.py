"""Independent solvers: four ways to find the words on a board, none of which shares code with the scorer.

    solve -> Grid              cells, directed moves from coordinates, special tiles (grid.py)
          -> TrieSolver        depth-first along a prefix tree of nested dictionaries (trie.py)
          -> WordsSolver       word by word, letter positions first (words.py)
          -> HeapSolver        prefixes from a heap, the sorted list read once, words in order (heap.py)
          -> PathsSolver       every simple path looked up in a set, parallel over start cells (paths.py)

They are referees of the production scorer and of each other, so they keep their own adjacency; only error types are
shared.  Plain Python, words in q-form (a ``q`` is a Qu cell), no points: a solver says which words are there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from boardclass.board import Board
from boardclass.errors import InputError, quote
from boardclass.wordlist import words_in_q_form
from search.solvers.grid import Grid
from search.solvers.heap import HeapSolver
from search.solvers.paths import PathsSolver
from search.solvers.trie import TrieSolver
from search.solvers.words import WordsSolver


class Solver(Protocol):
    """A word list made ready for one algorithm."""

    def solve(self, grid: Grid) -> list[str]:
        """Return the words on a board, sorted, each once."""


METHODS: dict[str, Callable[[Iterable[str]], Solver]] = {
    "trie": TrieSolver,
    "words": WordsSolver,
    "heap": HeapSolver,
    "paths": PathsSolver,
}


def make_solver(words: Iterable[str], method: str = "trie") -> Solver:
    """Return the solver of that name for a word list in q-form; worth keeping when many boards follow.

    Raises
    ------
    InputError
        If there is no such method.
    """
    if method not in METHODS:
        raise InputError(f"unknown method {quote(method)}: expected one of {', '.join(METHODS)}")
    return METHODS[method](words)


@lru_cache(maxsize=4)
def _cached(words: tuple[str, ...], method: str) -> Solver:
    return make_solver(words, method)


def solve(
    board: str,
    words: str | Path | Iterable[str],
    *,
    method: str = "trie",
    dims: tuple[int, int] | None = None,
    begin_only: Collection[int] = (),
    end_only: Collection[int] = (),
) -> list[str]:
    """Return the words of a list that can be spelled on a board, as people write them, sorted.

    Parameters
    ----------
    board : as people type it; with ``dims`` one letter a-z per cell down the columns
    words : name or path of a word list, a word list, or words as people write them
    method : ``trie``, ``words``, ``heap`` or ``paths``
    dims : width and height, for sizes that the proof lacks
    begin_only, end_only : cells that may only be the first cell of a word, and those that may only be the last

    Raises
    ------
    InputError
        If the method is unknown, the board does not fit, or a special cell is not on the board.

    Examples
    --------
    >>> solve("rate", ["ate", "rate", "rater", "tea", "trace"])
    ['ate', 'rate', 'tea']
    >>> solve("rate", ["ate", "rate", "tea"], method="heap", begin_only=[0])
    ['ate', 'rate', 'tea']
    >>> solve("rate", ["ate", "rate", "tea"], end_only=[0])
    ['ate', 'tea']
    """
    cells = Board(board) if dims is None else board
    found = _cached(words_in_q_form(words), method).solve(Grid(cells, dims, begin_only, end_only))
    return sorted(word.replace("q", "qu") for word in found)


__all__ = [
    "METHODS",
    "Grid",
    "HeapSolver",
    "PathsSolver",
    "Solver",
    "TrieSolver",
    "WordsSolver",
    "make_solver",
    "solve",
]
