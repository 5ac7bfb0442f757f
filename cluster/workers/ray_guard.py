"""Makes sure that nothing of a private Ray cluster outlives its driver: no process, no file.

    driver -> guarded     what dead drivers left is removed; a folder of mode 0700, locked while driver or guard live
           -> guard       a process of its own that leads the process group which all of Ray joins
    the driver is done, or gone however it died
           -> guard       SIGKILL to the group, which ends stopped processes as well; the folder is removed

The guard runs this file alone, with the standard library only.  If it is killed too, the next driver cleans up.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PREFIX = "orderly-ray-"
LOCK, RAY = "lock", "r"
ROOM_BYTES = 64 * 2**20

_PROC = Path("/proc")
# Ray puts sockets into this folder: 107 bytes is all that an address of Linux holds (103 on macOS), and Ray's own
# names take up to 64 of them, ours two: /r/session_2026-11-22_18-46-39_445918_4194304/sockets/plasma_store
_LONGEST_PATH = (107 if sys.platform == "linux" else 103) - 66
_FULL = (errno.ENOSPC, errno.EDQUOT)
_NEW_S = 60.0  # a folder without a lock may be one that is being made
_KILL_S = 5.0
_END_S = 20.0
_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


@dataclass
class Guard:
    """What a private cluster is given.

    Attributes
    ----------
    folder : Path
        Its own, for all files of the cluster; of mode 0700.
    group : int
        The process group that its processes join.
    """

    folder: Path
    group: int

    @property
    def ray_folder(self) -> Path:
        """The folder for Ray: Ray opens it to everybody, but not the one above."""
        return self.folder / RAY

    def kill(self, process: int) -> None:
        """End a process of the cluster, a stopped one too; one that is not of the cluster is left alone."""
        with contextlib.suppress(OSError):
            if os.getpgid(process) == self.group:
                os.kill(process, signal.SIGKILL)


@contextlib.contextmanager
def guarded() -> Iterator[Guard]:
    """Make a folder and start its guard; end both, and every process of the group, afterwards.

    Raises
    ------
    OSError
        When the folder cannot be made or has no room, or the guard does not start.
    """
    base = _base()
    _sweep(base)
    folder, lock = _make_folder(base)
    try:
        try:
            check_room(folder, ROOM_BYTES)
            process = _start(folder, lock)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        try:
            yield Guard(folder, process.pid)
        finally:
            _end(process, folder)
    finally:
        os.close(lock)


def check_room(folder: Path, n_bytes: int) -> None:
    """Make sure that a folder takes so many bytes, by reserving them for a moment: quotas count as well.

    Raises
    ------
    OSError
        When it does not; the message names the folder.
    """
    path = folder / "room"
    try:
        with path.open("wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            else:
                file.write(bytes(n_bytes))
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise OSError(
            error.errno,
            f"the temporary folder {str(folder.parent)!r} is full: expected room for {n_bytes >> 20} MiB; "
            "make room, or set TMPDIR to another folder",
        ) from error
    finally:
        path.unlink(missing_ok=True)


def _base() -> Path:
    """Return $TMPDIR, or /tmp where that is not set or too long for sockets."""
    chosen = os.environ.get("TMPDIR", "")
    longest = _LONGEST_PATH - len(f"/{PREFIX}12345678")
    is_fit = Path(chosen).is_absolute() and len(os.fsencode(chosen)) <= longest
    return Path(chosen if is_fit else "/tmp")


def _make_folder(base: Path) -> tuple[Path, int]:
    """Return a new folder and the lock that it is held by; tries again when a sweep was faster than the lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))  # mode 0700
        try:
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:
            continue
        except OSError:
            folder.rmdir()
            raise
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_nlink:
                return folder, lock
        os.close(lock)


def _start(folder: Path, lock: int) -> subprocess.Popen[str]:
    """Start the guard, and wait until no signal but SIGKILL ends it."""
    command = [sys.executable, "-I", "-S", __file__, str(folder)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[lock], process_group=0, text=True, cwd="/"
    )
    said = _pipe(process.stdout).readline()
    _pipe(process.stdout).close()
    if said != "ready\n":
        process.kill()
        process.wait()
        raise OSError(errno.ECHILD, "the process that would clean up after Ray does not start")
    os.write(lock, f"{process.pid}\n".encode())
    return process


def _end(process: subprocess.Popen[str], folder: Path) -> None:
    """Let the guard clean up; do it here if it was killed."""
    with contextlib.suppress(OSError):
        _pipe(process.stdin).close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if folder.exists():
        _clean(folder, _leftovers(folder, process.pid))


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None, "asked for"
    return stream


def _sweep(base: Path) -> None:
    """Remove what is left of drivers that were killed together with their guards."""
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                with contextlib.suppress(OSError, ValueError):
                    _sweep_one(Path(entry.path))


def _sweep_one(folder: Path) -> None:
    """Remove a folder if it is ours and nobody holds its lock; links are not followed."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) != 0o700:
        return
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        if time.time() - found.st_mtime > _NEW_S:
            shutil.rmtree(folder)
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        group = int(os.read(lock, 20) or "0")
        _clean(folder, _leftovers(folder, group))
    finally:
        os.close(lock)


def _clean(folder: Path, processes: set[int]) -> None:
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _members(group: int) -> set[int]:
    """Return the living processes of a group, without this one."""
    members: set[int] = set()
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, _, its_group = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:3]
                if int(its_group) == group and state not in "ZX":
                    members.add(int(entry.name))
    return members - {os.getpid()}


def _leftovers(folder: Path, group: int) -> set[int]:
    """Return the members of a group whose leader is dead: its number may belong to somebody else, our files do not."""
    return {process for process in _members(group) if _uses(process, folder)} if group > 1 else set()


def _uses(process: int, folder: Path) -> bool:
    with contextlib.suppress(OSError):
        descriptors = (_PROC / str(process) / "fd").iterdir()
        return any(str(descriptor.readlink()).startswith(f"{folder}/") for descriptor in descriptors)
    return False


def _watch(folder: Path) -> None:
    """Be the guard: wait for the end of the driver, then kill the group until nobody is left, and remove the folder."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    driver = os.getppid()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while not select.select([sys.stdin], [], [], 1.0)[0] and os.getppid() == driver:
        pass
    ends_s = time.monotonic() + _KILL_S
    while (members := _members(os.getpid())) and time.monotonic() < ends_s:
        for process in members:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)
    if not _PROC.is_dir():  # processes cannot be told apart: the guard ends with them
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    _watch(Path(sys.argv[1]))
