"""What a run will cost, before it is started: hours of one core, with an interval, from a random
sample of its classes.

    estimate -> Probes: some classes, then some of the parts that these split into, then some of the
                parts of those, until nothing splits
             -> total

A unit is drawn in proportion to its likely cost, and stands for others like it.  Parts are drawn
among those of all classes of the sample, so a class that turns out dear is looked at more closely:
the idea of Chen 1992 ("Heuristic sampling"), by which the random paths of Knuth 1975 vary less.
Without a limit of time the mean over all samples is the cost of the run, whatever the classes split
into and however bad the likely costs are; the nearer these are to the costs, the narrower the
interval.

Where the time is limited, each level leaves the more of it to those below the more of its units
split.  A unit that the end of the time interrupts is expected to be in its middle, and parts that
nobody looked at to cost what is likely, in the proportion that was found above them.

When all classes and their parts are known, so is the cost of the run.  Otherwise the variance is
that of the draws of each level, given what was found below it.  What units cost that nobody
searched, and the interval, are told by ``search/costs.py``, as during a run.  How often the
interval holds the truth is measured by ``python -m tests.bench.coverage``.

What a worker makes once for all its classes is not counted.  ``variants`` are single changes of
partition, budgets or cell order: two that help alone need not help together.
"""

from __future__ import annotations

import random
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from math import inf, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Float64s
from orderly_boggle.boardclass.geometry import ORDERS, cell_order_of, geometry
from orderly_boggle.boardclass.processes import Pool
from orderly_boggle.cluster.planning.plan import Plan, make_plan
from orderly_boggle.configs.model import RunConfig
from orderly_boggle.results.store.run import Run
from orderly_boggle.search.breaker import Breaker, Spec, Unit, UnitResult
from orderly_boggle.search.costs import Measured, Variance, interval, likely_cost, likely_costs
from orderly_boggle.search.params import LETTER_ORDER

PROBE_BUDGET = Breaker.hurried_budget  # effort of a unit of a probe
LEAST = 16  # classes, where the time is not limited
# of the time left that a level leaves to those below it, if all its units split
_FOR_PARTS = 0.65
_GOLDEN = (sqrt(5) - 1) / 2  # its multiples lie evenly between whole numbers

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
    memory_mb: int  # largest resident memory of a process that probed, MiB
    seconds: float  # time it took
    known: str = ""  # the run that these are the figures of


class Found(NamedTuple):
    """What a unit cost, and what it split into."""

    cost: float
    children: Sequence[Unit]
    likely: Sequence[float]  # costs of the children

    def whole(self, below: float) -> float:
        """Return the cost with the children's, if theirs is ``below`` times what is likely."""
        return self.cost + below * sum(self.likely)


class Level:
    """Units of one depth.  Some are drawn, in proportion to what they stand for.

    The draws follow an evenly spread sequence, so each unit is drawn about as often as it should.

    unit : names the unit at a place
    likely : their likely costs, float64[n]
    stands_for : the likely cost of all units that each stands for, float64[n]
    start : of the sequence, 0 to 1
    """

    def __init__(
        self, unit: Callable[[int], Unit], likely: Float64s, stands_for: Float64s, start: float
    ) -> None:
        self.unit = unit
        self.likely = likely
        self._stands_for = stands_for
        self._at = start
        self.found: dict[int, Found] = {}  # by the place of the unit
        self.draws: Counter[int] = Counter()
        self._ends = np.cumsum(stands_for)
        self.all_likely = float(self._ends[-1])

    def draw(self) -> int:
        """Return the place of a unit, which may have been drawn before."""
        # a unit stands on a line as long as its likely cost: the sequence meets it in proportion
        drawn_at = self._at * self.all_likely
        place = int(np.searchsorted(self._ends, drawn_at, side="right"))
        self._at = (self._at + _GOLDEN) % 1
        # rounding may put the last point behind the end
        place = min(place, len(self.likely) - 1)
        self.draws[place] += 1
        return place

    @property
    def is_whole(self) -> bool:
        """Whether every unit was drawn."""
        return len(self.draws) == len(self.likely)

    def number(self, place: int) -> float:
        """Return how many units a drawn one stands for."""
        # drawn in proportion to the likely cost, so it stands for that share, divided by its own
        drawn = self.all_likely * self.draws[place] / self.draws.total()
        if self.is_whole:
            drawn = self._stands_for[place]
        return float(drawn / self.likely[place])

    def below(self, start: float) -> Level | None:
        """Return the next level, None if nothing split."""
        units: list[Unit] = []
        likely: list[float] = []
        stands_for: list[float] = []
        for place, found in self.found.items():
            units += found.children
            likely += found.likely
            # a child stands for the children of all units that its parent stands for
            stands_for += [self.number(place) * cost for cost in found.likely]
        if not units:
            return None
        return Level(units.__getitem__, np.array(likely), np.array(stands_for), start)

    def measured(self, below: float) -> Measured:
        """Return what the units cost that were drawn, if their children cost ``below`` times what
        is likely.
        """
        measured = Measured()
        for place, found in self.found.items():
            each = found.whole(below) / float(self.likely[place])
            if self.is_whole:
                stands_for = float(self._stands_for[place])
                measured.note(stands_for, stands_for * each)
            else:
                # a draw is worth as much as any other, whatever was likely: it was drawn in
                # proportion; draws are independent, so units drawn twice count twice
                measured.note(1.0, each, self.draws[place])
        return measured

    def cost(self, below: float) -> tuple[float, Variance]:
        """Return the cost of all units and its variance, by what was drawn."""
        cost, variance = self.measured(below).of(self.all_likely, 0)
        if self.is_whole:
            variance = Variance(0.0, 1)
        elif self.draws.total() < 2:  # nothing is known: as much as the cost
            variance = Variance(cost**2, 1)
        return cost, variance


class Probes:
    """Random classes of a plan, and parts of them; ``next`` names a unit, and ``note`` is told what
    it cost.

    ``gone`` returns the share of the time that is over.  Without it so many classes are drawn as
    ``least`` says, and so many parts of a level as units split above it.
    """

    def __init__(
        self, plan: Plan, seed: int, least: int = 1, gone: Callable[[], float] | None = None
    ) -> None:
        self.plan = plan
        self._least = least
        self._gone = gone
        self._rng = random.Random(seed)
        ids = plan.question.class_ids()
        likely = likely_costs(plan.question, ids)
        # sorted, so that an even sequence meets weak and strong ones alike
        order = np.argsort(likely, kind="stable")  # from weak to strong
        ids = ids[order]
        likely = likely[order]

        def class_at(place: int) -> Unit:
            return Unit(int(ids[place]))

        self.levels = [Level(class_at, likely, likely, self._rng.random())]
        self._running: dict[Unit, int] = {}  # and its place in the last level
        self._n_split = 0  # units of that level
        self._is_guessed = False
        self._units = self._in_turn()

    def next(self) -> Unit | None:
        """Return a unit to be searched; None if there is none, or none before another has ended."""
        return next(self._units, None)

    def note(self, unit: Unit, children: Sequence[Unit], spent: float) -> None:
        """Learn what a unit cost, and what it split into."""
        question = self.plan.question
        likely = [likely_cost(question, child.class_id, child.path) for child in children]
        place = self._running.pop(unit)
        self.levels[-1].found[place] = Found(spent, children, likely)
        self._n_split += bool(children)

    def give_up(self, unit: Unit, spent: float) -> None:
        """End amid a unit that has cost so much already."""
        self._is_guessed = True
        # twice what was spent is as good a guess as any, and the result says that it is one
        self.note(unit, (), 2 * spent)

    def _in_turn(self) -> Iterator[Unit | None]:
        least = self._least
        level = self.levels[0]
        while True:
            if self._gone:
                began = self._gone()
            else:
                began = 0.0
            self._n_split = 0
            while not level.is_whole and (level.draws.total() < least or self._is_on(began)):
                place = level.draw()
                if level.draws[place] == 1:
                    unit = level.unit(place)
                    self._running[unit] = place
                    yield unit
            while self._running:
                yield None
            below = level.below(self._rng.random())
            if not below:
                return
            self.levels.append(below)
            level = below
            if self._gone:
                least = 1
            else:
                least = self._n_split

    def _is_on(self, began: float) -> bool:
        """Return whether the time of a level is not over; where units split, their parts need some
        later.
        """
        if not self._gone:
            return False
        split = self._n_split / max(1, len(self.levels[-1].found))
        return self._gone() - began < (1 - _FOR_PARTS * split) * (1 - began)

    def estimate(self, memory_mb: int, seconds: float) -> Estimate:
        """Return what everything costs."""
        first, *deeper = self.levels
        last = self.levels[-1]
        below = 0.0
        variances: list[Variance] = []
        rest = last.below(0.0)
        if rest:  # nobody looked at these
            own = last.measured(0.0).ratio
            below = own / max(0.1, 1 + own - last.measured(1.0).ratio)
            variances.append(Variance((rest.all_likely * below) ** 2, 1))
        for level in reversed(deeper):
            cost, variance = level.cost(below)
            variances.append(variance)
            below = cost / level.all_likely
        total, variance = first.cost(below)
        variances.append(variance)
        are_whole = all(level.is_whole for level in self.levels)
        is_known = are_whole and not (rest or self._is_guessed)
        if is_known:
            low = total
            high = total
        else:
            low, high = interval(total, variances)
        return Estimate(
            cpu_hours=total / 3600,
            low=low / 3600,
            high=high / 3600 if high < inf else None,
            n_classes=len(first.likely),
            n_probes=len(first.found),
            is_known=is_known,
            memory_mb=memory_mb,
            seconds=seconds,
        )


def sample(
    probes: Probes,
    n: int,
    submit: Submit,
    is_over: Callable[[], bool],
    cost: Cost | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Have units of the probes searched, ``n`` at a time, until they or the time are over; return
    the largest resident memory of a process, MiB.
    """
    memory_mb = 0
    running: dict[Future[Searched], tuple[Unit, float]] = {}  # and since when
    while not is_over():
        while len(running) < n and (unit := probes.next()):
            running[submit(unit)] = unit, clock()
        ended = wait(running, timeout=0.2, return_when=FIRST_COMPLETED).done
        if not running or is_over():  # a signal to all of us ends the processes as well
            break
        for job in ended:
            result, spent, used_mb = job.result()
            unit, _ = running.pop(job)
            memory_mb = max(memory_mb, used_mb)
            probes.note(unit, result.children, cost(result, spent) if cost else spent)
    for unit, began_s in running.values():
        probes.give_up(unit, clock() - began_s)
    return memory_mb


_breaker: Breaker | None = None  # of a process that probes


def _begin(spec: Spec, unit: Unit) -> None:
    """Make the breaker of a process, and what it makes once for all classes."""
    global _breaker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the parent decides
    _breaker = Breaker(spec)
    _breaker.break_unit(unit)


def _search(unit: Unit) -> Searched:
    assert _breaker
    began = time.process_time()
    result = _breaker.break_unit(unit)
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return result, time.process_time() - began, memory_mb


def estimate(
    plan: Plan,
    seconds: float | None,
    seed: int = 0,
    cost: Cost | None = None,
    budget: int = PROBE_BUDGET,
    processes: int = 1,
    least: int = LEAST,
    is_over: Callable[[float], bool] = lambda gone: False,
) -> Estimate:
    """Probe random classes for ``seconds``, or until every class is known; without ``seconds`` make
    ``least`` probes, and some of their parts, however long they take.

    Classes and parts are drawn separately, so the same seed gives the same classes whatever they
    split into.  A unit of a probe has an effort of at most ``budget``, and costs its CPU seconds,
    or what ``cost`` makes of its result and them.  ``is_over`` is told the seconds passed, five
    times a second, and may end it.
    """
    began = time.monotonic()
    spec = replace(plan.spec, budgets=replace(plan.spec.budgets, unit_budget=budget))

    def gone() -> float:
        if seconds:
            return (time.monotonic() - began) / seconds
        return 1.0

    def ends() -> bool:
        is_late = seconds is not None and gone() >= 1
        return is_over(time.monotonic() - began) or is_late

    probes = Probes(plan, seed, least, None if seconds is None else gone)
    first = probes.levels[0].unit(0)
    with Pool(processes, _begin, spec, first) as pool:  # they can be ended amid a unit
        memory_mb = sample(probes, processes, lambda unit: pool.submit(_search, unit), ends, cost)
        pool.kill()
    return probes.estimate(memory_mb, time.monotonic() - began)


def measured(run: Run) -> Estimate | None:
    """Return what a run took, which must be proven; None where its rows do not say."""
    (seconds,) = run.arrays(["seconds"])
    hours = float(seconds.sum()) / 3600
    if not hours:
        return None
    n_classes = run.partition.n_canonical
    name = Path(run.folder.where("")).name
    return Estimate(hours, hours, hours, n_classes, 0, True, 0, 0.0, name)


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
        if other.question.partition.text != plan.question.partition.text:
            yield name, other
    spec = plan.spec
    question = plan.question
    own = spec.budgets
    rules = question.rules
    budgets = {
        "node_budget / 4": replace(own, node_budget=own.node_budget // 4),
        "node_budget * 4": replace(own, node_budget=own.node_budget * 4),
        "whole_terms / 3": replace(own, whole_terms=own.whole_terms // 3),
        "whole_terms * 3": replace(own, whole_terms=own.whole_terms * 3),
        "loose trees or none": replace(own, loose_points=0 if own.loose_points else 8),
    }
    for name, changed in budgets.items():
        yield name, replace(plan, spec=replace(spec, budgets=changed))
    groups = ("jqxz", "vwk", "fy", *"bughmpcdlnorstiae")
    alphabetical = "".join(sorted(LETTER_ORDER))
    others = {
        "rare letters forced together": replace(
            question, rules=replace(rules, force_groups=groups)
        ),
        "letters in alphabetical order": replace(
            question, rules=replace(rules, letter_order=alphabetical)
        ),
    }
    for name in ORDERS:
        order = cell_order_of(config.dims, name)
        if order != question.cell_order:
            others[f"cell order {name}"] = replace(question, cell_order=order)
    for name, other_question in others.items():
        yield name, replace(plan, spec=replace(spec, question=other_question))
