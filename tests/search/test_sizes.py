"""Where a path begins at a size of a buffer, a type or a number of points: every board of 2x2 on
both sides of it, found by the breaker and scored one by one.

docs/notes/sizes.md lists all such sizes.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.search import node_search
from orderly_boggle.search.breaker import Breaker, Unit
from orderly_boggle.search.scoring.scorer import Scorer, decode_boards
from orderly_boggle.search.trees.tree import MAX_BOUND, MAX_NARROW
from tests.params import Params, spec_of
from tests.search.test_breaker import EVERY, broken

# only large boards would be searched with bounds of the last levels; here small ones are, too
pytestmark = pytest.mark.usefixtures("always_pausing")

SMALL = Params(memory_mb=16)
TRIPLES = tuple("".join(letters) for letters in combinations("abcdefghijk", 3))
BOARD = geometry("2x2")


@cache
def all_boards() -> np.ndarray:
    return np.array(list(product(range(26), repeat=4)), np.uint8)


def boards_reaching(words: tuple[str, ...], points: list[int], cutoff: int) -> set[tuple[str, int]]:
    """Return the canonical boards that reach the cutoff, with their scores: all are scored."""
    scores = Scorer("2x2", words, points).scores(all_boards())
    best = np.flatnonzero(scores >= cutoff)
    found = zip(decode_boards(all_boards()[best]), scores[best].tolist(), strict=True)
    return {(canonical_board(board, BOARD), score) for board, score in found}


def boards_found(words: tuple[str, ...], points: list[int], cutoff: int) -> set[tuple[str, int]]:
    breaker = Breaker(spec_of("2x2", words, points, cutoff, EVERY, SMALL))
    found = set[tuple[str, int]]()
    for result in broken(breaker, Unit(0)):
        found |= {(canonical_board(text, BOARD), score) for text, score in result.candidates}
    return found


@pytest.mark.parametrize("n_words", [1, 15, 18, 40, 120])
def test_more_boards_than_the_buffer_of_survivors_holds(n_words):
    words = TRIPLES[:n_words]
    wanted = boards_reaching(words, [1], 1)
    assert boards_found(words, [1], 1) == wanted
    assert (len(wanted) > node_search._SURVIVORS) == (n_words > 15)


SIZES = [MAX_NARROW, MAX_NARROW + 1, 65_535, 65_536, MAX_BOUND, MAX_BOUND + 1, 2**30]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [1, 2, 3])
def test_points_on_both_sides_of_what_a_bound_can_hold(size, share):
    """One word has all the points, or up to three share them: then their sum passes the size."""
    words = ("aabb", "abab", "abba")[:share]
    points = [1, -(-size // share)]
    cutoff = share * points[1]
    assert boards_found(words, points, cutoff) == boards_reaching(words, points, cutoff) != set()
    assert boards_found(words, points, cutoff + 1) == set()
