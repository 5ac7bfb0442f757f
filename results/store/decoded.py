"""What small parts hold, kept for a while: a command reads the parts of a run several times.

Only bytes of a known SHA-256 are looked up here, so a file is read and hashed each time all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

import pyarrow as pa

MOST_BYTES = 2**25  # of all that is kept
_SMALL_BYTES = 2**18  # of one table
_COLUMN_BYTES = 2**11  # what Arrow needs for a column besides its values: 1.2 to 1.7 kB


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
        if _size(table) <= _SMALL_BYTES:
            with self._lock:
                self._keep(key, table)
        return table

    def _keep(self, key: Hashable, table: pa.Table) -> None:
        other = self._tables.pop(key, None)  # of another thread
        self._tables[key] = table
        self.n_bytes += _size(table) - (_size(other) if other is not None else 0)
        while self.n_bytes > MOST_BYTES:
            self.n_bytes -= _size(self._tables.pop(next(iter(self._tables))))


def _size(table: pa.Table) -> int:
    return int(table.nbytes) + _COLUMN_BYTES * sum(1 + column.num_chunks for column in table.columns)
