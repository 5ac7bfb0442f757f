"""Kernels of certificate.py: the tree of parts of a class, one cell after the other, as far as
bounds demand.

Keys are those of search.keys, as int64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int32, int64, types, void

from boardclass.cutoff import reaches
from boardclass.jit import kernel, read_only, writable
from search.bits import lowest_bit
from search.keys import LITERAL, LITERAL_BITS, MAX_LEVELS, first_place

DONE, FULL_TERMS, FULL_BODY = 0, 1, 2
N_SPLITS, N_LEAVES, N_BOARDS = 0, 1, 2


class Space(NamedTuple):
    """Working memory."""

    keys: Any  # int64[...], of the terms of the root, then of those of the open parts
    points: Any  # int32[...]
    body: Any  # int64[...], filled: letters (bit 0 = ``a``) that go on, per split in preorder
    counts: Any  # int64[3], filled: splits, leaves, boards


_OUT = writable(int64)
_SPACE = types.NamedTuple([_OUT, writable(int32), _OUT, _OUT], Space)


@kernel(void(int64, int64, int64, int64, _SPACE, _OUT))
def _bound_letters(
    start: int, stop: int, level: int, n_levels: int, space: Space, bounds: Any
) -> None:
    """Fill ``bounds[x + 1]`` with U of the terms at start..stop that need letter x on ``level``,
    ``bounds[0]`` without.

    One pass: the highest level at which neighbouring keys differ says which groups close.
    """
    keys = space.keys
    points = space.points
    without = np.zeros(MAX_LEVELS, np.int64)
    best = np.zeros(MAX_LEVELS, np.int64)
    bounds[:] = 0
    for i in range(start, stop):
        key = keys[i]
        differs = level
        if i + 1 < stop:
            differs = n_levels - 1 - first_place(key ^ keys[i + 1])
        value = int64(points[i])
        k = n_levels - 1
        while k > level:
            if (key >> LITERAL_BITS * (n_levels - 1 - k)) & LITERAL:
                best[k] = max(best[k], value)
            else:
                without[k] = value
            if k == differs:
                break
            value = without[k] + best[k]
            without[k] = 0
            best[k] = 0
            k -= 1
        if k == level:
            bounds[key >> LITERAL_BITS * (n_levels - 1 - level)] = value


@kernel(int64(int64, int64, int64, int64, int64, int64, _SPACE))
def _join(a: int, a_stop: int, b: int, b_stop: int, low: int, out: int, space: Space) -> int:
    """Append the terms at a.. and those at b.. without their first letter, equal ones added up;
    return their end.
    """
    keys = space.keys
    points = space.points
    while a < a_stop and b < b_stop:
        left = keys[a]
        right = keys[b] & low
        keys[out] = min(left, right)
        worth = int64(0)
        if left <= right:
            worth += points[a]
            a += 1
        if right <= left:
            worth += points[b]
            b += 1
        points[out] = worth
        out += 1
    while a < a_stop:
        keys[out] = keys[a]
        points[out] = points[a]
        a += 1
        out += 1
    while b < b_stop:
        keys[out] = keys[b] & low
        points[out] = points[b]
        b += 1
        out += 1
    return out


@kernel(int64(int64, int64, read_only(int64), _SPACE))
def grow(n_terms: int, cutoff: int, masks: Any, space: Space) -> int:
    """Split every part whose bound reaches the cutoff, down to boards; return DONE or what was
    full.

    masks : int64[n_levels], letters of the cells in the order of the levels
    """
    n = len(masks)
    keys = space.keys
    bounds = np.zeros((n + 1, 32), np.int64)  # by level, of the part that is open there
    start = np.zeros(n + 1, np.int64)
    stop = np.zeros(n + 1, np.int64)
    todo = np.zeros(n, np.int64)
    place = np.zeros(n, np.int64)  # of the split's entry in the body
    space.counts[:] = 0
    stop[0] = n_terms
    _bound_letters(0, n_terms, 0, n, space, bounds[0])
    level = 0
    fresh = True
    while level >= 0:
        if fresh:
            if space.counts[N_SPLITS] == len(space.body):
                return FULL_BODY
            place[level] = space.counts[N_SPLITS]
            space.body[place[level]] = 0
            space.counts[N_SPLITS] += 1
            todo[level] = masks[level]
            fresh = False
        if todo[level] == 0:
            level -= 1
            continue
        x = lowest_bit(todo[level])
        todo[level] &= todo[level] - 1
        if not reaches(bounds[level, 0] + bounds[level, x + 1], cutoff):
            space.counts[N_LEAVES] += 1
            continue
        if level == n - 1:
            space.counts[N_BOARDS] += 1
            space.body[place[level]] |= int64(1) << x
            continue
        shift = LITERAL_BITS * (n - 1 - level)
        part = keys[start[level] : stop[level]]
        first = start[level] + np.searchsorted(part, int64(1) << shift)
        a = start[level] + np.searchsorted(part, int64(x + 1) << shift)
        b = start[level] + np.searchsorted(part, int64(x + 2) << shift)
        if stop[level] + (first - start[level]) + (b - a) > len(keys):
            return FULL_TERMS
        end = _join(start[level], first, a, b, (int64(1) << shift) - 1, stop[level], space)
        _bound_letters(stop[level], end, level + 1, n, space, bounds[level + 1])
        if not reaches(bounds[level + 1, 0] + bounds[level + 1, 1:].max(), cutoff):
            space.counts[N_LEAVES] += 1
            continue
        space.body[place[level]] |= int64(1) << x
        start[level + 1] = stop[level]
        stop[level + 1] = end
        level += 1
        fresh = True
    return DONE
