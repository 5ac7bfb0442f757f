"""Keys, their radix sort and letter sums: bit by bit against letters written out, sorted() and
plain addition.
"""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from numba import njit, types

from orderly_boggle.boardclass.jit import read_only, writable
from orderly_boggle.search.keys import (
    KEY_LEVELS,
    LITERAL_BITS,
    first_edge,
    first_place,
    last_levels,
    used_levels,
)
from orderly_boggle.search.trees import arrays, runs, sums, tree

CASES = [*itertools.product(range(4), (1, 3, 9, 12))]


def random_codes(rng: random.Random, n_levels: int) -> list[int]:
    """Return a letter code for each level, 0 where there is no literal; one at least is there."""
    codes = [rng.choice([0, 0, rng.randint(1, 26)]) for _ in range(n_levels)]
    codes[rng.randrange(n_levels)] = rng.randint(1, 26)
    return codes


def key_of(codes: list[int]) -> np.uint64:
    """Return the key with these letter codes, the first level highest."""
    return np.uint64(
        sum(code << LITERAL_BITS * place for place, code in enumerate(reversed(codes)))
    )


@pytest.mark.parametrize(("seed", "n_levels"), CASES)
def test_literals_and_levels_of_a_key(seed, n_levels):
    rng, low = random.Random(seed), key_of([1] * n_levels)
    for _ in range(50):
        codes, n = random_codes(rng, n_levels), rng.randint(0, n_levels)
        key = key_of(codes)
        first = next(level for level, code in enumerate(codes) if code)
        place = n_levels - 1 - first
        assert first_place(key) == place
        assert first_edge(np.int64(key)) == place << LITERAL_BITS | codes[first]
        assert key & last_levels(n) == key_of([0] * (n_levels - n) + codes[n_levels - n :])
        assert used_levels(key, low) == key_of([int(code > 0) for code in codes])


def test_last_levels_are_those_of_a_key_and_all_bits_where_there_are_more():
    for n in range(KEY_LEVELS + 3):
        wanted = (1 << 5 * n) - 1 if n < KEY_LEVELS else (1 << 64) - 1
        assert int(last_levels(n)) == wanted


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
    found = spare if runs.sort(terms, spare, code_bits, key_bits) else terms
    assert found.tolist() == expected


def test_extreme_keys_and_none() -> None:
    terms = np.array([2**64 - 1, 0, 2**63, 16, 2**64 - 16, 15], np.uint64)
    spare = np.zeros_like(terms)
    found = spare if runs.sort(terms, spare, 4, 60) else terms
    assert found.tolist() == [0, 15, 16, 2**63, 2**64 - 1, 2**64 - 16]
    terms = np.array([3, 1, 2], np.uint64)
    assert runs.sort(terms, np.zeros_like(terms), 4, 0) == 0
    assert terms.tolist() == [3, 1, 2], "without key bits nothing is moved"


@pytest.mark.parametrize("is_radix", [False, True])
@pytest.mark.parametrize("tip", [1, 40_000])
def test_either_sort_groups_the_terms_and_leaves_what_lies_before_them(is_radix, tip, monkeypatch):
    monkeypatch.setattr(arrays, "numpy_sorts_faster", lambda: not is_radix)
    rng = np.random.default_rng(tip)
    own = arrays.Arrays(1, 4, np.array([*range(8), *(-x for x in range(8))], np.int32))
    own.cells[:] = 77
    own.terms[:] = rng.integers(0, 3000 << 4, own.terms.size, np.uint64)
    own.points[:] = 77
    before = own.terms[:100].copy()
    expected: dict[int, int] = {}
    for term in own.terms[100:20_100].tolist():
        code = term & 15
        expected[term >> 4] = expected.get(term >> 4, 0) + (8 - code if code > 7 else code)
    n = own.sort(100, 20_000, 3, tip)
    found = zip(own.terms[100 : 100 + n].tolist(), own.points[100 : 100 + n].tolist(), strict=True)
    assert list(found) == [(key, points) for key, points in sorted(expected.items()) if points]
    assert (own.cells[:tip] == 77).all()
    assert (own.terms[:100] == before).all()
    assert (own.points[:100] == 77).all()


TYPES = [(np.dtype(str(value)), np.dtype(str(bound))) for value, bound in sums.SUM_TYPES]


def kernel_of(version):
    """Return a kernel that calls one version, for all widths of sums and bounds."""

    def add(rows, source, target, bounds, at, letters):
        return version(rows, source, target, bounds, at, letters)

    return njit(
        [
            types.int64(
                writable(value),
                types.int64,
                types.int64,
                read_only(bound),
                types.int64,
                types.int64,
            )
            for value, bound in sums.SUM_TYPES
        ]
    )(add)


def cases():
    cases = [pytest.param(lambda: sums.add_one_by_one, id="loop")]
    for version, has, name in (
        (sums.add_all_at_once, sums.HAS_AVX512, "AVX-512"),
        (sums.add_eight_at_once, sums.HAS_AVX2, "AVX2"),
    ):
        none = pytest.mark.skipif(not has, reason=f"no {name} here, or no JIT")
        cases.append(pytest.param(lambda version=version: kernel_of(version), marks=none, id=name))
    return cases


@pytest.mark.parametrize("made", cases())
@pytest.mark.parametrize(("value", "bound"), TYPES, ids=lambda kind: f"{8 * kind.itemsize} bits")
def test_a_choice_is_added_to_a_row_and_the_rest_is_left_alone(made, value, bound):
    """Sums go up to the largest one of their type, and down to the least."""
    add, limits = made(), np.iinfo(value)
    rng = np.random.default_rng(1)
    at_limits = set()
    for _ in range(400):
        rows = rng.choice([limits.min, -1000, 0, 1000, limits.max], 4 * sums.ROW).astype(value)
        rows += rng.integers(0, 1 << 5, rows.size, value) * (rows < limits.max)
        bounds = rng.integers(0, np.iinfo(np.int16).max + 1, 60 + tree.OVER).astype(bound)
        letters = int(rng.integers(0, 1 << 26)) & int(rng.integers(0, 1 << 26))
        source, target = (int(x) * sums.ROW for x in rng.integers(0, 4, 2))
        at = int(rng.integers(0, 60 - 26))
        chosen = [x for x in range(26) if letters >> x & 1]
        added = bounds[at : at + len(chosen)]
        rows[[source + x for x in chosen]] = np.minimum(
            rows[[source + x for x in chosen]], limits.max - added.astype(np.int64)
        )
        wanted = rows.copy()
        wanted[target : target + sums.ROW] = rows[source : source + sums.ROW]
        wanted[[target + x for x in chosen]] += added
        assert (
            add(rows, source, target, bounds, at, letters)
            == wanted[target : target + sums.ROW].max()
        )
        assert rows.tolist() == wanted.tolist()
        at_limits |= {int(limits.min), int(limits.max)} & set(
            wanted[target : target + sums.ROW].tolist()
        )
    assert len(at_limits) == 2
