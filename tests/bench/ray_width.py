"""What Ray costs the driver, with many actors on a cluster of several nodes and units that cost
nothing.

    python -m tests.bench.ray_width [--actors N] [--nodes N] [--seconds S]

The nodes are processes of this machine.  Printed are CPU seconds of the driver's process, Ray's own
threads in it included: for each verdict when a call to an actor brings one, eight or 64 of them,
and for one poll while 4,096 calls are under way.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Iterator

from orderly_boggle.cluster.scheduling.events import (
    Answer,
    Assign,
    Event,
    Returned,
    WorkerDown,
    WorkerUp,
)
from orderly_boggle.cluster.workers.ray_executor import RayExecutor
from orderly_boggle.search.breaker import Spec, Unit
from tests.cluster.clusters import started
from tests.cluster.fakes import SPEC, FakeBreaker

BATCHES = (1, 8, 64)
WIDE = 4096  # calls under way


class Dozing(FakeBreaker):
    """Units that end when nobody waits for them any more."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec, 600.0)


def events_of(executor: RayExecutor) -> Iterator[Event]:
    """Yield what happens; a worker that is lost ends the measurement."""
    while True:
        for event in executor.poll(1.0):
            if isinstance(event, WorkerDown):
                raise RuntimeError(f"worker {event.worker} is gone: {event.message}")
            yield event


def start(executor: RayExecutor, n_actors: int) -> None:
    """Start actors; return when all are there."""
    for worker in range(1, n_actors + 1):
        executor.spawn(worker)
    ups = (event for event in events_of(executor) if isinstance(event, WorkerUp))
    assert len(list(itertools.islice(ups, n_actors))) == n_actors


def cost_of_verdicts(
    executor: RayExecutor, n_actors: int, n_units: int, seconds: float
) -> tuple[int, float]:
    """Keep all actors busy for a while with so many units a call; return the number of verdicts and
    the driver's CPU seconds.
    """
    units = tuple(map(Unit, range(n_units)))
    numbers = itertools.count(1)
    began_s, ends_s = time.process_time(), time.monotonic() + seconds
    n_verdicts, n_busy = 0, n_actors
    for worker in range(1, n_actors + 1):
        executor.assign(Assign(worker, next(numbers), units))
    for event in events_of(executor):
        n_verdicts += isinstance(event, Answer)
        if isinstance(event, Returned):
            if time.monotonic() < ends_s:
                executor.assign(Assign(event.worker, next(numbers), units))
            else:
                n_busy -= 1
        if not n_busy:
            break
    return n_verdicts, time.process_time() - began_s


def cost_of_a_poll(executor: RayExecutor, n_actors: int) -> float:
    """Return the driver's CPU seconds for a poll while ``WIDE`` calls are under way."""
    for call in range(WIDE):
        executor.assign(Assign(1 + call % n_actors, 1, (Unit(0),)))
    time.sleep(5.0)  # until they are submitted
    n_polls = 20
    began_s = time.process_time()
    for _ in range(n_polls):
        executor.poll(0.05)
    return (time.process_time() - began_s) / n_polls


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--actors", type=int, default=64)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    each = -(-options.actors // options.nodes)
    with tempfile.TemporaryDirectory(prefix="o", dir="/tmp") as folder, started(folder) as nodes:
        for _ in range(options.nodes):
            nodes.add(each)
        began = time.monotonic()
        with RayExecutor(SPEC, options.actors, FakeBreaker, address=nodes.address) as executor:
            start(executor, options.actors)
            show(f"{options.actors} actors on {options.nodes} nodes", time.monotonic() - began)
            for n_units in BATCHES:
                n, cpu_s = cost_of_verdicts(executor, options.actors, n_units, options.seconds)
                each_ms = f"{1000 * cpu_s / n:.3f} ms each, {1000 * cpu_s / n * n_units:.2f} a call"
                show(f"{n_units} units a call: {n:,} verdicts, {each_ms}", cpu_s)
        with RayExecutor(SPEC, options.actors, Dozing, address=nodes.address) as executor:
            start(executor, options.actors)
            show(f"a poll with {WIDE:,} calls under way", cost_of_a_poll(executor, options.actors))


def show(what: str, seconds: float) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{what:70}{seconds:10.4f} s\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
