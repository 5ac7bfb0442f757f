"""The workers, counted by host as they come and go.

    spawn -> come_up -> start <-> rest -> remove          silent: those whose lease ran out

Only ``silent`` looks at all workers: any event costs as much with four thousand of them as with
four.
"""

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from math import inf


@dataclass
class Worker:
    """A worker that was spawned and is not known to be gone; ``assignment`` 0: idle."""

    number: int
    host: str = ""
    is_up: bool = False
    assignment: int = 0
    peak_rss_bytes: int = 0
    lease_ends_s: float = inf


@dataclass
class Crew:
    """Who is there, who is idle, and until when the others may be silent."""

    workers: dict[int, Worker] = field(default_factory=dict)
    hosts: Counter[str] = field(default_factory=Counter)  # workers that are up on each
    # idle workers of each host that has some, but for barred ones; the first has waited longest
    idle: OrderedDict[str, OrderedDict[int, Worker]] = field(default_factory=OrderedDict)
    _barred: set[str] = field(default_factory=set)

    def spawn(self, number: int, lease_ends_s: float) -> None:
        """Add a worker that has to come up before its lease ends."""
        self.workers[number] = Worker(number, lease_ends_s=lease_ends_s)

    def come_up(self, worker: Worker, host: str) -> None:
        """Note that a worker can take work; repetitions are ignored."""
        if not worker.is_up:
            worker.is_up = True
            worker.host = host
            self.hosts[host] += 1
            self.rest(worker)

    def start(self, worker: Worker, assignment: int, lease_ends_s: float) -> None:
        """Make an idle worker busy."""
        worker.assignment = assignment
        worker.lease_ends_s = lease_ends_s
        self._leave_idle(worker)

    def rest(self, worker: Worker) -> None:
        """Make a worker that is up idle."""
        worker.assignment = 0
        worker.lease_ends_s = inf
        if worker.host not in self._barred:
            self.idle.setdefault(worker.host, OrderedDict())[worker.number] = worker

    def remove(self, number: int) -> Worker:
        """Forget a worker and return it."""
        worker = self.workers.pop(number)
        self._leave_idle(worker)
        if worker.is_up:
            self.hosts[worker.host] -= 1
            if not self.hosts[worker.host]:
                del self.hosts[worker.host]
        return worker

    def bar(self, host: str) -> None:
        """Keep the workers of a host idle for good: nobody else is started in their place."""
        self._barred.add(host)
        self.idle.pop(host, None)

    @property
    def n_barred(self) -> int:
        """Workers that are up on hosts that are barred."""
        return sum(self.hosts[host] for host in self._barred)

    def n_busy(self, host: str) -> int:
        """Return the number of busy workers on a host that is not barred."""
        return self.hosts[host] - len(self.idle.get(host, ()))

    def silent(self, now_s: float) -> list[Worker]:
        """Return the workers whose leases have run out."""
        return [worker for worker in self.workers.values() if worker.lease_ends_s < now_s]

    def _leave_idle(self, worker: Worker) -> None:
        idle = self.idle.get(worker.host, OrderedDict())
        if idle.pop(worker.number, None) and not idle:
            del self.idle[worker.host]
