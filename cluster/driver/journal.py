"""Writes what the run loop sees into the event log (``results.log`` has the format)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from cluster.scheduling import events
from results.log import HOST_FLAGGED, EventLog
from results.storage.local import Folder

_SHORTEST_S, _LONGEST_S = 2.0, 60.0  # between two lines of progress
_SHARE = 0.01  # of the elapsed time, so that the log of a run of weeks stays small
_MAX_MESSAGE = 500
_MAX_BUSY = 16  # workers whose work is logged, the longest at work first


@dataclass
class _Seen:
    """A worker that is up, and what it has been at work on since when, if it is."""

    host: str
    n_bytes: int = 0
    order: events.Assign | None = None
    since_s: float = 0.0


class Journal(EventLog):
    """Notes events of one session; as a context manager it notes how the session ended, too."""

    def __init__(self, folder: Folder, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(folder)
        self._ticks = clock
        self._workers: dict[int, _Seen] = {}
        self._part = ""
        self._best: int | None = None
        self._flagged: set[str] = set()
        self._reported_at_s = -_LONGEST_S
        self._began_s = clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            self.add("stopped", reason=type(error).__name__, message=str(error))
        self.flush(now=True)

    @property
    def hosts(self) -> dict[str, int]:
        """Workers that are up, by host."""
        return dict(sorted(Counter(seen.host for seen in self._workers.values()).items()))

    def add(self, event: str, **values: Any) -> None:
        """Note an event, of its message only the beginning."""
        if "message" in values:
            values["message"] = values["message"][:_MAX_MESSAGE]
        super().add(event, **values)

    def note(self, event: str, **values: Any) -> None:
        """Note something at once."""
        self.add(event, **values)
        self.flush(now=True)

    def loop(self, came: Sequence[events.Event], orders: Sequence[events.Instruction]) -> None:
        """Note the events from the executor and the instructions that the scheduler gave."""
        for event in came:
            self._event(event)
        for order in orders:
            if isinstance(order, events.Assign) and order.worker in self._workers:
                seen = self._workers[order.worker]
                seen.order, seen.since_s = order, self._ticks()
            elif isinstance(order, events.Retire) and order.worker in self._workers:
                host = self._workers.pop(order.worker).host
                self.add("worker_retired", worker=order.worker, host=host, message=order.message)
            elif isinstance(order, events.Quarantine):
                told = {"attempts": order.attempt, "message": order.message}
                self.add(
                    "unit_quarantined", class_id=order.unit.class_id, path=order.unit.path, **told
                )
        self.flush()

    def stored(self, name: str, n_rows: int) -> None:
        """Note the last part that was stored, once, however often this is called."""
        if name and name != self._part:
            self._part = name
            self.add("stored", name=name, n_rows=n_rows)

    def report(self, report: events.Report, *, now: bool = False) -> None:
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
                name: round(value, 1) if isinstance(value, float) else value
                for name, value in asdict(report).items()
            }
            self.add("progress", **figures, hosts=self.hosts, busy=self._at_work(now_s))
        self.flush(now=now)

    def _at_work(self, now_s: float) -> list[dict[str, Any]]:
        """Return what workers are working on: the first unit, how many more, for how long, and
        their peak of memory.
        """
        busy = [
            (seen.since_s, seen.order, seen)
            for seen in self._workers.values()
            if seen.order is not None
        ]
        return [
            {
                "worker": order.worker,
                "host": seen.host,
                "class_id": order.units[0].class_id,
                "path": order.units[0].path,
                "n_units": len(order.units),
                "seconds": round(now_s - since_s, 1),
                "n_bytes": seen.n_bytes,
            }
            for since_s, order, seen in sorted(busy, key=lambda item: (item[0], item[1].worker))[
                :_MAX_BUSY
            ]
        ]

    def _event(self, event: events.Event) -> None:
        seen = self._workers.get(getattr(event, "worker", 0), _Seen(""))
        match event:
            case events.WorkerUp():
                self._workers[event.worker] = _Seen(event.host)
                self.add(
                    "worker_up", worker=event.worker, host=event.host, kernel_hash=event.kernel_hash
                )
            case events.Answer():
                seen.n_bytes = event.peak_rss_bytes
            case events.Returned():
                seen.order = None
            case events.WorkerDown():
                self._workers.pop(event.worker, None)
                told = {"reason": event.reason, "message": event.message}
                self.add("worker_down", worker=event.worker, host=seen.host, **told)
            case events.UnitFailed():
                place: dict[str, Any] = {
                    "class_id": event.unit.class_id,
                    "path": event.unit.path,
                    "worker": event.worker,
                }
                self.add(
                    "unit_failed", **place, host=seen.host, message=event.message, oom=event.oom
                )
