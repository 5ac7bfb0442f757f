"""How much memory a process may still take: that of the machine, or of the groups that it is in.

    machine_memory -> _limits -> the group that /proc/self/cgroup names, in each version of Linux's
                      control groups, and all groups above it: any of them may have the limit

Schedulers put the limit on a group of the job (Slurm), of the service (systemd), or of the
container; see cgroups(7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class _Version(NamedTuple):
    """What the files of a group are called."""

    limit: str
    used: str
    cache: tuple[str, str]  # what the system gives back when memory is short, in memory.stat


_VERSIONS = {
    "cgroup": _Version(
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        ("total_inactive_file", "total_active_file"),  # of all groups below as well
    ),
    "cgroup2": _Version("memory.max", "memory.current", ("inactive_file", "active_file")),
}


def machine_memory(root: Path = Path("/")) -> tuple[int, int]:
    """Return the bytes of memory that are free, and all there are, of this machine or of the
    control groups that this process is in; zeros if unknown.

    root : where ``proc`` and ``sys`` lie
    """
    try:
        text = (root / "proc/meminfo").read_text()
        table = dict(line.split(":", 1) for line in text.splitlines())
        free = int(table["MemAvailable"].split()[0]) * 1024
        total = int(table["MemTotal"].split()[0]) * 1024
        for limit, used in _limits(root):
            free = min(free, limit - used)
            total = min(total, limit)
    except (OSError, KeyError, ValueError):
        return 0, 0
    return max(0, free), total


def _limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield limit and use, in bytes, of each group that has a limit; a use is without the cache."""
    for kind, mount, group in _groups(root):
        names = _VERSIONS[kind]
        while True:
            folder = mount / group
            limit = _number(folder / names.limit)
            if limit is not None:
                used = _number(folder / names.used) or 0
                yield limit, used - _cache_bytes(folder, names.cache)
            if group == Path():
                break
            group = group.parent


def _groups(root: Path) -> Iterator[tuple[str, Path, Path]]:
    """Yield kind, mount point, and the group of this process below it, where memory is limited."""
    own = {}
    for line in (root / "proc/self/cgroup").read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0":
            own["cgroup2"] = path
        elif "memory" in controllers.split(","):
            own["cgroup"] = path
    for line in (root / "proc/self/mountinfo").read_text().splitlines():
        mounted, _, source = line.partition(" - ")
        kind, _, options = source.split(" ", 2)
        is_memory = kind == "cgroup2" or "memory" in options.split(",")
        if kind not in own or not is_memory:
            continue
        _, _, _, top, place, *_ = mounted.split(" ")
        # a container may see its own group alone: the path then begins with what is mounted
        if top != "/":
            path = own[kind].removeprefix(top)
        else:
            path = own[kind]
        group = Path(path.lstrip("/"))
        mount = root / place.lstrip("/")
        if ".." in group.parts or not (mount / group).is_dir():
            group = Path()
        yield kind, mount, group


def _number(file: Path) -> int | None:
    """Return the number in a file; None without one, or for one that is no limit."""
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    if not re.fullmatch("[0-9]+", text) or int(text) >= 1 << 60:  # "max", or nearly 2^63
        return None
    return int(text)


def _cache_bytes(folder: Path, names: tuple[str, str]) -> int:
    try:
        lines = (folder / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    counts = dict(line.split() for line in lines)
    return sum(int(counts.get(name, 0)) for name in names)
