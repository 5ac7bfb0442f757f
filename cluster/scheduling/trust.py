"""Which hosts to believe: a host's verdicts wait until a replica agrees, at first all of them,
later a sample.

    wants -> hold -> take (a replica for a worker of another host)
          -> judge: they agree, or both are quarantined
          -> failed: tried again, then let go unchecked

A host is trusted after it took part in ``trust_after`` replicas that agree, whether it gave the
verdict or the replica. A host that took part in a difference is flagged, and its verdicts do not
count, unless it is trusted and the other is not.  Where all workers are on one host, no other can
vouch for it, so it checks the sample itself.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from orderly_boggle.cluster.scheduling.events import Answer, Policy, Replica
from orderly_boggle.search.breaker import Unit, UnitResult

MAX_TRIES = 3
Compare = Callable[[UnitResult, UnitResult], str]


@dataclass
class Trust:
    """The bookkeeping; decides who is believed, never who works."""

    policy: Policy
    rng: np.random.Generator  # draws the sample and the seeds of replicas
    compare: Compare  # returns how an answer and its replica differ
    held: dict[Unit, Answer] = field(default_factory=dict)  # verdicts that wait for their replica
    flagged: set[str] = field(default_factory=set)  # hosts that are not to be believed
    n_agreed: int = 0  # replicas
    _matches: Counter[str] = field(default_factory=Counter)
    # units whose replica nobody runs, by the host of the verdict; the first has waited longest
    _waiting: OrderedDict[str, OrderedDict[Unit, None]] = field(default_factory=OrderedDict)
    _tries: Counter[Unit] = field(default_factory=Counter)

    def is_trusted(self, host: str) -> bool:
        """Return whether a host has agreed often enough with others."""
        return self._matches[host] >= self.policy.trust_after and host not in self.flagged

    def wants(self, result: UnitResult, host: str, hosts: Collection[str]) -> bool:
        """Return whether a verdict should be held back for a replica; ``hosts`` are those with
        workers.
        """
        # a unit that only split settled nothing that could be compared
        if self.policy.replicate <= 0 or (result.children and not result.settled):
            return False
        # a new machine is checked at once: a broken one is found before it has done much
        if self._has_other(host, hosts) and not self.is_trusted(host):
            return True
        return bool(self.rng.random() < self.policy.replicate)

    def hold(self, answer: Answer) -> None:
        """Keep a verdict until its replica is there."""
        self.held[answer.result.unit] = answer
        self._queue(answer)

    def take(self, host: str, hosts: Collection[str]) -> tuple[Unit, Replica] | None:
        """Return the next replica that a worker of ``host`` may run: of another host's verdict, if
        there is another.
        """
        for source in islice(self._waiting, 2):  # at least one of two is another host
            if source == host and self._has_other(host, hosts):
                continue
            unit = next(iter(self._waiting[source]))
            # hosts take turns: one that is fast must not keep the replicas of others waiting
            self._waiting.move_to_end(source)
            self._unqueue(unit, source)
            result = self.held[unit].result
            if result.children:
                paths = result.settled
            else:
                paths = (unit.path,)
            return unit, Replica(paths, int(self.rng.integers(2**31)))
        return None

    def failed(self, unit: Unit) -> Answer | None:
        """Note that a replica failed; return the verdict when it is let go without one."""
        answer = self.held.get(unit)
        if answer is None:
            return None
        self._tries[unit] += 1
        # a unit that takes all memory fails as a replica, too; the run must end some day
        if self._tries[unit] < MAX_TRIES:
            self._queue(answer)
            return None
        return self._release(unit)

    def judge(self, replica: Answer) -> tuple[Answer, str, tuple[str, ...]]:
        """Compare a replica with the verdict that is held.

        Return that verdict, how they differ (empty: they agree), and the hosts not to be believed
        because of it.
        """
        original = self._release(replica.result.unit)
        difference = self.compare(original.result, replica.result)
        pair = {original.host, replica.host}
        if not difference:
            self.n_agreed += 1
            # a host that agrees with itself has shown nothing
            self._matches.update(pair if len(pair) > 1 else ())
            return original, "", ()
        # a host that has agreed with many is believed against one that has not; between equals
        # neither is
        doubtful = {host for host in pair if not self.is_trusted(host)} or pair
        self.flagged |= doubtful
        hosts = tuple(sorted(doubtful))
        text = (
            f"hosts {original.host!r} and {replica.host!r} give different verdicts: {difference}; "
            f"no longer trusted: {', '.join(map(repr, hosts))}"
        )
        return original, text, hosts

    def disown(self) -> list[Unit]:
        """Return the units whose held verdicts came from flagged hosts; they are open again."""
        # verdicts that were published stay: the next call searches them again (Run.doubted)
        units = []
        for unit, answer in self.held.items():
            if answer.host in self.flagged:
                units.append(unit)
        for unit in units:
            self._release(unit)
        return units

    def _has_other(self, host: str, hosts: Collection[str]) -> bool:
        """Return whether another host with workers is believed."""
        # counted, not listed: a cluster has thousands of hosts, and this is asked with each verdict
        n_others = len(hosts) - (host in hosts)
        return n_others > sum(other in hosts for other in self.flagged if other != host)

    def _queue(self, answer: Answer) -> None:
        self._waiting.setdefault(answer.host, OrderedDict())[answer.result.unit] = None

    def _unqueue(self, unit: Unit, host: str) -> None:
        units = self._waiting.get(host, OrderedDict())
        if unit in units:
            del units[unit]
            if not units:
                del self._waiting[host]

    def _release(self, unit: Unit) -> Answer:
        self._tries.pop(unit, None)
        answer = self.held.pop(unit)
        self._unqueue(unit, answer.host)
        return answer
