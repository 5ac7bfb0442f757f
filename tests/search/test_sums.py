"""Letter sums: vector instructions and the loop over letters against plain addition."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit, types

from boardclass.jit import read_only, writable
from search.trees import sums, tree

TYPES = [(np.dtype(str(value)), np.dtype(str(bound))) for value, bound in sums.SUM_TYPES]


def kernel_of(version):
    """Return a kernel that calls one version, for all widths of sums and bounds."""

    def add(rows, source, target, bounds, at, letters):
        return version(rows, source, target, bounds, at, letters)

    return njit([
        types.int64(writable(value), types.int64, types.int64, read_only(bound), types.int64, types.int64)
        for value, bound in sums.SUM_TYPES
    ])(add)  # fmt: skip


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
        assert add(rows, source, target, bounds, at, letters) == wanted[target : target + sums.ROW].max()
        assert rows.tolist() == wanted.tolist()
        at_limits |= {int(limits.min), int(limits.max)} & set(wanted[target : target + sums.ROW].tolist())
    assert len(at_limits) == 2
