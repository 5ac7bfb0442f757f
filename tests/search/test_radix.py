"""The radix sort of terms against sorted()."""

from __future__ import annotations

import numpy as np
import pytest

from search.terms import radix


@pytest.mark.parametrize("key_bits", [5, 10, 15, 45, 50, 60])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 1000, 20_000])
def test_sorts_by_key_and_is_stable(n: int, key_bits: int) -> None:
    code_bits = 4
    rng = np.random.default_rng(n + key_bits)
    keys = rng.integers(0, 1 << key_bits, n, np.uint64)
    keys[n // 2 :] = keys[: n - n // 2]  # some come twice
    keys[::3] &= np.uint64(31)  # and many begin with zeros, as those of terms do
    terms = keys << np.uint64(code_bits) | rng.integers(0, 1 << code_bits, n, np.uint64)
    expected = sorted(terms.tolist(), key=lambda term: term >> code_bits)
    spare = np.full(n, 7, np.uint64)
    found = spare if radix.sort(terms, spare, code_bits, key_bits) else terms
    assert found.tolist() == expected


def test_extreme_keys_of_all_64_bits() -> None:
    terms = np.array([2**64 - 1, 0, 2**63, 16, 2**64 - 16, 15], np.uint64)
    spare = np.zeros_like(terms)
    found = spare if radix.sort(terms, spare, 4, 60) else terms
    assert found.tolist() == [0, 15, 16, 2**63, 2**64 - 1, 2**64 - 16]


def test_without_key_bits_nothing_is_moved() -> None:
    terms = np.array([3, 1, 2], np.uint64)
    assert radix.sort(terms, np.zeros_like(terms), 4, 0) == 0
    assert terms.tolist() == [3, 1, 2]
