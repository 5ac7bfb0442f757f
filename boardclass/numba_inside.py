"""What is used of numba that it does not promise to keep; only this module touches it.

    find_by_name     compiled kernels are found by the directory they are in
    compiled         kernels are compiled without a comparison with 0 at every index, without
                     counting references where none is kept, and in less time

Each only saves time: another version of numba than those known here goes without.

>>> IS_KNOWN
True
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba import types

FIRST, LAST = (0, 61), (0, 68)  # the versions that pyproject.toml takes
IS_KNOWN = FIRST <= numba.version_info.short <= LAST


def find_by_name(folders: tuple[str, ...]) -> None:
    """Find compiled kernels of the modules in some folders by their names.

    numba would look at the time and size of their source, and the directory says all about it.
    """
    if not IS_KNOWN:
        return
    from numba.core.caching import CacheImpl, UserProvidedCacheLocator

    class Locator(UserProvidedCacheLocator):  # type: ignore[misc]
        def get_source_stamp(self) -> str:
            return ""

        def get_disambiguator(self) -> str:
            return ""

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            floor = py_func.__module__.partition(".")[0]
            return super().from_function(py_func, py_file) if floor in folders else None

    CacheImpl._locator_classes.insert(0, Locator)


def compiled(function: Callable[..., Any], signature: Any, **options: Any) -> Any:
    """Return a kernel, which takes an index as it is: one below 0 leaves the array.

    With ``_nrt=False`` it makes no array and counts no references to any.
    """
    if not IS_KNOWN:
        options.pop("_nrt", None)
        return numba.njit(signature, **options)(function)
    with _indices_as_they_are():
        return _in_one_chunk(numba.njit(signature, **options), function)


def _in_one_chunk(work: Callable[[Any], Any], value: Any) -> Any:
    """Call ``work(value)`` in a frame that needs a chunk of 1 MiB, so that all frames below it fit
    there too.

    At the end of a chunk of 16 KiB each call maps another one and unmaps it: two million times in a
    cold start.
    """
    return work(value)


_in_one_chunk.__code__ = _in_one_chunk.__code__.replace(co_stacksize=70_000)  # slots of 8 bytes


@contextmanager
def _indices_as_they_are() -> Iterator[None]:
    """Let numba leave out the comparison with 0 at every index, a tenth of all the time of a
    search.

    numba has no setting for it.  NUMBA_BOUNDSCHECK=1 notices an index below 0.
    """
    from numba.np import arrayobj

    before = arrayobj.fix_integer_index
    arrayobj.fix_integer_index = _as_it_is
    try:
        yield
    finally:
        arrayobj.fix_integer_index = before


def _as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    return context.cast(builder, index, kind, types.intp)
