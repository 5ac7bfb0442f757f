"""A run of a million rows, made by the store itself: what its readers and the next driver cost.

    python -m tests.bench.rows [--classes N]

Every class of invented buckets is eliminated; the last ones are open for the driver that goes on.
Each reader is a process of its own: CPU seconds from start to end, and its largest memory.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.errors import IncompleteError, InputError
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.cluster.planning.plan import Plan, make_plan
from orderly_boggle.configs.model import RunConfig, load_config
from orderly_boggle.results.store.rows import COUNTERS, ELIMINATED, Row
from orderly_boggle.results.store.store import Store
from tests.bench.virtual import Size
from tests.bench.whole_run import Scale
from tests.classes import n_boards_of

SCALES = {100_000: (6, 5), 1_000_000: (11, 5)}  # 101,475 and 1,144,000 classes
BATCH = 2000
ROOT = Path(__file__).resolve().parents[2]


class Cost(NamedTuple):
    """What a process took."""

    cpu_s: float
    memory_mib: float


def config_of(n_classes: int, location: str | Path) -> RunConfig:
    """Return the question of a run of about so many classes."""
    scale = Scale(*SCALES[n_classes], Size(1, 1))
    values = {"buckets": scale.buckets, "cutoff": 3000, "out": str(location), "workers": 1}
    return load_config("4x4", values)


def make(plan: Plan) -> int:
    """Write the run, but for its last class; return the number of rows."""
    ids, rng = plan.question.class_ids()[:-1], np.random.default_rng(1)
    with Store.open(plan.location, plan.question, plan.made) as store:
        for start in range(0, len(ids), BATCH):
            store.append(rows_of(plan, ids[start : start + BATCH].tolist(), rng))
    return len(ids)


def rows_of(plan: Plan, ids: Sequence[int], rng: np.random.Generator) -> Iterator[Row]:
    """Yield rows that eliminate some classes."""
    drawn = rng.integers(1, 10**9, (len(ids), len(COUNTERS))).tolist()
    for class_id, seconds, numbers in zip(ids, rng.lognormal(3, 1, len(ids)), drawn, strict=True):
        counters = dict(zip(COUNTERS, numbers, strict=True)) | {"n_survivors": 0}
        yield Row(
            plan.question.digest,
            class_id,
            "",
            ELIMINATED,
            n_boards_of(plan.question.partition, class_id),
            numbers[0] % 3000,
            counters=counters,
            seconds=float(seconds),
            peak_rss_bytes=1 << 30,
            host=f"host{numbers[1] % 64}",
            kernel_hash="0123456789abcdef",
        )


# what is measured begins with the peak of whoever starts it, so that must be small
STARTER = """
import os, subprocess, sys
quiet = subprocess.DEVNULL
child = subprocess.Popen(sys.argv[1:], stdout=quiet, stderr=quiet)
_, status, used = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def cost(program: str, *arguments: str) -> Cost:
    """Run a Python program to its end."""
    command = [sys.executable, "-c", program, *arguments]
    starter = [sys.executable, "-I", "-S", "-c", STARTER]
    told = subprocess.check_output([*starter, *command], cwd=ROOT, text=True)
    exit_code, cpu_s, memory_mib = map(float, told.split())
    assert exit_code in (0, IncompleteError.exit_code), command
    return Cost(cpu_s, memory_mib)


def orderly(*arguments: str) -> Cost:
    """Run the command line."""
    return cost("from orderly_boggle.cluster.cli.start import main; main()", *arguments)


def go_on(n_classes: int, folder: str) -> None:
    """Do what a driver does until it would start its first worker."""

    def stop(_spec: object) -> None:
        raise InputError("far enough")

    try:
        run(config_of(n_classes, folder), make_executor=stop)
    except InputError:
        return
    raise AssertionError("nothing was open")


def measured(n_classes: int, folder: Path) -> Iterator[tuple[str, Cost]]:
    """Make a run and yield what each of its readers costs."""
    plan = make_plan(config_of(n_classes, folder / "run"))
    make(plan)
    where = str(folder / "run")
    yield "resume", cost(f"from tests.bench import rows; rows.go_on({n_classes}, {where!r})")
    with Store.open(plan.location, plan.question) as store:
        ids = plan.question.class_ids()[-1:].tolist()
        store.append(rows_of(plan, ids, np.random.default_rng(1)))
    yield "status", orderly("status", where)
    yield "verify --quick", orderly("verify", where, "--quick")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--classes", type=int, choices=list(SCALES), default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, spent in measured(options.classes, Path(folder)):
            sys.stdout.write(f"{name:20}{spent.cpu_s:8.2f} s CPU{spent.memory_mib:8.0f} MiB\n")


if __name__ == "__main__":
    main()
