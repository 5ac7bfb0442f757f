"""The runs that a command was given: run directories, addresses in object stores, and folders to look through.

A run is named by a key, never by a path, so nothing outside can be asked for.  Links are not followed when a folder is
looked through, and a directory that has become a link since is not opened.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from boardclass.errors import InputError, OrderlyError, StoreError, quote
from results.storage import files
from results.storage.objects import runs_below

DEFAULT_FOLDER = "runs"
MAX_DEPTH = 4
MAX_RUNS = 1000
_MAX_ENTRIES = 100_000
_LOOK_S, _LOOK_REMOTE_S = 3.0, 60.0  # between two looks through the folders; in an object store each is a request


class Place(NamedTuple):
    """Where a run is."""

    key: str  # twelve hexadecimal digits
    name: str  # for people: relative to the folder that was looked through, or as it was given
    location: str  # what ``open_run`` takes
    real: str  # the path without links at the time it was found; empty for object stores

    def check(self) -> str:
        """Return the location, if it is still what was found.

        Raises StoreError when the directory is gone, or has become a link to another one.
        """
        if self.real and str(Path(self.location).resolve()) != self.real:
            raise StoreError(f"{quote(self.name)} is no longer the directory that was found: a link took its place")
        if self.real and not Path(self.real).is_dir():
            raise StoreError(f"{quote(self.name)} is gone")
        return self.location


class Catalog:
    """The runs under what was given, looked up again every few seconds.

    They are run directories, folders of runs and addresses of object stores; when none is given, those in the folder
    ``default``, if it is there.  Raises InputError when one of them is not there.
    """

    def __init__(self, given: Sequence[str], default: str = DEFAULT_FOLDER) -> None:
        self.given = tuple(given) or (default,)
        for text in given:
            if "://" not in text and ("\0" in text or not Path(text).is_dir()):
                raise InputError(
                    f"no run directory or folder of runs {quote(text)}: expected what `orderly run --out DIR` wrote, "
                    "or a folder above it"
                )
        self._look_s = _LOOK_REMOTE_S if any("://" in text for text in self.given) else _LOOK_S
        self._lock = threading.Lock()
        self._places: dict[str, Place] = {}
        self._looked_at_s = -self._look_s

    def places(self) -> dict[str, Place]:
        """Return the runs by key, in the order given, those of one folder by name."""
        with self._lock:
            if time.monotonic() - self._looked_at_s >= self._look_s:
                found = [place for text in self.given for place in _places(text)]
                self._places = {place.key: place for place in found[:MAX_RUNS]}
                self._looked_at_s = time.monotonic()
            return self._places


def _places(given: str) -> Iterator[Place]:
    if "://" in given:
        yield from _remote_places(given)
        return
    top = Path(given)
    for path in [top] if is_run(top) else sorted(_runs_below(top)):
        name = top.resolve().name if path is top else str(path.relative_to(top))
        real = str(path.resolve())
        yield Place(_key(real), name, str(path), real)


def _remote_places(given: str) -> Iterator[Place]:
    """Yield the runs at an address or below; else the address itself: reading it says what is wrong."""
    address, mark, settings = given.partition("?")
    names: list[str] = []
    with contextlib.suppress(OrderlyError, OSError):
        names = runs_below(given, MAX_DEPTH, MAX_RUNS)
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
    """Return the run directories below a folder; what cannot be read is left out, links are not followed."""
    found: list[Path] = []
    folders = [(top, 0)]
    n_seen = 0
    while folders and len(found) < MAX_RUNS and n_seen < _MAX_ENTRIES:
        folder, depth = folders.pop()
        try:
            inner = [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        n_seen += len(inner)
        found += [path for path in inner if is_run(path)]
        if depth + 1 < MAX_DEPTH:
            folders += [(path, depth + 1) for path in inner if not is_run(path)]
    return found
