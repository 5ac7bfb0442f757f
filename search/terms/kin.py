"""Kin: words that differ only in the letter on a fused cell.  A board has one letter there, so it
has one of them at most, and the bound counts one instead of all.

Let a cell be fused to the letters of a bucket.  Words are *kin* there if they have the same points
and differ at one place, where each has a letter of the cell, and its only letter of the bucket.  On
a path with that place on that cell they all have the same literals.  So:

    one speaks     of kin, only the first word gives a term of such a path; the others are *silent*
    none moves     that term stands for all of them: the place is *tied* to the cell.  The term
                   takes no other term of its word away by a move of that place to the cell, and no
                   move from the cell takes it away (search.terms.paths)

The second rule is for all words of a *house*, those that become equal when every letter that is a
word's only one of its bucket is left open, if they have the same points: kin may lead from cell to
cell.  Why the bound stays a bound is lemma 1 of docs/trust.md.

>>> from orderly_boggle.search.scoring.trie import build_trie
>>> from orderly_boggle.search.terms.path_table import word_arrays
>>> words = word_arrays(build_trie({"cat": 1, "dad": 1, "dat": 1, "mat": 1}, 16), n_cells=16)
>>> c, d, m = 1 << 2, 1 << 3, 1 << 12
>>> Kin(words, [c | d]).on(c | d).tolist()  # cat speaks, dat is silent, dad has two letters
[0, -1, 16, -1]
>>> Kin(words, [c | d | m]).on(d | m).tolist()
[-1, -1, 0, 16]
"""

from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from operator import or_

import numpy as np

from orderly_boggle.boardclass.arrays import Int8s, Int64s
from orderly_boggle.search.terms.path_table import Words
from orderly_boggle.search.terms.paths import MAX_LENGTH

NOT_TIED = -1
PLACE = 15  # bits of an element of Kin.on: the place of the letter
SILENT = 16  # another bit: a word before it speaks for it
_ANY = 26  # the first of the numbers that stand for a letter that does not matter


class Kin:
    """Finds the kin among some words; ``buckets`` are the letters (masks) that cells are fused to.
    Words of which only a part is known have none.

    Buckets that share letters count as one.
    """

    def __init__(self, words: Words, buckets: Iterable[int]) -> None:
        rows = np.column_stack([words.letters, words.length, words.code])
        self._rows = rows.astype(np.uint8)
        self._n_whole = words.n_whole
        self._buckets = _disjoint(buckets)
        self._known: dict[int, Int8s] = {}

    def on(self, letters: int) -> Int8s:
        """Return int8[n_words] for a cell with several letters (a mask): NOT_TIED, or the place
        that is tied to the cell, with SILENT if another word speaks.

        Nothing is tied if the letters are not those of one bucket.
        """
        if letters not in self._known:
            self._known[letters] = self._on(letters)
        return self._known[letters]

    def _on(self, letters: int) -> Int8s:
        kin = np.full(len(self._rows), NOT_TIED, np.int8)
        for bucket, places in zip(self._buckets, self._only, strict=True):
            if letters & ~bucket:
                continue
            words = np.flatnonzero(places >= 0)
            letter = self._rows[words, places[words]].astype(np.int64)
            words = words[(letters >> letter & 1).astype(bool)]
            letter = self._rows[words, places[words]]
            house = self._house[words]
            least = np.full(len(kin), _ANY)
            most = np.zeros(len(kin), np.int64)
            np.minimum.at(least, house, letter)
            np.maximum.at(most, house, letter)
            stays = words[(least < most)[house]]
            kin[stays] = places[stays]
            _, first = np.unique(self._alike([places])[words], return_index=True)
            kin[np.delete(words, first)] |= SILENT
        return kin

    @cached_property
    def _only(self) -> list[Int64s]:
        """For each bucket int64[n_words]: the place of the only letter that a word has of it, or
        -1.
        """
        letters = self._rows[:, :MAX_LENGTH].astype(np.int64)
        is_letter = np.arange(MAX_LENGTH) < self._rows[:, MAX_LENGTH, None]
        found = []
        for bucket in self._buckets:
            is_of_it = (bucket >> letters & 1).astype(bool) & is_letter
            is_of_it[self._n_whole :] = False  # words cut alike may lie on one board together
            found.append(np.where(is_of_it.sum(1) == 1, is_of_it.argmax(1), -1))
        return found

    @cached_property
    def _house(self) -> Int64s:
        return self._alike(self._only)

    def _alike(self, places: Sequence[Int64s]) -> Int64s:
        """Return int64[n_words], equal for words of the same points that differ at these places
        only.
        """
        rows = self._rows.copy()
        for k, of_words in enumerate(places):
            words = np.flatnonzero(of_words >= 0)
            rows[words, of_words[words]] = _ANY + k
        return np.unique(rows, axis=0, return_inverse=True)[1]


def _disjoint(buckets: Iterable[int]) -> list[int]:
    """Return the buckets of several letters; those that share letters are joined."""
    found: list[int] = []
    for bucket in buckets:
        meeting = [other for other in found if other & bucket]
        found = [other for other in found if not other & bucket]
        found.append(reduce(or_, meeting, bucket))
    return [bucket for bucket in found if bucket.bit_count() > 1]
