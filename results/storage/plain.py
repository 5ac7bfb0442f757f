"""The one place that opens files of a run directory on this machine: links are not followed, special files refused.

A run directory may come from a stranger.  The user says where it is, and that path may be a link.  A name inside it may
not: each is opened relative to an open directory, and only as a plain file or a directory.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from boardclass.errors import StoreError
from results.errors import SpecialFileError
from results.storage import files
from results.storage.folder import explained

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # without O_NONBLOCK a pipe is waited for
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
    stat.S_IFREG: "a file with a second name (hard link)",
}
_REFUSALS = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR, errno.ENXIO)


def check_plain(root: Path) -> None:
    """Look through a whole run directory; a directory in it that may not be listed is left out.

    Raises
    ------
    SpecialFileError
        Naming the first link, pipe, socket or device, or what stands where a run has a file or a directory.
    StoreError
        When it is not a directory, or cannot be read.
    """
    if "\0" in str(root):
        raise StoreError(f"{str(root)!r} cannot be a run directory: a path has no zero bytes; choose another")
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
            name, is_folder = os.path.relpath(entry.path, root), entry.is_dir(follow_symlinks=False)
            if is_folder and name not in files.PLAIN:
                folders.append(Path(entry.path))
            elif is_folder or name in files.FOLDERS or not entry.is_file(follow_symlinks=False):
                mode = entry.stat(follow_symlinks=False).st_mode
                raise _refusal(mode, entry.path, "a file, not a directory" if stat.S_ISREG(mode) else "")


@contextlib.contextmanager
def opened_folder(root: Path, folder: str) -> Iterator[int]:
    """Yield a descriptor of the run directory, or of a folder in it.

    Raises
    ------
    SpecialFileError
        When it is a link.
    OSError
        As ``os.open``.
    """
    descriptor = os.open(root, _FOLDER)
    try:
        for name in filter(None, folder.split("/")):
            with _refused(root, folder, name, descriptor):
                inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def open_file(root: Path, name: str, flags: int) -> int:
    """Return a descriptor of a plain file of a run; a file that is written to in place must not have a second name.

    Raises
    ------
    SpecialFileError
        When it is something else.
    OSError
        As ``os.open``.
    """
    folder, _, base = name.rpartition("/")
    with opened_folder(root, folder) as at, _refused(root, name, base, at):
        descriptor = os.open(base, flags | _PLAIN, 0o666, dir_fd=at)
    found = os.fstat(descriptor)
    is_changed = flags & (os.O_WRONLY | os.O_RDWR)
    if stat.S_ISREG(found.st_mode) and (found.st_nlink == 1 or not is_changed):
        return descriptor
    os.close(descriptor)
    raise _refusal(found.st_mode, str(root / name))


@contextlib.contextmanager
def _refused(root: Path, name: str, base: str, at: int) -> Iterator[None]:
    """Say what is there when the system refuses to open something because it is not a plain file."""
    try:
        yield
    except OSError as error:
        if error.errno in _REFUSALS:
            mode = os.stat(base, dir_fd=at, follow_symlinks=False).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise _refusal(mode, str(root / name)) from error
        raise


def _refusal(mode: int, where: str, kind: str = "") -> SpecialFileError:
    kind = kind or _KINDS.get(stat.S_IFMT(mode), "a device")
    return SpecialFileError(
        f"{where} is {kind}: a run holds only files and directories of its own; nothing was read from it or written "
        "to it; put a plain copy in its place, or remove it"
    )
