"""Pool hill climb (the paper's listing 1 in outline): good boards fast, no proof; gives ``--cutoff auto``.

Every round takes all boards of the pool that have not been expanded yet, makes their neighbours (one letter changed,
or two cells swapped), scores those never seen before in batches, and keeps the best ``pool`` distinct canonical
boards.  It ends when a round leaves the pool as it was.  Deterministic: ties go to the smaller board, and the seed
only picks the first pool.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from boardclass.errors import InputError
from boardclass.geometry import Geometry
from search.scorer import Scorer, decode_boards

N_LETTERS = 26
BATCH = 1 << 17

Progress = Callable[[int, int, int], None]
"""Called after each round with its number, the best score so far and the number of boards scored so far."""


def climb(
    scorer: Scorer, *, seed: int = 0, pool: int = 500, rounds: int | None = None, progress: Progress | None = None
) -> list[tuple[str, int]]:
    """Return the best ``pool`` boards found, canonical, with their exact scores, best first.

    Parameters
    ----------
    scorer : of the board size and word list
    seed : of the random first pool
    pool : boards kept from round to round, at least 1
    rounds : stop after so many rounds, None = when the pool no longer changes
    progress : called after each round

    Raises
    ------
    InputError
        If ``pool``, ``rounds`` or ``seed`` is out of range.
    """
    if pool < 1 or seed < 0 or (rounds is not None and rounds < 0):
        raise InputError(
            f"climb with pool {pool}, seed {seed}, rounds {rounds}: expected pool >= 1 and nothing negative"
        )
    rng = np.random.default_rng(seed)
    start = rng.integers(0, N_LETTERS, (pool, scorer.geometry.n), dtype=np.uint8)
    state = _Pool(scorer, pool)
    state.offer(start)
    n_rounds = 0
    while (rounds is None or n_rounds < rounds) and (fresh := state.take_unexpanded()) is not None:
        for part in range(0, len(fresh), max(1, BATCH // _n_neighbours(scorer.geometry.n))):
            state.offer(neighbours(fresh[part : part + max(1, BATCH // _n_neighbours(scorer.geometry.n))]))
        n_rounds += 1
        if progress:
            progress(n_rounds, int(state.scores[0]), state.n_scored)
    return list(zip(decode_boards(state.boards), state.scores.tolist(), strict=True))


def _n_neighbours(n: int) -> int:
    return n * (N_LETTERS - 1) + n * (n - 1) // 2


def neighbours(boards: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return uint8[m * k, n]: each board's k neighbours, by one changed letter (25 n), then by a swap of two cells."""
    n = boards.shape[1]
    changed = np.repeat(boards[:, None], n * (N_LETTERS - 1), axis=1)
    step = np.tile(np.arange(1, N_LETTERS, dtype=np.uint8), n)
    cell = np.repeat(np.arange(n), N_LETTERS - 1)
    at = np.arange(len(cell))
    changed[:, at, cell] = (changed[:, at, cell] + step) % N_LETTERS
    left, right = np.triu_indices(n, 1)
    swapped = np.repeat(boards[:, None], len(left), axis=1)
    at = np.arange(len(left))
    swapped[:, at, left], swapped[:, at, right] = boards[:, right], boards[:, left]
    return np.concatenate((changed, swapped), axis=1).reshape(-1, n)


def canonical_cells(boards: NDArray[np.uint8], geometry: Geometry) -> NDArray[np.uint8]:
    """Return the canonical images of the boards in uint8[m, n]: row for row what ``canonical_board`` gives."""
    high, low = pack(boards)
    best = boards.copy()
    for row in geometry.symmetries[1:]:
        image = boards[:, row]
        image_high, image_low = pack(image)
        smaller = (image_high < high) | ((image_high == high) & (image_low < low))
        best[smaller] = image[smaller]
        high, low = np.where(smaller, image_high, high), np.where(smaller, image_low, low)
    return best


def pack(boards: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return two uint64[m] that compare as the boards do, cell 0 first: 13 cells of 26 values, then the rest."""
    parts = []
    for cells in (boards[:, :13], boards[:, 13:]):
        value = np.zeros(len(boards), np.uint64)
        for column in cells.T:
            value = value * np.uint64(N_LETTERS) + column
        parts.append(value)
    return parts[0], parts[1]


def _keys(boards: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return one 64-bit key a board: exact up to 13 cells, a hash beyond (a collision costs the climb one board)."""
    high, low = pack(boards)
    return high + low * np.uint64(0x9E3779B97F4A7C15)


class _Pool:
    """The best boards so far, best first, and a memory of every board scored."""

    def __init__(self, scorer: Scorer, size: int) -> None:
        n = scorer.geometry.n
        self.scorer, self.size, self.n_scored = scorer, size, 0
        self.boards = np.zeros((0, n), np.uint8)
        self.scores = np.zeros(0, np.int32)
        self._expanded = np.zeros(0, bool)
        self._known = np.zeros(0, np.uint64)  # sorted keys of all boards scored

    def offer(self, boards: NDArray[np.uint8]) -> None:
        """Score those boards that are new, up to symmetry, and keep the best."""
        cells = canonical_cells(boards, self.scorer.geometry)
        keys, first = np.unique(_keys(cells), return_index=True)
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
        high, low = pack(merged)
        keep = np.lexsort((low, high, -scores.astype(np.int64)))[: self.size]
        self.boards, self.scores, self._expanded = merged[keep], scores[keep], expanded[keep]

    def take_unexpanded(self) -> NDArray[np.uint8] | None:
        """Return the boards of the pool not handed out before, or None: then the pool cannot change any more."""
        fresh = self.boards[~self._expanded]
        self._expanded[:] = True
        return fresh if len(fresh) else None
