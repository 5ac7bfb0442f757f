"""Processes that a command starts: they load this program, and no module from the folder at
hand.

>>> Path(python_path().split(os.pathsep)[0], "boardclass").is_dir()
True
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
_SAFE_PATH = "PYTHONSAFEPATH"
_STOPS = {signal.SIGINT, signal.SIGTERM}  # what a terminal or a batch system sends to a whole group


def python_path() -> str:
    """Return PYTHONPATH for another process: this program comes before what is in ours."""
    return os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])


class _Pool(ProcessPoolExecutor):
    """Starts its processes with the signals held back that stop a group of them.

    One that died before it had read what it begins with would leave us writing to it for ever.
    """

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        resource_tracker.ensure_running()  # which lets all signals through when it starts
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
        try:
            return super().submit(*args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def pool(
    n: int, begin: Callable[..., object] = bool, *values: Any
) -> Iterator[ProcessPoolExecutor]:
    """Run ``n`` processes for a while; each calls ``begin(*values)`` first.

    They start as ``python -P`` does: the folder at hand may be a stranger's, and is not searched
    for modules.  The environment tells them, because :mod:`multiprocessing` starts a helper of its
    own; it is restored at the end.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        with _Pool(n, multiprocessing.get_context("spawn"), _begin, (begin, *values)) as executor:
            yield executor
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _begin(begin: Callable[..., object], *values: Any) -> None:
    begin(*values)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)


def kill(executor: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once, whatever they are at."""
    for process in list(executor._processes.values()):  # kill_workers() of Python 3.14
        process.kill()
