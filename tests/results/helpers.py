"""A small run with known answers: 2x2, two buckets, six canonical classes, and a scorer that
anybody can do by hand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.boardclass.geometry import Geometry, geometry
from orderly_boggle.boardclass.partition import Partition, parse_partition
from orderly_boggle.results.proof.audit import RunQuestion
from orderly_boggle.results.proof.claim import Claim, make_claim, publish_claim, scored_again
from orderly_boggle.results.proof.prove import prove
from orderly_boggle.results.proof.summary import Wording
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import open_folder
from orderly_boggle.results.storage.lock import PACE, DirectoryLock, Pace
from orderly_boggle.results.store.made import Made
from orderly_boggle.results.store.rows import Row
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.search.question import Question
from tests.classes import n_boards_of

BUCKETS = "aeiou bcdfghjklmnpqrstvwxyz"
CUTOFF = 80


POINTS = "1 (3 letters), 1 (4), 2 (5), 3 (6), 5 (7), 11 (8 or more)"


def partition() -> Partition:
    return parse_partition(BUCKETS, "2x2")


def toy_question(**changes: Any) -> Question:
    dims = changes.pop("dims", "2x2")
    buckets = changes.pop("buckets", BUCKETS)
    base = Question(
        dims,
        "0" * 64,
        (0, 0, 0, 1, 1, 2, 3, 5, 11),
        CUTOFF,
        parse_partition(buckets, dims).text,
        geometry(dims).cell_order,
    )
    return replace(base, **changes)


def toy_score(board: str) -> int:
    """Symmetric under every image: the letters' places in the alphabet added up, doubled letters
    apart.
    """
    return sum(ord(letter) - 97 for letter in board) - (20 if len(set(board)) < len(board) else 0)


class ToyScorer:
    def scores(self, boards: list[str]) -> np.ndarray:
        return np.array([toy_score(board) for board in boards], dtype=np.int32)


def row(class_id: int = 0, **changes: Any) -> Row:
    values: dict[str, Any] = {
        "fingerprint": toy_question().digest,
        "class_id": class_id,
        "path": "",
        "status": "eliminated",
        "n_boards": 1,
    }
    return Row(**{**values, **changes})


def all_rows() -> list[Row]:
    """Return the rows of a complete run; its last class holds two candidates symmetric to each
    other, and one more.
    """
    cut = partition()
    ranks = [int(rank) for ranks in cut.canonical_ranks() for rank in ranks]
    rows = [row(rank, n_boards=n_boards_of(cut, rank), max_bound=CUTOFF - 1) for rank in ranks]
    candidates = tuple((board, toy_score(board)) for board in ("xyzw", "wzyx", "tvzy"))
    rows[-1] = replace(rows[-1], status="candidates", candidates=candidates, max_bound=200)
    return rows


def split_rows(class_id: int) -> list[Row]:
    """Return a split of a class by cell 0, one child split again by cell 1; together they settle
    the class.
    """
    cut = partition()
    letters = cut.class_letters(class_id)
    halves = (letters[0][:2], letters[0][2:])
    quarter = (letters[1][:1], letters[1][1:])
    rest = n_boards_of(cut, class_id) // len(letters[0])
    low, high = (f"0={half}" for half in halves)
    deep = tuple(f"{low}/1={half}" for half in quarter)
    n_low = 2 * rest
    return [
        row(class_id, status="split", n_boards=n_boards_of(cut, class_id), children=(low, high)),
        row(class_id, path=high, n_boards=len(halves[1]) * rest),
        row(class_id, path=low, status="split", n_boards=n_low, children=deep),
        row(class_id, path=deep[0], n_boards=n_low // len(letters[1])),
        row(class_id, path=deep[1], n_boards=n_low // len(letters[1]) * (len(letters[1]) - 1)),
    ]


def question_of(shape: Geometry, worth: dict[str, int]) -> RunQuestion:
    """Return what the checker knows of a board size and some words, without a run."""
    question = RunQuestion.__new__(RunQuestion)
    question.n = shape.n
    rows = [[*near, *[-1] * (shape.n - len(near))] for near in (*shape.neighbours, range(shape.n))]
    question.near = np.array(rows, np.int64)
    question.take_words(dict(sorted(worth.items())))
    return question


class KilledError(BaseException):
    """Stands for SIGKILL: no handler runs."""


BATCHES = (slice(0, 4), slice(4, 6))


def claimed(store: Store) -> Claim:
    """Score the boards of a complete run, check coverage and write the claim, as a driver does."""
    run = store.snapshot()
    scored_again(run, ToyScorer())
    proof = prove(run, thorough=True)
    claim = make_claim(proof, Wording("toy", 12, POINTS))
    publish_claim(proof, claim)
    return claim


def write_rows(
    place: str | Path,
    rows: Iterable[Row],
    asked: Question | None = None,
    made: Made | None = None,
    **how: Any,
) -> None:
    """Add rows to a run, by default one about the toy question."""
    with Store.open(place, asked or toy_question(), made, **how) as store:
        store.append(rows)


def make_run(run: Path) -> Path:
    """Write a finished run, a part per row."""
    with Store.open(run, toy_question(), Made(share="1/1")) as store:
        for item in all_rows():
            store.append([item])
            store.flush()
        claimed(store)
    (run / files.LOCK).unlink(missing_ok=True)
    return run


@contextlib.contextmanager
def ended_by_faults(store: Store) -> Iterator[None]:
    """Close a store at the end; when it is killed, leave what a dead process leaves."""
    try:
        yield
    except KilledError:
        if isinstance(store.lock, DirectoryLock):
            store.lock.release()  # the operating system does it
        raise
    except StoreError:
        with contextlib.suppress(StoreError):
            store.close()
        raise
    store.close()


def drive(location: object, acknowledged: list[int], pace: Pace = PACE) -> None:
    """Write the run batch by batch; a fault ends it where a dead process would end."""
    store = Store.open(str(location), toy_question(), Made(share="1/1"), pace=pace)
    with ended_by_faults(store):
        for batch in BATCHES:
            new = [r for r in all_rows()[batch] if r.key not in store.index.places]
            store.append(new)
            store.flush()
            acknowledged += [r.class_id for r in new]
        claimed(store)


def check_whole_batches(location: object, acknowledged: list[int]) -> None:
    """Check that a reader sees whole batches, and all that was acknowledged."""
    if open_folder(str(location)).read(files.RUN) is None:
        assert acknowledged == []
        return
    seen = tuple(r.class_id for r in open_run(str(location)).rows())
    assert seen in [(), *(tuple(r.class_id for r in all_rows()[: batch.stop]) for batch in BATCHES)]
    assert seen[: len(acknowledged)] == tuple(acknowledged), "nothing acknowledged is lost"
