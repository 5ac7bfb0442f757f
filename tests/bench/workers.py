"""Workers of one machine, as many as ``many``, that search 4x4 at the same time: how much memory
each takes, and how soon it is there.

Memory is the proportional set size: what several processes share counts once.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cluster.planning.plan import Plan
from cluster.scheduling.events import Assign
from cluster.workers.process import WorkerProcess
from search.breaker import Unit


class Together(NamedTuple):
    """What was seen of workers that share a machine."""

    memory_mib: list[int]  # of each
    ready_s: list[float]  # from its start until it takes work, one after the other


def together(plan: Plan, many: int, classes_each: int) -> Together:
    """Start workers and give each some classes, at even steps of predicted cost."""
    ids = plan.class_ids()
    ids = ids[np.argsort(plan.predicted_costs(ids), kind="stable")]
    steps = np.linspace(0, len(ids) - 1, many * classes_each).astype(int)
    chosen = ids[steps].tolist()
    workers: list[WorkerProcess] = []
    pids: list[int] = []
    ready_s: list[float] = []
    for _ in range(many):
        began = time.monotonic()
        worker = WorkerProcess(plan.spec)
        pids.append(worker.hello().pid)
        ready_s.append(time.monotonic() - began)
        workers.append(worker)

    def search(number: int) -> None:
        units = tuple(Unit(class_id) for class_id in chosen[number::many])
        replies = list(workers[number].work(Assign(number, 1, units)))
        assert len(replies) == len(units), replies

    try:
        with ThreadPoolExecutor(many) as pool:
            list(pool.map(search, range(many)))
        return Together(list(map(_pss_mib, pids)), ready_s)
    finally:
        for worker in workers:
            worker.cancel()


def _pss_mib(pid: int) -> int:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    kib = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    assert kib
    return int(kib[1]) >> 10
