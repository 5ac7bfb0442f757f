"""Simple paths of king's graphs: by walking them, and the published numbers."""

from __future__ import annotations

from collections import Counter

import pytest

from orderly_boggle.boardclass.errors import BoardError
from orderly_boggle.boardclass.king_paths import MAX_CELLS, n_paths, n_paths_by_length
from orderly_boggle.search.solvers import Grid, texts_of_paths

SMALL = [(w, h) for w in range(1, 8) for h in range(1, 5) if w * h <= 12]
# Columns x rows -> number of paths.  That of 16x2 is given in some places as the number of 15x2; a
# strip two cells wide can be walked up to 7x2 in a test, and its numbers follow a linear recurrence
# (below).
PUBLISHED = {
    (3, 3): 10_305,
    (4, 3): 193_924,
    (4, 4): 12_029_640,
    (5, 4): 659_935_616,
    (5, 5): 115_066_382_913,
    (6, 4): 33_995_987_408,
    (7, 4): 1_669_552_434_996,
    (9, 3): 150_643_844_893,
    (16, 2): 595_936_673_704,
}


def walked(w: int, h: int) -> list[int]:
    """The slow twin: every path is walked and its cells are counted."""
    lengths = Counter(len(text) for text in texts_of_paths(Grid("x" * (w * h), (w, h))))
    return [lengths[n] for n in range(1, w * h + 1)]


@pytest.mark.parametrize(("w", "h"), SMALL)
def test_every_length_is_counted_as_by_walking(w, h):
    expected = walked(w, h)
    assert n_paths_by_length(w, h) == expected
    assert n_paths(w, h) == sum(expected)


@pytest.mark.parametrize(("size", "number"), PUBLISHED.items())
def test_published_numbers(size, number):
    assert n_paths(*size) == n_paths(*size[::-1]) == number


@pytest.mark.parametrize("size", [(4, 4), (6, 3), (5, 3)])
def test_lengths_add_up(size):
    assert sum(n_paths_by_length(*size)) == n_paths(*size)


def test_a_strip_of_two_rows_follows_a_recurrence_through_numbers_of_many_limbs():
    """The recurrence is found from the first numbers and must give those beyond 2**62."""
    numbers = [n_paths(w, 2) for w in range(1, 61)]
    assert numbers[-1] > 2**124
    assert numbers[:7] == [sum(walked(w, 2)) for w in range(1, 8)]
    coefficients = recurrence(numbers[:24])
    order = len(coefficients)
    assert order <= 10, "a few numbers of the strip decide all others"
    for at in range(order, len(numbers)):
        before = numbers[at - order : at]
        assert numbers[at] == sum(c * x for c, x in zip(coefficients, before[::-1], strict=True))


def recurrence(numbers: list[int]) -> list[int]:
    """Return the shortest linear recurrence of a sequence, modulo a large prime, as small integers
    (J. Massey, Shift-register synthesis and BCH decoding, 1969).
    """
    prime = (1 << 89) - 1
    current, before = [1], [1]
    length, gap, last = 0, 1, 1
    for at in range(len(numbers)):
        error = sum(current[k] * numbers[at - k] for k in range(len(current)) if k <= at) % prime
        if not error:
            gap += 1
            continue
        factor = error * pow(last, -1, prime) % prime
        longer = current + [0] * max(0, len(before) + gap - len(current))
        for k, value in enumerate(before):
            longer[k + gap] = (longer[k + gap] - factor * value) % prime
        if 2 * length <= at:
            length, before, last, gap = at + 1 - length, current, error, 1
        else:
            gap += 1
        current = longer
    found = []
    for value in current[1 : length + 1]:
        value = -value % prime
        found.append(value - prime if value > prime // 2 else value)
    return found


@pytest.mark.parametrize("size", [(0, 3), (3, -1), (12, 12), (2, MAX_CELLS)])
def test_sizes_that_cannot_be_counted_are_refused(size):
    with pytest.raises(BoardError, match=f"{size[0]}x{size[1]}"):
        n_paths(*size)
