"""A second opinion on scores: the solver ``words``, which shares no code with the scorer."""

from __future__ import annotations

from collections.abc import Sequence

from boardclass.geometry import Dims
from boardclass.scores import ScoreTable, n_letters
from search.solvers import Grid, WordsSolver


class Referee:
    """Exact scores of boards, slowly."""

    def __init__(self, dims: Dims, words: Sequence[str], table: ScoreTable) -> None:
        self._dims = (dims.w, dims.h)
        self._solver = WordsSolver(word for word in words if len(word) <= dims.n)
        self._points = table.points

    def scores(self, boards: Sequence[str]) -> list[int]:
        """Return the exact score of each board."""
        solved = (self._solver.solve(Grid(board, self._dims)) for board in boards)
        return [sum(self._points[n_letters(word)] for word in words) for words in solved]
