"""Scores of moved boards and walks: the kernel, whole boards and the slow twin agree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from orderly_boggle.boardclass.arrays import Int32s, UInt8s
from orderly_boggle.boardclass.geometry import DIMS, geometry
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.search.local.batches import HoldingScorer, ParallelScorer
from orderly_boggle.search.local.moves import all_moves, parse_alphabet
from orderly_boggle.search.scoring import scorer_simd, walks
from orderly_boggle.search.scoring.scorer import Scorer, decode_boards, encode_boards
from tests.reference import solver

STANDARD = parse_scores("standard")
PORTABLE = [True, False] if scorer_simd.supported() else [True]
WORDS = ["aba", "bab", "abc", "cab", "aqa", "qaba", "abca", "bca"]
LETTERS = parse_alphabet("abcq")


def slow_score(board: str, w: int, h: int) -> int:
    return solver.score_by_walk(board, w, h, {word: STANDARD.of(word) for word in WORDS})


def some_words(rng: np.random.Generator, n_cells: int) -> list[str]:
    words = []
    for length in rng.integers(3, min(6, n_cells) + 1, 60):
        words.append("".join(rng.choice(list("abqz"), length)))
    return words


def some_moves(rng: np.random.Generator, m: int, n: int, k: int) -> UInt8s:
    """Return moves of every kind, some of which change nothing."""
    moves = rng.integers(0, n, (m, k, 2), dtype=np.uint8)
    swaps = rng.random((m, k)) < 0.5
    new = rng.choice(parse_alphabet("abqz"), (m, k))
    moves[:, :, 1] = np.where(swaps, walks.SWAP + moves[:, :, 1], new)
    return moves


@pytest.mark.parametrize("portable", PORTABLE)
def test_every_move_of_every_2x2_board_over_four_letters(portable: bool) -> None:
    every = ["".join(cells) for cells in itertools.product("abcq", repeat=4)]
    score_of = {board: slow_score(board, 2, 2) for board in every}
    boards = encode_boards(every, 4)
    moves = all_moves(boards, LETTERS)
    m, k = moves.shape[:2]
    after = walks.moved(np.repeat(boards, k, axis=0), moves.reshape(-1, 2))
    scorer = Scorer("2x2", WORDS, STANDARD, portable=portable)
    scores = scorer.scores_after(boards, np.repeat(np.arange(m), k), moves.reshape(-1, 2))
    assert scores.tolist() == [score_of[board] for board in decode_boards(after)]


@pytest.mark.parametrize("dims", ["2x3", "3x3"])
def test_every_move_of_a_few_boards(dims: str) -> None:
    g = geometry(dims)
    boards = LETTERS[np.random.default_rng(5).integers(0, 3, (4, g.n))]
    moves = all_moves(boards, LETTERS)
    m, k = moves.shape[:2]
    after = walks.moved(np.repeat(boards, k, axis=0), moves.reshape(-1, 2))
    of = np.repeat(np.arange(m), k)
    scores = Scorer(dims, WORDS, STANDARD).scores_after(boards, of, moves.reshape(-1, 2))
    assert scores.tolist() == [slow_score(board, *g.dims) for board in decode_boards(after)]


def walked_slowly(board: str, moves: UInt8s, slacks: Int32s, w: int, h: int) -> list[int | str]:
    """Return the board at the end, its score, the best board and its score."""
    score = slow_score(board, w, h)
    best = score, board
    for (cell, new), slack in zip(moves.tolist(), slacks.tolist(), strict=True):
        cells = list(board)
        if new >= walks.SWAP:
            other = new - walks.SWAP
            cells[cell], cells[other] = cells[other], cells[cell]
        else:
            cells[cell] = chr(97 + new)
        value = slow_score("".join(cells), w, h)
        if value >= score - slack:
            board, score = "".join(cells), value
        if score > best[0]:
            best = score, board
    return [board, score, best[1], best[0]]


@pytest.mark.parametrize("portable", PORTABLE)
def test_a_walk_takes_what_costs_no_more_than_its_slack(portable: bool) -> None:
    rng = np.random.default_rng(2)
    boards, moves = LETTERS[rng.integers(0, 4, (12, 6))], some_moves(rng, 12, 6, 40)
    slacks = rng.integers(-1, 4, (12, 40)).astype(np.int32)
    before = boards.copy()
    walked = Scorer("2x3", WORDS, STANDARD, portable=portable).walk(boards, moves, slacks)
    assert (boards == before).all()
    for i, board in enumerate(decode_boards(boards)):
        expected = walked_slowly(board, moves[i], slacks[i], 2, 3)
        ends, best = decode_boards(walked.boards)[i], decode_boards(walked.best)[i]
        assert [ends, walked.scores[i], best, walked.best_scores[i]] == expected


@pytest.mark.parametrize("dims", DIMS)
def test_the_kernel_walks_as_whole_boards_say(dims: str) -> None:
    rng, g = np.random.default_rng(7), geometry(dims)
    scorer = Scorer(dims, some_words(rng, g.n), STANDARD)
    boards = parse_alphabet("abqz")[rng.integers(0, 4, (3, g.n))]
    moves = some_moves(rng, 3, g.n, 300)  # more than generations
    slacks = rng.integers(-2, 5, (3, 300)).astype(np.int32)
    expected = walks.walk(scorer, boards, moves, slacks)
    for walked in (
        scorer.walk(boards, moves, slacks),
        ParallelScorer(scorer, 2).walk(boards, moves, slacks),
    ):
        for array, own in zip(expected, walked, strict=True):
            assert (array == own).all()
    of, flat = np.repeat(np.arange(3), 300), moves.reshape(-1, 2)
    values = walks.scores_after(scorer, boards, of, flat)
    assert (scorer.scores_after(boards, of, flat) == values).all()
    assert (ParallelScorer(scorer, 2).scores_after(boards, of, flat) == values).all()


def test_boards_that_outgrow_the_memory_are_scored_whole() -> None:
    """All paths of up to seven cells: more than the queue holds."""
    scorer = Scorer("4x4", ["a" * 8, "aab", "bab"], STANDARD)
    boards = encode_boards(["a" * 16, "b" * 16], 16)
    moves = np.array([[[0, 1], [5, 1], [0, 0], [5, 26 + 6]]] * 2, np.uint8)
    slacks = np.full((2, 4), 99, np.int32)
    expected = walks.walk(scorer, boards, moves, slacks)
    walked = scorer.walk(boards, moves, slacks)
    for array, own in zip(expected, walked, strict=True):
        assert (array == own).all()
    assert expected.values[0].min() >= 11


def test_moves_to_boards_that_outgrow_the_memory_are_scored_whole() -> None:
    """The board itself fits; the paths through the cell that becomes an `a` do not, and one of them
    is a new word.
    """
    scorer = Scorer("4x4", ["a" * 12, "daa"], STANDARD)
    boards = encode_boards(["dbaa" + "bb" + "a" * 10], 16)
    slack = np.full((1, 1), -99, np.int32)
    assert scorer.scores(boards).tolist() == [11]
    for move in (5, 0), (5, walks.SWAP + 15):
        moves = np.array([[move]], np.uint8)
        walked = scorer.walk(boards, moves, slack)
        assert walked.values.tolist() == walks.walk(scorer, boards, moves, slack).values.tolist()
        assert walked.values.tolist() == [[12]]


def test_boards_that_must_hold_a_word() -> None:
    rng = np.random.default_rng(4)
    holding = HoldingScorer(Scorer("2x3", WORDS, STANDARD), "abc")
    boards = holding.first(rng, 5, LETTERS)
    moves, slacks = some_moves(rng, 5, 6, 30), np.full((5, 30), 3, np.int32)
    walked = holding.walk(boards, moves, slacks)
    assert walked.values.min() == 0 < walked.values.max()
    assert (walked.scores == holding.scores(walked.boards)).all()
    of = np.repeat(np.arange(5), 30)
    after = walks.moved(boards[of], moves.reshape(-1, 2))
    assert (holding.scores_after(boards, of, moves.reshape(-1, 2)) == holding.scores(after)).all()
