"""Which class a board lies in: what tests ask and no search does."""

from collections.abc import Sequence
from math import prod

from orderly_boggle.boardclass.canonical import canonical
from orderly_boggle.boardclass.partition import Partition


def rank_of(partition: Partition, digits: Sequence[int]) -> int:
    """Return the rank of the class with these bucket numbers, one per cell."""
    rank = 0
    for digit, limit in zip(reversed(digits), reversed(partition.radix.tolist()), strict=True):
        assert 0 <= digit < limit
        rank = rank * limit + int(digit)
    return rank


def rank_of_board(partition: Partition, board: str) -> int:
    """Return the rank of the class that holds a board (not of its canonical image)."""
    digits = []
    for letter, buckets in zip(board, partition.cell_buckets, strict=True):
        digits.append([letter in bucket for bucket in buckets].index(True))
    return rank_of(partition, digits)


def canonical_rank(partition: Partition, rank: int) -> int:
    """Return the rank of the canonical image of a class."""
    return rank_of(partition, canonical(partition.unrank(rank), partition.geometry))


def n_boards_of(partition: Partition, rank: int) -> int:
    """Return the number of boards of a class."""
    return prod(map(len, partition.class_letters(rank)))
