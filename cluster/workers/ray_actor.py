"""What runs in a Ray actor.  It is sent by value, so that it also runs on a machine that lacks this
program, or has another version of it, and can say so.

    who    what is installed there      make   the worker itself, once that is the same here
    work_through, busy_with             see :class:`orderly_boggle.cluster.workers.worker.Worker`

Nothing of this program may be imported at the top.  What goes over the wire before it is known to
be the same there is made of plain values.
"""

import hashlib
import platform
from importlib import metadata, util
from pathlib import Path
from typing import Any

DISTRIBUTION = "orderly-boggle"
PACKAGE = "orderly_boggle"
FOLDERS = ("boardclass", "cluster", "configs", "results", "search")


def installed() -> dict[str, str]:
    """Return version of this program, a digest of its sources, and version of Python.

    The digest is 16 hex digits over names and contents of all Python files of its folders.

    Raises ModuleNotFoundError when the package, or one of its folders, is not there.
    """
    digest = hashlib.sha256()
    spec = util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"No module named {PACKAGE!r}")
    root = Path(next(iter(spec.submodule_search_locations)))
    for folder in FOLDERS:  # one by one: in a checkout they are links, which rglob does not follow
        if not (root / folder).is_dir():
            raise ModuleNotFoundError(f"No module named '{PACKAGE}.{folder}'")
        for path in sorted((root / folder).rglob("*.py")):
            content = path.read_bytes()
            place = path.relative_to(root).as_posix()
            digest.update(f"{place} {len(content)}\n".encode())
            digest.update(content)
    try:
        version = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        version = "unknown"
    return {
        "version": version,
        "sources": digest.hexdigest()[:16],
        "python": platform.python_version(),
    }


class RemoteWorker:
    """A worker in an actor; the driver calls ``who`` first, then ``make``."""

    def __init__(self) -> None:
        self._worker: Any = None

    def who(self) -> dict[str, str]:
        """Return which machine this is, what is installed there, or the ``fault`` that keeps it
        from working.
        """
        import ray

        found = {"machine": ray.get_runtime_context().get_node_id(), "host": platform.node()}
        try:
            found |= installed()
        except Exception as error:  # noqa: BLE001 - told to the driver, whatever it is
            python = platform.python_version()
            found["fault"] = f"{type(error).__name__}: {error} (Python {python})"
        return found

    def make(self, spec: Any, make_breaker: Any) -> Any:
        """Make the worker and return who it is."""
        from orderly_boggle.cluster.workers.worker import Worker

        self._worker = Worker(spec, make_breaker)
        return self._worker.hello()

    def work_through(self, order: Any) -> Any:
        """Return all replies at once."""
        return self._worker.work_through(order)

    def busy_with(self) -> int:
        """Return the present assignment, 0: none."""
        return int(self._worker.busy_with())


def difference(theirs: dict[str, str], ours: dict[str, str]) -> str:
    """Return why a machine must not work with us; empty: it has the same code and Python.

    >>> here = {"version": "1.2", "sources": "12ab", "python": "3.11.7"}
    >>> difference(here, here)
    ''
    >>> print(difference(here | {"sources": "34cd"}, here).partition(":")[0])
    its sources 34cd of version 1.2 differ from the driver's 12ab of 1.2
    >>> difference(here | {"python": "3.12.1"}, here)
    "its Python 3.12.1 differs from the driver's 3.11.7: install the same Python there"
    """
    if theirs.get("fault"):
        return theirs["fault"]
    if theirs["sources"] != ours["sources"]:
        return (
            f"its sources {theirs['sources']} of version {theirs['version']} differ from the "
            f"driver's {ours['sources']} of {ours['version']}: install the same code there"
        )
    if theirs["python"] != ours["python"]:
        return (
            f"its Python {theirs['python']} differs from the driver's {ours['python']}: install "
            "the same Python there"
        )
    return ""
