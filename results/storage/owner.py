"""Who writes to a run: the note that a driver leaves beside its lock, for the others."""

from __future__ import annotations

import getpass
import json
import os
import socket
import time
from dataclasses import dataclass
from typing import Any

from boardclass.printable import duration

_MAX_TIME_S = 1e11  # the year 5138


@dataclass(frozen=True)
class Owner:
    """The driver that writes to a run.

    Attributes
    ----------
    user, host : str
    pid : int
    since_s : float
        When it began, epoch seconds.
    """

    user: str
    host: str
    pid: int
    since_s: float

    def describe(self) -> str:
        """Return who it is and for how long it has been writing."""
        age_s = max(0, int(time.time() - self.since_s))
        return f"{self.user}@{self.host} (process {self.pid}), for {duration(age_s)}"


def own_note() -> dict[str, Any]:
    """Return the note of this process; :func:`parse_owner` reads it as JSON."""
    return {"host": socket.gethostname(), "pid": os.getpid(), "user": _user(), "since": time.time()}


def parse_owner(note: bytes | None) -> Owner | None:
    """Return the owner of a note, or None when it cannot be read."""
    try:
        values = json.loads(note or b"")
        found = Owner(str(values["user"]), str(values["host"]), int(values["pid"]), float(values["since"]))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return found if 0 <= found.since_s < _MAX_TIME_S and 0 <= found.pid < 2**63 else None


def describe_owner(note: bytes | None) -> str:
    """Return who wrote a note and since when, for messages."""
    owner = parse_owner(note)
    return owner.describe() if owner else "another process (owner unknown)"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"user {os.getuid()}"
