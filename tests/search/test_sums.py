"""Letter sums: vector instructions and the loop over letters against plain addition."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit, types

from boardclass.jit import read_only, writable
from search.trees import sums, tree


def kernel_of(version):
    """Return a kernel that calls one version, for both widths of bounds."""

    def add(rows, source, target, bounds, at, letters):
        return version(rows, source, target, bounds, at, letters)

    return njit([
        types.int64(writable(types.int32), types.int64, types.int64, read_only(bound), types.int64, types.int64)
        for bound in tree.BOUND_TYPES
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
@pytest.mark.parametrize("width", [tree.NARROW, tree.WIDE], ids=["narrow", "wide"])
def test_a_choice_is_added_to_a_row_and_the_rest_is_left_alone(made, width):
    add = made()
    rng = np.random.default_rng(1)
    for _ in range(400):
        rows = rng.integers(-(1 << 30), 1 << 20, 4 * sums.ROW).astype(np.int32)
        bounds = rng.integers(0, np.iinfo(np.int16).max + 1, 60 + tree.OVER).astype(width)
        letters = int(rng.integers(0, 1 << 26)) & int(rng.integers(0, 1 << 26))
        source, target = (int(x) * sums.ROW for x in rng.integers(0, 4, 2))
        at = int(rng.integers(0, 60 - 26))
        wanted, place = rows.copy(), at
        wanted[target : target + sums.ROW] = rows[source : source + sums.ROW]
        for x in range(26):
            if letters >> x & 1:
                wanted[target + x] += bounds[place]
                place += 1
        assert add(rows, source, target, bounds, at, letters) == wanted[target : target + sums.ROW].max()
        assert rows.tolist() == wanted.tolist()
