"""Local search, all methods behind one call: several runs, results merged, how often each board was
found.

local_search -> climb | anneal | breed      each: Search -> boards with exact scores; no proof
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import UInt8s
from orderly_boggle.boardclass.board import LETTERS
from orderly_boggle.boardclass.errors import BoardError, InputError, quote
from orderly_boggle.boardclass.notebook import bar
from orderly_boggle.search.local.annealing import anneal
from orderly_boggle.search.local.batches import BatchScorer
from orderly_boggle.search.local.genetic import breed
from orderly_boggle.search.local.moves import Search, parse_alphabet
from orderly_boggle.search.local.pool import climb
from orderly_boggle.search.scoring.scorer import encode_boards

STEPS_PER_CELL = 6000


class Climbing(NamedTuple):
    """How far a local search is."""

    done: float  # share of the runs that are over, 0 to 1
    run: int  # number of the run, from 0
    n_rounds: int  # of the run
    best: int  # score so far, of all runs
    n_scored: int  # boards scored in the run


Start = str | Callable[[np.random.Generator, int, UInt8s], UInt8s]
"""A board, or a function that makes the first boards uint8[m, n] from a random generator, m and
the alphabet."""


def first_boards(
    rng: np.random.Generator, m: int, n: int, alphabet: UInt8s, start: Start | None
) -> UInt8s:
    """Return uint8[m, n] random boards, those that ``start`` makes, or uint8[1, n] with the board
    ``start``.
    """
    if start is None:
        return alphabet[rng.integers(0, len(alphabet), (m, n))]
    if not isinstance(start, str):
        return start(rng, m, alphabet)
    board = encode_boards([start], n)
    excluded = np.setdiff1d(board, alphabet)
    if excluded.size:
        raise BoardError(
            f"board {quote(start)} has the letter {chr(97 + excluded[0])!r}, which is excluded"
        )
    return board


class Find(NamedTuple):
    """A canonical board, its exact score, and how often it was found."""

    board: str
    score: int
    # runs; of annealing, chains that ended there, 1 for what only the pool after them found
    n_found: int


def local_search(
    scorer: BatchScorer,
    method: str | None = None,
    *,
    seed: int = 0,
    runs: int | None = None,
    pool: int | None = None,
    letters: str = LETTERS,
    start: Start | None = None,
    progress: Callable[[Climbing], object] | None = None,
    stop: Callable[[], bool] = bool,
    steps_per_cell: int = STEPS_PER_CELL,
) -> list[Find]:
    """Return what ``runs`` searches found, best first; run k has the seed ``seed * runs + k``.

    The runs are separate searches that divide the ``pool`` among them, so more runs cost no more.
    Threads may search at the same time, also with the same scorer.

    method : one of :data:`METHODS`; default: :func:`default_method`
    runs : number of searches; default: :func:`default_runs`
    pool : boards kept, chains, or population, of all runs together; default: :data:`POOL`
    letters : letters that boards may use
    start : a board to start from, or a function that makes the first boards; default: random boards
    progress : told of every round, see :class:`Climbing`; default: a bar in a notebook
    stop : asked before each batch of boards; when it says True, the search ends with the best so
        far
    steps_per_cell : moves of each chain of ``anneal``, for each cell of the board

    Raises InputError if the method is unknown, a number is out of range, or ``start`` uses other
    letters.

    Examples
    --------
    >>> from orderly_boggle.search import Scorer
    >>> local_search(Scorer("2x2", "scowl70"), pool=50)[0]
    Find(board='aert', score=14, n_found=5)
    """
    if method is None:
        method = default_method(scorer.geometry.n, start)
    if runs is None:
        runs = default_runs(method, start)
    if pool is None:
        pool = POOL.get(method, runs)
    _check_search(method, seed, runs, pool)
    alphabet = parse_alphabet(letters)
    tell = progress or bar()
    now = Climbing(0.0, 0, 0, 0, 0)

    def tell_round(n_rounds: int, score: int, n_scored: int) -> None:
        nonlocal now
        now = Climbing(run / runs, run, n_rounds, max(now.best, score), n_scored)
        tell(now)

    score_of: dict[str, int] = {}
    times: Counter[str] = Counter()
    for run in range(runs):
        if stop():
            break
        rng = np.random.default_rng(seed * runs + run)
        size = pool // runs
        first = first_boards(rng, size, scorer.geometry.n, alphabet, start)
        for board, score, n in METHODS[method](
            Search(scorer, rng, first, size, alphabet, tell_round, stop, steps_per_cell)
        ):
            score_of[board] = score
            times[board] += n
    tell(now._replace(done=1.0))
    finds = [Find(board, score, times[board]) for board, score in score_of.items()]
    return sorted(sorted(finds), key=attrgetter("score"), reverse=True)


def _check_search(method: str, seed: int, runs: int, pool: int) -> None:
    if method not in METHODS:
        raise InputError(f"unknown method {quote(method)}: expected one of {', '.join(METHODS)}")
    least = LEAST_POOL.get(method, 1)
    if seed < 0 or runs < 1 or pool < runs * least:
        raise InputError(
            f"{runs} runs with a pool of {pool}, seed {seed}: expected at least 1 run, boards in "
            f"the pool for each (at least {least}), and no negative seed"
        )


METHODS = {"pool": climb, "anneal": anneal, "genetic": breed}
LEAST_POOL = {"genetic": 2}  # a child has two parents
# Boards, chains or population unless asked otherwise. Few long chains beat many short ones.
POOL = {"pool": 500, "anneal": 32, "genetic": 500}
# Runs unless asked otherwise: several small pools beat one large one, which soon holds a single
# family of boards. 4x4 with ENABLE2K: of 50 pools of 100 boards, 37 reach 3625, each in about 12 s
# of CPU; of the five pools of each seed 0 to 9, at least two do. A pool of 500 takes 55 s; two of
# four seeds reach it.
_RUNS_OF_POOLS = 5
_MOST_CELLS_OF_POOLS = 16  # chains find good boards of more cells sooner (docs/performance.md)


def default_method(n_cells: int, start: Start | None) -> str:
    """Return the method for boards of so many cells unless another is asked for; chains would
    forget the board that they start from.
    """
    if n_cells <= _MOST_CELLS_OF_POOLS or isinstance(start, str):
        return "pool"
    return "anneal"


def default_runs(method: str, start: Start | None) -> int:
    """Return how many searches a method makes by default: pools that begin with the same board
    would all be equal.
    """
    if method == "pool" and not isinstance(start, str):
        return _RUNS_OF_POOLS
    return 1
