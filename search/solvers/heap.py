"""A solver without a trie: the sorted word list is read once, beside a queue of prefixes.

>>> from orderly_boggle.search.solvers import Grid
>>> HeapSolver(["ate", "rate", "rater", "trace"]).solve(Grid("rate", (2, 2)))
['ate', 'rate']
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orderly_boggle.search.solvers import Grid

Ends = set[tuple[int, int]]  # (last cell, mask of the cells used)


class HeapSolver:
    """Prefixes leave a queue in alphabetical order, while the sorted word list is read once.

    Each prefix carries all places where it can end on the board, so that cells with the same letter
    share one entry of the queue.  A prefix is pushed by one of its own beginnings, which is
    smaller; so no prefix comes out of order, and the words before it are never needed again.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted(set(words) - {""})

    def solve(self, grid: Grid) -> list[str]:
        """Return the words on a board, sorted, each once."""
        words = self._words
        at = 0
        found: list[str] = []
        ends: dict[str, Ends] = {}
        for cell, letter in enumerate(grid.board):
            ends.setdefault(letter, set()).add((cell, 1 << cell))
        prefixes = list(ends)
        heapify(prefixes)
        while prefixes:
            prefix = heappop(prefixes)
            states = ends.pop(prefix)
            # forwards only: no later prefix is smaller than this one
            at = bisect_left(words, prefix, at)
            if at == len(words):
                break
            if words[at] == prefix:
                found.append(prefix)
                at += 1
            if at < len(words) and words[at].startswith(prefix):
                for letter, longer in _extended(states, grid).items():
                    ends[prefix + letter] = longer
                    heappush(prefixes, prefix + letter)
        return found


def _extended(states: Ends, grid: Grid) -> dict[str, Ends]:
    """Return for each letter that may come next the places where the longer prefix ends."""
    further: dict[str, Ends] = {}
    for cell, used in states:
        for other in grid.moves[cell]:
            if not used >> other & 1:
                ends = further.setdefault(grid.board[other], set())
                ends.add((other, used | 1 << other))
    return further
