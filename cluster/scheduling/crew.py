"""Workers with their assignments and leases: which are there, what each does, which were silent for too long.

The crew keeps the books.  The scheduler decides, and tells the crew what it decided.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cluster.scheduling.events import Policy

if TYPE_CHECKING:
    from search.breaker import Unit

_ASLEEP_S = 30.0  # after so long without any event, even a Tick, this process was not running
_N_FREE_DEATHS, _FIRST_WAIT_S, _LONGEST_WAIT_S = 2, 0.25, 30.0  # before the next spawn, when workers keep dying


@dataclass(slots=True)
class Worker:
    """A worker that was spawned and is not known to be gone; ``assignment`` 0: idle."""

    number: int
    lease_ends_s: float
    host: str = ""
    is_up: bool = False
    assignment: int = 0
    peak_rss_bytes: int = 0


@dataclass(slots=True)
class Assignment:
    """Units given to a worker; of the ``missing`` ones nothing has been heard yet."""

    number: int
    worker: int
    alone: bool
    lease_s: float
    is_replica: bool
    missing: set[Unit] = field(default_factory=set)

    def in_order(self) -> list[Unit]:
        """Return the missing units, by class and path."""
        return sorted(self.missing, key=lambda unit: (unit.class_id, unit.path))


class Crew:
    """The workers."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.workers: dict[int, Worker] = {}
        self.assignments: dict[int, Assignment] = {}
        self._n_spawned = 0
        self._n_assigned = 0
        self._n_slots = policy.n_workers
        self._max_slots = 1
        self._spawn_at_s = 0.0
        self._awake_at_s: float | None = None
        self._big_host: str | None = None
        self.n_deaths = 0
        self.fruitless_deaths = 0  # since the last verdict
        self.max_batch = 1  # units that go into one assignment; it doubles with each that ends

    @property
    def hosts(self) -> set[str]:
        """Hosts of the workers that are up."""
        return {worker.host for worker in self.workers.values() if worker.is_up}

    @property
    def n_up(self) -> int:
        """Workers that are up."""
        return sum(worker.is_up for worker in self.workers.values())

    @property
    def n_in_flight(self) -> int:
        """Units that workers have."""
        return sum(len(assignment.missing) for assignment in self.assignments.values())

    @property
    def death_limit(self) -> int:
        """Workers that may be lost without any verdict in between."""
        return self._policy.max_deaths * self._max_slots

    # --- coming and going

    def make_room(self, n_workers: int) -> None:
        """Take note of how many workers the cluster has room for."""
        self._n_slots = max(0, min(self._policy.n_workers, n_workers))

    def spawn(self, n_open: int, n_idle: int, now_s: float) -> list[int]:
        """Return the numbers of new workers: one for each open unit and ``n_idle`` more, as far as there are slots."""
        new: list[int] = []
        while len(self.workers) < self.n_wanted(n_open, n_idle) and now_s >= self._spawn_at_s:
            self._n_spawned += 1
            self.workers[self._n_spawned] = Worker(self._n_spawned, now_s + self._policy.spawn_s)
            new.append(self._n_spawned)
        return new

    def n_wanted(self, n_open: int, n_idle: int) -> int:
        """Return how many workers there should be: ``n_idle`` take no work, the others have one open unit at least."""
        self._max_slots = max(self._max_slots, self._n_slots)
        return min(self._n_slots, max(1, n_open) + n_idle)

    def dismiss(self, number: int) -> Assignment | None:
        """Forget a worker; return what it was doing.  The assignment ends with its last unit."""
        return self.assignments.get(self.workers.pop(number).assignment)

    def count_death(self, now_s: float) -> None:
        """Count a worker that was lost, and delay the next spawn when workers keep dying."""
        self.n_deaths += 1
        self.fruitless_deaths += 1
        if self.fruitless_deaths > _N_FREE_DEATHS:
            doublings = self.fruitless_deaths - _N_FREE_DEATHS - 1
            self._spawn_at_s = now_s + min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0**doublings)

    def made_progress(self, now_s: float) -> None:
        """Take note of a verdict: workers do come up, so the count of deaths begins again and nothing is delayed."""
        self.fruitless_deaths, self._spawn_at_s = 0, now_s

    # --- leases

    def resume(self, now_s: float) -> None:
        """Do not blame workers for silence while this process did not listen, or was stopped together with them."""
        asleep_s = 0.0 if self._awake_at_s is None else now_s - self._awake_at_s
        self._awake_at_s = now_s
        if asleep_s > _ASLEEP_S:
            for worker in self.workers.values():
                worker.lease_ends_s += asleep_s

    def extend(self, number: int, assignment: int, now_s: float) -> None:
        """Extend the lease of a worker that is busy with what it was given."""
        given = self.assignments.get(assignment)
        if given is not None and given.worker == number:
            self.workers[number].lease_ends_s = now_s + given.lease_s

    def silent(self, now_s: float) -> list[Worker]:
        """Return the workers that have something to do and whose lease ran out."""
        expected = (worker for worker in self.workers.values() if worker.assignment != 0 or not worker.is_up)
        return [worker for worker in expected if now_s > worker.lease_ends_s]

    # --- assignments

    def give(
        self, worker: Worker, units: Collection[Unit], predicted_s: float, now_s: float, *, is_replica: bool
    ) -> Assignment:
        """Give units to an idle worker."""
        self._n_assigned += 1
        lease_s = self._policy.lease_s + self._policy.lease_factor * predicted_s
        alone = worker.host == self._big_host
        made = Assignment(self._n_assigned, worker.number, alone, lease_s, is_replica, set(units))
        self.assignments[made.number] = made
        worker.assignment, worker.lease_ends_s = made.number, now_s + lease_s
        return made

    def strike_off(self, unit: Unit, number: int) -> Worker | None:
        """Take a unit off the assignment that it came from; return the worker if that makes it idle."""
        assignment = self.assignments.get(number)
        if assignment is None or unit not in assignment.missing:
            return None
        assignment.missing.remove(unit)
        if assignment.missing:
            return None
        del self.assignments[number]
        worker = self.workers.get(assignment.worker)
        if worker is not None:
            worker.assignment = 0
            self.max_batch = min(2 * self.max_batch, self._policy.max_batch)
        return worker

    # --- the big-memory lane

    def drain_for_big(self, has_big: bool, flagged: Collection[str]) -> None:
        """Choose the host that the big-memory lane empties, or give it back."""
        hosts = self.hosts.difference(flagged)
        is_running = any(assignment.alone for assignment in self.assignments.values())
        if not has_big and not is_running:
            self._big_host = None
        elif self._big_host not in hosts:
            self._big_host = min(hosts, key=lambda host: (self._n_busy(host), host), default=None)

    def is_drained(self, worker: Worker) -> bool:
        """Return whether the worker's host is for units of the big-memory lane."""
        return worker.host == self._big_host

    def is_alone(self, worker: Worker) -> bool:
        """Return whether nobody on the worker's host is busy."""
        return self._n_busy(worker.host) == 0

    def _n_busy(self, host: str) -> int:
        return sum(worker.host == host and worker.assignment != 0 for worker in self.workers.values())
