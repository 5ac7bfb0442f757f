"""One driver per run: a lock that the operating system drops when its owner dies, and a note that says who holds it.

The run directory itself is locked, so no file that is removed lets a second driver in.  Where directories cannot be
locked (some network file systems), the file ``lock`` is.  Before each line of the manifest a driver checks that what it
locked still has its name, and stops otherwise.

On an object store a claim that is renewed takes its place (lease.py).  The lock of the operating system is then kept in
a private folder of this machine: it tells at once whether the driver that was killed here a moment ago is gone.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import tempfile
import time
from pathlib import Path

from boardclass.errors import StoreError
from boardclass.private import exposure
from results.errors import StoreLockedError
from results.storage import files, plain
from results.storage.folder import Folder
from results.storage.lease import Lease, holder
from results.storage.local import LocalFolder
from results.storage.objects import ObjectFolder
from results.storage.owner import Owner, describe_owner, own_note, parse_owner

_PATIENCE_S, _POLL_S = 0.3, 0.02  # readers hold the lock for an instant, to see whether somebody else does
_MAX_NOTE_BYTES = 2**16


class RunLock:
    """The writer's lock on a run."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._base = _base_of(folder)
        self._held: tuple[Path, int] | None = None  # what is locked, and its descriptor
        self._lease = Lease(folder) if isinstance(folder, ObjectFolder) else None

    def acquire(self) -> None:
        """Take the lock.

        Raises
        ------
        StoreLockedError
            Naming the owner, and how long the lock has been held.
        """
        try:
            self._base.mkdir(mode=0o700 if self._lease else 0o777, parents=True, exist_ok=True)
            if self._lease and (reason := exposure(self._base.resolve())):
                raise StoreError(f"cannot lock {self._folder.where('')}: {reason}; set TMPDIR to a folder of your own")
            plain.check_plain(self._base)
            self._held = self._locked()
            dead = self._dead_claim()
            note = own_note() | ({"claim": self._lease.name} if self._lease else {})
            self._write_note(json.dumps(note) + "\n")
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
        """Check that the lock is still ours: asked before each line of the manifest.

        Raises
        ------
        StoreLockedError
            When another driver took the run over, or somebody took the lock or the directory away.
        """
        if self._lease:
            self._lease.require()
        elif not self._is_ours():
            raise StoreLockedError(
                f"{self._folder.where('')} or the lock in it was moved or removed while this driver held it, so "
                "another one may be at work; what was stored before is safe: run again when no other driver runs"
            )

    def release(self) -> None:
        """Give the lock back."""
        if self._held:
            try:
                if self._lease:
                    self._lease.give_back()
            finally:
                self._unlock()

    def _unlock(self) -> None:
        if self._is_ours():  # else the note is another driver's
            with contextlib.suppress(OSError):
                (self._base / files.OWNER).unlink()
        if self._held:
            os.close(self._held[1])
            self._held = None

    def _locked(self) -> tuple[Path, int]:
        """Lock the directory, or else the file, and return which, with its descriptor."""
        descriptor = os.open(self._base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._wait_for(descriptor)
            return self._base, descriptor
        except OSError:
            os.close(descriptor)
        descriptor = plain.open_file(self._base, files.LOCK, os.O_RDWR | os.O_CREAT)
        try:
            self._wait_for(descriptor)
        except OSError:
            os.close(descriptor)
            raise
        return self._base / files.LOCK, descriptor

    def _wait_for(self, descriptor: int) -> None:
        """Lock an open file or directory; OSError where the system cannot."""
        end_s = time.monotonic() + _PATIENCE_S
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                if time.monotonic() > end_s:
                    os.close(descriptor)
                    raise StoreLockedError(
                        f"{self._folder.where('')} is being written by {describe_owner(_read(self._base))}; "
                        "wait for it or stop it, then run again"
                    ) from error
                time.sleep(_POLL_S)

    def _is_ours(self) -> bool:
        """Return whether what is locked still has its name."""
        if self._held is None:
            return False
        with contextlib.suppress(OSError):
            return os.path.samestat(self._held[0].stat(), os.fstat(self._held[1]))
        return False

    def _write_note(self, text: str) -> None:
        descriptor = plain.open_file(self._base, files.OWNER, os.O_WRONLY | os.O_CREAT)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.truncate()
            file.write(text)

    def _dead_claim(self) -> str:
        """Return the claim of the last driver that used this very lock and did not give it back: it is dead."""
        try:
            return str(json.loads(_read(self._base) or b"{}").get("claim", ""))
        except (ValueError, AttributeError, RecursionError):
            return ""


def current_owner(folder: Folder) -> tuple[Owner | None, float] | None:
    """Return who writes to a run now and how long ago it was heard of (s); None when nobody does.

    The owner is None when somebody does and does not say who.
    """
    if isinstance(folder, ObjectFolder):
        found = holder(folder)
        return (parse_owner(found[0]), found[1]) if found else None
    base = _base_of(folder)
    return (parse_owner(_read(base)), 0.0) if _is_locked(base) or _is_locked(base / files.LOCK) else None


def _is_locked(path: Path) -> bool:
    """Return whether another open file holds the lock."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EAGAIN, errno.EACCES)
    finally:
        os.close(descriptor)
    return False


def _read(base: Path) -> bytes | None:
    """Return the note of the driver that holds the lock."""
    try:
        descriptor = plain.open_file(base, files.OWNER, os.O_RDONLY)
    except (OSError, StoreError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MAX_NOTE_BYTES)


def _base_of(folder: Folder) -> Path:
    """Return the directory of this machine that holds the lock file."""
    if isinstance(folder, LocalFolder):
        return folder.root
    digest = hashlib.sha256(folder.where("").encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"orderly-{os.getuid()}" / digest
