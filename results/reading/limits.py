"""Limits on one query: time, and memory that DuckDB does not count (texts and lists in the middle of an expression).

The operating system limits the memory.  A watch interrupts the query and, if that does not help, ends the process.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

GRACE_S = 5.0
_ROOM_BYTES = 2**29  # threads and libraries reserve addresses that they do not use


class Limits(NamedTuple):
    """What one query may take.

    Attributes
    ----------
    seconds : float
    memory_mb : int
        MiB beyond what the runs themselves take.
    rows : int
        Of the answer.
    """

    seconds: float = 60.0
    memory_mb: int = 1024
    rows: int = 1_000_000


class Watch:
    """Whether the time was up.

    Attributes
    ----------
    is_late : bool
    """

    def __init__(self) -> None:
        self.is_late = False


@contextlib.contextmanager
def limited(limits: Limits, interrupt: Callable[[], None], message: str) -> Iterator[Watch]:
    """Run the block with limits on this whole process.

    Parameters
    ----------
    limits : Limits
    interrupt : callable
        Called when the time is up.
    message : str
        Written to standard error before the process ends with exit code 2, when the interruption does not help.
    """
    watch = Watch()

    def stop() -> None:
        watch.is_late = True
        interrupt()

    def end() -> None:
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()
        os._exit(2)

    timers = [threading.Timer(limits.seconds, stop), threading.Timer(limits.seconds + GRACE_S, end)]
    for timer in timers:
        timer.daemon = True
        timer.start()
    before = _keep_memory(2 * limits.memory_mb * 2**20 + _ROOM_BYTES)
    try:
        yield watch
    finally:
        if before is not None:
            resource.setrlimit(resource.RLIMIT_AS, before)
        for timer in timers:
            timer.cancel()


def _keep_memory(n_bytes: int) -> tuple[int, int] | None:
    """Let this process take ``n_bytes`` more than now; return the limits before, or None where the system has none."""
    try:
        n_pages = int(Path("/proc/self/statm").read_text().split()[0])
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = n_pages * resource.getpagesize() + n_bytes
        if soft != resource.RLIM_INFINITY:
            most = min(most, soft)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    except (OSError, ValueError):
        return None
    return soft, hard
