"""The state of an OrderlyBound search: its arrays, and how a search starts.

new_search -> sized_for, rows_at, add_root, before each search -> search.trees.bound.orderly_bound
-> skip_letter

Why letter sums of 2 bytes suffice for a tree whose bound is at most MAX_NARROW.  Take every letter
as allowed, and add to the points that hold the largest letter sum of each level.  That is the bound
of the tree when its root is pushed. It never grows: a letter adds its own sum in place of the
largest one, and a push takes the bound of a sum node away before it adds the node's points and,
level by level, no more than the rest of that bound.  Neither points nor bounds are negative.  So no
letter sum, of an allowed letter or not, exceeds the bound of the tree.  A letter that is not
allowed has the least value of its type plus some of that sum, which is negative and does not wrap.
The bound of a state that needs such a letter is the bound above less at least 2^15: it is negative,
and reaches no cutoff.  Sums of 4 bytes suffice for any tree in the same way, for MAX_BOUND is less
than 2^31.

>>> new_search().counts.tolist()
[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
"""

from typing import Any, NamedTuple

import numpy as np
from numba import int16, int32, int64, types, uint64
from numpy.typing import NDArray

from orderly_boggle.boardclass.arrays import Int32s, Int64s, UInt64s
from orderly_boggle.boardclass.jit import kernel, writable
from orderly_boggle.search.bits import lowest_bit, popcount
from orderly_boggle.search.keys import MAX_LEVELS
from orderly_boggle.search.trees.sums import ROW, SUM_TYPES
from orderly_boggle.search.trees.tree import (
    LETTER_BITS,
    LETTERS,
    MAX_NARROW,
    NARROW,
    TREE_TYPES,
    Tree,
    places_in,
    points_of,
)

# what is where in ``counts``
(
    STATES, PUSHES, SURVIVORS, DEPTH, SINCE, DISCARDED, TIP, LINK, PAUSE, IS_APART, LOWEST, STEP,
    SOUGHT, _N_COUNTS,
) = range(14)  # fmt: skip
# what is where in ``levels``, and where the next level starts
AT_ROW, BEST, N_CHOICES, N_TAILS, AT_NEXT = range(5)
AT_DEEPER = MAX_LEVELS * AT_NEXT  # where the same level of the next depth starts


class Search(NamedTuple):
    """The whole state of one OrderlyBound search."""

    # letter sums, int16 or int32[13 * 13 * 32]: a row by depth and level
    sums: NDArray[Any]
    # [13 * 13 * 4], by depth and level: where in ``sums`` the row is (the row of an earlier depth
    # until the level changes), its largest letter sum, how many choices and how many single terms
    # are stacked.  They lie together, because a state starts with a copy of those of the state
    # above it
    levels: Int64s
    points: Int64s  # [13], points that hold, by depth
    bound: Int64s  # [13], bound of the state by depth
    letter: Int64s  # [13], letter that is next at each depth
    # [13, capacity], stacked choices by level: place of the first reference << 26 | letters
    choices: Int64s
    # [13, capacity], what is left of the stacked single terms by level, the literal of the level
    # included
    tails: UInt64s
    tail_points: Int32s  # [13, capacity], their points
    # [13], mask of the levels that must not take a smaller letter than this one
    not_less: Int64s
    # [26], for each letter the letters before it in the order of ``not_less``
    smaller: Int64s
    # [14 * 32], by level and letter: what the letter sums do not hold of the choices that were
    # stacked when the first level had taken its letter (search.trees.last_levels)
    apart: Int64s
    # [15], by level: the most that these choices give on the levels from this one on, beyond what
    # the letter sums hold of them
    most: Int64s
    # [13]: states, pushes, survivors, current depth, pushes when the first level took its letter,
    # largest bound of a discarded state, first unused cell behind the tree and what the search
    # built there, link of the last node that it built (search.trees.lazy_subtree); how many levels
    # must be left for a pause when the first level has taken a letter, 0: there is none; whether
    # anything is ``apart``.  While the most is sought (search.trees.last_levels): the depth where
    # the search begins, the step by which the aim is raised, and the aim at the end
    counts: Int64s


_LINE = writable(int64)
_TABLES = [writable(kind, 2) for kind in (int64, uint64, int32)]
_SEARCH_TYPES = {
    value: types.NamedTuple([writable(value), *[_LINE] * 4, *_TABLES, *[_LINE] * 5], Search)
    for value in (int16, int32)
}
TREE_AND_SEARCH = tuple((TREE_TYPES[bound], _SEARCH_TYPES[value]) for value, bound in SUM_TYPES)


def new_search() -> Search:
    """Return working space for one search, with sums of 4 bytes; it has to be prepared (see the
    module).

    At depth k at most 2**k sum nodes of a tree agree with the letters chosen (one per subset of the
    levels), so at most 2**c choices are stacked on level c, and 26 times as many single terms.  A
    loose tree is made of two, so it has twice as many.  A bundle and its halves, three references,
    fit into the row of a level as well: no level before the last fills a third of it.
    """
    m = MAX_LEVELS
    tails = (m, 2 * LETTER_BITS << m)
    return Search._make(
        [
            np.zeros(m * m * ROW, np.int32),
            np.zeros(m * AT_DEEPER, np.int64),
            *(np.zeros(m, np.int64) for _ in range(3)),
            np.zeros((m, 2 << m), np.int64),
            np.zeros(tails, np.uint64),
            np.zeros(tails, np.int32),
            *(np.zeros(n, np.int64) for n in (m, LETTER_BITS, m * ROW, m + 1, _N_COUNTS)),
        ]
    )


def sized_for(s: Search, tree: Tree, root: int) -> Search:
    """Return the same working space with the letter sums that a search of a tree needs (see the
    module).
    """
    is_narrow = tree.bounds.dtype == NARROW and tree.cells[root + 1] <= MAX_NARROW
    if is_narrow:
        return s._replace(sums=s.sums.view(NARROW)[: s.sums.size])
    return s


def rows_at(s: Search, depth: int) -> NDArray[Any]:
    """Return the rows of a depth, int16 or int32[13, 32] by level, for filling before a search
    starts: a view of ``s``.

    The state of that depth has nothing stacked, and all letters are forbidden: one that a level may
    take is set to 0.
    """
    m = MAX_LEVELS
    levels = s.levels.reshape(m, m, AT_NEXT)[depth]
    levels[:] = 0
    levels[:, AT_ROW] = (depth * m + np.arange(m)) * ROW
    rows: NDArray[Any] = s.sums.reshape(m, m, ROW)[depth]
    rows[:] = np.iinfo(rows.dtype).min
    return rows


@kernel([int64(tree, search, int64) for tree, search in TREE_AND_SEARCH])
def add_root(tree, s, root):  # type: ignore[no-untyped-def]
    """Push the root of a tree on the state at the first level, with nothing apart; return the bound
    of it.
    """
    s.apart[:] = 0
    s.most[:] = 0
    s.counts[IS_APART] = 0
    cells = tree.cells
    bounds = tree.bounds
    first = tree.first
    levels = s.levels
    n, word_at, at, ref = places_in(root, cells[root], bounds.size // cells.size)
    for x in range(word_at, word_at + n):
        word = int64(cells[x])
        level = word >> LETTER_BITS
        letters = word & LETTERS
        here = first * AT_DEEPER + level * AT_NEXT
        s.choices[level, levels[here + N_CHOICES]] = (ref << LETTER_BITS) | letters
        levels[here + N_CHOICES] += 1
        ref -= popcount(letters)
        while letters:
            s.sums[levels[here + AT_ROW] + lowest_bit(letters)] += bounds[at]
            letters &= letters - 1
            at += 1
    s.points[first] += points_of(cells[root])
    s.bound[first] = s.points[first]
    for level in range(first, tree.n_levels):
        here = first * AT_DEEPER + level * AT_NEXT
        row = levels[here + AT_ROW]
        levels[here + BEST] = s.sums[row : row + ROW].max()
        s.bound[first] += levels[here + BEST]
    s.letter[first] = 0
    s.counts[TIP] = tree.tip
    return s.bound[first]


def skip_letter(s: Search, first: int) -> int:
    """Give up the letter that the first level has taken, return it (0..25), and make the search go
    on with the next.
    """
    s.counts[DEPTH] = first
    return int(s.letter[first]) - 1
