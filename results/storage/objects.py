"""Runs on object stores: ``s3://bucket/prefix``, ``gs://bucket/prefix``,
``abfss://container@account/prefix``.

Credentials come from the environment, ``~/.aws`` and the like, and never from the address:
addresses stand in shell histories, process lists, ``run.json`` and messages.

Such a store has no rename, no append and no locks.  One thing is atomic there: putting a whole
object.  Everything that a local directory does is done with it:

- publish: one put; readers get the old object or the new one;
- a line of the manifest: an object of its own, named by the number of bytes before it, so that a
  missing, a torn or a doubled line is noticed;
- the log: one object per flush of events;
- the lock: lock.py.

>>> connect("s3://name:secret@bucket/run")  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
boardclass.errors.InputError: the address 's3://bucket/run' came with credentials in it: ...
"""

import contextlib
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pyarrow import fs

from boardclass.errors import InputError, StoreError
from results.storage import files
from results.storage.files import check_size, explained, unguarded

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss")
# What an address may say after "?"; everything else is refused, such as account keys and
# signatures.
SETTINGS = (
    "allow_bucket_creation, blob_storage_authority, dfs_storage_authority, enable_tls, "
    "endpoint_override, project_id, region, retry_limit_seconds, scheme, tls_ca_file_path"
)
_OF_GOOGLE = (
    "GOOGLE_APPLICATION_CREDENTIALS, gcloud auth application-default login, or "
    "gs://anonymous@bucket/prefix"
)
_OF_AZURE = "AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or az login"
_CREDENTIALS = {"gs": _OF_GOOGLE, "gcs": _OF_GOOGLE, "abfs": _OF_AZURE, "abfss": _OF_AZURE}
_KNOCK = (
    "import sys; from pyarrow import fs; at, root = fs.FileSystem.from_uri(sys.argv[1]); "
    "at.get_file_info(root)"
)
_KNOCK_S, _PATIENCE_S = 60.0, 10


def connect(address: str) -> tuple[Any, str, str]:
    """Return the file system of an address, the path in it, and the address without settings, for
    messages.

    Raises InputError when the address holds credentials or unknown settings, or no bucket; it is
    not quoted then; StoreError when pyarrow does not understand it.
    """
    address, shown = _checked(address)
    if (scheme := urlsplit(address).scheme) in _CREDENTIALS:
        _knock(address, scheme, shown)
    try:
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


@cache
def _knock(address: str, scheme: str, shown: str) -> None:
    """Ask a store, from a separate process, whether it lets us in.

    Without credentials the library for Google's stores keeps trying for a quarter of an hour, and
    the one for Azure's ends the process.

    Raises StoreError when it does not.
    """
    if scheme.startswith("g") and "retry_limit_seconds=" not in address:
        address += ("&" if "?" in address else "?") + f"retry_limit_seconds={_PATIENCE_S}"
    command = [sys.executable, "-c", _KNOCK, address]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_KNOCK_S, check=False
        )
        said, code = done.stderr, done.returncode
    except subprocess.TimeoutExpired:
        said, code = f"no answer within {_KNOCK_S:.0f} s", 1
    if code:
        telling = [
            line.strip() for line in said.splitlines() if "rror" in line or "what()" in line
        ] or [said.strip()]
        raise StoreError(
            f"cannot open {shown}: {telling[-1][:300]} ...; credentials: {_CREDENTIALS[scheme]}"
        )


def _checked(address: str) -> tuple[str, str]:
    """Return an address without secrets, with the settings that it needs, and the one to show."""
    parts = urlsplit(address)
    shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")).rstrip(
        "/"
    )
    if parts.scheme not in SCHEMES:
        if parts.scheme != "file":
            raise StoreError(
                f"{shown!r} is neither a directory nor an object store: expected "
                f"{', '.join(SCHEMES)} or a path"
            )
        return address, shown
    # In these the name before @ is not a secret: it is what to open, or says that there are no
    # credentials.
    container = parts.scheme.startswith("abfs") or parts.netloc.startswith("anonymous@")
    if ":" in parts.netloc.rpartition("@")[0] or ("@" in parts.netloc and not container):
        raise InputError(
            f"the address {shown!r} came with credentials in it: expected scheme://bucket/prefix; "
            "give them in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in ~/.aws/credentials, or "
            "as your store wants them"
        )
    settings = parse_qsl(parts.query, keep_blank_values=True)
    unknown = [name for name, _ in settings if name not in SETTINGS.split(", ")]
    if unknown:
        raise InputError(
            f"the address {shown!r} has the setting {unknown[0]!r}: expected some of {SETTINGS}; "
            "credentials belong in the environment"
        )
    if not parts.netloc:
        raise InputError(f"the address {shown!r} names no bucket: expected scheme://bucket/prefix")
    if container:
        shown = urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")).rstrip("/")
    if parts.scheme == "s3":
        # one request to put a small object, not three
        settings.append(("allow_delayed_open", "true"))
    return urlunsplit(parts._replace(query=urlencode(settings))), shown


N_PARALLEL = 16  # requests under way at a time: they wait for the network, not for a core
_FENCE = b"from here on another driver writes\n"  # shorter than any line of a manifest
_PIECE_BYTES = 2**22


class ObjectFolder:
    """A prefix of an object store (bucket and prefix: ``root``), with the methods of
    ``LocalFolder``.
    """

    def __init__(self, filesystem: Any, root: str, uri: str) -> None:
        self._filesystem = filesystem
        self._root = root.rstrip("/")
        self.uri = uri.rstrip("/")
        self._needs_folders = filesystem.type_name not in ("s3", "gcs")
        # All requests are made in threads: a Ctrl-C in the middle of a put would otherwise publish
        # half an object.
        self._pool = ThreadPoolExecutor(N_PARALLEL, thread_name_prefix="orderly-objects")
        self._writer = uuid.uuid4().hex
        self._n_noted: dict[str, int] = {}

    def where(self, name: str) -> str:
        """Return the URI of an object."""
        return f"{self.uri}/{name}".rstrip("/")

    def exists(self) -> bool:
        """Return whether there is any object below the prefix, apart from the lock's."""
        ours = f"{self._root}/{files.LOCK}/"
        return not all(info.path.startswith(ours) for info in self._listed("", recursive=True))

    def read(self, name: str) -> bytes | None:
        """Return the bytes of an object."""
        return self._pool.submit(self._read, name).result()

    def read_all(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of many objects, some of them fetched ahead."""
        for begin in range(0, len(names), N_PARALLEL):
            yield from self._pool.map(self._read, names[begin : begin + N_PARALLEL])

    def names(self, folder: str) -> list[str]:
        """Return the objects of a sub-folder."""
        return sorted(f"{folder}/{info.base_name}".lstrip("/") for info in self._listed(folder))

    def put_at_s(self, folder: str) -> dict[str, float]:
        """Return the objects of a sub-folder with the time of their last put, by the store's clock
        (epoch seconds).
        """
        return {
            f"{folder}/{info.base_name}": float((info.mtime_ns or 0) / 1e9)
            for info in self._listed(folder)
        }

    def publish(self, name: str, data: bytes) -> None:
        """Put one object."""
        self._pool.submit(self._put, name, data).result()

    def append_line(
        self, name: str, line: str, n_valid_bytes: int, guard: Callable[[], None] = unguarded
    ) -> int:
        """Put the line as an object of its own, numbered by the bytes before it.

        A put whose answer was lost may have arrived: trying again puts the same object.  A writer
        that lost its lease just before the put notices just after it and takes the line back.
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
        """Close the place of the next line to whoever wrote here before: what still arrives there
        does not count.

        A driver that took a run over calls this before it writes: the one before may have had a put
        under way when it died or fell asleep.
        """
        n_bytes = self.read_lines(name)[1]
        self.publish(self._line_name(name, n_bytes), _FENCE)

    def read_lines(self, name: str) -> tuple[list[str], int]:
        """Return the lines in order; of several at one place a fence counts, and without one they
        mean two writers.
        """
        lines: list[str] = []
        n_bytes = 0
        items = self.names(name)
        places: dict[str, dict[str, bytes]] = {}
        for item, data in zip(items, self.read_all(items), strict=True):
            places.setdefault(item.rpartition("-")[0], {})[item] = data or b""
        for place, puts in places.items():
            is_fenced = _FENCE in puts.values()
            line = _FENCE if is_fenced else next(iter(puts.values()))
            is_single = is_fenced or len(puts) == 1
            if place != f"{name}/{n_bytes:016d}" or not is_single or not line.endswith(b"\n"):
                raise StoreError(
                    f"{self.where(max(puts))} is not the next line of {name}: an object is "
                    "missing, damaged or doubled; restore the missing one from a copy or remove "
                    "the doubled one"
                )
            lines += [] if is_fenced else line.decode(errors="replace").split("\n")[:-1]
            n_bytes += len(line)
        return lines, n_bytes

    def note(self, name: str, text: str) -> None:
        """Put some lines of a log as the object after the last one; drivers may share a number,
        names stay apart.
        """
        if name not in self._n_noted:
            last = self.names(name)[-1:]
            self._n_noted[name] = (
                int(last[0].rpartition("/")[2].partition("-")[0]) + 1 if last else 0
            )
        self.publish(self._line_name(name, self._n_noted[name]), text.encode())
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
        self._pool.submit(self._remove, name).result()

    def _line_name(self, name: str, number: int) -> str:
        """Return the name of a line: the same for the same writer and place."""
        return f"{name}/{number:016d}-{self._writer}"

    def _listed(self, folder: str, *, recursive: bool = False) -> list[Any]:
        with explained("list", self.where(folder)):
            selector = fs.FileSelector(
                f"{self._root}/{folder}".rstrip("/"), allow_not_found=True, recursive=recursive
            )
            infos = self._pool.submit(self._filesystem.get_file_info, selector).result()
            return [info for info in infos if info.type == fs.FileType.File]

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
                self._filesystem.create_dir(
                    f"{self._root}/{name}".rpartition("/")[0], recursive=True
                )
            with self._filesystem.open_output_stream(f"{self._root}/{name}") as stream:
                stream.write(data)

    def _remove(self, name: str) -> None:
        with explained("remove", self.where(name)), contextlib.suppress(FileNotFoundError):
            self._filesystem.delete_file(f"{self._root}/{name}")
