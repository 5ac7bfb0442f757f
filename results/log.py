"""``events.jsonl``: what happened in a run, for people and for monitoring.  It is not evidence.

    EventLog, read_events   the writer and the reader
    live                    whether a driver works on the run, and its last figures
    merge_logs              the logs of several runs as one

One JSON object a line, an event of log_events.py, appended and never changed; on an object store,
some lines an object (objects.py).
A kill may leave half a line.  The next driver starts a new line after it, and readers skip what is
not JSON. The log is best effort: it never stops a run, not even when the disk is full.

``orderly merge`` appends to the log of the target what it lacks, and thins out what nobody needs
once a session is over: of the ``progress`` of a session the last line in every ten minutes stays,
and no ``stored``, which names a part file of the source.  The last line is an event ``merged`` of a
session of its own: no source is taken for the last session of the target.

>>> from orderly_boggle.results.storage.local import open_folder
>>> events = read_events(open_folder("runs/2x2-scowl70-14"))
>>> events[0].event, events[-1].event
('started', 'finished')
"""

import contextlib
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.results.log_events import (
    EVENT,
    Event,
    Finished,
    Merged,
    PartStored,
    Reported,
    Started,
    Stopped,
)
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder, LocalFolder
from orderly_boggle.results.storage.lock import current_owner
from orderly_boggle.results.storage.outage import in_haste
from orderly_boggle.results.storage.owner import Owner

TAIL_BYTES = 2**18

_MAX_LINE_BYTES = 2**16  # a reader skips a longer one
_KEPT = 10_000  # lines that wait while the folder cannot be written to
_OBJECT_S = 30.0
_STARTS_BYTES = 2**22  # days of starts that add nothing


class EventLog:
    """The writer; ``clock`` gives seconds since 1970."""

    def __init__(self, folder: Folder, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._session = uuid.uuid4().hex[:8]
        self._lines: list[str] = []
        if isinstance(folder, LocalFolder):
            self._every_s = 0.0
        else:
            self._every_s = _OBJECT_S
        self._written_at_s = 0.0

    def add(self, event: Event) -> None:
        """Note an event of now, of this session; :meth:`flush` writes it."""
        stamped = replace(event, time=round(self._clock(), 3), session=self._session)
        self._lines.append(EVENT.dump_json(stamped).decode())
        del self._lines[:-_KEPT]

    def flush(self, *, now: bool = False) -> None:
        """Write what was noted, on an object store every 30 s or ``now``; what cannot be written
        waits.
        """
        if self._lines and (now or self._clock() - self._written_at_s >= self._every_s):
            self._written_at_s = self._clock()
            try:
                with in_haste():
                    self._folder.note(files.EVENTS, "\n".join(self._lines) + "\n")
            except StoreError:
                return
            self._lines = []


def read_events(folder: Folder, n_bytes: int = TAIL_BYTES) -> list[Event]:
    """Return the last events of a run, oldest first; skip other lines, and return none of a log
    that cannot be read.
    """
    return [event for event, _ in _read(folder, n_bytes)]


def _read(folder: Folder, n_bytes: int) -> Iterator[tuple[Event, str]]:
    """Yield the last events, and the line of each, which may have fields of a newer version."""
    try:
        lines = folder.read_tail(files.EVENTS, n_bytes).split(b"\n")
    except StoreError:
        return
    for line in lines:
        with contextlib.suppress(ValidationError):
            if len(line) <= _MAX_LINE_BYTES:
                yield EVENT.validate_json(line, strict=True), line.decode()


_WINDOW_S = 900.0  # the rate is that of the last quarter of an hour


@dataclass(frozen=True)
class Live:
    """The last session of a run."""

    is_running: bool  # whether a driver holds the lock
    owner: Owner | None  # who that is, if it says
    report: Reported | None  # the last one
    age_s: float | None  # of that event
    # over the last quarter of an hour, or all of a shorter session; None before two events
    classes_per_h: float | None
    verdicts_per_h: float | None
    end: Finished | Stopped | None  # None while it runs, and when it was killed
    ended_s: float | None  # how long ago that was

    @property
    def driver(self) -> str:
        """Who works on the run, in words."""
        if self.owner:
            return self.owner.describe()
        return "unknown"


def live(folder: Folder) -> Live:
    """Return what is going on in a run; raises StoreError when the folder cannot be read."""
    is_running, owner = current_owner(folder)
    events = read_events(folder)
    # it may not have logged anything yet, and a driver that lost the run may have logged since
    if owner:
        # times are rounded
        events = [event for event in events if event.time >= owner.since_s - 0.001]
    starts = []
    for event in events:
        if isinstance(event, Started) and owner and event.pid == owner.pid:
            starts.append(event)
    session = None
    if events:
        session = (starts or events)[-1].session
    ours = [event for event in events if event.session == session]
    reports = [event for event in ours if isinstance(event, Reported)]
    ends = [event for event in ours if isinstance(event, Finished | Stopped)]
    if is_running and owner is None and ends:  # the driver at work has not said yet who it is
        reports = []
        ends = []
    return Live(
        is_running=is_running,
        owner=owner,
        report=reports[-1] if reports else None,
        age_s=_age_s(reports),
        classes_per_h=_rate(reports, "n_classes_done"),
        verdicts_per_h=_rate(reports, "n_verdicts"),
        end=ends[-1] if ends else None,
        ended_s=_age_s(ends),
    )


def n_starts_without_progress(folder: Folder, n_verdicts: int, share: str) -> int:
    """Return how many times in a row, up to the last, a run was started with the verdicts that it
    has now, for the share that it has now: none of these starts has added one.

    Like all that is read from the log this is best effort; the log may be lost.
    """
    starts = [event for event in read_events(folder, _STARTS_BYTES) if isinstance(event, Started)]
    n_starts = 0
    while starts and (starts[-1].n_verdicts, starts[-1].share) == (n_verdicts, share):
        starts.pop()
        n_starts += 1
    return n_starts


def _age_s(events: Sequence[Event]) -> float | None:
    if events:
        return max(0.0, time.time() - events[-1].time)
    return None


def _rate(reports: Sequence[Reported], name: str) -> float | None:
    """Return how much was done per hour recently, while workers were up."""
    up = [report for report in reports if report.n_workers]
    recent = []
    for report in up:
        if up[-1].time - report.time <= _WINDOW_S:
            recent.append(report)
    if len(recent) < 2:
        return None
    first = recent[0]
    last = recent[-1]
    if last.time <= first.time:
        return None
    n = getattr(recent[-1], name) - getattr(recent[0], name)
    return 3600.0 * n / (last.time - first.time)


PROGRESS_S = 600.0
# the end of a log that is read: weeks of a sound one, and a stranger's may be of any length
MAX_BYTES = 2**26


def merge_logs(target: Folder, sources: Sequence[Folder], *, n_rows: int, n_parts: int) -> int:
    """Append the lines that the log of the target, whose lock is held, lacks; return how many.

    A last line tells of the merge, which added ``n_rows`` and ``n_parts`` to the target.  Like all
    writing to the log, this is best effort: a log that cannot be written to stays as it is.
    """
    known = {line for _, line in _read(target, MAX_BYTES)}
    offered = dict[str, None]()  # in order, each once
    for source in sources:
        offered |= dict.fromkeys(line for _, line in thinned(_read(source, MAX_BYTES)))
    lines = [line for line in offered if line not in known]
    if not lines and not n_rows:
        return 0
    log = EventLog(target)
    names = []
    for source in sources:
        _, _, name = source.where("").rstrip("/").rpartition("/")
        names.append(name)
    log.add(Merged(sources=tuple(names), n_rows=n_rows, n_parts=n_parts))
    log._lines[:0] = lines
    log.flush(now=True)
    if log._lines:
        return 0
    return len(lines)


def thinned(events: Iterable[tuple[Event, str]]) -> list[tuple[Event, str]]:
    """Return the events that are worth keeping, and their lines, in order; the same events give
    the same ones again.
    """
    kept: list[tuple[Event, str]] = []
    slots = set[tuple[str, int]]()  # of a report, from the end
    for event, line in reversed(list(events)):
        slot = (event.session, int(event.time // PROGRESS_S))
        if isinstance(event, PartStored) or (isinstance(event, Reported) and slot in slots):
            continue
        if isinstance(event, Reported):
            slots.add(slot)
        kept.append((event, line))
    return kept[::-1]
