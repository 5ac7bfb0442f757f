"""Disks and object stores that fail at one of their calls."""

from __future__ import annotations

import contextlib
import errno
import io
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

import orderly_boggle.results.storage.local as storage
from tests.results.helpers import KilledError

SEAM = ("write_all", "sync", "replace")
KINDS = ("kill", "torn", "torn late", "error")


class Faults:
    """Counts the calls of the seam and fails at one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.fail_at = -1
        self.kind = ""
        for name in SEAM:
            monkeypatch.setattr(storage, name, self._wrapped(name, getattr(storage, name)))

    def arm(self, at: int, kind: str) -> None:
        """Let the call number ``at`` from now on fail."""
        self.calls, self.fail_at = [], at
        self.kind = ("ENOSPC", "EIO")[at % 2] if kind == "error" else kind

    def _wrapped(self, name, real):
        def call(*args):
            self.calls.append(name)
            if len(self.calls) - 1 != self.fail_at:
                return real(*args)
            self.fail_at = -1
            if self.kind in ("ENOSPC", "EIO"):
                raise OSError(getattr(errno, self.kind), os.strerror(getattr(errno, self.kind)))
            if self.kind.startswith("torn") and name == "write_all":
                os.write(args[0], args[1][: len(args[1]) // 2])
            elif self.kind == "torn late":
                real(*args)
            raise KilledError(name)

        return call


REQUEST_KINDS = ("error", "error late", "kill", "kill late")


class Faulty:
    """A file system that fails at one of its calls, before or after it has done what it was asked
    for.
    """

    type_name = "s3"

    def __init__(self, real: Any) -> None:
        self.real = real
        self.calls: list[str] = []
        self.fail_at = -1
        self.kind = "error"
        self.get_file_info = partial(self.call, "list", real.get_file_info)
        self.open_input_stream = partial(self.call, "get", real.open_input_stream)
        self.delete_file = partial(self.call, "delete", real.delete_file)

    def call(self, name: str, function: Any, *arguments: Any) -> Any:
        self.calls.append(name)
        fails = len(self.calls) - 1 == self.fail_at
        value = None if fails and "late" not in self.kind else function(*arguments)
        if fails:  # late: the request arrived, its answer did not
            raise (
                KilledError(name)
                if self.kind.startswith("kill")
                else OSError("the network is gone")
            )
        return value

    @contextlib.contextmanager
    def open_output_stream(self, path: str) -> Iterator[io.BytesIO]:
        data = io.BytesIO()
        yield data
        self.call("put", self._put, path, data.getvalue())

    def _put(self, path: str, data: bytes) -> None:
        with self.real.open_output_stream(path) as stream:
            stream.write(data)
