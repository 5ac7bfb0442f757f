"""Terms by the definition: one set of literals per way to realise a word, equal sets once, then only minimal sets.

Bare cells carry no literal.  ``letters`` are the letters per cell, words are in q-form.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from tests.reference.classes import slow_neighbours
from tests.reference.truth_table import Boards, Sums

Literals = frozenset[tuple[int, str]]
Terms = dict[str, set[Literals]]


def paths(w: int, h: int, letters: Sequence[str], word: str) -> Iterator[tuple[int, ...]]:
    """Yield every path of distinct neighbouring cells that can spell ``word``."""

    def extend(path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(path) == len(word):
            yield path
            return
        for cell in slow_neighbours(w, h, path[-1]) if path else range(w * h):
            if cell not in path and word[len(path)] in letters[cell]:
                yield from extend((*path, cell))

    yield from extend(())


def terms_of(w: int, h: int, letters: Sequence[str], bare: Container[int], words: Sequence[str]) -> Terms:
    """Return the terms of each word, deduplicated."""
    return {
        word: {
            frozenset((cell, letter) for cell, letter in zip(path, word, strict=True) if cell not in bare)
            for path in paths(w, h, letters, word)
        }
        for word in words
    }


def minimal(terms: Terms) -> Terms:
    """Absorb: within a word drop every term that contains another one."""
    return {word: {term for term in sets if not any(other < term for other in sets)} for word, sets in terms.items()}


def added(terms: Terms, points: dict[str, int]) -> dict[Literals, int]:
    """Return the summed points of each set of literals, words put together."""
    total: dict[Literals, int] = {}
    for word, sets in terms.items():
        for term in sets:
            total[term] = total.get(term, 0) + points[word]
    return total


def multi_scores(boards: Boards, total: dict[Literals, int]) -> Sums:
    """Return for every board the points of the terms that hold on it."""
    sums = Sums(boards)
    for term, points in total.items():
        sums.add(boards.where(term), points)
    return sums
