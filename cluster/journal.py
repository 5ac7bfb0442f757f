"""Writes what the run loop sees into the event log (``results.eventlog`` has the format)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from cluster.events import Event, Instruction, Quarantine, Retire, UnitFailed, WorkerDown, WorkerUp
from cluster.progress import Report
from results.eventlog import HOST_FLAGGED, EventLog

_SHORTEST_S, _LONGEST_S = 2.0, 60.0  # between two lines of progress
_SHARE = 0.01  # of the time gone, so that the log of a run of weeks stays small
_MAX_MESSAGE = 500


class Journal:
    """Notes events of one session; as a context manager it notes how the session ended, too.

    Parameters
    ----------
    log : EventLog
    clock : callable
        Seconds, monotonic.
    """

    def __init__(self, log: EventLog, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._clock = clock
        self._hosts: dict[int, str] = {}
        self._part = ""
        self._best: int | None = None
        self._flagged: set[str] = set()
        self._reported_at_s = -_LONGEST_S
        self._began_s = clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._log.add("stopped", reason=type(error).__name__, message=str(error)[:_MAX_MESSAGE])
        self._log.flush(now=True)

    @property
    def hosts(self) -> dict[str, int]:
        """Workers that are up, by host."""
        names = sorted(self._hosts.values())
        return {name: names.count(name) for name in dict.fromkeys(names)}

    def note(self, event: str, **values: Any) -> None:
        """Note something that has no method of its own, at once."""
        self._log.add(event, **values)
        self._log.flush(now=True)

    def loop(self, events: Sequence[Event], orders: Sequence[Instruction]) -> None:
        """Note what came from the executor and what the scheduler made of it."""
        for event in events:
            self._event(event)
        for order in orders:
            if isinstance(order, Retire) and order.worker in self._hosts:
                host = self._hosts.pop(order.worker)
                self._log.add("worker_retired", worker=order.worker, host=host, message=order.message[:_MAX_MESSAGE])
            elif isinstance(order, Quarantine):
                unit, message = order.unit, order.message[:_MAX_MESSAGE]
                self._log.add(
                    "unit_quarantined", class_id=unit.class_id, path=unit.path, attempts=order.attempt, message=message
                )
        self._log.flush()

    def stored(self, name: str, n_rows: int) -> None:
        """Note the last part that was stored; once, however often it is told."""
        if name and name != self._part:
            self._part = name
            self._log.add("stored", name=name, n_rows=n_rows)

    def report(self, report: Report, *, now: bool = False) -> None:
        """Note how far the run is, now and then."""
        if report.best_score is not None and (self._best is None or report.best_score > self._best):
            self._best = report.best_score
            self._log.add("best", score=report.best_score, board=report.best_board)
        for host in sorted(set(report.flagged) - self._flagged):
            self._flagged.add(host)
            self._log.add(HOST_FLAGGED, host=host)
        now_s = self._clock()
        every_s = min(_LONGEST_S, max(_SHORTEST_S, _SHARE * (now_s - self._began_s)))
        if now or now_s - self._reported_at_s >= every_s:
            self._reported_at_s = now_s
            self._log.add(
                "progress", **_figures(report), n_workers=report.n_workers, hosts=self.hosts, flagged=report.flagged
            )
        self._log.flush(now=now)

    def _event(self, event: Event) -> None:
        match event:
            case WorkerUp():
                self._hosts[event.worker] = event.host
                self._log.add("worker_up", worker=event.worker, host=event.host, kernel_hash=event.kernel_hash)
            case WorkerDown():
                host, message = self._hosts.pop(event.worker, ""), event.message[:_MAX_MESSAGE]
                self._log.add("worker_down", worker=event.worker, host=host, reason=event.reason, message=message)
            case UnitFailed():
                self._log.add(
                    "unit_failed",
                    class_id=event.unit.class_id,
                    path=event.unit.path,
                    worker=event.worker,
                    host=self._hosts.get(event.worker, ""),
                    message=event.message[:_MAX_MESSAGE],
                    oom=event.oom,
                )


def _figures(report: Report) -> dict[str, Any]:
    """Return the fields of a progress event that a report has."""
    return {
        "n_classes": report.n_classes,
        "n_classes_done": report.n_classes_done,
        "n_verdicts": report.n_verdicts,
        "n_open": report.n_open,
        "n_in_flight": report.n_in_flight,
        "n_split": report.n_split,
        "n_strikes": report.n_strikes,
        "n_requeued": report.n_requeued,
        "n_quarantined": report.n_quarantined,
        "n_deaths": report.n_deaths,
        "n_candidates": report.n_candidates,
        "best_score": report.best_score,
        "best_board": report.best_board,
        "elapsed_s": round(report.elapsed_s, 1),
        "remaining_s": None if report.remaining_s is None else round(report.remaining_s, 1),
        "n_measured": report.n_measured,
        "n_agreed": report.n_agreed,
        "share": report.share,
    }
