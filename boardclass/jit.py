"""The one place that configures numba: decorator, array types for signatures, cache directory.

Every kernel of the project is made with :func:`kernel` and an explicit signature, so that it
compiles once, on import of its module, into a cache directory.  The name of the directory is a hash
of the code of all kernels and of what they can call, the versions and the NUMBA_* settings: numba's
own key misses changes in other modules and in flags, and notices changes of words.  The same hash
is recorded in every run.  numba unpickles and runs what it finds there, so a directory that others
can write to, or that holds files of theirs, is not used.

>>> frozen(np.zeros(3)).flags.writeable
False
>>> len(kernel_hash())
16
"""

import ast
import atexit
import contextlib
import grp
import hashlib
import os
import platform
import pwd
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import config, types
from numba.core import event
from numba.extending import register_jitable

from orderly_boggle.boardclass import numba_inside
from orderly_boggle.boardclass.scores import reaches

_PACKAGE = "orderly_boggle."
_KERNEL_FOLDERS = ("boardclass", "search")
_UNUSED_S = 30 * 24 * 3600.0
_RACY_NS = 2 * 10**9


class _WithoutWords(ast.NodeTransformer):
    """Takes docstrings and the messages of errors away: no kernel computes anything else because of
    them.
    """

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant):
            return ast.Pass()
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call):
            return ast.Raise(node.exc.func)
        return ast.Raise(node.exc)


def _code_of_kernels(root: Path) -> dict[str, str]:
    """Return the code, without words, of each module that has kernels or shares arrays, and of all
    that these modules import.
    """
    sources: dict[Path, bytes] = {}
    for folder in _KERNEL_FOLDERS:
        sources |= {path: path.read_bytes() for path in (root / folder).rglob("*.py")}
    todo = []
    for path, source in sources.items():
        if b"@kernel" in source or b"shared_arrays" in source:
            todo.append(path)
    code: dict[str, str] = {}
    while todo:
        path = todo.pop()
        place = path.relative_to(root).as_posix()
        if path not in sources or place in code:
            continue
        tree = ast.parse(sources[path])
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
            else:
                if isinstance(node, ast.Import):
                    names = [name.name for name in node.names]
                else:
                    names = []
            inner = [name.removeprefix(_PACKAGE).replace(".", "/") for name in names]
            todo += [root / f"{name}.py" for name in inner]
        code[place] = ast.dump(_WithoutWords().visit(tree))
    return code


@cache
def kernel_hash() -> str:
    """Return 16 hex digits over the code, without words, of kernels and what they call, versions,
    and NUMBA_*.
    """
    root = Path(__file__).resolve().parent.parent
    versions = (
        sys.version,
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        platform.machine(),
    )
    settings = []
    for name, value in sorted(os.environ.items()):
        if name.startswith("NUMBA_") and name != "NUMBA_CACHE_DIR":
            settings.append((name, value))
    about = repr((versions, settings)).encode()
    # Parsing all sources takes a third of a second: its outcome is kept while they are the same.
    stamp, is_settled = _stamp(root)
    key = hashlib.sha256(repr((str(root), stamp)).encode() + about).hexdigest()
    kept = _Kept(key)
    if found := kept.read():
        return found
    digest = hashlib.sha256(repr(sorted(_code_of_kernels(root).items())).encode())
    digest.update(about)
    found = digest.hexdigest()[:16]
    if is_settled:
        kept.write(found)
    return found


def _stamp(root: Path) -> tuple[list[tuple[str, int, int, int, int]], bool]:
    """Return what tells that a source was changed, for each: size, times of the last change of its
    content and of its entry, inode; and whether the last change is so long ago that another one
    would show.
    """
    stamp = []
    newest_ns = 0
    for folder in _KERNEL_FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            status = path.stat()
            stamp.append(
                (str(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
            )
            newest_ns = max(newest_ns, status.st_mtime_ns, status.st_ctime_ns)
    return stamp, time.time_ns() - newest_ns > _RACY_NS


class _Kept:
    """A hash of kernels that was found before, kept beside the compiled ones, where nobody else can
    put any; without such a folder nothing is kept.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._path: Path | None = None
        with contextlib.suppress(OSError, RuntimeError):  # there is no home, or no room
            folder = (_cache_base() / "kernel-hashes").resolve()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not open_to_others(folder):
                self._path = folder / key[:16]

    def read(self) -> str:
        """Return the hash, or nothing."""
        try:
            if self._path:
                key, found = self._path.read_text().split()
            else:
                key, found = "", ""
        except (OSError, ValueError):
            return ""
        if key == self._key and re.fullmatch("[0-9a-f]{16}", found):
            return found
        return ""

    def write(self, found: str) -> None:
        """Keep the hash; what nobody has used for a month goes."""
        if self._path is None:
            return
        with contextlib.suppress(OSError):
            for other in self._path.parent.iterdir():
                if time.time() - other.stat().st_mtime > _UNUSED_S:
                    other.unlink()
            handle, name = tempfile.mkstemp(dir=self._path.parent)
            with os.fdopen(handle, "w") as file:
                file.write(f"{self._key} {found}\n")
            Path(name).replace(self._path)


def _cache_base() -> Path:
    """Return the folder that holds the cache directories: NUMBA_CACHE_DIR, else the user's cache
    directory.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "orderly"


def _use_private_cache() -> None:
    """Keep compiled kernels where nobody else can put any: what lies there is run."""
    try:
        folder = (_cache_base() / f"kernels-{kernel_hash()}").resolve()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = open_to_others(folder)
        if not reason:
            _remove_unused(folder)
    except (OSError, RuntimeError) as error:  # the latter: there is no home
        reason = str(error)
    if reason:
        folder = Path(tempfile.mkdtemp(prefix="orderly-kernels-")).resolve()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["NUMBA_CACHE_DIR"] = str(folder)  # for the workers that this process starts
        sys.stderr.write(
            f"orderly: the kernel cache is not used: {reason}; kernels are compiled for this "
            "command alone. Make the folder writable for yourself only, or set NUMBA_CACHE_DIR "
            "to one that is\n"
        )
    config.CACHE_DIR = str(folder)


def _remove_unused(folder: Path) -> None:
    """Remove the folders of other versions beside this one that nobody has used for a month: they
    take GBs, with what workers share.
    """
    with contextlib.suppress(OSError):  # another process tidies up, or it is not ours
        os.utime(folder)
        for other in folder.parent.glob("kernels-*/"):
            if time.time() - other.stat().st_mtime > _UNUSED_S:
                shutil.rmtree(other)


def open_to_others(folder: Path) -> str:
    """Return how others could replace a folder or change what lies in it; empty if they cannot.

    Others are all users but this one and root.  A group that holds nobody but this user, as some
    systems make one for each user, counts as this user.

    folder : resolved: without links

    Raises OSError when it is not there.
    """
    for place in (folder, *folder.parents):
        status = place.stat()
        # there only owners can rename
        is_sticky = bool(status.st_mode & stat.S_ISVTX) and place != folder
        if status.st_uid not in _TRUSTED or (not is_sticky and _writable(status)):
            return _described(place, status)
    for above, folders, names in os.walk(folder):
        for place in map(Path(above).joinpath, (*folders, *names)):
            try:
                status = place.lstat()
            except FileNotFoundError:  # another process tidies up
                continue
            if status.st_uid not in _TRUSTED or stat.S_ISLNK(status.st_mode) or _writable(status):
                return _described(place, status)
    return ""


_TRUSTED = (0, os.geteuid())


def _writable(status: os.stat_result) -> bool:
    by_group = bool(status.st_mode & stat.S_IWGRP) and not _is_own_group(status.st_gid)
    return by_group or bool(status.st_mode & stat.S_IWOTH)


def _is_own_group(gid: int) -> bool:
    try:
        user = pwd.getpwuid(os.geteuid())
        group = grp.getgrgid(gid)
    except KeyError:
        return False
    if gid not in (0, user.pw_gid) or group.gr_name != user.pw_name:
        return False
    return set(group.gr_mem) <= {user.pw_name}


def _described(place: Path, status: os.stat_result) -> str:
    if status.st_uid not in _TRUSTED:
        return f"{place} belongs to another user ({status.st_uid})"
    if stat.S_ISLNK(status.st_mode):
        return f"{place} is a link"
    return f"others can write to {place} (mode {stat.S_IMODE(status.st_mode):o})"


_use_private_cache()
numba_inside.find_by_name(tuple(f"{_PACKAGE}{folder}." for folder in _KERNEL_FOLDERS))


class _Announcer(event.Listener):  # type: ignore[misc]
    """Says once that kernels are being compiled: the first command is silent for long."""

    def on_start(self, event: Any) -> None:
        if not self.has_spoken and sys.stderr:
            self.has_spoken = True
            sys.stderr.write("orderly: compiling kernels, about 40 s the first time\n")

    def on_end(self, event: Any) -> None:
        """Say nothing."""

    def tell_damaged(self) -> None:
        """Say once that files were damaged: what comes next takes its time too."""
        if not self.has_spoken and sys.stderr:
            self.has_spoken = True
            sys.stderr.write(
                f"orderly: compiled kernels in {config.CACHE_DIR} were damaged, by a power cut or "
                "a bad disk: compiling these again, about 40 s\n"
            )

    has_spoken = False


_announcer = _Announcer()
register_jitable(reaches)  # kernels call it as it stands


def kernel(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator of every kernel: a signature, disk cache, no GIL; an index below 0
    leaves the array (``boardclass.numba_inside``).

    With ``_nrt=False`` it makes no array and counts no references to any, which takes an atomic
    instruction each time.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        with event.install_listener("numba:compile", _announcer):
            return numba_inside.compiled(
                function, signature, _announcer.tell_damaged, cache=True, nogil=True, **options
            )

    return compiled


def read_only(dtype: Any, ndim: int = 1) -> Any:
    """Return the numba type of a C-contiguous read-only array, as every input of a kernel is;
    others are accepted.
    """
    return types.Array(dtype, ndim, "C", readonly=True)


def writable(dtype: Any, ndim: int = 1) -> Any:
    """Return the numba type of a C-contiguous array that a kernel fills."""
    return types.Array(dtype, ndim, "C")


def frozen(array: Any) -> Any:
    """Return a read-only view of an array.

    numba turns a writable array argument into a read-only one by itself, but not an array inside a
    NamedTuple.
    """
    view = array.view()
    view.flags.writeable = False
    return view
