"""``events.jsonl``: what happened in a run, for people and for monitoring.  It is not evidence.

    EventLog, read_events   the writer and the reader
    live                    whether a driver works on the run, and its last figures
    merge_logs              the logs of several runs as one

One JSON object a line, appended and never changed; on an object store, some lines an object
(objects.py).  Every line:

    time      seconds since 1970, by the clock of the driver
    session   eight hex digits, one value for each call of ``orderly run``
    event     what happened, one of :data:`FIELDS`, with the fields listed there; fields may be
              added, none is removed

A kill may leave half a line.  The next driver starts a new line after it, and readers skip what is
not JSON. The log is best effort: it never stops a run, not even when the disk is full.

``orderly merge`` appends to the log of the target what it lacks, and thins out what nobody needs
once a session is over: of the ``progress`` of a session the last line in every ten minutes stays,
and no ``stored``, which names a part file of the source.  The last line is an event ``merged`` of a
session of its own: no source is taken for the last session of the target.
"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from boardclass.errors import StoreError
from results.storage import files
from results.storage.local import Folder, LocalFolder
from results.storage.lock import Owner, current_owner

HOST_FLAGGED = "host_flagged"
FIELDS = {
    "started": "dims wordlist cutoff n_workers n_classes n_classes_done n_verdicts host pid "
    "version kernel_hash share",
    "dropped": "name message",
    "reused": "location cutoff n_reused n_verdicts",
    "worker_up": "worker host kernel_hash",
    "worker_down": "worker host reason message",
    "worker_retired": "worker host message",
    "unit_failed": "class_id path worker host message oom",
    "unit_quarantined": "class_id path attempts message",
    "best": "score board",
    HOST_FLAGGED: "host",
    "stored": "name n_rows",
    "progress": "n_classes n_classes_done n_verdicts n_open n_in_flight n_split n_strikes "
    "n_requeued n_quarantined n_duplicates n_deaths n_candidates best_score "
    "best_board n_workers hosts flagged n_agreed elapsed_s remaining_s "
    "remaining_low_s remaining_high_s elsewhere_s n_measured share n_own n_own_done "
    "n_free_bytes n_total_bytes busy",
    "memory_low": "n_free_bytes n_total_bytes message",
    "merged": "sources n_rows n_parts",
    "stage": "name text",
    "finished": "complete message digest n_verdicts seconds",
    "stopped": "reason message",
}
RESCORING = "rescoring"  # the name of a stage
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Seconds = Annotated[float, Field(ge=0, lt=1e12)]  # later than any clock


@with_config(ConfigDict(extra="forbid"))
class _Busy(TypedDict):
    worker: _Count
    host: str
    class_id: _Count
    path: str
    n_units: _Count
    seconds: _Seconds
    n_bytes: NotRequired[_Count]  # older logs lack it


_KINDS: dict[str, Any] = {
    **dict.fromkeys(("cutoff", "pid", "worker", "score", "class_id", "attempts"), _Count),
    **dict.fromkeys(("complete", "oom"), bool),
    **dict.fromkeys(("flagged", "sources"), list[str]),
    "best_score": _Count | None,  # not known yet
    **dict.fromkeys(("remaining_s", "remaining_low_s", "remaining_high_s"), _Seconds | None),
    "hosts": dict[str, _Count],
    "busy": list[_Busy],
    "seconds": _Seconds,
}


def _kind(name: str) -> Any:
    """Return the type of a field, which most names tell."""
    told = _Count if name.startswith("n_") else _Seconds if name.endswith("_s") else str
    return NotRequired[_KINDS.get(name, told)]


_FIELDS = {name: _kind(name) for names in FIELDS.values() for name in (*names.split(), "session")}
_LINE = TypeAdapter(
    TypedDict(  # type: ignore
        "_Line", {"time": _Seconds, "event": Literal[tuple(FIELDS)], **_FIELDS}
    )
)
TAIL_BYTES = 2**18

_MAX_LINE_BYTES = 2**16  # a reader skips a longer one
_KEPT = 10_000  # lines that wait while the folder cannot be written to
_OBJECT_S = 15.0


class EventLog:
    """The writer; ``clock`` gives seconds since 1970."""

    def __init__(self, folder: Folder, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._session = uuid.uuid4().hex[:8]
        self._lines: list[str] = []
        self._every_s = 0.0 if isinstance(folder, LocalFolder) else _OBJECT_S
        self._written_at_s = 0.0
        self.n_lost = 0  # lines given up because the folder could not be written to for long

    def add(self, event: str, **values: Any) -> None:
        """Note an event; :meth:`flush` writes it."""
        assert set(values) <= set(FIELDS[event].split()), (event, values)
        line = {"time": round(self._clock(), 3), "session": self._session, "event": event, **values}
        self._lines.append(json.dumps(line, ensure_ascii=False))
        if len(self._lines) > _KEPT:
            self.n_lost += 1
            del self._lines[0]

    def flush(self, *, now: bool = False) -> None:
        """Write what was noted, on an object store every 15 s or ``now``; what cannot be written
        waits.
        """
        if self._lines and (now or self._clock() - self._written_at_s >= self._every_s):
            self._written_at_s = self._clock()
            try:
                self._folder.note(files.EVENTS, "\n".join(self._lines) + "\n")
            except StoreError:
                return
            self._lines = []


def read_events(folder: Folder, n_bytes: int = TAIL_BYTES) -> list[dict[str, Any]]:
    """Return the last events of a run, oldest first; skip other lines, and return none of a log
    that cannot be read.
    """
    events: list[dict[str, Any]] = []
    try:
        lines = folder.read_tail(files.EVENTS, n_bytes).split(b"\n")
    except StoreError:
        return events
    for line in lines:
        with contextlib.suppress(ValidationError):
            if len(line) <= _MAX_LINE_BYTES:
                _LINE.validate_json(line, strict=True)
                events.append(json.loads(line))
    return events


_WINDOW_S = 900.0  # the rate is that of the last quarter of an hour
_ENDS = ("finished", "stopped")


@dataclass(frozen=True)
class Live:
    """The last session of a run."""

    is_running: bool  # whether a driver holds the lock
    owner: Owner | None  # who that is, if it says
    # the last ``progress`` event (fields in FIELDS); empty when there is none
    progress: Mapping[str, Any]
    age_s: float | None  # of that event
    # over the last quarter of an hour, or all of a shorter session; None before two events
    classes_per_h: float | None
    verdicts_per_h: float | None
    # the event that ended the session; empty while it runs, and when it was killed
    end: Mapping[str, Any]
    ended_s: float | None  # how long ago that was


def live(folder: Folder) -> Live:
    """Return what is going on in a run; raises StoreError when the folder cannot be read."""
    is_running, owner = current_owner(folder)
    events = read_events(folder)
    # it may not have logged anything yet, and a driver that lost the run may have logged since
    if owner:
        # times are rounded
        events = [event for event in events if event["time"] >= owner.since_s - 0.001]
    starts = [
        event
        for event in events
        if event["event"] == "started" and owner and event.get("pid") == owner.pid
    ]
    session = (starts or events)[-1].get("session") if events else None
    ours = [event for event in events if event.get("session") == session]
    reports = [event for event in ours if event["event"] == "progress"]
    ends = [event for event in ours if event["event"] in _ENDS]
    return Live(
        is_running=is_running,
        owner=owner,
        progress=reports[-1] if reports else {},
        age_s=_age_s(reports),
        classes_per_h=_rate(reports, "n_classes_done"),
        verdicts_per_h=_rate(reports, "n_verdicts"),
        end=ends[-1] if ends else {},
        ended_s=_age_s(ends),
    )


def _age_s(events: Sequence[Mapping[str, Any]]) -> float | None:
    return max(0.0, time.time() - float(events[-1]["time"])) if events else None


def _rate(reports: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = [
        (float(event["time"]), event.get(name)) for event in reports if event.get("n_workers")
    ]
    known = [(at_s, value) for at_s, value in values if isinstance(value, int | float)]
    recent = [item for item in known if known[-1][0] - item[0] <= _WINDOW_S]
    if len(recent) < 2 or recent[-1][0] <= recent[0][0]:
        return None
    return 3600.0 * (recent[-1][1] - recent[0][1]) / (recent[-1][0] - recent[0][0])


PROGRESS_S = 600.0
# the end of a log that is read: weeks of a sound one, and a stranger's may be of any length
MAX_BYTES = 2**26


def merge_logs(target: Folder, sources: Sequence[Folder], *, n_rows: int, n_parts: int) -> int:
    """Append the lines that the log of the target, whose lock is held, lacks; return how many.

    A last line tells of the merge, which added ``n_rows`` and ``n_parts`` to the target.  Like all
    writing to the log, this is best effort: a log that cannot be written to stays as it is.
    """
    known = {json.dumps(event, ensure_ascii=False) for event in read_events(target, MAX_BYTES)}
    events = (event for source in sources for event in thinned(read_events(source, MAX_BYTES)))
    offered = dict.fromkeys(json.dumps(event, ensure_ascii=False) for event in events)
    lines = [line for line in offered if line not in known]
    if not lines and not n_rows:
        return 0
    log = EventLog(target)
    names = [source.where("").rstrip("/").rpartition("/")[2] for source in sources]
    log.add("merged", sources=names, n_rows=n_rows, n_parts=n_parts)
    log._lines[:0] = lines
    log.flush(now=True)
    return 0 if log._lines else len(lines)


def thinned(events: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the events that are worth keeping, in order; the same events give the same ones
    again.
    """
    kept = [event for event in events if event["event"] != "stored"]
    last = {_slot(event): place for place, event in enumerate(kept) if event["event"] == "progress"}
    return [
        event
        for place, event in enumerate(kept)
        if event["event"] != "progress" or last[_slot(event)] == place
    ]


def _slot(event: Mapping[str, Any]) -> tuple[str, int]:
    return str(event.get("session")), int(event["time"] // PROGRESS_S)
