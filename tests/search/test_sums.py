"""Letter sums: vector instructions and the loop over letters against plain addition."""

from __future__ import annotations

import numpy as np
import pytest
from numba import types

from boardclass.jit import kernel, read_only, writable
from search.trees import sums, tree


@kernel([
    types.int64(writable(types.int32), types.int64, types.int64, read_only(bound), types.int64, types.int64)
    for bound in tree.BOUND_TYPES
])  # fmt: skip
def as_vector(rows, source, target, bounds, at, letters):
    return sums.add_as_vector(rows, source, target, bounds, at, letters)


def cases() -> list[object]:
    none = pytest.mark.skipif(not sums.supported(), reason="no AVX-512 here, or no JIT")
    return [sums.add_one_by_one, pytest.param(as_vector, marks=none)]


@pytest.mark.parametrize("add", cases(), ids=["loop", "vector"])
@pytest.mark.parametrize("width", [tree.NARROW, tree.WIDE], ids=["narrow", "wide"])
def test_a_choice_is_added_to_a_row_and_the_rest_is_left_alone(add, width):
    rng = np.random.default_rng(1)
    for _ in range(400):
        rows = rng.integers(-(1 << 30), 1 << 20, 4 * sums.ROW).astype(np.int32)
        bounds = rng.integers(0, np.iinfo(np.int16).max + 1, 60).astype(width)
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
