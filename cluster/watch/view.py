"""The runs that a command was given, and what ``watch`` and ``serve`` know of each.

A run is named by a key, never by a path, so nothing outside can be asked for.  Links are not
followed when a folder is looked through, and a directory that has become a link since is not
opened.

Lock, log and the dates of its files are read every second, for all who ask.  A slow reading is made
less often, so that watching costs at most a hundredth of one processor.  Nothing of that says
*proven*: it follows from the rows, which are read apart (in a thread, in a process) whenever files
have changed, and holds only until another file changes.
"""

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from orderly_boggle import results
from orderly_boggle.boardclass.errors import InputError, OrderlyError, StoreError, quote
from orderly_boggle.cluster.answers.run_view import Drawn, Reading, RunView, run_view
from orderly_boggle.results.log import Live, live
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import open_folder
from orderly_boggle.results.storage.objects import runs_below

DEFAULT_FOLDER = "runs"
MAX_DEPTH = 4
MAX_RUNS = 1000
_MAX_FOLDERS = 100_000
# between two looks through the folders; in an object store each is a request
_LOOK_S = 3.0
_LOOK_REMOTE_S = 60.0
# the driver notes progress every 2 s at most, on an object store every 30 s
FRESH_S = 1.0
FRESH_REMOTE_S = 15.0
# of one processor: for lock and log, for the rows of a run that goes on
SHARE = 0.01
ROWS_SHARE = 0.02
_MIN_ROWS_S = 5.0  # between two readings of the rows of a run that goes on


class Place(NamedTuple):
    """Where a run is."""

    key: str  # twelve hexadecimal digits
    name: str  # for people: relative to the folder that was looked through, or as it was given
    location: str  # what ``open_run`` takes
    real: str  # the path without links at the time it was found; empty for object stores

    def check(self) -> str:
        """Return the location, if it is still what was found; StoreError when it is gone, or a link
        took its place.
        """
        if self.real and str(Path(self.location).resolve()) != self.real:
            raise StoreError(
                f"{quote(self.name)} is no longer the directory that was found: a "
                "link took its place"
            )
        if self.real and not Path(self.real).is_dir():
            raise StoreError(f"{quote(self.name)} is gone")
        return self.location


class Catalog:
    """The runs under what was given, looked up again every few seconds: in directories, folders of
    runs and addresses of object stores, and in ``published``, the runs that come with the program;
    when none is given, in the folder ``default``.  Raises InputError when one is not there.

    Attributes
    ----------
    is_cut : bool
        Whether there are more than the first ``MAX_RUNS``, when :meth:`places` looked last.
    """

    is_cut = False

    def __init__(self, locations: Sequence[str], default: str = DEFAULT_FOLDER) -> None:
        self.locations = tuple(map(_location, locations)) or (default,)
        for text in self.locations[: len(locations)]:
            if "://" not in text and not files.is_folder(text):
                raise InputError(
                    f"no run directory or folder of runs {quote(text)}: expected what `orderly "
                    "run --out DIR` wrote, or a folder above it"
                )
        if any("://" in text for text in self.locations):
            self._look_s = _LOOK_REMOTE_S
        else:
            self._look_s = _LOOK_S
        self._lock = threading.Lock()
        self._places: dict[str, Place] = {}
        self._looked_at_s = -self._look_s

    def places(self) -> dict[str, Place]:
        """Return the runs by key, in the order given, those of one folder by name."""
        with self._lock:
            if time.monotonic() - self._looked_at_s >= self._look_s:
                places = chain(*map(_places, self.locations))
                self._places = {place.key: place for place in islice(places, MAX_RUNS + 1)}
                self.is_cut = len(self._places) > MAX_RUNS
                if self.is_cut:
                    self._places.popitem()
                self._looked_at_s = time.monotonic()
            return self._places


def _location(text: str) -> str:
    """Return where ``published`` is: of that name everywhere, unless a folder here has it."""
    if text == files.PUBLISHED.name and not Path(text).exists():
        return str(files.PUBLISHED)
    return text


def _places(location: str) -> Iterator[Place]:
    if "://" in location:
        yield from _remote_places(location)
        return
    top = Path(location)
    for path in [top] if is_run(top) else sorted(_runs_below(top)):
        if path is top:
            name = top.resolve().name
        else:
            name = str(path.relative_to(top))
        real = str(path.resolve())
        yield Place(_key(real), name, str(path), real)


def _remote_places(parent: str) -> Iterator[Place]:
    """Yield the runs at an address or below; else the address itself: reading it says what is
    wrong.
    """
    address, mark, settings = parent.partition("?")
    names: list[str] = []
    with contextlib.suppress(OrderlyError, OSError):
        names = runs_below(parent, MAX_DEPTH, MAX_RUNS + 1)
    for name in names or [""]:
        location = f"{address.rstrip('/')}/{name}".rstrip("/") + mark + settings
        yield Place(_key(location), name or address, location, "")


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def is_run(path: Path) -> bool:
    """Return whether a directory holds a run, going by ``run.json``, which must not be a link."""
    file = path / files.RUN
    return file.is_file() and not file.is_symlink()


def _runs_below(top: Path) -> list[Path]:
    """Return the run directories below a folder; what cannot be read is left out, links are not
    followed.
    """
    runs: list[Path] = []
    for folder, inside, _ in islice(os.walk(top), _MAX_FOLDERS):
        path = Path(folder)
        if is_run(path):
            runs.append(path)
        if is_run(path) or len(path.relative_to(top).parts) == MAX_DEPTH:
            inside.clear()
    return runs


class Watched:
    """The last thing known about one run."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.stamp = ""  # changes with every file of evidence
        self.rows_stamp = ""  # as it was when the rows were read
        # why lock and log, or the rows, cannot be read; empty when they can
        self.error = self.rows_error = ""
        self.live: Live | None = None
        self.reading: Reading | None = None  # None while unknown
        self.rows_read_at_s = 0.0
        self.is_reading_rows = False
        self._next_s = self._next_rows_s = 0.0

    @property
    def is_fresh(self) -> bool:
        """Whether it need not be read again yet."""
        return time.monotonic() < self._next_s

    @property
    def is_current(self) -> bool:
        """Whether no file has changed since the rows were read: only then may anything be called
        proven.
        """
        return bool(self.stamp) and self.rows_stamp == self.stamp

    @property
    def is_running(self) -> bool:
        """Whether a driver works on it."""
        return self.live is not None and self.live.is_running

    def refresh(self) -> None:
        """Read lock and log, and whether files changed."""
        began_s = time.monotonic()
        try:
            location = self.place.check()
            self.live = live(open_folder(location))
            self.error = ""
            if self.place.real:
                self.stamp = _stamp(Path(location))
            else:
                self.stamp = _remote_stamp(location)
        except Exception as error:  # noqa: BLE001 - who watches must see it, and see it go
            self.live = None
            self.error = _fault(error)
            self.stamp = ""
        now_s = time.monotonic()
        if self.place.real:
            fresh_s = FRESH_S
        else:
            fresh_s = FRESH_REMOTE_S
        self._next_s = now_s + max(fresh_s, (now_s - began_s) / SHARE)

    @property
    def wants_rows(self) -> bool:
        """Whether it is time to read the rows: files have changed, but not too often while a run
        goes on.
        """
        is_due = not self.is_running or time.monotonic() >= self._next_rows_s
        return bool(self.stamp) and not self.is_current and is_due and not self.is_reading_rows

    @contextlib.contextmanager
    def reading_rows(self) -> Iterator[None]:
        """Note what comes of setting ``reading``, any error included: the same files are not read
        again for it.
        """
        stamp = self.stamp
        began_s = time.monotonic()
        self.is_reading_rows = True
        try:
            yield
            self.rows_error = ""
        # a thread or task that dies would be started for ever
        except Exception as error:  # noqa: BLE001
            self.reading = None
            self.rows_error = _fault(error)
        finally:
            self.rows_stamp = stamp
            self.rows_read_at_s = time.time()
            now_s = time.monotonic()
            pause_s = max(_MIN_ROWS_S, (now_s - began_s) / ROWS_SHARE)
            self._next_rows_s = now_s + pause_s
            self.is_reading_rows = False

    def view(self) -> RunView:
        """Return the view of the run: the last rows, and lock and log."""
        error = self.error or (self.rows_error if self.is_current else "")
        answer = None
        if self.reading:
            answer = self.reading.answer
        return run_view(answer, self.live, is_current=self.is_current, error=error)


class Watcher:
    """Looks at one run, a directory or an address in an object store, and has its rows read in a
    thread.
    """

    def __init__(self, location: str) -> None:
        if "://" in location:
            real = ""
        else:
            real = str(Path(location).resolve())
        address, _, _ = location.partition("?")
        name = address.rstrip("/").rpartition("/")[2] or location
        self.watched = Watched(Place("", name, location, real))

    def look(self) -> Watched:
        """Return what is known now."""
        watched = self.watched
        if not watched.is_fresh:
            watched.refresh()
        if watched.wants_rows:
            watched.is_reading_rows = True
            threading.Thread(target=self._read_rows, daemon=True).start()
        return watched

    def _read_rows(self) -> None:
        with self.watched.reading_rows():
            result = results.summary(self.watched.place.check())
            boards = []
            for item in result.listed.boards[:8]:
                boards.append(Drawn(item.board, item.score))
            self.watched.reading = Reading(result, boards)


def _fault(error: Exception) -> str:
    if isinstance(error, OrderlyError):
        return str(error)
    return f"internal error, {type(error).__name__}: {error}"


def _stamp(root: Path) -> str:
    """Return a digest of name, size, time and inode of every file of evidence; log and lock are
    none.
    """
    digest = hashlib.sha256()
    for folder in files.FOLDERS:
        with contextlib.suppress(OSError):  # a folder or a file that is gone
            for entry in sorted(os.scandir(root / folder), key=attrgetter("name")):
                is_result = entry.name not in (files.EVENTS, files.LOCK, files.OWNER)
                if is_result and not files.is_temporary(entry.name):
                    status = entry.stat(follow_symlinks=False)
                    values = (folder, entry.name, status.st_size, status.st_mtime_ns, status.st_ino)
                    digest.update(repr(values).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _remote_stamp(location: str) -> str:
    """Return a digest of the names in an object store, and of the documents that are replaced under
    one name.
    """
    folder = open_folder(location)
    digest = hashlib.sha256()
    for name in (*files.FOLDERS, files.MANIFEST):
        listed = [item for item in folder.names(name) if item != files.EVENTS]
        digest.update(repr(listed).encode())
    for name in (files.RUN, files.CLAIM, files.AUDITS):
        digest.update(repr(folder.read(name)).encode())
    return digest.hexdigest()
