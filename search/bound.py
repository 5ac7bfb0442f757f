"""Letter-synchronised OrderlyBound: depth-first over the levels of orderly trees, without merging, without allocation.

State at depth k (levels 0..k-1 have a letter): ``points`` of the terms that hold, and per later level c the *letter sums*
``V[c][l]``: the bounds behind letter l of all choices stacked on c.  The bound of the state (design: search.md section 3.1)

    points + sum over levels c >= k of  max over letters l of V[c][l]

is an upper bound, because every choice on a level must take the letter of that level, and V never underestimates a subtree.
It never grows on the way down, so no sum here exceeds the bound at the root.

A letter that a level may not take has the value FORBIDDEN there: it is never a maximum and never survives.  Residual symmetry
works the same way: where level ``a`` must not be greater than level ``b``, choosing a letter for ``a`` forbids the smaller ones
on ``b`` (search.node says why this loses no board).

The search can be left and taken up again at any push: all state is in the arrays of :class:`Search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from boardclass.cutoff import reaches
from boardclass.jit import kernel, writable
from search.bits import leading_zeros, lowest_bit, popcount
from search.tree import LETTER_BITS, LETTERS, RUN_BITS, TREE_TYPE

DONE = 0
BUDGET_SPENT = 1
SURVIVORS_FULL = 2
FORBIDDEN = -(1 << 30)
ROW = 32  # letters 0..25, padded to whole vectors
_MAX_LEVELS = 13
_ONE = np.uint64(1)


class Search(NamedTuple):
    """The whole state of one OrderlyBound search.

    Attributes
    ----------
    sums : int32[13, 13, 32], letter sums by depth, level, letter
    points : int64[13], points that hold, by depth
    best : int32[13, 13], largest letter sum by depth and level
    bound : int64[13], bound of the state by depth
    letter : int64[13], letter that is next at each depth
    n_choices, n_tails : int64[13, 13], filled part of ``choices`` and ``tails`` by depth and level
    choices : int32[13, capacity], offsets of the stacked choices by level
    tails : int64[13, capacity], stacked single terms by level: key index << 5 | letter
    not_less : int64[13], mask of the levels that must not take a smaller letter than this one
    greater : int64[26, 26], 1 where the second letter is smaller than the first in the order of ``not_less``
    counts : int64[4]: states, pushes, survivors, current depth
    """

    sums: NDArray[np.int32]
    points: NDArray[np.int64]
    best: NDArray[np.int32]
    bound: NDArray[np.int64]
    letter: NDArray[np.int64]
    n_choices: NDArray[np.int64]
    n_tails: NDArray[np.int64]
    choices: NDArray[np.int32]
    tails: NDArray[np.int64]
    not_less: NDArray[np.int64]
    smaller: NDArray[np.int64]
    counts: NDArray[np.int64]


SEARCH_TYPE = types.NamedTuple(
    [
        writable(types.int32, 3),
        writable(types.int64),
        writable(types.int32, 2),
        writable(types.int64),
        writable(types.int64),
        writable(types.int64, 2),
        writable(types.int64, 2),
        writable(types.int32, 2),
        writable(types.int64, 2),
        writable(types.int64),
        writable(types.int64),
        writable(types.int64),
    ],
    Search,
)
STATES, PUSHES, SURVIVORS, DEPTH = range(4)


def new_search() -> Search:
    """Return working space for one search; :func:`start` prepares it.

    At depth k at most 2**k sum nodes agree with the letters chosen (one per subset of the levels), so at most 2**c choices are
    stacked on level c, and 26 times as many single terms.
    """
    m = _MAX_LEVELS
    return Search(
        np.zeros((m, m, ROW), np.int32),
        np.zeros(m, np.int64),
        np.zeros((m, m), np.int32),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros((m, m), np.int64),
        np.zeros((m, m), np.int64),
        np.zeros((m, 1 << m), np.int32),
        np.zeros((m, LETTER_BITS << m), np.int64),
        np.zeros(m, np.int64),
        np.zeros(LETTER_BITS, np.int64),
        np.zeros(4, np.int64),
    )


@kernel(types.int64(TREE_TYPE, types.int64, SEARCH_TYPE, types.int64))
def _push(tree, ref, s, depth):  # type: ignore[no-untyped-def]
    """Stack the choices of the sum node at ``ref`` on the state at ``depth``; return the points of the node."""
    cells = tree.cells
    head = cells[ref]
    o = ref + 1
    sums = s.sums[depth]
    for _ in range(head & 15):
        word = cells[o]
        level = word >> LETTER_BITS
        n = s.n_choices[depth, level]
        s.choices[level, n] = o
        s.n_choices[depth, level] = n + 1
        o += 1
        letters = np.int64(word & LETTERS)
        k = popcount(letters)
        while letters:
            sums[level, lowest_bit(letters)] += cells[o]
            letters &= letters - 1
            o += 1
        o += k
    return np.int64(head >> 4)


@kernel(types.int64(TREE_TYPE, types.int64, types.int64, SEARCH_TYPE, types.int64))
def _push_term(tree, i, level, s, depth):  # type: ignore[no-untyped-def]
    """Stack what is left of term i behind ``level`` on the state at ``depth``; return its points if nothing is left."""
    top = tree.n_levels - 1
    rest = tree.keys[i] & ((_ONE << np.uint64(5 * (top - level))) - _ONE)
    if not rest:
        return np.int64(tree.points[i])
    nxt = top - (63 - leading_zeros(np.int64(rest))) // 5
    shift = np.uint64(5 * (top - nxt))
    letter = np.int64(rest >> shift) - 1
    s.sums[depth, nxt, letter] += tree.points[i]
    if rest & ((_ONE << shift) - _ONE):
        n = s.n_tails[depth, nxt]
        s.tails[nxt, n] = (i << 5) | letter
        s.n_tails[depth, nxt] = n + 1
    return 0


@kernel(types.int64(TREE_TYPE, types.int64, types.int64, SEARCH_TYPE, types.int64))
def _push_run(tree, ref, level, s, depth):  # type: ignore[no-untyped-def]
    """Stack the terms of an unbuilt subtree one by one; return the points of those that hold."""
    word = ~ref
    first = word >> RUN_BITS
    points = 0
    for i in range(first, first + (word & ((1 << RUN_BITS) - 1)) + 1):
        points += _push_term(tree, i, level, s, depth)
    return points


@kernel(types.int64(TREE_TYPE, SEARCH_TYPE, types.int64, types.int64))
def _choose(tree, s, depth, letter):  # type: ignore[no-untyped-def]
    """Give level ``depth`` its ``letter``: prepare the state at ``depth + 1`` but for its bound; return the pushes made.

    Everything behind the letter counts as points first (leaves are then done); what is not a leaf gives its bound back and is pushed.
    """
    n_levels = tree.n_levels
    deeper = depth + 1
    for level in range(deeper, n_levels):
        s.n_choices[deeper, level] = s.n_choices[depth, level]
        s.n_tails[deeper, level] = s.n_tails[depth, level]
        for x in range(ROW):
            s.sums[deeper, level, x] = s.sums[depth, level, x]
    later = s.not_less[depth]
    while later:
        level = lowest_bit(later)
        later &= later - 1
        smaller = s.smaller[letter]
        while smaller:
            s.sums[deeper, level, lowest_bit(smaller)] = FORBIDDEN
            smaller &= smaller - 1
    cells = tree.cells
    points = s.points[depth] + s.sums[depth, depth, letter]
    pushes = 0
    below = (np.int64(1) << letter) - 1
    for i in range(s.n_choices[depth, depth]):
        o = s.choices[depth, i]
        letters = np.int64(cells[o] & LETTERS)
        if not (letters >> letter) & 1:
            continue
        j = popcount(letters & below)
        ref = cells[o + 1 + popcount(letters) + j]
        if ref == 0:
            continue
        points -= cells[o + 1 + j]
        pushes += 1
        if ref > 0:
            points += _push(tree, ref, s, deeper)
        else:
            points += _push_run(tree, np.int64(ref), depth, s, deeper)
    for i in range(s.n_tails[depth, depth]):
        tail = s.tails[depth, i]
        if tail & 31 == letter:
            pushes += 1
            points -= tree.points[tail >> 5]
            _push_term(tree, tail >> 5, depth, s, deeper)
    s.points[deeper] = points
    return pushes


@kernel(types.void(SEARCH_TYPE, types.int64, types.int64))
def _enter(s, depth, n_levels):  # type: ignore[no-untyped-def]
    """Compute the bound of the state at ``depth`` and set it to its first letter."""
    bound = s.points[depth]
    for level in range(depth, n_levels):
        best = s.sums[depth, level, 0]
        for x in range(1, ROW):
            best = max(best, s.sums[depth, level, x])
        s.best[depth, level] = best
        bound += best
    s.bound[depth] = bound
    s.letter[depth] = 0


@kernel(types.int64(TREE_TYPE, SEARCH_TYPE, types.int64))
def add_root(tree, s, root):  # type: ignore[no-untyped-def]
    """Push the root of a tree on the state at depth 0 (several trees may share one search); return the bound of the state."""
    s.points[0] += _push(tree, root, s, 0)
    _enter(s, 0, tree.n_levels)
    return s.bound[0]


@kernel(types.int64(TREE_TYPE, SEARCH_TYPE, types.int64, types.int64, writable(types.int8, 2)))
def orderly_bound(tree, s, cutoff, budget, survivors):  # type: ignore[no-untyped-def]
    """Search on from the state in ``s``; return DONE, BUDGET_SPENT or SURVIVORS_FULL (call again with an empty buffer).

    cutoff : points; every discarded state has a bound below it
    budget : pushes in all at which the search gives up
    survivors : int8[m, >= n_levels], filled with the letters of complete assignments whose bound reaches the cutoff
    """
    n_levels = tree.n_levels
    last = n_levels - 1
    depth = s.counts[DEPTH]
    n = 0
    while depth >= 0:
        letter = s.letter[depth]
        if letter == LETTER_BITS:
            depth -= 1
            continue
        value = s.sums[depth, depth, letter]
        if not reaches(s.bound[depth] - s.best[depth, depth] + value, cutoff):
            s.letter[depth] = letter + 1
            continue
        if depth == last:
            if n == survivors.shape[0]:
                s.counts[DEPTH] = depth
                s.counts[SURVIVORS] += n
                return SURVIVORS_FULL
            for level in range(last):
                survivors[n, level] = s.letter[level] - 1
            survivors[n, last] = letter
            s.letter[depth] = letter + 1
            n += 1
            continue
        if s.counts[PUSHES] > budget:
            s.counts[DEPTH] = depth
            s.counts[SURVIVORS] += n
            return BUDGET_SPENT
        s.counts[STATES] += 1
        s.counts[PUSHES] += _choose(tree, s, depth, letter)
        s.letter[depth] = letter + 1
        _enter(s, depth + 1, n_levels)
        if reaches(s.bound[depth + 1], cutoff):
            depth += 1
    s.counts[DEPTH] = -1
    s.counts[SURVIVORS] += n
    return DONE
