"""Boards as arrays uint8[m, n], 0..25 a cell: alphabets, first boards, neighbours, canonical images, local optima.

Scorers of such batches: in several threads, and of boards that must hold a word.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from boardclass.board import LETTERS
from boardclass.errors import BoardError, InputError, quote
from boardclass.geometry import Geometry
from boardclass.scores import MIN_LETTERS, parse_scores
from search.scoring.scorer import Scorer, encode_boards

Start = str | Callable[[np.random.Generator, int, NDArray[np.uint8]], NDArray[np.uint8]]
"""A board, or a function that makes the first boards uint8[m, n] from a random generator, m and the alphabet."""


_WORTH_SPLITTING = 256


class ParallelScorer:
    """Scores a batch in several threads; the same scores in the same order as one scorer gives.

    The kernels release the GIL, so threads suffice.
    """

    def __init__(self, scorer: Scorer, n_threads: int) -> None:
        if n_threads < 1:
            raise InputError(f"{n_threads} workers: expected at least 1")
        self.geometry: Geometry = scorer.geometry
        self._scorers = [scorer, *(scorer.twin() for _ in range(n_threads - 1))]
        self._threads = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def scores(self, boards: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return int32[m], the exact scores of the boards in uint8[m, n]."""
        if self._threads is None or len(boards) < _WORTH_SPLITTING:
            return self._scorers[0].scores(boards)
        parts = np.array_split(boards, len(self._scorers))
        jobs = [self._threads.submit(scorer.scores, part) for scorer, part in zip(self._scorers, parts, strict=True)]
        return np.concatenate([job.result() for job in jobs])


class HoldingScorer:
    """Scores boards that hold a given word in q-form, which need not be in the list; every other board is worth 0."""

    def __init__(self, scorer: BatchScorer, word: str) -> None:
        n = scorer.geometry.n
        if not (word.isascii() and word.isalpha() and word.islower() and MIN_LETTERS <= len(word) <= n):
            raise InputError(f"word {quote(word)}: expected {MIN_LETTERS} to {n} letters a-z, as many as cells at most")
        self._scorer = scorer
        self.geometry: Geometry = scorer.geometry
        self._word = np.frombuffer(word.encode("ascii"), np.uint8) - np.uint8(ord("a"))
        self._finder = Scorer(scorer.geometry.dims, [word], parse_scores("words"))

    def scores(self, boards: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return int32[m]: the exact score of each board with the word, 0 of each without."""
        out = np.zeros(len(boards), np.int32)
        holding = np.flatnonzero(self._finder.scores(boards))
        out[holding] = self._scorer.scores(boards[holding])
        return out

    def first(self, rng: np.random.Generator, m: int, alphabet: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return uint8[m, n] random boards, each with the word on a random path: where a search may start."""
        missing = sorted(set(self._word.tolist()) - set(alphabet.tolist()))
        if missing:
            raise InputError(f"the word needs the letter {chr(97 + missing[0])!r}, which is excluded")
        boards = alphabet[rng.integers(0, len(alphabet), (m, self.geometry.n))]
        for board in boards:
            board[self._path(rng)] = self._word
        return boards

    def _path(self, rng: np.random.Generator) -> list[int]:
        """Return a random path of as many cells as the word has, drawn again until it does not run into a corner."""
        while True:
            path = [int(rng.integers(self.geometry.n))]
            while len(path) < len(self._word):
                near = [cell for cell in self.geometry.neighbours[path[-1]] if cell not in path]
                if not near:
                    break
                path.append(near[rng.integers(len(near))])
            else:
                return path


BatchScorer = Scorer | ParallelScorer | HoldingScorer


def parse_alphabet(letters: str) -> NDArray[np.uint8]:
    """Return uint8[k], 0..25 ascending, of the letters that boards may use."""
    if not letters or not set(letters) <= set(LETTERS):
        raise InputError(f"letters {quote(letters)}: expected one or more of a-z")
    return np.array(sorted({ord(letter) - 97 for letter in letters}), np.uint8)


def first_boards(
    rng: np.random.Generator, m: int, n: int, alphabet: NDArray[np.uint8], start: Start | None
) -> NDArray[np.uint8]:
    """Return uint8[m, n] random boards, those that ``start`` makes, or uint8[1, n] with the board ``start``."""
    if start is None:
        return alphabet[rng.integers(0, len(alphabet), (m, n))]
    if not isinstance(start, str):
        return start(rng, m, alphabet)
    board = encode_boards([start], n)
    excluded = sorted(set(board[0].tolist()) - set(alphabet.tolist()))
    if excluded:
        raise BoardError(f"board {quote(start)} has the letter {chr(97 + excluded[0])!r}, which is excluded")
    return board


def neighbours(boards: NDArray[np.uint8], letters: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return uint8[m * k, n]: each board's k neighbours, by one changed letter, then by a swap of two cells.

    A board has (a - 1) n changes with the a ``letters`` of the alphabet, and must use these only.
    """
    n, size = boards.shape[1], len(letters)
    changed = np.repeat(boards[:, None], n * (size - 1), axis=1)
    step = np.tile(np.arange(1, size), n)
    cell = np.repeat(np.arange(n), size - 1)
    at = np.arange(len(cell))
    changed[:, at, cell] = letters[(np.searchsorted(letters, changed[:, at, cell]) + step) % size]
    left, right = np.triu_indices(n, 1)
    swapped = np.repeat(boards[:, None], len(left), axis=1)
    at = np.arange(len(left))
    swapped[:, at, left], swapped[:, at, right] = boards[:, right], boards[:, left]
    return np.concatenate((changed, swapped), axis=1).reshape(-1, n)


def canonical_cells(boards: NDArray[np.uint8], geometry: Geometry) -> NDArray[np.uint8]:
    """Return the canonical images of the boards in uint8[m, n]: row for row what ``canonical_board`` gives."""
    high, low = pack(boards)
    best = boards.copy()
    for row in geometry.symmetries[1:]:
        image = boards[:, row]
        image_high, image_low = pack(image)
        smaller = (image_high < high) | ((image_high == high) & (image_low < low))
        best[smaller] = image[smaller]
        high, low = np.where(smaller, image_high, high), np.where(smaller, image_low, low)
    return best


def pack(boards: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return two uint64[m] that compare as the boards do, cell 0 first: 13 cells of 26 values, then the rest."""
    parts = []
    for cells in (boards[:, :13], boards[:, 13:]):
        value = np.zeros(len(boards), np.uint64)
        for column in cells.T:
            value = value * np.uint64(26) + column
        parts.append(value)
    return parts[0], parts[1]


def best_first(boards: NDArray[np.uint8], scores: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """Return the places of the ``n`` best boards, best first; ties go to the smaller board."""
    high, low = pack(boards)
    return np.lexsort((low, high, -scores.astype(np.int64)))[:n]


def ascend(scorer: BatchScorer, boards: NDArray[np.uint8], alphabet: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the local optimum of each board in uint8[m, n], reached by steps to the best neighbour."""
    best = boards.copy()
    scores = scorer.scores(best)
    moving = np.arange(len(best))
    while len(moving):
        around = neighbours(best[moving], alphabet)
        values = scorer.scores(around).reshape(len(moving), -1)
        step = values.argmax(axis=1)
        at = np.arange(len(moving))
        better = values[at, step] > scores[moving]
        chosen = around.reshape(len(moving), -1, best.shape[1])[at, step]
        best[moving[better]], scores[moving[better]] = chosen[better], values[at, step][better]
        moving = moving[better]
    return best
