"""Keys: literals in one integer, against letters written out."""

from __future__ import annotations

import random

import numpy as np
import pytest

from search.keys import LITERAL_BITS, first_edge, first_place, last_levels, used_levels

CASES = [(seed, n_levels) for seed in range(4) for n_levels in (1, 3, 9, 12)]


def random_codes(rng: random.Random, n_levels: int) -> list[int]:
    """Return a letter code for each level, 0 where there is no literal; one at least is there."""
    codes = [rng.choice([0, 0, rng.randint(1, 26)]) for _ in range(n_levels)]
    codes[rng.randrange(n_levels)] = rng.randint(1, 26)
    return codes


def key_of(codes: list[int]) -> np.uint64:
    """Return the key with these letter codes, the first level highest."""
    return np.uint64(sum(code << LITERAL_BITS * place for place, code in enumerate(reversed(codes))))


@pytest.mark.parametrize(("seed", "n_levels"), CASES)
def test_the_first_literal_of_a_key(seed, n_levels):
    rng = random.Random(seed)
    for _ in range(50):
        codes = random_codes(rng, n_levels)
        first = next(level for level, code in enumerate(codes) if code)
        place = n_levels - 1 - first
        assert first_place(key_of(codes)) == place
        assert first_edge(np.int64(key_of(codes))) == place << LITERAL_BITS | codes[first]


@pytest.mark.parametrize(("seed", "n_levels"), CASES)
def test_levels_of_a_key(seed, n_levels):
    rng = random.Random(seed)
    low = key_of([1] * n_levels)
    for _ in range(50):
        codes, n = random_codes(rng, n_levels), rng.randint(0, n_levels)
        assert key_of(codes) & last_levels(n) == key_of([0] * (n_levels - n) + codes[n_levels - n :])
        assert used_levels(key_of(codes), low) == key_of([int(code > 0) for code in codes])
