"""Scorers around the scorer: several threads for one batch, boards that must hold a word."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from boardclass.errors import InputError, quote
from boardclass.scores import MIN_LETTERS, parse_scores
from search.local.boards import BatchScorer
from search.scoring.scorer import Scorer

_WORTH_SPLITTING = 256


class ParallelScorer:
    """Scores a batch in several threads; the same scores in the same order as one scorer gives.

    The kernels release the GIL, so threads suffice.
    """

    def __init__(self, scorer: Scorer, n_threads: int) -> None:
        if n_threads < 1:
            raise InputError(f"{n_threads} workers: expected at least 1")
        self.geometry = scorer.geometry
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
        self._scorer, self.geometry = scorer, scorer.geometry
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
