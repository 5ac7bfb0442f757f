"""Arrays that all processes of a machine share: the first process makes them, and each maps the
files that it wrote, as arrays of their own or where its own memory begins.

The files lie beside the compiled kernels, in a directory that nobody else can write to.  Its name
is a hash of the code that makes them (boardclass.jit).  A file that a crash or a bad disk has
damaged is noticed by its SHA-256, and made again.

>>> [values] = shared("examples/range", lambda: [np.arange(3)])
>>> values.tolist(), values.flags.writeable
([0, 1, 2], False)
"""

import contextlib
import ctypes
import fcntl
import hashlib
import mmap
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import config
from numpy.typing import NDArray

from orderly_boggle.boardclass.jit import frozen  # which says where the cache is

_SHA256 = "sha256"
_HEAD = 128  # bytes of a .npy file before the values of an array of one dimension
_MAP_FIXED = 16
_KEPT = 8  # of a kind, those used last: a rim takes hundreds of MB, and each word list has one

Arrays = Sequence[NDArray[Any]]


def working(n: int, dtype: type[np.generic]) -> NDArray[Any]:
    """Return ``n`` zeros of working memory, over which :func:`shared` can lay a file."""
    size = _HEAD + n * np.dtype(dtype).itemsize
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(AttributeError, OSError):  # Linux has it
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype, n, _HEAD)


def shared(name: str, make: Callable[[], Arrays], over: Arrays = ()) -> Arrays:
    """Return what ``make`` returns, read only, from files of that name if they are there.

    The first ones are laid ``over`` arrays of :func:`working`, at least as large, which then begin
    with their values; a page of those becomes the process's own when it is written to.

    The name is ``kind/name``; the few of each kind that were used last are kept.  Processes that
    ask for one of a kind at the same time wait for the one that makes it.  Where nothing can be
    written, each has its own.
    """
    folder = Path(config.CACHE_DIR, name)
    arrays = _mapped(folder)
    own = None
    if arrays is None:
        shutil.rmtree(folder, ignore_errors=True)  # damaged, or there is none
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                folder.parent.mkdir(exist_ok=True)
                lock = stack.enter_context(folder.with_name("lock").open("w"))
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                own = make()
                with contextlib.suppress(OSError):
                    _publish(folder, own)
        arrays = _mapped(folder)  # all who waited check it at the same time
    if arrays is None:
        return list(map(frozen, own or make()))
    with contextlib.suppress(OSError):
        os.utime(folder)  # what is used stays
    for place, room in enumerate(over):
        arrays[place] = _laid(folder / f"{place}.npy", arrays[place], room)
    return list(map(frozen, arrays))


def shared_copy(kind: str, arrays: Arrays) -> Arrays:
    """Return the same arrays, read only, from files that processes share if they made the same.

    Their name is a hash of the values, so arrays that one process made wrong stay with it.
    """
    return shared(f"{kind}/{_digest(arrays).hex()}", lambda: arrays)


def _mapped(folder: Path) -> list[NDArray[Any]] | None:
    """Return the arrays of a directory; None if they are not there, or damaged."""
    arrays = []
    try:
        expected = folder.joinpath(_SHA256).read_bytes()
        for place in range(len(list(folder.iterdir())) - 1):
            arrays.append(np.asarray(np.load(folder / f"{place}.npy", mmap_mode="r")))
    except (OSError, ValueError, EOFError):
        return None
    if _digest(arrays) == expected:
        return arrays
    return None


def _laid(file: Path, array: NDArray[Any], room: NDArray[Any]) -> NDArray[Any]:
    """Map the file of an array over the beginning of a larger one, or copy the array there; return
    that part of it.
    """
    assert array.size <= room.size, "made for less memory"
    libc_mmap = ctypes.CDLL(None).mmap  # that of Python takes no address
    libc_mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc_mmap.restype = ctypes.c_void_p
    address = room.ctypes.data - _HEAD
    size = _HEAD + array.nbytes
    part = room[: array.size]
    with contextlib.suppress(OSError), file.open("rb") as source:
        if source.seek(0, os.SEEK_END) == size and address == libc_mmap(
            address,
            size,
            mmap.PROT_READ | mmap.PROT_WRITE,
            mmap.MAP_PRIVATE | _MAP_FIXED,
            source.fileno(),
            0,
        ):
            return part
    part[:] = array
    return part


def _publish(folder: Path, arrays: Arrays) -> None:
    made = folder.with_suffix(".new")
    shutil.rmtree(made, ignore_errors=True)  # of a process that was killed
    made.mkdir()
    try:
        for place, array in enumerate(arrays):
            np.save(made / f"{place}.npy", array)
        made.joinpath(_SHA256).write_bytes(_digest(arrays))
        made.rename(folder)
        from_oldest = sorted(folder.parent.glob("*/"), key=os.path.getmtime)
        for old in from_oldest[:-_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _digest(arrays: Arrays) -> bytes:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    return digest.digest()
