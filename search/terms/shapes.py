"""Term generation from path shapes: the fast generator, for nodes whose free cells may hold
(nearly) any letter.

A word runs down the pattern trie of its length (search.terms.path_table): at each position it stays
on free cells or steps on a bare cell that has its letter.  At the end stands a group of paths.
Each gives one term, the OR of ``letter code << shift`` over its free positions.  Terms that are
dominated (search.terms.paths) are dropped, then those with a letter that a restricted free cell
must not have.

Forcing one more cell changes the terms of few words: with ``new`` bare cells only the difference is
written, the terms that use one of them, and with negative points those that are absorbed because of
them.  search.trees.merge puts it into the tree of the node above.

Of words that differ only in the letter on a fused cell one gives a term (search.terms.kin).

Absorption here is one AND per path and therefore weaker than in search.terms.walk by the few terms
that need two moves at once; both are sound.
"""

import numpy as np
from numba import int32, int64, types, uint8, uint64

from orderly_boggle.boardclass.jit import kernel, read_only, writable
from orderly_boggle.search.bits import lowest_bit
from orderly_boggle.search.keys import N_CODES
from orderly_boggle.search.terms.emit import RIM_TYPE, emit, restrict, up_to
from orderly_boggle.search.terms.kin import PLACE, SILENT
from orderly_boggle.search.terms.path_table import MAX_EXTRA, TABLE_TYPE, WORDS_TYPE
from orderly_boggle.search.terms.paths import ELSEWHERE, MAX_BARE, MAX_LENGTH

TERMS_FULL = -2
ALL, GAINS, LOSSES = range(3)  # of the terms that a new bare cell changes
_MARKED = (1 << MAX_BARE) - 1  # bare cells that absorb words have a bit for
_FEW = 32  # a group with no more paths than this is not worth a call
NO_LIMIT = np.uint64((1 << 64) - 1)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@kernel(
    types.Tuple((uint64, uint64, int64))(read_only(uint8), int64, read_only(int64), int64),
    inline="always",
)
def _bare_cells(letters, length, on_bare, wanted):  # type: ignore[no-untyped-def]
    """Return the ``wanted`` bare cells (a mask) that have the letter of each position, as absorb
    words, and those that have any of the letters.
    """
    low = high = _ZERO
    any_letter = int64(0)
    for t in range(length):
        cells = on_bare[letters[t]] & wanted
        any_letter |= cells
        shift = uint64(8 * (t & 7))
        if t < 8:
            low |= uint64(cells & _MARKED) << shift
        else:
            high |= uint64(cells & _MARKED) << shift
    return low, high, any_letter


@kernel(types.UniTuple(uint64, 2)(int64, int64), inline="always")
def _but(t, cells):  # type: ignore[no-untyped-def]
    """Return absorb words of all moves but those of position ``t`` to some bare cells (a mask)."""
    bits = ~(uint64(cells & _MARKED) << uint64(8 * (t & 7)))
    if t < 8:
        return bits, ~_ZERO
    return ~_ZERO, bits


@kernel(uint64(uint64, writable(uint64), int64, read_only(uint8), int64, int64), inline="always")
def _with_letters(term, codes, n_free, shifts, at, stride):  # type: ignore[no-untyped-def]
    """Return a term with the letter codes of its free positions; their shifts are ``stride`` apart
    from ``at`` on.
    """
    for t in range(n_free):
        term |= codes[t] << uint64(shifts[at])
        at += stride
    return term


@kernel(
    types.UniTuple(int64, 2)(
        WORDS_TYPE, TABLE_TYPE, RIM_TYPE, writable(uint64), int64, int64, uint64, int64,
        writable(int32),
    )
)  # fmt: skip
def shape_terms(  # type: ignore[no-untyped-def]
    words, table, rim, terms, code_bits, new, limit, only, segments
):
    """Write terms of a node to ``terms``; return (their number or TERMS_FULL, paths looked at).

    terms : uint64[], filled in place: 5 bits per level, then the points code in the low
        ``code_bits``, its highest bit set for points to lose.  If its size is 0, nothing is
        written, and the number is an upper bound on the terms, without those to lose.
    new : mask of bare cell numbers, 0 for all terms of the node; otherwise the difference to the
        node where they, the last in cell order, were free and none of the terms used them
    limit : terms above it are left out (those with a literal on a first level)
    only : of the difference ALL, or the GAINS, which use a new cell, or the LOSSES
    segments : of size 0, or filled in place with the segment of each term: a number of a digit for
        each cell outside the keys, its letter code, to the base N_CODES.  Then no term is left out
        because of limits or demands.
    """
    # Named here once: reading them from the table in the loop, or in another kernel, would count
    # references each time.
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
    on_bare = rim.on_bare
    n_extra = rim.n_extra
    n_deep = n_extra + rim.n_outside
    # by extra cell: next range, and the end of its ranges
    entry = np.zeros(MAX_EXTRA + 2, np.int64)
    last = np.zeros(MAX_EXTRA + 2, np.int64)
    # free position whose code was set to 0, or -1, and that code
    row = np.zeros(MAX_EXTRA + 2, np.int64)
    code = np.zeros(MAX_EXTRA + 2, np.uint64)
    on_way = np.zeros(MAX_EXTRA + 2, np.int64)  # bare cells used with those before
    segment = np.zeros(MAX_EXTRA + 2, np.int64)  # digits of the cells up to this one
    # bare cells each position may move to, 8 bits, as in absorb words
    keep_low = np.zeros(MAX_EXTRA + 2, np.uint64)
    keep_high = np.zeros(MAX_EXTRA + 2, np.uint64)
    row_of = np.zeros(MAX_LENGTH + 1, np.int64)  # free position of each position
    all_bits = ~_ZERO
    table_bare = (int64(1) << n_bare) - 1
    codes = np.zeros(MAX_LENGTH + 1, np.uint64)
    node = np.zeros(MAX_LENGTH + 1, np.int64)
    option = np.zeros(MAX_LENGTH + 1, np.int64)  # symbols still to be tried, as a mask
    n_free = np.zeros(MAX_LENGTH + 1, np.int64)
    used = np.zeros(MAX_LENGTH + 1, np.int64)  # bare cells used, as a mask
    may_low = np.zeros(MAX_LENGTH + 1, np.uint64)  # moves of the positions before, as absorb words
    may_high = np.zeros(MAX_LENGTH + 1, np.uint64)
    fused = rim.fused
    kin = rim.kin
    # by bare cell: the position that is tied to it, and whether the word is silent there
    tied = np.full(MAX_LENGTH, -1, np.int64)
    is_silent = np.zeros(MAX_LENGTH, np.bool_)
    loss = _ONE << uint64(code_bits - 1)
    n = 0
    n_paths = 0
    for w in range(words.length.size):
        length = words.length[w]
        if table.root[length] == 0:
            continue
        letters = words.letters[w]
        low_new, high_new, any_new = _bare_cells(letters, length, on_bare, new)
        low, high, _ = _bare_cells(letters, length, on_bare, -1)
        for f in range(fused.size):
            cell = fused[f]
            of_word = int64(kin[f, w])
            tied[cell] = -1
            if of_word >= 0:
                tied[cell] = of_word & PLACE
                is_silent[cell] = of_word & SILENT != 0
                but_low, but_high = _but(of_word & PLACE, int64(1) << cell)
                low &= but_low
                high &= but_high
                low_new &= but_low
                high_new &= but_high
        absorbs_more = (low_new | high_new) != _ZERO
        if (new != 0 and any_new == 0) or (only == LOSSES and not absorbs_more):
            continue
        equal = words.equal[w]
        points_code = uint64(words.code[w])
        before = n
        d = 0
        node[0] = table.root[length]
        option[0] = ((on_bare[letters[0]] & table_bare) << 1) | 1
        n_free[0] = 0
        used[0] = 0
        may_low[0] = all_bits
        may_high[0] = all_bits
        while d >= 0:
            todo = option[d]
            if todo == 0:
                d -= 1
                continue
            symbol = lowest_bit(todo)
            option[d] = todo & (todo - 1)
            nxt = int64(child[node[d], symbol])
            if nxt == 0:
                continue
            free = n_free[d]
            bare = used[d]
            moves_low = may_low[d]
            moves_high = may_high[d]
            if symbol == 0:
                row_of[d] = free
                codes[free] = uint64(letters[d] + 1) << uint64(code_bits)
                free += 1
            else:
                bare |= int64(1) << (symbol - 1)
                if tied[symbol - 1] == d:
                    if is_silent[symbol - 1]:
                        continue
                    but_low, but_high = _but(d, _MARKED)
                    moves_low &= but_low
                    moves_high &= but_high
            if d + 1 < length:
                d += 1
                node[d] = nxt
                option[d] = ((on_bare[letters[d]] & table_bare) << 1) | 1
                n_free[d] = free
                used[d] = bare
                may_low[d] = moves_low
                may_high[d] = moves_high
                continue
            group = nxt - 1
            stride = path_first[nxt] - path_first[group]
            begin = path_first[group]
            end = path_first[nxt]
            on_way[0] = bare
            keep_low[0] = moves_low
            keep_high[0] = moves_high
            k = 0
            if n_deep:
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
                    t = int64(place[e])
                    on_way[k] = on_way[k - 1]
                    keep_low[k] = keep_low[k - 1]
                    keep_high[k] = keep_high[k - 1]
                    if k > n_extra:
                        segment[k] = segment[k - 1] * N_CODES
                        if t != ELSEWHERE:
                            segment[k] += int64(letters[t]) + 1
                            row[k] = row_of[t]
                            code[k] = codes[row[k]]
                            codes[row[k]] = _ZERO
                    elif t != ELSEWHERE:
                        number = n_bare + k - 1
                        if not (on_bare[letters[t]] >> number) & 1 or (
                            only == LOSSES and (new >> number) & 1
                        ):
                            continue
                        on_way[k] |= int64(1) << number
                        row[k] = row_of[t]
                        code[k] = codes[row[k]]
                        codes[row[k]] = _ZERO
                        later = (_MARKED >> number) << number  # bare cells from its own on
                        but_low, but_high = _but(t, later)
                        keep_low[k] &= but_low
                        keep_high[k] &= but_high
                    if k < n_deep:
                        k += 1
                        entry[k] = sub[e]
                        last[k] = sub[e + 1]
                        row[k] = -1
                        continue
                    begin = int64(start[e])
                    end = int64(start[e + 1])
                gains = new == 0 or on_way[k] & new != 0
                if only == (LOSSES if gains else GAINS):  # not asked for
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
                    n_before = n
                    drop = (low & keep_low[k], high & keep_high[k], equal)
                    if gains and count > _FEW:
                        where = (begin, count, at, stride, free)
                        n = emit(table, where, codes, drop, points_code, terms, n)
                    else:
                        more_low = low_new & keep_low[k]
                        more_high = high_new & keep_high[k]
                        for p in range(begin, end):
                            a = absorb_words[absorb[p], 0]
                            b = absorb_words[absorb[p], 1]
                            if gains:
                                dominated = (a & drop[0]) | (b & drop[1])
                            else:
                                if ((a & more_low) | (b & more_high)) == _ZERO:
                                    continue
                                dominated = (a & (drop[0] ^ more_low)) | (b & (drop[1] ^ more_high))
                            if (dominated | (swap_words[swap[p], 0] & equal)) != _ZERO:
                                continue
                            term = points_code if gains else points_code | loss
                            terms[n] = _with_letters(
                                term, codes, free, shifts, at + p - begin, stride
                            )
                            n += 1
                    if segments.size:
                        segments[n_before:n] = segment[k]
                if k == 0:
                    break
        if terms.size and segments.size == 0:
            if rim.shift.size or rim.pairs.size:
                n = restrict(rim, terms, before, n, code_bits)
            if limit != NO_LIMIT:
                n = up_to(terms, before, n, limit)
    return n, n_paths
