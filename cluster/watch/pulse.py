"""What is going on in a run, read once for all who ask, from its lock and the end of its event log.

Whoever asks gets the last reading while it is fresh.  A slow reading is made less often, so that watching costs at most
a hundredth of one processor, however many watch.  Nothing here says *proven*: that follows from the rows, which
``readings.py`` reads in a separate process whenever files have changed, and holds only until another file changes.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

from boardclass.errors import OrderlyError
from cluster.answers.status import time_left_of
from cluster.watch.catalog import Place
from results.log.live import Live, live
from results.storage import files
from results.storage.local import open_folder

FRESH_S, FRESH_REMOTE_S = 1.0, 15.0  # the driver notes progress every 2 s at most, on an object store every 15 s
SHARE = 0.01  # of one processor, for reading one run


class Reading:
    """The last thing known about one run.

    Attributes
    ----------
    stamp : str
        Changes with every file of evidence.
    live : Live or None
    error : str
        Why the run cannot be read; empty when it can.
    n_read : int
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.stamp = ""
        self.live: Live | None = None
        self.error = ""
        self.n_read = 0
        self._next_s = 0.0

    @property
    def is_fresh(self) -> bool:
        """Whether it is too fresh to be read again."""
        return time.monotonic() < self._next_s

    def refresh(self) -> None:
        """Read lock and log, and whether files changed."""
        began_s = time.monotonic()
        try:
            location = self.place.check()
            self.live, self.error = live(open_folder(location)), ""
            self.stamp = _remote_stamp(location) if self.place.is_remote else _stamp(Path(location))
        except OrderlyError as error:
            self.live, self.error, self.stamp = None, str(error), ""
        self.n_read += 1
        now_s = time.monotonic()
        least_s = FRESH_REMOTE_S if self.place.is_remote else FRESH_S
        self._next_s = now_s + max(least_s, (now_s - began_s) / SHARE)


def told(now: Live) -> dict[str, Any]:
    """Return the figures of the last session as plain values; times are points in time, not ages, so that nothing
    changes while nothing happens."""
    progress = {name: value for name, value in now.progress.items() if name not in ("event", "session")}
    end = {name: value for name, value in now.end.items() if name in ("time", "event", "complete", "message", "reason")}
    return {
        "is_running": now.is_running,
        "driver": _driver(now),
        "progress": progress or None,
        "time_left": time_left_of(now) if now.is_running else None,
        "classes_per_h": now.classes_per_h if now.is_running else None,
        "verdicts_per_h": now.verdicts_per_h if now.is_running else None,
        "end": end or None,
    }


def _driver(now: Live) -> dict[str, Any] | None:
    """Return who writes to the run, and since when."""
    if not now.is_running:
        return None
    owner = now.owner
    name = f"{owner.user}@{owner.host} (process {owner.pid})" if owner else "unknown"
    return {"name": name, "since_s": owner.since_s if owner else None}


def _stamp(root: Path) -> str:
    """Return a digest of name, size, time and inode of every file of evidence; log and lock are none."""
    digest = hashlib.sha256()
    for folder in files.FOLDERS:
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name not in (files.EVENTS, files.LOCK, files.OWNER) and not files.is_temporary(entry.name):
                found = entry.stat(follow_symlinks=False)
                values = (folder, entry.name, found.st_size, found.st_mtime_ns, found.st_ino)
                digest.update(repr(values).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _remote_stamp(location: str) -> str:
    """Return a digest of the names in an object store, and of the documents that are replaced under one name."""
    folder = open_folder(location)
    digest = hashlib.sha256()
    for name in (*files.FOLDERS, files.MANIFEST):
        digest.update(repr([item for item in folder.names(name) if item != files.EVENTS]).encode())
    for name in (files.RUN, files.CLAIM, files.RESCORED_MANIFEST, files.AUDITS):
        digest.update(repr(folder.read(name)).encode())
    return digest.hexdigest()
