"""What the scheduler costs, by itself: CPU milliseconds a verdict, in the middle of a run and at
its end, where all workers but a few are idle.

    python -m tests.bench.scheduling [WORKERS ...]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from orderly_boggle.cluster.driver.loop import POLL_S
from orderly_boggle.cluster.scheduling import events
from orderly_boggle.cluster.scheduling.backlog import Work
from orderly_boggle.cluster.scheduling.scheduler import Scheduler
from orderly_boggle.search.breaker import Unit
from tests.bench.virtual import Size, VirtualCluster, unit_seconds

LAST = 20
CLASSES_A_WORKER = 3


class Cost(NamedTuple):
    """CPU milliseconds a verdict."""

    steady_ms: float  # from a third of the run to its half
    last_ms: float  # the last twenty verdicts, all ticks between them and the end included
    report_ms: float  # the figures of one report, two of which are made a second


def scheduler_cost(n_workers: int) -> Cost:
    """Drive a scheduler through a run of invented classes, to its end, as the run loop does."""
    size = Size(n_workers, -(-n_workers // 16))
    n_classes = n_workers * CLASSES_A_WORKER
    costs = np.array([unit_seconds(Unit(number), size) for number in range(n_classes)]) ** 0.7
    scheduler = Scheduler(
        events.Policy(n_workers, replicate=0.01, lease_s=600.0),
        Work(np.arange(n_classes), costs),
        np.random.default_rng(1),
        lambda _verdict, _replica: "",
    )
    cluster = VirtualCluster(size)
    spent_s = 0.0
    at_verdict: list[float] = []  # CPU seconds of the scheduler up to each
    is_over = False
    reports_s: list[float] = []
    while not is_over:
        came = [*cluster.poll(POLL_S), events.Tick()]
        began_s = time.process_time()
        orders = [order for event in came for order in scheduler.handle(event, cluster.now_s)]
        spent_s += time.process_time() - began_s
        for order in orders:
            if isinstance(order, events.Spawn):
                cluster.spawn(order.worker)
            elif isinstance(order, events.Assign):
                cluster.assign(order)
            elif isinstance(order, events.Publish):
                at_verdict.append(spent_s)
                if len(at_verdict) % n_workers == 0:
                    reports_s.append(seconds_of(scheduler.snapshot))
            elif isinstance(order, events.Finish):
                is_over = True
    n = len(at_verdict)
    steady_s = (at_verdict[n // 2] - at_verdict[n // 3]) / (n // 2 - n // 3)
    last_s = (at_verdict[-1] - at_verdict[-1 - LAST]) / LAST
    return Cost(1000 * steady_s, 1000 * last_s, 1000 * max(reports_s))


def seconds_of(call: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    began_s = time.process_time()
    call()
    return time.process_time() - began_s


def main() -> None:
    """Print a line for each number of workers."""
    for n_workers in map(int, sys.argv[1:] or ("64", "1024", "4096")):
        cost = scheduler_cost(n_workers)
        sys.stdout.write(
            f"{n_workers:6,} workers: steady {cost.steady_ms:.2f} ms, the last {LAST} verdicts "
            f"{cost.last_ms:.2f} ms each, a report {cost.report_ms:.2f} ms\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
