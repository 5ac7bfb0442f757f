"""Runs on object stores (address.py says how they are named).

Such a store has no rename, no append and no locks.  One thing is atomic there: putting a whole object.  Everything that
a local directory does is done with it:

- publish: one put; readers get the old object or the new one;
- a line of the manifest: an object of its own, named by the number of bytes before it, so that a missing, a torn or a
  doubled line is noticed;
- the log: one object per flush of events;
- the lock: lease.py.
"""

from __future__ import annotations

import contextlib
import itertools
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from pyarrow import fs

from boardclass.errors import StoreError
from results.storage import files
from results.storage.folder import Guard, check_size, decode_lines, explained, nobody_else

N_PARALLEL = 16  # requests under way at a time: they wait for the network, not for a core
_FENCE = b"from here on another driver writes\n"  # shorter than any line of a manifest
_PIECE_BYTES = 2**22
_Value = TypeVar("_Value")


class ObjectFolder:
    """A prefix of an object store.

    Parameters
    ----------
    filesystem : pyarrow.fs.FileSystem
    root : str
        Bucket and prefix.
    uri : str
        How to name it in messages.
    """

    def __init__(self, filesystem: Any, root: str, uri: str) -> None:
        self._filesystem = filesystem
        self._root = root.rstrip("/")
        self.uri = uri.rstrip("/")
        self._needs_folders = filesystem.type_name not in ("s3", "gcs")
        # All requests are made in threads: a Ctrl-C in the middle of a put would otherwise publish half an object.
        self._pool = ThreadPoolExecutor(N_PARALLEL, thread_name_prefix="orderly-objects")
        self._writer = uuid.uuid4().hex
        self._n_noted: dict[str, int] = {}

    def where(self, name: str) -> str:
        """Return the URI of an object."""
        return f"{self.uri}/{name}".rstrip("/")

    def exists(self) -> bool:
        """Return whether there is any object below the prefix, apart from the lock's."""
        infos = self._listed("", recursive=True)
        ours = f"{self._root}/{files.LOCK}/"
        return any(info.type == fs.FileType.File and not info.path.startswith(ours) for info in infos)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of an object."""
        return self._in_thread(self._read, name)

    def read_all(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of many objects, some of them fetched ahead."""
        waiting: deque[Future[bytes | None]] = deque()
        rest = iter(names)
        try:
            for name in itertools.islice(rest, N_PARALLEL):
                waiting.append(self._pool.submit(self._read, name))
            while waiting:
                data = waiting.popleft().result()
                waiting.extend(self._pool.submit(self._read, name) for name in itertools.islice(rest, 1))
                yield data
        finally:
            for future in waiting:
                future.cancel()

    def names(self, folder: str) -> list[str]:
        """Return the objects of a sub-folder."""
        found = (info.base_name for info in self._listed(folder) if info.type == fs.FileType.File)
        return sorted(f"{folder}/{name}".lstrip("/") for name in found)

    def put_at_s(self, folder: str) -> dict[str, float]:
        """Return the objects of a sub-folder with the time of their last put, by the store's clock (epoch seconds)."""
        infos = (info for info in self._listed(folder) if info.type == fs.FileType.File)
        return {f"{folder}/{info.base_name}": float((info.mtime_ns or 0) / 1e9) for info in infos}

    def publish(self, name: str, data: bytes) -> None:
        """Put one object."""
        self._in_thread(self._put, name, data)

    def publish_new(self, name: str, data: bytes) -> None:
        """Put one object that is not there yet; the driver's lock is what keeps two writers apart."""
        if self.read(name) is not None:
            raise StoreError(f"{self.where(name)} exists already; another driver made it: choose another --out")
        self.publish(name, data)

    def append_line(self, name: str, line: str, n_valid_bytes: int, guard: Guard = nobody_else) -> int:
        """Put the line as an object of its own, numbered by the bytes before it.

        A put whose answer was lost may have arrived: trying again puts the same object.  A writer that lost its lease
        just before the put notices just after it and takes the line back.
        """
        data = line.encode() + b"\n"
        item = self._line_name(name, n_valid_bytes)
        self.publish(item, data)
        try:
            guard()
        except StoreError:
            self.remove(item)
            raise
        return n_valid_bytes + len(data)

    def fence(self, name: str) -> None:
        """Close the place of the next line to whoever wrote here before: what still arrives there does not count.

        A driver that took a run over calls this before it writes: the one before may have had a put under way when it
        died or fell asleep.
        """
        n_bytes = self.read_lines(name)[1]
        self.publish(self._line_name(name, n_bytes), _FENCE)

    def read_lines(self, name: str) -> tuple[list[str], int, bool]:
        """Return the lines in order; of several at one place a fence counts, and without one they mean two writers."""
        lines: list[str] = []
        n_bytes = 0
        items = self.names(name)
        places: dict[str, dict[str, bytes]] = {}
        for item, data in zip(items, self.read_all(items), strict=True):
            places.setdefault(item.rpartition("-")[0], {})[item] = data or b""
        for place, found in places.items():
            is_fenced = _FENCE in found.values()
            line = _FENCE if is_fenced else next(iter(found.values()))
            is_single = is_fenced or len(found) == 1
            if place != f"{name}/{n_bytes:016d}" or not is_single or not line.endswith(b"\n"):
                raise StoreError(
                    f"{self.where(max(found))} is not the next line of {name}: an object is missing, damaged or "
                    "doubled; restore the missing one from a copy or remove the doubled one"
                )
            lines += [] if is_fenced else decode_lines(line)
            n_bytes += len(line)
        return lines, n_bytes, False

    def note(self, name: str, text: str) -> None:
        """Put some lines of a log as the object after the last one; drivers may share a number, names stay apart."""
        if name not in self._n_noted:
            last = self.names(name)[-1:]
            self._n_noted[name] = int(last[0].rpartition("/")[2].partition("-")[0]) + 1 if last else 0
        self.publish(self._line_name(name, self._n_noted[name]), text.encode())
        self._n_noted[name] += 1

    def read_tail(self, name: str, n_bytes: int) -> bytes:
        """Return the last objects of a log, until ``n_bytes`` are together."""
        tail: list[bytes] = []
        for item in reversed(self.names(name)):
            tail.insert(0, self.read(item) or b"")
            if sum(map(len, tail)) >= n_bytes:
                break
        return b"".join(tail)

    def remove(self, name: str) -> None:
        """Delete an object."""
        self._in_thread(self._remove, name)

    def _line_name(self, name: str, number: int) -> str:
        """Return the name of a line: the same for the same writer and place."""
        return f"{name}/{number:016d}-{self._writer}"

    def _in_thread(self, function: Callable[..., _Value], *arguments: Any) -> _Value:
        return self._pool.submit(function, *arguments).result()

    def _listed(self, folder: str, *, recursive: bool = False) -> list[Any]:
        with explained("list", self.where(folder)):
            selector = fs.FileSelector(f"{self._root}/{folder}".rstrip("/"), allow_not_found=True, recursive=recursive)
            infos: list[Any] = self._in_thread(self._filesystem.get_file_info, selector)
            return infos

    def _read(self, name: str) -> bytes | None:
        with explained("read", self.where(name)):
            try:
                with self._filesystem.open_input_stream(f"{self._root}/{name}") as stream:
                    data = bytearray()
                    while piece := stream.read(_PIECE_BYTES):
                        data += piece
                        check_size(len(data), name, self.where(name))
                    return bytes(data)
            except FileNotFoundError:
                return None

    def _put(self, name: str, data: bytes) -> None:
        with explained("write", self.where(name)):
            if self._needs_folders:
                self._filesystem.create_dir(f"{self._root}/{name}".rpartition("/")[0], recursive=True)
            with self._filesystem.open_output_stream(f"{self._root}/{name}") as stream:
                stream.write(data)

    def _remove(self, name: str) -> None:
        with explained("remove", self.where(name)), contextlib.suppress(FileNotFoundError):
            self._filesystem.delete_file(f"{self._root}/{name}")
