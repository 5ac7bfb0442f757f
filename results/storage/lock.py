"""One driver per run: a lock that the operating system drops when its owner dies, and a note that
says who holds it.

The run directory itself is locked, so no file that is removed lets a second driver in.  Where
directories cannot be locked (some network file systems), the file ``lock`` is.  Before each line of
the manifest a driver checks that what it locked still has its name, and stops otherwise.

An object store has no locks.  There a claim that its owner renews takes their place:

    RUN/lock/ask-ID     put first: I want to write
    RUN/lock/hold-ID    put when nobody else asks or holds: I write; put again every BEAT_S seconds

Putting and then listing keeps two drivers apart, because object stores list what was put: of two
that ask at the same time, at least the later one sees the other.  If both see each other, both are
refused; never are both let in.

A claim that was not renewed for LEASE_S seconds, by the store's own clock, belongs to a driver that
died or sleeps. The next driver removes it, after closing the place of the next manifest line with a
fence.  A sleeper that wakes up looks for its claim before it writes to the manifest and again just
after, finds it gone, takes its line back and stops. If it is killed between the two, or a put
arrives late, its line stands where the fence is and does not count.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, ValidationError

from boardclass.errors import StoreError
from boardclass.printable import duration
from results.errors import StoreLockedError
from results.storage import files
from results.storage.local import Folder, LocalFolder, check_nofollow, open_inside

if TYPE_CHECKING:
    from results.storage.objects import ObjectFolder


class Owner(BaseModel):
    """The driver that writes to a run, and when it began (epoch seconds)."""

    user: str
    host: str
    pid: Annotated[int, Field(ge=0, lt=2**63)]
    since_s: Annotated[float, Field(alias="since", ge=0, lt=1e11)]  # before the year 5138

    def describe(self) -> str:
        """Return who it is and for how long it has been writing."""
        age_s = max(0, int(time.time() - self.since_s))
        return f"{self.user}@{self.host} (process {self.pid}), for {duration(age_s)}"


def own_note() -> bytes:
    """Return the note of this process, a line of JSON; :func:`parse_owner` reads it."""
    import getpass

    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = f"user {os.getuid()}"
    note = {"host": socket.gethostname(), "pid": os.getpid(), "user": user, "since": time.time()}
    return f"{json.dumps(note)}\n".encode()


def parse_owner(note: bytes | None) -> Owner | None:
    """Return the owner of a note, or None when it cannot be read."""
    try:
        return Owner.model_validate_json(note or b"")
    except ValidationError:
        return None


def describe_owner(note: bytes | None) -> str:
    """Return who wrote a note and since when, for messages."""
    owner = parse_owner(note)
    return owner.describe() if owner else "another process (owner unknown)"


BEAT_S = 20.0
LEASE_S = 90.0
_ASK, _HOLD = f"{files.LOCK}/ask-", f"{files.LOCK}/hold-"


class Lease:
    """A claim on a run in an object store; made by taking it, see :func:`take_lock`."""

    def __init__(self, folder: ObjectFolder) -> None:
        name = uuid.uuid4().hex
        self._folder = folder
        self._hold = _HOLD + name
        self._data = own_note()
        self._stopped = threading.Event()
        ask = _ASK + name
        folder.publish(ask, self._data)
        try:
            at_s = folder.put_at_s(files.LOCK)
            ages = {name: at_s[ask] - at_s[name] for name in at_s if name != ask}
            gone = [name for name in ages if ages[name] > LEASE_S]
            # who holds it before who asks
            for name in sorted(ages.keys() - set(gone), reverse=True):
                who = (
                    f"{describe_owner(folder.read(name))}, last heard of "
                    f"{max(0, round(ages[name]))} s ago"
                )
                raise StoreLockedError(
                    f"{folder.where('')} is being written by {who}; wait for it or stop it, then "
                    f"run again (one that was killed is forgotten after {LEASE_S:.0f} s)"
                )
            folder.publish(self._hold, self._data)
            try:  # whose claims are about to be removed is fenced off
                if gone and folder.read(files.RUN) is not None:
                    folder.fence(files.MANIFEST)
            except StoreError:
                folder.remove(self._hold)
                raise
            for name in gone:
                folder.remove(name)
        finally:
            folder.remove(ask)
        self._thread = threading.Thread(target=self._renew, name="orderly-lease", daemon=True)
        self._thread.start()

    def require(self) -> None:
        """Raise StoreLockedError when another driver took the run over."""
        holders = [name for name in self._folder.names(files.LOCK) if name.startswith(_HOLD)]
        if holders != [self._hold]:
            raise StoreLockedError(
                f"{self._folder.where('')} was taken over by another driver, because this one was "
                f"silent for more than {LEASE_S:.0f} s (asleep, or cut off); what was stored "
                "before is safe: let the other one finish"
            )

    def release(self) -> None:
        """End the claim."""
        self._stopped.set()
        self._thread.join()
        self._folder.remove(self._hold)

    def _renew(self) -> None:
        while not self._stopped.wait(BEAT_S):
            try:
                if self._hold in self._folder.names(files.LOCK):
                    self._folder.publish(self._hold, self._data)
            except (
                StoreError
            ):  # the network may come back; before anything is written the claim is looked at again
                continue
            except RuntimeError:  # the interpreter ends
                return


# readers hold the lock for an instant, to see whether somebody else does
_PATIENCE_S, _POLL_S = 0.3, 0.02
_MAX_NOTE_BYTES = 2**16


class DirectoryLock:
    """The writer's lock on a run in a directory; made by taking it, see :func:`take_lock`."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._held: tuple[Path, int] | None = None  # what is locked, and its descriptor
        try:
            base.mkdir(parents=True, exist_ok=True)
            check_nofollow(base)
            self._held = self._locked()
            with os.fdopen(open_inside(base, files.OWNER, os.O_WRONLY | os.O_CREAT), "wb") as file:
                file.truncate()
                file.write(own_note())
        except FileExistsError as error:
            raise StoreError(
                f"{base} is a file, a run needs a directory: choose another --out"
            ) from error
        except OSError as error:
            self.release()
            raise StoreError(
                f"cannot lock {base}: {error}; repair access or choose another --out"
            ) from error

    def require(self) -> None:
        """Raise StoreLockedError when the lock or the directory was taken away."""
        if not self._is_ours():
            raise StoreLockedError(
                f"{self._base} or the lock in it was moved or removed while this driver held it, "
                "so another one may be at work; what was stored before is safe: run again when "
                "no other driver runs"
            )

    def release(self) -> None:
        """Give the lock back."""
        if self._is_ours():  # else the note is another driver's
            with contextlib.suppress(OSError):
                (self._base / files.OWNER).unlink()
        if self._held:
            os.close(self._held[1])
            self._held = None

    def _locked(self) -> tuple[Path, int]:
        try:
            descriptor = os.open(self._base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            return self._base, _flocked(descriptor, self._base)
        except OSError:
            descriptor = open_inside(self._base, files.LOCK, os.O_RDWR | os.O_CREAT)
            return self._base / files.LOCK, _flocked(descriptor, self._base)

    def _is_ours(self) -> bool:
        if self._held is None:
            return False
        with contextlib.suppress(OSError):
            return os.path.samestat(self._held[0].stat(), os.fstat(self._held[1]))
        return False


def _flocked(descriptor: int, base: Path) -> int:
    """Lock an open file or directory and return its descriptor; OSError where the system cannot."""
    end_s = time.monotonic() + _PATIENCE_S
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                if time.monotonic() > end_s:
                    who = describe_owner(_read(base))
                    raise StoreLockedError(
                        f"{base} is being written by {who}; wait for it or stop it, then run again"
                    ) from error
            time.sleep(_POLL_S)
    except BaseException:
        os.close(descriptor)
        raise


def take_lock(folder: Folder) -> DirectoryLock | Lease:
    """Take the writer's lock on a run; StoreLockedError names who has it, StoreError says why the
    place refuses.
    """
    return DirectoryLock(folder.root) if isinstance(folder, LocalFolder) else Lease(folder)


def current_owner(folder: Folder) -> tuple[bool, Owner | None]:
    """Return whether somebody writes to a run now, and who, if they say."""
    if isinstance(folder, LocalFolder):
        base = folder.root
        return (
            (True, parse_owner(_read(base)))
            if _is_locked(base) or _is_locked(base / files.LOCK)
            else (False, None)
        )
    for name, at_s in folder.put_at_s(files.LOCK).items():
        # for people: it trusts the clock of this machine
        if name.startswith(_HOLD) and time.time() - at_s <= LEASE_S:
            return True, parse_owner(folder.read(name))
    return False, None


def _is_locked(path: Path) -> bool:
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
    try:
        descriptor = open_inside(base, files.OWNER, os.O_RDONLY)
    except (OSError, StoreError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MAX_NOTE_BYTES)
