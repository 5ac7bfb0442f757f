"""Runs in a local directory, with atomic publishing; and the folder that an address names.

A run directory may come from a stranger.  The user says where it is, and that path may be a link.
A name inside it may not: each is opened relative to an open directory, and only as a plain file or
a directory.

The functions at the end are the only ones that change a disk; tests make each of their calls fail
in turn.

>>> open_folder("runs/2x2-scowl70-14").names("")[:2]
['claim.json', 'events.jsonl']
"""

import contextlib
import errno
import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.results.errors import SpecialFileError, StoreLockedError
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.files import check_pointer, check_size, explained, unguarded
from orderly_boggle.results.storage.outage import Outage, Patience

if TYPE_CHECKING:
    from orderly_boggle.results.storage.objects import ObjectFolder  # loaded for a URI only

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_INNER = _FOLDER | os.O_NOFOLLOW
_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # without O_NONBLOCK a pipe is waited for
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
    stat.S_IFREG: "a file with a second name (hard link)",
}
_UNSYNCED = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF)
_REFUSALS = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR, errno.ENXIO)


def check_nofollow(root: Path) -> None:
    """Look through a whole run directory; a directory in it that may not be listed is left out.

    Raises SpecialFileError, naming the first link, pipe, socket or device, or what stands where a
    run has a file or a directory; StoreError when it is not a directory, or cannot be read.
    """
    if "\0" in str(root):
        raise StoreError(
            f"{str(root)!r} cannot be a run directory: a path has no zero bytes; choose another"
        )
    folders = [root]
    while folders:
        folder = folders.pop()
        with explained("read", str(folder)):
            try:
                entries = list(os.scandir(folder))
            except FileNotFoundError:
                continue
            except PermissionError:
                if folder == root:
                    raise
                continue
        for entry in entries:
            name = os.path.relpath(entry.path, root)
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and name not in files.PLAIN:
                folders.append(Path(entry.path))
            elif is_folder or name in files.FOLDERS or not entry.is_file(follow_symlinks=False):
                mode = entry.stat(follow_symlinks=False).st_mode
                raise _refusal(
                    mode, entry.path, "a file, not a directory" if stat.S_ISREG(mode) else ""
                )


@contextlib.contextmanager
def opened_folder(root: Path, folder: str) -> Iterator[int]:
    """Yield a descriptor of the run directory, or of a folder in it; raises as
    :func:`open_inside`.
    """
    descriptor = open_inside(root, folder, _INNER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_inside(root: Path, name: str, flags: int) -> int:
    """Return a descriptor of a plain file of a run, or of a folder in it if the flags say so.

    A file that is written to in place must not have a second name.  Raises SpecialFileError when
    there is something else, also on the way; OSError as ``os.open``.
    """
    # step by step from an open directory: nobody can put a link in between
    descriptor = os.open(root, _FOLDER)
    place = root
    steps = list(filter(None, name.split("/")))
    for number, step in enumerate(steps, 1):
        place /= step
        try:
            if number < len(steps):
                how = _INNER
            else:
                how = flags | _PLAIN
            inner = os.open(step, how, 0o666, dir_fd=descriptor)
        except OSError as error:
            if error.errno in _REFUSALS:
                mode = os.stat(step, dir_fd=descriptor, follow_symlinks=False).st_mode
                if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    raise _refusal(mode, str(place)) from error
            raise
        finally:
            os.close(descriptor)
        descriptor = inner
    # of what is open, not of what has the name by now
    status = os.fstat(descriptor)
    is_changed = flags & (os.O_WRONLY | os.O_RDWR)
    is_file = stat.S_ISREG(status.st_mode)
    if flags & os.O_DIRECTORY or (is_file and (status.st_nlink == 1 or not is_changed)):
        return descriptor
    os.close(descriptor)
    raise _refusal(status.st_mode, str(place))


def _refusal(mode: int, where: str, kind: str = "") -> SpecialFileError:
    kind = kind or _KINDS.get(stat.S_IFMT(mode), "a device")
    return SpecialFileError(
        f"{where} is {kind}: a run holds only files and directories of its own; nothing was read "
        "from it or written to it; put a plain copy in its place, or remove it"
    )


class LocalFolder:
    """A directory of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # for whoever keeps rows meanwhile
        self.outage = Outage()
        self.patience = Patience()
        self._added = b""  # the last line

    def where(self, name: str) -> str:
        """Return the full name of a file, for messages."""
        return str(self.root / name)

    def exists(self) -> bool:
        """Return whether there is anything but leftovers of a run that never began; a file in its
        place is an error.
        """
        with explained("read", str(self.root)):
            if not self.root.exists():
                return False
            for entry in os.scandir(self.root):
                # a driver that was refused leaves empty folders and its claim: that is no run
                is_empty = entry.is_dir(follow_symlinks=False) and not any(os.scandir(entry.path))
                if not (is_empty or files.is_temporary(entry.name) or files.is_claim(entry.name)):
                    return True
            return False

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None when it is not there; DamagedError when it is too
        large.
        """
        with explained("read", self.where(name)):
            with contextlib.suppress(FileNotFoundError), self._opened(name) as file:
                check_size(os.fstat(file.fileno()).st_size, name, self.where(name))
                data = file.read()
                check_pointer(data, self.where(name))
                return data
            return None

    def _opened(self, name: str) -> BinaryIO:
        return os.fdopen(open_inside(self.root, name, os.O_RDONLY), "rb")

    def read_all(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the content of many files in order."""
        return map(self.read, names)

    def has(self, name: str) -> bool:
        """Return whether a file is there, without reading it."""
        with explained("read", self.where(name)):
            return os.path.lexists(self.root / name)

    def names(self, folder: str) -> list[str]:
        """Return the names (relative to the run) of the files directly in ``folder``, sorted."""
        with explained("read", self.where(folder)):
            try:
                with opened_folder(self.root, folder) as at, os.scandir(at) as entries:
                    found = []
                    for entry in entries:
                        if entry.is_file(follow_symlinks=False):
                            found.append(entry.name)
            except (FileNotFoundError, NotADirectoryError):
                return []
            return sorted(f"{folder}/{name}".lstrip("/") for name in found)

    def put_at_s(self, folder: str) -> dict[str, float]:
        """Return the files directly in ``folder`` with the time when each was last written, by the
        clock of the file system (epoch seconds).
        """
        put_at_s = {}
        with explained("read", self.where(folder)):
            for name in self.names(folder):
                with contextlib.suppress(FileNotFoundError):
                    put_at_s[name] = (self.root / name).lstat().st_mtime
        return put_at_s

    def touch(self, name: str) -> None:
        """Set the time of a file to now."""
        with explained("write", self.where(name)), self._opened(name) as file:
            os.utime(file.fileno())

    def publish(self, name: str, data: bytes, guard: Callable[[], None] = unguarded) -> None:
        """Write a file so that it appears whole and survives a crash once this returns; replaces an
        older one.

        ``guard`` raises when the caller may not write any more; then the file stays as it was.
        """
        folder, _, base = name.rpartition("/")
        # in the same folder: renaming is atomic only within a file system
        temporary = f"{files.TEMPORARY_PREFIX}{uuid.uuid4().hex}"
        with explained("write", self.where(name)):
            self._make(folder)
            with opened_folder(self.root, folder) as at:
                try:
                    # exclusive: a name that stands there already, even as a link, is not followed
                    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                    descriptor = os.open(temporary, flags, 0o666, dir_fd=at)
                    with os.fdopen(descriptor, "wb", buffering=0) as file:
                        write_all(file.fileno(), data)
                        # before the rename: a power cut could otherwise leave the new name with
                        # no bytes
                        sync(file.fileno())
                    # at the last moment: writing and syncing may have taken long enough to lose the
                    # run
                    guard()
                    replace(temporary, base, at)
                except (OSError, StoreError):  # a kill leaves the temporary file to the next driver
                    with contextlib.suppress(OSError):
                        os.unlink(temporary, dir_fd=at)
                    guard()
                    raise
                sync_names(at)

    def _make(self, folder: str) -> None:
        try:
            with opened_folder(self.root, folder):
                return
        except FileNotFoundError:
            self.root.mkdir(parents=True, exist_ok=True)
        if folder:
            with opened_folder(self.root, "") as at:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=at)
                sync_names(at)

    def append_line(
        self, name: str, line: str, n_valid_bytes: int, guard: Callable[[], None] = unguarded
    ) -> int:
        """Add a line after the first ``n_valid_bytes``; return the new size.

        What follows them goes if it is half a line, or the one that could not be acknowledged last
        time.  Any other was added by another writer.

        ``guard`` raises when the caller may not write any more; then the line does not stay.
        """
        before = self.read(name) or b""
        # a line of ours that was not acknowledged may stand there: it is written over
        whole = before[n_valid_bytes : before.rfind(b"\n") + 1]
        if len(before) < n_valid_bytes or whole not in (b"", self._added):
            how = "shorter"
            if whole:
                how = "longer"
            raise StoreLockedError(
                f"{self.where(name)} became {how} during the run: somebody else changes this "
                "directory; what was stored before is safe: run again when nobody else does"
            )
        self._added = line.encode() + b"\n"
        data = before[:n_valid_bytes] + self._added
        self.publish(name, data, guard)
        return len(data)

    def fence(self, name: str) -> None:
        """Let no writer replace a file any more that wrote the new one before, and sleeps."""
        for other in self.names(name.rpartition("/")[0]):
            # without its temporary file the rename of a sleeping writer fails when it wakes up
            if files.is_temporary(other):
                self.remove(other)

    def read_lines(self, name: str) -> tuple[list[str], int]:
        """Return the lines that end in a newline, and their size in bytes; no other line was
        acknowledged.
        """
        data = self.read(name) or b""
        n_valid_bytes = data.rfind(b"\n") + 1
        # of any bytes, also those that are no text: what is damaged is for the parser to say
        text = data[:n_valid_bytes].decode(errors="replace")
        return text.split("\n")[:-1], n_valid_bytes

    def readable_lines(self, name: str) -> list[str]:
        """Return the lines that there are."""
        return self.read_lines(name)[0]

    def replace_lines(
        self, name: str, lines: Sequence[str], guard: Callable[[], None] = unguarded
    ) -> int:
        """Write all lines anew; return the size.

        ``guard`` raises when the caller may not write any more; then the old lines stay.
        """
        data = "".join(f"{line}\n" for line in lines).encode()
        self.publish(name, data, guard)
        return len(data)

    def change_lines(
        self,
        name: str,
        change: Callable[[Sequence[str]], Sequence[str]],
        guard: Callable[[], None] = unguarded,
    ) -> int:
        """Write all lines anew, as ``change`` returns them; return the size."""
        return self.replace_lines(name, change(self.read_lines(name)[0]), guard)

    def note(self, name: str, text: str) -> None:
        """Append whole lines to a log, not waiting for the disk; half a line that a kill left stays
        one of its own.
        """
        with explained("write", self.where(name)):
            descriptor = open_inside(self.root, name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            try:
                size = os.fstat(descriptor).st_size
                # or the next line would be lost together with the half one
                is_torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                write_all(descriptor, (b"\n" if is_torn else b"") + text.encode())
            finally:
                os.close(descriptor)

    def read_tail(self, name: str, n_bytes: int) -> bytes:
        """Return about the last ``n_bytes`` of a log, or all of a shorter one; empty when there is
        none.
        """
        with explained("read", self.where(name)):
            with contextlib.suppress(FileNotFoundError), self._opened(name) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - n_bytes))
                return file.read(n_bytes)
            return b""

    def remove(self, name: str) -> None:
        """Remove a file; it may be gone already."""
        with explained("remove", self.where(name)):
            folder, _, base = name.rpartition("/")
            with contextlib.suppress(FileNotFoundError), opened_folder(self.root, folder) as at:
                os.unlink(base, dir_fd=at)


# A run directory.  The names in it are relative, with ``/`` between folder and file.
Folder: TypeAlias = "LocalFolder | ObjectFolder"


def open_folder(location: str | Path) -> Folder:
    """Return the folder at a path, or at a URI such as ``s3://bucket/prefix``.

    Raises InputError when a URI holds credentials or unknown settings; SpecialFileError when a link
    or another special file stands in a directory of this machine; StoreError when pyarrow.fs does
    not understand it.
    """
    text = str(location)
    path = files.path_of(text)
    if "://" in text:
        from pyarrow import fs

        from orderly_boggle.results.storage.objects import ObjectFolder, connect

        filesystem, root, shown = connect(text)
        if not isinstance(filesystem, fs.LocalFileSystem):
            return ObjectFolder(filesystem, root, shown)
        path = Path(root)
    check_nofollow(path)
    return LocalFolder(path)


class DiskUse(NamedTuple):
    """Bytes of a run, and bytes that are free where it is."""

    n_bytes: int
    n_free_bytes: int


def disk_use(folder: Folder) -> DiskUse | None:
    """Return the room that a run takes; None for an object store, and where the system does not
    tell.
    """
    if not isinstance(folder, LocalFolder):
        return None
    total = 0
    try:
        for name in files.FOLDERS:
            if (folder.root / name).is_dir():
                with os.scandir(folder.root / name) as entries:
                    total += sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
        return DiskUse(total, shutil.disk_usage(folder.root).free)
    except OSError:
        return None


# --- the seam: everything that changes a local disk ---


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``; after a short write the rest follows."""
    view = memoryview(data)
    while view:
        # a nearly full disk takes a part of a write and says so only by the count
        view = view[os.write(descriptor, view) :]


def sync(descriptor: int) -> None:
    """Wait until the bytes of a file, or the names of an open directory, are on disk."""
    os.fsync(descriptor)


def sync_names(descriptor: int) -> None:
    """Wait until the names of an open directory are on disk; on some file systems (CIFS, sshfs)
    there is nothing to wait for.
    """
    try:
        sync(descriptor)
    except OSError as error:
        if error.errno not in _UNSYNCED:
            raise


def replace(source: str, target: str, at: int) -> None:
    """Rename over the target in an open directory, atomically."""
    os.replace(source, target, src_dir_fd=at, dst_dir_fd=at)
