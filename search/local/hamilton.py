"""Words as long as the board: every path through all cells (Hamiltonian path) crossed with every
word of that length.

A word of n cells (n letters, one more for each Qu) fixes a board once its path is chosen.  4x4 has
42,898 such paths up to symmetry, so all boards that hold one of a few thousand words can be scored:
an exhaustive search, and a proof.

>>> from orderly_boggle.boardclass.geometry import geometry
>>> hamiltonian_paths(geometry("2x2")).tolist()
[[0, 1, 2, 3], [0, 1, 3, 2], [0, 3, 1, 2]]
"""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Int8s
from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.geometry import Geometry
from orderly_boggle.search.local.batches import BatchScorer
from orderly_boggle.search.scoring.scorer import decode_boards
from orderly_boggle.search.terms.paths import MAX_LENGTH, cell_bits, paths_of_length


class Longest(NamedTuple):
    """The best board with a word that uses every cell."""

    word: str
    board: str
    score: int


def hamiltonian_paths(geometry: Geometry) -> Int8s:
    """Return int8[k, n]: every path through all cells, one of each set of symmetric images,
    lexicographically first.

    A path and its reverse count as two: words have a direction.  Raises InputError if the board has
    more than 16 cells.
    """
    if geometry.n > MAX_LENGTH:
        raise InputError(
            f"{geometry.dims} has too many paths to try all: expected at most {MAX_LENGTH} cells; "
            f"orderly climb --dims {geometry.dims} --contains WORD finds good boards of any size"
        )
    places = np.arange(geometry.n, dtype=np.uint64)
    bits = np.uint64(cell_bits(geometry.n))
    cell = (np.uint64(1) << bits) - np.uint64(1)
    paths = paths_of_length(geometry, geometry.n)[:, None] >> bits * places & cell
    digits = np.uint64(1) << bits * places[::-1]
    numbers = [image[paths] @ digits for image in geometry.symmetries.astype(np.uint64)]
    first = numbers[0] == np.min(numbers, axis=0)
    return paths[first][numbers[0][first].argsort()].astype(np.int8)


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
        if top is None or longest.score > top.score:
            top = longest
        if progress is not None:
            progress(number, top)
    best.sort(key=attrgetter("board", "word"))
    return sorted(best, key=attrgetter("score"), reverse=True)
