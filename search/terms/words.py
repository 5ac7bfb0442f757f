"""The words of a run as rows of letters, for the terms by path shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import int64, types, uint8, uint64
from numpy.typing import NDArray

from boardclass.jit import frozen, read_only
from search.scoring.trie import letter_matrix
from search.terms.dominated import pairs_of
from search.terms.paths import MAX_CELLS


class Words(NamedTuple):
    """The words of a run: letters uint8[n, 16] (0..25), length, points code int64[n], equal pairs uint64[n]."""

    letters: NDArray[np.uint8]
    length: NDArray[np.int64]
    code: NDArray[np.int64]
    equal: NDArray[np.uint64]


WORDS_TYPE = types.NamedTuple([read_only(uint8, 2), read_only(int64), read_only(int64), read_only(uint64)], Words)


def word_arrays(words: Sequence[str], codes: Sequence[int]) -> Words:
    """Return the arrays of the words that fit on 16 cells; ``codes`` are their points codes."""
    kept = sorted((len(w), w, code) for w, code in zip(words, codes, strict=True) if len(w) <= MAX_CELLS)
    letters = np.zeros((len(kept), MAX_CELLS), np.uint8)
    lengths = np.array([n for n, _, _ in kept], np.int64)
    equal = np.zeros(len(kept), np.uint64)
    if kept:
        matrix = letter_matrix([word for _, word, _ in kept])
        letters[:, : matrix.shape[1]] = np.maximum(matrix, 0)
    for n in np.unique(lengths):
        begin, end = np.searchsorted(lengths, [n, n + 1])
        of_length = letters[begin:end]
        for bit, (i, j) in enumerate(pairs_of(int(n))):
            equal[begin:end] |= (of_length[:, i] == of_length[:, j]).astype(np.uint64) << np.uint64(bit)
    return Words(frozen(letters), frozen(lengths), frozen(np.array([c for _, _, c in kept], np.int64)), frozen(equal))
