"""``events.jsonl``: what happened in a run, for people and for monitoring.  It is not evidence.

One JSON object a line, appended and never changed; on an object store, some lines an object (objects.py).  Every line:

    time      seconds since 1970, by the clock of the driver
    session   eight hex digits, one value for each call of ``orderly run``
    event     what happened, one of :data:`FIELDS`, with the fields listed there; fields may be added, none is removed

A kill may leave half a line.  The next driver starts a new line after it, and readers skip what is not JSON. The log is
best effort: it never stops a run, not even when the disk is full.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

from boardclass.errors import StoreError
from results.storage import files
from results.storage.files import Folder
from results.storage.objects import ObjectFolder

HOST_FLAGGED = "host_flagged"
FIELDS = {
    "started": "dims wordlist cutoff n_workers n_classes n_classes_done n_verdicts host pid version kernel_hash share",
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
    "progress": "n_classes n_classes_done n_verdicts n_open n_in_flight n_split n_strikes n_requeued n_quarantined "
    "n_duplicates "
    "n_deaths n_candidates best_score best_board n_workers hosts flagged n_agreed elapsed_s remaining_s n_measured "
    "share busy",
    "merged": "sources n_rows n_parts",
    "stage": "name text",
    "finished": "complete message digest n_verdicts seconds",
    "stopped": "reason message",
}
RESCORING = "rescoring"  # the name of a stage
_NUMBERS = ("cutoff", "pid", "worker", "score", "best_score", "class_id", "attempts")
_SWITCHES = ("complete", "oom")
_OPEN = ("best_score", "remaining_s")
TAIL_BYTES = 2**18

_MAX_LINE_BYTES = 2**16  # a reader skips a longer one
_COUNT_LIMIT = 2**63
_KEPT = 10_000  # lines that wait while the folder cannot be written to
_OBJECT_S = 15.0
_END_S = 1e12  # later than any clock


class EventLog:
    """The writer.

    Parameters
    ----------
    folder : Folder
    clock : callable
        Seconds since 1970.

    Attributes
    ----------
    n_lost : int
        Lines given up because the folder could not be written to for long.
    """

    def __init__(self, folder: Folder, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._session = uuid.uuid4().hex[:8]
        self._lines: list[str] = []
        self._every_s = _OBJECT_S if isinstance(folder, ObjectFolder) else 0.0
        self._written_at_s = 0.0
        self.n_lost = 0

    def add(self, event: str, **values: Any) -> None:
        """Note an event; :meth:`flush` writes it."""
        assert set(values) <= set(FIELDS[event].split()), (event, values)
        line = {"time": round(self._clock(), 3), "session": self._session, "event": event, **values}
        self._lines.append(json.dumps(line, ensure_ascii=False))
        if len(self._lines) > _KEPT:
            self.n_lost += 1
            del self._lines[0]

    def flush(self, *, now: bool = False) -> None:
        """Write what was noted, on an object store every 15 s or ``now``; what cannot be written waits."""
        if self._lines and (now or self._clock() - self._written_at_s >= self._every_s):
            self._written_at_s = self._clock()
            try:
                self._folder.note(files.EVENTS, "\n".join(self._lines) + "\n")
            except StoreError:
                return
            self._lines = []


def read_events(folder: Folder, n_bytes: int = TAIL_BYTES) -> list[dict[str, Any]]:
    """Return the last events of a run, oldest first; skip other lines, and return none of a log that cannot be read."""
    events: list[dict[str, Any]] = []
    try:
        lines = folder.read_tail(files.EVENTS, n_bytes).split(b"\n")
    except StoreError:
        return events
    for line in lines:
        if len(line) > _MAX_LINE_BYTES:
            continue
        try:
            values = json.loads(line)
            json.dumps(values, ensure_ascii=False).encode()  # half a surrogate pair is not text
        except (ValueError, RecursionError):
            continue
        if isinstance(values, dict) and _is_event(values):
            events.append(values)
    return events


def _is_event(values: dict[str, Any]) -> bool:
    """Return whether an object has the two fields that readers rely on, and all others that it has have the right type.

    A field's name tells its type: counts begin with ``n_``, seconds end in ``_s``, what is not listed here is text.
    """
    event, time_s = values.get("event"), values.get("time")
    if not isinstance(event, str) or event not in FIELDS or not _is_seconds(time_s):
        return False
    return all(_fits(name, values[name]) for name in (*FIELDS[event].split(), "session") if name in values)


def _fits(name: str, value: object) -> bool:
    """Return whether a value may stand in a field of this name; null: not known yet."""
    if value is None:
        return name in _OPEN
    if name.startswith("n_") or name in _NUMBERS:
        return _is_count(value)
    if name.endswith("_s") or name == "seconds":
        return _is_seconds(value)
    if name == "busy":
        return isinstance(value, list) and all(map(_is_busy, value))
    if name == "hosts":
        return isinstance(value, dict) and all(map(_is_count, value.values()))
    if name in ("flagged", "sources"):
        return isinstance(value, list) and all(isinstance(host, str) for host in value)
    return isinstance(value, bool) if name in _SWITCHES else isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _COUNT_LIMIT


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _END_S


def _is_busy(value: object) -> bool:
    """Return whether a value tells what a worker is working on."""
    kinds = {"worker": _is_count, "host": _is_text, "class_id": _is_count, "path": _is_text, "n_units": _is_count}
    kinds["seconds"] = _is_seconds
    return isinstance(value, dict) and value.keys() == kinds.keys() and all(fits(value[n]) for n, fits in kinds.items())


def _is_text(value: object) -> bool:
    return isinstance(value, str)
