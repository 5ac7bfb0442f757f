"""A second opinion on scores: the solver ``words``, which shares no code with the scorer.

>>> from orderly_boggle.boardclass import parse_dims, parse_scores
>>> Referee(parse_dims("2x2"), ["tea", "rate", "rat"], parse_scores("standard")).scores(["aert"])
[3]
"""

from collections.abc import Sequence

from orderly_boggle.boardclass.geometry import Dims
from orderly_boggle.boardclass.scores import ScoreTable, n_letters
from orderly_boggle.search.solvers import Grid, WordsSolver


class Referee:
    """Exact scores of boards, slowly."""

    def __init__(self, dims: Dims, words: Sequence[str], table: ScoreTable) -> None:
        self._dims = (dims.w, dims.h)
        self._solver = WordsSolver(word for word in words if len(word) <= dims.n)
        self._points = table.points

    def scores(self, boards: Sequence[str]) -> list[int]:
        """Return the exact score of each board."""
        scores = []
        for board in boards:
            words = self._solver.solve(Grid(board, self._dims))
            scores.append(self._score(words))
        return scores

    def _score(self, words: Sequence[str]) -> int:
        return sum(self._points[n_letters(word)] for word in words)
