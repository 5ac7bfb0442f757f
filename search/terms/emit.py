"""Kernels that write the terms of one word and drop those that the node has no use for.

>>> terms = np.array([3, 1, 2], np.uint64)
>>> end = up_to(terms, 0, 3, 2)
>>> terms[:end].tolist()
[1, 2]
"""

from typing import NamedTuple

import numpy as np
from numba import int8, int64, types, uint64

from orderly_boggle.boardclass.arrays import Int8s, Int64s
from orderly_boggle.boardclass.jit import kernel, read_only, writable
from orderly_boggle.search.keys import LITERAL
from orderly_boggle.search.terms.path_table import TABLE_TYPE

_ZERO = np.uint64(0)


class Rim(NamedTuple):
    """What a node adds to a path table."""

    on_bare: Int64s  # [26], for each letter the mask of bare cell numbers that have it
    shift: Int64s  # [k], shift of each restricted free cell
    # [k], letter codes (bit code = letter + 1) that the restricted cell must not have
    forbidden: Int64s
    # [p, 2], shifts of two free cells: the letter of the first must not come after the other
    pairs: Int64s
    # [32], for each letter code the codes of the letters before it; for 0, none
    smaller: Int64s
    fused: Int64s  # [f], numbers of the bare cells on which words have kin (search.terms.kin)
    kin: Int8s  # [f, n_words], Kin.on each of them
    # how many extra cells of the table are bare as well; they follow its bare cells in the
    # numbering
    n_extra: int
    # how many extra cells after these are free, but outside the keys: their letters say in which
    # segment a term lies (search.trees.segments)
    n_outside: int = 0


RIM_TYPE = types.NamedTuple(
    [
        read_only(int64),
        read_only(int64),
        read_only(int64),
        read_only(int64, 2),
        read_only(int64),
        read_only(int64),
        read_only(int8, 2),
        int64,
        int64,
    ],
    Rim,
)


@kernel(
    int64(TABLE_TYPE, types.UniTuple(int64, 5), read_only(uint64), types.UniTuple(uint64, 3),
    uint64, writable(uint64),
        int64), _nrt=False
)  # fmt: skip
def emit(table, where, codes, drop, points_code, terms, n):  # type: ignore[no-untyped-def]
    """Append the terms of a word on the paths of a large range, four positions at a time; there
    must be room.

    where : first path, number of paths, their place in the shifts, how far apart their free
        positions are there, number of free positions
    codes : the word's letter codes, shifted past the points code, by free position; 0 on an extra
        cell that is bare
    drop : words of the word for absorb (two) and swap

    Returns the new number of terms.
    """
    begin, count, at, stride, n_free = where
    out = terms[n : n + count]
    for p in range(count):
        out[p] = points_code
    t = 0
    while t + 4 <= n_free:
        a = codes[t]
        b = codes[t + 1]
        c = codes[t + 2]
        d = codes[t + 3]
        x = table.shifts[at : at + count]
        y = table.shifts[at + stride : at + stride + count]
        z = table.shifts[at + 2 * stride : at + 2 * stride + count]
        w = table.shifts[at + 3 * stride : at + 3 * stride + count]
        for p in range(count):
            out[p] |= (
                (a << uint64(x[p]))
                | (b << uint64(y[p]))
                | (c << uint64(z[p]))
                | (d << uint64(w[p]))
            )
        t += 4
        at += 4 * stride
    while t < n_free:
        a = codes[t]
        x = table.shifts[at : at + count]
        for p in range(count):
            out[p] |= a << uint64(x[p])
        t += 1
        at += stride
    if (drop[0] | drop[1] | drop[2]) == _ZERO:
        return n + count
    absorb = table.absorb[begin : begin + count]
    absorb_words = table.absorb_words
    swap = table.swap[begin : begin + count]
    swap_words = table.swap_words
    kept = 0
    for p in range(count):
        out[kept] = out[p]
        row = absorb[p]
        dominated = (
            (absorb_words[row, 0] & drop[0])
            | (absorb_words[row, 1] & drop[1])
            | (swap_words[swap[p], 0] & drop[2])
        )
        kept += dominated == _ZERO
    return n + kept


@kernel(int64(writable(uint64), int64, int64, uint64))
def up_to(terms, begin, end, limit):  # type: ignore[no-untyped-def]
    """Drop from ``terms[begin:end]`` those above ``limit``; return the new end."""
    kept = begin
    for i in range(begin, end):
        term = terms[i]
        terms[kept] = term
        kept += term <= limit
    return kept


@kernel(int64(RIM_TYPE, writable(uint64), int64, int64, int64), _nrt=False)
def restrict(rim, terms, begin, end, code_bits):  # type: ignore[no-untyped-def]
    """Drop from ``terms[begin:end]`` those that no board of the node has; return the new end.

    They have a letter that a restricted cell must not have, or two letters that contradict a
    demand.  One restriction after the other, so that the loops have no branch.
    """
    for k in range(rim.shift.size):
        shift = uint64(rim.shift[k] + code_bits)
        forbidden = rim.forbidden[k]
        kept = begin
        for i in range(begin, end):
            term = terms[i]
            terms[kept] = term
            kept += 1 - ((forbidden >> int64((term >> shift) & uint64(LITERAL))) & 1)
        end = kept
    smaller = rim.smaller
    for k in range(rim.pairs.shape[0]):
        shift = uint64(rim.pairs[k, 0] + code_bits)
        other = uint64(rim.pairs[k, 1] + code_bits)
        kept = begin
        for i in range(begin, end):
            term = terms[i]
            terms[kept] = term
            forbidden = smaller[int64((term >> shift) & uint64(LITERAL))]
            kept += 1 - ((forbidden >> int64((term >> other) & uint64(LITERAL))) & 1)
        end = kept
    return end
