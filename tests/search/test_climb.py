"""The pool hill climb: deterministic, canonical, and good enough for a cutoff."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from boardclass.canonical import canonical_board
from boardclass.errors import InputError
from boardclass.geometry import DIMS, geometry
from boardclass.scores import parse_scores
from search.local.climb import canonical_cells, climb, neighbours
from search.scoring.scorer import Scorer, decode_boards

STANDARD = parse_scores("standard")
WORDS = ["aba", "bab", "abc", "cab", "qaba", "abcd", "dcba", "add", "baddab"]


@pytest.mark.parametrize("dims", DIMS)
def test_canonical_cells(dims: str) -> None:
    g = geometry(dims)
    boards = np.random.default_rng(1).integers(0, 26, (200, g.n), dtype=np.uint8)
    boards[:100] %= 2  # many ties
    expected = [canonical_board(board, g) for board in decode_boards(boards)]
    assert decode_boards(canonical_cells(boards, g)) == expected


def test_neighbours() -> None:
    boards = np.random.default_rng(2).integers(0, 26, (3, 6), dtype=np.uint8)
    around = decode_boards(neighbours(boards))
    assert len(around) == 3 * (6 * 25 + 15)
    for board, own in zip(decode_boards(boards), _parts(around, 165), strict=True):
        changed = {board[:c] + x + board[c + 1 :] for c in range(6) for x in map(chr, range(97, 123))} - {board}
        swapped = set()
        for a, b in itertools.combinations(range(6), 2):
            cells = list(board)
            cells[a], cells[b] = cells[b], cells[a]
            swapped.add("".join(cells))
        assert set(own[:150]) == changed
        assert set(own[150:]) == swapped


def _parts(items: list[str], size: int) -> list[list[str]]:
    return [items[i : i + size] for i in range(0, len(items), size)]


def test_deterministic_canonical_sorted() -> None:
    scorer = Scorer("2x3", WORDS, STANDARD)
    one, two = (climb(scorer, seed=4, pool=20) for _ in range(2))
    assert one == two
    assert len({board for board, _ in one}) == len(one) == 20
    assert one == sorted(one, key=lambda item: (-item[1], item[0]))
    for board, score in one:
        assert board == canonical_board(board, scorer.geometry)
        assert score == scorer.score(board)


def test_finds_the_best_of_all_small_boards() -> None:
    scorer = Scorer("2x3", WORDS, STANDARD)
    best = scorer.scores(["".join(cells) for cells in itertools.product("abcdq", repeat=6)]).max()
    assert climb(scorer, pool=100)[0][1] == best


def test_rounds_and_progress() -> None:
    seen: list[tuple[int, int, int]] = []
    scorer = Scorer("2x2", WORDS, STANDARD)
    assert len(climb(scorer, pool=5, rounds=0)) == 5
    best = climb(scorer, pool=5, rounds=2, progress=lambda *now: seen.append(now))[0][1]
    assert [now[0] for now in seen] == [1, 2]
    assert seen[-1][1] == best


@pytest.mark.parametrize("wrong", [{"pool": 0}, {"rounds": -1}, {"seed": -1}])
def test_bad_input(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        climb(Scorer("2x2", WORDS, STANDARD), **wrong)
