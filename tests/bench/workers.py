"""Workers of one machine, as many as ``many``, that search 4x4 at the same time: how much memory
each takes, and how soon it is there.

Memory is the proportional set size: what several processes share counts once.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orderly_boggle.cluster.planning.plan import Plan
from orderly_boggle.cluster.scheduling.events import Answer, Assign, Returned, WorkerUp
from orderly_boggle.cluster.workers.executors import Executor
from orderly_boggle.search.breaker import Unit
from orderly_boggle.search.costs import predicted_costs
from tests.cluster.processes import workers
from tests.cluster.test_executors import until


class Together(NamedTuple):
    """What was seen of workers that share a machine."""

    memory_mib: list[int]  # of each
    ready_s: list[float]  # from its start until it takes work, one after the other


def together(executor: Executor, plan: Plan, many: int, classes_each: int) -> Together:
    """Start workers and give each some classes, at even steps of predicted cost."""
    ids = plan.question.class_ids()
    ids = ids[np.argsort(predicted_costs(plan.question, ids), kind="stable")]
    steps = np.linspace(0, len(ids) - 1, many * classes_each).astype(int)
    units = [Unit(class_id) for class_id in ids[steps].tolist()]
    ready_s: list[float] = []
    with executor:
        for number in range(many):
            began = time.monotonic()
            executor.spawn(number)
            until(executor, WorkerUp)
            ready_s.append(time.monotonic() - began)
        for number in range(many):
            executor.assign(Assign(number, 1 + number, tuple(units[number::many])))
        events = until(executor, Returned, many)
        assert sum(isinstance(event, Answer) for event in events) == len(units), events
        processes = workers()
        assert len(processes) == many
        return Together([_pss_mib(pid) for pid in processes], ready_s)


def _pss_mib(pid: int) -> int:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    kib = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    assert kib
    return int(kib[1]) >> 10
