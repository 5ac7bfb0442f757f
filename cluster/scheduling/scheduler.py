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
- a driver that slept (SIGSTOP, a laptop lid) does not mistake its own silence for that of its workers;
- running out of memory is never held against a unit that has not had a host to itself;
- with replicas (trust.py) a verdict that was contradicted is never published, nor anything else of a flagged host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from boardclass.printable import counted
from cluster.scheduling.backlog import Backlog
from cluster.scheduling.calibration import NOTHING, Past
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
from cluster.scheduling.outcomes import OF_DEATH, Blame, Outcomes
from cluster.scheduling.policy import Policy
from cluster.scheduling.trust import Compare, Trust, difference

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from search.breaker import Unit

_ENDGAME = 0.5  # at most this part of a worker's share of what is left goes into one batch


class Scheduler:
    """Decides which worker breaks which unit and when; see the module for what it promises.

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
        Returns how a verdict and its replica differ; by default it compares sizes and candidates as they are.
    known : collection of Unit
        Units below roots that have a verdict, though the unit that they were split from has lost its own.
    past : Past
        Classes that earlier calls searched to the end: the cost of the open ones is judged by them as well.
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
        past: Past = NOTHING,
    ) -> None:
        self.policy = policy
        self._trust = Trust(policy, rng, compare or difference)
        self._backlog = Backlog(class_ids, costs, children, rng, policy.sample, known, past)
        self._crew = Crew(policy)
        self._outcomes = Outcomes(policy, self._crew, self._backlog, self._trust)
        self._finished = False

    def handle(self, event: Event, now_s: float) -> list[Instruction]:
        """Return what to do about an event that arrived at ``now_s`` (any clock that does not run backwards)."""
        if self._finished:
            return []
        out: list[Instruction] = []
        self._crew.wake(now_s)
        match event:
            case Room(n_workers):
                self._crew.make_room(n_workers)
            case WorkerUp():
                self._worker_up(event, now_s, out)
            case WorkerDown():
                self._worker_down(event, now_s, out)
            case Answer():
                self._outcomes.answer(event, now_s, out)
            case UnitFailed():
                blame = Blame.memory if event.oom else Blame.strike
                self._outcomes.fail(event.unit, event.assignment, blame, event.message, out)
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
        backlog = self._backlog
        return Report(
            n_classes=backlog.n_classes,
            n_classes_done=backlog.n_classes_done,
            n_open=backlog.n_open,
            n_in_flight=self._crew.n_in_flight,
            n_split=self._outcomes.n_split,
            n_quarantined=backlog.n_quarantined,
            n_duplicates=self._outcomes.n_duplicates,
            n_requeued=self._outcomes.n_requeued,
            n_deaths=self._crew.n_deaths,
            n_workers=self._crew.n_up,
            remaining_s=backlog.remaining_s() / max(1, len(self._crew)) if backlog.is_measured else None,
            n_agreed=self._trust.n_agreed,
            flagged=tuple(sorted(self._trust.flagged)),
            n_strikes=self._outcomes.n_strikes,
        )

    # --- events

    def _worker_up(self, event: WorkerUp, now_s: float, out: list[Instruction]) -> None:
        worker = self._crew.worker(event.worker)
        if worker is None:
            out.append(Retire(event.worker, "not expected any more"))
        elif self.policy.kernel_hash and event.kernel_hash != self.policy.kernel_hash:
            message = f"its kernels {event.kernel_hash!r} differ from the driver's {self.policy.kernel_hash!r}"
            out.append(Retire(event.worker, message))
            self._bury(WorkerDown(event.worker, Death.unfit, message), now_s, out)
        else:
            worker.is_up, worker.host = True, event.host

    def _worker_down(self, event: WorkerDown, now_s: float, out: list[Instruction]) -> None:
        if self._crew.worker(event.worker) is not None:
            self._bury(event, now_s, out)

    def _returned(self, event: Returned, out: list[Instruction]) -> None:
        assignment = self._crew.assignment(event.assignment)
        if assignment is not None and assignment.worker == event.worker:
            for unit in assignment.in_order():
                self._outcomes.fail(unit, event.assignment, Blame.loss, "the worker said nothing about it", out)

    # --- workers

    def _bury(self, event: WorkerDown, now_s: float, out: list[Instruction]) -> None:
        """Forget a dead worker, put its units back, and give the run up when workers keep dying."""
        assignment = self._crew.dismiss(event.worker)
        message = event.message or f"the worker was lost ({event.reason})"
        if assignment is not None:
            # in a batch nobody knows which unit was at fault: each goes out again, alone
            blame = OF_DEATH[event.reason] if len(assignment.missing) == 1 else Blame.loss
            for unit in assignment.in_order():
                self._outcomes.fail(unit, assignment.number, blame, message, out)
        self._crew.count_death(now_s)
        limit = self._crew.most_deaths
        if self._crew.fruitless_deaths >= limit:
            message = f"{limit} workers died without one verdict in between; the last: {message}"
            self._finish(complete=False, message=message, out=out)

    def _end_leases(self, now_s: float, out: list[Instruction]) -> None:
        for worker in self._crew.silent(now_s):
            if not self._finished:
                out.append(Retire(worker.number, "silent for too long"))
                reason = Death.died if worker.is_up else Death.unfit
                self._bury(WorkerDown(worker.number, reason, "silent for too long"), now_s, out)

    # --- what next

    def _advance(self, now_s: float, out: list[Instruction]) -> None:
        """Spawn into empty slots, give work to idle workers, or finish."""
        if self._finished:
            return
        if self._backlog.n_open == 0:
            n_given_up = self._backlog.n_quarantined
            message = counted(n_given_up, "unit was given up", "units were given up") if n_given_up else ""
            self._finish(complete=n_given_up == 0, message=message + self._flags(), out=out)
            return
        flagged, crew = self._trust.flagged, self._crew
        # Workers of flagged hosts stay idle: they keep a cluster from starting others there.
        n_idle = sum(worker.is_up and worker.host in flagged for worker in crew)
        if n_idle >= max(crew.n_wanted(self._backlog.n_open, n_idle), 1):
            self._finish(complete=False, message="no host is left to believe" + self._flags(), out=out)
            return
        out.extend(map(Spawn, crew.spawn(self._backlog.n_open, n_idle, now_s)))
        crew.drain_for_big(self._backlog.has_big, flagged)
        for worker in crew:
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
            share_s = _ENDGAME * self._backlog.remaining_s() / len(self._crew)
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
        out.extend(Retire(worker.number, "the run is over") for worker in self._crew)
        out.append(Finish(complete, message))
