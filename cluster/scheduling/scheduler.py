"""The scheduler: events in, instructions out; no clock, no randomness, no input or output of its own.

    handle(event, now_s)
      Room, Tick       -> Spawn for empty slots, Retire for workers whose lease ran out
      WorkerUp          -> Assign
      Answer            -> Publish, or nothing when the unit has its verdict already; children of a split are new units
      UnitFailed, WorkerDown, Returned with units missing -> the units go back, or Quarantine
      nothing open      -> Finish

Promises, for any order, repetition or loss of events (tests/cluster/simulator.py):

- every unit gets exactly one accepted verdict or is quarantined, and the run then finishes;
- a worker has at most one assignment;
- a driver that slept (SIGSTOP, a laptop lid) does not mistake its own silence for that of its workers;
- running out of memory is never held against a unit that has not had a host to itself;
- with replicas (trust.py) a verdict that was contradicted is never published, nor anything else of a flagged host.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from boardclass.parts import is_below
from boardclass.printable import counted
from cluster.scheduling.backlog import Backlog, Trouble, Work
from cluster.scheduling.crew import Crew, Worker
from cluster.scheduling.events import (
    Answer,
    Assign,
    Cancel,
    Death,
    Event,
    Finish,
    Heartbeat,
    Instruction,
    Policy,
    Publish,
    Quarantine,
    Replica,
    Report,
    Retire,
    Returned,
    Room,
    Spawn,
    UnitFailed,
    WorkerDown,
    WorkerUp,
)
from cluster.scheduling.trust import Compare, Trust, difference

if TYPE_CHECKING:
    from search.breaker import Unit, UnitResult

_ENDGAME = 0.5  # at most this part of a worker's share of what is left goes into one batch


class Blame(Enum):
    """What a failure says about the unit."""

    strike = "perhaps its own fault"
    loss = "not its fault, or not surely"
    memory = "it needs more memory"


_OF_DEATH = {Death.died: Blame.strike, Death.unfit: Blame.strike, Death.oom: Blame.memory, Death.node: Blame.loss}


class Scheduler:
    """Decides which worker breaks which unit and when; see the module for what it promises.

    ``rng`` chooses the random sample that goes first, and the verdicts that get a replica.  ``compare`` returns how a
    verdict and its replica differ; by default it compares sizes and candidates as they are.
    """

    def __init__(self, policy: Policy, work: Work, rng: np.random.Generator, compare: Compare = difference) -> None:
        self.policy = policy
        self._trust = Trust(policy, rng, compare)
        self._backlog = Backlog(work, rng, policy.sample)
        self._crew = Crew(policy)
        self._n_split = self._n_duplicates = self._n_requeued = self._n_strikes = 0
        self._finished = False

    def handle(self, event: Event, now_s: float) -> list[Instruction]:
        """Return what to do about an event that arrived at ``now_s`` (any clock that does not run backwards)."""
        if self._finished:
            return []
        out: list[Instruction] = []
        self._crew.resume(now_s)
        match event:
            case Room(n_workers):
                self._crew.make_room(n_workers)
            case WorkerUp():
                self._worker_up(event, now_s, out)
            case WorkerDown() if event.worker in self._crew.workers:
                self._remove(event, now_s, out)
            case Answer():
                self._answer(event, now_s, out)
            case UnitFailed():
                blame = Blame.memory if event.oom else Blame.strike
                self._fail(event.unit, event.assignment, blame, event.message, out)
            case Returned():
                self._returned(event, out)
            case Heartbeat():
                self._crew.extend(event.worker, event.assignment, now_s)
            case Cancel():
                self._finish(complete=False, message=event.message, out=out)
        if not self._finished:
            self._end_leases(now_s, out)
            self._advance(now_s, out)
        return out

    def snapshot(self) -> Report:
        """Return how far the run is."""
        backlog, n_workers = self._backlog, max(1, self._crew.n_up)  # as status multiplies by those that are up
        low_s, high_s = backlog.range_s() or (None, None) if backlog.is_measured else (None, None)
        return Report(
            n_classes=backlog.n_classes,
            n_classes_done=backlog.n_classes_done,
            n_open=backlog.n_open,
            n_in_flight=self._crew.n_in_flight,
            n_split=self._n_split,
            n_quarantined=backlog.n_quarantined,
            n_duplicates=self._n_duplicates,
            n_requeued=self._n_requeued,
            n_deaths=self._crew.n_deaths,
            n_workers=self._crew.n_up,
            remaining_s=backlog.remaining_s() / n_workers if backlog.is_measured else None,
            remaining_low_s=None if low_s is None else low_s / n_workers,
            remaining_high_s=None if high_s is None else high_s / n_workers,
            elsewhere_s=backlog.elsewhere_s,
            n_agreed=self._trust.n_agreed,
            flagged=tuple(sorted(self._trust.flagged)),
            n_strikes=self._n_strikes,
        )

    # --- events

    def _worker_up(self, event: WorkerUp, now_s: float, out: list[Instruction]) -> None:
        worker = self._crew.workers.get(event.worker)
        if worker is None:
            out.append(Retire(event.worker, "not expected any more"))
        elif self.policy.kernel_hash and event.kernel_hash != self.policy.kernel_hash:
            message = f"its kernels {event.kernel_hash!r} differ from the driver's {self.policy.kernel_hash!r}"
            out.append(Retire(event.worker, message))
            self._remove(WorkerDown(event.worker, Death.unfit, message), now_s, out)
        else:
            worker.is_up, worker.host = True, event.host

    def _returned(self, event: Returned, out: list[Instruction]) -> None:
        assignment = self._crew.assignments.get(event.assignment)
        if assignment is not None and assignment.worker == event.worker:
            for unit in assignment.in_order():
                self._fail(unit, event.assignment, Blame.loss, "the worker said nothing about it", out)

    # --- units

    def _answer(self, answer: Answer, now_s: float, out: list[Instruction]) -> None:
        """Publish a verdict, hold it back for its replica, or ignore it when the unit has one."""
        unit = answer.result.unit
        worker = self._crew.workers.get(answer.worker)
        if worker is not None:
            worker.peak_rss_bytes = max(worker.peak_rss_bytes, answer.peak_rss_bytes)
        if answer.host in self._trust.flagged:
            self._fail(unit, answer.assignment, Blame.loss, "its host is not believed any more", out)
            return
        if not self._backlog.is_open(unit) or (unit in self._trust.held) != answer.is_replica:
            self._n_duplicates += 1
        elif problem := _problem(answer.result):
            self._fail(unit, answer.assignment, Blame.strike, problem, out)
            return
        else:
            self._crew.made_progress(now_s)
            if answer.is_replica:
                self._judge(answer, out)
            elif self._trust.wants(answer.result, answer.host, self._crew.hosts):
                self._trust.hold(answer)
            else:
                self._accept(answer, out)
        self._strike_off(unit, answer.assignment, out)

    def _accept(self, answer: Answer, out: list[Instruction]) -> None:
        result = answer.result
        attempt = self._backlog.settle(result)
        self._n_split += bool(result.children)
        out.append(Publish(answer, attempt))

    def _judge(self, replica: Answer, out: list[Instruction]) -> None:
        """Publish a verdict that its replica agrees with; otherwise believe neither of the two, nor anything else of
        their hosts."""
        judgement = self._trust.judge(replica)
        if not judgement.difference:
            self._accept(judgement.original, out)
            return
        unit = replica.result.unit
        trouble = self._backlog.quarantine(unit)
        out.append(Quarantine(unit, trouble.attempts + 1, judgement.difference, judgement.flagged))
        for disowned in self._trust.disown():
            self._put_back(disowned, Blame.loss, "its host is not believed any more", out)
        for worker in list(self._crew.workers.values()):
            assignment = self._crew.assignments.get(worker.assignment)
            if worker.host in self._trust.flagged and assignment is not None:
                for missing in assignment.in_order():
                    self._fail(missing, worker.assignment, Blame.loss, "its host is not believed any more", out)

    def _strike_off(self, unit: Unit, number: int, out: list[Instruction]) -> None:
        """Take a unit off its assignment; a worker that has finished becomes idle, or is replaced if it has grown."""
        worker = self._crew.strike_off(unit, number)
        if worker is None:
            return
        if 0 < self.policy.recycle_bytes < worker.peak_rss_bytes:
            self._crew.dismiss(worker.number)
            out.append(Retire(worker.number, f"it grew to {worker.peak_rss_bytes} bytes"))

    def _fail(self, unit: Unit, number: int, blame: Blame, message: str, out: list[Instruction]) -> None:
        """Put a unit of an assignment back, or quarantine it; do nothing if it is not in the assignment."""
        assignment = self._crew.assignments.get(number)
        if assignment is None or unit not in assignment.missing:
            return
        if assignment.is_replica:
            let_go = self._trust.failed(unit)
            if let_go is not None:
                self._accept(let_go, out)
        elif self._backlog.is_open(unit) and unit not in self._trust.held:
            blame = Blame.strike if blame is Blame.memory and assignment.alone else blame
            self._put_back(unit, blame, message, out)
        self._strike_off(unit, number, out)

    def _put_back(self, unit: Unit, blame: Blame, message: str, out: list[Instruction]) -> None:
        trouble = self._backlog.trouble.get(unit) or Trouble()
        trouble.attempts += 1
        trouble.message = message
        trouble.big |= blame is Blame.memory
        trouble.losses += blame is Blame.loss
        trouble.strikes += blame is Blame.strike
        self._n_strikes += blame is Blame.strike
        if trouble.strikes >= self.policy.n_strikes or trouble.losses >= self.policy.n_losses:
            self._backlog.quarantine(unit)
            self._crew.fruitless_deaths = 0
            out.append(Quarantine(unit, trouble.attempts, message))
        else:
            self._backlog.put_back(unit, trouble)
            self._n_requeued += 1

    # --- workers

    def _remove(self, event: WorkerDown, now_s: float, out: list[Instruction]) -> None:
        """Forget a dead worker, put its units back, and give the run up when workers keep dying."""
        assignment = self._crew.dismiss(event.worker)
        message = event.message or f"the worker was lost ({event.reason})"
        if assignment is not None:
            # in a batch nobody knows which unit was at fault: each goes out again, alone
            blame = _OF_DEATH[event.reason] if len(assignment.missing) == 1 else Blame.loss
            for unit in assignment.in_order():
                self._fail(unit, assignment.number, blame, message, out)
        self._crew.count_death(now_s)
        limit = self._crew.death_limit
        if self._crew.fruitless_deaths >= limit:
            message = f"{limit} workers died without one verdict in between; the last: {message}"
            self._finish(complete=False, message=message, out=out)

    def _end_leases(self, now_s: float, out: list[Instruction]) -> None:
        for worker in self._crew.silent(now_s):
            if not self._finished:
                out.append(Retire(worker.number, "silent for too long"))
                reason = Death.died if worker.is_up else Death.unfit
                self._remove(WorkerDown(worker.number, reason, "silent for too long"), now_s, out)

    # --- what next

    def _advance(self, now_s: float, out: list[Instruction]) -> None:
        if self._finished:
            return
        if self._backlog.n_open == 0:
            n_given_up = self._backlog.n_quarantined
            message = counted(n_given_up, "unit was given up", "units were given up") if n_given_up else ""
            self._finish(complete=n_given_up == 0, message=message + self._flags(), out=out)
            return
        flagged, crew = self._trust.flagged, self._crew
        # Workers of flagged hosts stay idle: they keep a cluster from starting others there.
        n_idle = sum(worker.is_up and worker.host in flagged for worker in crew.workers.values())
        if n_idle >= max(crew.n_wanted(self._backlog.n_open, n_idle), 1):
            self._finish(complete=False, message="no host is left to believe" + self._flags(), out=out)
            return
        out.extend(map(Spawn, crew.spawn(self._backlog.n_open, n_idle, now_s)))
        crew.drain_for_big(self._backlog.has_big, flagged)
        for worker in crew.workers.values():
            if worker.is_up and worker.assignment == 0 and worker.host not in flagged:
                self._give(worker, now_s, out)

    def _give(self, worker: Worker, now_s: float, out: list[Instruction]) -> None:
        units: tuple[Unit, ...]
        replica: Replica | None = None
        if self._crew.is_drained(worker):
            is_free = self._crew.is_alone(worker) and self._backlog.has_big
            units = (self._backlog.take_big(),) if is_free else ()
        elif check := self._trust.take(worker.host, self._crew.hosts):
            units, replica = (check[0],), check[1]
        else:
            share_s = _ENDGAME * self._backlog.remaining_s() / len(self._crew.workers)
            units = self._backlog.take(min(self.policy.batch_s, share_s), self._crew.max_batch)
        if units:
            predicted_s = sum(map(self._backlog.predicted_s, units))
            given = self._crew.give(worker, units, predicted_s, now_s, is_replica=replica is not None)
            out.append(Assign(worker.number, given.number, units, given.alone, replica))

    def _flags(self) -> str:
        hosts = ", ".join(map(repr, sorted(self._trust.flagged)))
        return f"; verdicts of {hosts} were contradicted by replicas: run again to check all of theirs" if hosts else ""

    def _finish(self, *, complete: bool, message: str, out: list[Instruction]) -> None:
        self._finished = True
        out.extend(Retire(worker.number, "the run is over") for worker in self._crew.workers.values())
        out.append(Finish(complete, message))


def _problem(result: UnitResult) -> str:
    """Return what is wrong with the children of a verdict; the store checks the rest."""
    unit, children = result.unit, result.children
    if (result.status == "split") != bool(children):
        return f"status {result.status!r} with {len(children)} children"
    for child in children:
        if child.class_id != unit.class_id or not is_below(child.path, unit.path):
            return f"{child!r} is not a child of {unit!r}"
    return "a child is listed twice" if len(set(children)) < len(children) else ""
