"""One driver per run: a claim that its owner renews, and in a directory a lock of the operating
system.

No lock holds everywhere: some file systems refuse locks, some accept them and do nothing, on some
they hold on one machine only, and an object store has none.  A claim works everywhere:

    ask     put first: I want to write                    RUN/lock.ID      RUN/lock/ask-ID
    hold    put when nobody else asks or holds: I write;  RUN/owner.json   RUN/lock/hold-ID
            renewed at its pace                           in a directory   in an object store

Putting and then listing keeps two drivers apart, because what was put is listed: of two that ask at
the same time, at least the later one sees the other.  If both see each other, both withdraw and ask
again a little later; never are both let in.  (Where listings lag, as in Swift while one of its
container servers is away, both may be let in during that time; whichever sees the other's claim
before it writes a line stops.)

A claim that was not renewed for ``Pace.lease_s``, by the clock of the place, belongs to a driver
that died or sleeps.  One of this machine is forgotten at once when its process is gone, or its
lock is free where locks work, also when it was another container's.  Whoever comes before that may
wait: a claim that is renewed meanwhile belongs to a driver at work.  The next driver puts its own
claim, fences the manifest off, removes the claims of others, and then reads.  A sleeper that wakes
up looks for its claim before each line of the manifest, finds it gone, and stops:

    directory       It looks after it wrote the new manifest beside the old one, and before the
                    rename.  The fence removes what it wrote: the rename finds nothing.
    object store    It looks before it puts the line and just after, and takes the line back.  If it
                    is killed between the two, or a put arrives late, its line stands where the
                    fence is and does not count.

>>> from orderly_boggle.results.storage.local import open_folder
>>> current_owner(open_folder("runs/2x2-scowl70-14"))
(False, None)
"""

import contextlib
import fcntl
import os
import random
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.results.errors import StoreLockedError, UnreachableError
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder, LocalFolder, opened_folder
from orderly_boggle.results.storage.outage import in_haste
from orderly_boggle.results.storage.owner import (
    Owner,
    describe_owner,
    own_note,
    parse_owner,
    place_of,
)

if TYPE_CHECKING:
    from orderly_boggle.results.storage.objects import ObjectFolder

_PATIENCE_S = 2.0  # for another one that asks
_LOOKS = 3  # listings in which others are looked for: see objects.py
_LOOK_S = 2.0  # between two looks at a claim that is waited for
_ASK = f"{files.LOCK}/ask-"
_HOLD = f"{files.LOCK}/hold-"


class Pace(NamedTuple):
    """How often a claim is renewed, and for how long one counts that is not renewed."""

    beat_s: float = 20.0
    lease_s: float = 90.0


PACE = Pace()
STORE_PACE = Pace(beat_s=30.0)  # of an object store, which is paid for each time: a listing, a put
# is told whom a driver waits for, at every look; what it raises ends the waiting
Wait = Callable[[str], object]


def say_once() -> Wait:
    """Return what says on standard error, once, whom is waited for: the wait of commands that no
    driver runs.
    """
    said: set[str] = set()

    def wait(text: str) -> None:
        if not said:
            sys.stderr.write(f"orderly: {text}\n")
        said.add(text)

    return wait


class Rival(NamedTuple):
    """A claim of somebody else that counts."""

    name: str
    note: bytes | None
    put_at_s: float  # by the clock of the place
    age_s: float


class ClaimWait:
    """Waits for claims that are not renewed; without ``wait``, for none."""

    def __init__(self, pace: Pace, wait: Wait | None) -> None:
        self._pace = pace
        self._wait = wait
        self._first_at_s: dict[str, float] = {}  # when each claim had been put when it was seen
        self._ends_s = time.monotonic() + pace.lease_s + pace.beat_s

    def bear(self, rival: Rival, where: str, *, is_busy: bool = False) -> None:
        """Return after a moment.  Raises StoreLockedError when waiting would be of no use: the
        rival is at work on this machine, or has renewed its claim since it was first seen.

        is_busy : whether its lock is held
        """
        owner = parse_owner(rival.note)
        # by the clock of the place: those of two machines may differ by more than a lease
        first_at_s = self._first_at_s.setdefault(rival.name, rival.put_at_s)
        is_at_work = owner is not None and bool(
            owner.is_alive or (is_busy and owner.is_of_this_machine)
        )
        is_over = time.monotonic() > self._ends_s
        age_s = max(0, round(rival.age_s))
        who = f"{describe_owner(rival.note)}, last heard of {age_s} s ago"
        if self._wait is None or is_at_work or rival.put_at_s != first_at_s or is_over:
            raise StoreLockedError(
                f"{where} is being written by {who}; wait for it or stop it, then run again (one "
                f"that was killed is forgotten after {self._pace.lease_s:.0f} s)"
            )
        self._wait(
            f"waiting for {who}: its claim on {where} ends after {self._pace.lease_s:.0f} s "
            "without a sign of life"
        )
        time.sleep(min(_LOOK_S, self._pace.beat_s))


class Lease:
    """A claim on a run in an object store; made by taking it, see :func:`take_lock`."""

    _free_lock = ""  # the place of the directory that this driver has locked, where locks work

    def __init__(
        self, folder: Folder, pace: Pace, claim_wait: ClaimWait, note: bytes | None = None
    ) -> None:
        self._folder = folder
        self._pace = pace
        self._note = note or own_note()
        self._stopped = threading.Event()
        self._ask, self._hold = self._names(uuid.uuid4().hex)
        self._thread = threading.Thread(target=self._renew, name="orderly-lease", daemon=True)
        self._thread.start()
        try:
            self._take(claim_wait)
        except BaseException:
            self._stopped.set()
            raise

    def _take(self, claim_wait: ClaimWait) -> None:
        end_s = time.monotonic() + _PATIENCE_S
        while rival := self._rival():
            if self._is_hold(rival.name) or time.monotonic() > end_s:
                claim_wait.bear(rival, self._folder.where(""))
            # two drivers that ask in step would refuse each other for ever
            time.sleep(random.uniform(0.02, 0.4))

    def _rival(self) -> Rival | None:
        """Put the claim, unless somebody else asks or holds; return whose claim that is."""
        # first ask, then look: of two that begin at once at least one sees the other
        self._put_ask()
        try:
            at_s = self._claims(_LOOKS)
            now_s = at_s.pop(self._ask, None)
            if now_s is None:
                now_s = self._time_of_ask()
            # who holds it before who asks
            for name in sorted(sorted(at_s), key=self._is_hold, reverse=True):
                note = _read(self._folder, name)
                age_s = now_s - at_s[name]
                if not _is_gone(note, age_s, self._pace, self._free_lock):
                    return Rival(name, note, at_s[name], age_s)
            try:
                # only a claim that somebody had before can have a write under way: then its place
                # is closed
                self._folder.publish(self._hold, self._note)
                if at_s and self._folder.read(files.RUN) is not None:
                    self._folder.fence(files.MANIFEST)
            except BaseException:
                self._folder.remove(self._hold)
                raise
            for name in at_s.keys() - {self._hold}:
                self._folder.remove(name)
        finally:
            self._folder.remove(self._ask)
        return None

    def require(self) -> None:
        """Raise StoreLockedError when another driver took the run over.

        A listing may lag: what it has to say against this claim is looked at by its name.
        """
        # with every write: a driver that was asleep does not know that it was
        holds = {name for name in self._claims() if self._is_hold(name)}
        if holds == {self._hold}:
            return
        rivals = []
        for name in holds - {self._hold}:
            if self._folder.read(name) is not None:
                rivals.append(name)
        if rivals or self._folder.read(self._hold) != self._note:
            raise StoreLockedError(
                f"{self._folder.where('')} was taken over by another driver, because this one was "
                f"silent for more than {self._pace.lease_s:.0f} s (asleep, or cut off); what was "
                "stored before is safe: let the other one finish"
            )

    def release(self) -> None:
        """End the claim; where the store does not answer, it ends by itself a little later."""
        self._stopped.set()
        # a beat that is under way would put the claim back after its removal
        self._thread.join()
        with in_haste(), contextlib.suppress(UnreachableError):
            self._folder.remove(self._hold)

    def _renew(self) -> None:
        while not self._stopped.wait(self._pace.beat_s):
            try:
                with in_haste():
                    self._renew_once()
            except StoreError:
                # the network may come back; the claim is looked at before anything is written
                continue
            except RuntimeError:  # the interpreter ends
                return

    # what differs in a directory

    def _names(self, name: str) -> tuple[str, str]:
        return f"{_ASK}{name}", f"{_HOLD}{name}"

    def _is_hold(self, name: str) -> bool:
        return name.startswith(_HOLD)

    def _claims(self, n_looks: int = 1) -> dict[str, float]:
        return _objects(self._folder).put_at_s(files.LOCK, n_looks)

    def _time_of_ask(self) -> float:
        """Return the time of the ask that a listing did not have."""
        at_s = _objects(self._folder).time_s(self._ask)
        if at_s is None:
            raise StoreError(
                f"{self._folder.where(self._ask)} is not there though it was put: this store "
                "cannot hold a run; use another one"
            )
        return at_s

    def _put_ask(self) -> None:
        self._folder.publish(self._ask, self._note)

    def _renew_once(self) -> None:
        # a claim that another driver took away must not come back
        if self._hold in self._claims() or self._folder.read(self._hold) == self._note:
            self._folder.publish(self._hold, self._note)


def _objects(folder: Folder) -> "ObjectFolder":
    assert not isinstance(folder, LocalFolder), "directories have a lock of their own"
    return folder


def _is_gone(note: bytes | None, age_s: float, pace: Pace, free_lock: str) -> bool:
    """Return whether nobody has this claim any more.

    free_lock : the place of the directory, where locks work on this machine and nobody else holds
        the lock; else empty
    """
    if note is None:  # it was taken back after it was listed
        return True
    if abs(age_s) > pace.lease_s:  # of the future, too: then somebody set the time of the file
        return True
    owner = parse_owner(note)
    if owner is None:
        return bool(free_lock)
    if free_lock and owner.is_of_this_machine and owner.place == free_lock:
        return True  # whoever wrote it held this lock as long as it lived
    if owner.is_alive is None:
        return bool(free_lock) and owner.is_of_this_machine and not owner.place
    return not owner.is_alive


class DirectoryLock(Lease):
    """The writer's lock on a run in a directory; made by taking it, see :func:`take_lock`."""

    _folder: LocalFolder

    def __init__(self, folder: LocalFolder, pace: Pace, claim_wait: ClaimWait) -> None:
        base = folder.root
        try:
            base.mkdir(parents=True, exist_ok=True)
            # the directory itself is locked: a file of its own would be one more thing to lose
            self._descriptor = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileExistsError as error:
            raise StoreError(
                f"{base} is a file, a run needs a directory: choose another --out"
            ) from error
        except OSError as error:
            raise StoreError(
                f"cannot lock {base}: {error}; repair access or choose another --out"
            ) from error
        try:
            while (is_locked := _lock_patiently(self._descriptor)) is False:
                # some servers keep the lock of a machine that is gone for as long as a claim counts
                put_at_s = folder.put_at_s("").get(files.OWNER, time.time())
                note = _read(folder, files.OWNER)
                age_s = time.time() - put_at_s
                rival = Rival(files.OWNER, note, put_at_s, age_s)
                claim_wait.bear(rival, str(base), is_busy=True)
            # some systems grant a lock and hold nothing: seen from a second descriptor it must be
            # busy
            if is_locked and _is_busy(base):
                self._free_lock = place_of(self._descriptor)
            super().__init__(folder, pace, claim_wait, own_note(self._free_lock))
        except BaseException:
            os.close(self._descriptor)
            raise

    def require(self) -> None:
        """Raise StoreLockedError when the lock or the directory was taken away."""
        if self._folder.read(self._hold) != self._note:
            raise StoreLockedError(
                f"{self._folder.root} or {files.OWNER} in it was moved or removed while this "
                "driver held it, or another one took it over because this one was silent for more "
                f"than {self._pace.lease_s:.0f} s; what was stored before is safe: run again when "
                "no other driver runs"
            )

    def release(self) -> None:
        """Give the lock back."""
        self._stopped.set()
        self._thread.join()
        with contextlib.suppress(StoreError):  # the directory was taken away
            if self._folder.read(self._hold) == self._note:  # else it is another driver's
                self._folder.remove(self._hold)
        os.close(self._descriptor)

    def _names(self, name: str) -> tuple[str, str]:
        return f"{files.LOCK}.{name}", files.OWNER

    def _is_hold(self, name: str) -> bool:
        return name == files.OWNER

    def _claims(self, n_looks: int = 1) -> dict[str, float]:
        # one that asked a moment ago may hold it by now, so asks are looked for before
        asks = self._folder.put_at_s("")
        holds = self._folder.put_at_s("")
        claims = {}
        for name, at_s in (asks | holds).items():
            if files.is_claim(name):
                claims[name] = at_s
        return claims

    def _time_of_ask(self) -> float:
        raise StoreLockedError(
            f"{self._folder.where(self._ask)} was removed a moment ago: another driver takes this "
            "run; run again when no other driver runs"
        )

    def _put_ask(self) -> None:
        self._folder.note(self._ask, self._note.decode())

    def _renew_once(self) -> None:
        if self._folder.read(self._hold) == self._note:
            self._folder.touch(self._hold)


def _try_lock(descriptor: int, kind: int) -> bool | None:
    """Return whether an open directory could be locked; None where there are no locks."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _lock_patiently(descriptor: int) -> bool | None:
    """Lock an open directory as its only writer; readers hold the lock for an instant."""
    for _ in range(15):
        if (is_locked := _try_lock(descriptor, fcntl.LOCK_EX)) is not False:
            return is_locked
        time.sleep(0.02)
    return False


def _is_busy(base: Path, kind: int = fcntl.LOCK_SH) -> bool:
    """Return whether somebody holds the lock of a directory, as far as locks work there."""
    with contextlib.suppress(OSError), opened_folder(base, "") as descriptor:
        return _try_lock(descriptor, kind) is False
    return False


def _read(folder: Folder, name: str) -> bytes | None:
    """Return the note of a claim; None when that is gone, nothing when it cannot be read."""
    try:
        return folder.read(name)
    except UnreachableError:
        raise
    except StoreError:  # another user's, or no note at all
        return b""


def take_lock(folder: Folder, pace: Pace | None = None, wait: Wait | None = None) -> Lease:
    """Take the writer's lock on a run; StoreLockedError names who has it, StoreError says why the
    place refuses.

    pace : by default that of the place, ``PACE`` or ``STORE_PACE``
    wait : is told, every two seconds, whom a claim that is not renewed belongs to; without it
        nobody is waited for
    """
    if isinstance(folder, LocalFolder):
        pace = pace or PACE
        return DirectoryLock(folder, pace, ClaimWait(pace, wait))
    pace = pace or STORE_PACE
    lease = Lease(folder, pace, ClaimWait(pace, wait))
    folder.n_looks = _LOOKS  # what is written stands on what is read from now on
    return lease


def current_owner(folder: Folder, pace: Pace = PACE) -> tuple[bool, Owner | None]:
    """Return whether somebody writes to a run now, and who, if they say.

    For people: it trusts the clock of this machine.
    """
    free_lock = ""
    if isinstance(folder, LocalFolder):
        if _is_busy(folder.root):
            return True, parse_owner(_read(folder, files.OWNER))
        with contextlib.suppress(OSError), opened_folder(folder.root, "") as descriptor:
            is_locked = _try_lock(descriptor, fcntl.LOCK_SH)
            if is_locked and _is_busy(folder.root, fcntl.LOCK_EX):
                free_lock = place_of(descriptor)
        claims = folder.put_at_s("")
    else:
        claims = folder.put_at_s(files.LOCK)
    for name, at_s in claims.items():
        if name == files.OWNER or name.startswith(_HOLD):
            note = _read(folder, name)
            if not _is_gone(note, time.time() - at_s, pace, free_lock):
                return True, parse_owner(note)
    return False, None
