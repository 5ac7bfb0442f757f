"""One driver per run on an object store, which has no locks: a claim that its owner renews.

    RUN/lock/ask-ID     put first: I want to write
    RUN/lock/hold-ID    put when nobody else asks or holds: I write; put again every BEAT_S seconds

Putting and then listing keeps two drivers apart, because object stores list what was put: of two that ask at the same
time, at least the later one sees the other.  If both see each other, both are refused; never are both let in.

A claim that was not renewed for LEASE_S seconds, by the store's own clock, belongs to a driver that died or sleeps.
The next driver removes it, after closing the place of the next manifest line with a fence.  A sleeper that wakes up
looks for its claim before it writes to the manifest and again just after, finds it gone, takes its line back and stops.
If even that fails (it is killed between the two, or a put arrives late), its line stands where the fence is and does
not count; its units are searched again.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any

from boardclass.errors import StoreError
from results.errors import StoreLockedError
from results.storage import files
from results.storage.objects import ObjectFolder
from results.storage.owner import describe_owner

BEAT_S = 20.0
LEASE_S = 90.0
_ASK, _HOLD = f"{files.LOCK}/ask-", f"{files.LOCK}/hold-"


class Lease:
    """A claim on a run in an object store.

    Attributes
    ----------
    name : str
        Identifies the claim.
    """

    def __init__(self, folder: ObjectFolder) -> None:
        self.name = uuid.uuid4().hex
        self._folder = folder
        self._hold = _HOLD + self.name
        self._data = b""
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def take(self, note: Mapping[str, Any], dead: str = "") -> None:
        """Claim the run.

        Parameters
        ----------
        note : mapping
            Who claims it, for the messages that others get.
        dead : str
            Name of a claim whose owner is known to be gone, however short ago.

        Raises
        ------
        StoreLockedError
            Naming the owner, for how long it has held the run and when it was last heard of.
        StoreError
            When the store refuses.
        """
        self._data = (json.dumps(dict(note)) + "\n").encode()
        ask = _ASK + self.name
        self._folder.publish(ask, self._data)
        try:
            at_s = self._folder.put_at_s(files.LOCK)
            ages = {name: at_s[ask] - at_s[name] for name in at_s if name != ask}
            gone = [name for name in ages if ages[name] > LEASE_S or name.endswith(f"-{dead}")]
            for name in sorted(ages.keys() - set(gone), reverse=True):  # who holds it before who asks
                raise StoreLockedError(self._refusal(name, ages[name]))
            self._folder.publish(self._hold, self._data)
            if gone:
                self._shut_out()
            for name in gone:
                self._folder.remove(name)
        finally:
            self._folder.remove(ask)
        self._thread = threading.Thread(target=self._renew, name="orderly-lease", daemon=True)
        self._thread.start()

    def require(self) -> None:
        """Check that the run is still ours.

        Raises
        ------
        StoreLockedError
            When another driver took it over, because ours was silent for too long.
        """
        holders = [name for name in self._folder.names(files.LOCK) if name.startswith(_HOLD)]
        if holders != [self._hold]:
            raise StoreLockedError(
                f"{self._folder.where('')} was taken over by another driver, because this one was silent for more than "
                f"{LEASE_S:.0f} s (asleep, or cut off); what was stored before is safe: let the other one finish"
            )

    def _shut_out(self) -> None:
        """Fence off the drivers whose claims are about to be removed."""
        try:
            if self._folder.read(files.RUN) is not None:
                self._folder.fence(files.MANIFEST)
        except StoreError:
            self._folder.remove(self._hold)
            raise

    def give_back(self) -> None:
        """End the claim."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        self._folder.remove(self._hold)

    def _renew(self) -> None:
        while not self._stopped.wait(BEAT_S):
            try:
                if self._hold in self._folder.names(files.LOCK):
                    self._folder.publish(self._hold, self._data)
            except StoreError:  # the network may come back; before anything is written the claim is looked at again
                continue
            except RuntimeError:  # the interpreter ends
                return

    def _refusal(self, name: str, age_s: float) -> str:
        who = describe_owner(self._folder.read(name))
        return (
            f"{self._folder.where('')} is being written by {who}, last heard of {max(0, round(age_s))} s ago; wait for "
            f"it or stop it, then run again (one that was killed is forgotten after {LEASE_S:.0f} s)"
        )


def holder(folder: ObjectFolder) -> tuple[bytes, float] | None:
    """Return the note of the driver that writes to a run and how long ago it was heard of (s), or None.

    For people: it trusts the clock of this machine.
    """
    for name, at_s in folder.put_at_s(files.LOCK).items():
        age_s = max(0.0, time.time() - at_s)
        if name.startswith(_HOLD) and age_s <= LEASE_S:
            return folder.read(name) or b"", age_s
    return None
