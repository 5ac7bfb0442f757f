"""Solver ``trie``: depth-first over the board along a prefix tree of nested dictionaries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from search.solvers.grid import Grid

_END = ""  # no letter: marks a node at which a word ends, and holds the word


class TrieSolver:
    """Nested dictionaries, letter to node; built once per word list."""

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
        stack = [(cell, 1 << cell, self._root[board[cell]]) for cell in range(grid.n) if board[cell] in self._root]
        while stack:
            cell, used, node = stack.pop()
            if _END in node:
                found.add(node[_END])
            for other in grid.moves[cell]:
                if not used >> other & 1 and board[other] in node:
                    stack.append((other, used | 1 << other, node[board[other]]))
        return sorted(found)
