"""Warns when the machine of the workers runs short of memory."""

from __future__ import annotations

from boardclass.printable import memory_size
from cluster.driver.journal import Journal
from cluster.driver.progress import Progress
from results.log_events import MemoryLow

_LOW = 1 / 16  # of all memory


class MemoryWatch:
    """Warns once when memory becomes short, and again when it has been plentiful in between."""

    def __init__(self, progress: Progress, journal: Journal) -> None:
        self._progress = progress
        self._journal = journal
        self._is_low = False

    def look(self, n_free_bytes: int, n_total_bytes: int) -> None:
        """Compare what is free with all there is; both are 0 where nobody knows."""
        if n_free_bytes < n_total_bytes * _LOW and not self._is_low:
            text = (
                f"{memory_size(n_free_bytes)} of {memory_size(n_total_bytes)} memory are free on "
                "this machine, and the system ends a worker when none is left: end another "
                "program, or run again with fewer --workers or a smaller --memory"
            )
            self._progress.note(text)
            self._journal.note(
                MemoryLow(n_free_bytes=n_free_bytes, n_total_bytes=n_total_bytes, message=text)
            )
        self._is_low = n_free_bytes < 2 * n_total_bytes * _LOW
