"""Letter-synchronised OrderlyBound: depth-first over the levels of orderly trees, without merging,
without allocation.

State at depth k (the levels before k have a letter): ``points`` of the terms that hold, and per
later level c the *letter sums* ``V[c][l]``: the bounds behind letter l of all choices stacked on c.
The bound of the state

    points + sum over levels c >= k of  max over letters l of V[c][l]

is an upper bound, because every choice on a level must take the letter of that level, and V never
underestimates a subtree.  On the way down the bound never grows, so no sum here exceeds the bound
at the root: search.trees.state says which type holds the sums.

A subtree that was left lazy is built when it is pushed, one sum node at a time
(search.trees.lazy_subtree).  When there is no more room for these nodes, the letter of the first
level is given up as if it had spent its budget.

A letter that a level may not take starts from the least value of the type there: its sum stays
negative, and it is never taken.  Residual symmetry works the same way.  Where level ``a`` must not
be greater than level ``b``, choosing a letter for ``a`` forbids the smaller ones on ``b``
(search.node says why this loses no board).

Where the first level has taken a letter and enough levels are left, the search pauses
(LETTER_TAKEN).  search.trees.last_levels may then put a part of the letter sums ``apart`` and find
out the ``most`` that it can give.  The bound of a state is then

    points + sum over levels c >= k of  max over letters l of V[c][l]  +  most[k]

Level k that takes letter l gets what was put apart of it back, and ``most[k + 1]`` counts from
there on.  Both are 0 where nothing is apart.

The search can be left and taken up again at any push: all state is in the arrays of
search.trees.state.
"""

import numpy as np
from numba import int8, int64, uint64

from orderly_boggle.boardclass.jit import kernel, writable
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.search.bits import lowest_bit, popcount, prefetch
from orderly_boggle.search.keys import LITERAL, LITERAL_BITS, MAX_LEVELS, first_place, last_levels
from orderly_boggle.search.trees.lazy_subtree import MAX_CELLS, SCRATCH, collapse, expand
from orderly_boggle.search.trees.state import (
    AT_DEEPER,
    AT_NEXT,
    AT_ROW,
    BEST,
    DEPTH,
    DISCARDED,
    IS_APART,
    LINK,
    LOWEST,
    N_CHOICES,
    N_TAILS,
    PAUSE,
    PUSHES,
    SINCE,
    SOUGHT,
    STATES,
    STEP,
    SURVIVORS,
    TIP,
    TREE_AND_SEARCH,
)
from orderly_boggle.search.trees.sums import ROW, add_letters
from orderly_boggle.search.trees.tree import (
    BUNDLE,
    COUNT,
    LETTER_BITS,
    LETTERS,
    LINE,
    RUN,
    RUN_BITS,
    places_in,
    points_of,
)

DONE = 0
BUDGET_SPENT = 1
SURVIVORS_FULL = 2
LETTER_TAKEN = 3
_FAR = 8  # a pause pays where the bound is above the cutoff by more than this part of it
_AHEAD = 4  # how many pushes ahead cells are prefetched
_ZERO = np.uint64(0)


@kernel([
    int64(tree, search, int64, int64, writable(int8, 2)) for tree, search in TREE_AND_SEARCH
])  # fmt: skip
def orderly_bound(tree, s, cutoff, budget, survivors):  # type: ignore[no-untyped-def]
    """Search on from the state in ``s``; return DONE, BUDGET_SPENT, SURVIVORS_FULL (call again
    with an empty buffer) or LETTER_TAKEN (call again, see the module).

    In place, the cells from the tip of the tree on are written to, and references to lazy subtrees;
    call :func:`orderly_boggle.search.trees.lazy_subtree.collapse` when the search is over.

    cutoff : points; every discarded state has a bound below it
    budget : pushes behind one letter of the first level at which the search gives up, or earlier
        when no room is left; :func:`skip_letter` goes on with the next one
    survivors : int8[m, >= n_levels], filled from the first level on with the letters of complete
        assignments whose bound reaches the cutoff.  With m = 0 there are none: each complete
        assignment raises the cutoff above what it gives, by ``STEP`` of the counts

    The kernel is long on purpose: a call that hands a NamedTuple of arrays to another kernel counts
    references on all of them, which costs more than a push.
    """
    cells = tree.cells
    bounds = tree.bounds
    per = bounds.size // cells.size
    keys = tree.keys
    term_points = tree.points
    n_levels = tree.n_levels
    first = tree.first
    top = n_levels - 1
    sums = s.sums
    levels = s.levels
    points = s.points
    bound = s.bound
    next_letter = s.letter
    choices = s.choices
    tails = s.tails
    tail_points = s.tail_points
    picked = np.empty(choices.shape[1], np.int64)
    not_less = s.not_less
    smaller = s.smaller
    apart = s.apart
    most = s.most
    is_seeking = survivors.shape[0] == 0
    lowest = max(int64(first), s.counts[LOWEST])
    pause = int64(-1)
    if not is_seeking and 0 < s.counts[PAUSE] < n_levels - first:
        pause = int64(first + 1)
    is_apart = s.counts[IS_APART]
    depth = s.counts[DEPTH]
    n_states = s.counts[STATES]
    n_pushes = s.counts[PUSHES]
    since = s.counts[SINCE]
    discarded = s.counts[DISCARDED]
    tip = s.counts[TIP]
    link = s.counts[LINK]
    scratch = np.empty(SCRATCH, np.int32)
    forbidden = np.iinfo(sums.dtype).min
    status = DONE
    n = 0
    while depth >= lowest:
        if depth == first and is_apart:
            most[:] = 0
            apart[:] = 0
            is_apart = int64(0)
        here = depth * (AT_DEEPER + AT_NEXT)
        row = levels[here + AT_ROW]
        others = bound[depth] - levels[here + BEST]
        letter = next_letter[depth]
        while letter < LETTER_BITS:
            if sums[row + letter] >= 0:
                # both are bounds
                beyond = min(most[depth], apart[depth * ROW + letter] + most[depth + 1])
                total = others + sums[row + letter] + beyond
                if reaches(total, cutoff):
                    break
                discarded = max(discarded, total)
            letter += 1
        next_letter[depth] = letter
        if letter == LETTER_BITS:
            depth -= 1
            continue
        if depth == top and is_seeking:
            cutoff = total + s.counts[STEP]
            next_letter[depth] = letter + 1
            continue
        if depth == top:
            if n == survivors.shape[0]:
                status = SURVIVORS_FULL
                break
            for level in range(first, top):
                survivors[n, level] = next_letter[level] - 1
            survivors[n, top] = letter
            next_letter[depth] = letter + 1
            n += 1
            continue
        if depth == first:
            since = n_pushes
            # half of the room is used, and no state needs what was built
            if 2 * tip > tree.tip + cells.size:
                collapse(cells, link)
                tip = int64(tree.tip)
                link = int64(0)
        elif n_pushes - since > budget:
            status = BUDGET_SPENT
            break
        next_letter[depth] = letter + 1
        n_states += 1
        deeper = depth + 1
        later_levels = last_levels(top - depth)
        this_level = (later_levels << uint64(LITERAL_BITS)) | uint64(LITERAL)
        its_levels = deeper * AT_DEEPER
        for x in range(its_levels + deeper * AT_NEXT, its_levels + n_levels * AT_NEXT):
            levels[x] = levels[x - AT_DEEPER]
        deeper_rows = deeper * MAX_LEVELS * ROW
        later = not_less[depth]
        # First, all that is behind the letter counts as points, which is right for leaves. Anything
        # else gives its bound back and is pushed.  Each push can only lower the bound of the state,
        # so the first that takes it below the cutoff is the last one.
        behind = sums[row + letter] + apart[depth * ROW + letter]
        held = points[depth] + behind
        total = others + behind
        aim = cutoff - most[deeper]
        if later:
            total = held
            while later:
                level = lowest_bit(later)
                later &= later - 1
                gone = smaller[letter]
                at_level = its_levels + level * AT_NEXT
                source = levels[at_level + AT_ROW]
                target = deeper_rows + level * ROW
                levels[at_level + AT_ROW] = target
                for x in range(ROW):
                    sums[target + x] = forbidden if (gone >> x) & 1 else sums[source + x]
                levels[at_level + BEST] = sums[target : target + ROW].max()
            for level in range(deeper, n_levels):
                total += levels[its_levels + level * AT_NEXT + BEST]
        below = (int64(1) << letter) - 1
        stacked = choices[depth]
        n_ends = levels[here + N_TAILS]
        n_picked = 0
        # no branch: which of them have the letter cannot be foretold
        for i in range(levels[here + N_CHOICES]):
            choice = stacked[i]
            picked[n_picked] = (choice >> LETTER_BITS) - popcount(choice & below)
            n_picked += (choice >> letter) & 1
        for i in range(n_picked):
            prefetch(cells, picked[i])
        i = 0
        n_ahead = 0
        while i < n_picked and reaches(total, aim):
            # prefetch what lies behind the letter some pushes ahead
            while n_ahead < n_picked and n_ahead <= i + _AHEAD:
                ref = int64(cells[picked[n_ahead]])
                n_ahead += 1
                if ref > 0:
                    prefetch(cells, ref)
                    prefetch(cells, ref + LINE)
                elif ref < 0:
                    prefetch(keys, ~ref >> RUN_BITS)
                    prefetch(term_points, ~ref >> RUN_BITS)
            ref = int64(cells[picked[i]])
            i += 1
            if ref == 0:
                continue
            if ref > 0 and int64(cells[ref]) & COUNT == BUNDLE:  # its bound is that of the two
                picked[n_picked] = ref - 1
                picked[n_picked + 1] = ref - 2
                n_picked += 2
                continue
            n_pushes += 1
            if ref < 0:
                if ~ref & RUN == 0:  # a single term: it goes behind the stacked ones of this level
                    run = ~ref >> RUN_BITS
                    tails[depth, n_ends] = keys[run] & this_level
                    tail_points[depth, n_ends] = term_points[run]
                    n_ends += 1
                    continue
                if tip + MAX_CELLS > cells.size:
                    status = BUDGET_SPENT
                    break
                tip, link = expand(
                    cells,
                    bounds,
                    tip,
                    link,
                    keys,
                    term_points,
                    picked[i - 1],
                    later_levels,
                    top,
                    scratch,
                )
                ref = int64(cells[picked[i - 1]])
            change = points_of(cells[ref]) - cells[ref + 1]
            held += change
            total += change
            n_here, word_at, at, o = places_in(ref, cells[ref], per)
            for x in range(word_at, word_at + n_here):
                word = int64(cells[x])
                level = word >> LETTER_BITS
                letters = word & LETTERS
                at_level = its_levels + level * AT_NEXT
                n_stacked = levels[at_level + N_CHOICES]
                choices[level, n_stacked] = (o << LETTER_BITS) | letters
                levels[at_level + N_CHOICES] = n_stacked + 1
                target = deeper_rows + level * ROW
                largest = add_letters(sums, levels[at_level + AT_ROW], target, bounds, at, letters)
                levels[at_level + AT_ROW] = target
                total += largest - levels[at_level + BEST]
                levels[at_level + BEST] = largest
                n_letters = popcount(letters)
                at += n_letters
                o -= n_letters
        if status == BUDGET_SPENT:
            break
        code = uint64(letter + 1) << uint64(LITERAL_BITS * (top - depth))
        i = 0
        # a name for this row would count references to it
        while i < n_ends and reaches(total, aim):
            rest = tails[depth, i] ^ code
            i += 1
            if rest == _ZERO or rest > later_levels:  # nothing is left, or another letter
                continue
            n_pushes += 1
            value = tail_points[depth, i - 1]
            held -= value
            total -= value
            place = first_place(rest)
            level = top - place
            code_here = int64(rest >> uint64(LITERAL_BITS * place))
            at_level = its_levels + level * AT_NEXT
            source = levels[at_level + AT_ROW]
            target = deeper_rows + level * ROW
            if source != target:
                levels[at_level + AT_ROW] = target
                for x in range(ROW):
                    sums[target + x] = sums[source + x]
            value += sums[target + code_here - 1]
            sums[target + code_here - 1] = value
            if value > levels[at_level + BEST]:
                total += value - levels[at_level + BEST]
                levels[at_level + BEST] = value
            if rest & last_levels(place):
                n_stacked = levels[at_level + N_TAILS]
                tails[level, n_stacked] = rest
                tail_points[level, n_stacked] = tail_points[depth, i - 1]
                levels[at_level + N_TAILS] = n_stacked + 1
        if reaches(total, aim):
            points[deeper] = held
            bound[deeper] = total
            next_letter[deeper] = 0
            depth = deeper
            if depth == pause and reaches(total, cutoff + cutoff // _FAR):
                status = LETTER_TAKEN
                break
        else:
            discarded = max(discarded, total + most[deeper])
    s.counts[DEPTH] = depth
    s.counts[STATES] = n_states
    s.counts[PUSHES] = n_pushes
    s.counts[SINCE] = since
    s.counts[DISCARDED] = discarded
    s.counts[TIP] = tip
    s.counts[LINK] = link
    s.counts[IS_APART] = is_apart
    s.counts[SOUGHT] = cutoff
    s.counts[SURVIVORS] += n
    return status
