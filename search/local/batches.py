"""Scorers of many boards at once: in threads, and of boards that must hold a word.

>>> from orderly_boggle.search.scoring.scorer import encode_boards
>>> scorer = HoldingScorer(ParallelScorer(Scorer("3x3", "scowl70"), 2), "treadles")
>>> scorer.scores(encode_boards(["berlatdes", "eeeeeeeee"], 9)).tolist()
[430, 0]
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, Int64s, UInt8s
from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.geometry import Geometry
from orderly_boggle.boardclass.scores import MIN_LETTERS
from orderly_boggle.search.scoring import walks
from orderly_boggle.search.scoring.scorer import Scorer
from orderly_boggle.search.scoring.walks import Walked

_WORTH_SPLITTING = 256  # boards


class ParallelScorer:
    """Scores a batch in several threads (0: one for each core), as one scorer would; the kernels
    release the GIL, so threads suffice.  Other threads may share it, as they may share a scorer.
    """

    def __init__(self, scorer: Scorer, n_threads: int = 0) -> None:
        n_threads = n_threads or os.cpu_count() or 1
        if n_threads < 1:
            raise InputError(f"{n_threads} threads: expected 0 or more")
        self.geometry: Geometry = scorer.geometry
        self._scorer = scorer
        self._n_threads = n_threads
        self._threads = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def scores(self, boards: UInt8s) -> Int32s:
        """Return int32[m], the exact scores of the boards in uint8[m, n]."""
        if self._threads is None or len(boards) < _WORTH_SPLITTING:
            return self._scorer.scores(boards)
        parts = np.array_split(boards, self._n_threads)
        return np.concatenate(list(self._threads.map(self._scorer.scores, parts)))

    def scores_after(self, boards: UInt8s, of: Int64s, moves: UInt8s) -> Int32s:
        """Return what :meth:`Scorer.scores_after` gives."""
        n_parts = min(self._n_threads, len(boards))
        if self._threads is None or n_parts < 2:
            return self._scorer.scores_after(boards, of, moves)
        ends = np.searchsorted(of, np.linspace(0, len(boards), n_parts + 1).astype(np.int64))
        cuts = ends[1:-1]
        parts = zip(np.split(of, cuts), np.split(moves, cuts), strict=True)
        scored = self._threads.map(lambda part: self._scorer.scores_after(boards, *part), parts)
        return np.concatenate(list(scored))

    def walk(self, boards: UInt8s, moves: UInt8s, slacks: Int32s) -> Walked:
        """Return what :meth:`Scorer.walk` gives."""
        n_parts = min(self._n_threads, len(boards))
        if self._threads is None or n_parts < 2:
            return self._scorer.walk(boards, moves, slacks)
        parts = [np.array_split(array, n_parts) for array in (boards, moves, slacks)]
        walked = self._threads.map(self._scorer.walk, *parts)
        return Walked(*map(np.concatenate, zip(*walked, strict=True)))


class HoldingScorer:
    """Scores boards that hold a given word in q-form, which need not be in the list; every other
    board is worth 0.
    """

    def __init__(self, scorer: BatchScorer, word: str) -> None:
        n = scorer.geometry.n
        if not (
            word.isascii() and word.isalpha() and word.islower() and MIN_LETTERS <= len(word) <= n
        ):
            raise InputError(
                f"word {quote(word)}: expected {MIN_LETTERS} to {n} letters a-z, as "
                "many as cells at most"
            )
        self._scorer = scorer
        self.geometry: Geometry = scorer.geometry
        self._word = np.frombuffer(word.encode("ascii"), np.uint8) - np.uint8(ord("a"))
        self._finder = Scorer(scorer.geometry.dims, [word], "words")

    def scores(self, boards: UInt8s) -> Int32s:
        """Return int32[m]: the exact score of each board with the word, 0 of each without."""
        out = np.zeros(len(boards), np.int32)
        holding = np.flatnonzero(self._finder.scores(boards))
        out[holding] = self._scorer.scores(boards[holding])
        return out

    def scores_after(self, boards: UInt8s, of: Int64s, moves: UInt8s) -> Int32s:
        """Return scores of moved boards, see
        :func:`orderly_boggle.search.scoring.walks.scores_after`.
        """
        return walks.scores_after(self, boards, of, moves)

    def walk(self, boards: UInt8s, moves: UInt8s, slacks: Int32s) -> Walked:
        """Return where walks end, see :func:`orderly_boggle.search.scoring.walks.walk`."""
        return walks.walk(self, boards, moves, slacks)

    def first(self, rng: np.random.Generator, m: int, alphabet: UInt8s) -> UInt8s:
        """Return uint8[m, n] random boards, each with the word on a random path: where a search may
        start.
        """
        missing = np.setdiff1d(self._word, alphabet)
        if missing.size:
            raise InputError(
                f"the word needs the letter {chr(97 + missing[0])!r}, which is excluded"
            )
        boards = alphabet[rng.integers(0, len(alphabet), (m, self.geometry.n))]
        for board in boards:
            board[self._path(rng)] = self._word
        return boards

    def _path(self, rng: np.random.Generator) -> list[int]:
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
