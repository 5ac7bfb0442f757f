"""Solver ``paths``: every simple path of the board is spelled and looked up in a set; nothing is pruned.

The slowest and the hardest to get wrong.  The number of paths depends on the board's size only, not on letters or
words, and is known for king graphs: 10,305 on 3x3, 12,029,640 on 4x4 (some 10 s).  Start cells are shared out among
processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from boardclass.errors import InputError
from boardclass.processes import pool
from search.solvers.grid import Grid

MAX_CELLS = 16
_PARALLEL_FROM = 15  # cells; below, starting processes costs more than it saves
_word_set: frozenset[str] = frozenset()  # of a worker process


class PathsSolver:
    """The words as a set.

    Parameters
    ----------
    words : words in q-form
    n_processes : processes for boards of 15 or 16 cells; 1 stays in this process; 0 takes one per core
    """

    def __init__(self, words: Iterable[str], n_processes: int = 0) -> None:
        self._words = frozenset(words)
        self._n_processes = n_processes or os.cpu_count() or 1

    def solve(self, grid: Grid) -> list[str]:
        """Return the words on a board, sorted, each once."""
        return self.solve_counted(grid)[0]

    def solve_counted(self, grid: Grid) -> tuple[list[str], int]:
        """Return the words, and how many paths (of one cell and more) were looked up.

        Raises
        ------
        InputError
            If the board has more than 16 cells: there are too many paths.
        """
        if grid.n > MAX_CELLS:
            raise InputError(
                f"method 'paths' looks at every path: expected at most {MAX_CELLS} cells, not {grid.n}; use 'trie'"
            )
        if self._n_processes == 1 or grid.n < _PARALLEL_FROM:
            parts = [_from_cell(grid, cell, self._words) for cell in range(grid.n)]
        else:
            with pool(self._n_processes, _take_words, self._words) as executor:
                parts = list(executor.map(_in_worker, [grid] * grid.n, range(grid.n)))
        return sorted(set().union(*(found for found, _ in parts))), sum(count for _, count in parts)


def _take_words(words: frozenset[str]) -> None:
    global _word_set
    _word_set = words


def _in_worker(grid: Grid, cell: int) -> tuple[set[str], int]:
    return _from_cell(grid, cell, _word_set)


def _from_cell(grid: Grid, start: int, words: frozenset[str]) -> tuple[set[str], int]:
    """Return the words on the paths from one cell, and the number of these paths."""
    moves = [[(other, 1 << other, grid.board[other]) for other in near] for near in grid.moves]
    found: set[str] = set()
    count = 0

    def walk(cell: int, used: int, text: str) -> None:
        nonlocal count
        count += 1
        if text in words:
            found.add(text)
        for other, bit, letter in moves[cell]:
            if not used & bit:
                walk(other, used | bit, text + letter)

    walk(start, 1 << start, grid.board[start])
    return found, count
