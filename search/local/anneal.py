"""Simulated annealing: many chains at once, each a random walk that gets choosier.

Each step changes one letter or swaps two cells of every chain's board and scores all of them in one batch.  A worse
board is accepted with probability exp(difference / temperature); the temperature is a share of the mean score, so that
it suits every board size and score table, and falls geometrically.  At the end the best boards of the chains climb to
their local optima, and a pool (climb.py) begins with those.  The best board of all is often one that only the pool
finds.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from boardclass.board import LETTERS
from boardclass.errors import InputError
from search.local.climb import (
    BatchScorer,
    Progress,
    Start,
    ascend,
    canonical_cells,
    climb,
    first_boards,
    parse_alphabet,
)
from search.scoring.scorer import decode_boards

HOT, COLD = 0.05, 0.001  # temperature at the first and at the last step, as a share of the mean score
SWAPS = 0.3
STEPS_PER_CELL = 400
_ASCENTS = 50
_POOL = 100
_REPORTS = 100


def anneal(
    scorer: BatchScorer,
    *,
    seed: int = 0,
    pool: int = 500,
    letters: str = LETTERS,
    start: Start | None = None,
    progress: Progress | None = None,
) -> list[tuple[str, int, int]]:
    """Return (canonical board, exact score, number of chains that ended there, at least 1), best first.

    ``pool`` is the number of chains; the options are those of :func:`search.local.methods.local_search`.
    """
    if pool < 1 or seed < 0:
        raise InputError(f"annealing with {pool} chains, seed {seed}: expected at least one, and no negative seed")
    steps = STEPS_PER_CELL * scorer.geometry.n
    rng = np.random.default_rng(seed)
    alphabet = parse_alphabet(letters)
    boards = np.resize(first_boards(rng, pool, scorer.geometry.n, alphabet, start), (pool, scorer.geometry.n))
    scores = scorer.scores(boards)
    best, best_scores = boards.copy(), scores.copy()
    for step in range(steps):
        heat = HOT * (COLD / HOT) ** (step / steps) * max(1.0, float(scores.mean()))
        tried = propose(rng, boards, alphabet)
        values = scorer.scores(tried)
        taken = rng.random(pool) < np.exp(np.minimum(0.0, (values - scores.astype(np.float64)) / heat))
        boards[taken], scores[taken] = tried[taken], values[taken]
        better = scores > best_scores
        best[better], best_scores[better] = boards[better], scores[better]
        if progress and (step + 1) % max(1, steps // _REPORTS) == 0:
            progress(step + 1, int(best_scores.max()), (step + 2) * pool)

    def told(number: int, score: int, n_scored: int) -> None:
        if progress:
            progress(steps + number, score, (steps + 1) * pool + n_scored)

    return _finish(scorer, best, best_scores, letters, told)


def propose(rng: np.random.Generator, boards: NDArray[np.uint8], alphabet: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return one random neighbour of each board in uint8[m, n]; now and then it is the board itself."""
    m, n = boards.shape
    tried = boards.copy()
    row = np.arange(m)
    left, right = rng.integers(0, n, (m,)), rng.integers(0, n, (m,))
    swap = rng.random(m) < SWAPS
    tried[row, left] = np.where(swap, boards[row, right], alphabet[rng.integers(0, len(alphabet), m)])
    tried[row[swap], right[swap]] = boards[row[swap], left[swap]]
    return tried


def _finish(
    scorer: BatchScorer, boards: NDArray[np.uint8], scores: NDArray[np.int32], letters: str, progress: Progress
) -> list[tuple[str, int, int]]:
    """Count the chains by canonical board, let the best boards climb, and let a pool go on from there."""
    cells = canonical_cells(boards, scorer.geometry)
    distinct, first, which = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    n_chains = np.asarray(np.bincount(which.ravel()))
    order = np.argsort(-scores[first].astype(np.int64), kind="stable")
    distinct, n_chains = distinct[order], n_chains[order]
    top = ascend(scorer, distinct[:_ASCENTS], parse_alphabet(letters))
    distinct[:_ASCENTS] = canonical_cells(top, scorer.geometry)
    found: Counter[str] = Counter()
    for board, n in zip(decode_boards(distinct), n_chains.tolist(), strict=True):
        found[board] += n
    score_of = dict(zip(decode_boards(distinct), scorer.scores(distinct).tolist(), strict=True))
    pool = distinct[:_POOL]
    score_of |= climb(scorer, pool=len(pool), letters=letters, start=lambda *_: pool, progress=progress)
    listed = [(board, score, max(1, found[board])) for board, score in score_of.items()]
    return sorted(listed, key=lambda item: (-item[1], item[0]))
