"""One driver per run: a lock that the operating system drops when its owner dies, and a note that says who holds it."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import socket
import tempfile
import time
from pathlib import Path

from filelock import FileLock, Timeout

from boardclass.errors import StoreError
from results import files
from results.errors import StoreLockedError
from results.storage import Folder, LocalFolder


class RunLock:
    """The writer's lock on a run directory.

    An object store has no locks: there it keeps two drivers of one user on one machine apart, no more.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._base = folder.root if isinstance(folder, LocalFolder) else _base_for(folder.where(""))
        self._lock = FileLock(str(self._base / files.LOCK), timeout=0, thread_local=False)

    def acquire(self) -> None:
        """Take the lock.

        Raises
        ------
        StoreLockedError
            Naming the owner and for how long the lock has been held.
        """
        try:
            self._base.mkdir(mode=0o777 if self._base_is_run else 0o700, parents=True, exist_ok=True)
            self._lock.acquire()
            note = {"host": socket.gethostname(), "pid": os.getpid(), "user": _user(), "since": time.time()}
            (self._base / files.OWNER).write_text(json.dumps(note) + "\n", encoding="utf-8")
        except Timeout as error:
            raise StoreLockedError(
                f"{self._folder.where('')} is being written by {owner(self._base)}; "
                "wait for it or stop it, then run again"
            ) from error
        except FileExistsError as error:
            raise StoreError(f"{self._base} is a file, a run needs a directory: choose another --out") from error
        except OSError as error:
            self.release()
            raise StoreError(f"cannot lock {self._base}: {error}; repair access or choose another --out") from error

    def release(self) -> None:
        """Give the lock back."""
        if self._lock.is_locked:
            (self._base / files.OWNER).unlink(missing_ok=True)
            self._lock.release()

    @property
    def _base_is_run(self) -> bool:
        return isinstance(self._folder, LocalFolder)


def owner(base: Path) -> str:
    """Return who holds the lock in ``base`` and since when, for messages."""
    try:
        note = json.loads((base / files.OWNER).read_text(encoding="utf-8"))
        age_s = max(0, int(time.time() - float(note["since"])))
        return f"{note['user']}@{note['host']} (process {note['pid']}), for {_duration(age_s)}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process (owner unknown)"


def _duration(age_s: int) -> str:
    hours, rest = divmod(age_s, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"user {os.getuid()}"


def _base_for(uri: str) -> Path:
    digest = hashlib.sha256(uri.encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"orderly-{os.getuid()}" / digest
