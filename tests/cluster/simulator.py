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

from orderly_boggle.cluster.scheduling import events
from orderly_boggle.cluster.scheduling.backlog import Work
from orderly_boggle.cluster.scheduling.scheduler import Scheduler
from orderly_boggle.cluster.scheduling.trust import MAX_TRIES
from orderly_boggle.search.breaker import Unit, UnitResult

MAX_STEPS = 200_000
BEAT_S, LEASE_S = 20.0, 60.0


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

# What a unit can do to every worker that tries it: end its process, raise an exception or have a
# verdict that the ledger refuses, run out of memory with a host to itself (a process or an
# exception), leave no reply.  Whatever it is, the unit is given up after a number of tries.
HOPELESS = ("poison", "broken", "huge", "too large", "mute")


@dataclass(frozen=True)
class Turnover:
    """A machine goes, with all its workers, or comes back."""

    host: str


@dataclass(frozen=True)
class Size:
    """How large a run is; by default small enough to play hundreds."""

    n_workers: int
    n_hosts: int
    n_classes: int
    turn_s: float = 0.0  # what the driver spends on an event: it may fall minutes behind
    stay_s: float = 0.0  # how long a machine stays on average; 0: for good


DRAWN = Size(0, 0, 0)


def draw_size(rng: random.Random) -> Size:
    """Return the size of a small run."""
    return Size(
        rng.randint(1, 6),
        rng.randint(1, 3),
        rng.randint(1, 40),
        rng.choice((0.0, 0.0, 0.5, 5.0, 20.0)),
        rng.choice((0.0, 0.0, 300.0)),
    )


@dataclass
class Simulation:
    """One run: ``play`` it, then read ``published`` and ``quarantined``."""

    seed: int
    size: Size = DRAWN
    log: list[str] = field(default_factory=list)
    published: dict[Unit, UnitResult] = field(default_factory=dict)
    quarantined: set[Unit] = field(default_factory=set)
    contradicted: set[Unit] = field(default_factory=set)
    # by how often its worker died, fell silent or failed on it
    blamed: Counter[Unit] = field(default_factory=Counter)
    tries: Counter[tuple[Unit, bool]] = field(default_factory=Counter)  # (unit, is_replica)
    finish: events.Finish | None = None

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        storm = self.rng.choice((0.0, 0.3, 1.0))
        self.weather = SimpleNamespace(
            **{name: storm * self.rng.uniform(0, most) for name, most in WEATHER.items()}
        )
        self.size = size = draw_size(self.rng) if self.size is DRAWN else self.size
        ids = self.rng.sample(range(25 * size.n_classes), size.n_classes)
        self.class_ids = np.array(sorted(ids), np.int64)
        self.hosts = [f"host{number}" for number in range(size.n_hosts)]
        self.there = dict.fromkeys(self.hosts)
        self.expected = expected_units(self.class_ids.tolist(), self.seed)
        self.hopeless = {unit: kind for unit in self.expected if (kind := self.kind_of(unit))}
        self.fat = {unit for unit in self.expected if digest(f"fat {self.seed} {unit}", 15) == 0}
        self.policy = events.Policy(
            size.n_workers,
            batch_s=self.rng.choice((1.0, 7.0, 50.0)),
            lease_s=LEASE_S,
            lease_factor=0.0,
            spawn_s=60.0,
            max_deaths=60,
            replicate=self.rng.choice((0.0, 0.01, 0.3, 1.0)),
            trust_after=self.rng.choice((1, 3, 10)),
        )
        self.liars = {self.hosts[-1]} if self.rng.random() < 0.3 else set()
        self.lies = self.rng.choice((0.2, 1.0))
        costs = np.array([self.seconds(Unit(class_id)) for class_id in self.class_ids.tolist()])
        self.scheduler = Scheduler(
            self.policy, Work(self.class_ids, costs), np.random.default_rng(self.seed), difference
        )
        self.now = self.turn_s = 0.0  # when this turn of the driver began, how long it takes
        self.queue: list[tuple[float, int, events.Event | Turnover]] = []
        self.n_queued = 0
        self.alive: dict[int, str] = {}  # as the world knows it
        # as the scheduler must know it: assignment, units missing
        self.given: dict[int, tuple[int, set[Unit]]] = {}
        for host in self.hosts if size.stay_s else ():
            self.send(self.rng.expovariate(1 / size.stay_s), Turnover(host), mayhem=False)

    def kind_of(self, unit: Unit) -> str:
        """Return what a unit does to its workers, if it does anything."""
        kind = digest(f"hopeless {self.seed} {unit}", 60 * len(HOPELESS))
        return HOPELESS[kind] if kind < len(HOPELESS) else ""

    def seconds(self, unit: Unit) -> float:
        return 0.05 * 2.0 ** digest(f"s {self.seed} {unit}", 10)

    def send(self, delay: float, event: events.Event | Turnover, *, mayhem: bool = True) -> None:
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
            at = self.now + self.turn_s + delay + late
            heapq.heappush(self.queue, (at, self.n_queued, event))

    def play(self) -> Simulation:
        """Run until the scheduler finishes; AssertionError when it breaks a promise.

        As in the run loop all that has arrived is told together, a tick after it, and what arrives
        meanwhile waits.
        """
        came: list[events.Event | Turnover] = []
        for _ in range(MAX_STEPS):
            self.turn_s = self.size.turn_s * len(came)
            for event in (*came, events.Tick()):
                if self.finish is None:
                    self.deliver(event)
            if self.finish is not None:
                self.check_end()
                return self
            self.now += self.turn_s
            if not self.queue or self.queue[0][0] > self.now:  # waits for 5 s at most
                self.now = min([self.now + 5.0, *(item[0] for item in self.queue[:1])])
            came = []
            while self.queue and self.queue[0][0] <= self.now:
                came.append(heapq.heappop(self.queue)[2])
        raise AssertionError(f"seed {self.seed}: no end after {MAX_STEPS} steps")

    def deliver(self, event: events.Event | Turnover) -> None:
        self.log.append(f"{self.now:9.2f} {event}")
        if isinstance(event, Turnover):
            self.turn_over(event.host)
            return
        self.account(event)
        trust = self.scheduler.trust
        # without a replica's answer, a verdict that is held is let go
        self.held, self.is_answer = trust.held.copy(), isinstance(event, events.Answer)
        for instruction in self.scheduler.handle(event, self.now):
            self.log.append(f"{self.now:9.2f}      -> {instruction}")
            self.carry_out(instruction)

    def turn_over(self, host: str) -> None:
        """Take a machine away, with all its workers, or bring it back."""
        if host in self.there:
            del self.there[host]
            for worker in [worker for worker, other in self.alive.items() if other == host]:
                del self.alive[worker]
                self.send(0.1, events.WorkerDown(worker, "node", "its machine is gone"))
        else:
            self.there[host] = None
        self.send(self.rng.expovariate(1 / self.size.stay_s), Turnover(host), mayhem=False)
        room = self.size.n_workers * len(self.there) // self.size.n_hosts
        self.send(0.0, events.Room(room), mayhem=False)

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
                    assert unit not in self.held or not self.is_answer, (
                        f"seed {self.seed}: {unit}: a lie was published"
                    )
                self.published[unit] = answer.result
            case events.Quarantine(unit, hosts=hosts):
                assert unit not in self.published, f"seed {self.seed}: {unit} has a verdict"
                assert unit not in self.quarantined, f"seed {self.seed}: {unit} given up twice"
                self.quarantined.add(unit)
                self.contradicted |= {unit} if hosts else set()
            case events.Retire(worker, why):
                is_calm = not any(vars(self.weather).values())
                assert why != "silent for too long" or not is_calm or worker not in self.alive, (
                    f"seed {self.seed}: {worker} lives and says so"
                )
                self.alive.pop(worker, None)
                self.forget(worker)
            case events.Finish():
                self.finish = instruction

    def spawn(self, worker: int) -> None:
        assert worker not in self.alive, f"seed {self.seed}: number {worker} used twice"
        delay = self.rng.uniform(0.5, 5.0)
        if not self.there:
            self.send(delay, events.WorkerDown(worker, "node", "no machine"))
        elif self.rng.random() < self.weather.unfit:
            self.send(delay, events.WorkerDown(worker, "unfit", "self-test"))
        else:
            self.alive[worker] = self.rng.choice(list(self.there))
            self.send(delay, events.WorkerUp(worker, self.alive[worker]))

    def assign(self, order: events.Assign) -> None:
        where = f"seed {self.seed}: {order}"
        assert order.worker in self.alive or order.worker not in self.given, where
        assert order.worker not in self.given, (
            f"{where}: already has {self.given.get(order.worker)}"
        )
        assert order.units, where
        assert self.alive.get(order.worker) not in self.scheduler.trust.flagged, (
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
        most = self.policy.n_strikes + self.policy.n_losses
        for unit in order.units:
            attempt = unit, order.replica is not None
            self.tries[attempt] += 1
            assert self.tries[attempt] <= most * (MAX_TRIES if order.replica else 1), (
                f"{where}: tried {self.tries[attempt]} times"
            )
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
            kind = self.hopeless.get(unit)
            is_large = kind == "too large"
            if kind == "broken" or is_large:
                failed = events.UnitFailed(
                    order.worker, order.assignment, unit, "an exception", is_large
                )
                sent.append(failed)
            elif kind != "mute":
                sent.append(self.answer(order, unit))
        for beat in range(int(spent // BEAT_S)):
            self.send(BEAT_S * (beat + 1), events.Heartbeat(order.worker, order.assignment))
        self.rng.shuffle(sent)
        for event in [*sent, events.Returned(order.worker, order.assignment)]:
            self.send(spent, event)

    def answer(self, order: events.Assign, unit: Unit) -> events.Answer:
        host = self.alive[order.worker]
        result = fake_break(unit, self.seed, self.seconds(unit))
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
        kind = self.hopeless.get(unit)
        if kind == "poison":
            return "died"
        if kind == "huge" or (unit in self.fat and not alone):
            return "oom"
        if self.rng.random() < self.weather.kill:
            return "died"
        return "node" if self.rng.random() < self.weather.node else None

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
        hopeless = self.hopeless.keys() & reached
        assert hopeless <= self.quarantined, (
            f"{where}: {hopeless - self.quarantined} have a verdict"
        )
        if not any(vars(self.weather).values()) and not self.size.stay_s:
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
        found = set()
        stack = [Unit(int(class_id)) for class_id in self.class_ids]
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
