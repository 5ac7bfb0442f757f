"""Words as long as the board: every path through all cells (Hamiltonian path) crossed with every
word of that length.

A word of n cells (n letters, one more for each Qu) fixes a board once its path is chosen.  4x4 has
42,898 such paths up to symmetry, so all boards that hold one of a few thousand words can be scored:
an exhaustive search, and a proof. Where there are too many paths, a random sample of them is used,
which proves nothing.

>>> from boardclass.geometry import geometry
>>> hamiltonian_paths(geometry("2x2")).tolist()
[[0, 1, 2, 3], [0, 1, 3, 2], [0, 3, 1, 2]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from boardclass.arrays import Int8s
from boardclass.canonical import canonical_board
from boardclass.geometry import Geometry
from search.local.methods import BatchScorer
from search.scoring.scorer import decode_boards
from search.terms.paths import CELL, CELL_BITS, paths_of_length

MAX_CELLS = 16  # beyond that the paths are too many to list
_BACKBITES = 200


class Longest(NamedTuple):
    """The best board with a word that uses every cell."""

    word: str
    board: str
    score: int


def hamiltonian_paths(geometry: Geometry) -> Int8s:
    """Return int8[k, n]: every path through all cells, one of each set of symmetric images,
    lexicographically first.

    A path and its reverse count as two: words have a direction.
    """
    places = np.arange(geometry.n, dtype=np.uint64)
    paths = paths_of_length(geometry, geometry.n)[:, None] >> CELL_BITS * places & CELL
    digits = np.uint64(1) << CELL_BITS * places[::-1]
    numbers = [image[paths] @ digits for image in geometry.symmetries.astype(np.uint64)]
    first = numbers[0] == np.min(numbers, axis=0)
    return paths[first][numbers[0][first].argsort()].astype(np.int8)


def sampled_paths(geometry: Geometry, n: int, seed: int) -> Int8s:
    """Return int8[n, cells] random paths through all cells, by backbite moves from a path down and
    up the columns.
    """
    rng = np.random.default_rng(seed)
    columns = np.arange(geometry.n).reshape(geometry.dims)
    columns[1::2] = columns[1::2, ::-1].copy()
    path = columns.ravel().tolist()
    paths = np.zeros((n, geometry.n), np.int8)
    for index in range(n):
        for _ in range(_BACKBITES if index == 0 else geometry.n):
            if rng.integers(2):
                path.reverse()
            near = [cell for cell in geometry.neighbours[path[-1]] if cell != path[-2]]
            at = path.index(near[int(rng.integers(len(near)))])
            path[at + 1 :] = reversed(path[at + 1 :])
        paths[index] = path
    return paths


def best_boards(
    targets: Iterable[str],
    paths: Int8s,
    scorer: BatchScorer,
    progress: Callable[[int, Longest | None], None] | None = None,
) -> list[Longest]:
    """Return for each word the best of its boards, best first.

    ``targets`` are words in q-form with as many letters as cells; ``paths`` is int8[k, n];
    ``progress`` is called after each word with their number and the best so far.
    """
    place = np.argsort(paths, axis=1)  # place[k, cell]: which letter of the word lies on the cell
    best: list[Longest] = []
    top: Longest | None = None
    for number, word in enumerate(targets, 1):
        letters = np.frombuffer(word.encode("ascii"), np.uint8) - np.uint8(97)
        boards = letters[place]
        scores = scorer.scores(boards)
        high = int(scores.max())
        tied = decode_boards(boards[scores == high])
        longest = Longest(
            word, min(canonical_board(board, scorer.geometry) for board in tied), high
        )
        best.append(longest)
        top = longest if top is None or longest.score > top.score else top
        if progress is not None:
            progress(number, top)
    best.sort(key=attrgetter("board", "word"))
    return sorted(best, key=attrgetter("score"), reverse=True)
