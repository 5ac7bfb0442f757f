"""The event logs of several runs in one: what ``orderly merge`` does with ``events.jsonl``.

The log of the target is only appended to.  A source that began as a copy of it shares lines with it: equal lines are
not written twice.  Two kinds of lines are thinned out, because nobody needs them once a session is over:

    progress   the last one of each session in every ten minutes stays
    stored     left out: it names a part file of the source

The last line is an event ``merged`` of a session of its own, so no session of a source is taken for the last one of the
target.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from boardclass.errors import StoreError
from results.log.eventlog import EventLog, read_events
from results.storage import files
from results.storage.files import Folder

PROGRESS_S = 600.0
MAX_BYTES = 2**26  # the end of a log that is read: weeks of a sound one, and a stranger's may be of any length


def merge_logs(target: Folder, sources: Sequence[Folder], *, n_rows: int, n_parts: int) -> int:
    """Append the lines that the target's log lacks; return how many.

    Like all writing to the log, this is best effort: a log that cannot be written to stays as it is.

    Parameters
    ----------
    target : Folder
        Its lock is held.
    sources : sequence of Folder
    n_rows, n_parts : int
        What the merge added to the target, for the event that tells of it.
    """
    known = {_line(event) for event in read_events(target, MAX_BYTES)}
    lines: list[str] = []
    for source in sources:
        for event in thinned(read_events(source, MAX_BYTES)):
            line = _line(event)
            if line not in known:
                known.add(line)
                lines.append(line)
    if not lines and not n_rows:
        return 0
    try:
        if lines:
            target.note(files.EVENTS, "\n".join(lines) + "\n")
    except StoreError:
        return 0
    log = EventLog(target)
    names = [source.where("").rstrip("/").rpartition("/")[2] for source in sources]
    log.add("merged", sources=names, n_rows=n_rows, n_parts=n_parts)
    log.flush(now=True)
    return len(lines)


def thinned(events: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the events that are worth keeping, in order; the same events give the same ones again."""
    kept = [event for event in events if event["event"] != "stored"]
    last = {_slot(event): place for place, event in enumerate(kept) if event["event"] == "progress"}
    return [event for place, event in enumerate(kept) if event["event"] != "progress" or last[_slot(event)] == place]


def _slot(event: Mapping[str, Any]) -> tuple[str, int]:
    return str(event.get("session")), int(event["time"] // PROGRESS_S)


def _line(event: Mapping[str, Any]) -> str:
    """Return an event as the log has it; half a surrogate pair, which this program never writes, is replaced."""
    return json.dumps(event, ensure_ascii=False).encode(errors="replace").decode()
