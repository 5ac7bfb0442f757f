"""Solver ``heap``: no trie.  Prefixes leave a heap in alphabetical order while the sorted word list is read once.

Each prefix carries all places where it can end on the board, so equal prefixes exist once: duplicate letters merge.
A prefix is pushed by a smaller one, so the heap gives prefixes in ascending order.  The words before the current prefix
are never needed again, and the words are found in alphabetical order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush

from search.solvers.grid import Grid

Ends = set[tuple[int, int]]  # (last cell, mask of the cells used)


class HeapSolver:
    """The sorted word list."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted(set(words) - {""})

    def solve(self, grid: Grid) -> list[str]:
        """Return the words on a board, sorted, each once."""
        return list(self.in_order(grid))

    def in_order(self, grid: Grid) -> Iterator[str]:
        """Yield the words on a board in alphabetical order, as they are found."""
        words, at = self._words, 0
        ends: dict[str, Ends] = {}
        for cell, letter in enumerate(grid.board):
            ends.setdefault(letter, set()).add((cell, 1 << cell))
        prefixes = list(ends)
        heapify(prefixes)
        while prefixes:
            prefix = heappop(prefixes)
            states = ends.pop(prefix)
            at = bisect_left(words, prefix, at)  # never back: the list is read once
            if at == len(words):
                return
            if words[at] == prefix:
                yield prefix
                at += 1
            if at < len(words) and words[at].startswith(prefix):
                for letter, longer in _extended(states, grid).items():
                    ends[prefix + letter] = longer
                    heappush(prefixes, prefix + letter)


def _extended(states: Ends, grid: Grid) -> dict[str, Ends]:
    """Return the places one step further, by letter."""
    further: dict[str, Ends] = {}
    for cell, used in states:
        for other in grid.moves[cell]:
            if not used >> other & 1:
                further.setdefault(grid.board[other], set()).add((other, used | 1 << other))
    return further
