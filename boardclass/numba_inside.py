"""What is used of numba that it does not promise to keep; only this module touches it.

    find_by_name     compiled kernels are found by the directory they are in
    checked          their files end with a SHA-256: numba neither syncs nor checks them (its issue
                     10434), and would run what a power cut or a bad disk left of them
    compiled         kernels are compiled without a comparison with 0 at every index, without
                     counting references where none is kept, and in less time

All but the second only save time.  Another version of numba than those known here goes without.

>>> IS_KNOWN
True
"""

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import caching, typeinfer

FIRST, LAST = (0, 61), (0, 68)  # the versions that pyproject.toml takes
IS_KNOWN = FIRST <= numba.version_info.short <= LAST


def find_by_name(packages: tuple[str, ...]) -> None:
    """Find compiled kernels of the modules whose names begin so by these names.

    numba would look at the time and size of their source, and the directory says all about it.
    """
    if not IS_KNOWN:
        return

    class Locator(caching.UserProvidedCacheLocator):  # type: ignore[misc]
        def get_source_stamp(self) -> str:
            return ""

        def get_disambiguator(self) -> str:
            return ""

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            if py_func.__module__.startswith(packages):
                return super().from_function(py_func, py_file)
            return None

    caching.CacheImpl._locator_classes.insert(0, Locator)


class _Checked(caching.IndexDataCacheFile):  # type: ignore[misc]
    """The files of one compiled kernel, each with the SHA-256 of its content at its end, where
    numba does not look.

    A damaged one is removed, and counts as one that is not there: the kernel is compiled again.
    Several processes may find it at once, since what replaces it comes into place whole.
    """

    tell_damaged: Callable[[], None]

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    def _load_index(self) -> Any:
        if self._is_sound(self._index_path):
            return super()._load_index()
        return {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if not self._is_sound(path):
            raise FileNotFoundError(path)  # as when it was removed
        return super()._load_data(name)

    def _is_sound(self, path: str) -> bool:
        try:
            content = Path(path).read_bytes()
            size = max(0, len(content) - hashlib.sha256().digest_size)
            if hashlib.sha256(content[:size]).digest() == content[size:]:
                return True
            self.tell_damaged()
            Path(path).unlink()
        except OSError:  # not there, or another process removed it
            pass
        return False


def compiled(
    function: Callable[..., Any], signature: Any, tell_damaged: Callable[[], None], **options: Any
) -> Any:
    """Return a kernel, which takes an index as it is: one below 0 leaves the array.

    With ``_nrt=False`` it makes no array and counts no references to any.  ``tell_damaged`` is
    called when a file of the kernel was damaged, and it is compiled again.
    """
    if not IS_KNOWN:
        options.pop("_nrt", None)
        return numba.njit(signature, **options)(function)
    kernel = numba.njit(**options)(function)
    if kernel is function:  # NUMBA_DISABLE_JIT
        return kernel
    files = kernel._cache._cache_file
    files.__class__ = _Checked
    files.tell_damaged = tell_damaged
    with _indices_as_they_are(), typeinfer.register_dispatcher(kernel):
        for each in signature if isinstance(signature, list) else [signature]:
            _in_one_chunk(kernel.compile, each)
    kernel.disable_compile()
    return kernel


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
