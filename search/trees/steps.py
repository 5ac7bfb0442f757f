"""Steps of the merge (search.trees.merge) that are inlined into its one long kernel."""

from __future__ import annotations

import numpy as np
from numba import types

from boardclass.jit import kernel, writable
from search.bits import popcount, prefetch
from search.keys import LITERAL, LITERAL_BITS
from search.trees.tree import BOUND_TYPES, LINE


@kernel(
    [
        types.int64(
            writable(types.int32), writable(bound), types.int64, types.int64, types.int64, writable(types.int32),
            writable(types.int32), types.int64,
        )
        for bound in BOUND_TYPES
    ],
    inline="always",
)  # fmt: skip
def copy_entries(cells, bounds, from_ref, from_bound, n, entries, refs, to):  # type: ignore[no-untyped-def]
    """Copy bounds and references of ``n`` entries of a node to the buffers; return the largest bound."""
    best = np.int64(0)
    for x in range(n):
        entries[to + x] = bounds[from_bound + x]
        best = max(best, np.int64(bounds[from_bound + x]))
    for x in range(n):
        refs[to + x] = cells[from_ref - x]
    return best


@kernel(types.void(writable(types.int32), types.int64, types.int64, types.int64, types.int64), inline="always")
def ask_ahead(cells, edge, letters, place, ref):  # type: ignore[no-untyped-def]
    """Ask for the sum node behind an edge, if the current choice, its ``letters`` left at ``place``, has the edge."""
    letter = (edge & LITERAL) - 1
    if edge >> LITERAL_BITS == place and (letters >> letter) & 1:
        node = np.int64(cells[ref - popcount(letters & ((np.int64(1) << letter) - 1))])
        if node > 0:
            prefetch(cells, node)
            prefetch(cells, node - LINE)
            prefetch(cells, node + LINE)
