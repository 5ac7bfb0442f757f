"""Simulated annealing, many chains at once.

Each step changes one letter or swaps two cells of every chain's board.  A worse board is accepted
with probability exp(difference / temperature); the temperature is a share of the best score found
so far, divided by the cells of the board, and falls geometrically.  At the end the best boards
climb to their local optima: a pool begins with them.

>>> from orderly_boggle.search import Scorer, local_search
>>> local_search(Scorer("2x2", "scowl70"), "anneal", pool=20, steps_per_cell=50)[0][:2]
('aert', 14)
"""

from __future__ import annotations

import numpy as np

from orderly_boggle.search.local.moves import Search, canonical_cells, found, random_moves
from orderly_boggle.search.local.pool import climb
from orderly_boggle.search.scoring.scorer import decode_boards

# temperature at the first and at the last step, as a share of the best score divided by the cells:
# above, the best boards of 5x5 melt; below, chains stay with the first good boards that they meet
# (docs/notes/measurements.md)
HOT = 0.28
COLD = 0.25
_POOL = 100  # at the end
# moves of a chain between two looks at its temperature, and reports of a search at least
MOST_AT_ONCE = 500
_REPORTS = 100
# boards scored between two looks at whether to stop: a second or two, however many chains there are
_BETWEEN_STOPS = 1 << 15


def anneal(s: Search) -> list[tuple[str, int, int]]:
    """Return (canonical board, exact score, number of chains that ended there, at least 1), best
    first.
    """
    n = s.scorer.geometry.n
    steps = s.steps_per_cell * n
    boards = np.resize(s.first, (s.size, n))
    best = boards.copy()
    best_scores = s.scorer.scores(boards)
    at_once = min(MOST_AT_ONCE, max(1, steps // _REPORTS))
    n_between = max(1, _BETWEEN_STOPS // s.size)
    for step in range(0, steps, at_once):
        if s.stop():
            break
        k = min(at_once, steps - step)
        heat = HOT * (COLD / HOT) ** (step / steps) * max(1.0, float(best_scores.max())) / n
        moves = random_moves(s.rng, s.size, s.scorer.geometry, s.alphabet, k)
        slacks = s.rng.exponential(heat, (s.size, k)).astype(np.int32)
        # in parts that end where the whole would
        for at in range(0, k, n_between):
            if s.stop():
                break
            part = slice(at, at + n_between)
            walked = s.scorer.walk(boards, moves[:, part], slacks[:, part])
            boards = walked.boards
            better = walked.best_scores > best_scores
            best[better] = walked.best[better]
            best_scores[better] = walked.best_scores[better]
            n_done = step + min(at + n_between, k)
            s.tell(n_done, int(best_scores.max()), (n_done + 1) * s.size)
    distinct, first, n_chains = np.unique(
        canonical_cells(best, s.scorer.geometry), axis=0, return_index=True, return_counts=True
    )
    order = np.argsort(-best_scores[first].astype(np.int64), kind="stable")
    distinct = distinct[order]
    n_chains = n_chains[order]

    def tell(number: int, score: int, n_scored: int) -> None:
        s.tell(steps + number, score, (steps + 1) * s.size + n_scored)

    n_ended = dict(zip(decode_boards(distinct), n_chains.tolist(), strict=True))
    pool = distinct[:_POOL]
    listed = found(distinct, s.scorer.scores(distinct)) + climb(
        s._replace(first=pool, size=len(pool), tell=tell)
    )
    scored = sorted({(-score, board) for board, score, _ in listed})
    return [(board, -score, n_ended.get(board, 1)) for score, board in scored]
