"""The figures of progress: what the scheduler knows, a person sees, the event log keeps and Prometheus reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Report:
    """How far it is.

    Attributes
    ----------
    n_open, n_in_flight : int
        Units without a verdict, and those of them that a worker has.
    n_verdicts, n_measured : int
        Verdicts accepted and classes finished by this call; the estimate of the time left rests on these.
    remaining_s : float or None
        None until the first class is finished.
    n_agreed, flagged : int, tuple of str
        Replicas that agreed, and hosts that are not believed any more.
    share : str
        What is searched, if it is not the whole run: ``n_open`` and ``remaining_s`` are of the share only.
    """

    n_classes: int
    n_classes_done: int
    n_open: int
    best_score: int | None
    best_board: str
    n_candidates: int
    n_workers: int
    n_deaths: int
    n_quarantined: int
    elapsed_s: float
    remaining_s: float | None
    n_in_flight: int = 0
    n_split: int = 0
    n_strikes: int = 0
    n_requeued: int = 0
    n_verdicts: int = 0
    n_measured: int = 0
    n_agreed: int = 0
    flagged: tuple[str, ...] = ()
    share: str = ""
