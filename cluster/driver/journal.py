"""Writes what the run loop sees into the event log (``results.log_events`` has the events)."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Self

from orderly_boggle.cluster.scheduling import events
from orderly_boggle.results import log_events
from orderly_boggle.results.log import EventLog
from orderly_boggle.results.log_events import Report
from orderly_boggle.results.storage.local import Folder

# between two lines of progress
_SHORTEST_S = 2.0
_LONGEST_S = 60.0
_SHARE = 0.01  # of the elapsed time, so that the log of a run of weeks stays small
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
            self.add(log_events.Stopped(reason=type(error).__name__, message=str(error)))
        self.flush(now=True)

    @property
    def hosts(self) -> dict[str, int]:
        """Workers that are up, by host."""
        n_workers = Counter(seen.host for seen in self._workers.values())
        return dict(sorted(n_workers.items()))

    def note(self, event: log_events.Event) -> None:
        """Write an event at once."""
        self.add(event)
        self.flush(now=True)

    def loop(self, came: Sequence[events.Event], orders: Sequence[events.Instruction]) -> None:
        """Note the events from the executor and the instructions that the scheduler gave."""
        for event in came:
            self._event(event)
        for order in orders:
            match order, self._workers.get(getattr(order, "worker", 0)):
                case events.Assign(), _Seen() as seen:
                    seen.order = order
                    seen.since_s = self._ticks()
                case events.Retire(worker=worker), _Seen(host=host):
                    del self._workers[worker]
                    self.add(log_events.WorkerRetired(**asdict(order), host=host))
                case events.Bar(machine, message), _:
                    self.add(log_events.MachineBarred(machine=machine, message=message))
                case events.Quarantine(unit, attempt, message), _:
                    given_up = log_events.UnitGivenUp(
                        **asdict(unit), attempts=attempt, message=message
                    )
                    self.add(given_up)
        self.flush()

    def stored(self, name: str, n_rows: int) -> None:
        """Note the last part that was stored, once, however often this is called."""
        if name and name != self._part:
            self._part = name
            self.add(log_events.PartStored(name=name, n_rows=n_rows))

    def report(self, report: Report, *, now: bool = False) -> None:
        """Note how far the run is, now and then."""
        score = report.best_score
        if score is not None and (self._best is None or score > self._best):
            self._best = score
            self.add(log_events.BestBoard(score=score, board=report.best_board))
        for host in sorted(set(report.flagged) - self._flagged):
            self._flagged.add(host)
            self.add(log_events.HostFlagged(host=host))
        now_s = self._ticks()
        every_s = min(_LONGEST_S, max(_SHORTEST_S, _SHARE * (now_s - self._began_s)))
        if now or now_s - self._reported_at_s >= every_s:
            self._reported_at_s = now_s
            figures = asdict(report)
            for name, value in figures.items():
                if isinstance(value, float):
                    figures[name] = round(value, 1)
                else:
                    figures[name] = value
            busy = self._at_work(now_s)
            self.add(log_events.Reported(**figures, hosts=self.hosts, busy=busy))
        self.flush(now=now)

    def _at_work(self, now_s: float) -> tuple[log_events.Busy, ...]:
        """Return what workers are working on, the longest at work first."""
        busy = []
        for seen in self._workers.values():
            if seen.order is not None:
                busy.append(
                    log_events.Busy(
                        worker=seen.order.worker,
                        host=seen.host,
                        **asdict(seen.order.units[0]),
                        n_units=len(seen.order.units),
                        seconds=round(now_s - seen.since_s, 1),
                        n_bytes=seen.n_bytes,
                    )
                )
        busy.sort(key=lambda item: (-item.seconds, item.worker))
        return tuple(busy[:_MAX_BUSY])

    def _event(self, event: events.Event) -> None:
        seen = self._workers.get(getattr(event, "worker", 0), _Seen(""))
        match event:
            case events.WorkerUp():
                self._workers[event.worker] = _Seen(event.host)
                self.add(
                    log_events.WorkerStarted(
                        worker=event.worker, host=event.host, kernel_hash=event.kernel_hash
                    )
                )
            case events.Answer():
                seen.n_bytes = event.peak_rss_bytes
            # it may be at work on the next by now
            case events.Returned() if seen.order and seen.order.assignment == event.assignment:
                seen.order = None
            case events.WorkerDown():
                self._workers.pop(event.worker, None)
                self.add(
                    log_events.WorkerLost(
                        worker=event.worker,
                        host=seen.host or event.machine,
                        reason=event.reason,
                        message=event.message,
                    )
                )
            case events.UnitFailed(worker, _, unit, message, oom):
                tried = log_events.UnitTried(
                    **asdict(unit), worker=worker, host=seen.host, message=message, oom=oom
                )
                self.add(tried)
