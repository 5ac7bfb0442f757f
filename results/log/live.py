"""What is going on in a run: who writes to it, how fast, how long it will take; from the lock and the event log."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.log.eventlog import read_events
from results.storage.files import Folder
from results.storage.lock import Owner, current_owner

_WINDOW_S = 900.0  # the rate is that of the last quarter of an hour
_LEAST_GUESSES = 3
_ENDS = ("finished", "stopped")


@dataclass(frozen=True)
class Live:
    """The last session of a run.

    Attributes
    ----------
    is_running : bool
        Whether a driver holds the lock.
    owner : Owner or None
        Who that is, if it says.
    progress : mapping
        The last ``progress`` event (fields in ``eventlog.FIELDS``); empty when there is none.
    age_s : float or None
        Its age.
    classes_per_h, verdicts_per_h : float or None
        Over the last quarter of an hour, or as long as the session has lasted; None before two events.
    end : mapping
        The event that ended the session; empty while it runs, and when it was killed.
    ended_s : float or None
        How long ago that was.
    remaining_range_s : (float, float) or None
        The least and the largest guess of the time left, as of the last ``progress``, over the last quarter of an hour;
        None before three guesses.
    """

    is_running: bool
    owner: Owner | None
    progress: Mapping[str, Any]
    age_s: float | None
    classes_per_h: float | None
    verdicts_per_h: float | None
    end: Mapping[str, Any]
    ended_s: float | None
    remaining_range_s: tuple[float, float] | None = None


def live(folder: Folder) -> Live:
    """Return what is going on in a run.

    Raises
    ------
    StoreError
        When the folder cannot be read.
    """
    owned = current_owner(folder)
    events = read_events(folder)
    owner = owned[0] if owned else None
    if owner:  # it may not have logged anything yet, and a driver that lost the run may have logged since
        events = [event for event in events if event["time"] >= owner.since_s - 0.001]  # times are rounded
    starts = [event for event in events if event["event"] == "started" and owner and event.get("pid") == owner.pid]
    session = (starts or events)[-1].get("session") if events else None
    ours = [event for event in events if event.get("session") == session]
    reports = [event for event in ours if event["event"] == "progress"]
    ends = [event for event in ours if event["event"] in _ENDS]
    return Live(
        is_running=owned is not None,
        owner=owner,
        progress=reports[-1] if reports else {},
        age_s=_age_s(reports),
        classes_per_h=_rate(reports, "n_classes_done"),
        verdicts_per_h=_rate(reports, "n_verdicts"),
        end=ends[-1] if ends else {},
        ended_s=_age_s(ends),
        remaining_range_s=_range(reports),
    )


def _age_s(events: Sequence[Mapping[str, Any]]) -> float | None:
    return max(0.0, time.time() - float(events[-1]["time"])) if events else None


def _rate(reports: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return how much a figure grew per hour while there were workers."""
    values = [(float(event["time"]), event.get(name)) for event in reports if event.get("n_workers")]
    known = [(at_s, value) for at_s, value in values if isinstance(value, int | float)]
    recent = [item for item in known if known[-1][0] - item[0] <= _WINDOW_S]
    if len(recent) < 2 or recent[-1][0] <= recent[0][0]:
        return None
    return 3600.0 * (recent[-1][1] - recent[0][1]) / (recent[-1][0] - recent[0][0])


def _range(reports: Sequence[Mapping[str, Any]]) -> tuple[float, float] | None:
    """Return the least and the largest time left that recent guesses give, counted from the last of them."""
    if not reports:
        return None
    last_s = float(reports[-1]["time"])
    ages = [(last_s - float(event["time"]), event.get("remaining_s")) for event in reports]
    left = [max(0.0, value - age) for age, value in ages if value is not None and 0 <= age <= _WINDOW_S]
    return (min(left), max(left)) if len(left) >= _LEAST_GUESSES else None
