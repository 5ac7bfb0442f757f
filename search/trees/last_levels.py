"""The most that the last levels of a tree can give together, found by a search of them alone: it
takes a part of the slack out of the bounds of OrderlyBound.

The bound of a state adds up the largest letter sum of each level, as if the subtrees that wait
there could each have the letters that suit them best.  For the choices that are stacked when the
first level has taken a letter, this slack can be measured once for all states behind that letter.
Let V[c][l] be the letter sums at that state, and G_k(x) what the choices stacked there on the
levels from k on give if these levels take the letters x.  A share of each letter sum is kept,
0 <= K[c][l] <= V[c][l], the rest of it is put ``apart``, and ``most[k]`` is a number with

    G_k(x) - sum over c >= k of K[c][x_c]  <=  most[k]      for all x.

A state at depth k behind that letter has points p and choices of two kinds on its levels: those
that were stacked there at the beginning, and those stacked since, with letter sums W[c][l].  Any x
gives it at most p + G_k(x) + sum of W[c][x_c], so p + sum of max over l of (W + K)[c][l] + most[k]
is a bound.  W + K is what the letter sums hold from now on.  When level k takes letter l, its
choices of both kinds are pushed.  So what is apart of V[k][l] comes back, and ``most[k + 1]`` is
what is left to be added.

Two things serve as ``most``.  V never underestimates a subtree, so most[k] may always be most[k +
1] and the largest that is apart on level k.  For few levels the search finds a smaller number
itself: it begins at depth k with the choices of the beginning, no points and letter sums of 0,
and looks for x that gives ``SOUGHT`` or more.  If it finds one, it raises SOUGHT above what x gives
and goes on.  At the end no x gives SOUGHT.  A larger step saves time and loses up to a step of the
bound.  Demands (search.node) hold meanwhile as well: no board is asked for that does not meet them.
A search that would take too long is given up, and the first way counts.

Whatever K is, this is right.  With a quarter kept, all of W + K on a level still takes one letter,
and little is lost where what was stacked since prefers another letter than the rest does.

>>> from orderly_boggle.search.trees.state import new_search
>>> new_search().most.tolist() == [0] * 15
True
"""

import numpy as np
from numba import int64

from orderly_boggle.boardclass.jit import kernel
from orderly_boggle.search.keys import MAX_LEVELS
from orderly_boggle.search.trees.bound import DONE, orderly_bound
from orderly_boggle.search.trees.state import (
    AT_DEEPER,
    AT_NEXT,
    AT_ROW,
    BEST,
    DEPTH,
    DISCARDED,
    IS_APART,
    LOWEST,
    N_CHOICES,
    N_TAILS,
    PUSHES,
    SINCE,
    SOUGHT,
    STEP,
    TREE_AND_SEARCH,
)
from orderly_boggle.search.trees.sums import ROW

LEVELS_LEFT = 9  # for which a search pauses: with fewer, all of it takes little longer than this
_KEPT = 4  # one part of so many of a letter sum is kept
_MOST_LEVELS = 7  # are searched together, and at least _FEWER less than are left
_FEWER = 3
_STEP = 64  # one part of so many of the cutoff
_BUDGET = 300_000  # pushes for one number


@kernel([int64(tree, search, int64) for tree, search in TREE_AND_SEARCH])
def bound_last_levels(tree, s, cutoff):  # type: ignore[no-untyped-def]
    """Put a part of the letter sums of the current state ``apart`` and find the ``most`` for it;
    return the bound of the state afterwards.

    To be called when :func:`orderly_boggle.search.trees.bound.orderly_bound` pauses; the next call
    of that goes on, and the numbers hold until the first level takes another letter.  In place, the
    search state is written to, and the cells from the tip of the tree on.

    cutoff : points; the numbers are found to a small part of it
    """
    depth = s.counts[DEPTH]
    n_levels = tree.n_levels
    here = depth * AT_DEEPER
    sums = s.sums
    levels = s.levels
    forbidden = np.iinfo(sums.dtype).min
    for level in range(depth, n_levels):
        at_level = here + level * AT_NEXT
        source = levels[at_level + AT_ROW]
        target = (depth * MAX_LEVELS + level) * ROW
        for x in range(ROW):
            value = int64(sums[source + x])
            rest = int64(0)
            if value > 0:
                rest = value - value // _KEPT
            s.apart[level * ROW + x] = rest
            sums[target + x] = value - rest
        largest = int64(sums[target : target + ROW].max())
        s.bound[depth] += largest - levels[at_level + BEST]
        levels[at_level + AT_ROW] = target
        levels[at_level + BEST] = largest
    since = s.counts[SINCE]
    discarded = s.counts[DISCARDED]
    s.counts[IS_APART] = 1
    s.counts[STEP] = max(int64(1), cutoff // _STEP)
    nothing = np.empty((0, 1), np.int8)
    s.most[n_levels] = 0
    for level in range(n_levels - 1, depth - 1, -1):
        largest = s.apart[level * ROW : (level + 1) * ROW].max()
        s.most[level] = s.most[level + 1] + largest
        n_left = n_levels - level
        if n_left > min(_MOST_LEVELS, n_levels - depth - _FEWER):
            continue
        for other in range(level, n_levels):
            at_level = level * AT_DEEPER + other * AT_NEXT
            above = here + other * AT_NEXT
            source = levels[above + AT_ROW]
            target = (level * MAX_LEVELS + other) * ROW
            for x in range(ROW):
                sums[target + x] = forbidden if sums[source + x] < 0 else 0
            levels[at_level + AT_ROW] = target
            levels[at_level + BEST] = int64(sums[target : target + ROW].max())
            levels[at_level + N_CHOICES] = levels[above + N_CHOICES]
            levels[at_level + N_TAILS] = levels[above + N_TAILS]
        s.points[level] = 0
        s.bound[level] = 0
        s.letter[level] = 0
        s.counts[DEPTH] = level
        s.counts[LOWEST] = level
        s.counts[SINCE] = s.counts[PUSHES]
        aim = s.most[level + 1] + (s.counts[STEP] + 1) // 2
        if orderly_bound(tree, s, aim, _BUDGET, nothing) == DONE:
            s.most[level] = min(s.most[level], s.counts[SOUGHT] - 1)
    s.counts[DEPTH] = depth
    s.counts[LOWEST] = 0
    s.counts[SINCE] = since
    s.counts[DISCARDED] = discarded
    return s.bound[depth] + s.most[depth]
