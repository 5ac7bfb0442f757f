"""The scheduler: events in, instructions out; no clock, no randomness, no input or output of its own.

    handle(event, now_s)
      Start, Room, Tick -> Spawn for empty slots, Retire for workers whose lease ran out
      WorkerUp          -> Assign
      Answer            -> Publish, or nothing when the unit has its verdict already; children of a split are new units
      UnitFailed, WorkerDown, Returned with units missing -> the units go back, or Quarantine
      nothing open      -> Finish

Promises, for any order, repetition or loss of events (tests/cluster/simulator.py):

- every unit gets exactly one accepted verdict or is quarantined, and the run then finishes;
- a worker has at most one assignment;
- a driver that slept (SIGSTOP, a laptop lid) does not take its own silence for that of its workers;
- running out of memory is never held against a unit before it had a host to itself;
- with replicas (trust.py) a verdict that was contradicted is never published, nor anything else of a flagged host.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from boardclass.parts import is_below
from cluster.scheduling.backlog import Backlog, Trouble
from cluster.scheduling.events import (
    Answer,
    Assign,
    Cancel,
    Death,
    Event,
    Finish,
    Heartbeat,
    Instruction,
    Publish,
    Quarantine,
    Replica,
    Retire,
    Returned,
    Room,
    Spawn,
    UnitFailed,
    WorkerDown,
    WorkerUp,
)
from cluster.scheduling.figures import Report
from cluster.scheduling.policy import Policy
from cluster.scheduling.trust import Compare, Trust

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from search.breaker import Unit, UnitResult

_ASLEEP_S = 30.0  # without any event, not even a Tick: this process was not running
_ENDGAME = 0.5  # at most this part of a worker's share of what is left goes into one batch


class _Blame(Enum):
    """What a failure says about the unit."""

    strike = "perhaps its own fault"
    loss = "not its fault, or not surely"
    memory = "it needs more memory"


_OF_DEATH = {Death.died: _Blame.strike, Death.unfit: _Blame.strike, Death.oom: _Blame.memory, Death.node: _Blame.loss}


@dataclass(slots=True)
class _Worker:
    host: str = ""
    is_up: bool = False
    lease_ends_s: float = 0.0
    assignment: int = 0  # 0: idle
    peak_rss_bytes: int = 0


@dataclass(slots=True)
class _Assignment:
    worker: int
    alone: bool
    lease_s: float
    is_replica: bool
    missing: set[Unit] = field(default_factory=set)


class Scheduler:
    """Decides who breaks which unit when; see the module for what it promises.

    Parameters
    ----------
    policy : Policy
    class_ids, costs : int64[n], float64[n]
        Classes whose root has no verdict, ascending, with predicted costs in any unit.
    rng : numpy.random.Generator
        Chooses the random sample that goes first, and the verdicts that get a replica.
    children : iterable of Unit
        Units below roots of earlier runs that still need a verdict.
    compare : callable, optional
        Says in what a verdict and its replica differ; by default sizes and candidates as they are.
    known : collection of Unit
        Units below roots that have a verdict, though the unit that they were split from has lost its own.
    """

    def __init__(
        self,
        policy: Policy,
        class_ids: npt.NDArray[np.int64],
        costs: npt.NDArray[np.float64],
        rng: np.random.Generator,
        children: Iterable[Unit] = (),
        compare: Compare | None = None,
        known: Collection[Unit] = (),
    ) -> None:
        self.policy = policy
        self._trust = Trust(policy, rng, compare or _difference)
        self._backlog = Backlog(class_ids, costs, children, rng, policy.sample, known)
        self._workers: dict[int, _Worker] = {}
        self._assignments: dict[int, _Assignment] = {}
        self._n_spawned = 0
        self._n_assigned = 0
        self._max_batch = 1
        self._big_host: str | None = None
        self._n_slots = policy.n_workers
        self._most_slots = 1
        self._fruitless_deaths = 0
        self._spawn_at_s = 0.0
        self._awake_at_s: float | None = None
        self._finished = False
        self._n_split = self._n_duplicates = self._n_requeued = self._n_deaths = self._n_strikes = 0

    @property
    def finished(self) -> bool:
        """Whether Finish was given out; events are ignored from then on."""
        return self._finished

    def handle(self, event: Event, now_s: float) -> list[Instruction]:
        """Return what to do about an event that arrived at ``now_s`` (any clock that does not run backwards)."""
        if self._finished:
            return []
        out: list[Instruction] = []
        self._wake(now_s)
        match event:
            case Room(n_workers):
                self._n_slots = max(0, min(self.policy.n_workers, n_workers))
            case WorkerUp():
                self._worker_up(event, now_s, out)
            case WorkerDown():
                self._worker_down(event, now_s, out)
            case Answer():
                self._answer(event, now_s, out)
            case UnitFailed():
                self._unit_failed(event, out)
            case Returned():
                self._returned(event, out)
            case Heartbeat():
                self._heartbeat(event, now_s)
            case Cancel():
                self._finish(complete=False, message=event.message, out=out)
        if not self._finished:
            self._end_leases(now_s, out)
            self._advance(now_s, out)
        return out

    def snapshot(self) -> Report:
        """Return how far the run is."""
        backlog = self._backlog
        return Report(
            n_classes=backlog.n_classes,
            n_classes_done=backlog.n_classes_done,
            n_open=backlog.n_open,
            n_in_flight=sum(len(assignment.missing) for assignment in self._assignments.values()),
            n_split=self._n_split,
            n_quarantined=backlog.n_quarantined,
            n_duplicates=self._n_duplicates,
            n_requeued=self._n_requeued,
            n_deaths=self._n_deaths,
            n_workers=sum(worker.is_up for worker in self._workers.values()),
            remaining_s=backlog.remaining_s() / max(1, len(self._workers)),
            n_agreed=self._trust.n_agreed,
            flagged=tuple(sorted(self._trust.flagged)),
            n_strikes=self._n_strikes,
        )

    def _wake(self, now_s: float) -> None:
        """Do not hold it against workers that nobody listened to them, or that they were stopped with this process."""
        asleep_s = 0.0 if self._awake_at_s is None else now_s - self._awake_at_s
        self._awake_at_s = now_s
        if asleep_s > _ASLEEP_S:
            for worker in self._workers.values():
                worker.lease_ends_s += asleep_s

    # --- events

    def _worker_up(self, event: WorkerUp, now_s: float, out: list[Instruction]) -> None:
        worker = self._workers.get(event.worker)
        if worker is None:
            out.append(Retire(event.worker, "not expected any more"))
        elif self.policy.kernel_hash and event.kernel_hash != self.policy.kernel_hash:
            message = f"its kernels {event.kernel_hash!r} differ from the driver's {self.policy.kernel_hash!r}"
            out.append(Retire(event.worker, message))
            self._bury(event.worker, WorkerDown(event.worker, Death.unfit, message), now_s, out)
        else:
            worker.is_up, worker.host = True, event.host

    def _worker_down(self, event: WorkerDown, now_s: float, out: list[Instruction]) -> None:
        if event.worker in self._workers:
            self._bury(event.worker, event, now_s, out)

    def _answer(self, answer: Answer, now_s: float, out: list[Instruction]) -> None:
        unit = answer.result.unit
        worker = self._workers.get(answer.worker)
        if worker is not None:
            worker.peak_rss_bytes = max(worker.peak_rss_bytes, answer.peak_rss_bytes)
        if answer.host in self._trust.flagged:
            self._fail(unit, answer.assignment, _Blame.loss, "its host is not believed any more", out)
            return
        if not self._backlog.is_open(unit) or (unit in self._trust.held) != answer.is_replica:
            self._n_duplicates += 1
        elif problem := self._problem(answer.result):
            self._fail(unit, answer.assignment, _Blame.strike, problem, out)
            return
        else:
            self._fruitless_deaths, self._spawn_at_s = 0, now_s
            if answer.is_replica:
                self._judge(answer, out)
            elif self._trust.wants(answer.result, answer.host, self._hosts()):
                self._trust.hold(answer)
            else:
                self._accept(answer, out)
        self._strike_off(unit, answer.assignment, out)

    def _accept(self, answer: Answer, out: list[Instruction]) -> None:
        result = answer.result
        attempt = self._backlog.settle(result.unit, result.children, result.seconds)
        self._n_split += bool(result.children)
        out.append(Publish(answer, attempt))

    def _judge(self, replica: Answer, out: list[Instruction]) -> None:
        """Publish a verdict that its replica agrees with; otherwise believe neither, and nothing else of the host."""
        judgement = self._trust.judge(replica)
        if not judgement.difference:
            self._accept(judgement.original, out)
            return
        unit = replica.result.unit
        trouble = self._backlog.quarantine(unit)
        out.append(Quarantine(unit, trouble.attempts + 1, judgement.difference, judgement.flagged))
        for disowned in self._trust.disown():
            self._put_back(disowned, _Blame.loss, "its host is not believed any more", out)
        for worker in list(self._workers.values()):
            assignment = self._assignments.get(worker.assignment)
            if worker.host in self._trust.flagged and assignment is not None:
                for missing in sorted(assignment.missing, key=_key):
                    self._fail(missing, worker.assignment, _Blame.loss, "its host is not believed any more", out)

    def _hosts(self) -> set[str]:
        return {worker.host for worker in self._workers.values() if worker.is_up}

    def _unit_failed(self, event: UnitFailed, out: list[Instruction]) -> None:
        blame = _Blame.memory if event.oom else _Blame.strike
        self._fail(event.unit, event.assignment, blame, event.message, out)

    def _returned(self, event: Returned, out: list[Instruction]) -> None:
        assignment = self._assignments.get(event.assignment)
        if assignment is not None and assignment.worker == event.worker:
            for unit in sorted(assignment.missing, key=_key):
                self._fail(unit, event.assignment, _Blame.loss, "the worker said nothing about it", out)

    def _heartbeat(self, event: Heartbeat, now_s: float) -> None:
        assignment = self._assignments.get(event.assignment)
        if assignment is not None and assignment.worker == event.worker:
            self._workers[event.worker].lease_ends_s = now_s + assignment.lease_s

    # --- units

    def _problem(self, result: UnitResult) -> str:
        """Return what is wrong with the children of a verdict; the rest of its contents is the store's business."""
        unit, children = result.unit, result.children
        if (result.status == "split") != bool(children):
            return f"status {result.status!r} with {len(children)} children"
        for child in children:
            if child.class_id != unit.class_id or not is_below(child.path, unit.path):
                return f"{child!r} is no child of {unit!r}"
        return "a child is listed twice" if len(set(children)) < len(children) else ""

    def _strike_off(self, unit: Unit, number: int, out: list[Instruction]) -> None:
        """Take a unit that is settled off the assignment it came from."""
        assignment = self._assignments.get(number)
        if assignment is not None and unit in assignment.missing:
            assignment.missing.remove(unit)
            if not assignment.missing:
                self._close(number, out)

    def _fail(self, unit: Unit, number: int, blame: _Blame, message: str, out: list[Instruction]) -> None:
        """Put a unit of an assignment back, or quarantine it; nothing happens when it is not there any more."""
        assignment = self._assignments.get(number)
        if assignment is None or unit not in assignment.missing:
            return
        if assignment.is_replica:
            let_go = self._trust.failed(unit)
            if let_go is not None:
                self._accept(let_go, out)
        elif self._backlog.is_open(unit) and unit not in self._trust.held:
            if blame is _Blame.memory and assignment.alone:
                self._put_back(unit, _Blame.strike, message, out)
            else:
                self._put_back(unit, blame, message, out)
        self._strike_off(unit, number, out)

    def _put_back(self, unit: Unit, blame: _Blame, message: str, out: list[Instruction]) -> None:
        trouble = self._backlog.trouble.get(unit) or Trouble()
        trouble.attempts += 1
        trouble.message = message
        trouble.big |= blame is _Blame.memory
        trouble.losses += blame is _Blame.loss
        trouble.strikes += blame is _Blame.strike
        self._n_strikes += blame is _Blame.strike
        if trouble.strikes >= self.policy.n_strikes or trouble.losses >= self.policy.n_losses:
            self._backlog.quarantine(unit)
            self._fruitless_deaths = 0
            out.append(Quarantine(unit, trouble.attempts, message))
        else:
            self._backlog.put_back(unit, trouble)
            self._n_requeued += 1

    # --- workers

    def _close(self, number: int, out: list[Instruction]) -> None:
        """End an assignment whose units are all accounted for; its worker is free, or replaced if it has grown."""
        assignment = self._assignments.pop(number, None)
        worker = self._workers.get(assignment.worker) if assignment else None
        if assignment is None or worker is None:
            return
        self._max_batch = min(2 * self._max_batch, self.policy.max_batch)
        worker.assignment = 0
        if 0 < self.policy.recycle_bytes < worker.peak_rss_bytes:
            del self._workers[assignment.worker]
            out.append(Retire(assignment.worker, f"it grew to {worker.peak_rss_bytes} bytes"))

    def _bury(self, name: int, event: WorkerDown, now_s: float, out: list[Instruction]) -> None:
        """Forget a dead worker, put its units back and delay the next spawn when workers keep dying."""
        number = self._workers.pop(name).assignment
        message = event.message or f"the worker was lost ({event.reason})"
        assignment = self._assignments.get(number)
        if assignment is not None:
            # in a batch nobody knows which unit did it: each goes out again, alone
            blame = _OF_DEATH[event.reason] if len(assignment.missing) == 1 else _Blame.loss
            for unit in sorted(assignment.missing, key=_key):
                self._fail(unit, number, blame, message, out)
        self._n_deaths += 1
        self._fruitless_deaths += 1
        limit = self.policy.max_deaths * self._most_slots
        if self._fruitless_deaths >= limit:
            message = f"{limit} workers died without one verdict in between; the last: {message}"
            self._finish(complete=False, message=message, out=out)
        elif self._fruitless_deaths > 2:
            self._spawn_at_s = now_s + min(30.0, 0.25 * 2.0 ** (self._fruitless_deaths - 3))

    def _end_leases(self, now_s: float, out: list[Instruction]) -> None:
        for name, worker in list(self._workers.items()):
            busy = worker.assignment != 0 or not worker.is_up
            if busy and now_s > worker.lease_ends_s and not self._finished:
                out.append(Retire(name, "silent for too long"))
                reason = Death.died if worker.is_up else Death.unfit
                self._bury(name, WorkerDown(name, reason, "silent for too long"), now_s, out)

    # --- what next

    def _advance(self, now_s: float, out: list[Instruction]) -> None:
        """Spawn into empty slots, give work to idle workers, or finish."""
        if self._finished:
            return
        if self._backlog.n_open == 0:
            n_given_up = self._backlog.n_quarantined
            message = f"{n_given_up} units were given up" if n_given_up else ""
            self._finish(complete=n_given_up == 0, message=message + self._flags(), out=out)
            return
        self._most_slots = max(self._most_slots, self._n_slots)
        # Workers of flagged hosts stay, idle: they keep Ray from starting others there.
        n_idle = sum(worker.is_up and worker.host in self._trust.flagged for worker in self._workers.values())
        n_wanted = min(self._n_slots, max(1, self._backlog.n_open) + n_idle)
        if n_idle >= max(n_wanted, 1):
            self._finish(complete=False, message="no host is left to believe" + self._flags(), out=out)
            return
        while len(self._workers) < n_wanted and now_s >= self._spawn_at_s:
            self._n_spawned += 1
            self._workers[self._n_spawned] = _Worker(lease_ends_s=now_s + self.policy.spawn_s)
            out.append(Spawn(self._n_spawned))
        self._drain_for_big()
        for name, worker in self._workers.items():
            if worker.is_up and worker.assignment == 0 and worker.host not in self._trust.flagged:
                self._give(name, worker, now_s, out)

    def _drain_for_big(self) -> None:
        """Choose the host that the big-memory lane empties, or give it back."""
        hosts = self._hosts() - self._trust.flagged
        is_running = any(assignment.alone for assignment in self._assignments.values())
        if not self._backlog.has_big and not is_running:
            self._big_host = None
        elif self._big_host not in hosts:
            busy = {host: sum(w.host == host and w.assignment != 0 for w in self._workers.values()) for host in hosts}
            self._big_host = min(busy, key=lambda host: (busy[host], host), default=None)

    def _give(self, name: int, worker: _Worker, now_s: float, out: list[Instruction]) -> None:
        units: tuple[Unit, ...]
        replica: Replica | None = None
        alone = worker.host == self._big_host
        if alone:
            others_busy = any(w.host == worker.host and w.assignment for w in self._workers.values())
            units = () if others_busy or not self._backlog.has_big else (self._backlog.take_big(),)
        elif check := self._trust.take(worker.host, self._hosts()):
            units, replica = (check[0],), check[1]
        else:
            share_s = _ENDGAME * self._backlog.remaining_s() / len(self._workers)
            units = self._backlog.take(min(self.policy.batch_s, share_s), self._max_batch)
        if units:
            self._n_assigned += 1
            predicted_s = sum(map(self._backlog.predicted_s, units))
            lease_s = self.policy.lease_s + self.policy.lease_factor * predicted_s
            self._assignments[self._n_assigned] = _Assignment(name, alone, lease_s, replica is not None, set(units))
            worker.assignment, worker.lease_ends_s = self._n_assigned, now_s + lease_s
            out.append(Assign(name, self._n_assigned, units, alone, replica))

    def _flags(self) -> str:
        hosts = ", ".join(map(repr, sorted(self._trust.flagged)))
        return f"; verdicts of {hosts} were contradicted by replicas: run again to check all of theirs" if hosts else ""

    def _finish(self, *, complete: bool, message: str, out: list[Instruction]) -> None:
        self._finished = True
        out.extend(Retire(name, "the run is over") for name in self._workers)
        out.append(Finish(complete, message))


def _difference(original: UnitResult, replica: UnitResult) -> str:
    """Return in what two verdicts differ, for breakers that answer alike however they search."""
    first, second = ((result.n_boards, sorted(result.candidates)) for result in (original, replica))
    return "" if first == second else f"{first} and {second}"


def _key(unit: Unit) -> tuple[int, str]:
    return unit.class_id, unit.path
