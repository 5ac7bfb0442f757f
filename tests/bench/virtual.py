"""A cluster that is made up, on a clock of its own: thousands of workers that answer what a breaker
might, and machines that go and come.

    VirtualCluster   an executor whose workers take virtual time only: what a process spends while
                     it drives them, but for ``spent_s``, is the driver's

Everything follows from the seed, but for the time of the driver itself where ``is_busy`` counts it.
"""

from __future__ import annotations

import heapq
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from orderly_boggle.cluster.scheduling import events
from orderly_boggle.cluster.workers.executors import Executor
from orderly_boggle.search.breaker import Unit, UnitResult

BEAT_S = 30.0
ABSENCE_S = 300.0  # before the provider replaces a machine that it took


@dataclass(frozen=True)
class Size:
    """How large a cluster is, and what its classes take."""

    n_workers: int
    n_hosts: int
    lost_an_hour: float = 0.0  # fraction of the machines
    mean_s: float = 24.0  # of a class
    spread: float = 1.0  # standard deviation of the logarithm of the seconds

    @property
    def workers_a_host(self) -> int:
        """Workers on each machine."""
        return -(-self.n_workers // self.n_hosts)


def unit_seconds(unit: Unit, size: Size) -> float:
    """Return what a unit takes, always the same: lognormal."""
    chance = random.Random(hash((unit.class_id, len(unit.path), unit.path[-1:] == "b")))
    factor = chance.lognormvariate(-(size.spread**2) / 2, size.spread)
    return size.mean_s * factor


class VirtualCluster(Executor):
    """Workers and machines that exist on a virtual clock only; every unit is eliminated.

    ``n_boards`` counts the boards of a unit, given class and path.  ``is_busy``: what the driver's
    process spends between two polls passes on the virtual clock as well, so that a driver that is
    too slow falls behind.
    """

    def __init__(
        self,
        size: Size,
        seed: int = 0,
        *,
        is_busy: bool = False,
        n_boards: Callable[[int, str], int] = lambda _class_id, _path: 4,
    ) -> None:
        self.size = size
        self._n_boards = n_boards
        self.now_s = 0.0
        self.spent_s = 0.0  # CPU seconds of this object
        self.assigned_s = 0.0  # virtual seconds of work that was given out, but for replicas
        self.replica_s = self.verdict_s = 0.0  # of replicas, and of verdicts that came
        self.n_lost = 0  # workers
        self._rng = random.Random(seed)
        self._is_busy = is_busy
        # what happens when: an event, or the number of a machine that goes or comes
        self._queue: list[tuple[float, int, events.Event | int]] = []
        self._n_queued = 0
        self._host_of: dict[int, int] = {}  # of each worker
        self._on: list[dict[int, None]] = [{} for _ in range(size.n_hosts)]
        self._is_there = [True] * size.n_hosts
        self._room_on = [host for host in range(size.n_hosts) for _ in range(size.workers_a_host)]
        self._left_s = time.process_time()
        self._push(0.0, events.Room(size.n_workers))
        for host in range(size.n_hosts):
            self._plan_loss(host)

    def clock(self) -> float:
        """Return the virtual time, seconds."""
        return self.now_s

    def spawn(self, worker: int) -> None:
        """Start a worker on a machine with room."""
        entered_s = time.process_time()
        while self._room_on and not self._is_there[self._room_on[-1]]:
            self._room_on.pop()
        if self._room_on:
            host = self._room_on.pop()
            self._on[host][worker] = None
            self._host_of[worker] = host
            self._push(self._rng.uniform(5.0, 60.0), events.WorkerUp(worker, f"host{host}"))
        else:
            self._push(1.0, events.WorkerDown(worker, "node", "no room"))
        self.spent_s += time.process_time() - entered_s

    def assign(self, order: events.Assign) -> None:
        """Let the verdicts come when their time has passed."""
        entered_s = time.process_time()
        host = self._host_of.get(order.worker)
        if host is not None:
            self._work(order, f"host{host}")
        self.spent_s += time.process_time() - entered_s

    def _work(self, order: events.Assign, host: str) -> None:
        worker = order.worker
        number = order.assignment
        is_replica = order.replica is not None
        passed_s = 0.0
        for unit in order.units:
            seconds = unit_seconds(unit, self.size)
            passed_s += seconds
            effort = int(seconds * 5e6)
            counters = {"n_terms": effort, "n_pushes": effort}
            n_boards = self._n_boards(unit.class_id, unit.path)
            result = UnitResult(unit, "eliminated", n_boards, 9, (), (), (), counters, seconds)
            answer = events.Answer(
                worker, number, result, host, "virtual", 2**30, is_replica=is_replica
            )
            self._push(passed_s, answer)
        for beat in range(1, math.ceil(passed_s / BEAT_S)):
            self._push(beat * BEAT_S, events.Heartbeat(worker, number))
        self._push(passed_s, events.Returned(worker, number))
        self.replica_s += passed_s * is_replica
        self.assigned_s += passed_s * (not is_replica)

    def retire(self, worker: int) -> None:
        """End a worker."""
        host = self._host_of.pop(worker, None)
        if host is not None:
            del self._on[host][worker]
            self._room_on.append(host)

    def poll(self, timeout_s: float) -> list[events.Event]:
        """Return what has happened by now, or what happens first."""
        entered_s = time.process_time()
        if self._is_busy:
            self.now_s += entered_s - self._left_s
        if not self._queue or self._queue[0][0] > self.now_s:
            first_s = self._queue[0][0] if self._queue else math.inf
            self.now_s = min(self.now_s + timeout_s, first_s)
        came: list[events.Event] = []
        while self._queue and self._queue[0][0] <= self.now_s:
            what = heapq.heappop(self._queue)[2]
            if isinstance(what, int):
                came += self._turn_over(what)
            elif isinstance(what, events.WorkerDown | events.Room) or self._lives(what):
                came.append(what)
                if isinstance(what, events.Answer) and not what.is_replica:
                    self.verdict_s += what.result.seconds
        self._left_s = time.process_time()
        self.spent_s += self._left_s - entered_s
        return came

    def _lives(self, event: events.Event) -> bool:
        return getattr(event, "worker", 0) in self._host_of

    def _turn_over(self, host: int) -> list[events.Event]:
        """Take a machine away, or bring it back."""
        self._is_there[host] = not self._is_there[host]
        room = events.Room(sum(self._is_there) * self.size.workers_a_host)
        if self._is_there[host]:
            self._room_on += [host] * self.size.workers_a_host
            self._plan_loss(host)
            return [room]
        self._push(ABSENCE_S, host)
        gone, self._on[host] = self._on[host], {}
        self._room_on = [other for other in self._room_on if other != host]
        self.n_lost += len(gone)
        came: list[events.Event] = [room]
        for worker in gone:
            del self._host_of[worker]
            came.append(events.WorkerDown(worker, "node", "its machine is gone"))
        return came

    def _plan_loss(self, host: int) -> None:
        if self.size.lost_an_hour:
            self._push(self._rng.expovariate(self.size.lost_an_hour / 3600.0), host)

    def _push(self, delay_s: float, what: events.Event | int) -> None:
        self._n_queued += 1
        heapq.heappush(self._queue, (self.now_s + delay_s, self._n_queued, what))
