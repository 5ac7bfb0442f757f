"""The figures of progress: one record that the scheduler begins, the driver completes, and everybody else reads.

The progress display, the event log (results/log/eventlog.py names its fields) and Prometheus take them from here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How far a run is.

    Attributes
    ----------
    n_classes, n_classes_done : int
        Of the run; from the scheduler, of what this call searches.
    n_open, n_in_flight : int
        Units without a verdict, and those of them that a worker has.
    n_split, n_requeued, n_quarantined, n_strikes, n_duplicates : int
        Units that were split, came back without a verdict, were given up; failures held against units; verdicts that
        came twice.
    n_workers, n_deaths : int
        Workers that are up, and workers lost.
    remaining_s : float or None
        Seconds left; None until a class is finished, and a unit of each kind that is open (root, part) was measured.
    n_agreed, flagged : int, tuple of str
        Replicas that agreed, and hosts that are not to be believed.
    n_verdicts, n_measured : int
        Verdicts accepted and classes finished by this call; the estimate of the time left rests on these, and on the
        effort of the classes stored before.
    n_candidates, best_score, best_board
        Boards found, before symmetric ones are merged; the best of them.
    elapsed_s : float
        Seconds since this call began.
    share : str
        What is searched, if it is not the whole run: ``n_open`` and ``remaining_s`` are of the share only.
    """

    n_classes: int
    n_classes_done: int
    n_open: int
    n_in_flight: int = 0
    n_split: int = 0
    n_requeued: int = 0
    n_quarantined: int = 0
    n_strikes: int = 0
    n_duplicates: int = 0
    n_workers: int = 0
    n_deaths: int = 0
    remaining_s: float | None = None
    n_agreed: int = 0
    flagged: tuple[str, ...] = ()
    n_verdicts: int = 0
    n_measured: int = 0
    n_candidates: int = 0
    best_score: int | None = None
    best_board: str = ""
    elapsed_s: float = 0.0
    share: str = ""
