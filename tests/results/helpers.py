"""A small run with known answers: 2x2, two buckets, six canonical classes, and a scorer that anybody can do by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from boardclass.geometry import Geometry, geometry
from boardclass.partition import Partition, parse_partition
from results.proof.audit import _Question
from results.store.fingerprint import Fingerprint
from results.store.rows import Row

BUCKETS = "aeiou bcdfghjklmnpqrstvwxyz"
CUTOFF = 80


def partition() -> Partition:
    return parse_partition(BUCKETS, "2x2")


def fingerprint(**changes: Any) -> Fingerprint:
    base = Fingerprint(
        "2x2", "0" * 64, (0, 0, 0, 1, 1, 2, 3, 5, 11), CUTOFF, partition().text, geometry("2x2").cell_order
    )
    return replace(base, **changes)


def toy_score(board: str) -> int:
    """Symmetric under every image: the letters' places in the alphabet added up, doubled letters apart."""
    return sum(ord(letter) - 97 for letter in board) - (20 if len(set(board)) < len(board) else 0)


class ToyScorer:
    def scores(self, boards: list[str]) -> np.ndarray:
        return np.array([toy_score(board) for board in boards], dtype=np.int32)


def row(class_id: int = 0, **changes: Any) -> Row:
    values: dict[str, Any] = {
        "fingerprint": fingerprint().digest,
        "class_id": class_id,
        "path": "",
        "status": "eliminated",
        "n_boards": 1,
    }
    return Row(**{**values, **changes})


def all_rows() -> list[Row]:
    """Return the rows of a complete run; its last class holds two candidates symmetric to each other, and one more."""
    cut = partition()
    ranks = [int(rank) for ranks in cut.canonical_ranks() for rank in ranks]
    rows = [row(rank, n_boards=cut.n_boards(rank), max_bound=CUTOFF - 1) for rank in ranks]
    candidates = tuple((board, toy_score(board)) for board in ("xyzw", "wzyx", "tvzy"))
    rows[-1] = replace(rows[-1], status="candidates", candidates=candidates, max_bound=200)
    return rows


def split_rows(class_id: int) -> list[Row]:
    """Return a split of a class by cell 0, one child split again by cell 1; together they settle the class."""
    cut = partition()
    letters = cut.class_letters(class_id)
    halves = (letters[0][:2], letters[0][2:])
    quarter = (letters[1][:1], letters[1][1:])
    rest = cut.n_boards(class_id) // len(letters[0])
    low, high = (f"0={half}" for half in halves)
    deep = tuple(f"{low}/1={half}" for half in quarter)
    n_low = 2 * rest
    return [
        row(class_id, status="split", n_boards=cut.n_boards(class_id), children=(low, high)),
        row(class_id, path=high, n_boards=len(halves[1]) * rest),
        row(class_id, path=low, status="split", n_boards=n_low, children=deep),
        row(class_id, path=deep[0], n_boards=n_low // len(letters[1])),
        row(class_id, path=deep[1], n_boards=n_low // len(letters[1]) * (len(letters[1]) - 1)),
    ]


def question_of(shape: Geometry, worth: dict[str, int]) -> _Question:
    """Return what the checker knows of a board size and some words, without a run."""
    question = _Question.__new__(_Question)
    question.n = shape.n
    rows = [[*near, *[-1] * (shape.n - len(near))] for near in (*shape.neighbours, range(shape.n))]
    question.near = np.array(rows, np.int64)
    question.take_words(dict(sorted(worth.items())))
    return question
