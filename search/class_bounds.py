"""The bounds of the paper as published, over a whole class: what ``orderly bound`` and ``orderly
explain`` show.

    bounds                the bounds of a class, and the orderly bound with one cell forced
    walk_class            all paths that begin a word -> sum bound, max bound, and the terms of the
                          class
    orderly_bounds        the orderly bounds of parts of the class
    by_letter             the parts whose next cell is forced to each of its letters
    boards_reaching       all boards whose multi-score reaches a cutoff

In numpy, for classes that are small enough to look at; the search does all of it in other ways.
All of it is sound: Score(B) <= deduplicated multi-score(B) <= bound for every board B of the class.

>>> from orderly_boggle.boardclass import load_wordlist, parse_scores
>>> scorer = Scorer("2x2", load_wordlist("scowl70").words, parse_scores("standard"))
>>> walk = walk_class(["rst", "rst", "ae", "ae"], scorer)
>>> walk.sum_bound, walk.max_bound, orderly_bounds(walk.terms).tolist()
(46, 36, [19])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orderly_boggle.boardclass.arrays import Int64s, UInt8s
from orderly_boggle.boardclass.board import dims_of_length
from orderly_boggle.boardclass.errors import IncompleteError, InputError, quote
from orderly_boggle.boardclass.geometry import PAIRS, Dims, Geometry, cell_order_of, parse_dims
from orderly_boggle.boardclass.partition import letter_mask, parse_class
from orderly_boggle.boardclass.scores import Scores, parse_scores, reaches
from orderly_boggle.boardclass.wordlist import words_in_q_form
from orderly_boggle.search.scoring.scorer import Scorer, decode_boards
from orderly_boggle.search.scoring.trie import CHILD_SHIFT, CODE_SHIFT, N_CODES

_PUBLISHED_3X3 = (4, 5, 3, 1, 7, 0, 2, 6, 8)
MAX_TERMS = 1 << 23  # of a class, one for each path
_SAMPLE = 1 << 14  # of the paths of one length: enough to tell how many terms there will be
_BUDGET = 1 << 27  # terms of all parts together in which boards are looked for
_AT_ONCE = 1 << 20  # terms of parts that are forced together
_NEAR = 8  # neighbours of a cell, at most


class Terms(NamedTuple):
    """Terms of some parts of a class: every way to spell a word, its points added to those of equal
    ones.
    """

    cells: tuple[int, ...]  # free cells, in cell order
    boards: UInt8s  # [n_parts, n], letters 0..25 of the forced cells of each part
    part: Int64s  # [m], number of the part of each term, rising
    # [m, len(cells)], sorted within a part: the letter that a term needs on each cell, 1 for ``a``
    # to 26, 0 for none
    keys: UInt8s
    points: Int64s  # [m]

    def literals(self) -> list[list[tuple[int, str]]]:
        """Return the cells and letters that each term needs, in cell order."""
        literals = []
        for row in self.keys.tolist():
            literal = []
            for cell, number in zip(self.cells, row, strict=True):
                if number:
                    literal.append((cell, chr(number + 96)))
            literals.append(literal)
        return literals

    def take(self, parts: Int64s) -> Terms:
        """Return some of the parts, given by their numbers, rising; they are numbered anew."""
        number = np.full(len(self.boards), -1)
        number[parts] = np.arange(len(parts))
        number = number[self.part]
        kept = np.flatnonzero(number >= 0)
        return Terms(
            self.cells, self.boards[parts], number[kept], self.keys[kept], self.points[kept]
        )


class Walk(NamedTuple):
    """What the paths of a class tell."""

    terms: Terms  # of the class, as one part
    n_paths: int  # paths that spell a word
    n_terms: int  # those of them that differ in word or literals
    # points of every distinct word that some board of the class might hold (paper, listing 3)
    sum_bound: int
    # from each cell on the best letter of each next cell, all added up (paper, listing 4)
    max_bound: int


class _Step(NamedTuple):
    """All paths of some length.  A *slot* is a path one cell shorter with its next cell, for which
    letters compete.
    """

    node: Int64s  # of each path: where it is in the trie,
    letter: UInt8s  # its last letter, 1 to 26,
    slot: Int64s  # its slot
    before: Int64s  # of each slot: the shorter path,
    cell: Int64s  # the next cell
    weight: int = 1  # paths that each one stands for


def published_order(dims: Dims | str) -> tuple[int, ...]:
    """Return the cell order behind the published root bounds: pairs, on 3x3 beginning with cells 5
    and 3.
    """
    if str(dims) == "3x3":
        return _PUBLISHED_3X3
    return cell_order_of(dims, PAIRS)


class Bounds(NamedTuple):
    """Upper bounds on the score of every board of a class."""

    sum: int  # of all words that some board of the class might hold
    max: int  # with the best letter of each cell at each step of a path
    orderly: int  # of the orderly tree
    cell: int  # the cell that is forced in ``forced``
    forced: dict[str, int]  # the orderly bound of the boards with each letter of that cell


def bounds(
    letters: str | Sequence[str],
    words: str | Path | Iterable[str],
    scores: Scores = "standard",
    *,
    dims: Dims | str | None = None,
    cell: int | None = None,
) -> Bounds:
    """Return the bounds of the paper on all boards of a class.

    Each of them is at least the score of any board of the class (the paper, sections 4 and 5).

    letters : the letters of each cell, as one text with spaces or as texts, down the columns
    words : name or path of a word list, a word list, or words as people write them
    scores : points, as in :func:`orderly_boggle.boardclass.scores.parse_scores`
    dims : size of the boards; default: the squarest of so many cells
    cell : number of the cell to be forced; default: the first of the order that was published

    Raises PartitionError if ``letters`` is no class; BoardError if no board has so many cells;
    WordListError or ScoreError if words or points cannot be read; InputError if there is no such
    cell, or if the class has more than :data:`MAX_TERMS` terms.

    Examples
    --------
    >>> bounds("rst rst ae ae", "scowl70")
    Bounds(sum=46, max=36, orderly=19, cell=0, forced={'r': 16, 's': 14, 't': 16})
    """
    if isinstance(letters, str):
        text = letters
    else:
        text = " ".join(letters)
    if dims is None:
        size = dims_of_length(len(text.split()))
    else:
        size = parse_dims(dims)
    groups = parse_class(text, size)
    scorer = Scorer(size, words_in_q_form(words), parse_scores(scores))
    order = published_order(size)
    if cell is not None:
        if cell not in order:
            raise InputError(f"cell {cell}: expected a number from 0 to {size.n - 1} for {size}")
        # first in the order: its letters are then the top of the tree
        order = (cell, *(other for other in order if other != cell))
    walk = walk_class(groups, scorer, order)
    forced = {}
    for letter in groups[order[0]]:
        forced[letter] = int(orderly_bounds(forced_to(walk.terms, letter))[0])
    orderly = int(orderly_bounds(walk.terms)[0])
    return Bounds(walk.sum_bound, walk.max_bound, orderly, order[0], forced)


def walk_class(
    letters: Sequence[str],
    scorer: Scorer,
    cell_order: Sequence[int] | None = None,
    max_terms: int = MAX_TERMS,
) -> Walk:
    """Walk over a class, which is given as one string of letters a cell; ``cell_order`` is that of
    the terms.

    Raises InputError if it has more than ``max_terms`` terms.
    """
    shape, (nodes, points) = scorer.geometry, scorer.trie
    order = tuple(cell_order or published_order(shape.dims))
    masks = np.array([*map(letter_mask, letters), 0], np.int64)
    level = np.argsort(order)
    worth = points.astype(np.int64)[nodes >> CODE_SHIFT & N_CODES - 1]
    met = np.zeros(len(nodes), bool)
    all_keys = [np.zeros((0, shape.n), np.uint8)]
    ended = [np.zeros(0, np.int64)]
    n_paths = max_bound = 0
    # counted on a sample first: a class of too many paths would fill the memory before it is
    # refused
    n_guessed = 0
    for cell in range(shape.n):
        for step in _steps_from(cell, masks, nodes, shape, _SAMPLE):
            n_guessed += step.weight * int(np.count_nonzero(worth[step.node]))
    if n_guessed > max_terms:
        raise InputError(
            f"class {quote(' '.join(letters))} has more than {max_terms:,} terms: too large to be "
            "looked at as a whole; name fewer letters per cell, or ask a run what it stored: "
            "orderly explain NUMBER --run DIR"
        )
    for cell in range(shape.n):
        steps: list[_Step] = []
        for step in _steps_from(cell, masks, nodes, shape):
            steps.append(step)
            met[step.node] = True
            ends = np.flatnonzero(worth[step.node])
            n_paths += len(ends)
            all_keys.append(_keys(steps, ends, level))
            ended.append(step.node[ends])
        behind = np.zeros(1, np.int64)
        for k, step in reversed(list(enumerate(steps))):
            best = np.zeros(len(step.cell), np.int64)
            np.maximum.at(best, step.slot, worth[step.node] + behind)
            behind = np.zeros(len(steps[k - 1].node) if k else 1, np.int64)
            np.add.at(behind, step.before, best)
        max_bound += int(behind[0])
    keys = np.concatenate(all_keys)
    word = np.concatenate(ended)
    by = np.lexsort((word, _texts(keys)))
    by = by[_changes(word[by], keys[by])]
    part = np.zeros(len(by), np.int64)
    boards = np.zeros((1, shape.n), np.uint8)
    terms = _merged(Terms(order, boards, part, keys[by], worth[word[by]]))
    return Walk(terms, n_paths, len(by), int(worth[met].sum()), max_bound)


def _steps_from(
    start: int,
    masks: Int64s,
    nodes: Int64s,
    shape: Geometry,
    most: int = 1 << 62,
) -> Iterator[_Step]:
    """Yield the paths from a cell that begin a word, by length; ``most``: a sample of about so many
    of each length.
    """
    near = np.full((shape.n + 1, _NEAR), shape.n)
    for number, others in enumerate(shape.neighbours):
        # padded with a cell of its own, which has no letters
        near[number, : len(others)] = others
    near[shape.n, 0] = start  # before the first cell
    node = np.zeros(1, np.int64)
    used = np.zeros(1, np.int64)
    last = np.full(1, shape.n)
    weight = 1
    while len(node):
        around = near[last]
        # one array step for all paths of a length, not a loop over paths
        is_used = used[:, None] >> around & 1
        letters = np.where(is_used, 0, masks[around] & nodes[node, None])
        before, at = np.nonzero(letters)
        cell = around[before, at]
        rest = letters[before, at]
        slot = np.arange(len(before))
        parts = []
        while len(slot):
            below = (rest & -rest) - 1
            record = nodes[node[before[slot]]]
            child = (record >> CHILD_SHIFT) + np.bitwise_count(record & below)
            parts.append((child, np.bitwise_count(below) + np.uint8(1), slot))
            more = rest & rest - 1
            slot = slot[more > 0]
            rest = more[more > 0]
        if not parts:
            return
        # evenly spread, and weighted for it: the same class gives the same guess each time
        stride = -(-sum(len(part[0]) for part in parts) // most)
        columns = zip(*parts, strict=True)
        node, letter, slot = (np.concatenate(arrays)[::stride] for arrays in columns)
        weight *= stride
        yield _Step(node, letter, slot, before, cell, weight)
        last = cell[slot]
        used = used[before[slot]] | 1 << last


def _keys(steps: Sequence[_Step], ends: Int64s, level: Int64s) -> UInt8s:
    """Return the keys of the paths ``ends`` of the last step."""
    keys = np.zeros((len(ends), len(level)), np.uint8)
    each = np.arange(len(ends))
    for step in reversed(steps):
        slot = step.slot[ends]
        keys[each, level[step.cell[slot]]] = step.letter[ends]
        ends = step.before[slot]
    return keys


def _texts(keys: UInt8s) -> NDArray[np.bytes_]:
    """Return the keys as texts, which compare as they do."""
    n = keys.shape[1]
    if n:
        return np.ascontiguousarray(keys).view(f"S{n}").ravel()
    return np.zeros(len(keys), "S1")


def _changes(number: Int64s, keys: UInt8s) -> NDArray[np.bool_]:
    """Return where a number or key differs from the one before; the first one does."""
    texts = _texts(keys)
    changes = np.ones(len(keys), bool)
    other_text = texts[1:] != texts[:-1]
    other_number = number[1:] != number[:-1]
    changes[1:] = other_text | other_number
    return changes


def _merged(terms: Terms) -> Terms:
    """Return sorted terms with the points of equal ones added up."""
    starts = np.flatnonzero(_changes(terms.part, terms.keys))
    if len(starts):
        points = np.add.reduceat(terms.points, starts)
    else:
        points = terms.points
    part = terms.part[starts]
    return terms._replace(part=part, keys=terms.keys[starts], points=points)


def forced_to(terms: Terms, letter: str) -> Terms:
    """Return the parts with the first free cell forced to a letter.

    Terms with another letter there drop out, the literal vanishes from the others, equal ones
    merge, which never raises the bound: what two subtrees had as separate maxima becomes one.
    """
    first = terms.keys[:, 0]
    boards = terms.boards.copy()
    boards[:, terms.cells[0]] = ord(letter) - 97
    kept = np.flatnonzero((first == 0) | (first == ord(letter) - 96))
    keys = terms.keys[kept, 1:]
    part = terms.part[kept]
    by = np.lexsort((_texts(keys), part))
    points = terms.points[kept[by]]
    return _merged(Terms(terms.cells[1:], boards, part[by], keys[by], points))


def orderly_bounds(terms: Terms) -> Int64s:
    """Return int64[n_parts], the orderly bound U(T, 0) of each part; of a board that is its
    multi-score.

    U(T, k) = U(terms without cell k, k + 1) + max over l of U(terms with (k, l), k + 1).
    """
    shared = _n_shared(terms)
    value = terms.points.copy()
    rows = np.arange(len(terms.points))
    for column in reversed(range(len(terms.cells))):
        # differs there from the row before, which has no letter or a smaller one
        joins = shared[rows] == column
        at = np.flatnonzero(joins)
        if len(at):
            starts = np.flatnonzero(np.diff(at, prepend=-1) > 1)
            # sorted keys: what shares a beginning stands together, and its maximum is taken at
            # once
            first = rows[at[starts] - 1]
            best = np.maximum.reduceat(value[rows[at]], starts)
            is_literal = terms.keys[first, column] > 0
            either = np.maximum(value[first], best)
            both = value[first] + best
            value[first] = np.where(is_literal, either, both)
            rows = rows[~joins]
    of_part = np.zeros(len(terms.boards), np.int64)
    of_part[terms.part[rows]] = value[rows]
    return of_part


def n_nodes(terms: Terms) -> int:
    """Return how many nodes the orderly tree of one part has: its root, and one for each beginning
    of a term.
    """
    is_new = np.arange(len(terms.cells)) >= _n_shared(terms)[:, None]
    return 1 + int(np.count_nonzero(terms.keys * is_new))


def _n_shared(terms: Terms) -> Int64s:
    """Return how many literals each term shares with the one before; -1 for the first of a part."""
    keys = terms.keys
    shared = np.full(len(terms.keys), -1)
    if terms.cells:
        differs = (keys[1:] != keys[:-1]).argmax(axis=1)
        is_same_part = terms.part[1:] == terms.part[:-1]
        shared[1:] = np.where(is_same_part, differs, -1)
    return shared


def by_letter(terms: Terms, letters: Sequence[str], cutoff: int) -> Iterator[tuple[Int64s, Terms]]:
    """Yield for each letter of the first free cell the bounds of the parts forced to it, and the
    parts that reach.
    """
    for letter in sorted(set(letters[terms.cells[0]])):
        parts = forced_to(terms, letter)
        values = orderly_bounds(parts)
        are_reached = [reaches(value, cutoff) for value in values.tolist()]
        yield values, parts.take(np.flatnonzero(are_reached))


def joined(some: Sequence[Terms]) -> Terms:
    """Return the parts of all of ``some``, which have the same free cells."""
    before = np.cumsum([0, *(len(terms.boards) for terms in some)])
    part = [terms.part + n for terms, n in zip(some, before, strict=False)]
    _, boards, _, keys, points = zip(*some, strict=True)
    return Terms(some[0].cells, *map(np.concatenate, (boards, part, keys, points)))


def boards_reaching(
    terms: Terms,
    letters: Sequence[str],
    cutoff: int,
    budget: int = _BUDGET,
    at_once: int = _AT_ONCE,
) -> Iterator[tuple[str, int]]:
    """Yield each board of some parts whose deduplicated multi-score reaches the cutoff, with that
    multi-score.

    at_once : terms of parts that are forced together

    Raises IncompleteError if it takes more than ``budget`` terms; nothing is known about the class
    then.
    """
    parts_left = [terms]
    n_terms = 0
    while parts_left:
        parts = parts_left.pop()
        if not parts.cells:
            yield from zip(decode_boards(parts.boards), orderly_bounds(parts).tolist(), strict=True)
            continue
        reaching = joined([some for _, some in by_letter(parts, letters, cutoff)])
        n_terms += len(reaching.points)
        # given up, never cut off: a list of boards that lacks some would be taken for all of them
        if n_terms > budget:
            raise IncompleteError(
                f"the boards of the class take more than {budget:,} terms: take a higher cutoff"
            )
        # in portions: all parts of a level together may not fit in memory
        n_pieces = 1 + len(reaching.points) // at_once
        some = np.array_split(np.arange(len(reaching.boards)), n_pieces)
        parts_left += [reaching.take(numbers) for numbers in some if len(numbers)]
