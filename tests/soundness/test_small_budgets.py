"""Searches whose budgets are spent at every turn find the boards of a full enumeration.

What is left of a node, what was ruled out for its parts and what goes back as children together lose nothing.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from search.params import Params
from tests.search.test_breaker import check_class, random_params, world

WORLDS = {letters: world("2x3", letters, 60, letters) for letters in ("aeqst", "aeirst", "aest")}


def starved(rng: random.Random) -> Params:
    """Return budgets that rule out some letters of a cell for all fused letters, and then are spent."""
    return replace(
        random_params(rng),
        fused=rng.choice([("edge",), ("edge",), ("corner",)]),
        node_budget=rng.choice([1, 3, 10, 30]),
        least_budget=rng.choice([0, 1, 3]),
        fused_budget=rng.choice([10, 100, 1000]),
        fused_per_term=rng.choice([0, 2]),
        fused_misses=rng.choice([1, 2, 26]),
        unit_budget=rng.choice([30, 300, 1 << 40, 1 << 40]),
        memory_mb=16,
        whole_terms=10**6,
        product_limit=rng.choice([0, 20, 20_000]),
    )


@pytest.mark.parametrize("letters", WORLDS)
@pytest.mark.parametrize("seed", range(20))
def test_small_budgets_lose_no_board(letters, seed):
    of, rng = WORLDS[letters], random.Random(f"{letters} {seed}")
    check_class(of, of.scores.cutoff_for(rng.choice([30, 300])), of.best_rank(), starved(rng))
