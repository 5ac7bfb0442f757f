"""How many simple paths the king's graph of a board has, by a frontier method.

The cells are taken one after the other, down the columns.  Of the edges that were chosen among the
cells so far, only what the *frontier* can still see matters: for each of the last ``h + 2`` cells
whether it has no edge yet, can take none any more, or is the end of a piece, and where the other
end of that piece is.  Equal states are merged and their numbers added, so that the work grows with
the number of states (some thousands on 6x6) and not with the number of paths (10 to the 17th).

The method is known as simpath (D. E. Knuth, The Art of Computer Programming 4A, exercise 7.1.4-225)
and as frontier-based search.  A board of m columns and n rows has the same paths as one of n
columns and m rows, so the shorter side is the height.

A state is an int64 of four bits a cell, in the place ``cell % (h + 2)`` as long as the cell is in
the frontier, with the number of edges above them.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from orderly_boggle.boardclass.arrays import Int64s
from orderly_boggle.boardclass.errors import BoardError, quote

FREE = 0  # no edge yet
FULL = 1  # two edges
LONE = 2  # the end of a piece whose other end has left the frontier: an end of the path
MATE = 3  # MATE + p: the end of a piece whose other end is in place p
_BITS = 4
_CODE = (1 << _BITS) - 1
MAX_HEIGHT = 11  # MATE + 12, the last place, still fits four bits
MAX_CELLS = 200
_LENGTH_SHIFT = _BITS * (MAX_HEIGHT + 2)
_LIMB = 31  # bits of a limb: a sum of 2**32 limbs fits an int64
_LIMB_MASK = (1 << _LIMB) - 1


def n_paths(width: int, height: int) -> int:
    """Return the number of simple directed paths of the king's graph, those of one cell included.

    Raises BoardError if a side is less than 1, the shorter one more than :data:`MAX_HEIGHT`, or
    the board has more than :data:`MAX_CELLS` cells.

    >>> n_paths(3, 3), n_paths(4, 4)
    (10305, 12029640)
    """
    return sum(_count(width, height, by_length=False))


def n_paths_by_length(width: int, height: int) -> list[int]:
    """Return the numbers of simple directed paths of 1, 2, ... cells; errors as in
    :func:`n_paths`.

    >>> n_paths_by_length(2, 2)
    [4, 12, 24, 24]
    """
    return _count(width, height, by_length=True)


def _count(width: int, height: int, *, by_length: bool) -> list[int]:
    h = min(width, height)
    n = width * height
    if not 1 <= h <= MAX_HEIGHT or n > MAX_CELLS:
        raise BoardError(
            f"size {quote(f'{width}x{height}')}: expected sides of 1 or more, the shorter one of "
            f"at most {MAX_HEIGHT}, and at most {MAX_CELLS} cells"
        )
    frontier = _Frontier(h, n, step=1 << _LENGTH_SHIFT if by_length else 0)
    for cell in range(n):
        frontier.take(cell)
    # each path of two cells or more was counted once for both directions
    whole = [2 * number for number in frontier.n_whole]
    whole[0] += n
    if by_length:
        return whole
    return [sum(whole)]


class _Frontier:
    """All states after some cells, each once, and how many ways lead to it.

    ``states`` is int64[m], sorted; ``ways`` is int64[m, n_limbs], numbers in base 2**31, the lowest
    limb first.
    """

    def __init__(self, h: int, n: int, step: int) -> None:
        self.h = h
        self.n = n
        self.step = step
        self.n_places = h + 2
        # each cell of a path has at most eight ways on: three bits a cell
        n_limbs = 1 + (3 * n + n.bit_length()) // _LIMB
        self.states = np.zeros(1, np.int64)
        self.ways = np.zeros((1, n_limbs), np.int64)
        self.ways[0, 0] = 1
        self.n_whole = [0] * n  # paths by their number of edges, if those are counted

    def take(self, cell: int) -> None:
        """Decide which edges join a cell to those before it, and let the oldest cell go."""
        place = cell % self.n_places
        near = [other % self.n_places for other in self._near(cell)]
        parts = [(self.states, self.ways)]
        for other in near:
            parts.append(self._joined(place, other))
        for one, two in combinations(near, 2):
            parts.append(self._bridged(place, one, two))
        self._merge(parts)
        gone = cell - self.h - 1
        if gone >= 0:
            self._let_go(gone % self.n_places)
        if cell == self.n - 1:
            for last in range(max(gone + 1, 0), self.n):
                self._let_go(last % self.n_places)

    def _near(self, cell: int) -> list[int]:
        """Return the neighbours of a cell that were taken before it."""
        x, y = divmod(cell, self.h)
        near = []
        before = ((x, y - 1), (x - 1, y - 1), (x - 1, y), (x - 1, y + 1))
        for u, v in before:
            if u >= 0 and 0 <= v < self.h:
                near.append(u * self.h + v)
        return near

    def _code(self, states: Int64s, place: int) -> Int64s:
        return states >> _BITS * place & _CODE

    def _joined(self, place: int, other: int) -> tuple[Int64s, Int64s]:
        """Return the states in which a new cell has one edge, to the cell in place ``other``."""
        code = self._code(self.states, other)
        kept = code != FULL
        states = self.states[kept]
        ways = self.ways[kept]
        code = code[kept]
        was_free = code == FREE
        # a free cell becomes an end itself, any other end gives its mate to the new cell
        far = np.where(was_free, MATE + other, code)
        states = _with(states, other, np.where(was_free, MATE + place, FULL))
        states = _with(states, place, far)
        moved = (far >= MATE) & ~was_free
        states[moved] = _pointed(states[moved], far[moved] - MATE, MATE + place)
        return states + self.step, ways

    def _bridged(self, place: int, one: int, two: int) -> tuple[Int64s, Int64s]:
        """Return the states in which a new cell has two edges, to the cells in two places."""
        first = self._code(self.states, one)
        second = self._code(self.states, two)
        # an edge to each end of one piece would close a circle
        kept = (first != FULL) & (second != FULL) & (first != MATE + two)
        states = self.states[kept]
        ways = self.ways[kept]
        first = first[kept]
        second = second[kept]
        # where the ends of the long piece are: the cell itself if it had no edge, else its mate
        left = np.where(first == FREE, MATE + one, first)
        right = np.where(second == FREE, MATE + two, second)
        states = _with(states, place, np.full(len(states), FULL))
        states = _with(states, one, np.full(len(states), FULL))
        states = _with(states, two, np.full(len(states), FULL))
        states = states + 2 * self.step
        has_left = left >= MATE
        has_right = right >= MATE
        states[has_left] = _pointed(states[has_left], left[has_left] - MATE, right[has_left])
        states[has_right] = _pointed(states[has_right], right[has_right] - MATE, left[has_right])
        whole = ~has_left & ~has_right
        self._accept(states[whole], ways[whole])
        return states[~whole], ways[~whole]

    def _let_go(self, place: int) -> None:
        """Let a cell leave the frontier: if it is an end, it is one of the two of the path."""
        code = self._code(self.states, place)
        whole = code == LONE  # the other end has left before
        self._accept(_with(self.states[whole], place, FREE), self.ways[whole])
        states = self.states[~whole]
        ways = self.ways[~whole]
        code = code[~whole]
        states = _with(states, place, np.full(len(states), FREE))
        ends = code >= MATE
        states[ends] = _pointed(states[ends], code[ends] - MATE, np.full(ends.sum(), LONE))
        n_lone = np.zeros(len(states), np.int64)
        for other in range(self.n_places):
            n_lone += self._code(states, other) == LONE
        # a path has two ends
        kept = n_lone <= 2
        self._merge([(states[kept], ways[kept])])

    def _accept(self, states: Int64s, ways: Int64s) -> None:
        """Count those states in which the piece that is whole now is the only one."""
        alone = np.ones(len(states), bool)
        for place in range(self.n_places):
            alone &= self._code(states, place) <= FULL
        lengths = states >> _LENGTH_SHIFT
        for length in np.unique(lengths[alone]).tolist():
            limbs = ways[alone & (lengths == length)].sum(axis=0).tolist()
            for number, limb in enumerate(limbs):
                self.n_whole[length] += limb << _LIMB * number

    def _merge(self, parts: list[tuple[Int64s, Int64s]]) -> None:
        """Take the states of all parts, equal ones once, with their numbers added up."""
        states = np.concatenate([part[0] for part in parts])
        ways = np.concatenate([part[1] for part in parts])
        order = np.argsort(states, kind="stable")
        states = states[order]
        starts = np.flatnonzero(np.diff(states, prepend=-1))
        self.states = states[starts]
        self.ways = np.add.reduceat(ways[order], starts, axis=0)
        for limb in range(self.ways.shape[1] - 1):
            self.ways[:, limb + 1] += self.ways[:, limb] >> _LIMB
            self.ways[:, limb] &= _LIMB_MASK


def _with(states: Int64s, place: int, code: Int64s | int) -> Int64s:
    """Return the states with a code put into one place."""
    return states & ~(_CODE << _BITS * place) | np.asarray(code, np.int64) << _BITS * place


def _pointed(states: Int64s, places: Int64s, code: Int64s | int) -> Int64s:
    """Return the states with a code put into a place of its own for each."""
    shift = _BITS * places
    return states & ~(_CODE << shift) | np.asarray(code, np.int64) << shift
