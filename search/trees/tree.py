"""The orderly tree of a node: what lies where in its arrays.  This module owns the layout of a tree
node.

A *sum node* holds the points of the terms that end there and one *choice* per level that goes on; a
choice has a letter set, and per letter an *entry*: a bound and a reference to the sum node behind
it.  Subtrees of up to ``MAX_LAZY_TERMS`` terms are left *lazy*: their reference tells where their
terms are in the sorted key array.  Their bound is that of the subtree all the same.  A search
reaches few of them and builds these as it goes (search.trees.lazy_subtree).

A sum node at place r > 0 of ``cells`` (int32), with ``n`` choices:

    r - 1 - x      reference of entry x; entries go choice by choice, letters ascending
    r              n | points << 4
    r + 1          its bound
    r + 2 ...      per choice, later levels first:  letters | level << 26
    r + 2 + n ...  bound of entry x, as the x-th element of ``bounds`` from there

``bounds`` is the same memory as ``cells``, in elements of 2 bytes, or of 4 for score tables whose
bounds need it: what OrderlyBound reads of a node when it is pushed lies together, and a reference
is read only for a letter that is taken.

A *bundle* stands for two subtrees behind one edge that were not merged, and its bound is the sum of
theirs.  Its cell r is BUNDLE, a number of choices that no sum node has, r + 1 its bound, and r - 1
and r - 2 are the two references.  Only loose trees have bundles (search.trees.merge).

A reference is 0 for a leaf (its points are its bound), r > 0 for a sum node or bundle,
``~(i << 4 | k)`` for the terms ``keys[i : i + k + 1]``.

>>> cells = np.zeros(1000, np.int32)
>>> bounds, leaves = np.array([3, 4], np.int32), np.zeros(2, np.int32)
>>> some = [Choice(level=2, letters=0b101, bounds=bounds, refs=leaves)]
>>> tip, node = write_node(cells, cells.view(NARROW), 1, 5, some)
>>> points, choices = read_node(cells, cells.view(NARROW), node)
>>> points, choices[0].bounds.tolist()
(5, [3, 4])
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import int16, int32, int64, types, uint64, void
from numpy.typing import NDArray

from orderly_boggle.boardclass.arrays import Int32s, UInt64s
from orderly_boggle.boardclass.jit import kernel, read_only, writable
from orderly_boggle.search.bits import popcount, prefetch
from orderly_boggle.search.keys import LITERAL, LITERAL_BITS, MAX_LEVELS

TREE_FULL = -1
BOUND_TOO_LARGE = -2
COUNT_BITS = 4  # of a node's first cell: the number of its choices; its points follow
COUNT = (1 << COUNT_BITS) - 1
BUNDLE = COUNT
MAX_BOUND = (1 << 27) - 1  # points share an int32 with the number of choices
NARROW, WIDE = np.dtype(np.int16), np.dtype(np.int32)  # of the bounds of entries
MAX_NARROW = (1 << 15) - 1
LETTER_BITS = 26
LETTERS = (1 << LETTER_BITS) - 1
RUN_BITS = 4  # of a reference to lazy terms: how many follow the first
RUN = (1 << RUN_BITS) - 1
MAX_LAZY_TERMS = RUN + 1  # terms of a lazy subtree
LINE = 16  # cells in a cache line
HEAD = 2  # cells of a node before its choices: the first cell and the bound
OVER = 8  # cells behind a node that a vector may read with it
LARGEST_NODE = HEAD + MAX_LEVELS * (1 + 2 * LETTER_BITS) + OVER


class Tree(NamedTuple):
    """An orderly tree and the keys its references point into."""

    cells: Int32s  # sum nodes (layout: see the module)
    bounds: NDArray[np.int16] | Int32s  # the same memory
    keys: UInt64s  # distinct keys, sorted, 5 bits per level, without points code
    points: Int32s  # summed points of each key
    n_levels: int
    # levels before this one have no literal anywhere in the tree (their cells are forced)
    first: int
    tip: int  # first unused cell: a search builds there what was left lazy


BOUND_TYPES = (int16, int32)
TREE_TYPES = {
    bound: types.NamedTuple(
        [
            writable(int32),
            writable(bound),
            read_only(uint64),
            read_only(int32),
            int64,
            int64,
            int64,
        ],
        Tree,
    )
    for bound in BOUND_TYPES
}


class Choice(NamedTuple):
    """A choice of a sum node: its level, its letters as a mask, and bound and reference of each,
    letters ascending.
    """

    level: int
    letters: int
    bounds: Int32s
    refs: Int32s


def read_node(cells: Int32s, bounds: NDArray[Any], node: int) -> tuple[int, list[Choice]]:
    """Return the points of a sum node and its choices, later levels first."""
    n = int(cells[node]) & COUNT
    begin = (node + HEAD + n) * (bounds.size // cells.size)
    last = node
    choices = []
    for word in cells[node + HEAD : node + HEAD + n].tolist():
        letters = word & LETTERS
        k = letters.bit_count()
        refs = cells[last - k : last][::-1]
        choices.append(
            Choice(
                word >> LETTER_BITS,
                letters,
                bounds[begin : begin + k].astype(np.int32),
                refs.copy(),
            )
        )
        begin = begin + k
        last = last - k
    return int(cells[node]) >> COUNT_BITS, choices


@kernel(int64(int64))
def points_of(first_cell):  # type: ignore[no-untyped-def]
    """Return the points of the node with this first cell."""
    return first_cell >> COUNT_BITS


@kernel(types.UniTuple(int64, 4)(int64, int64, int64))
def places_in(node, first_cell, per):  # type: ignore[no-untyped-def]
    """Return the number of choices of a node and where its first choice, bound and reference are.

    per : elements of ``bounds`` in a cell
    """
    n = first_cell & COUNT
    return n, node + HEAD, (node + HEAD + n) * per, node - 1


PUT_TYPES = [
    types.UniTuple(int64, 2)(
        writable(int32),
        writable(bound),
        int64,
        int64,
        int64,
        writable(int32),
        int64,
        int64,
        writable(int32),
        int64,
        int64,
        writable(int32),
        int64,
    )
    for bound in BOUND_TYPES
]


@kernel(PUT_TYPES, inline="always")
def put_node(  # type: ignore[no-untyped-def]
    cells, bounds, tip, points, bound, words, word, last_word, entries, entry, last_entry, refs, ref
):
    """Write a sum node to ``cells`` at ``tip``, in place; return the new tip and the node.  There
    must be room.

    words : letters and level of each choice, as cells have them, from place ``word`` to before
        ``last_word``
    entries : bound of each entry, from place ``entry`` to before ``last_entry``
    refs : their references, from place ``ref`` on
    """
    n = last_entry - entry
    node = tip + n
    for x in range(n):
        cells[tip + x] = refs[ref + n - 1 - x]
    cells[node] = (last_word - word) | (points << COUNT_BITS)
    cells[node + 1] = bound
    at = node + HEAD
    for x in range(last_word - word):
        cells[at + x] = words[word + x]
    at += last_word - word
    per = bounds.size // cells.size
    for x in range(n):
        bounds[at * per + x] = entries[entry + x]
    return at + (n + per - 1) // per, node


@kernel(types.UniTuple(int64, 2)(writable(int32), int64, int64, int64, int64), inline="always")
def put_bundle(cells, tip, bound, one, other):  # type: ignore[no-untyped-def]
    """Write a bundle to ``cells`` at ``tip``, in place; return the new tip and the bundle.  There
    must be room.
    """
    bundle = tip + 2
    cells[bundle - 1] = one
    cells[bundle - 2] = other
    cells[bundle] = BUNDLE
    cells[bundle + 1] = bound
    return bundle + 2, bundle


def write_node(
    cells: Int32s, bounds: NDArray[Any], tip: int, points: int, choices: Sequence[Choice]
) -> tuple[int, int]:
    """Write a sum node to ``cells`` at ``tip``, in place; return (the new tip or TREE_FULL, the
    node).
    """
    if tip + LARGEST_NODE > cells.size:
        return TREE_FULL, 0
    none = np.zeros(0, np.int32)
    words = np.array([choice.letters | choice.level << LETTER_BITS for choice in choices], np.int32)
    entries = np.concatenate([none, *(choice.bounds for choice in choices)])
    refs = np.concatenate([none, *(choice.refs for choice in choices)])
    bound = points + sum(int(choice.bounds.max()) for choice in choices)
    end, node = put_node(
        cells, bounds, tip, points, bound, words, 0, len(words), entries, 0, len(entries), refs, 0
    )
    return int(end), int(node)


@kernel(void(writable(int32), int64, int64, int64, int64), inline="always")
def ask_ahead(cells, edge, letters, place, ref):  # type: ignore[no-untyped-def]
    """Prefetch the sum node behind an edge, if the current choice (``letters`` left, ``place``) has
    that edge.
    """
    letter = (edge & LITERAL) - 1
    if edge >> LITERAL_BITS == place and (letters >> letter) & 1:
        node = int64(cells[ref - popcount(letters & ((int64(1) << letter) - 1))])
        if node > 0:
            prefetch(cells, node)
            prefetch(cells, node - LINE)
            prefetch(cells, node + LINE)
