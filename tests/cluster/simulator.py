"""A cluster in miniature that lies, dies and repeats itself: drives the pure scheduler and checks
what it promises.

Everything follows from the seed.  A failing seed is replayed with its log by

    python -m tests.cluster.simulator SEED
"""

from __future__ import annotations

import hashlib
import heapq
import random
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np

from cluster.scheduling import events
from cluster.scheduling.backlog import Work
from cluster.scheduling.scheduler import Scheduler
from search.breaker import Unit, UnitResult

MAX_STEPS = 200_000


def digest(text: str, n: int) -> int:
    """Return a number below ``n`` that depends on the text only."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % n


def fake_break(unit: Unit, salt: int = 0, seconds: float = 0.0) -> UnitResult:
    """Return a verdict that depends on the unit only: eliminated, candidates, or split down to
    depth 3.
    """
    kind = digest(f"{salt} {unit.class_id} {unit.path}", 10)
    depth = unit.path.count("=")
    if kind < 3 and depth < 3:
        prefix = f"{unit.path}/" if unit.path else ""
        children = tuple(
            Unit(unit.class_id, f"{prefix}{depth}={letter}") for letter in "abcd"[: 2 + kind]
        )
        return UnitResult(unit, "split", 4, 9, (), children, (f"{prefix}{depth}=z",), {}, seconds)
    found = (("abcd", 10),) if kind == 9 else ()
    return UnitResult(
        unit, "candidates" if found else "eliminated", 4, 9, found, (), (), {}, seconds
    )


def expected_units(class_ids: Iterable[int], salt: int = 0) -> dict[Unit, UnitResult]:
    """Return every unit that breaking the classes leads to, with its verdict."""
    found: dict[Unit, UnitResult] = {}
    stack = [Unit(class_id) for class_id in class_ids]
    while stack:
        unit = stack.pop()
        found[unit] = fake_break(unit, salt)
        stack += found[unit].children
    return found


def difference(original: UnitResult, replica: UnitResult) -> str:
    """Return how two verdicts differ, for breakers that answer alike however they search."""
    first, second = ((result.n_boards, sorted(result.candidates)) for result in (original, replica))
    return "" if first == second else f"{first} and {second}"


# How often things go wrong at most; a run draws from these, so that calm and stormy ones both
# occur.
WEATHER = {"kill": 0.12, "lose": 0.08, "repeat": 0.3, "late": 0.4, "unfit": 0.1, "node": 0.05}


@dataclass
class Simulation:
    """One run: ``play`` it, then read ``published`` and ``quarantined``."""

    seed: int
    log: list[str] = field(default_factory=list)
    published: dict[Unit, UnitResult] = field(default_factory=dict)
    quarantined: set[Unit] = field(default_factory=set)
    contradicted: set[Unit] = field(default_factory=set)
    # by how often its worker died, fell silent or failed on it
    blamed: Counter[Unit] = field(default_factory=Counter)
    finish: events.Finish | None = None

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        storm = self.rng.choice((0.0, 0.3, 1.0))
        self.weather = SimpleNamespace(
            **{name: storm * self.rng.uniform(0, most) for name, most in WEATHER.items()}
        )
        n_classes = self.rng.randint(1, 40)
        self.class_ids = np.array(sorted(self.rng.sample(range(1000), n_classes)), np.int64)
        self.n_workers = self.rng.randint(1, 6)
        self.hosts = [f"host{number}" for number in range(self.rng.randint(1, 3))]
        self.expected = expected_units(self.class_ids.tolist(), self.seed)
        self.poison = {
            unit for unit in self.expected if digest(f"poison {self.seed} {unit}", 150) == 0
        }
        self.broken = {
            unit for unit in self.expected if digest(f"broken {self.seed} {unit}", 150) == 0
        }
        self.fat = {unit for unit in self.expected if digest(f"fat {self.seed} {unit}", 15) == 0}
        policy = events.Policy(
            self.n_workers,
            batch_s=self.rng.choice((1.0, 7.0, 50.0)),
            lease_s=60.0,
            spawn_s=60.0,
            max_deaths=60,
            replicate=self.rng.choice((0.0, 0.01, 0.3, 1.0)),
            trust_after=self.rng.choice((1, 3, 10)),
        )
        self.liars = {self.hosts[-1]} if self.rng.random() < 0.3 else set()
        self.lies = self.rng.choice((0.2, 1.0))
        costs = np.array([self.seconds(Unit(class_id)) for class_id in self.class_ids.tolist()])
        self.scheduler = Scheduler(
            policy, Work(self.class_ids, costs), np.random.default_rng(self.seed), difference
        )
        self.now = 0.0
        self.queue: list[tuple[float, int, events.Event]] = []
        self.n_queued = 0
        self.alive: dict[int, str] = {}  # as the world knows it
        # as the scheduler must know it: assignment, units missing
        self.given: dict[int, tuple[int, set[Unit]]] = {}

    def seconds(self, unit: Unit) -> float:
        return 0.05 * 2.0 ** digest(f"s {self.seed} {unit}", 10)

    def send(self, delay: float, event: events.Event, *, mayhem: bool = True) -> None:
        """Deliver an event later; with ``mayhem`` it may come late, twice or never."""
        if mayhem and self.rng.random() < self.weather.lose:
            self.log.append(f"{self.now:9.2f} lost {event}")
            return
        copies = 1 + (mayhem and self.rng.random() < self.weather.repeat)
        for _ in range(copies):
            late = (
                self.rng.expovariate(0.05)
                if mayhem and self.rng.random() < self.weather.late
                else 0.0
            )
            self.n_queued += 1
            heapq.heappush(self.queue, (self.now + delay + late, self.n_queued, event))

    def play(self) -> Simulation:
        """Run until the scheduler finishes; AssertionError when it breaks a promise."""
        self.send(0.0, events.Tick(), mayhem=False)
        for _ in range(MAX_STEPS):
            if self.finish is not None:
                self.check_end()
                return self
            if not self.queue or self.queue[0][0] > self.now + 5.0:
                self.now += 5.0
                self.deliver(events.Tick())
            else:
                self.now, _, event = heapq.heappop(self.queue)
                self.deliver(event)
        raise AssertionError(f"seed {self.seed}: no end after {MAX_STEPS} steps")

    def deliver(self, event: events.Event) -> None:
        self.log.append(f"{self.now:9.2f} {event}")
        self.account(event)
        trust = self.scheduler._trust
        self.held, self.n_let_go = set(trust.held), trust.n_let_go
        for instruction in self.scheduler.handle(event, self.now):
            self.log.append(f"{self.now:9.2f}      -> {instruction}")
            self.carry_out(instruction)

    def account(self, event: events.Event) -> None:
        """Keep the books on what the scheduler may know to be in flight."""
        if isinstance(event, events.WorkerDown):
            self.forget(event.worker)
        elif (
            isinstance(event, events.Answer | events.UnitFailed | events.Returned)
            and event.worker in self.given
        ):
            number, missing = self.given[event.worker]
            if number == event.assignment:
                if isinstance(event, events.Returned):
                    self.blamed.update(missing)
                    missing.clear()
                elif isinstance(event, events.Answer):
                    missing.discard(event.result.unit)
                elif event.unit in missing:
                    missing.remove(event.unit)
                    self.blamed[event.unit] += 1
                if not missing:
                    del self.given[event.worker]

    def forget(self, worker: int) -> None:
        _, missing = self.given.pop(worker, (0, set()))
        self.blamed.update(missing)

    def carry_out(self, instruction: events.Instruction) -> None:
        assert self.finish is None, f"seed {self.seed}: {instruction} after Finish"
        match instruction:
            case events.Spawn(worker):
                self.spawn(worker)
            case events.Assign():
                self.assign(instruction)
            case events.Publish(answer):
                unit = answer.result.unit
                assert unit in self.expected, f"seed {self.seed}: {unit} is unknown"
                assert unit not in self.published, f"seed {self.seed}: {unit} has two verdicts"
                assert unit not in self.quarantined, f"seed {self.seed}: {unit} was given up"
                assert not answer.is_replica, (
                    f"seed {self.seed}: {unit}: a replica is not a verdict"
                )
                if answer.result.candidates != self.expected[unit].candidates:
                    let_go = self.scheduler._trust.n_let_go > self.n_let_go
                    assert unit not in self.held or let_go, (
                        f"seed {self.seed}: {unit}: a lie was published"
                    )
                self.published[unit] = answer.result
            case events.Quarantine(unit, hosts=hosts):
                assert unit not in self.published, f"seed {self.seed}: {unit} has a verdict"
                assert unit not in self.quarantined, f"seed {self.seed}: {unit} given up twice"
                self.quarantined.add(unit)
                self.contradicted |= {unit} if hosts else set()
            case events.Retire(worker):
                self.alive.pop(worker, None)
                self.forget(worker)
            case events.Finish():
                self.finish = instruction

    def spawn(self, worker: int) -> None:
        assert worker not in self.alive, f"seed {self.seed}: number {worker} used twice"
        delay = self.rng.uniform(0.5, 5.0)
        if self.rng.random() < self.weather.unfit:
            self.send(delay, events.WorkerDown(worker, events.Death.unfit, "self-test"))
        else:
            self.alive[worker] = self.rng.choice(self.hosts)
            self.send(delay, events.WorkerUp(worker, self.alive[worker]))

    def assign(self, order: events.Assign) -> None:
        where = f"seed {self.seed}: {order}"
        assert order.worker in self.alive or order.worker not in self.given, where
        assert order.worker not in self.given, (
            f"{where}: already has {self.given.get(order.worker)}"
        )
        assert order.units, where
        assert self.alive.get(order.worker) not in self.scheduler._trust.flagged, (
            f"{where}: not believed"
        )
        assert order.replica is None or len(order.units) == 1, where
        assert not self.published.keys() & set(order.units), f"{where}: has a verdict"
        if order.alone:
            host = self.alive.get(order.worker)
            others = [
                name for name in self.given if self.alive.get(name) == host and host is not None
            ]
            assert not others, f"{where}: {others} are busy on the same host"
        self.given[order.worker] = order.assignment, set(order.units)
        if order.worker not in self.alive:
            return  # its death is a message that got lost or is still on its way
        # Rows of a batch come together at its end.
        spent = 0.0
        sent: list[events.Event] = []
        for unit in order.units:
            spent += self.seconds(unit)
            death = self.fate(unit, order.alone)
            if death is not None:
                self.alive.pop(order.worker, None)
                self.send(spent, events.WorkerDown(order.worker, death, f"on {unit}"))
                return
            if unit in self.broken:
                sent.append(events.UnitFailed(order.worker, order.assignment, unit, "ValueError"))
            else:
                sent.append(self.answer(order, unit))
        for beat in range(int(spent // 20)):
            self.send(20.0 * (beat + 1), events.Heartbeat(order.worker, order.assignment))
        self.rng.shuffle(sent)
        for event in [*sent, events.Returned(order.worker, order.assignment)]:
            self.send(spent, event)

    def answer(self, order: events.Assign, unit: Unit) -> events.Answer:
        host, result = self.alive[order.worker], fake_break(unit, self.seed, self.seconds(unit))
        if order.replica is not None:
            status = "candidates" if result.candidates else "eliminated"
            result = replace(result, status=status, children=(), settled=())
        if host in self.liars and self.rng.random() < self.lies:
            status = result.status if result.children else "candidates"
            result = replace(result, status=status, candidates=((f"lie{self.rng.random()}", 11),))
        return events.Answer(
            order.worker, order.assignment, result, host, is_replica=order.replica is not None
        )

    def fate(self, unit: Unit, alone: bool) -> events.Death | None:
        if unit in self.poison:
            return events.Death.died
        if unit in self.fat and not alone:
            return events.Death.oom
        if self.rng.random() < self.weather.kill:
            return events.Death.died
        return events.Death.node if self.rng.random() < self.weather.node else None

    def check_end(self) -> None:
        assert self.finish is not None
        where = f"seed {self.seed}"
        flagged = self.scheduler.snapshot().flagged
        assert self.liars or not flagged, f"{where}: {flagged} never lied"
        if "no host is left" in self.finish.message:
            assert flagged, where
            return
        for unit in self.quarantined - self.contradicted:
            assert self.blamed[unit] >= 3, (
                f"{where}: {unit} given up after {self.blamed[unit]} failures"
            )
        reached = self.reachable()
        hopeless = (self.poison | self.broken) & reached
        assert hopeless <= self.quarantined, (
            f"{where}: {hopeless - self.quarantined} have a verdict"
        )
        if not any(vars(self.weather).values()):
            surplus = self.quarantined - hopeless - self.contradicted
            assert not surplus, f"{where}: {surplus} given up in calm weather"
        assert reached == self.published.keys() | self.quarantined, f"{where}: not settled"
        assert self.finish.complete == (not self.quarantined), where
        snapshot = self.scheduler.snapshot()
        assert snapshot.n_open == 0, f"{where}: {snapshot}"
        n_done = len(self.class_ids) - len(
            {unit.class_id for unit in reached - self.published.keys()}
        )
        assert snapshot.n_classes_done == n_done, (
            f"{where}: {snapshot.n_classes_done} classes counted as done"
        )

    def reachable(self) -> set[Unit]:
        found, stack = set(), [Unit(int(class_id)) for class_id in self.class_ids]
        while stack:
            unit = stack.pop()
            found.add(unit)
            stack.extend(self.published[unit].children if unit in self.published else ())
        return found


def main() -> None:
    simulation = Simulation(int(sys.argv[1]))
    try:
        simulation.play()
    finally:
        sys.stdout.write("\n".join(simulation.log) + "\n")


if __name__ == "__main__":
    main()
