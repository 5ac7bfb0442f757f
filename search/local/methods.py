"""Local search, all methods behind one call: several runs, results merged, how often each board was
found.

local_search -> climb | anneal      each: Search -> boards with exact scores; no proof

Boards are arrays uint8[m, n], 0..25 a cell; besides the usual scorer there is one in threads, and
one of boards that must hold a word.

A *pool* (the paper's listing 1 in outline; it gives ``--cutoff auto``): every round makes the
neighbours of all boards of the pool that are new in it (one letter changed, or two cells swapped),
scores those never seen before, and keeps the best distinct canonical boards.  It ends when a round
leaves the pool as it was.  The seed only picks the first pool.

*Annealing*: many chains at once.  Each step changes one letter or swaps two cells of every chain's
board.  A worse board is accepted with probability exp(difference / temperature); the temperature is
a share of the mean score and falls geometrically.  At the end the best boards climb to their local
optima, and a pool begins with those.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from boardclass.arrays import Int32s, Int64s, UInt8s, UInt64s
from boardclass.board import LETTERS
from boardclass.errors import BoardError, InputError, quote
from boardclass.geometry import Geometry
from boardclass.notebook import bar
from boardclass.scores import MIN_LETTERS
from search.scoring.scorer import Scorer, decode_boards, encode_boards

BATCH = 1 << 17
_WORTH_SPLITTING = 256  # boards
# temperature at the first and at the last step of annealing, as a share of the mean score
HOT, COLD = 0.05, 0.001
SWAPS = 0.3
STEPS_PER_CELL = 400
_POOL = 100  # of annealing, at its end
_REPORTS = 100

RunProgress = Callable[[int, int, int, int], None]
"""Called with the number of the run (from 0), its round, the best score so far and the boards
scored in the run."""

Start = str | Callable[[np.random.Generator, int, UInt8s], UInt8s]
"""A board, or a function that makes the first boards uint8[m, n] from a random generator, m and
the alphabet."""


class ParallelScorer:
    """Scores a batch in several threads (0: one for each core), as one scorer would; the kernels
    release the GIL, so threads suffice.
    """

    def __init__(self, scorer: Scorer, n_threads: int = 0) -> None:
        n_threads = n_threads or os.cpu_count() or 1
        if n_threads < 1:
            raise InputError(f"{n_threads} threads: expected 0 or more")
        self.geometry: Geometry = scorer.geometry
        self._scorers = [scorer, *(scorer.twin() for _ in range(n_threads - 1))]
        self._threads = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def scores(self, boards: UInt8s) -> Int32s:
        """Return int32[m], the exact scores of the boards in uint8[m, n]."""
        if self._threads is None or len(boards) < _WORTH_SPLITTING:
            return self._scorers[0].scores(boards)
        parts = np.array_split(boards, len(self._scorers))
        jobs = [
            self._threads.submit(scorer.scores, part)
            for scorer, part in zip(self._scorers, parts, strict=True)
        ]
        return np.concatenate([job.result() for job in jobs])


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


def parse_alphabet(letters: str) -> UInt8s:
    """Return uint8[k], 0..25 ascending, of the letters that boards may use."""
    if not letters or not set(letters) <= set(LETTERS):
        raise InputError(f"letters {quote(letters)}: expected one or more of a-z")
    return np.array(sorted({ord(letter) - 97 for letter in letters}), np.uint8)


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


def neighbours(boards: UInt8s, letters: UInt8s) -> UInt8s:
    """Return uint8[m * k, n]: each board's k neighbours, by one changed letter, then by a swap of
    two cells.

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


def canonical_cells(boards: UInt8s, geometry: Geometry) -> UInt8s:
    """Return the canonical images of the boards in uint8[m, n]: row for row what
    ``canonical_board`` gives.
    """
    high, low = pack(boards)
    best = boards.copy()
    for row in geometry.symmetries[1:]:
        image = boards[:, row]
        image_high, image_low = pack(image)
        smaller = (image_high < high) | ((image_high == high) & (image_low < low))
        best[smaller] = image[smaller]
        high, low = np.where(smaller, image_high, high), np.where(smaller, image_low, low)
    return best


def pack(boards: UInt8s) -> tuple[UInt64s, UInt64s]:
    """Return two uint64[m] that compare as the boards do, cell 0 first: 13 cells of 26 values, then
    the rest.
    """
    parts = []
    for cells in (boards[:, :13], boards[:, 13:]):
        value = np.zeros(len(boards), np.uint64)
        for column in cells.T:
            value = value * np.uint64(26) + column
        parts.append(value)
    return parts[0], parts[1]


def best_first(boards: UInt8s, scores: Int32s, n: int) -> Int64s:
    """Return the places of the ``n`` best boards, best first; ties go to the smaller board."""
    high, low = pack(boards)
    return np.lexsort((low, high, -scores.astype(np.int64)))[:n]


class Find(NamedTuple):
    """A canonical board, its exact score, and how often it was found."""

    board: str
    score: int
    # runs; of annealing, chains that ended there, 1 for what only the pool after them found
    n_found: int


class Search(NamedTuple):
    """One search: it begins with the boards ``first`` and keeps so many boards or chains.

    ``tell`` gets the round, the best score and the number of boards scored; ``stop`` is asked
    before each batch.
    """

    scorer: BatchScorer
    rng: np.random.Generator
    first: UInt8s
    size: int
    alphabet: UInt8s
    tell: Callable[[int, int, int], None]
    stop: Callable[[], bool]
    steps_per_cell: int  # of annealing


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
    stop: Callable[[], bool] = bool,
    steps_per_cell: int = STEPS_PER_CELL,
) -> list[Find]:
    """Return what ``runs`` searches found, best first; run k has the seed ``seed * runs + k``.

    The runs are separate searches that divide the ``pool`` among them, so more runs cost no more.

    method : one of :data:`METHODS`
    runs : number of searches; default: :func:`default_runs`
    pool : boards kept, or chains, of all runs together
    letters : letters that boards may use
    start : a board to start from, or a function that makes the first boards; default: random boards
    progress : told of every round, see :data:`RunProgress`; default: a bar in a notebook
    stop : asked before each batch of boards; when it says True, the search ends with the best so
        far
    steps_per_cell : moves of each chain of ``anneal``, for each cell of the board

    Raises InputError if the method is unknown, a number is out of range, or ``start`` uses other
    letters.

    Examples
    --------
    >>> from search import Scorer
    >>> local_search(Scorer("2x2", "scowl70"), pool=50)[0]
    Find(board='aert', score=14, n_found=5)
    """
    runs = default_runs(method, start) if runs is None else runs
    _check_search(method, seed, runs, pool)
    alphabet = parse_alphabet(letters)
    show = bar() if progress is None else lambda share: None
    score_of: dict[str, int] = {}
    times: Counter[str] = Counter()
    for run in range(runs):
        if stop():
            break
        show(run / runs)
        tell = _telling(progress, run, max(score_of.values(), default=0))
        rng, size = np.random.default_rng(seed * runs + run), pool // runs
        first = first_boards(rng, size, scorer.geometry.n, alphabet, start)
        for board, score, n in METHODS[method](
            Search(scorer, rng, first, size, alphabet, tell, stop, steps_per_cell)
        ):
            score_of[board] = score
            times[board] += n
    show(1.0)
    finds = [Find(board, score, times[board]) for board, score in score_of.items()]
    return sorted(sorted(finds), key=attrgetter("score"), reverse=True)


def _telling(progress: RunProgress | None, run: int, best: int) -> Callable[[int, int, int], None]:
    """Return what a run tells of its rounds; ``best`` is the best score of those before it."""

    def tell(number: int, score: int, n_scored: int) -> None:
        if progress is not None:
            progress(run, number, max(best, score), n_scored)

    return tell


def _check_search(method: str, seed: int, runs: int, pool: int) -> None:
    if method not in METHODS:
        raise InputError(f"unknown method {quote(method)}: expected one of {', '.join(METHODS)}")
    if seed < 0 or runs < 1 or pool < runs:
        raise InputError(
            f"{runs} runs with a pool of {pool}, seed {seed}: expected at least 1 run, a board in "
            "the pool for each, and no negative seed"
        )


def climb(s: Search) -> list[tuple[str, int, int]]:
    """Return the pool at the end: (canonical board, exact score, 1), best first."""
    pool = _Pool(s.scorer, s.size)
    pool.offer(s.first)
    n_rounds = 0
    n_part = max(1, BATCH // len(neighbours(pool.boards[:1], s.alphabet)))
    while len(fresh := pool.take_unexpanded()) and not s.stop():
        for part in range(0, len(fresh), n_part):
            if not s.stop():
                pool.offer(neighbours(fresh[part : part + n_part], s.alphabet))
        n_rounds += 1
        s.tell(n_rounds, int(pool.scores[0]), pool.n_scored)
    return _found(pool.boards, pool.scores)


def _found(boards: UInt8s, scores: Int32s) -> list[tuple[str, int, int]]:
    return [
        (board, score, 1)
        for board, score in zip(decode_boards(boards), scores.tolist(), strict=True)
    ]


class _Pool:
    """The best boards so far, best first, and a memory of every board scored."""

    def __init__(self, scorer: BatchScorer, size: int) -> None:
        self.scorer, self.size, self.n_scored = scorer, size, 0
        self.boards = np.zeros((0, scorer.geometry.n), np.uint8)
        self.scores = np.zeros(0, np.int32)
        self._expanded = np.zeros(0, bool)
        self._known = np.zeros(0, np.uint64)  # sorted keys of all boards scored

    def offer(self, boards: UInt8s) -> None:
        """Score those boards that are new, up to symmetry, and keep the best."""
        cells = canonical_cells(boards, self.scorer.geometry)
        high, low = pack(cells)
        # exact up to 13 cells, a hash beyond: a collision costs one board
        keys, first = np.unique(high + low * np.uint64(0x9E3779B97F4A7C15), return_index=True)
        at = np.searchsorted(self._known, keys)
        new = np.ones(len(keys), bool)
        within = at < len(self._known)
        new[within] = self._known[at[within]] != keys[within]
        self._known = np.sort(np.concatenate((self._known, keys[new])))
        fresh = cells[first[new]]
        self.n_scored += len(fresh)
        scores = np.concatenate((self.scores, self.scorer.scores(fresh)))
        merged = np.concatenate((self.boards, fresh))
        expanded = np.concatenate((self._expanded, np.zeros(len(fresh), bool)))
        keep = best_first(merged, scores, self.size)
        self.boards, self.scores, self._expanded = merged[keep], scores[keep], expanded[keep]

    def take_unexpanded(self) -> UInt8s:
        """Return the boards of the pool not handed out before; without any the pool cannot change
        any more.
        """
        fresh = self.boards[~self._expanded]
        self._expanded[:] = True
        return fresh


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
    listed = _found(distinct, s.scorer.scores(distinct)) + climb(
        s._replace(first=pool, size=len(pool), tell=tell)
    )
    scored = sorted({(-score, board) for board, score, _ in listed})
    return [(board, -score, n_ended.get(board, 1)) for score, board in scored]


def propose(rng: np.random.Generator, boards: UInt8s, alphabet: UInt8s) -> UInt8s:
    """Return one random neighbour of each board in uint8[m, n]; now and then it is the board
    itself.
    """
    m, n = boards.shape
    tried = boards.copy()
    row = np.arange(m)
    left, right = rng.integers(0, n, (m,)), rng.integers(0, n, (m,))
    swap = rng.random(m) < SWAPS
    tried[row, left] = np.where(
        swap, boards[row, right], alphabet[rng.integers(0, len(alphabet), m)]
    )
    tried[row[swap], right[swap]] = boards[row[swap], left[swap]]
    return tried


METHODS = {"pool": climb, "anneal": anneal}
# Runs unless asked otherwise: several small pools beat one large one, which soon holds a single
# family of boards. 4x4 with ENABLE2K: of 50 pools of 100 boards, 37 reach 3625, each in about 12 s
# of CPU; of the five pools of each seed 0 to 9, at least two do. A pool of 500 takes 55 s; two of
# four seeds reach it.
_RUNS_OF_POOLS = 5


def default_runs(method: str, start: Start | None) -> int:
    """Return how many searches a method makes by default: pools that begin with the same board
    would all be equal.
    """
    return _RUNS_OF_POOLS if method == "pool" and not isinstance(start, str) else 1
