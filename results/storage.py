"""Runs in a local directory, with atomic publishing; and where an address leads.

The functions at the end are the only ones that change a disk; tests make each of their calls fail in turn.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyarrow import fs

from boardclass.errors import StoreError
from results import files
from results.folder import Folder, Guard, decode_lines, explained, nobody_else
from results.objects import ObjectFolder, connect


def open_folder(location: str | Path) -> Folder:
    """Return the folder at a path, or at a URI such as ``s3://bucket/prefix``.

    Raises
    ------
    InputError
        When a URI holds credentials or unknown settings.
    StoreError
        When it is not one that pyarrow.fs understands.
    """
    text = str(location)
    if "://" not in text:
        return LocalFolder(Path(text))
    filesystem, root, shown = connect(text)
    if isinstance(filesystem, fs.LocalFileSystem):
        return LocalFolder(Path(root))
    return ObjectFolder(filesystem, root, shown)


class LocalFolder:
    """A directory of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def where(self, name: str) -> str:
        """Return the full path."""
        return str(self.root / name)

    def exists(self) -> bool:
        """Return whether the directory holds anything but leftovers; a file in its place is an error."""
        with explained("read", str(self.root)):
            if not self.root.exists():
                return False
            entries = [entry for entry in self.root.iterdir() if entry.name not in (files.LOCK, files.OWNER)]
            return not all(files.is_temporary(entry.name) or _is_empty_folder(entry) for entry in entries)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file."""
        with explained("read", self.where(name)):
            try:
                return (self.root / name).read_bytes()
            except FileNotFoundError:
                return None

    def read_all(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of many files."""
        return map(self.read, names)

    def names(self, folder: str) -> list[str]:
        """Return the files of a sub-folder."""
        with explained("read", self.where(folder)):
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
        with explained("write", str(target)):
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

    def append_line(self, name: str, line: str, n_valid_bytes: int, guard: Guard = nobody_else) -> int:
        """Append a line and fsync it."""
        guard()
        with explained("write", self.where(name)):
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
        return decode_lines(data[:n_valid_bytes]), n_valid_bytes, n_valid_bytes < len(data)

    def note(self, name: str, text: str) -> None:
        """Append to a log; half a line that a kill left there gets a newline first and stays a line of its own."""
        with explained("write", self.where(name)):
            descriptor = os.open(self.root / name, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            try:
                size = os.fstat(descriptor).st_size
                is_torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                write_all(descriptor, (b"\n" if is_torn else b"") + text.encode())
            finally:
                os.close(descriptor)

    def read_tail(self, name: str, n_bytes: int) -> bytes:
        """Return the last bytes of a log."""
        with explained("read", self.where(name)):
            try:
                with (self.root / name).open("rb") as file:
                    file.seek(max(0, file.seek(0, os.SEEK_END) - n_bytes))
                    return file.read()
            except FileNotFoundError:
                return b""

    def remove(self, name: str) -> None:
        """Remove a file."""
        with explained("remove", self.where(name)):
            (self.root / name).unlink(missing_ok=True)


def _is_empty_folder(entry: Path) -> bool:
    return entry.is_dir() and not any(entry.iterdir())


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
