"""What a run will cost, before it is started: hours of one core, with an interval, from a random
sample of its classes.

    estimate -> strata of classes by predicted cost -> Ways: one random way down the parts of a
    class after the other -> total

A probe (Knuth 1975, "Estimating the efficiency of backtrack programs") searches a unit; where the
unit is split, it goes on with one of the children, chosen at random, and counts it as one over the
probability of that choice.  Its expectation is the cost of the class, whatever the class splits
into and however the choice is made; the nearer the probabilities are to the costs, the narrower the
interval.

Each stratum is drawn without replacement.  Where the time is limited, strata are drawn by their
predicted cost before they are probed in turn: what these first probes found is an estimate of its
own (Hansen and Hurwitz 1943), with a wider interval, which counts until every stratum has two
probes.  A probe that the end of the time interrupts is expected to be in its middle.

The cost of a class that was not split is known; when all classes are known, so is the cost of the
run.  Otherwise the interval is Student's, because
costs vary more than a few probes show, and on a logarithmic scale, because costs are skewed.  On
3x4, whose cost is known, it holds the truth in 93 to 95 of 100 plans (``python -m
tests.bench.coverage``).

What a worker makes once for all its classes is not counted.  ``variants`` are single changes of
partition, budgets or cell order: two that help alone need not help together.
"""

from __future__ import annotations

import random
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from math import inf, sqrt
from pathlib import Path
from statistics import NormalDist, fmean, variance
from typing import NamedTuple

import numpy as np

from boardclass.geometry import ORDERS, Geometry, cell_order_of, geometry
from boardclass.parts import parse_path
from boardclass.processes import kill, pool
from cluster.planning.plan import Plan, make_plan
from cluster.scheduling.forecast import log_interval
from configs.model import RunConfig
from results.store.run import Run
from search.breaker import Breaker, Spec, Unit, UnitResult
from search.params import LETTER_ORDER, Params

# of the classes, in order of predicted cost
SHARES = (0.2, 0.18, 0.16, 0.14, 0.12, 0.1, 0.06, 0.04)
PROBE_BUDGET = Breaker.hurried_budget  # effort of a unit of a probe
MIN_PROBES = 2  # of each stratum, for an interval
N_FIRST = 12  # probes of a process before it probes every stratum in turn
_WIDEST = 100.0  # an interval that says less is none

Cost = Callable[[UnitResult, float], float]
Searched = tuple[UnitResult, float, int]  # result, CPU seconds, MiB of the process
Submit = Callable[[Unit], Future[Searched]]


@dataclass(frozen=True)
class Estimate:
    """The cost of a run."""

    cpu_hours: float  # hours of one core
    low: float  # the 95 % interval; all three are the same if every class is known
    high: float | None  # None: too few probes for an interval
    n_classes: int
    n_probes: int
    # whether every class was searched to its end, so that this is the cost as measured
    is_known: bool
    # (classes, probes, mean seconds of a class) from weak to strong classes
    strata: tuple[tuple[int, int, float], ...]
    memory_mb: int  # largest resident memory of a process that probed, MiB
    seconds: float  # time it took
    known: str = ""  # the run that these are the figures of


def likely_cost(unit: Unit, board: Geometry, params: Params) -> float:
    """Return a figure that grows with the expected cost of a part.

    On 4x4 a forced cell is a factor of about 25, and the strongest letter costs about 16 times as
    much as the weakest; the parts of a cell that is fused, or was, share its cost.
    """
    parts = parse_path(unit.path, board.n)
    strongest = max(params.letter_order.index(letter) for letter in parts[-1][1])
    fused = {cell for cell in range(board.n) if board.cell_types[cell] in params.fused}
    fused |= {cell for cell, letters in parts if len(letters) > 1}
    n_unfused = sum(cell in fused for cell, _ in parts)
    return float(
        (strongest + 4) ** 1.4 / 25 ** (len(parts) - n_unfused) / params.unfuse_parts**n_unfused
    )


class Stratum(NamedTuple):
    """What was found in a stratum."""

    size: int  # in classes
    costs: tuple[float, ...]  # of the probes
    is_exact: bool  # whether all probes know their class

    @property
    def is_known(self) -> bool:
        """Whether every class was searched to its end."""
        return self.is_exact and len(self.costs) >= self.size

    @property
    def variance(self) -> float:
        """The variance of the total cost, estimated; known classes are drawn without
        replacement.
        """
        if self.is_known:
            return 0.0
        n = len(self.costs)
        left = 1 - n / self.size if self.is_exact else 1.0
        return self.size**2 * variance(self.costs) / n * left


def interval(strata: Sequence[Stratum]) -> tuple[float, float, float]:
    """Return the total cost of all strata, and the lower and upper end of its 95 % interval."""
    total = sum(stratum.size * fmean(stratum.costs) for stratum in strata)
    parts = [(stratum.variance, len(stratum.costs) - 1) for stratum in strata if stratum.variance]
    if not parts or not total:
        return total, total, total
    whole = sum(part for part, _ in parts)
    freedom = whole**2 / sum(part**2 / n for part, n in parts)  # Satterthwaite 1946
    return total, *log_interval(total, student(freedom) * sqrt(whole))


def student(freedom: float) -> float:
    """Return the half-width that holds 95 % of Student's distribution, within 1 % from 2 degrees on
    (Hill 1970).
    """
    z = NormalDist().inv_cdf(0.975)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**k for k, term in enumerate(terms, 1))


def draw(plan: Plan, seed: int) -> list[list[int]]:
    """Return the classes of a run by stratum, weak ones first, each stratum in random order."""
    ids = plan.class_ids()
    ids = ids[np.argsort(plan.predicted_costs(ids), kind="stable")]
    cuts = np.round(np.cumsum((0, *SHARES)) * ids.size).astype(int)
    rng = random.Random(seed)
    return [rng.sample(ids[a:b].tolist(), int(b - a)) for a, b in pairwise(cuts) if b > a]


def expected_costs(plan: Plan, strata: Sequence[Sequence[int]]) -> list[float]:
    """Return the mean predicted cost of a class of each stratum."""
    return [float(plan.predicted_costs(np.array(stratum)).mean()) for stratum in strata]


class Ways:
    """The random ways of one process down its classes, by stratum, one at a time.

    ``expected`` is the predicted cost of a class of each stratum.  So many probes as ``first`` says
    are of strata drawn by it; then each gets ``least`` probes in turn, or more while ``is_timed``.
    """

    def __init__(
        self,
        spec: Spec,
        strata: Sequence[Sequence[int]],
        expected: Sequence[float],
        seed: str,
        first: int = 0,
        least: int = MIN_PROBES,
        is_timed: bool = False,
    ) -> None:
        self.params, self.board = spec.params, geometry(spec.dims, spec.cell_order)
        self.strata, self.rng = strata, random.Random(seed)
        self.costs: list[list[float]] = [[] for _ in strata]
        self.is_exact = [True for _ in strata]
        self.first: list[float] = []  # what all strata cost by each of the first probes
        self.unit: Unit | None = None
        self._scale = 0.0
        self._turns = self._in_turn(expected, first, least, is_timed)
        self._begin()

    def _is_open(self, h: int) -> bool:
        return len(self.costs[h]) < len(self.strata[h]) or not self.is_exact[h]

    def _in_turn(
        self, expected: Sequence[float], first: int, least: int, is_timed: bool
    ) -> Iterator[int]:
        numbers = range(len(self.strata))
        chances = [expected[h] * len(self.strata[h]) for h in numbers]
        for h in self.rng.choices(numbers, chances, k=first):
            self._scale = len(self.strata[h]) * sum(chances) / chances[h]
            if self._is_open(h):
                yield h
            else:
                self.first.append(self._scale * fmean(self.costs[h]))
        self._scale = 0.0
        while any(self._is_open(h) and (is_timed or len(self.costs[h]) < least) for h in numbers):
            yield from filter(self._is_open, numbers)

    def _begin(self) -> None:
        self._h = next(self._turns, -1)
        self._weight, self._total = 1.0, 0.0
        classes = self.strata[self._h]
        self.unit = Unit(classes[len(self.costs[self._h]) % len(classes)]) if self._h >= 0 else None

    def note(self, result: UnitResult, spent: float) -> None:
        """Go on from a unit that was searched to one of its children, or to another class."""
        assert self.unit
        self._total += self._weight * spent
        if result.children:
            chances = [likely_cost(child, self.board, self.params) for child in result.children]
            chosen = self.rng.choices(range(len(chances)), chances)[0]
            self._weight *= sum(chances) / chances[chosen]
            self.unit = result.children[chosen]
            return
        self.costs[self._h].append(self._total)
        self.is_exact[self._h] &= not self.unit.path
        if self._scale:
            self.first.append(self._scale * self._total)
        self._begin()

    def give_up(self, spent: float) -> None:
        """End amid a unit that has cost so much already."""
        if self._scale:
            self.first.append(self._scale * (self._total + 2 * self._weight * spent))


def sample(
    several: Sequence[Ways],
    submit: Submit,
    is_over: Callable[[], bool],
    cost: Cost | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Search what some ways lead to, a unit of each at a time, until they or the time are over;
    return the largest resident memory of a process, MiB.

    ``submit`` has a unit searched.
    """
    memory_mb = 0
    running: dict[Future[Searched], tuple[Ways, float]] = {}  # and since when

    def go_on(ways: Ways) -> None:
        if ways.unit:
            running[submit(ways.unit)] = ways, clock()

    for ways in several:
        go_on(ways)
    while running:
        ended = wait(running, timeout=0.2, return_when=FIRST_COMPLETED).done
        if is_over():  # a signal to all of us ends the processes as well
            break
        for job in ended:
            result, spent, used_mb = job.result()
            ways, _ = running.pop(job)
            memory_mb = max(memory_mb, used_mb)
            ways.note(result, cost(result, spent) if cost else spent)
            go_on(ways)
    for ways, began_s in running.values():
        ways.give_up(clock() - began_s)
    return memory_mb


_breaker: Breaker | None = None  # of a process that probes


def _begin(spec: Spec, unit: Unit) -> None:
    """Make the breaker, and what it makes once for all classes."""
    global _breaker
    _breaker = Breaker(spec)
    _breaker.break_unit(unit)


def _begin_process(spec: Spec, unit: Unit) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the parent decides
    _begin(spec, unit)


def _search(unit: Unit) -> Searched:
    assert _breaker
    began = time.process_time()
    result = _breaker.break_unit(unit)
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return result, time.process_time() - began, memory_mb


def _search_here(unit: Unit) -> Future[Searched]:
    job: Future[Searched] = Future()
    job.set_result(_search(unit))
    return job


def estimate(
    plan: Plan,
    seconds: float | None,
    seed: int = 0,
    cost: Cost | None = None,
    budget: int = PROBE_BUDGET,
    processes: int = 1,
    least: int = MIN_PROBES,
    is_over: Callable[[float], bool] = lambda gone: False,
) -> Estimate:
    """Probe random classes for ``seconds``, or until every class is known; without ``seconds`` make
    ``least`` probes of each stratum in each of the ``processes``, however long they take.

    The classes and the ways down are drawn separately, so the same seed gives the same classes
    whatever they split into.  A unit of a probe has an effort of at most ``budget``, and costs its
    CPU seconds, or what ``cost`` makes of its result and them.  ``is_over`` is told the seconds
    passed, five times a second, and may end it.
    """
    began = time.monotonic()
    strata = draw(plan, seed)
    processes = min(processes, len(max(strata, key=len)))
    spec = replace(plan.spec, params=replace(plan.spec.params, unit_budget=budget))

    def ends() -> bool:
        gone = time.monotonic() - began
        return is_over(gone) or (seconds is not None and gone >= seconds)

    is_timed = seconds is not None
    several = [
        Ways(
            spec,
            [stratum[k::processes] for stratum in strata],
            expected_costs(plan, strata),
            f"{seed} {k}",
            N_FIRST if is_timed else 0,
            least,
            is_timed,
        )
        for k in range(processes)
    ]
    unit = Unit(strata[0][0])
    if is_timed or processes > 1:  # a process can be ended amid a unit
        with pool(processes, _begin_process, spec, unit) as executor:
            memory_mb = sample(several, lambda unit: executor.submit(_search, unit), ends, cost)
            kill(executor)
    else:
        _begin(spec, unit)
        memory_mb = sample(several, _search_here, ends, cost)
    return _estimated(strata, several, memory_mb, time.monotonic() - began)


def _estimated(
    strata: Sequence[Sequence[int]], several: Sequence[Ways], memory_mb: int, seconds: float
) -> Estimate:
    found = [
        Stratum(
            len(stratum),
            tuple(chain(*(ways.costs[h] for ways in several))),
            all(ways.is_exact[h] for ways in several),
        )
        for h, stratum in enumerate(strata)
    ]
    total, low, high = overall(found, several)
    return Estimate(
        cpu_hours=total / 3600,
        low=low / 3600,
        high=high / 3600 if high < inf else None,
        n_classes=sum(map(len, strata)),
        n_probes=sum(len(stratum.costs) for stratum in found),
        is_known=all(stratum.is_known for stratum in found),
        strata=tuple(
            (stratum.size, len(stratum.costs), fmean(stratum.costs or (0.0,))) for stratum in found
        ),
        memory_mb=memory_mb,
        seconds=seconds,
    )


def measured(run: Run) -> Estimate | None:
    """Return what a run took, which must be proven; None where its rows do not say."""
    tables = run.columns(("seconds",))
    hours = sum(float(table.column("seconds").to_numpy().sum()) for table in tables) / 3600
    if not hours:
        return None
    n_classes, name = run.partition.n_canonical, Path(run.folder.where("")).name
    return Estimate(hours, hours, hours, n_classes, 0, True, (), 0, 0.0, name)


def overall(strata: Sequence[Stratum], several: Sequence[Ways]) -> tuple[float, float, float]:
    """Return the cost of all strata and its interval, from the first probes while a stratum has too
    few; 0 to infinity where these are too few as well.
    """
    if all(stratum.is_known or len(stratum.costs) >= MIN_PROBES for stratum in strata):
        return interval(strata)
    parts = [Stratum(1, tuple(ways.first), False) for ways in several]
    if min(len(part.costs) for part in parts) < MIN_PROBES:
        return sum(fmean(part.costs or (0.0,)) for part in parts), 0.0, inf
    total, low, high = interval(parts)
    return (total, low, high) if high < _WIDEST * total else (total, 0.0, inf)


GROUPS = "jqxz kvw fy bgu hmp cd l n o r s t i a e"
_RIM = "edge: abcdefghijklmnopqrstuvwxyz, corner: abcdefghijklmnopqrstuvwxyz"
PARTITIONS = {
    "single centre letters": f"center: {' '.join(sorted(LETTER_ORDER))}, {_RIM}",
    "rare centre letters fused": f"center: {GROUPS}, {_RIM}",
}


def variants(config: RunConfig) -> Iterator[tuple[str, Plan]]:
    """Yield the plan of a config as it is, then with one change at a time, each with what is
    changed.
    """
    plan = make_plan(config)
    yield "as it is", plan
    for name, text in PARTITIONS.items() if "center" in geometry(config.dims).cell_types else ():
        other = make_plan(config.model_copy(update={"buckets": text}))
        if other.partition.text != plan.partition.text:
            yield name, other
    params = plan.spec.params
    groups = ("jqxz", "vwk", "fy", *"bughmpcdlnorstiae")
    changed = {
        "node_budget / 4": replace(params, node_budget=params.node_budget // 4),
        "node_budget * 4": replace(params, node_budget=params.node_budget * 4),
        "whole_terms / 3": replace(params, whole_terms=params.whole_terms // 3),
        "whole_terms * 3": replace(params, whole_terms=params.whole_terms * 3),
        "rare letters forced together": replace(params, force_groups=groups),
        "letters in alphabetical order": replace(
            params, letter_order="".join(sorted(LETTER_ORDER))
        ),
    }
    for name, others in changed.items():
        yield name, replace(plan, spec=replace(plan.spec, params=others))
    for name in ORDERS:
        order = cell_order_of(config.dims, name)
        if order != plan.spec.cell_order:
            yield f"cell order {name}", replace(plan, spec=replace(plan.spec, cell_order=order))
