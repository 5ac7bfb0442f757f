"""Lazy subtrees: their bound, taken straight from the keys, and how a search builds those that it
reaches.

Half of the terms that a merge adds end in new subtrees of three to seven terms, and a search
reaches few of these.  So a subtree of up to MAX_LAZY_TERMS terms stays a run of sorted keys.  When
OrderlyBound pushes it for the first time, :func:`expand` writes its top sum node behind the tree,
and the reference that named the run names the node from then on.  When the search is over
:func:`collapse` puts the old references back, so the tree is again what it was: other layers share
it, and the place behind it is theirs.

>>> keys, points = np.array([0, 1, 2], np.uint64), np.array([1, 2, 3], np.int32)
>>> bound_of(keys, points, 0, 3, np.uint64(31), np.zeros(SCRATCH, np.int32))  # 1 + max(2, 3)
4
"""

import numpy as np
from numba import int32, int64, types, uint64, void

from orderly_boggle.boardclass.jit import kernel, read_only, writable
from orderly_boggle.search.keys import (
    LITERAL,
    LITERAL_BITS,
    MAX_LEVELS,
    first_edge,
    first_place,
    last_levels,
)
from orderly_boggle.search.trees.tree import (
    BOUND_TYPES,
    HEAD,
    LETTER_BITS,
    MAX_BOUND,
    MAX_LAZY_TERMS,
    OVER,
    RUN,
    RUN_BITS,
    put_node,
)

_WORDS = 3 * (MAX_LEVELS + 1)  # places in the working space, behind the stack of groups
_ENTRIES = _WORDS + MAX_LAZY_TERMS
_REFS = _WORDS + 2 * MAX_LAZY_TERMS
SCRATCH = _WORDS + 3 * MAX_LAZY_TERMS  # elements of working space
# cells before a node that was expanded: the reference's place, what it was, the link before
_LINK = 3
# of an expanded node, its link and what is read over its end
MAX_CELLS = _LINK + HEAD + 3 * MAX_LAZY_TERMS + OVER
NO_BOUND = -1
# what is larger counts as this: no tree can hold it, and sums of it fit their elements
_TOO_LARGE = MAX_BOUND + 1
_ZERO = np.uint64(0)


@kernel(int64(read_only(uint64), read_only(int32), int64, int64, uint64, writable(int32)))
def bound_of(keys, points, first, end, within, scratch):  # type: ignore[no-untyped-def]
    """Return the bound U of ``keys[first:end]`` (sorted, at least one, what they have ``within``);
    NO_BOUND if one has negative points, anything above MAX_BOUND if the bound is.

    scratch : overwritten, at least SCRATCH elements

    Neighbours say where a group of keys divides: at the first place where they differ.  Keys
    without a literal there come first, then a subgroup for each letter, so the bound of the group
    is that of the former and the largest of the latter.  Open groups lie on a stack, later places
    on top of earlier ones.
    """
    depth = 0
    value = int64(points[first])
    least = value
    key = keys[first] & within
    for i in range(first + 1, end):
        after = keys[i] & within
        place = first_place(key ^ after)
        while depth and scratch[depth - 3] < place:  # that group is complete
            depth -= 3
            value = scratch[depth + 1] + max(int64(scratch[depth + 2]), value)
        if depth and scratch[depth - 3] == place:
            scratch[depth - 1] = max(int64(scratch[depth - 1]), min(value, _TOO_LARGE))
        else:
            value = min(value, int64(_TOO_LARGE))
            has_letter = (key >> uint64(LITERAL_BITS * place)) & uint64(LITERAL) != _ZERO
            scratch[depth] = place
            scratch[depth + 1] = 0 if has_letter else value
            scratch[depth + 2] = value if has_letter else 0
            depth += 3
        value = int64(points[i])
        least = min(least, value)
        key = after
    while depth:
        depth -= 3
        value = scratch[depth + 1] + max(int64(scratch[depth + 2]), value)
    return value if least >= 0 else int64(NO_BOUND)


@kernel([
    types.UniTuple(int64, 2)(writable(int32), writable(bound), int64, int64, read_only(uint64),
    read_only(int32), int64,
        uint64, int64, writable(int32))
    for bound in BOUND_TYPES
], _nrt=False)  # fmt: skip
def expand(  # type: ignore[no-untyped-def]
    cells, bounds, tip, link, keys, points, o, within, top, scratch
):
    """Write the top sum node of the lazy subtree that the reference at ``o`` names to ``cells`` at
    ``tip``, and let the reference name it, in place; return the new tip and the new link.

    There must be room for MAX_CELLS.  What lies deeper in the subtree stays lazy.

    link : of the node that was expanded before, 0 for none
    within : mask of the levels of the subtree
    top : number of the last level
    scratch : overwritten, at least SCRATCH elements
    """
    ref = int64(cells[o])
    i = ~ref >> RUN_BITS
    stop = i + (~ref & RUN) + 1
    cells[tip] = o
    cells[tip + 1] = ref
    cells[tip + 2] = link
    held = total = best = int64(0)
    current = int64(-1)
    last_word, n = _WORDS, 0
    if keys[i] & within == _ZERO:
        held = int64(points[i])
        i += 1
    while i < stop:
        key = keys[i] & within
        edge = first_edge(int64(key))
        place = edge >> LITERAL_BITS
        below = last_levels(place)
        j = i + 1
        while j < stop and (keys[j] & within ^ key) <= below:
            j += 1
        if j - i > 1:
            value = bound_of(keys, points, i, j, below, scratch)
        else:
            value = int64(points[i])
        is_leaf = j - i == 1 and key & below == _ZERO
        if current != place:
            total += best
            best = int64(0)
            current = place
            scratch[last_word] = (top - place) << LETTER_BITS
            last_word += 1
        scratch[last_word - 1] |= 1 << ((edge & LITERAL) - 1)
        best = max(best, value)
        scratch[_ENTRIES + n] = value
        scratch[_REFS + n] = 0 if is_leaf else ~((i << RUN_BITS) | (j - i - 1))
        n += 1
        i = j
    end, node = put_node(
        cells, bounds, tip + _LINK, held, held + total + best, scratch, _WORDS, last_word, scratch,
        _ENTRIES,
        _ENTRIES + n, scratch, _REFS,
    )  # fmt: skip
    cells[o] = node
    return end, tip


@kernel(void(writable(int32), int64))
def collapse(cells, link):  # type: ignore[no-untyped-def]
    """Put back the references that :func:`expand` has replaced, the last one first, in place.

    link : of the node that was expanded last, 0 for none
    """
    while link:
        cells[cells[link]] = cells[link + 1]
        link = int64(cells[link + 2])
