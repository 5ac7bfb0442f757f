"""Writes what the run loop sees into the event log (``results.log`` has the format)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from types import TracebackType
from typing import Any, Self

from cluster.scheduling.events import (
    Answer,
    Assign,
    Event,
    Instruction,
    Quarantine,
    Report,
    Retire,
    Returned,
    UnitFailed,
    WorkerDown,
    WorkerUp,
)
from results.log import HOST_FLAGGED, EventLog
from results.storage.files import Folder

_SHORTEST_S, _LONGEST_S = 2.0, 60.0  # between two lines of progress
_SHARE = 0.01  # of the elapsed time, so that the log of a run of weeks stays small
_MAX_MESSAGE = 500
_MAX_BUSY = 16  # workers whose work is logged, the longest at work first


class Journal(EventLog):
    """Notes events of one session; as a context manager it notes how the session ended, too.

    Parameters
    ----------
    folder : Folder
    clock : callable
        Seconds, monotonic.
    """

    def __init__(self, folder: Folder, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(folder)
        self._ticks = clock
        self._hosts: dict[int, str] = {}
        self._busy: dict[int, tuple[float, Assign]] = {}
        self._n_bytes: dict[int, int] = {}
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
            self.add("stopped", reason=type(error).__name__, message=str(error)[:_MAX_MESSAGE])
        self.flush(now=True)

    @property
    def hosts(self) -> dict[str, int]:
        """Workers that are up, by host."""
        names = sorted(self._hosts.values())
        return {name: names.count(name) for name in dict.fromkeys(names)}

    def note(self, event: str, **values: Any) -> None:
        """Note something that has no method of its own, at once."""
        self.add(event, **values)
        self.flush(now=True)

    def loop(self, events: Sequence[Event], orders: Sequence[Instruction]) -> None:
        """Note the events from the executor and the instructions that the scheduler gave."""
        for event in events:
            self._event(event)
        for order in orders:
            if isinstance(order, Assign):
                self._busy[order.worker] = (self._ticks(), order)
            elif isinstance(order, Retire) and order.worker in self._hosts:
                self._busy.pop(order.worker, None)
                host = self._hosts.pop(order.worker)
                self.add("worker_retired", worker=order.worker, host=host, message=order.message[:_MAX_MESSAGE])
            elif isinstance(order, Quarantine):
                unit, message = order.unit, order.message[:_MAX_MESSAGE]
                self.add(
                    "unit_quarantined", class_id=unit.class_id, path=unit.path, attempts=order.attempt, message=message
                )
        self.flush()

    def stored(self, name: str, n_rows: int) -> None:
        """Note the last part that was stored, once, however often this is called."""
        if name and name != self._part:
            self._part = name
            self.add("stored", name=name, n_rows=n_rows)

    def report(self, report: Report, *, now: bool = False) -> None:
        """Note how far the run is, now and then."""
        if report.best_score is not None and (self._best is None or report.best_score > self._best):
            self._best = report.best_score
            self.add("best", score=report.best_score, board=report.best_board)
        for host in sorted(set(report.flagged) - self._flagged):
            self._flagged.add(host)
            self.add(HOST_FLAGGED, host=host)
        now_s = self._ticks()
        every_s = min(_LONGEST_S, max(_SHORTEST_S, _SHARE * (now_s - self._began_s)))
        if now or now_s - self._reported_at_s >= every_s:
            self._reported_at_s = now_s
            figures = {
                name: round(value, 1) if isinstance(value, float) else value for name, value in asdict(report).items()
            }
            self.add("progress", **figures, hosts=self.hosts, busy=self._at_work(now_s))
        self.flush(now=now)

    def _at_work(self, now_s: float) -> list[dict[str, Any]]:
        """Return what workers are working on: the first unit, how many more, for how long, and their peak of memory."""
        longest = sorted(self._busy.items(), key=lambda item: (item[1][0], item[0]))[:_MAX_BUSY]
        return [
            {
                "worker": worker,
                "host": self._hosts.get(worker, ""),
                "class_id": order.units[0].class_id,
                "path": order.units[0].path,
                "n_units": len(order.units),
                "seconds": round(now_s - since_s, 1),
                "n_bytes": self._n_bytes.get(worker, 0),
            }
            for worker, (since_s, order) in longest
        ]

    def _event(self, event: Event) -> None:
        if isinstance(event, Returned | WorkerDown):
            self._busy.pop(event.worker, None)
        match event:
            case WorkerUp():
                self._hosts[event.worker] = event.host
                self.add("worker_up", worker=event.worker, host=event.host, kernel_hash=event.kernel_hash)
            case Answer():
                self._n_bytes[event.worker] = event.peak_rss_bytes
            case WorkerDown():
                host, message = self._hosts.pop(event.worker, ""), event.message[:_MAX_MESSAGE]
                self.add("worker_down", worker=event.worker, host=host, reason=event.reason, message=message)
            case UnitFailed():
                self.add(
                    "unit_failed",
                    class_id=event.unit.class_id,
                    path=event.unit.path,
                    worker=event.worker,
                    host=self._hosts.get(event.worker, ""),
                    message=event.message[:_MAX_MESSAGE],
                    oom=event.oom,
                )
