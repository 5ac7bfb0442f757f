"""Trees whose first levels are outside their keys.

A key holds twelve levels.  A node with one or two more free cells has its keys in *segments*: those
of a segment have the same letter, or none, on each of the first levels, so where a key lies says
what is missing in it.  The segments follow one another in the order that longer keys would have:
by the letter code on the first level, 0 where there is none, then by that on the second.

Each segment is merged by itself, with what the two trees have behind the same letters, and sum
nodes for the first levels join what comes out.  They are laid out as any other sum node; behind
them stand sum nodes only, so no lazy subtree and no single term ever begins on such a level.

>>> cuts_of_later(np.array([0, 2, 5, 9]), 1).tolist()
[2, 2, 5, 9]
"""

from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, Int64s
from orderly_boggle.search.keys import N_CODES
from orderly_boggle.search.trees import tree
from orderly_boggle.search.trees.arrays import Arrays


class Merged(NamedTuple):
    """What a merge leaves: first unused cell, root and bound of the tree, first unused key."""

    tip: int
    root: int
    bound: int
    spill: int


def cuts_of_later(cuts: Int64s, n_segments: int) -> Int64s:
    """Return the same cuts with nothing in the first segments."""
    later = cuts.copy()
    later[: n_segments + 1] = cuts[n_segments]
    return later


def merge(
    arrays: Arrays, cuts: Int64s, n_levels: int, first: int, tip: int, base: int = 0,
    other: tuple[int, int] = (0, 0), spill: int | None = None,
) -> Merged | None:  # fmt: skip
    """Merge keys, and bound and reference of another tree, into a tree; None if it does not fit.

    As :meth:`orderly_boggle.search.trees.arrays.Arrays.merge`; the keys are in segments, by the
    letters on the levels from ``first`` on that are outside the keys.

    cuts : where each segment begins, and where the last one ends: one segment if every level is
        inside, N_CODES for each level that is not
    spill : where keys may be copied to, behind all segments
    """
    if spill is None:
        spill = int(cuts[-1])
    if len(cuts) == 2:
        begin, end = cuts.tolist()
        merged = arrays.merge(begin, end, n_levels, first, tip, base, other, spill=spill)
        if merged:
            return Merged(*merged)
        return None
    step = (len(cuts) - 1) // N_CODES
    of_code = [cuts[step * code : step * (code + 1) + 1] for code in range(N_CODES)]
    mine, base, tip = _taken_apart(arrays, base, first, tip)
    theirs, other_root, tip = _taken_apart(arrays, other[1], first, tip)
    other = (other[0], other_root)
    joined = merge(arrays, of_code[0], n_levels, first + 1, tip, base, other, spill)
    entries: list[tuple[int, int, int]] = []
    for letter in range(tree.LETTER_BITS):
        keys = of_code[letter + 1]
        a = mine.get(letter)
        b = theirs.get(letter)
        bound, ref = a or b or (0, 0)
        if joined and (keys[0] < keys[-1] or (a and b)):
            if a:
                root = a[1]
            else:
                root = 0
            behind = merge(
                arrays, keys, n_levels, first + 1, joined.tip, root, b or (0, 0), joined.spill
            )
            if behind is None or behind.bound > _largest(arrays):
                return None
            bound = behind.bound
            ref = behind.root
            joined = joined._replace(tip=behind.tip, spill=behind.spill)
        if bound:
            entries.append((letter, bound, ref))
    if joined:
        return _with_choice(arrays, joined, first, entries)
    return None


def _taken_apart(
    arrays: Arrays, root: int, level: int, tip: int
) -> tuple[dict[int, tuple[int, int]], int, int]:
    """Return bound and reference behind each letter of a root's first level; a root that has not
    this level, written if need be; and the new tip.
    """
    if not root:
        return {}, 0, tip
    assert root > 0, "a sum node"
    _, choices = tree.read_node(arrays.cells, arrays.bounds, root)
    found: dict[int, tuple[int, int]] = {}
    for choice in choices:
        if choice.level == level:
            letters = []
            for x in range(tree.LETTER_BITS):
                if choice.letters >> x & 1:
                    letters.append(x)
            entries = zip(choice.bounds.tolist(), choice.refs.tolist(), strict=True)
            found = dict(zip(letters, entries, strict=True))
    if found:
        root, tip = arrays.root_of(tip, root, level + 1, 0)
    return found, root, tip


def _with_choice(
    arrays: Arrays, joined: Merged, level: int, entries: list[tuple[int, int, int]]
) -> Merged | None:
    """Write the root of a merged tree anew, with a choice on the level before its first one; None
    if there is no room.

    entries : letter, bound and reference of each, by letter
    """
    if not entries:
        return joined
    points, choices = tree.read_node(arrays.cells, arrays.bounds, joined.root)
    letters = sum(1 << letter for letter, _, _ in entries)
    bounds: Int32s = np.array([bound for _, bound, _ in entries], np.int32)
    refs: Int32s = np.array([ref for *_, ref in entries], np.int32)
    choices.append(tree.Choice(level, letters, bounds, refs))
    tip, root = tree.write_node(arrays.cells, arrays.bounds, joined.tip, points, choices)
    bound = joined.bound + int(bounds.max())
    if tip == tree.TREE_FULL or bound > tree.MAX_BOUND:
        return None
    return Merged(tip, root, bound, joined.spill)


def _largest(arrays: Arrays) -> int:
    """Return the largest bound that an entry can have."""
    if arrays.bounds.dtype == tree.NARROW:
        return tree.MAX_NARROW
    return tree.MAX_BOUND
