"""How much memory a process may take, from files as kernels write them, and from a real group."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orderly_boggle.cluster.workers.memory import machine_memory

MIB = 1 << 20
MEMINFO = "MemTotal: 24000000 kB\nMemFree: 1000000 kB\nMemAvailable: 20000000 kB\n"
WHOLE = (20_000_000 * 1024, 24_000_000 * 1024)
V2 = "31 23 0:26 {top} /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw"
V1 = "36 32 0:32 {top} /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory"
TASK = "system.slice/slurmstepd.scope/job_42/step_batch/user/task_0"
STAT_2 = f"anon 1\nfile 9\ninactive_file {30 * MIB}\nactive_file {20 * MIB}\n"
STAT_1 = f"cache 9\ntotal_inactive_file {30 * MIB}\ntotal_active_file {20 * MIB}\n"
NO_LIMIT = "9223372036854771712\n"


def group_2(limit, used=150):
    value = limit if limit == "max" else str(limit * MIB)
    return {
        "memory.max": f"{value}\n",
        "memory.current": f"{used * MIB}\n",
        "memory.stat": STAT_2,
    }


def group_1(limit, used=150):
    value = limit if isinstance(limit, str) else f"{limit * MIB}\n"
    return {
        "memory.limit_in_bytes": value,
        "memory.usage_in_bytes": f"{used * MIB}\n",
        "memory.stat": STAT_1,
    }


# by name: /proc/self/cgroup, the mount, the groups below it, what is free and in all, in MiB
CASES = {
    "a container of version 2, its own namespace": (
        "0::/", V2.format(top="/"), {"": group_2(600)}, (500, 600)
    ),
    "Slurm, the limit on the job": (
        f"0::/{TASK}", V2.format(top="/"),
        {"system.slice/slurmstepd.scope/job_42": group_2(600), TASK: group_2("max")}, (500, 600),
    ),
    "systemd-run, a parent that is smaller still": (
        "0::/user.slice/user-1000.slice/run-7.scope", V2.format(top="/"),
        {
            "user.slice": group_2(400, 350), "user.slice/user-1000.slice": group_2("max"),
            "user.slice/user-1000.slice/run-7.scope": group_2(600),
        },
        (100, 400),
    ),
    "a shared namespace": (
        "0::/../../other", V2.format(top="/../.."), {"": group_2(600)}, (500, 600)
    ),
    "no limit in version 2": ("0::/a", V2.format(top="/"), {"a": group_2("max")}, None),
    "Slurm of version 1": (
        "4:memory:/slurm/uid_1000/job_42/step_0\n0::/", V1.format(top="/"),
        {
            "": group_1(NO_LIMIT), "slurm/uid_1000/job_42": group_1(600),
            "slurm/uid_1000/job_42/step_0": group_1(NO_LIMIT),
        },
        (500, 600),
    ),
    "a container of version 1 that sees its own group": (
        "9:cpuset,memory:/docker/abc", V1.format(top="/docker/abc"), {"": group_1(600)}, (500, 600)
    ),
    "a container of version 1 that sees no group of its name": (
        "9:memory:/docker/abc", V1.format(top="/"), {"": group_1(600)}, (500, 600)
    ),
    "no limit in version 1": ("4:memory:/", V1.format(top="/"), {"": group_1(NO_LIMIT)}, None),
    "used up": ("0::/", V2.format(top="/"), {"": group_2(600, 700)}, (0, 600)),
    "no memory controller": ("0::/a", V2.format(top="/"), {"a": {}}, None),
}  # fmt: skip


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_smallest_limit_of_a_group_or_of_one_above_it_counts(tmp_path, case):
    own, mount, groups, expected = case
    place = mount.split(" ")[4].lstrip("/")
    write(tmp_path / "proc", {"meminfo": MEMINFO, "self/cgroup": own, "self/mountinfo": mount})
    for group, files in groups.items():
        write(tmp_path / place / group, {"cgroup.procs": "", **files})
    in_bytes = WHOLE if expected is None else tuple(n * MIB for n in expected)
    assert machine_memory(tmp_path) == in_bytes


def test_what_cannot_be_read_is_unknown(tmp_path):
    assert machine_memory(tmp_path) == (0, 0)


def a_place_for_groups() -> tuple[Path, str] | None:
    """Return where this user may make groups with a limit of memory, and the name of the limit."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place = Path(line.split(" ")[4])
        for name in ("memory.limit_in_bytes", "memory.max"):
            made = place / f"orderly-{os.getpid()}"
            if " - cgroup" in line and os.access(place, os.W_OK):
                try:
                    made.mkdir()
                except OSError:
                    continue
                has_limit = (made / name).exists()
                made.rmdir()
                if has_limit:
                    return place, name
    return None


@pytest.mark.nightly
def test_the_limit_of_a_real_group_above_counts():
    found = a_place_for_groups()
    if found is None:
        pytest.skip("no group can be made here: needs root, and the memory controller")
    place, limit = found
    outer = place / f"orderly-{os.getpid()}"
    inner = outer / "inner"
    outer.mkdir()
    try:
        (outer / limit).write_text(str(600 * MIB))
        if limit == "memory.max":
            (outer / "cgroup.subtree_control").write_text("+memory")
        inner.mkdir()
        code = f"""
import os
open({str(inner / "cgroup.procs")!r}, "w").write(str(os.getpid()))
from orderly_boggle.cluster.workers.memory import machine_memory
held = bytearray(100 << 20)
print(*machine_memory())"""
        told = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        free, total = map(int, told.stdout.split())
        assert total == 600 * MIB
        assert 100 * MIB < free < 500 * MIB
    finally:
        for group in (inner, outer):
            if group.exists():
                group.rmdir()
