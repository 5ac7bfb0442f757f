"""The working memory of a worker: the arrays that terms are written to and that trees grow in.

>>> n_terms_in(memory_mb=17)
1048576
"""

import contextlib
import ctypes
import time
from functools import cache

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, Int64s
from orderly_boggle.boardclass.jit import frozen
from orderly_boggle.boardclass.shared_arrays import working
from orderly_boggle.search.keys import LITERAL_BITS
from orderly_boggle.search.trees import merge, runs, tree

_MMAP_THRESHOLD = -3  # of mallopt
_FEW_TERMS = 1 << 10  # with fewer, a radix sort mostly clears its counters
BYTES_PER_TERM = 17  # 8 term or key, 4 points, 5 tree: 1.25 cells
# points of a word up to which the bounds of a tree take 2 bytes; above they may not fit
_MAX_NARROW = 64


def n_terms_in(memory_mb: int) -> int:
    """Return how many terms, with the tree over them, fit into so many MiB; no more than a
    reference can name.
    """
    return min(memory_mb * (1 << 20) // BYTES_PER_TERM, 1 << (31 - tree.RUN_BITS))


def give_back_memory() -> None:
    """Let the C library give back what arrays of 1 MiB or more took as soon as they are freed.

    glibc would soon keep those of up to 32 MiB: 250 MiB after the path table of 4x4 is made, 33 in
    a worker that has only made its words.
    """
    with contextlib.suppress(AttributeError, OSError):  # other C libraries do not have it
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 1 << 20)


@cache
def numpy_sorts_faster() -> bool:
    """Return whether numpy sorts terms faster than the radix sort on this machine.

    numpy has vector instructions for it: with AVX-512 it takes a third of the time on Intel, five
    times as long on AMD's Zen 4.  So both are measured, on 65,536 random terms, the best of three;
    that takes some 10 ms.
    """
    terms = np.random.default_rng(0).integers(1 << 59, size=1 << 16, dtype=np.uint64)
    spare = np.empty_like(terms)
    numpy_s = radix_s = float("inf")
    for _ in range(3):
        copy = terms.copy()
        began = time.perf_counter()
        copy.sort()
        numpy_s = min(numpy_s, time.perf_counter() - began)
        copy = terms.copy()
        began = time.perf_counter()
        runs.sort(copy, spare, 4, 55)
        radix_s = min(radix_s, time.perf_counter() - began)
    return numpy_s < radix_s


class Arrays:
    """Keys, points and cells, each for many trees one behind the other.

    ``memory_mb`` is the size of all in MiB; ``code_bits`` and ``points_of_code`` say what the low
    bits of a term stand for.

    terms : uint64[], terms, which become keys when they are sorted
    points : int32[], points of each key
    cells, bounds : the trees (search.trees.tree)
    """

    def __init__(self, memory_mb: int, code_bits: int, points_of_code: Int32s) -> None:
        capacity = n_terms_in(memory_mb)
        self.terms = working(capacity, np.uint64)
        self.points = working(capacity, np.int32)
        self.cells = working(max(1 << 12, capacity * 5 // 4), np.int32)
        self.bounds = self.cells.view(
            tree.NARROW if points_of_code.max() <= _MAX_NARROW else tree.WIDE
        )
        self._code_bits = code_bits
        self._points_of_code = points_of_code

    def as_tree(self, n_levels: int, first: int, tip: int) -> tree.Tree:
        """Return the arrays as a tree with its cells before ``tip``; a search may build lazy
        subtrees behind it.
        """
        keys, points = map(frozen, (self.terms, self.points))
        return tree.Tree(self.cells, self.bounds, keys, points, n_levels, first, tip)

    def sort(self, begin: int, n: int, n_levels: int, tip: int) -> int:
        """Sort and group the terms from ``begin`` on, in place; return the number of keys.

        The cells from ``tip`` on may be overwritten: the tree over these terms will go there, and
        it is larger than they are.
        """
        terms = self.terms[begin : begin + n]
        even = tip + tip % 2  # where 8 bytes are aligned
        cells = self.cells[even : even + 2 * n]
        ordered = terms
        # the latter is rare: the tree will hardly fit either
        if numpy_sorts_faster() or cells.size < 2 * n:
            terms.sort()
        elif runs.sort(
            terms, spare := cells.view(np.uint64), self._code_bits, LITERAL_BITS * n_levels
        ):
            ordered = spare
        return int(
            runs.group(ordered, terms, self.points[begin:], self._points_of_code, self._code_bits)
        )

    def sort_segments(
        self, begin: int, n: int, n_levels: int, n_segments: int, tip: int
    ) -> Int64s | None:
        """Sort and group, in place, the terms from ``begin`` on, segment by segment, where
        ``points`` says in which segment each is and keys have ``n_levels``; return
        int64[n_segments + 1]: where the keys of each segment begin, and where the last ones end.
        None if there is no room.

        The cells from ``tip`` on may be overwritten.
        """
        even = tip + tip % 2
        cells = self.cells[even : even + 2 * n]
        if cells.size < 2 * n:
            return None
        terms = self.terms[begin : begin + n]
        parted = cells.view(np.uint64)
        ends = np.empty(n_segments, np.int64)
        runs.part(terms, self.points[begin : begin + n], ends, parted)
        cuts = np.full(n_segments + 1, begin, np.int64)
        start = 0
        at = begin
        for number, end in enumerate(ends.tolist()):
            ordered = parted[start:end]
            spare = terms[start:end]
            if numpy_sorts_faster() or end - start < _FEW_TERMS:
                ordered.sort()
            elif runs.sort(ordered, spare, self._code_bits, LITERAL_BITS * n_levels):
                ordered = spare
            keys = self.terms[at:]
            points = self.points[at:]
            at += int(runs.group(ordered, keys, points, self._points_of_code, self._code_bits))
            cuts[number + 1] = at
            start = end
        return cuts

    def merge(
        self, begin: int, end: int, n_levels: int, first: int, tip: int, root: int = 0,
        other: tuple[int, int] = (0, 0),
        key_end: int | None = None,
        loose: int = 0,
        spill: int | None = None,
    ) -> tuple[int, int, int, int] | None:  # fmt: skip
        """Merge keys, and bound and reference of another tree, into a tree, by default an empty
        one, whose levels before ``first`` are forced.  The keys before ``key_end``, by default all,
        have room for those that are copied, to ``spill`` and behind it, by default where the keys
        end; ``loose`` is for a loose tree (search.trees.merge).

        Returns (tip, root, bound, first unused key), or None if it does not fit.
        """
        keys = self.terms[:key_end]
        points = self.points[:key_end]
        tip, root, bound, end_spill = merge.merge(
            keys,
            points,
            begin,
            end,
            end if spill is None else spill,
            n_levels,
            first,
            self.cells,
            self.bounds,
            tip,
            root,
            *other,
            loose,
        )
        if tip == merge.NO_EQUAL:
            raise AssertionError("terms to lose are not in the tree they were taken from")
        if tip > 0:
            return (int(tip), int(root), int(bound), int(end_spill))
        return None

    def move_keys(self, begin: int, to: int, n: int) -> None:
        """Move ``n`` keys with their points; the places may overlap (numpy would copy them twice
        then).
        """
        for array in (self.terms, self.points):
            source = array[begin : begin + n]
            target = array[to : to + n]
            assert source.size == target.size, "there is room"
            ctypes.memmove(target.ctypes.data, source.ctypes.data, source.nbytes)

    def root_of(self, tip: int, root: int, level: int, other: int) -> tuple[int, int]:
        """Write a sum node with the choices of ``root`` on ``level`` and later ones and, if there
        is an ``other`` root, its choice on the level before; return (the node, the new tip).
        """
        points, choices = tree.read_node(self.cells, self.bounds, root)
        kept = [choice for choice in choices if choice.level >= level]
        if other:
            kept += [
                x for x in tree.read_node(self.cells, self.bounds, other)[1] if x.level == level - 1
            ]
        end, node = tree.write_node(self.cells, self.bounds, tip, points, kept)
        return (node, end) if end > 0 else (root, self.cells.size)  # merge will find no room either

    def behind(self, root: int, level: int, letter: int) -> tuple[int, int]:
        """Return bound and reference behind a letter (0..25) of a root's level; (0, 0) if nothing
        is there.
        """
        for choice in tree.read_node(self.cells, self.bounds, root)[1]:
            if choice.level == level and choice.letters >> letter & 1:
                before = (choice.letters & ((1 << letter) - 1)).bit_count()
                return int(choice.bounds[before]), int(choice.refs[before])
        return 0, 0
