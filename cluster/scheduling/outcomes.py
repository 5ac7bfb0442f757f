"""What becomes of a unit that was given out: published, held back for a replica, put back, or given up."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from boardclass.parts import is_below
from cluster.scheduling.backlog import Backlog, Trouble
from cluster.scheduling.crew import Crew
from cluster.scheduling.events import Answer, Death, Instruction, Publish, Quarantine, Retire
from cluster.scheduling.policy import Policy
from cluster.scheduling.trust import Trust

if TYPE_CHECKING:
    from search.breaker import Unit, UnitResult


class Blame(Enum):
    """What a failure says about the unit."""

    strike = "perhaps its own fault"
    loss = "not its fault, or not surely"
    memory = "it needs more memory"


OF_DEATH = {Death.died: Blame.strike, Death.unfit: Blame.strike, Death.oom: Blame.memory, Death.node: Blame.loss}


class Outcomes:
    """Decides about units; instructions are appended to ``out``.

    Parameters
    ----------
    policy : Policy
    crew : Crew
    backlog : Backlog
    trust : Trust

    Attributes
    ----------
    n_split, n_duplicates, n_requeued, n_strikes : int
        See :class:`cluster.scheduling.figures.Report`.
    """

    def __init__(self, policy: Policy, crew: Crew, backlog: Backlog, trust: Trust) -> None:
        self._policy = policy
        self._crew = crew
        self._backlog = backlog
        self._trust = trust
        self.n_split = self.n_duplicates = self.n_requeued = self.n_strikes = 0

    def answer(self, answer: Answer, now_s: float, out: list[Instruction]) -> None:
        """Publish a verdict, hold it back for its replica, or ignore it when the unit has one."""
        unit = answer.result.unit
        worker = self._crew.worker(answer.worker)
        if worker is not None:
            worker.peak_rss_bytes = max(worker.peak_rss_bytes, answer.peak_rss_bytes)
        if answer.host in self._trust.flagged:
            self.fail(unit, answer.assignment, Blame.loss, "its host is not believed any more", out)
            return
        if not self._backlog.is_open(unit) or (unit in self._trust.held) != answer.is_replica:
            self.n_duplicates += 1
        elif problem := _problem(answer.result):
            self.fail(unit, answer.assignment, Blame.strike, problem, out)
            return
        else:
            self._crew.bore_fruit(now_s)
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
        self.n_split += bool(result.children)
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
        for worker in self._crew:
            assignment = self._crew.assignment(worker.assignment)
            if worker.host in self._trust.flagged and assignment is not None:
                for missing in assignment.in_order():
                    self.fail(missing, worker.assignment, Blame.loss, "its host is not believed any more", out)

    def _strike_off(self, unit: Unit, number: int, out: list[Instruction]) -> None:
        """Take a unit off its assignment; a worker that has finished becomes idle, or is replaced if it has grown."""
        worker = self._crew.strike_off(unit, number)
        if worker is None:
            return
        if 0 < self._policy.recycle_bytes < worker.peak_rss_bytes:
            self._crew.dismiss(worker.number)
            out.append(Retire(worker.number, f"it grew to {worker.peak_rss_bytes} bytes"))

    def fail(self, unit: Unit, number: int, blame: Blame, message: str, out: list[Instruction]) -> None:
        """Put a unit of an assignment back, or quarantine it; do nothing if it is not in the assignment."""
        assignment = self._crew.assignment(number)
        if assignment is None or unit not in assignment.missing:
            return
        if assignment.is_replica:
            let_go = self._trust.failed(unit)
            if let_go is not None:
                self._accept(let_go, out)
        elif self._backlog.is_open(unit) and unit not in self._trust.held:
            if blame is Blame.memory and assignment.alone:
                self._put_back(unit, Blame.strike, message, out)
            else:
                self._put_back(unit, blame, message, out)
        self._strike_off(unit, number, out)

    def _put_back(self, unit: Unit, blame: Blame, message: str, out: list[Instruction]) -> None:
        trouble = self._backlog.trouble.get(unit) or Trouble()
        trouble.attempts += 1
        trouble.message = message
        trouble.big |= blame is Blame.memory
        trouble.losses += blame is Blame.loss
        trouble.strikes += blame is Blame.strike
        self.n_strikes += blame is Blame.strike
        if trouble.strikes >= self._policy.n_strikes or trouble.losses >= self._policy.n_losses:
            self._backlog.quarantine(unit)
            self._crew.fruitless_deaths = 0
            out.append(Quarantine(unit, trouble.attempts, message))
        else:
            self._backlog.put_back(unit, trouble)
            self.n_requeued += 1


def _problem(result: UnitResult) -> str:
    """Return what is wrong with the children of a verdict; the store checks the rest."""
    unit, children = result.unit, result.children
    if (result.status == "split") != bool(children):
        return f"status {result.status!r} with {len(children)} children"
    for child in children:
        if child.class_id != unit.class_id or not is_below(child.path, unit.path):
            return f"{child!r} is not a child of {unit!r}"
    return "a child is listed twice" if len(set(children)) < len(children) else ""
