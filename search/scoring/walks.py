"""Moves from board to board, and walks of many moves: what local search does.

A move changes the letter of one cell, or swaps two cells.  A walk takes it if the score falls by at
most the slack of the move.  These functions score whole boards, with any scorer, and say what is
meant; the methods of :class:`orderly_boggle.search.scoring.scorer.Scorer` of the same names give
the same faster, where the processor can do it.

>>> from orderly_boggle.search import Scorer
>>> from orderly_boggle.search.scoring.scorer import decode_boards, encode_boards
>>> moves = np.array([[[0, 19], [2, SWAP + 3]]], np.uint8)  # t in cell 0; the last two swapped
>>> done = walk(Scorer("2x2", ["tea", "eat"]), encode_boards(["aeax"], 4), moves, [[0, 0]])
>>> decode_boards(done.boards), done.scores.tolist(), done.values.tolist()
(['texa'], [2], [[2, 2]])
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, Int64s, UInt8s

SWAP = 26  # a move to SWAP + cell swaps two cells
NEVER = -(1 << 30)  # the slack of a move that is not taken, whatever it brings


class Walked(NamedTuple):
    """Where walks ended, and the best board of each."""

    boards: UInt8s  # [m, n]
    scores: Int32s  # [m]
    best: UInt8s  # [m, n]
    best_scores: Int32s  # [m]
    values: Int32s  # [m, k], the score of the board that each move made, taken or not


class Scores(Protocol):
    """Scores boards."""

    def scores(self, boards: Any) -> Int32s:
        """Return int32[m], the scores of the boards in uint8[m, n]."""


def scores_after(scorer: Scores, boards: UInt8s, of: Int64s, moves: UInt8s) -> Int32s:
    """Return int32[k], the scores of boards after one move each.

    boards : uint8[m, n]
    of : int64[k], ascending: which of the boards is moved
    moves : uint8[k, 2], as in :func:`moved`
    """
    return scorer.scores(moved(boards[of], moves))


def moved(boards: UInt8s, moves: UInt8s) -> UInt8s:
    """Return uint8[m, n]: each board after its move, of uint8[m, 2]: a cell, and its new letter, or
    SWAP + the cell that it is swapped with.
    """
    row = np.arange(len(boards))
    cell = moves[:, 0].astype(np.int64)
    new = moves[:, 1]
    other = np.where(new < SWAP, cell, new.astype(np.int64) - SWAP)
    after = boards.copy()
    after[row, other] = boards[row, cell]
    after[row, cell] = np.where(new < SWAP, new, boards[row, other])
    return after


def walk(scorer: Scores, boards: UInt8s, moves: UInt8s, slacks: Any) -> Walked:
    """Return where the walks end that begin with ``boards``, uint8[m, n], and try k moves each.

    moves : uint8[m, k, 2], as in :func:`moved`
    slacks : int32[m, k]
    """
    slacks = np.asarray(slacks, np.int32).reshape(moves.shape[:2])
    boards = boards.copy()
    scores = scorer.scores(boards)
    best = boards.copy()
    best_scores = scores.copy()
    values = np.zeros(slacks.shape, np.int32)
    for k in range(moves.shape[1]):
        tried = moved(boards, moves[:, k])
        values[:, k] = scorer.scores(tried)
        taken = values[:, k].astype(np.int64) + slacks[:, k] >= scores
        boards[taken] = tried[taken]
        scores[taken] = values[taken, k]
        better = scores > best_scores
        best[better] = boards[better]
        best_scores[better] = scores[better]
    return Walked(boards, scores, best, best_scores, values)
