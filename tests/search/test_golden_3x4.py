"""The classes that hold the published 3x4 boards give back all of them and nothing else (minutes: nightly)."""

from __future__ import annotations

from pathlib import Path

import pytest

from boardclass.canonical import canonical_board
from boardclass.scores import parse_scores
from boardclass.wordlist import WordList
from search.breaker import Breaker, Spec, Unit
from search.params import Params

EVERY = "abcdefghijklmnopqrstuvwxyz"
SINGLE = f"center: {' '.join(EVERY)}, edge: {EVERY}, corner: {EVERY}"


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_golden_boards_come_back(enable2k: WordList, golden: Path) -> None:
    points = parse_scores("standard").points
    breaker = Breaker(Spec("3x4", enable2k.words, points, 1500, SINGLE, Params(unit_budget=1 << 60)))
    lines = (golden / "best-3x4-enable2k-1500.txt").read_text().split("\n")
    listed = {
        canonical_board(board, breaker.geometry): int(score) for board, score in (x.split(": ") for x in lines if x)
    }
    cut = breaker.partition
    found = {}
    for class_id in sorted({cut.canonical_rank(cut.rank_of_board(board)) for board in listed}):
        result = breaker.break_unit(Unit(class_id))
        assert not result.children
        found |= {canonical_board(board, breaker.geometry): score for board, score in result.candidates}
    assert found == listed
    assert len(listed) == 33
