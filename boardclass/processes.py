"""Processes that a command starts: they load this program, and no module from the folder at
hand.

>>> Path(python_path().split(os.pathsep)[0], "boardclass").is_dir()
True
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
_SAFE_PATH = "PYTHONSAFEPATH"


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


def kill(executor: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once, whatever they are at."""
    for process in list(executor._processes.values()):  # kill_workers() of Python 3.14
        process.kill()
