"""What small parts hold, so that a process decodes each of them once: a command reads the parts of a run several times.

Only bytes of a known SHA-256 are looked up here, so a file is read and hashed each time all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

import pyarrow as pa

MOST_BYTES = 2**25  # of all that is kept
_SMALL_BYTES = 2**18  # of one table


class Decoded:
    """Tables by what they were decoded from; those that were not asked for the longest go first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: dict[Hashable, pa.Table] = {}
        self.n_bytes = 0

    def once(self, key: Hashable, decode: Callable[[], pa.Table]) -> pa.Table:
        """Return the table of ``key``, decoded now unless it is kept."""
        with self._lock:
            table = self._tables.pop(key, None)
            if table is not None:
                self._tables[key] = table  # the last to go
                return table
        table = decode()
        if table.nbytes <= _SMALL_BYTES:
            with self._lock:
                self._keep(key, table)
        return table

    def _keep(self, key: Hashable, table: pa.Table) -> None:
        other = self._tables.pop(key, None)  # of another thread
        self._tables[key] = table
        self.n_bytes += table.nbytes - (other.nbytes if other is not None else 0)
        while self.n_bytes > MOST_BYTES:
            self.n_bytes -= self._tables.pop(next(iter(self._tables))).nbytes
