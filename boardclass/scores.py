"""Score tables: points by the number of letters of a word, the check that sums cannot overflow, and
the only comparison with the cutoff.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from orderly_boggle.boardclass.errors import ScoreError, quote
from orderly_boggle.boardclass.printable import counted

MAX_LETTERS = 64
MIN_LETTERS = 3
# kernels add up in 32 bits, with a sign
SUM_LIMIT = 2**31


def n_letters(word: str) -> int:
    """Return the number of letters of a word in q-form: a ``q`` stands for two."""
    return len(word) + word.count("q")


@dataclass(frozen=True)
class ScoreTable:
    """Points by the number of letters, index 0 to 64; words below three letters are worth
    nothing.
    """

    name: str
    points: tuple[int, ...] = field(repr=False)

    def of(self, word: str) -> int:
        """Return the points of a word in q-form."""
        return self.points[n_letters(word)]

    @property
    def least(self) -> int:
        """Letters of the shortest words that are worth points."""
        return next(n for n in range(MIN_LETTERS, MAX_LETTERS + 1) if self.points[n])

    @property
    def counting(self) -> str:
        """Which words are worth points, in words.

        >>> parse_scores("4:1,2").counting, parse_scores("1,0,2").counting
        ('words of 4 letters or more', 'words of 3 and of 5 letters or more')
        """
        lengths = []
        for n in range(MIN_LETTERS, MAX_LETTERS + 1):
            if self.points[n]:
                lengths.append(n)
        tail = lengths.pop()
        end = ""
        if tail == MAX_LETTERS:
            end = " or more"
        # "3 letters or more" says it; only gaps are worth naming
        while end and lengths and lengths[-1] == tail - 1:
            tail = lengths.pop()
        return f"words of {' and of '.join(map(str, [*lengths, tail]))} letters{end}"

    def at_least(self, n: int | None) -> ScoreTable:
        """Return the table under which words of fewer than ``n`` letters are worth nothing.

        Raises ScoreError if that would let words of one or two letters count: no list has them.
        """
        if n is not None and n < MIN_LETTERS:
            raise ScoreError(
                f"least length {n}: words of one or two letters never count here: expected at "
                f"least {MIN_LETTERS}, or nothing: then the points say which words count"
            )
        points = list(self.points)
        for length in range(min(n or 0, len(points))):
            points[length] = 0
        return ScoreTable(self.name, tuple(points))


def _table(name: str, values: Sequence[int]) -> ScoreTable:
    """Return the table whose ``values`` start at three letters; the last one repeats."""
    # as on the box: "8 or more"
    tail = [values[-1]] * (MAX_LETTERS + 1 - MIN_LETTERS - len(values))
    return ScoreTable(name, (0,) * MIN_LETTERS + tuple(values) + tuple(tail))


TABLES = {
    "standard": _table("standard", (1, 1, 2, 3, 5, 11)),
    "words": _table("words", (1,)),
    "powers": _table("powers", [2**k for k in range(MAX_LETTERS + 1 - MIN_LETTERS)]),
}


def points_in_words(points: Sequence[int]) -> str:
    """Return how a sentence names points by the number of letters: ``standard`` and its like, or
    each length.

    >>> points_in_words(parse_scores("1,10,100").points)
    '1 (3 letters), 10 (4), 100 (5 or more)'
    """
    for table in TABLES.values():
        # by the points: a list typed by hand is called by its name
        if table.points == tuple(points):
            return table.name
    last = len(points) - 1
    while last > MIN_LETTERS and points[last] == points[last - 1]:
        last -= 1
    parts = [f"{points[n]} ({n})" for n in range(MIN_LETTERS, last)]
    parts.append(f"{points[last]} ({last} or more)")
    return ", ".join(parts).replace(f"({MIN_LETTERS}", f"({MIN_LETTERS} letters", 1)


Scores = str | Sequence[int] | Mapping[int, int] | ScoreTable
"""What :func:`parse_scores` reads: points by the number of letters."""


def parse_scores(scores: Scores) -> ScoreTable:
    """Return the score table of that name, or the one that a list gives from three letters on (the
    last value repeats).

    scores : ``standard``, ``words``, ``powers``, a list such as ``[1, 1, 2, 3, 5, 11]``, its text
        ``"1,1,2,3,5,11"``, or one with the least length before it, ``"5:2,3,5,11"``; a dictionary
        of one length after the other, ``{5: 2, 6: 3, 7: 5, 8: 11}``; a ScoreTable, or all of its
        points

    Raises ScoreError if the name is unknown, a value is not a whole number from 0 to 2**31 - 1, or
    a list begins with zeros as the tables of other programs do: theirs begin elsewhere.
    """
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, Mapping):
        return parse_scores(_listed(scores))
    text = ""
    if isinstance(scores, str):
        text = scores.strip().lower()
    if text in TABLES:
        return TABLES[text]
    if not isinstance(scores, Sequence):
        raise ScoreError(
            f"scores {quote(scores)}: expected {', '.join(TABLES)}, a list of points from 3 "
            "letters on such as [1, 1, 2, 3, 5, 11], or a dictionary such as {5: 2, 6: 3}"
        )
    # all 65 points: what run.json stores, which begins with lengths that never count
    if not text and len(scores) == MAX_LETTERS + 1 and not any(scores[:MIN_LETTERS]):
        return ScoreTable(points_in_words(tuple(map(int, scores))), tuple(map(int, scores)))
    least, colon, listed = text.rpartition(":")
    values = []
    for value in listed.split(",") if isinstance(scores, str) else scores:
        values.append(_parse_value(value, scores))
    if colon:
        known = [str(n) for n in range(MIN_LETTERS, MAX_LETTERS)]
        if least not in known:
            raise ScoreError(
                f"{quote(least)} in scores {quote(scores)}: expected a least length from "
                f"{known[0]} to {known[-1]}, such as 5:2,3,5,11"
            )
        values = [0] * known.index(least) + values
    # lists of other programs begin at one or two letters: read as ours, all points would shift
    elif any(values) and (values[:2] == [0, 0] or _is_shifted(values)):
        first = next(place for place, value in enumerate(values) if value)
        own = ",".join(map(str, values[first:]))
        raise ScoreError(
            f"score list {quote(scores)} begins with {counted(first, 'zero')}: expected points "
            f"from 3 letters on: write {own} if words of 3 letters count, or "
            f"{first + MIN_LETTERS}:{own} if only those of {first + MIN_LETTERS} or more do"
        )
    if not 1 <= len(values) <= MAX_LETTERS + 1 - MIN_LETTERS:
        raise ScoreError(
            f"score list {quote(scores)} has {len(values)} values: expected 1 to 62, "
            "from 3 letters on"
        )
    if not any(values):
        raise ScoreError(
            f"score list {quote(scores)} gives no points at all: expected at least "
            "one value above 0"
        )
    return _table(text if colon else ",".join(map(str, values)), values)


def _listed(scores: Mapping[int, int]) -> str:
    """Return a dictionary of points as the text that means the same."""
    lengths = sorted(n for n in scores if isinstance(n, int))
    without_gaps = []
    if lengths:
        without_gaps = list(range(lengths[0], lengths[-1] + 1))
    is_whole = len(lengths) == len(scores) and lengths == without_gaps
    if not lengths or not is_whole or lengths[0] < MIN_LETTERS:
        raise ScoreError(
            f"scores {quote(dict(scores))}: expected points of one number of letters after the "
            f"other, from {MIN_LETTERS} or more on, such as {{5: 2, 6: 3, 7: 5, 8: 11}}; those of "
            "the last also count for longer words, and a length that does not count has 0"
        )
    values = [_parse_value(scores[n], str(dict(scores))) for n in lengths]
    return f"{lengths[0]}:{','.join(map(str, values))}"


def _is_shifted(values: Sequence[int]) -> bool:
    """Return whether a list is that of the usual points from two letters on."""
    usual = TABLES["standard"]
    return values[0] == 0 and _table(usual.name, values[1:] or [0]) == usual


def _parse_value(value: object, scores: object) -> int:
    """Return points, given as a number or its text."""
    text = ""
    if isinstance(value, str):
        text = value.strip()
    points = value
    if text.isascii() and text.isdigit() and len(text) <= 10:
        points = int(text)
    # True is 1 in Python, and a table of flags is a mistake
    if isinstance(points, bool) or not isinstance(points, int) or not 0 <= points < SUM_LIMIT:
        raise ScoreError(
            f"{quote(value)} in scores {quote(scores)}: expected {', '.join(TABLES)} or whole "
            f"numbers from 0 to {SUM_LIMIT - 1}, points from 3 letters on, such as 1,1,2,3,5,11"
        )
    return points


def reaches(value: int, cutoff: int) -> bool:
    """Return whether ``value`` (a bound or an exact score, points) is at or above ``cutoff``.

    A state whose bound does not reach the cutoff is eliminated; a board whose score reaches it
    belongs to the result.  One rule in one place, so that no pruning step can differ from another
    by ``<`` and ``<=``; kernels call it as well.

    >>> reaches(430, 430), reaches(429, 430)
    (True, False)
    """
    return value >= cutoff


def check_overflow(points: Iterable[int], table: ScoreTable) -> None:
    """Refuse a table whose points, summed over the list, do not fit 31 bits.

    Soundness: the score of a board is a sum over distinct words of the list, so it then fits 32
    bits.

    points : of each word; give only those that fit on the board, longer ones can never score

    Raises ScoreError if the sum reaches 2**31.
    """
    total = sum(points)
    if total >= SUM_LIMIT:
        raise ScoreError(
            f"score table {quote(table.name)} gives {total} points over the word list: "
            f"expected less than {SUM_LIMIT} (31 bits); use smaller points or a shorter list"
        )
