"""Keys: the literals of a term in one integer.  This module owns their layout.

A key has 5 bits for each level, the first level highest.  A level is a free cell, in cell order.
The bits hold the letter code, 1 for ``a`` to 26 for ``z``, or 0 where the term has no literal.  In
a *term* a few bits with the code of its points follow.

The *place* of a level is its distance from the last level.  An *edge* is the first literal of a key
as one number: ``place << 5 | letter code``.

>>> key = 3 << LITERAL_BITS | 1  # c on the level before the last, a on the last
>>> first_place(np.int64(key)), first_edge(key)
(1, 35)
"""

import numpy as np
from numba import int64, uint64

from orderly_boggle.boardclass.jit import kernel
from orderly_boggle.search.bits import leading_zeros

LITERAL_BITS = 5
LITERAL = (1 << LITERAL_BITS) - 1
N_CODES = 27  # letter codes of a level, 0 for no literal included
KEY_LEVELS = 13  # levels that 64 bits hold, the last one in part
# Up to two first levels of a tree may be outside its keys: a sorted range of keys, a *segment*, has
# the same letters there (search.trees.segments).
MAX_OUTSIDE = 2
MAX_LEVELS = 14  # of a tree
_ONE = np.uint64(1)


@kernel([int64(uint64), int64(int64)])
def first_place(key):  # type: ignore[no-untyped-def]
    """Return the place of the first literal of a key that is not 0."""
    return (63 - leading_zeros(int64(key))) // LITERAL_BITS


@kernel(int64(int64))
def first_edge(key):  # type: ignore[no-untyped-def]
    """Return the first edge of a key that is not 0."""
    place = first_place(key)
    return (place << LITERAL_BITS) | (key >> (LITERAL_BITS * place))


@kernel(uint64(int64))
def last_levels(n):  # type: ignore[no-untyped-def]
    """Return the mask of the last ``n`` levels; of all 64 bits if there are more than these
    hold.
    """
    if n >= KEY_LEVELS:
        return ~uint64(0)
    return (_ONE << uint64(LITERAL_BITS * n)) - _ONE


@kernel(uint64(uint64, uint64))
def used_levels(key, low):  # type: ignore[no-untyped-def]
    """Return the lowest bit of each level on which a key or term has a literal; ``low`` has that
    bit of every level.
    """
    two = key | (key >> uint64(1))
    return (two | (two >> uint64(2)) | (key >> uint64(4))) & low
