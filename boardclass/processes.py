"""Processes that a command starts: they load this program, and no module from the folder at
hand.

>>> Path(python_path().split(os.pathsep)[0], "orderly_boggle").is_dir()
True
"""

import contextlib
import errno
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import resource_tracker
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import orderly_boggle

# the folder that our package is in
_ROOT = Path(orderly_boggle.__file__).resolve().parent.parent
_SAFE_PATH = "PYTHONSAFEPATH"
_STOPS = {signal.SIGINT, signal.SIGTERM}  # what a terminal or a batch system sends to a whole group


def python_path() -> str:
    """Return PYTHONPATH for another process: this program comes before what is in ours."""
    folders = [str(_ROOT)]
    if inherited := os.environ.get("PYTHONPATH"):
        folders.append(inherited)
    return os.pathsep.join(folders)


class Pool(ProcessPoolExecutor):
    """``n`` processes; each calls ``begin(*values)`` first, and ends when this one does.

    They start as ``python -P`` does: the folder at hand may be a stranger's, and is not searched
    for modules.  If one ends otherwise, as when memory is short, its results raise BrokenExecutor.
    """

    def __init__(self, n: int, begin: Callable[..., object] = bool, *values: Any) -> None:
        # In a file in memory: multiprocessing would write it into a pipe that it reads itself as
        # well, and a word list is more than that takes.  A process that was killed before it had
        # read all of it would leave us writing for ever.
        self._first = os.fdopen(os.memfd_create("first"), "wb")
        self._first.write(ForkingPickler.dumps((begin, values)))
        self._first.flush()
        place = f"/proc/{os.getpid()}/fd/{self._first.fileno()}"
        with _safe_path():
            super().__init__(n, multiprocessing.get_context("spawn"), _begin, (place,))

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a function called with these arguments; a process starts for it if none is idle.

        Meanwhile signals are held back that stop a group of processes: one that is just starting
        would say on the terminal what it was at.
        """
        with _safe_path():
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
            try:
                return super().submit(*args, **kwargs)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def shutdown(self, *args: Any, **kwargs: Any) -> None:
        """Wait for the processes to end."""
        super().shutdown(*args, **kwargs)
        self._first.close()

    def kill(self) -> None:
        """End the processes at once, whatever they are at."""
        for process in list(self._processes.values()):  # kill_workers() of Python 3.14
            process.kill()


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Set for a while the variable that stands for ``-P``: processes that start meanwhile obey it.

    So does the resource tracker, a process that :mod:`multiprocessing` starts by itself.  It is
    started here, because its start lets all signals through.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        resource_tracker.ensure_running()
        yield
    finally:
        del os.environ[_SAFE_PATH]
        if before is not None:
            os.environ[_SAFE_PATH] = before


def _begin(place: str) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        begin, values = ForkingPickler.loads(Path(place).read_bytes())
        begin(*values)
    except (MemoryError, OSError) as error:
        if isinstance(error, MemoryError) or error.errno == errno.ENOMEM:
            os._exit(errno.ENOMEM)
        raise
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)


def _end_with_parent() -> None:
    """End with the process that gives us work: if it is killed, we would wait for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "a process of a pool"
    parent.join()
    os._exit(1)
