"""Kernels of certificate.py: the tree of parts of a class, one cell after the other, as far as bounds demand.

Keys are mixed radix as in basic.py: the digit of the first free cell is the most significant, 0 = no letter needed
there.  ``bases[k]`` is the number of letters of cell k plus one, ``weights[k]`` the place value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, types

from boardclass.cutoff import reaches
from boardclass.jit import kernel, read_only, writable

DONE, FULL_TERMS, FULL_BODY = 0, 1, 2
N_SPLITS, N_LEAVES, N_BOARDS = 0, 1, 2


class Space(NamedTuple):
    """Working memory.

    Attributes
    ----------
    keys, points : int64[...]; the terms of the root first, those of the parts that are open behind them
    scratch_keys, scratch : int64[...], to fold groups
    body : int64[...], filled: letters (bit d - 1 for digit d) that go on, per split in preorder
    counts : int64[3], filled: splits, leaves, boards
    """

    keys: Any
    points: Any
    scratch_keys: Any
    scratch: Any
    body: Any
    counts: Any


_IN, _OUT = read_only(int64), writable(int64)
_SPACE = types.NamedUniTuple(_OUT, len(Space._fields), Space)


@kernel(int64(int64, int64, int64, _IN, _SPACE, _OUT))
def _fold(start: int, stop: int, level: int, bases: Any, space: Space, bounds: Any) -> int:
    """Fill ``bounds[d]`` with U of the group of digit d on ``level``; return 0.

    The last cell is folded away first: terms that agree on all cells before it become one, worth the term that needs
    nothing there plus the best of the others.
    """
    keys, values = space.scratch_keys, space.scratch
    n = stop - start
    keys[:n] = space.keys[start:stop]
    values[:n] = space.points[start:stop]
    for cell in range(len(bases) - 1, level, -1):
        out = -1
        previous = np.int64(-1)
        without = np.int64(0)
        best = np.int64(0)
        for i in range(n):
            prefix = keys[i] // bases[cell]
            if prefix != previous:
                previous, without, best = prefix, np.int64(0), np.int64(0)
                out += 1
            if keys[i] == prefix * bases[cell]:
                without = values[i]
            else:
                best = max(best, values[i])
            keys[out] = prefix
            values[out] = without + best
        n = out + 1
    bounds[:] = 0
    for i in range(n):
        bounds[keys[i]] = values[i]
    return 0


@kernel(int64(int64, int64, int64, int64, int64, int64, _SPACE))
def _join(a: int, a_stop: int, b: int, b_stop: int, literal: int, out: int, space: Space) -> int:
    """Append the terms at a.. and those at b.. without their ``literal``, equal ones added up; return their end."""
    keys, points = space.keys, space.points
    begin = out
    while a < a_stop or b < b_stop:
        from_a = b == b_stop or (a < a_stop and keys[a] <= keys[b] - literal)
        key = keys[a] if from_a else keys[b] - literal
        worth = points[a] if from_a else points[b]
        if from_a:
            a += 1
        else:
            b += 1
        if out > begin and keys[out - 1] == key:
            points[out - 1] += worth
        else:
            keys[out] = key
            points[out] = worth
            out += 1
    return out


@kernel(int64(int64, int64, _IN, _IN, _SPACE))
def grow(n_terms: int, cutoff: int, bases: Any, weights: Any, space: Space) -> int:
    """Split every part whose bound reaches the cutoff, down to boards; return DONE or what was full."""
    n = len(bases)
    bounds = np.zeros((n, 32), np.int64)
    start = np.zeros(n + 1, np.int64)
    stop = np.zeros(n + 1, np.int64)
    digit = np.zeros(n, np.int64)
    place = np.zeros(n, np.int64)  # of the split's entry in the body
    below = np.zeros(32, np.int64)
    level = 0
    stop[0] = n_terms
    space.counts[:] = 0
    while level >= 0:
        if digit[level] == 0:
            if space.counts[N_SPLITS] == len(space.body):
                return FULL_BODY
            place[level] = space.counts[N_SPLITS]
            space.body[place[level]] = 0
            space.counts[N_SPLITS] += 1
            if stop[level] - start[level] > len(space.scratch):
                return FULL_TERMS
            _fold(start[level], stop[level], level, bases, space, bounds[level])
        digit[level] += 1
        d = digit[level]
        if d >= bases[level]:
            digit[level] = 0
            level -= 1
            continue
        if not reaches(bounds[level, 0] + bounds[level, d], cutoff):
            space.counts[N_LEAVES] += 1
            continue
        if level == n - 1:
            space.counts[N_BOARDS] += 1
            space.body[place[level]] |= 1 << (d - 1)
            continue
        keys = space.keys[start[level] : stop[level]]
        first = start[level] + np.searchsorted(keys, weights[level])
        a = start[level] + np.searchsorted(keys, d * weights[level])
        b = start[level] + np.searchsorted(keys, (d + 1) * weights[level])
        if stop[level] + (first - start[level]) + (b - a) > len(space.keys):
            return FULL_TERMS
        end = _join(start[level], first, a, b, d * weights[level], stop[level], space)
        if end - stop[level] > len(space.scratch):
            return FULL_TERMS
        _fold(stop[level], end, level + 1, bases, space, below)
        best = np.int64(0)
        for other in range(1, bases[level + 1]):
            best = max(best, below[other])
        if not reaches(below[0] + best, cutoff):
            space.counts[N_LEAVES] += 1
            continue
        space.body[place[level]] |= 1 << (d - 1)
        start[level + 1], stop[level + 1] = stop[level], end
        level += 1
    return DONE
