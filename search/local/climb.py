"""Pool hill climb (the paper's listing 1 in outline): good boards fast, no proof; gives ``--cutoff auto``.

Holds what the other local searches share as well: alphabets, neighbours, the way up from a board to a local optimum.

Every round takes all boards of the pool that have not been expanded yet, makes their neighbours (one letter changed,
or two cells swapped), scores those never seen before in batches, and keeps the best ``pool`` distinct canonical
boards.  It ends when a round leaves the pool as it was.  Deterministic: ties go to the smaller board, and the seed
only picks the first pool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from boardclass.board import LETTERS
from boardclass.errors import BoardError, InputError, quote
from boardclass.geometry import Geometry
from search.scoring.scorer import decode_boards, encode_boards

N_LETTERS = 26
BATCH = 1 << 17

Progress = Callable[[int, int, int], None]
"""Called after each round with its number, the best score so far and the number of boards scored so far."""

Start = str | Callable[[np.random.Generator, int, NDArray[np.uint8]], NDArray[np.uint8]]
"""A board, or a function that makes the first boards uint8[m, n] from a random generator, m and the alphabet."""


class BatchScorer(Protocol):
    """What a local search needs of a scorer."""

    @property
    def geometry(self) -> Geometry:
        """Size of the boards scored."""

    def scores(self, boards: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return int32[m], the scores of the boards in uint8[m, n]."""


def climb(
    scorer: BatchScorer,
    *,
    seed: int = 0,
    pool: int = 500,
    letters: str = LETTERS,
    start: Start | None = None,
    progress: Progress | None = None,
) -> list[tuple[str, int]]:
    """Return the best ``pool`` boards found, canonical, with their exact scores, best first.

    The options are those of :func:`search.local.methods.local_search`.
    """
    if pool < 1 or seed < 0:
        raise InputError(f"climb with pool {pool}, seed {seed}: expected a pool of 1 or more, and no negative seed")
    alphabet = parse_alphabet(letters)
    state = _Pool(scorer, pool)
    state.offer(first_boards(np.random.default_rng(seed), pool, scorer.geometry.n, alphabet, start))
    n_rounds = 0
    n_part = max(1, BATCH // len(neighbours(state.boards[:1], alphabet)))
    while (fresh := state.take_unexpanded()) is not None:
        for part in range(0, len(fresh), n_part):
            state.offer(neighbours(fresh[part : part + n_part], alphabet))
        n_rounds += 1
        if progress:
            progress(n_rounds, int(state.scores[0]), state.n_scored)
    return list(zip(decode_boards(state.boards), state.scores.tolist(), strict=True))


def parse_alphabet(letters: str) -> NDArray[np.uint8]:
    """Return uint8[k], 0..25 ascending, of the letters that boards may use."""
    if not letters or not set(letters) <= set(LETTERS):
        raise InputError(f"letters {quote(letters)}: expected one or more of a-z")
    return np.array(sorted({ord(letter) - 97 for letter in letters}), np.uint8)


def first_boards(
    rng: np.random.Generator, m: int, n: int, alphabet: NDArray[np.uint8], start: Start | None
) -> NDArray[np.uint8]:
    """Return uint8[m, n] random boards, those that ``start`` makes, or uint8[1, n] with the board ``start``."""
    if start is None:
        return alphabet[rng.integers(0, len(alphabet), (m, n))]
    if not isinstance(start, str):
        return start(rng, m, alphabet)
    board = encode_boards([start], n)
    excluded = sorted(set(board[0].tolist()) - set(alphabet.tolist()))
    if excluded:
        raise BoardError(f"board {quote(start)} has the letter {chr(97 + excluded[0])!r}, which is excluded")
    return board


def neighbours(boards: NDArray[np.uint8], letters: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return uint8[m * k, n]: each board's k neighbours, by one changed letter, then by a swap of two cells.

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

    def __init__(self, scorer: BatchScorer, size: int) -> None:
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


def ascend(scorer: BatchScorer, boards: NDArray[np.uint8], alphabet: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the local optimum of each board in uint8[m, n], reached by steps to the best neighbour."""
    best = boards.copy()
    scores = scorer.scores(best)
    moving = np.arange(len(best))
    while len(moving):
        around = neighbours(best[moving], alphabet)
        values = scorer.scores(around).reshape(len(moving), -1)
        step = values.argmax(axis=1)
        at = np.arange(len(moving))
        better = values[at, step] > scores[moving]
        chosen = around.reshape(len(moving), -1, best.shape[1])[at, step]
        best[moving[better]], scores[moving[better]] = chosen[better], values[at, step][better]
        moving = moving[better]
    return best
