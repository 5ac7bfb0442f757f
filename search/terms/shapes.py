"""Term generation from path shapes: the fast generator, for nodes whose free cells may hold (nearly) any letter.

A word runs down the pattern trie of its length (search.terms.paths): at each position it stays on free cells or steps
on a bare cell that has its letter.  At the end stands a group of paths; each gives one term, the OR of ``letter code <<
shift`` over its free positions: no search, the same few instructions for every path.  Terms marked superfluous by
``absorb`` and ``swap`` are dropped, then those with a letter that a restricted free cell must not have.

Forcing one more cell changes the terms of few words, so they are not generated anew: with ``new`` bare cells only the
difference is written, the terms that use one of them, and with negative points those that are absorbed because of them.
search.trees.merge puts it into the tree of the node above.

Absorption here is one AND per path and therefore weaker than in search.terms.walk by the few terms that need two moves
at once; both are sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from boardclass.jit import frozen, kernel, read_only, writable
from search.bits import lowest_bit
from search.scoring.trie import letter_matrix
from search.terms.paths import ELSEWHERE, MAX_BARE, MAX_CELLS, MAX_EXTRA, TABLE_TYPE, pairs_of

TERMS_FULL = -2
_FEW = 32  # paths of a group that are not worth a call
NO_LIMIT = np.uint64((1 << 64) - 1)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


class Words(NamedTuple):
    """The words of a run: letters uint8[n, 16] (0..25), length, points code int64[n], equal pairs uint64[n]."""

    letters: NDArray[np.uint8]
    length: NDArray[np.int64]
    code: NDArray[np.int64]
    equal: NDArray[np.uint64]


WORDS_TYPE = types.NamedTuple(
    [read_only(types.uint8, 2), read_only(types.int64), read_only(types.int64), read_only(types.uint64)], Words
)


class Rim(NamedTuple):
    """What a node adds to a path table.

    Attributes
    ----------
    on_bare : int64[26], for each letter the mask of bare cell numbers that have it
    shift : int64[k], shift of each restricted free cell
    forbidden : int64[k], letter codes (bit code = letter + 1) that the restricted cell must not have
    n_extra : how many extra cells of the table are bare as well; they follow its bare cells in the numbering
    """

    on_bare: NDArray[np.int64]
    shift: NDArray[np.int64]
    forbidden: NDArray[np.int64]
    n_extra: int


RIM_TYPE = types.NamedTuple([read_only(types.int64), read_only(types.int64), read_only(types.int64), types.int64], Rim)


def word_arrays(words: Sequence[str], codes: Sequence[int]) -> Words:
    """Return the arrays of the words that fit on 16 cells; ``codes`` are their points codes."""
    kept = sorted((len(w), w, code) for w, code in zip(words, codes, strict=True) if len(w) <= MAX_CELLS)
    letters = np.zeros((len(kept), MAX_CELLS), np.uint8)
    lengths = np.array([n for n, _, _ in kept], np.int64)
    equal = np.zeros(len(kept), np.uint64)
    if kept:
        matrix = letter_matrix([word for _, word, _ in kept])
        letters[:, : matrix.shape[1]] = np.maximum(matrix, 0)
    for n in np.unique(lengths):
        begin, end = np.searchsorted(lengths, [n, n + 1])
        of_length = letters[begin:end]
        for bit, (i, j) in enumerate(pairs_of(int(n))):
            equal[begin:end] |= (of_length[:, i] == of_length[:, j]).astype(np.uint64) << np.uint64(bit)
    return Words(frozen(letters), frozen(lengths), frozen(np.array([c for _, _, c in kept], np.int64)), frozen(equal))


@kernel(
    types.int64(
        TABLE_TYPE, types.UniTuple(types.int64, 5), read_only(types.uint64), types.UniTuple(types.uint64, 3),
        types.uint64, writable(types.uint64), types.int64,
    )
)  # fmt: skip
def _emit(table, where, codes, drop, points_code, terms, n):  # type: ignore[no-untyped-def]
    """Append the terms of a word on the paths of a large range, four positions at a time; there must be room.

    where : first path, number of paths, their place in the shifts, how far apart their free positions are there, how
        many there are
    codes : the word's letter codes, shifted past the points code, by free position; 0 on a cell that is bare after all
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
            out[p] |= (a << np.uint64(x[p])) | (b << np.uint64(y[p])) | (c << np.uint64(z[p])) | (d << np.uint64(w[p]))
        t += 4
        at += 4 * stride
    while t < n_free:
        a = codes[t]
        x = table.shifts[at : at + count]
        for p in range(count):
            out[p] |= a << np.uint64(x[p])
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
        superfluous = (
            (absorb_words[row, 0] & drop[0]) | (absorb_words[row, 1] & drop[1]) | (swap_words[swap[p], 0] & drop[2])
        )
        kept += superfluous == _ZERO
    return n + kept


@kernel(types.int64(writable(types.uint64), types.int64, types.int64, types.uint64))
def _up_to(terms, begin, end, limit):  # type: ignore[no-untyped-def]
    """Drop from ``terms[begin:end]`` those above ``limit``; return the new end."""
    kept = begin
    for i in range(begin, end):
        term = terms[i]
        terms[kept] = term
        kept += term <= limit
    return kept


@kernel(types.int64(RIM_TYPE, writable(types.uint64), types.int64, types.int64, types.int64))
def _restrict(rim, terms, begin, end, code_bits):  # type: ignore[no-untyped-def]
    """Drop from ``terms[begin:end]`` those with a letter that a restricted cell must not have; return the new end."""
    kept = begin
    for i in range(begin, end):
        term = terms[i]
        allowed = True
        for k in range(rim.shift.size):
            code = (term >> np.uint64(rim.shift[k] + code_bits)) & np.uint64(31)
            if (rim.forbidden[k] >> np.int64(code)) & 1:
                allowed = False
        terms[kept] = term
        kept += allowed
    return kept


@kernel(
    types.UniTuple(types.int64, 2)(
        WORDS_TYPE, TABLE_TYPE, RIM_TYPE, writable(types.uint64), types.int64, types.int64, types.uint64, types.boolean
    )
)  # fmt: skip
def shape_terms(words, table, rim, terms, code_bits, new, limit, only_losses):  # type: ignore[no-untyped-def]
    """Write terms of a node to ``terms``; return (their number or TERMS_FULL, paths looked at).

    terms : uint64[], filled in place: 5 bits per level, then the points code in the low ``code_bits``; the highest bit
        of the code is set for points to lose.  Of size 0: nothing is written, and the number returned is an upper bound
        of what would be, terms to lose not counted.
    new : mask of bare cell numbers, 0 for all terms of the node; otherwise the difference to the node where these cells
        were free and none of the terms used them
    limit : terms above it are left out (those with a literal on a first level)
    only_losses : of the difference, leave out the terms that use a new cell

    The new cells must come after the other bare cells in cell order, so that both nodes number those alike.
    """
    # Named here once: reading them from the table in the loop, or in another kernel, would count references each time.
    child = table.child
    path_first = table.first
    block = table.block
    shifts = table.shifts
    absorb = table.absorb
    absorb_words = table.absorb_words
    swap = table.swap
    swap_words = table.swap_words
    parts = table.parts
    place = table.place
    start = table.start
    sub = table.sub
    n_bare = table.n_bare
    n_extra = rim.n_extra
    entry = np.zeros(MAX_EXTRA + 2, np.int64)  # by extra cell: next range, and the end of its ranges
    last = np.zeros(MAX_EXTRA + 2, np.int64)
    row = np.zeros(MAX_EXTRA + 2, np.int64)  # free position whose code is 0 now, or -1, and that code
    code = np.zeros(MAX_EXTRA + 2, np.uint64)
    on_way = np.zeros(MAX_EXTRA + 2, np.int64)  # bare cells used with those before
    keep_low = np.zeros(MAX_EXTRA + 2, np.uint64)  # bare cells each position may move to, 8 bits, as in absorb words
    keep_high = np.zeros(MAX_EXTRA + 2, np.uint64)
    row_of = np.zeros(MAX_CELLS + 1, np.int64)  # free position of each position
    all_bits = ~_ZERO
    table_bare = (np.int64(1) << n_bare) - 1
    codes = np.zeros(MAX_CELLS + 1, np.uint64)
    node = np.zeros(MAX_CELLS + 1, np.int64)
    option = np.zeros(MAX_CELLS + 1, np.int64)  # symbols still to be tried, as a mask
    n_free = np.zeros(MAX_CELLS + 1, np.int64)
    used = np.zeros(MAX_CELLS + 1, np.int64)  # bare cells used, as a mask
    loss = _ONE << np.uint64(code_bits - 1)
    eight = (np.int64(1) << MAX_BARE) - 1
    n = 0
    n_paths = 0
    for w in range(words.length.size):
        length = words.length[w]
        if table.root[length] == 0:
            continue
        letters = words.letters[w]
        low = _ZERO
        high = _ZERO
        low_new = _ZERO
        high_new = _ZERO
        changes = new == 0
        for t in range(length):
            on_bare = rim.on_bare[letters[t]]
            changes = changes or (on_bare & new) != 0
            shift = np.uint64(8 * (t & 7))
            if t < 8:
                low |= np.uint64(on_bare & eight) << shift
                low_new |= np.uint64(on_bare & eight & new) << shift
            else:
                high |= np.uint64(on_bare & eight) << shift
                high_new |= np.uint64(on_bare & eight & new) << shift
        absorbs_more = (low_new | high_new) != _ZERO
        if not changes or (only_losses and not absorbs_more):
            continue
        equal = words.equal[w]
        points_code = np.uint64(words.code[w])
        before = n
        d = 0
        node[0] = table.root[length]
        option[0] = ((rim.on_bare[letters[0]] & table_bare) << 1) | 1
        n_free[0] = 0
        used[0] = 0
        while d >= 0:
            todo = option[d]
            if todo == 0:
                d -= 1
                continue
            symbol = lowest_bit(todo)
            option[d] = todo & (todo - 1)
            nxt = np.int64(child[node[d], symbol])
            if nxt == 0:
                continue
            free = n_free[d]
            bare = used[d]
            if symbol == 0:
                row_of[d] = free
                codes[free] = np.uint64(letters[d] + 1) << np.uint64(code_bits)
                free += 1
            else:
                bare |= np.int64(1) << (symbol - 1)
            if d + 1 < length:
                d += 1
                node[d] = nxt
                option[d] = ((rim.on_bare[letters[d]] & table_bare) << 1) | 1
                n_free[d] = free
                used[d] = bare
                continue
            group = nxt - 1
            stride = path_first[nxt] - path_first[group]
            begin = path_first[group]
            end = path_first[nxt]
            on_way[0] = bare
            keep_low[0] = all_bits
            keep_high[0] = all_bits
            k = 0
            if n_extra:
                k = 1
                entry[1] = parts[group]
                last[1] = parts[nxt]
                row[1] = -1
            while True:
                if k:
                    if row[k] >= 0:
                        codes[row[k]] = code[k]
                        row[k] = -1
                    e = entry[k]
                    if e == last[k]:
                        k -= 1
                        if k == 0:
                            break
                        continue
                    entry[k] = e + 1
                    t = np.int64(place[e])
                    on_way[k] = on_way[k - 1]
                    keep_low[k] = keep_low[k - 1]
                    keep_high[k] = keep_high[k - 1]
                    if t != ELSEWHERE:
                        number = n_bare + k - 1
                        if not (rim.on_bare[letters[t]] >> number) & 1 or (only_losses and (new >> number) & 1):
                            continue
                        on_way[k] |= np.int64(1) << number
                        row[k] = row_of[t]
                        code[k] = codes[row[k]]
                        codes[row[k]] = _ZERO
                        later = (eight >> number) << number  # bare cells from its own on
                        byte = ~(np.uint64(later) << np.uint64(8 * (t & 7)))
                        if t < 8:
                            keep_low[k] &= byte
                        else:
                            keep_high[k] &= byte
                    if k < n_extra:
                        k += 1
                        entry[k] = sub[e]
                        last[k] = sub[e + 1]
                        row[k] = -1
                        continue
                    begin = np.int64(start[e])
                    end = np.int64(start[e + 1])
                gains = new == 0 or on_way[k] & new != 0
                if gains and only_losses:
                    if k == 0:
                        break
                    continue
                count = end - begin
                if terms.size == 0:
                    n += count * gains
                elif gains or absorbs_more:
                    n_paths += count
                    if n + count > terms.size:
                        return TERMS_FULL, n_paths
                    at = block[group] + begin - path_first[group]
                    drop = (low & keep_low[k], high & keep_high[k], equal)
                    if gains and count > _FEW:
                        where = (begin, count, at, stride, free)
                        n = _emit(table, where, codes, drop, points_code, terms, n)
                    else:
                        more_low = low_new & keep_low[k]
                        more_high = high_new & keep_high[k]
                        for p in range(begin, end):
                            a = absorb_words[absorb[p], 0]
                            b = absorb_words[absorb[p], 1]
                            if gains:
                                superfluous = (a & drop[0]) | (b & drop[1])
                            else:
                                if ((a & more_low) | (b & more_high)) == _ZERO:
                                    continue
                                superfluous = (a & (drop[0] ^ more_low)) | (b & (drop[1] ^ more_high))
                            if (superfluous | (swap_words[swap[p], 0] & equal)) != _ZERO:
                                continue
                            term = points_code if gains else points_code | loss
                            x = at + p - begin
                            for y in range(free):
                                term |= codes[y] << np.uint64(shifts[x])
                                x += stride
                            terms[n] = term
                            n += 1
                if k == 0:
                    break
        if terms.size:
            if rim.shift.size:
                n = _restrict(rim, terms, before, n, code_bits)
            if limit != NO_LIMIT:
                n = _up_to(terms, before, n, limit)
    return n, n_paths
