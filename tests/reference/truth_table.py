"""Full enumeration of a class as truth tables: a set of boards is one Python integer, bit b = board
number b.

The boards of a class (letters per cell) are numbered in mixed radix, cell 0 fastest.  A literal is
the set of boards with that letter on that cell, a path is an AND of literals, a word an OR over its
paths; points are added up for all boards at once in bit planes.  Nothing here bounds, prunes or
sorts: millions of boards take seconds in plain Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from tests.reference.classes import slow_neighbours

Literals = Iterable[tuple[int, str]]


def _repeated(block: int, period: int, times: int) -> int:
    """Write ``block`` every ``period`` bits, ``times`` times."""
    if times == 1:
        return block
    half = _repeated(block, period, times // 2)
    both = half | half << period * (times // 2)
    return both | block << period * (times - 1) if times % 2 else both


class Boards:
    """All boards of a class of ``w`` x ``h`` cells with the given letters per cell."""

    def __init__(self, w: int, h: int, letters: Sequence[str]) -> None:
        self.w, self.h, self.letters = w, h, tuple(letters)
        self.neighbours = [slow_neighbours(w, h, cell) for cell in range(w * h)]
        self.size = 1
        self._stride = []
        for cell in self.letters:
            self._stride.append(self.size)
            self.size *= len(cell)
        self._literals: dict[tuple[int, str], int] = {}

    @cached_property
    def all(self) -> int:
        """Return the set of all boards of the class."""
        return (1 << self.size) - 1

    def literal(self, cell: int, letter: str) -> int:
        """Return the boards that have ``letter`` on ``cell``."""
        if (cell, letter) not in self._literals:
            stride, radix = self._stride[cell], len(self.letters[cell])
            digit = self.letters[cell].find(letter)
            block = ((1 << stride) - 1) << (digit * stride) if digit >= 0 else 0
            self._literals[cell, letter] = _repeated(
                block, stride * radix, self.size // (stride * radix)
            )
        return self._literals[cell, letter]

    def where(self, literals: Literals) -> int:
        """Return the boards on which all the literals hold."""
        found = self.all
        for cell, letter in literals:
            found &= self.literal(cell, letter)
        return found

    def inside(self, letters: Sequence[str]) -> int:
        """Return the boards that also belong to the class with these letters per cell."""
        found = self.all
        for cell, allowed in enumerate(letters):
            one = 0
            for letter in allowed:
                one |= self.literal(cell, letter)
            found &= one
        return found

    def with_word(self, word: str) -> int:
        """Return the boards that hold a word (in q-form)."""

        def extend(i: int, cell: int, used: frozenset[int], boards: int) -> int:
            boards &= self.literal(cell, word[i])
            if not boards or i + 1 == len(word):
                return boards
            found = 0
            for near in self.neighbours[cell] - used:
                found |= extend(i + 1, near, used | {near}, boards)
            return found

        found = 0
        for cell in range(self.w * self.h):
            found |= extend(0, cell, frozenset([cell]), self.all)
        return found

    def board(self, number: int) -> str:
        """Return the board with that number."""
        return "".join(
            cell[number // stride % len(cell)]
            for cell, stride in zip(self.letters, self._stride, strict=True)
        )

    def boards(self, chosen: int) -> Iterator[str]:
        """Yield the boards of a set."""
        text = bin(chosen)[:1:-1]
        number = text.find("1")
        while number >= 0:
            yield self.board(number)
            number = text.find("1", number + 1)


class Sums:
    """One number per board, added up for all boards at once: plane k holds bit k of every
    number.
    """

    def __init__(self, boards: Boards) -> None:
        self.boards = boards
        self.planes: list[int] = []

    def add(self, chosen: int, points: int) -> None:
        """Add ``points`` to every board of a set."""
        for k in range(points.bit_length()):
            carry = chosen if points >> k & 1 else 0
            level = k
            while carry:
                while level >= len(self.planes):
                    self.planes.append(0)
                self.planes[level], carry = self.planes[level] ^ carry, self.planes[level] & carry
                level += 1

    def best(self, chosen: int) -> int:
        """Return the largest number of a set of boards, -1 for the empty set."""
        if not chosen:
            return -1
        total = 0
        for k in reversed(range(len(self.planes))):
            if chosen & self.planes[k]:
                chosen &= self.planes[k]
                total |= 1 << k
        return total

    def reaching(self, cutoff: int) -> int:
        """Return the boards whose number is ``cutoff`` or more."""
        if cutoff <= 0:
            return self.boards.all
        equal, more = self.boards.all, 0
        for k in reversed(range(max(len(self.planes), cutoff.bit_length()))):
            plane = self.planes[k] if k < len(self.planes) else 0
            if cutoff >> k & 1:
                equal &= plane
            else:
                more |= equal & plane
                equal &= ~plane
        return more | equal

    def cutoff_for(self, at_most: int) -> int:
        """Return the smallest cutoff that at most so many boards reach."""
        low, high = 0, self.best(self.boards.all) + 1
        while low < high:
            middle = (low + high) // 2
            if self.reaching(middle).bit_count() <= at_most:
                high = middle
            else:
                low = middle + 1
        return low


def scores(boards: Boards, points: Mapping[str, int]) -> Sums:
    """Return the score of every board: the points (by word) of the distinct words on it."""
    sums = Sums(boards)
    for word, value in points.items():
        if value and len(word) <= boards.w * boards.h:
            sums.add(boards.with_word(word), value)
    return sums


def multi_scores(boards: Boards, terms: Iterable[tuple[Literals, int]]) -> Sums:
    """Return for every board the points of the terms (literals, points) that hold on it."""
    sums = Sums(boards)
    for literals, points in terms:
        sums.add(boards.where(literals), points)
    return sums
