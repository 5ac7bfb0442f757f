"""Simulated annealing, many chains at once.

Each step changes one letter or swaps two cells of every chain's board.  A worse board is accepted
with probability exp(difference / temperature); the temperature is a share of the mean score and
falls geometrically.  At the end the best boards climb to their local optima: a pool begins with
them.

>>> from search import Scorer, local_search
>>> local_search(Scorer("2x2", "scowl70"), "anneal", pool=20, steps_per_cell=50)[0][:2]
('aert', 14)
"""

from __future__ import annotations

import numpy as np

from search.local.moves import Search, canonical_cells, found, propose
from search.local.pool import climb
from search.scoring.scorer import decode_boards

# temperature at the first and at the last step, as a share of the mean score
HOT, COLD = 0.05, 0.001
_POOL = 100  # at the end
_REPORTS = 100


def anneal(s: Search) -> list[tuple[str, int, int]]:
    """Return (canonical board, exact score, number of chains that ended there, at least 1), best
    first.
    """
    steps = s.steps_per_cell * s.scorer.geometry.n
    boards = np.resize(s.first, (s.size, s.scorer.geometry.n))
    scores = s.scorer.scores(boards)
    best, best_scores = boards.copy(), scores.copy()
    for step in range(steps):
        if s.stop():
            break
        heat = HOT * (COLD / HOT) ** (step / steps) * max(1.0, float(scores.mean()))
        tried = propose(s.rng, boards, s.alphabet)
        values = s.scorer.scores(tried)
        taken = s.rng.random(s.size) < np.exp(
            np.minimum(0.0, (values - scores.astype(np.float64)) / heat)
        )
        boards[taken], scores[taken] = tried[taken], values[taken]
        better = scores > best_scores
        best[better], best_scores[better] = boards[better], scores[better]
        if (step + 1) % max(1, steps // _REPORTS) == 0:
            s.tell(step + 1, int(best_scores.max()), (step + 2) * s.size)
    distinct, first, n_chains = np.unique(
        canonical_cells(best, s.scorer.geometry), axis=0, return_index=True, return_counts=True
    )
    order = np.argsort(-best_scores[first].astype(np.int64), kind="stable")
    distinct, n_chains = distinct[order], n_chains[order]

    def tell(number: int, score: int, n_scored: int) -> None:
        s.tell(steps + number, score, (steps + 1) * s.size + n_scored)

    n_ended = dict(zip(decode_boards(distinct), n_chains.tolist(), strict=True))
    pool = distinct[:_POOL]
    listed = found(distinct, s.scorer.scores(distinct)) + climb(
        s._replace(first=pool, size=len(pool), tell=tell)
    )
    scored = sorted({(-score, board) for board, score, _ in listed})
    return [(board, -score, n_ended.get(board, 1)) for score, board in scored]
