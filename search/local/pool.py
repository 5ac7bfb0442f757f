"""The pool hill climb (the paper's listing 1 in outline; it gives ``--cutoff auto``).

Every round makes the neighbours of all boards of the pool that are new in it (one letter changed,
or two cells swapped), scores those never seen before, and keeps the best distinct canonical boards.
It ends when a round leaves the pool as it was.  The seed only picks the first pool.

>>> from orderly_boggle.search import Scorer, local_search
>>> local_search(Scorer("2x2", "scowl70"), "pool", runs=1, pool=20)[0][:2]
('aert', 14)
"""

from __future__ import annotations

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, Int64s, UInt8s
from orderly_boggle.search.local.batches import BatchScorer
from orderly_boggle.search.local.moves import (
    Search,
    all_moves,
    best_first,
    canonical_cells,
    found,
    pack,
)
from orderly_boggle.search.scoring.walks import moved

BATCH = 1 << 17  # neighbours that are made at once


def climb(s: Search) -> list[tuple[str, int, int]]:
    """Return the pool at the end: (canonical board, exact score, 1), best first."""
    pool = _Pool(s.scorer, s.size)
    pool.offer(s.first)
    n_rounds = 0
    n_part = max(1, BATCH // all_moves(pool.boards[:1], s.alphabet).shape[1])
    while len(fresh := pool.take_unexpanded()) and not s.stop():
        for part in range(0, len(fresh), n_part):
            if not s.stop():
                pool.expand(fresh[part : part + n_part], s.alphabet)
        n_rounds += 1
        s.tell(n_rounds, int(pool.scores[0]), pool.n_scored)
    return found(pool.boards, pool.scores)


class _Pool:
    """The best boards so far, best first, and a memory of every board scored."""

    def __init__(self, scorer: BatchScorer, size: int) -> None:
        self.scorer = scorer
        self.size = size
        self.n_scored = 0
        self.boards = np.zeros((0, scorer.geometry.n), np.uint8)
        self.scores = np.zeros(0, np.int32)
        self._expanded = np.zeros(0, bool)
        self._known = np.zeros(0, np.uint64)  # sorted keys of all boards scored

    def offer(self, boards: UInt8s) -> None:
        """Score those boards that are new, up to symmetry, and keep the best."""
        cells, _ = self._new(boards)
        self._keep(cells, self.scorer.scores(cells))

    def expand(self, boards: UInt8s, alphabet: UInt8s) -> None:
        """Score those neighbours of the boards that are new, up to symmetry, and keep the best."""
        moves = all_moves(boards, alphabet)
        k = moves.shape[1]
        moves = moves.reshape(-1, 2)
        cells, first = self._new(moved(np.repeat(boards, k, axis=0), moves))
        order = np.argsort(first)
        cells = cells[order]
        first = first[order]
        self._keep(cells, self.scorer.scores_after(boards, first // k, moves[first]))

    def _new(self, boards: UInt8s) -> tuple[UInt8s, Int64s]:
        """Return the canonical images of the boards that are new, and where they stand first."""
        cells = canonical_cells(boards, self.scorer.geometry)
        high, low = pack(cells)
        # exact up to 13 cells, a hash beyond: a collision costs one board
        keys, first = np.unique(high + low * np.uint64(0x9E3779B97F4A7C15), return_index=True)
        at = np.searchsorted(self._known, keys)
        new = np.ones(len(keys), bool)
        within = at < len(self._known)
        new[within] = self._known[at[within]] != keys[within]
        self._known = np.sort(np.concatenate((self._known, keys[new])))
        return cells[first[new]], first[new]

    def _keep(self, fresh: UInt8s, scores: Int32s) -> None:
        """Keep the best of the pool and some boards with their scores."""
        self.n_scored += len(fresh)
        scores = np.concatenate((self.scores, scores))
        merged = np.concatenate((self.boards, fresh))
        expanded = np.concatenate((self._expanded, np.zeros(len(fresh), bool)))
        keep = best_first(merged, scores, self.size)
        self.boards = merged[keep]
        self.scores = scores[keep]
        self._expanded = expanded[keep]

    def take_unexpanded(self) -> UInt8s:
        """Return the boards of the pool not handed out before; without any the pool cannot change
        any more.
        """
        fresh = self.boards[~self._expanded]
        self._expanded[:] = True
        return fresh
