"""Folders that keep what they acknowledged: a local directory with atomic publishing, or a prefix of an object store.

A reader sees a published file whole or not at all.  The functions at the end are the only ones that change a disk;
tests make each of their calls fail in turn.
"""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from pyarrow import fs

from boardclass.errors import StoreError
from results import files


class Folder(Protocol):
    """A run directory; ``name`` is relative to it, with ``/`` between folder and file."""

    def where(self, name: str) -> str:
        """Return the full name for messages."""

    def exists(self) -> bool:
        """Return whether the folder holds anything but leftovers of a run that never began."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None when it is not there."""

    def names(self, folder: str) -> list[str]:
        """Return the names (relative to the run) of the files directly in ``folder``, sorted."""

    def publish(self, name: str, data: bytes) -> None:
        """Write a file so that it appears whole and survives a crash once this returns; replaces an older one."""

    def publish_new(self, name: str, data: bytes) -> None:
        """Publish a file that must not exist yet (StoreError)."""

    def append_line(self, name: str, line: str, n_valid_bytes: int) -> int:
        """Append a line after the first ``n_valid_bytes``, dropping what a failed append left; return the new size."""

    def read_lines(self, name: str) -> tuple[list[str], int, bool]:
        """Return the complete lines of a file, their size in bytes and whether a torn line follows."""

    def remove(self, name: str) -> None:
        """Remove a file; one that is gone already is no error."""


def open_folder(location: str | Path) -> Folder:
    """Return the folder at a path, or at a URI such as ``s3://bucket/prefix``.

    Raises
    ------
    StoreError
        When the URI is not one that pyarrow.fs understands.
    """
    text = str(location)
    if "://" not in text:
        return LocalFolder(Path(text))
    try:
        filesystem, root = fs.FileSystem.from_uri(text)
    except (ValueError, OSError, NotImplementedError) as error:
        raise StoreError(f"{text!r} is no directory and no object store that pyarrow knows: {error}") from error
    return (
        LocalFolder(Path(root)) if isinstance(filesystem, fs.LocalFileSystem) else ObjectFolder(filesystem, root, text)
    )


class LocalFolder:
    """A directory of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def where(self, name: str) -> str:
        """Return the full path."""
        return str(self.root / name)

    def exists(self) -> bool:
        """Return whether the directory holds anything but leftovers; a file in its place is an error."""
        with _explained("read", str(self.root)):
            if not self.root.exists():
                return False
            entries = [entry for entry in self.root.iterdir() if entry.name not in (files.LOCK, files.OWNER)]
            return not all(files.is_temporary(entry.name) or _is_empty_folder(entry) for entry in entries)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file."""
        with _explained("read", self.where(name)):
            try:
                return (self.root / name).read_bytes()
            except FileNotFoundError:
                return None

    def names(self, folder: str) -> list[str]:
        """Return the files of a sub-folder."""
        with _explained("read", self.where(folder)):
            base = self.root / folder
            entries = base.iterdir() if base.is_dir() else iter(())
            return sorted(f"{folder}/{entry.name}".lstrip("/") for entry in entries if entry.is_file())

    def publish(self, name: str, data: bytes) -> None:
        """Write beside the target, fsync, rename over it, fsync the directory."""
        self._publish(name, data, new=False)

    def publish_new(self, name: str, data: bytes) -> None:
        """Like :meth:`publish`, refusing an existing target."""
        self._publish(name, data, new=True)

    def _publish(self, name: str, data: bytes, *, new: bool) -> None:
        target, temporary = self.root / name, self.root / files.temporary_name(name)
        with _explained("write", str(target)):
            if not target.parent.is_dir():
                target.parent.mkdir(parents=True, exist_ok=True)
                sync_folder(target.parent.parent)
            try:
                with temporary.open("xb", buffering=0) as file:
                    write_all(file.fileno(), data)
                    sync(file.fileno())
                if new:
                    link_new(temporary, target)
                    temporary.unlink(missing_ok=True)
                else:
                    replace(temporary, target)
            except OSError:  # a kill leaves the temporary file to the next driver
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)
                raise
            sync_folder(target.parent)

    def append_line(self, name: str, line: str, n_valid_bytes: int) -> int:
        """Append a line and fsync it."""
        with _explained("write", self.where(name)):
            new = not (self.root / name).exists()
            with (self.root / name).open("ab", buffering=0) as file:
                n_bytes = file.tell()
                if n_bytes < n_valid_bytes:
                    raise StoreError(
                        f"{self.where(name)} became shorter during the run: somebody else changes this directory"
                    )
                if n_bytes > n_valid_bytes:
                    truncate(file.fileno(), n_valid_bytes)
                data = line.encode() + b"\n"
                write_all(file.fileno(), data)
                sync(file.fileno())
            if new:
                sync_folder((self.root / name).parent)
            return n_valid_bytes + len(data)

    def read_lines(self, name: str) -> tuple[list[str], int, bool]:
        """Return the lines that end in a newline; only such a line was acknowledged."""
        data = self.read(name) or b""
        n_valid_bytes = data.rfind(b"\n") + 1
        return _decode_lines(data[:n_valid_bytes], self.where(name)), n_valid_bytes, n_valid_bytes < len(data)

    def remove(self, name: str) -> None:
        """Remove a file."""
        with _explained("remove", self.where(name)):
            (self.root / name).unlink(missing_ok=True)


class ObjectFolder:
    """A prefix of an object store, where one put is atomic and nothing can be appended.

    A line appended to ``name`` is an object of its own, ``name/<sequence number>-<unique>``.
    """

    def __init__(self, filesystem: Any, root: str, uri: str) -> None:
        self._filesystem = filesystem
        self._root = root.rstrip("/")
        self.uri = uri.rstrip("/")

    def where(self, name: str) -> str:
        """Return the URI of an object."""
        return f"{self.uri}/{name}".rstrip("/")

    def exists(self) -> bool:
        """Return whether there is any object below the prefix."""
        return any(self.names(folder) for folder in files.FOLDERS)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of an object."""
        with _explained("read", self.where(name)):
            try:
                with self._filesystem.open_input_stream(f"{self._root}/{name}") as stream:
                    return bytes(stream.read())
            except FileNotFoundError:
                return None

    def names(self, folder: str) -> list[str]:
        """Return the objects of a sub-folder."""
        with _explained("list", self.where(folder)):
            selector = fs.FileSelector(f"{self._root}/{folder}".rstrip("/"), allow_not_found=True)
            infos = self._filesystem.get_file_info(selector)
            found = (info.base_name for info in infos if info.type == fs.FileType.File)
            return sorted(f"{folder}/{name}".lstrip("/") for name in found)

    def publish(self, name: str, data: bytes) -> None:
        """Put one object."""
        with _explained("write", self.where(name)):
            if not isinstance(self._filesystem, fs.S3FileSystem):
                self._filesystem.create_dir(f"{self._root}/{name}".rpartition("/")[0], recursive=True)
            with self._filesystem.open_output_stream(f"{self._root}/{name}") as stream:
                stream.write(data)

    def publish_new(self, name: str, data: bytes) -> None:
        """Put one object that is not there yet; the driver's lock is what keeps two writers apart."""
        if self.read(name) is not None:
            raise StoreError(f"{self.where(name)} exists already; another driver made it: choose another --out")
        self.publish(name, data)

    def append_line(self, name: str, line: str, n_valid_bytes: int) -> int:
        """Put the line as an object of its own, numbered by the bytes before it."""
        data = line.encode() + b"\n"
        self.publish(f"{name}/{n_valid_bytes:016d}-{uuid.uuid4().hex}", data)
        return n_valid_bytes + len(data)

    def read_lines(self, name: str) -> tuple[list[str], int, bool]:
        """Return the lines in order; two lines at one place mean two writers."""
        lines: list[str] = []
        n_bytes = 0
        for item in self.names(name):
            data = self.read(item) or b""
            if not item.startswith(f"{name}/{n_bytes:016d}-") or not data.endswith(b"\n"):
                raise StoreError(
                    f"{self.where(item)} is not the next line of {name}: an object is missing, damaged or doubled"
                )
            lines += _decode_lines(data, self.where(item))
            n_bytes += len(data)
        return lines, n_bytes, False

    def remove(self, name: str) -> None:
        """Delete an object."""
        with _explained("remove", self.where(name)), contextlib.suppress(FileNotFoundError):
            self._filesystem.delete_file(f"{self._root}/{name}")


def _decode_lines(data: bytes, where: str) -> list[str]:
    """Return the lines of UTF-8 text whose every line ends in a newline; splits at nothing else."""
    try:
        return data.decode().split("\n")[:-1]
    except UnicodeDecodeError as error:
        raise StoreError(f"{where} is damaged: {error}; restore it from a copy") from error


def _is_empty_folder(entry: Path) -> bool:
    return entry.is_dir() and not any(entry.iterdir())


@contextlib.contextmanager
def _explained(verb: str, where: str) -> Iterator[None]:
    """Turn an operating system error into one that says what is safe and what to do."""
    try:
        yield
    except FileExistsError as error:
        raise StoreError(f"{where} exists already: choose another --out") from error
    except NotADirectoryError as error:
        raise StoreError(f"{where} is a file, a run needs a directory: choose another --out") from error
    except OSError as error:
        raise StoreError(
            f"cannot {verb} {where}: {error}; what was stored before is safe: "
            "make room or repair access, then run again"
        ) from error


# --- the seam: everything that changes a local disk ---


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``; a short write goes on where it stopped."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync(descriptor: int) -> None:
    """Wait until a file's bytes are on disk."""
    os.fsync(descriptor)


def sync_folder(path: Path) -> None:
    """Wait until a directory's names are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace(source: Path, target: Path) -> None:
    """Rename over the target, atomically."""
    source.replace(target)


def link_new(source: Path, target: Path) -> None:
    """Give a file a second name that must not exist; where links are unknown the driver's lock has to do."""
    try:
        target.hardlink_to(source)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV):
            raise
        if target.exists():
            raise FileExistsError(errno.EEXIST, "exists", str(target)) from error
        source.replace(target)


def truncate(descriptor: int, n_bytes: int) -> None:
    """Cut a file."""
    os.ftruncate(descriptor, n_bytes)
