"""Wall time of the stages of a run, from its event log: how long it prepared, searched, rescored.

The log is best effort and may be missing; a session that was killed counts up to its last line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from results.log import RESCORING, read_events
from results.store.run import Run

MAX_BYTES = 2**26
PREPARING, SEARCHING = "preparing", "searching"
_MARKERS = ("started", "stage", "finished", "stopped")


def stage_seconds(events: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the seconds of each stage, summed over the sessions.

    Parameters
    ----------
    events : with ``time`` in seconds, ``session`` and ``event``, oldest first; a ``stage`` has a ``name``, except in
        old logs, where each is rescoring
    """
    sessions: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        sessions.setdefault(str(event.get("session")), []).append(event)
    total: dict[str, float] = {}
    for lines in sessions.values():
        markers = [line for line in lines if line["event"] in _MARKERS]
        if not markers:  # its beginning was not read
            continue
        ends = [line["time"] for line in markers[1:]] + [lines[-1]["time"]]
        for marker, end in zip(markers, ends, strict=True):
            if marker["event"] in ("started", "stage"):
                name = SEARCHING if marker["event"] == "started" else str(marker.get("name") or RESCORING)
                total[name] = total.get(name, 0.0) + max(0.0, end - marker["time"])
            elif isinstance(marker.get("seconds"), int | float):  # of the session with what came before "started"
                before = float(marker["seconds"]) - (marker["time"] - lines[0]["time"])
                total[PREPARING] = total.get(PREPARING, 0.0) + max(0.0, before)
    return {name: total[name] for name in sorted(total, key=lambda name: (name != PREPARING, name != SEARCHING))}


def read_stages(run: Run) -> dict[str, float]:
    """Return the seconds of each stage of a run; empty when it has no event log."""
    return stage_seconds(read_events(run.folder, MAX_BYTES))
