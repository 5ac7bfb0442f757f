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
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
_SAFE_PATH = "PYTHONSAFEPATH"
_STOPS = {signal.SIGINT, signal.SIGTERM}  # what a terminal or a batch system sends to a whole group


def python_path() -> str:
    """Return PYTHONPATH for another process: this program comes before what is in ours."""
    return os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])


@contextlib.contextmanager
def pool(
    n: int, begin: Callable[..., None] | None = None, *values: Any
) -> Iterator[ProcessPoolExecutor]:
    """Run ``n`` processes for a while; each calls ``begin(*values)`` first.

    They start as ``python -P`` does: the folder at hand may be a stranger's, and is not searched
    for modules.  The environment tells them, because :mod:`multiprocessing` starts a helper of its
    own; it is restored at the end.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        with ProcessPoolExecutor(
            n, multiprocessing.get_context("spawn"), begin, values
        ) as executor:
            yield executor
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Hold back the signals that stop a group of processes while one of a pool starts.

    One that died before it had read its values would leave us writing to it for ever.  It starts
    with the signals held back, too, and calls :func:`let_through` once it is set up.
    """
    resource_tracker.ensure_running()  # which lets all signals through when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_through() -> None:
    """Take the signals that were held back while this process of a pool started."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)


def kill(executor: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once, whatever they are at."""
    for process in list(executor._processes.values()):  # kill_workers() of Python 3.14
        process.kill()
