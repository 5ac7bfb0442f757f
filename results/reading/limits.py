"""Limits on one query: time, and memory that DuckDB does not count (texts and lists in the middle
of an expression).

The operating system limits the memory.  A watch interrupts the query and, if that does not help,
ends the process.

>>> Limits(seconds=5).rows
1000000
"""

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
_one_at_a_time = threading.Lock()  # the limit of a process is put back by who has set it


class Limits(NamedTuple):
    """What one query may take."""

    seconds: float = 60.0
    memory_mb: int = 1024  # MiB beyond what the runs themselves take
    rows: int = 1_000_000  # of the answer


@contextlib.contextmanager
def limited(limits: Limits, interrupt: Callable[[], None], message: str) -> Iterator[None]:
    """Run the block with limits on this whole process; ``interrupt`` is called when the time is up.
    The block of another thread waits for its end.

    When that does not help, ``message`` goes to standard error and the process ends with exit code
    2.
    """

    def end() -> None:
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()
        os._exit(2)

    timers = [
        threading.Timer(limits.seconds, interrupt),
        threading.Timer(limits.seconds + GRACE_S, end),
    ]
    with _one_at_a_time:
        for timer in timers:
            timer.daemon = True
            timer.start()
        try:
            with _less_memory(limits.memory_mb):
                yield
        finally:
            for timer in timers:
                timer.cancel()


@contextlib.contextmanager
def _less_memory(memory_mb: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(OSError, ValueError):  # a system without such limits
        n_pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = n_pages * resource.getpagesize()
        most += 2 * memory_mb * 2**20 + _ROOM_BYTES
        if before[0] == resource.RLIM_INFINITY:
            soft = most
        else:
            soft = min(most, before[0])
        resource.setrlimit(resource.RLIMIT_AS, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
