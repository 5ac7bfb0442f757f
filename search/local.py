"""Local search, all methods behind one call: several runs, results merged, how often each board was found.

local_search -> climb (pool) | anneal | breed (genetic)      each: seed -> boards with exact scores; no proof
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from boardclass.board import LETTERS
from boardclass.errors import InputError, quote
from search.anneal import anneal
from search.climb import BatchScorer, climb
from search.genetic import breed

# Runs unless asked otherwise.  A single pool climb may end below the best 4x4 board: with ENABLE2K the seeds 0 and 1
# reach 3625, 2 and 3 stop at 3591.
DEFAULT_RUNS = {"pool": 3, "anneal": 1, "genetic": 1}
METHODS = tuple(DEFAULT_RUNS)

RunProgress = Callable[[int, int, int, int], None]
"""Called with the number of the run (from 0), its round, the best score so far and the boards scored in the run."""


class Find(NamedTuple):
    """A canonical board, its exact score, and how often it was found.

    For annealing that is the number of chains that ended there, for the other methods the number of runs.
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
    start: str | None = None,
    progress: RunProgress | None = None,
) -> list[Find]:
    """Return what ``runs`` searches found, best first; run k has the seed ``seed * runs + k``.

    Parameters
    ----------
    scorer : of the board size and word list
    method : one of :data:`METHODS`
    seed : of everything random
    runs : how many searches, by default as many as :data:`DEFAULT_RUNS` says
    pool : boards kept, chains, or population
    letters : letters that boards may use
    start : a board to start from, instead of random ones
    progress : called now and then

    Raises
    ------
    InputError
        If the method is unknown, a number is out of range, or ``start`` uses other letters.
    """
    if method not in METHODS:
        raise InputError(f"unknown method {quote(method)}: expected one of {', '.join(METHODS)}")
    runs = DEFAULT_RUNS[method] if runs is None else runs
    if runs < 1:
        raise InputError(f"{runs} runs: expected at least 1")
    score_of: dict[str, int] = {}
    times: Counter[str] = Counter()
    for run in range(runs):
        best = max(score_of.values(), default=0)
        for board, score, n in _search(
            scorer, method, seed * runs + run, pool, letters, start, _told(progress, run, best)
        ):
            score_of[board] = score
            times[board] += n
    finds = [Find(board, score, times[board]) for board, score in score_of.items()]
    return sorted(finds, key=lambda find: (-find.score, find.board))


def _told(progress: RunProgress | None, run: int, best: int) -> Callable[[int, int, int], None]:
    def tell(number: int, score: int, n_scored: int) -> None:
        if progress is not None:
            progress(run, number, max(best, score), n_scored)

    return tell


def _search(
    scorer: BatchScorer,
    method: str,
    seed: int,
    pool: int,
    letters: str,
    start: str | None,
    progress: Callable[[int, int, int], None],
) -> list[tuple[str, int, int]]:
    if method == "anneal":
        return anneal(scorer, seed=seed, chains=pool, letters=letters, start=start, progress=progress)
    if method == "genetic":
        bred = breed(scorer, seed=seed, population=pool, letters=letters, start=start, progress=progress)
        return [(board, score, 1) for board, score in bred]
    pooled = climb(scorer, seed=seed, pool=pool, letters=letters, start=start, progress=progress)
    return [(board, score, 1) for board, score in pooled]
