"""The lemmas of docs/trust.md by their definitions, on every board of small random classes.

That the kernels do what these definitions say is what the tests of ``search`` check; trust.md names
them.
"""

from __future__ import annotations

import random

import pytest

from tests.reference.orderly import (
    Weighted,
    all_scores,
    deduplicated,
    multi_score_of,
    orderly_bound,
    synchronised_bound,
    with_points,
)
from tests.search.harness import Case, random_case, seeds

SEEDS = seeds({"2x2": 30, "2x3": 30})


def exact(case: Case) -> dict[str, int]:
    return all_scores(case.letters, case.size, case.points)


def some_order(case: Case, seed: int) -> list[int]:
    return random.Random(seed).sample(case.free, case.n_levels)


@pytest.mark.parametrize(("dims", "seed"), SEEDS)
def test_whatever_literals_and_terms_are_dropped_the_sum_is_not_below_the_score(dims, seed):
    """Forced and fused cells are bare in a case; with forced ones alone nothing is added."""
    case = random_case(dims, seed, n_words=30)
    forced = all(len(case.letters[c]) == 1 for c in case.bare)
    of_paths = with_points(deduplicated(case.paths), case.points)
    stripped = with_points(case.all_terms, case.points)
    for board, score in exact(case).items():
        sums = [multi_score_of(board, terms) for terms in (case.weighted, stripped, of_paths)]
        assert score <= min(sums[0], sums[2])
        assert sums[0] <= sums[1], "fewer terms, each as large"
        assert not forced or sums[1] <= sums[2]


def test_words_have_several_terms_on_a_board_and_fused_cells_add_points():
    n_more = n_fused = 0
    for dims, seed in SEEDS:
        case = random_case(dims, seed, n_words=30)
        for board, score in exact(case).items():
            n_more += multi_score_of(board, case.weighted) > score
        n_fused += any(len(case.letters[c]) > 1 for c in case.bare)
    assert n_more > 1000
    assert n_fused > 20


@pytest.mark.parametrize(("dims", "seed"), SEEDS)
def test_no_terms_that_hold_together_are_worth_more_than_a_bound(dims, seed):
    """The nested bound in any order of cells, and the synchronised one after any first letters."""
    case = random_case(dims, seed)
    order = some_order(case, seed)
    weighted: Weighted = case.weighted
    nested = orderly_bound(weighted, order)
    best: dict[str, int] = {}
    for board in exact(case):
        held = multi_score_of(board, weighted)
        assert held <= nested
        letters = "".join(board[c] for c in order)
        for n in range(len(order) + 1):
            best[letters[:n]] = max(held, best.get(letters[:n], 0))
    for begin, held in best.items():
        chosen = dict(zip(order, begin, strict=False))
        value = synchronised_bound(weighted, order, chosen)
        assert held <= value <= nested
        assert len(begin) < len(order) or held == value, "all letters are known"
