"""One driver per run: a lock that the operating system drops when its owner dies, and a note that says who holds it.

On an object store a claim that is renewed takes its place (lease.py).  The lock of the operating system is then kept in
a private folder of this machine: it tells at once whether the driver that was killed here a moment ago is gone.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
from pathlib import Path

from filelock import FileLock, Timeout

from boardclass.errors import StoreError
from results import files
from results.errors import StoreLockedError
from results.folder import Folder
from results.lease import Lease, holder
from results.objects import ObjectFolder
from results.owner import Owner, describe_owner, own_note, parse_owner
from results.storage import LocalFolder

_PATIENCE_S = 0.3  # readers hold the lock for an instant, to see whether somebody else does


class RunLock:
    """The writer's lock on a run."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._base = _base_of(folder)
        self._lock = FileLock(str(self._base / files.LOCK), timeout=_PATIENCE_S, poll_interval=0.02, thread_local=False)
        self._lease = Lease(folder) if isinstance(folder, ObjectFolder) else None

    def acquire(self) -> None:
        """Take the lock.

        Raises
        ------
        StoreLockedError
            Naming the owner and for how long the lock has been held.
        """
        try:
            self._base.mkdir(mode=0o700 if self._lease else 0o777, parents=True, exist_ok=True)
            self._lock.acquire()
            dead = self._dead_claim()
            note = own_note() | ({"claim": self._lease.name} if self._lease else {})
            (self._base / files.OWNER).write_text(json.dumps(note) + "\n", encoding="utf-8")
        except Timeout as error:
            raise StoreLockedError(
                f"{self._folder.where('')} is being written by {describe_owner(_read(self._base / files.OWNER))}; "
                "wait for it or stop it, then run again"
            ) from error
        except FileExistsError as error:
            raise StoreError(f"{self._base} is a file, a run needs a directory: choose another --out") from error
        except OSError as error:
            self._unlock()
            raise StoreError(f"cannot lock {self._base}: {error}; repair access or choose another --out") from error
        if self._lease:
            try:
                self._lease.take(note, dead)
            except BaseException:
                self._unlock()
                raise

    def require(self) -> None:
        """Check that the lock is still ours: a local one cannot be lost, one on an object store can.

        Raises
        ------
        StoreLockedError
            When another driver took the run over.
        """
        if self._lease:
            self._lease.require()

    def release(self) -> None:
        """Give the lock back."""
        if self._lock.is_locked:
            try:
                if self._lease:
                    self._lease.give_back()
            finally:
                self._unlock()

    def _unlock(self) -> None:
        if self._lock.is_locked:
            (self._base / files.OWNER).unlink(missing_ok=True)
            self._lock.release()

    def _dead_claim(self) -> str:
        """Return the claim of the last driver that used this very lock and did not give it back: it is dead."""
        try:
            return str(json.loads(_read(self._base / files.OWNER) or b"{}").get("claim", ""))
        except (ValueError, AttributeError, RecursionError):
            return ""


def current_owner(folder: Folder) -> tuple[Owner | None, float] | None:
    """Return who writes to a run now and how long ago it was heard of (s); None when nobody does.

    The owner is None when somebody does, but does not say who.
    """
    if isinstance(folder, ObjectFolder):
        found = holder(folder)
        return (parse_owner(found[0]), found[1]) if found else None
    base = _base_of(folder)
    return (parse_owner(_read(base / files.OWNER)), 0.0) if _is_locked(base / files.LOCK) else None


def _is_locked(path: Path) -> bool:
    """Return whether another open file holds the lock."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _base_of(folder: Folder) -> Path:
    """Return the directory of this machine that holds the lock file."""
    if isinstance(folder, LocalFolder):
        return folder.root
    digest = hashlib.sha256(folder.where("").encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"orderly-{os.getuid()}" / digest
