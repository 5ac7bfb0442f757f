"""What one step makes of a board: another letter in a cell, or two cells swapped."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from boardclass.board import LETTERS, NO_LETTERS, with_letters
from boardclass.canonical import canonical_board
from boardclass.geometry import cell_name
from search.scoring.scorer import Scorer


def letter_scores(board: str, scorer: Scorer) -> list[list[int]]:
    """Return the score with each of the letters a-z in each cell, one list a cell."""
    boards = [board[:cell] + letter + board[cell + 1 :] for cell in range(len(board)) for letter in LETTERS]
    scores: list[list[int]] = scorer.scores(boards).reshape(len(board), len(LETTERS)).tolist()
    return scores


def best_neighbours(
    board: str, scorer: Scorer, n: int, letters: Mapping[str, str] = NO_LETTERS
) -> list[tuple[str, str, int, int]]:
    """Return the ``n`` best boards one step away, up to symmetry: board, what was done, score, difference."""
    changes = _one_step(board, scorer.geometry.dims.h, letters)
    values = scorer.scores([board, *changes])
    own = int(values[0])
    rows: list[tuple[str, str, int, int]] = []
    seen = {canonical_board(board, scorer.geometry)}
    for (other, change), value in sorted(
        zip(changes.items(), values[1:].tolist(), strict=True), key=lambda item: (-item[1], item[0])
    ):
        image = canonical_board(other, scorer.geometry)
        if image not in seen and len(rows) < n:
            seen.add(image)
            rows.append((with_letters(other, letters), change, value, value - own))
    return rows


def _one_step(board: str, h: int, letters: Mapping[str, str]) -> dict[str, str]:
    """Return the boards one step away, each with what was done."""
    names = [f"{cell_name(cell, h)}, {letters.get(letter, letter).upper()}" for cell, letter in enumerate(board)]
    steps = {
        board[:cell] + new + board[cell + 1 :]: f"{names[cell]} to {letters.get(new, new).upper()}"
        for cell, old in enumerate(board)
        for new in LETTERS
        if new != old
    }
    for left, right in itertools.combinations(range(len(board)), 2):
        cells = list(board)
        cells[left], cells[right] = cells[right], cells[left]
        if board[left] != board[right]:
            steps.setdefault("".join(cells), f"{names[left]} and {names[right]} swapped")
    return steps
