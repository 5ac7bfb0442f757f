"""Local search, all methods behind one call: several runs, results merged, how often each board was found.

local_search -> climb (pool) | anneal | breed (genetic)      each: seed -> boards with exact scores; no proof
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from boardclass.board import LETTERS
from boardclass.errors import InputError, quote
from search.local.anneal import anneal
from search.local.climb import BatchScorer, Start, climb
from search.local.genetic import breed
from search.local.parallel import StoppableScorer, Stopped

# Runs unless asked otherwise: several small pools beat one large one, which soon holds a single family of boards.
# 4x4 with ENABLE2K: of 50 pools of 100 boards, 37 reach 3625, each in about 12 s of CPU; of the five pools of each seed
# 0 to 9, at least two do. A pool of 500 takes 55 s; two of four seeds reach it.
DEFAULT_RUNS = {"pool": 5, "anneal": 1, "genetic": 1}
METHODS = tuple(DEFAULT_RUNS)
_SEARCHES: dict[str, Callable[..., Any]] = {"pool": climb, "anneal": anneal, "genetic": breed}

RunProgress = Callable[[int, int, int, int], None]
"""Called with the number of the run (from 0), its round, the best score so far and the boards scored in the run."""


class Find(NamedTuple):
    """A canonical board, its exact score, and how often it was found.

    For annealing that is the number of chains that ended there (1 for what only the pool after them found), for the
    other methods the number of runs.
    """

    board: str
    score: int
    n_found: int


def local_search(
    scorer: BatchScorer,
    method: str = "pool",
    *,
    seed: int = 0,
    runs: int | None = None,
    pool: int = 500,
    letters: str = LETTERS,
    start: Start | None = None,
    progress: RunProgress | None = None,
    stop: Callable[[], bool] | None = None,
) -> list[Find]:
    """Return what ``runs`` searches found, best first; run k has the seed ``seed * runs + k``.

    The runs are separate searches that divide the ``pool`` among them, so more runs cost no more.

    scorer : of the board size and word list
    method : one of :data:`METHODS`
    seed : of all random choices
    runs : number of searches; default: what :data:`DEFAULT_RUNS` says, or 1 for a pool from a given board, which leaves
        nothing to chance
    pool : boards kept, chains, or population of all runs together
    letters : letters that boards may use
    start : a board to start from, or a function that makes the first boards; default: random boards
    progress : called now and then
    stop : asked before each batch of boards; when it says True, the search ends, and the best boards that the run under
        way has seen count as found once

    Raises InputError if the method is unknown, a number is out of range, or ``start`` uses other letters.

    Examples
    --------
    >>> from boardclass import load_wordlist, parse_scores
    >>> from search import Scorer
    >>> scorer = Scorer("2x2", load_wordlist("scowl70").words, parse_scores("standard"))
    >>> local_search(scorer, pool=50)[0]
    Find(board='aert', score=14, n_found=5)
    """
    if method not in METHODS:
        raise InputError(f"unknown method {quote(method)}: expected one of {', '.join(METHODS)}")
    runs = default_runs(method, start) if runs is None else runs
    if not 1 <= runs <= pool:
        raise InputError(f"{runs} runs with a pool of {pool}: expected at least 1 run and a board for each")
    score_of: dict[str, int] = {}
    times: Counter[str] = Counter()
    for run in range(runs):
        best = max(score_of.values(), default=0)
        seen = StoppableScorer(scorer, stop, pool // runs) if stop else None
        try:
            found = _SEARCHES[method](
                seen or scorer,
                seed=seed * runs + run,
                pool=pool // runs,
                letters=letters,
                start=start,
                progress=_told(progress, run, best),
            )
        except Stopped:
            assert seen is not None, "only ``stop`` stops a run"
            found = seen.best()
        for board, score, *n in found:
            score_of[board] = score
            times[board] += sum(n) or 1
        if stop and stop():
            break
    finds = [Find(board, score, times[board]) for board, score in score_of.items()]
    return sorted(finds, key=lambda find: (-find.score, find.board))


def default_runs(method: str, start: Start | None) -> int:
    """Return how many searches a method makes by default: pools that begin with the same board would all be equal."""
    return 1 if isinstance(start, str) else DEFAULT_RUNS[method]


def _told(progress: RunProgress | None, run: int, best: int) -> Callable[[int, int, int], None]:
    def tell(number: int, score: int, n_scored: int) -> None:
        if progress is not None:
            progress(run, number, max(best, score), n_scored)

    return tell
