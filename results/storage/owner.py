"""Who writes to a run: the note of a driver, and whether that driver still runs.

>>> parse_owner(own_note()).is_alive
True
>>> describe_owner(b"?")
'another process (owner unknown)'
"""

import contextlib
import json
import os
import socket
import time
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from orderly_boggle.boardclass.printable import duration


class Owner(BaseModel):
    """The driver that writes to a run, and when it began (epoch seconds).

    ``machine`` and ``process`` tell whether it still runs, and ``place`` of which directory it has
    the lock; older versions did not write them.
    """

    user: str
    host: str
    pid: Annotated[int, Field(ge=0, lt=2**63)]
    since_s: Annotated[float, Field(alias="since", ge=0, lt=1e11)]  # before the year 5138
    machine: str = ""
    process: str = ""
    place: str = ""

    def describe(self) -> str:
        """Return who it is and for how long it has been writing."""
        age_s = max(0, int(time.time() - self.since_s))
        return f"{self.user}@{self.host} (process {self.pid}), for {duration(age_s)}"

    @property
    def is_of_this_machine(self) -> bool:
        """Whether it runs, or ran, on this machine since that was switched on.

        A container that is made anew has another host name.
        """
        if self.machine and _machine():
            return self.machine == _machine()
        return self.host == socket.gethostname()

    @property
    def is_alive(self) -> bool | None:
        """Whether its process still runs; None where that cannot be seen."""
        is_here = self.machine == _machine() and self.process.startswith(_namespace())
        if not is_here or not _sees_own_processes():
            return None
        if process := _process(self.pid):
            return process == self.process
        with contextlib.suppress(ProcessLookupError):
            try:
                os.kill(self.pid, 0)  # a process that has ended, but for its entry
            except PermissionError:  # another user's: the system hides it
                return None
        return False


def own_note(place: str = "") -> bytes:
    """Return the note of this process, a line of JSON; :func:`parse_owner` reads it.

    place : of the directory that it has locked, see :func:`place_of`; empty where locks do nothing
    """
    import getpass

    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = f"user {os.getuid()}"
    note = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "user": user,
        "since": time.time(),
        "machine": _machine(),
        "process": _process("self"),
        "place": place,
    }
    return f"{json.dumps(note)}\n".encode()


def place_of(descriptor: int) -> str:
    """Return what tells an open directory from all others of a machine: two that are the same here
    share their locks, whatever containers look at them.
    """
    status = os.fstat(descriptor)
    return f"{status.st_dev}:{status.st_ino}"


def parse_owner(note: bytes | None) -> Owner | None:
    """Return the owner of a note, or None when it cannot be read."""
    try:
        return Owner.model_validate_json(note or b"")
    except ValidationError:
        return None


def describe_owner(note: bytes | None) -> str:
    """Return who wrote a note and since when, for messages."""
    owner = parse_owner(note)
    if owner:
        return owner.describe()
    return "another process (owner unknown)"


@cache
def _machine() -> str:
    """Return what differs between machines, and between two starts of one; empty if unknown."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


@cache
def _namespace() -> str:
    """Return what tells apart groups of processes that do not see each other, such as containers.

    Where nothing does, no note of a process begins with it.
    """
    with contextlib.suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return "unknown"


def _sees_own_processes() -> bool:
    """Return whether /proc shows the processes of this group: a container may have that of the
    machine, with other numbers.
    """
    with contextlib.suppress(OSError):
        return str(Path("/proc/self").readlink()) == str(os.getpid())
    return True  # there is no /proc


def _process(pid: int | str) -> str:
    """Return what tells a process from a later one with its number; empty if it is gone."""
    try:
        # a name may have blanks and brackets; the start of the process is field 22, the state 3
        text = Path(f"/proc/{pid}/stat").read_text()
        _, _, behind_name = text.rpartition(")")
        state, *fields = behind_name.split()
    except OSError:
        return ""
    if state not in "ZX":
        return f"{_namespace()} {fields[18]}"
    return ""
