"""The scheduler: events in, instructions out; no clock, no randomness, no input or output of its
own.

    handle(event, now_s)
      Room, Tick        -> Spawn for empty slots; Tick: Retire for workers whose lease ran out
      WorkerUp          -> Assign
      Answer            -> Publish, or nothing when the unit has its verdict already; children of a
                           split are new units
      UnitFailed, WorkerDown, Returned with units missing -> the units go back, or Quarantine
      WorkerDown that never came up -> Bar, the third time on one machine
      nothing open      -> Finish

Promises, for any order, repetition or loss of events (tests/cluster/simulator.py):

- every unit gets exactly one accepted verdict or is quarantined, and the run then finishes;
- a unit is given out ``n_strikes + n_losses`` times at most, whatever is answered;
- a worker has at most one assignment;
- a driver that slept (SIGSTOP, a laptop lid), or is minutes behind, does not mistake its own
  silence for that of its workers: leases are looked at at a Tick, which follows all that was heard;
- running out of memory is never held against a unit that has not had a host to itself;
- with replicas (trust.py) a verdict that was contradicted is never published, nor anything else of
  a flagged host.

Nothing here looks at all workers or hosts when an event arrives, but for leases, now and then:
idle workers for which there was nothing a moment ago are not asked again one by one.
"""

from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter

import numpy as np

from orderly_boggle.boardclass.printable import counted
from orderly_boggle.cluster.scheduling import events
from orderly_boggle.cluster.scheduling.backlog import Backlog, Trouble, Work
from orderly_boggle.cluster.scheduling.crew import Crew
from orderly_boggle.cluster.scheduling.machines import N_TRIES, Machines
from orderly_boggle.cluster.scheduling.trust import Compare, Trust
from orderly_boggle.results.log_events import Report
from orderly_boggle.search.breaker import Unit

# ticks come twice a second, and even the highest load does not delay one by half a minute
_ASLEEP_S = 30.0  # after so long without any event, even a Tick, this process was not running
_LEASES_S = 10.0  # between two looks at the leases, if these are long
# with fewer units left for each slot, units split sooner: one that is expensive would else outlast
# all others
_FEW = 4
# between two spawns, when workers keep dying
_N_FREE_DEATHS = 2
_FIRST_WAIT_S = 0.25
_LONGEST_WAIT_S = 30.0


@dataclass
class _Assignment:
    """Units given to a worker; of the ``missing`` ones nothing has been heard yet.  It ends with
    its last unit.
    """

    number: int
    worker: int
    alone: bool
    lease_s: float
    is_replica: bool
    missing: set[Unit] = field(default_factory=set)


class Scheduler:
    """Decides which worker breaks which unit and when; see the module for what it promises.

    ``rng`` chooses the random sample that goes first, and the verdicts that get a replica.
    ``compare`` returns how a verdict and its replica differ.

    Attributes
    ----------
    trust : Trust
        Which hosts are believed, and the verdicts that wait for a replica.
    """

    def __init__(
        self, policy: events.Policy, work: Work, rng: np.random.Generator, compare: Compare
    ) -> None:
        self.policy = policy
        self.trust = Trust(policy, rng, compare)
        self._backlog = Backlog(work, rng, policy.sample)
        self._crew = Crew()
        self._machines = Machines()
        self._stranded_at_s: float | None = None  # since when no machine is left
        self._assignments: dict[int, _Assignment] = {}
        self._n_spawned = self._n_assigned = 0
        # workers there is room for: now, at most so far
        self._n_slots = policy.n_workers
        self._max_slots = 1
        self._max_batch = 1  # units that go into one assignment; it doubles with each that ends
        self._big_host: str | None = None  # the host that the big-memory lane empties
        self._alone = 0  # the last assignment there
        self._spawn_at_s = 0.0
        self._awake_at_s: float | None = None
        self._listened_s = 0.0  # the clock of leases: it stands still while this process sleeps
        self._leases_at_s = 0.0  # when they are looked at next
        self._n_split = self._n_duplicates = self._n_requeued = self._n_strikes = 0
        self._n_deaths = self._fruitless_deaths = 0  # workers lost: ever, since the last verdict
        self._finished = False
        self._out: list[events.Instruction] = []

    def handle(self, event: events.Event, now_s: float) -> list[events.Instruction]:
        """Return what to do about an event that arrived at ``now_s`` (any clock that does not run
        backwards).
        """
        # events of workers that are being ended still arrive
        if self._finished:
            return []
        self._out = []
        self._listen(now_s)
        match event:
            case events.Room(n_workers):
                self._n_slots = max(0, min(self.policy.n_workers, n_workers))
            case events.WorkerUp():
                self._worker_up(event, now_s)
            # a worker that was retired may be reported dead once more
            case events.WorkerDown() if event.worker in self._crew.workers:
                self._remove(event, now_s)
            case events.Unplaced() if event.worker in self._crew.workers:
                self._crew.remove(event.worker)
            case events.Answer():
                self._answer(event, now_s)
            case events.UnitFailed():
                reason: events.Death = "oom" if event.oom else "died"
                self._fail(event.unit, event.assignment, reason, event.message)
            case events.Returned():
                assignment = self._assignments.get(event.assignment)
                # numbers are never used twice, but a worker that was given up may still speak of
                # its old one
                if assignment is not None and assignment.worker == event.worker:
                    self._fail_all(assignment, "node", "the worker did not report on it")
            case events.Heartbeat():
                assignment = self._assignments.get(event.assignment)
                if assignment is not None and assignment.worker == event.worker:
                    worker = self._crew.workers[event.worker]
                    # silence counts from here; how long the unit takes in all does not matter
                    worker.lease_ends_s = self._listened_s + assignment.lease_s
            case events.Tick():
                self._end_leases(now_s)
                self._end_without_machines()
            case events.Cancel():
                self._finish(complete=False, message=event.message)
        if not self._finished:
            self._advance(now_s)
        return self._out

    def snapshot(self) -> Report:
        """Return how far the run is."""
        backlog = self._backlog
        forecast = self._backlog.forecast
        n_up = self._crew.hosts.total()
        # a guess from predictions alone would look like a promise: nothing is said before there are
        # verdicts
        remaining_s: float | None = None
        range_s: tuple[float, float] | None = None
        if forecast.is_measured:
            remaining_s = forecast.remaining_s()
            range_s = forecast.range_s()
        low_s, high_s = range_s or (None, None)
        n_workers = max(1, n_up)  # as status multiplies by those

        def each_s(all_s: float | None) -> float | None:
            if all_s is None:
                return None
            return all_s / n_workers

        n_in_flight = sum(len(assignment.missing) for assignment in self._assignments.values())
        return Report(
            n_classes_done=backlog.n_classes_done,
            n_open=backlog.n_open,
            n_in_flight=n_in_flight,
            n_split=self._n_split,
            n_quarantined=backlog.n_quarantined,
            n_duplicates=self._n_duplicates,
            n_requeued=self._n_requeued,
            n_deaths=self._n_deaths,
            n_workers=n_up,
            remaining_s=each_s(remaining_s),
            remaining_low_s=each_s(low_s),
            remaining_high_s=each_s(high_s),
            elsewhere_s=forecast.elsewhere_s(),
            n_agreed=self.trust.n_agreed,
            flagged=tuple(sorted(self.trust.flagged)),
            n_strikes=self._n_strikes,
        )

    # --- units

    def _answer(self, answer: events.Answer, now_s: float) -> None:
        """Publish a verdict, hold it back for its replica, or ignore it when the unit has one."""
        unit = answer.result.unit
        worker = self._crew.workers.get(answer.worker)
        if worker is not None:
            # memory that was used once is not given back: what counts is the largest ever
            worker.peak_rss_bytes = max(worker.peak_rss_bytes, answer.peak_rss_bytes)
        if answer.host in self.trust.flagged:  # what it was at work on was put back at once
            return
        # a unit that was believed lost came back twice, or a replica whose verdict is no longer
        # held
        is_replica_due = unit in self.trust.held
        if not self._backlog.is_open(unit) or is_replica_due != answer.is_replica:
            self._n_duplicates += 1
        else:
            # workers do their work, so the next spawn need not wait
            self._fruitless_deaths = 0
            self._spawn_at_s = now_s
            if answer.is_replica:
                self._judge(answer)
            # chosen after the fact: a host cannot tell which of its verdicts will be compared
            elif self.trust.wants(answer.result, answer.host, self._crew.hosts):
                self.trust.hold(answer)
            else:
                self._accept(answer)
        self._strike_off(unit, answer.assignment)

    def _accept(self, answer: events.Answer) -> None:
        # children become open before the verdict is published: a split never leaves a gap
        attempt = self._backlog.settle(answer.result, answer.cpu_s)
        self._n_split += bool(answer.result.children)
        self._out.append(events.Publish(answer, attempt))

    def _judge(self, replica: events.Answer) -> None:
        """Publish a verdict that its replica agrees with; otherwise believe neither of the two, nor
        anything else of their hosts.
        """
        original, difference, doubtful = self.trust.judge(replica)
        if not difference:
            self._accept(original)
            return
        unit = replica.result.unit
        trouble = self._backlog.quarantine(unit)
        self._out.append(events.Quarantine(unit, trouble.attempts + 1, difference, doubtful))
        # one of the two is wrong and nobody knows which: what waits from either host is searched
        # again
        for disowned in self.trust.disown():
            self._put_back(disowned, "node", "its host is no longer trusted")
        for host in doubtful:
            # its workers are kept, idle: a cluster would start new ones on the same machine
            self._crew.bar(host)
        for assignment in list(self._assignments.values()):
            if self._crew.workers[assignment.worker].host in doubtful:
                self._fail_all(assignment, "node", "its host is no longer trusted")

    def _strike_off(self, unit: Unit, number: int) -> None:
        """Take a unit off its assignment; a worker that has finished becomes idle, or is replaced
        if it has grown.
        """
        assignment = self._assignments.get(number)
        if assignment is None or unit not in assignment.missing:
            return
        assignment.missing.remove(unit)
        if assignment.missing:
            return
        # from here on a late answer on it is a duplicate
        del self._assignments[number]
        worker = self._crew.workers.get(assignment.worker)
        if worker is None:
            return
        self._crew.rest(worker)
        # the first assignments are small, so that the forecast learns what units cost
        self._max_batch = min(2 * self._max_batch, self.policy.max_batch)
        # memory that the C library keeps after a large class is not there for other workers
        if 0 < self.policy.recycle_bytes < worker.peak_rss_bytes:
            self._crew.remove(worker.number)
            self._out.append(
                events.Retire(worker.number, f"it grew to {worker.peak_rss_bytes} bytes")
            )

    def _fail(self, unit: Unit, number: int, reason: events.Death, message: str) -> None:
        """Put a unit of an assignment back, or quarantine it; do nothing if it is not in the
        assignment.
        """
        assignment = self._assignments.get(number)
        if assignment is None or unit not in assignment.missing:
            return
        if assignment.is_replica:
            let_go = self.trust.failed(unit)
            # the verdict is as good as without replicas; that none could be had is not its fault
            if let_go is not None:
                self._accept(let_go)
        elif self._backlog.is_open(unit) and unit not in self.trust.held:
            self._put_back(
                unit,
                # it had the machine to itself, so there is no more memory: a strike like any other
                "died" if reason == "oom" and assignment.alone else reason,
                message,
            )
        self._strike_off(unit, number)

    def _fail_all(self, assignment: _Assignment, reason: events.Death, message: str) -> None:
        # the order of a set is not the same in every process, and runs are to be repeatable
        for unit in sorted(assignment.missing, key=attrgetter("class_id", "path")):
            self._fail(unit, assignment.number, reason, message)

    def _put_back(self, unit: Unit, reason: events.Death, message: str) -> None:
        trouble = self._backlog.trouble.get(unit) or Trouble()
        # a machine that went, or a full memory, says nothing about the unit
        is_strike = reason in ("died", "unfit")
        trouble.attempts += 1
        trouble.big |= reason == "oom"
        # bounded, too: a unit that takes its machine down each time would go round for ever
        trouble.losses += reason == "node"
        trouble.strikes += is_strike
        self._n_strikes += is_strike
        if trouble.strikes >= self.policy.n_strikes or trouble.losses >= self.policy.n_losses:
            self._backlog.quarantine(unit)
            # the unit that killed workers is out of the way: the next ones may live
            self._fruitless_deaths = 0
            self._out.append(events.Quarantine(unit, trouble.attempts, message))
        else:
            self._backlog.put_back(unit, trouble)
            self._n_requeued += 1

    # --- workers come and go

    def _worker_up(self, event: events.WorkerUp, now_s: float) -> None:
        worker = self._crew.workers.get(event.worker)
        if worker is None:
            # the run went on without it, and its number may be counted as lost already
            self._out.append(events.Retire(event.worker, "not expected any more"))
        # other kernels may have other bugs: verdicts of a run come from one build
        elif self.policy.kernel_hash and event.kernel_hash != self.policy.kernel_hash:
            message = (
                f"its kernels {event.kernel_hash!r} differ from the driver's "
                f"{self.policy.kernel_hash!r}"
            )
            self._out.append(events.Retire(event.worker, message))
            down = events.WorkerDown(event.worker, "unfit", message, event.machine)
            self._remove(down, now_s)
        else:
            self._machines.worked(event.machine)
            self._crew.come_up(worker, event.host)

    def _remove(self, event: events.WorkerDown, now_s: float) -> None:
        """Forget a dead worker, put its units back, and give the run up when workers keep dying."""
        assignment = self._assignments.get(self._crew.remove(event.worker).assignment)
        message = event.message or f"the worker was lost ({event.reason})"
        if assignment is not None:
            # in a batch nobody knows which unit was at fault: each goes out again, alone
            if len(assignment.missing) == 1:
                reason = event.reason
            else:
                reason = "node"
            self._fail_all(assignment, reason, message)
        self._n_deaths += 1
        self._fruitless_deaths += 1
        # a few deaths in a row are chance; more are a fault, and starting at once would only spin
        if self._fruitless_deaths > _N_FREE_DEATHS:
            doublings = self._fruitless_deaths - _N_FREE_DEATHS - 1
            self._spawn_at_s = now_s + min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0**doublings)
        if event.reason == "unfit" and self._machines.failed(event.machine, message):
            self._out.append(events.Bar(event.machine, message))
            # other machines need not wait because of this one
            self._fruitless_deaths = max(0, self._fruitless_deaths - N_TRIES)
            self._spawn_at_s = now_s
        # in proportion to the workers: a rack that loses power takes many at once
        limit = self.policy.max_deaths * self._max_slots
        if self._fruitless_deaths >= limit:
            message = f"{limit} workers in a row died without a verdict; the last: {message}"
            self._finish(complete=False, message=message, gave_up=True)

    def _listen(self, now_s: float) -> None:
        """Let the clock of leases run, but not while this process did not listen, or was stopped
        together with its workers.
        """
        if self._awake_at_s is None:
            passed_s = 0.0
        else:
            passed_s = now_s - self._awake_at_s
        self._awake_at_s = now_s
        self._listened_s += passed_s if passed_s <= _ASLEEP_S else 0.0

    def _end_leases(self, now_s: float) -> None:
        """Give up workers that have something to do and were silent for too long."""
        # looking at every worker with each event would cost more than the events
        if self._listened_s < self._leases_at_s:
            return
        self._leases_at_s = self._listened_s + min(_LEASES_S, self.policy.lease_s / 60)
        for worker in self._crew.silent(self._listened_s):
            self._out.append(events.Retire(worker.number, "silent for too long"))
            reason: events.Death = "died" if worker.is_up else "unfit"
            self._remove(events.WorkerDown(worker.number, reason, "silent for too long"), now_s)
            if self._finished:
                return

    def _end_without_machines(self) -> None:
        """Give the run up when every machine has been barred for a while."""
        if self._finished:
            return
        is_stranded = self._machines.barred and not self._n_slots and not self._crew.workers
        # a machine that is merely slow to come must not end the run
        if not is_stranded:
            self._stranded_at_s = None
        elif self._stranded_at_s is None:
            self._stranded_at_s = self._listened_s
        elif self._listened_s - self._stranded_at_s >= self.policy.no_machine_s:
            message = f"no machine is left that can work: {self._machines.describe()}"
            self._finish(complete=False, message=message, gave_up=True)

    # --- what next

    def _advance(self, now_s: float) -> None:
        n_open = self._backlog.n_open
        crew = self._crew
        if n_open == 0:
            n_given_up = self._backlog.n_quarantined
            message = ""
            if n_given_up:
                message = counted(n_given_up, "unit was given up", "units were given up")
            self._finish(complete=n_given_up == 0, message=message + self._flags())
            return
        # Workers of flagged hosts stay idle: they keep a cluster from starting others there.
        n_barred = crew.n_barred
        self._max_slots = max(self._max_slots, self._n_slots)
        # no more workers than units, besides those that must not work
        n_wanted = min(self._n_slots, n_open + n_barred)
        if n_barred >= max(n_wanted, 1):
            self._finish(complete=False, message="no host is left to trust" + self._flags())
            return
        while len(crew.workers) < n_wanted and now_s >= self._spawn_at_s:
            self._n_spawned += 1
            crew.spawn(self._n_spawned, self._listened_s + self.policy.spawn_s)
            self._out.append(events.Spawn(self._n_spawned))
        # a unit that needs a whole machine goes first: that machine has to become empty for it
        self._choose_big_host()
        while crew.idle and self._give():
            pass

    def _choose_big_host(self) -> None:
        """Choose the host that the big-memory lane empties, or give it back."""
        if not self._backlog.has_big and self._alone not in self._assignments:
            self._big_host = None
        elif self._big_host not in self._crew.hosts or self._big_host in self.trust.flagged:
            # the one with the least to do is empty first; the name decides between equals, for
            # replays
            hosts = self._crew.hosts.keys() - self.trust.flagged
            self._big_host = min(hosts, key=self._busy_and_name, default=None)

    def _busy_and_name(self, host: str) -> tuple[int, str]:
        return self._crew.n_busy(host), host

    def _give(self) -> bool:
        """Give an idle worker something to do; return whether there was anything for any of them.

        A replica is for another host than its verdict's: of two hosts with idle workers one is
        another, so no more are asked.
        """
        big = self._big_host
        backlog = self._backlog
        crew = self._crew
        is_empty = big is not None and big in crew.idle and crew.n_busy(big) == 0
        # nobody else may take memory there meanwhile
        if big is not None and is_empty and backlog.has_big:
            self._assign(big, (backlog.take_big(),), alone=True)
            return True
        # one of three may be the one that is being emptied
        idle = [host for host in islice(crew.idle, 3) if host != big][:2]
        for host in idle:
            if check := self.trust.take(host, crew.hosts):
                self._assign(host, (check[0],), replica=check[1])
                return True
        if not idle:
            return False
        n_workers = len(crew.workers)
        # with many workers units go out in larger batches, or the driver could not keep up
        batch_s = max(self.policy.batch_s, n_workers / self.policy.calls_per_s)
        units = backlog.take(batch_s, n_workers, self._max_batch)
        if units:
            self._assign(idle[0], units)
        return bool(units)

    def _assign(
        self,
        host: str,
        units: tuple[Unit, ...],
        *,
        alone: bool = False,
        replica: events.Replica | None = None,
    ) -> None:
        """Give units to the worker of a host that has been idle for longest."""
        worker = next(iter(self._crew.idle[host].values()))
        predicted_s = sum(map(self._backlog.predicted_s, units))
        # a fixed patience would end long units, a proportional one would never notice short ones
        lease_s = self.policy.lease_s + self.policy.lease_factor * predicted_s
        self._n_assigned = number = self._n_assigned + 1
        self._assignments[number] = _Assignment(
            number, worker.number, alone, lease_s, replica is not None, set(units)
        )
        if alone:
            self._alone = number
        self._crew.start(worker, number, self._listened_s + lease_s)
        # towards the end workers are idle until a unit splits, so it should split early
        hurry = self._backlog.n_open - len(self._assignments) < _FEW * self._n_slots
        split_at = self._backlog.split_at(units[0])
        order = events.Assign(worker.number, number, units, alone, replica, hurry, split_at)
        self._out.append(order)

    def _flags(self) -> str:
        hosts = ", ".join(map(repr, sorted(self.trust.flagged)))
        if hosts:
            return (
                f"; verdicts of {hosts} were contradicted by replicas: "
                "run again to check all of theirs"
            )
        return ""

    def _finish(self, *, complete: bool, message: str, gave_up: bool = False) -> None:
        self._finished = True
        self._out.extend(events.Retire(number, "the run is over") for number in self._crew.workers)
        self._out.append(events.Finish(complete, message, gave_up))
