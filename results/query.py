"""Questions to a run directory: its boards and how far it is; also while a driver writes to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from results.claim import Claim, digest_of, read_claim
from results.fingerprint import Fingerprint
from results.rescore import Board, BoardList, read_rescored, unscored_boards
from results.run import Run, open_run
from results.schema import STATUSES


@dataclass(frozen=True)
class Summary:
    """How far a run is.

    Attributes
    ----------
    n_rows : dict
        Rows by status.
    n_classes_begun, n_classes_done : int
        Classes whose root has a verdict, and those of them with nothing left below it.
    n_pending : int
        Children of split units without a verdict.
    n_quarantined, n_conflicts : int
        Units given up, and units with contradicting rows.
    listed : BoardList
        Boards at or above the cutoff.
    rescored : bool
        Whether their scores were checked by the exact pass, or are still what workers reported.
    claim : Claim or None
        Present while the stored rows prove it.
    result_digest : str
        Digest of the answer so far; that of the claim when there is one.
    """

    fingerprint: Fingerprint
    info: dict[str, Any]
    n_rows: dict[str, int]
    n_classes_begun: int
    n_classes_done: int
    n_pending: int
    n_quarantined: int
    n_conflicts: int
    listed: BoardList
    rescored: bool
    claim: Claim | None
    result_digest: str


def boards(location: str | Path | Run) -> list[Board]:
    """Return the boards of a run, best first: the rescored ones, or what was found so far.

    Raises
    ------
    StoreError
        When there is no run, or it is damaged.
    """
    return list(_listed(_opened(location))[0].boards)


def top(location: str | Path | Run, n: int = 10) -> list[Board]:
    """Return the ``n`` best boards of a run, see :func:`boards`.

    Examples
    --------
    >>> top("runs/2x2-scowl70-14", 1)
    [Board(board='aert', score=14, n_images=8)]
    """
    return boards(location)[: max(0, n)]


def summary(location: str | Path | Run) -> Summary:
    """Return how far a run is.

    Raises
    ------
    StoreError
        When there is no run, or it is damaged.
    """
    run = _opened(location)
    listed, rescored = _listed(run)
    n_units = len(run.index.done_ids()) + len(run.index.done_paths())
    claim = read_claim(run)
    if claim and (claim.n_units, claim.result_digest) != (n_units, digest_of(run.fingerprint, listed, complete=True)):
        claim = None  # rows were dropped or lost since: it no longer follows from what is stored
    done_ids, pending = run.index.done_ids(), list(run.index.pending())
    return Summary(
        fingerprint=run.fingerprint,
        info=run.info,
        n_rows={status: run.index.n_loaded[status] for status in STATUSES},
        n_classes_begun=len(done_ids),
        n_classes_done=len(np.setdiff1d(done_ids, [class_id for class_id, _ in pending], assume_unique=False)),
        n_pending=len(pending),
        n_quarantined=len(run.index.quarantined),
        n_conflicts=len(run.conflicts),
        listed=listed,
        rescored=rescored,
        claim=claim,
        result_digest=digest_of(run.fingerprint, listed, complete=claim is not None),
    )


def _opened(location: str | Path | Run) -> Run:
    return location if isinstance(location, Run) else open_run(location)


def _listed(run: Run) -> tuple[BoardList, bool]:
    """Return the boards and whether they were rescored."""
    rescored = read_rescored(run)
    return (rescored, True) if rescored is not None else (unscored_boards(run), False)
