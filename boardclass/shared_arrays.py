"""Arrays that all processes of a machine share: the first process makes them, and each maps the
files that it wrote.

The files lie beside the compiled kernels, in a directory for this version of the code that nobody
else can write to.  A file that a crash or a bad disk has damaged is noticed by its SHA-256, and
made again.

>>> [values] = shared("example", lambda: [np.arange(3)])
>>> values.tolist(), values.flags.writeable
([0, 1, 2], False)
"""

import contextlib
import fcntl
import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import config
from numpy.typing import NDArray

from boardclass.jit import frozen  # which says where the cache is

_SHA256 = "sha256"

Arrays = Sequence[NDArray[Any]]


def shared(name: str, make: Callable[[], Arrays]) -> Arrays:
    """Return what ``make`` returns, read only, from files of that name if they are there.

    Processes that ask at the same time wait for the one that makes them.  Where nothing can be
    written, each has its own.
    """
    folder = Path(config.CACHE_DIR, name)
    arrays = _mapped(folder)
    if arrays is not None:
        return arrays
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock = stack.enter_context(folder.with_suffix(".lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        arrays = _mapped(folder)
        if arrays is None:
            arrays = make()
            with contextlib.suppress(OSError):
                _publish(folder, arrays)
                arrays = _mapped(folder) or arrays
    return list(map(frozen, arrays))


def _mapped(folder: Path) -> Arrays | None:
    """Return the arrays of a directory; None if they are not there, or damaged."""
    arrays = []
    try:
        expected = folder.joinpath(_SHA256).read_bytes()
        for place in range(len(list(folder.iterdir())) - 1):
            arrays.append(np.asarray(np.load(folder / f"{place}.npy", mmap_mode="r")))
    except (OSError, ValueError, EOFError):
        return None
    return arrays if _digest(arrays) == expected else None


def _publish(folder: Path, arrays: Arrays) -> None:
    made = folder.with_suffix(".new")
    shutil.rmtree(made, ignore_errors=True)  # of a process that was killed
    made.mkdir()
    try:
        for place, array in enumerate(arrays):
            np.save(made / f"{place}.npy", array)
        made.joinpath(_SHA256).write_bytes(_digest(arrays))
        shutil.rmtree(folder, ignore_errors=True)  # damaged, or there is none
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _digest(arrays: Arrays) -> bytes:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    return digest.digest()
