"""What ``orderly watch`` knows of a run: read again and again, the rows in a separate thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boardclass.errors import OrderlyError
from cluster.watch.catalog import Place
from cluster.watch.pulse import Reading
from results.log.eventlog import read_events
from results.reading.state import State, state_of
from results.storage.disk import DiskUse, disk_use
from results.storage.local import open_folder

if TYPE_CHECKING:
    from results.log.live import Live
    from results.reading.query import Summary

SHARE = 0.02  # of one processor, for reading the rows of a run that goes on
_LEAST_S = 5.0
_TOLD = (
    "started",
    "best",
    "unit_failed",
    "unit_quarantined",
    "worker_down",
    "host_flagged",
    "stage",
    "finished",
    "stopped",
)


@dataclass(frozen=True)
class View:
    """One look at a run.

    Attributes
    ----------
    name : str
    live : Live or None
        None: it cannot be read.
    found : Summary or None
        What the rows prove; None while they have not been read.
    is_current : bool
        Whether no file has changed since the rows were read: only then may anything be called proven.
    error : str
    disk : DiskUse or None
    events : tuple of mappings
        What happened last, oldest first, without progress.
    """

    name: str
    live: Live | None = None
    found: Summary | None = None
    is_current: bool = False
    error: str = ""
    disk: DiskUse | None = None
    events: tuple[Mapping[str, Any], ...] = field(default=())

    @property
    def is_running(self) -> bool:
        """Whether a driver works on it."""
        return self.live is not None and self.live.is_running

    @property
    def state(self) -> State:
        """The state of the run."""
        rows = self.found.state if self.found and self.is_current else None
        return state_of(rows, is_running=self.is_running, error=self.error)


class Watcher:
    """Looks at one run.

    Parameters
    ----------
    location : str
        A run directory, or an address in an object store.
    """

    def __init__(self, location: str) -> None:
        real = "" if "://" in location else str(Path(location).resolve())
        name = location.partition("?")[0].rstrip("/").rpartition("/")[2] or location
        self._place = Place("", name, location, real)
        self._reading = Reading(self._place)
        self._found: Summary | None = None
        self._found_stamp = self._fault = self._fault_stamp = ""
        self._next_s = 0.0
        self._thread: threading.Thread | None = None
        self._view = View(name)

    def look(self) -> View:
        """Return what is known now: lock and log are read at most every second, the rows when files have changed."""
        if not self._reading.is_fresh:
            self._reading.refresh()
            self._view = self._seen()
        elif self._view.found is not self._found:
            self._view = self._seen()
        self._consider()
        return self._view

    def _seen(self) -> View:
        reading = self._reading
        fault = self._fault if self._fault_stamp == reading.stamp else ""
        if reading.error or fault:
            return View(self._place.name, reading.live, error=reading.error or fault)
        folder = open_folder(self._place.location)
        events = [event for event in read_events(folder) if event["event"] in _TOLD]
        is_current = self._found is not None and self._found_stamp == reading.stamp
        return View(self._place.name, reading.live, self._found, is_current, "", disk_use(folder), tuple(events[-50:]))

    def _consider(self) -> None:
        """Have the rows read in a thread when they have changed, but not too often while the run goes on."""
        stamp = self._reading.stamp
        is_known = stamp in ("", self._found_stamp, self._fault_stamp)
        is_early = self._view.is_running and time.monotonic() < self._next_s
        if is_known or is_early or (self._thread and self._thread.is_alive()):
            return
        self._thread = threading.Thread(target=self._prove, args=(stamp,), daemon=True)
        self._thread.start()

    def _prove(self, stamp: str) -> None:
        from cluster.planning.nodes import run_nodes
        from results.reading.query import summary

        began_s = time.monotonic()
        try:
            found = summary(self._place.check(), run_nodes)
        except OrderlyError as error:
            self._fault, self._fault_stamp = str(error), stamp
        else:
            self._found_stamp, self._found = stamp, found
        self._next_s = time.monotonic() + max(_LEAST_S, (time.monotonic() - began_s) / SHARE)
