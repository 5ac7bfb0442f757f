"""Runs on object stores: ``s3://bucket/prefix``, ``gs://bucket/prefix``,
``abfss://container@account/prefix``.

Credentials come from the environment, ``~/.aws`` and the like, and never from the address:
addresses stand in shell histories, process lists, ``run.json`` and messages.

Such a store has no rename, no append and no locks.  One thing is atomic there: putting a whole
object.  Everything that a local directory does is done with it:

- publish: one put; readers get the old object or the new one;
- a line of the manifest: an object of its own (object_lines.py); a manifest that is written anew
  (a repair) is one object that stands for all before it;
- the log: one object per flush of events;
- the lock: lock.py.

>>> connect("s3://name:secret@bucket/run")  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
orderly_boggle.boardclass.errors.InputError: the address 's3://bucket/run' came with credentials ...
"""

import contextlib
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from pyarrow import fs

from orderly_boggle.boardclass.errors import StoreError, quote
from orderly_boggle.results.errors import (
    DamagedError,
    StoreLockedError,
    UnreachableError,
    WriteError,
)
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.addresses import CREDENTIALS, checked, knock
from orderly_boggle.results.storage.files import check_size, unguarded
from orderly_boggle.results.storage.object_lines import (
    FENCE,
    joined,
    line_name,
    name_of_all,
    next_place,
    number_of,
    writers_of,
)
from orderly_boggle.results.storage.outage import Outage, Patience, persistently
from orderly_boggle.results.storage.s3 import is_denied, is_passing, reason, s3_filesystem


def connect(address: str) -> tuple[Any, str, str]:
    """Return the file system of an address, the path in it, and the address without settings, for
    messages.

    Raises InputError when the address holds credentials or unknown settings, or no bucket; it is
    not quoted then; StoreError when pyarrow does not understand it.
    """
    address, shown = checked(address)
    parts = urlsplit(address)
    # without credentials these libraries hang for a quarter of an hour, or end this process
    if parts.scheme in CREDENTIALS:
        knock(address, parts.scheme, shown)
    try:
        if parts.scheme == "s3":
            filesystem = s3_filesystem(parts.netloc, dict(parse_qsl(parts.query)))
            root = f"{parts.netloc}{unquote(parts.path)}".rstrip("/")
        else:
            filesystem, root = fs.FileSystem.from_uri(address)
    except (ValueError, OSError, NotImplementedError) as error:
        raise StoreError(
            f"{shown!r} is neither a directory nor an object store that pyarrow knows: {error}"
        ) from error
    return filesystem, root, shown


def runs_below(address: str, max_depth: int, max_runs: int) -> list[str]:
    """Return where the runs below an address are, relative to it and sorted; an empty text for the
    address itself.

    Raises InputError, StoreError as :func:`connect`; OSError when the store does not answer.
    """
    filesystem, root, _ = connect(address)
    runs: list[str] = []
    # to a fixed depth: a bucket may hold millions of objects besides runs
    folders = [("", 0)]
    while folders and len(runs) < max_runs:
        name, depth = folders.pop()
        inner = filesystem.get_file_info(
            fs.FileSelector(f"{root}/{name}".rstrip("/"), allow_not_found=True)
        )
        if any(info.base_name == files.RUN for info in inner):
            runs.append(name)
        elif depth < max_depth:
            below = [info.base_name for info in inner if info.type == fs.FileType.Directory]
            folders += [(f"{name}/{each}".lstrip("/"), depth + 1) for each in below]
    return sorted(runs)


N_PARALLEL = 16  # requests under way at a time: they wait for the network, not for a core
_PIECE_BYTES = 2**22
# Pauses before an object that should be there is looked for again: in some stores listings lag.
LOOKS_S = (0.2, 0.5, 1.0)
_T = TypeVar("_T")


class ObjectFolder:
    """A prefix of an object store (bucket and prefix: ``root``), with the methods of
    ``LocalFolder``.

    Attributes
    ----------
    outage : Outage
        Since when the store has not answered.
    patience : Patience
        How long a request is tried again.
    n_looks : int
        How many listings of a manifest are taken together: a driver asks several times, since some
        stores ask another of their servers each time, and not all of these know the same.
    """

    def __init__(self, filesystem: Any, root: str, uri: str) -> None:
        self._filesystem = filesystem
        self._root = root.rstrip("/")
        self.uri = uri.rstrip("/")
        self.outage = Outage()
        self.patience = Patience()
        self.n_looks = 1
        # The others know folders as things of their own: a put below a missing one fails.  And what
        # is put there is empty at first.
        self._has_folders = filesystem.type_name not in ("s3", "gcs")
        # All requests are made in threads: a Ctrl-C in the middle of a put would otherwise publish
        # half an object.
        self._pool = ThreadPoolExecutor(N_PARALLEL, thread_name_prefix="orderly-objects")
        # in the names of what only this driver puts: two drivers never write the same object
        self._writer = uuid.uuid4().hex
        self._n_noted: dict[str, int] = {}
        self._lines: dict[str, bytes] = {}  # of manifests, put by this writer
        self._is_compared = False

    def where(self, name: str) -> str:
        """Return the URI of an object."""
        return f"{self.uri}/{name}".rstrip("/")

    def exists(self) -> bool:
        """Return whether there is any object below the prefix, apart from the lock's."""
        ours = f"{self._root}/{files.LOCK}/"
        return not all(info.path.startswith(ours) for info in self._listed("", recursive=True))

    def read(self, name: str) -> bytes | None:
        """Return the bytes of an object."""
        return self._answer("read", name, partial(self._read, name))

    def read_all(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of many objects that were listed, some of them fetched ahead.

        One that is not there is looked for again before it is None.
        """
        pauses_s = list(LOOKS_S)
        for begin in range(0, len(names), N_PARALLEL):
            batch = names[begin : begin + N_PARALLEL]
            # a request is nearly all waiting: many at a time cost no processor
            ahead = [self._pool.submit(self._read, name) for name in batch]
            for name, fetched in zip(batch, ahead, strict=True):
                try:
                    data = fetched.result()
                except UnreachableError:
                    data = self.read(name)
                while data is None and pauses_s:
                    time.sleep(pauses_s.pop(0))
                    data = self.read(name)
                yield data

    def names(self, folder: str, n_looks: int = 1) -> list[str]:
        """Return the objects of a sub-folder; of several looks what any of them saw."""
        return sorted(self.put_at_s(folder, n_looks))

    def put_at_s(self, folder: str, n_looks: int = 1) -> dict[str, float]:
        """Return the objects of a sub-folder with the time of their last put, by the store's clock
        (epoch seconds).
        """
        found = {}
        # a union: an object that any server knows of exists
        for _ in range(n_looks):
            for info in self._listed(folder):
                found[f"{folder}/{info.base_name}".lstrip("/")] = _time_s(info)
        return found

    def has(self, name: str) -> bool:
        """Return whether an object is there, without reading it."""
        return self.time_s(name) is not None

    def time_s(self, name: str) -> float | None:
        """Return when an object was last put, by the store's clock, without a listing; None when it
        is not there.
        """
        look = partial(self._filesystem.get_file_info, f"{self._root}/{name}")
        info = self._answer("read", name, lambda: self._asked("read", name, look))
        if info.type == fs.FileType.File:
            return _time_s(info)
        return None

    def publish(self, name: str, data: bytes) -> None:
        """Put one object; the first one is read back.

        Raises StoreError when the store does not keep what it is given.
        """
        self._answer("write", name, partial(self._put, name, data))
        # once for each session: what is on the way to a store may rewrite what it is given
        if not self._is_compared:
            self._compare(name, data)
            self._is_compared = True

    def _compare(self, name: str, data: bytes) -> None:
        (found,) = self.read_all([name])
        if found == data:
            return
        self.remove(name)
        if found is None:
            came = "it is not there"
        else:
            came = f"{len(found):,} bytes come back, {quote(found.decode(errors='replace'), 40)}"
        raise StoreError(
            f"{self.where(name)}: {len(data):,} bytes were put, and {came}: this store, or "
            "something on the way to it, changes what it is given, so no run is written there; "
            "use another store, or change the way of sending (AWS_REQUEST_CHECKSUM_CALCULATION)"
        )

    def append_line(
        self, name: str, line: str, n_valid_bytes: int, guard: Callable[[], None] = unguarded
    ) -> int:
        """Put the line as an object of its own, numbered by the bytes before it.

        A put whose answer was lost may have arrived: trying again puts the same object.  A writer
        that lost its lease just before the put notices just after it and takes the line back.  One
        that cannot see whether it has the lease leaves it: should another driver have come, the
        line is where the fence is, and a removal might arrive after the next try.
        """
        data = line.encode() + b"\n"
        # the place is in the name: two writers cannot both have the next one unseen
        item = line_name(name, n_valid_bytes, self._writer)
        self.publish(item, data)
        try:
            guard()
        except StoreLockedError:
            self.remove(item)
            raise
        # a listing that lags may not know it when this driver reads again
        self._lines[item] = data
        return n_valid_bytes + len(data)

    def fence(self, name: str) -> None:
        """Close the place of the next line to whoever wrote here before: what still arrives there
        does not count.

        A driver that took a run over calls this before it writes: the one before may have had a put
        under way when it died or fell asleep.
        """
        place = next_place(self._read_objects(name))
        item = line_name(name, place, self._writer)
        self.publish(item, FENCE)
        self._lines[item] = FENCE

    def read_lines(self, name: str) -> tuple[list[str], int]:
        """Return the lines in order; of several at one place a fence counts, and without one they
        mean two writers.

        Raises DamagedError when one is missing or doubled.
        """
        return self._sound(name, self._read_objects(name))

    def _sound(self, name: str, read: Mapping[str, bytes | None]) -> tuple[list[str], int]:
        lines, n_bytes, fault = joined(read)
        if fault:
            raise DamagedError(
                f"{self.where(fault)} is not the next line of {name}: an object is missing, "
                "damaged or doubled; restore the missing one from a copy, remove the doubled one, "
                "or run again with --drop-damaged to recompute what it does not list"
            )
        return lines, n_bytes

    def readable_lines(self, name: str) -> list[str]:
        """Return the lines that there are, whatever is missing or doubled."""
        lines: list[str] = []
        for _, data in sorted(self._read_objects(name).items()):
            # for a repair, which has to see what is left and judge it line by line
            if data is not None and data != FENCE:
                lines += data.decode(errors="replace").splitlines()
        return lines

    def replace_lines(self, name: str, lines: Sequence[str]) -> int:
        """Put all lines anew, whatever there is, as one object that stands for all that was put
        before; return the size.

        Whether it arrives or not, readers find one state or the other.  When nobody knows whether
        it arrived, the same lines must be put again before any other: it may still arrive later.
        A writer that lost its lease takes the object back, as in :meth:`append_line`.
        """
        read = self._read_objects(name)
        return self._put_whole(name, lines, read, next_place(read), unguarded)

    def change_lines(
        self,
        name: str,
        change: Callable[[Sequence[str]], Sequence[str]],
        guard: Callable[[], None] = unguarded,
    ) -> int:
        """Put all lines anew, as ``change`` returns them, like :meth:`replace_lines`; return the
        size.

        Lines of this writer are not read again.  Raises DamagedError when a line is missing or
        doubled.
        """
        read = self._read_objects(name, self._lines)
        lines, n_bytes = self._sound(name, read)
        return self._put_whole(name, change(lines), read, n_bytes, guard)

    def _put_whole(
        self,
        name: str,
        lines: Sequence[str],
        read: Iterable[str],
        n_bytes: int,
        guard: Callable[[], None],
    ) -> int:
        """Put lines as one object, behind so many bytes, and remove those that were read before."""
        item = name_of_all(name, n_bytes, uuid.uuid4().hex)
        data = "".join(f"{line}\n" for line in lines).encode()
        self.publish(item, data)
        try:
            guard()
        except StoreLockedError:
            self.remove(item)
            raise
        others = {x: line for x, line in self._lines.items() if not x.startswith(f"{name}/")}
        self._lines = {**others, item: data}
        with contextlib.suppress(StoreError):  # they do not count any more
            for other in read:
                self.remove(other)
        return n_bytes + len(data)

    def _read_objects(
        self, name: str, at_hand: Mapping[str, bytes] = MappingProxyType({})
    ) -> dict[str, bytes | None]:
        """Return the objects that lines are in, with their bytes; those ``at_hand`` are not read.

        What a listing lacks is looked for by its name, and in further listings, before it is called
        missing.
        """
        # what this driver put is there, whatever a listing says
        own = {item for item in self._lines if item.startswith(f"{name}/")}
        items = sorted(own.union(self.names(name, self.n_looks)))
        unread = [item for item in items if item not in at_hand]
        read = dict(zip(unread, self._read_whole(unread), strict=True))
        read |= {item: at_hand[item] for item in items if item in at_hand}
        for pause_s in LOOKS_S:
            n_bytes = joined(read).n_bytes
            read |= self._next_lines(name, n_bytes, read)
            # taken back, or its writer put all lines anew: that listing is older than the store,
            # and the next one is taken at once
            is_gone = None in read.values()
            if not is_gone:
                if not joined(read).fault:
                    break
                time.sleep(pause_s)
            listed = self.names(name)
            new = [item for item in listed if read.get(item) is None]
            read |= zip(new, self._read_whole(new), strict=True)
            read = {item: data for item, data in read.items() if data or item in listed}
        return read

    def _read_whole(self, items: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of objects with lines; None also for one that is being put."""
        for data in self.read_all(items):
            yield self._unless_under_way(data)

    def _unless_under_way(self, data: bytes | None) -> bytes | None:
        # Azure's client puts an empty object first, then the content; a driver that is killed
        # between the two leaves it so, and one that stands for all lines would hide those before it
        if self._has_folders and not data:
            return None
        return data

    def _next_lines(
        self, name: str, n_bytes: int, read: Mapping[str, object]
    ) -> dict[str, bytes | None]:
        """Return the lines behind so many bytes that no listing knew, as far as their names can be
        told from those of their writers.
        """
        found: dict[str, bytes | None] = {}
        # a writer names its lines by its own id: the next one can be asked for without a listing
        writers = writers_of(read)
        while True:
            lines = {}
            for writer in writers:
                item = line_name(name, n_bytes, writer)
                if item in read:
                    continue
                data = self._unless_under_way(self.read(item))
                if data is not None:
                    lines[item] = data
            found |= lines
            if len(lines) != 1:
                return found
            (line,) = lines.values()
            n_bytes += len(line)

    def note(self, name: str, text: str) -> None:
        """Put some lines of a log as the object after the last one; drivers may share a number,
        names stay apart.
        """
        # others may have noted before: numbers only sort, they need not be free of gaps
        if name not in self._n_noted:
            last = max(map(number_of, self.names(name)), default=-1)
            self._n_noted[name] = last + 1
        item = line_name(name, self._n_noted[name], self._writer)
        self.publish(item, text.encode())
        self._n_noted[name] += 1

    def read_tail(self, name: str, n_bytes: int) -> bytes:
        """Return the last objects of a log, until ``n_bytes`` are together."""
        tail = b""
        for item in reversed(self.names(name)):
            if len(tail) >= n_bytes:
                break
            tail = (self.read(item) or b"") + tail
        return tail

    def remove(self, name: str) -> None:
        """Delete an object."""
        self._answer("remove", name, partial(self._remove, name))
        self._lines.pop(name, None)

    def _answer(self, verb: str, name: str, request: Callable[[], _T]) -> _T:
        """Make a request in another thread, again if the store does not answer."""

        def ask() -> _T:
            return self._pool.submit(request).result()

        return persistently(ask, self.where(name), self.outage, self.patience)

    def _listed(self, folder: str, *, recursive: bool = False) -> list[Any]:
        request = partial(self._list, folder, recursive=recursive)
        return self._answer("list", folder, request)

    def _list(self, folder: str, *, recursive: bool = False) -> list[Any]:
        # Amazon's client then tells a bucket that is not there from an empty folder
        selector = fs.FileSelector(
            f"{self._root}/{folder}".rstrip("/"),
            allow_not_found=self._filesystem.type_name != "s3",
            recursive=recursive,
        )
        look = partial(self._filesystem.get_file_info, selector)
        try:
            infos = self._asked("list", folder, look)
        except FileNotFoundError:
            return []
        return [info for info in infos if info.type == fs.FileType.File]

    def _read(self, name: str) -> bytes | None:
        try:
            return self._asked("read", name, partial(self._get, name))
        except FileNotFoundError:
            return None
        except StoreError as error:
            # A key that may not list everything is not told that an object is missing.
            if not _is_refusal(error):
                raise
            if self._is_there(name):
                raise
            return None

    def _is_there(self, name: str) -> bool:
        """Return whether a listing knows an object; it says more than a refused read."""
        folder = name.rpartition("/")[0]
        return any(info.base_name == name.rpartition("/")[2] for info in self._list(folder))

    def _get(self, name: str) -> bytes:
        with self._filesystem.open_input_stream(f"{self._root}/{name}") as stream:
            # in pieces, so that an object of a stranger that is too large is never held
            data = bytearray()
            while piece := stream.read(_PIECE_BYTES):
                data += piece
                check_size(len(data), name, self.where(name))
            return bytes(data)

    def _put(self, name: str, data: bytes) -> None:
        def put() -> None:
            # but for S3 and Google's, folders must be there before what is in them
            if self._has_folders:
                self._filesystem.create_dir(
                    f"{self._root}/{name}".rpartition("/")[0], recursive=True
                )
            with self._filesystem.open_output_stream(f"{self._root}/{name}") as stream:
                stream.write(data)

        self._asked("write", name, put)

    def _remove(self, name: str) -> None:
        delete = partial(self._filesystem.delete_file, f"{self._root}/{name}")
        try:
            self._asked("remove", name, delete)
        except FileNotFoundError:
            return
        except StoreError as error:
            if not _is_refusal(error):
                raise
            if self._is_there(name):
                raise

    def _asked(self, verb: str, name: str, request: Callable[[], _T]) -> _T:
        """Return what a call of the client returns; its errors in words, but that something is not
        there.
        """
        try:
            return request()
        except FileNotFoundError:
            raise
        except OSError as error:
            where = self.where(name)
            words = reason(error)
            if is_passing(error):
                raise UnreachableError(
                    f"{where} does not answer a request to {verb} it ({_brief(error)})"
                ) from error
            if words:
                told = f"{words} ({_brief(error)})"
            else:
                told = _brief(error)
            remedy = ""
            if not words:
                remedy = "make room or repair access, then "
            kind = WriteError if verb == "write" else StoreError
            raise kind(
                f"cannot {verb} {where}: {told}; what was stored before is safe: {remedy}run again"
            ) from error


def _is_refusal(error: StoreError) -> bool:
    """Return whether a store answered that it would not tell."""
    cause = error.__cause__
    if isinstance(error, UnreachableError) or not isinstance(cause, OSError):
        return False
    return is_denied(cause)


def _brief(error: OSError) -> str:
    """Return an error of the client without the part that says which object it was about."""
    text = str(error).partition("AWS Error ")
    return (text[2] or text[0]).partition(" (Request ID")[0][:300]


def _time_s(info: Any) -> float:
    return float((info.mtime_ns or 0) / 1e9)
