"""What every local search does with boards: make neighbours, tell equal ones, keep the best.

Boards are arrays uint8[m, n], 0..25 a cell.

>>> from orderly_boggle.search.scoring.scorer import encode_boards
>>> decode_boards(neighbours(encode_boards(["ab"], 2), parse_alphabet("abc")))
['bb', 'cb', 'ac', 'aa', 'ba']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, Int64s, UInt8s, UInt64s
from orderly_boggle.boardclass.board import LETTERS
from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.geometry import Geometry
from orderly_boggle.search.local.batches import BatchScorer
from orderly_boggle.search.scoring.scorer import decode_boards
from orderly_boggle.search.scoring.walks import SWAP, moved

SWAPS = 0.2
# of the swaps, how many are of any two cells; the others are of neighbours, which are taken ten
# times as often and lead to a better board as often (docs/notes/measurements.md)
FAR = 0.1
# of the letters of a mutation, how many are drawn from the alphabet; the others are copied from the
# boards themselves, which have few rare letters
FRESH = 0.2


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


def parse_alphabet(letters: str) -> UInt8s:
    """Return uint8[k], 0..25 ascending, of the letters that boards may use."""
    if not letters or not set(letters) <= set(LETTERS):
        raise InputError(f"letters {quote(letters)}: expected one or more of a-z")
    return np.array(sorted({ord(letter) - 97 for letter in letters}), np.uint8)


def neighbours(boards: UInt8s, letters: UInt8s) -> UInt8s:
    """Return uint8[m * k, n]: each board's k neighbours, by one changed letter, then by a swap of
    two cells.

    A board has (a - 1) n changes with the a ``letters`` of the alphabet, and must use these only.
    """
    moves = all_moves(boards, letters)
    return moved(np.repeat(boards, moves.shape[1], axis=0), moves.reshape(-1, 2))


def all_moves(boards: UInt8s, letters: UInt8s) -> UInt8s:
    """Return uint8[m, k, 2], the moves to the neighbours of each board, in the same order."""
    m, n = boards.shape
    step = np.tile(np.arange(1, len(letters)), n)
    cell = np.repeat(np.arange(n), len(letters) - 1)
    left, right = np.triu_indices(n, 1)
    moves = np.empty((m, len(cell) + len(left), 2), np.uint8)
    changes = moves[:, : len(cell)]
    swaps = moves[:, len(cell) :]
    changes[:, :, 0] = cell
    places = np.searchsorted(letters, boards[:, cell]) + step
    changes[:, :, 1] = letters[places % len(letters)]
    swaps[:, :, 0] = left
    swaps[:, :, 1] = SWAP + right
    return moves


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
        high = np.where(smaller, image_high, high)
        low = np.where(smaller, image_low, low)
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


def random_moves(
    rng: np.random.Generator, m: int, geometry: Geometry, alphabet: UInt8s, k: int
) -> UInt8s:
    """Return uint8[m, k, 2], k random moves for each of m boards, see
    :mod:`orderly_boggle.search.scoring.walks`; now and then a move changes nothing.

    Either two cells are swapped, mostly neighbours, or a cell gets a letter of the alphabet, each
    as likely as another.  So a move is as likely as the move back, as annealing demands.
    """
    n = geometry.n
    moves = np.empty((m, k, 2), np.uint8)
    cells = rng.integers(0, n, (m, k))
    moves[:, :, 0] = cells
    letters = alphabet[rng.integers(0, len(alphabet), (m, k))]
    others = _near(geometry)[cells, rng.integers(0, _EVEN, (m, k))]
    far = rng.random((m, k)) < FAR
    others[far] = rng.integers(0, n, np.count_nonzero(far))
    swap = rng.random((m, k)) < SWAPS
    moves[:, :, 1] = np.where(swap, SWAP + others, letters)
    return moves


_EVEN = 120  # a multiple of each number of neighbours: 3, 5 and 8


def _near(geometry: Geometry) -> UInt8s:
    """Return uint8[n, _EVEN], the neighbours of each cell, all of them equally often."""
    return np.array([np.resize(near, _EVEN) for near in geometry.neighbours], np.uint8)


def propose(
    rng: np.random.Generator, boards: UInt8s, geometry: Geometry, alphabet: UInt8s
) -> UInt8s:
    """Return one random neighbour of each board in uint8[m, n]; now and then it is the board
    itself.  Most new letters are those of a random cell of a random board.
    """
    m, n = boards.shape
    moves = random_moves(rng, m, geometry, alphabet, 1)[:, 0]
    copied = (moves[:, 1] < SWAP) & (rng.random(m) >= FRESH)
    moves[copied, 1] = boards[rng.integers(0, m, m), rng.integers(0, n, m)][copied]
    return moved(boards, moves)


def found(boards: UInt8s, scores: Int32s) -> list[tuple[str, int, int]]:
    """Return what a search that keeps one board a place has found."""
    return [
        (board, score, 1)
        for board, score in zip(decode_boards(boards), scores.tolist(), strict=True)
    ]
