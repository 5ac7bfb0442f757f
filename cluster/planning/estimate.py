"""What a run will cost, before it is started: hours of one core, with an interval, from a random
sample of its classes.

    estimate -> strata of classes by predicted cost -> probe: one random way down the parts of a
    class -> total

A probe (Knuth 1975, "Estimating the efficiency of backtrack programs") searches a unit; where the
unit is split, it goes on with one of the children, chosen at random, and counts it as one over the
probability of that choice.  Its expectation is the cost of the class, whatever the class splits
into and however the choice is made; the nearer the probabilities are to the costs, the narrower the
interval.

Each stratum is drawn without replacement.  The cost of a class that was not split is known; when
all classes are known, so is the cost of the run.  Otherwise the interval is Student's, because
costs vary more than a few probes show, and on a logarithmic scale, because costs are skewed.  On
3x4, whose cost is known, it holds the truth in 94 to 95 of 100 plans (``python -m
tests.bench.coverage``).

What a worker makes once for all its classes is not counted.  ``variants`` are single changes of
partition, budgets or cell order: two that help alone need not help together.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from statistics import NormalDist, fmean, variance
from typing import NamedTuple

import numpy as np

from boardclass.geometry import ORDERS, Geometry, cell_order_of, geometry
from boardclass.parts import parse_path
from boardclass.processes import pool
from cluster.planning.plan import Plan, make_plan
from cluster.scheduling.forecast import log_interval
from configs.model import RunConfig
from search.breaker import Breaker, Spec, Unit, UnitResult
from search.params import LETTER_ORDER, Params

# of the classes, in order of predicted cost
SHARES = (0.2, 0.18, 0.16, 0.14, 0.12, 0.1, 0.06, 0.04)
PROBE_BUDGET = 120_000_000  # effort of a unit of a probe: some ten seconds
MIN_PROBES = 2  # probes of each stratum, however long they take

Cost = Callable[[UnitResult, float], float]
Tell = Callable[[float], None]  # is told how many seconds have passed


@dataclass(frozen=True)
class Estimate:
    """The cost of a run."""

    cpu_hours: float  # hours of one core
    low: float  # the 95 % interval; all three are the same if every class is known
    high: float
    n_classes: int
    n_probes: int
    # whether every class was searched to its end, so that this is the cost as measured
    is_known: bool
    # (classes, probes, mean seconds of a class) from weak to strong classes
    strata: tuple[tuple[int, int, float], ...]
    memory_mb: int  # largest resident memory of a process that probed, MiB
    seconds: float  # time it took


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


def probe(
    breaker: Breaker, class_id: int, rng: random.Random, cost: Cost | None = None
) -> tuple[float, bool]:
    """Return the cost of a random way down the parts of a class, and whether it took in all of the
    class.
    """
    unit, weight, total = Unit(class_id), 1.0, 0.0
    while True:
        began = time.process_time()
        result = breaker.break_unit(unit)
        seconds = time.process_time() - began
        total += weight * (cost(result, seconds) if cost else seconds)
        if not result.children:
            return total, not unit.path
        chances = [
            likely_cost(child, breaker.geometry, breaker.spec.params) for child in result.children
        ]
        chosen = rng.choices(range(len(chances)), chances)[0]
        weight *= sum(chances) / chances[chosen]
        unit = result.children[chosen]


class Stratum(NamedTuple):
    """What was found in a stratum."""

    size: int  # in classes
    costs: tuple[float, ...]  # of the probes
    is_exact: bool  # whether all probes know their class

    def joined(self, other: Stratum) -> Stratum:
        """Return the two parts of a stratum as one."""
        is_exact = self.is_exact and other.is_exact
        return Stratum(self.size + other.size, self.costs + other.costs, is_exact)

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
        unseen = 1 - n / self.size if self.is_exact else 1.0
        return self.size**2 * variance(self.costs) / n * unseen


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


def sample(
    spec: Spec,
    strata: Sequence[Sequence[int]],
    seconds: float,
    seed: str,
    cost: Cost | None = None,
    least: int = MIN_PROBES,
    tell: Tell | None = None,
    make_breaker: Callable[[Spec], Breaker] = Breaker,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[list[Stratum], int]:
    """Probe the classes of every stratum in the order given, see :func:`estimate`; return what was
    found, and the largest resident memory of the process, MiB.
    """
    breaker, began = make_breaker(spec), clock()
    ways = random.Random(seed)
    breaker.break_unit(Unit(next(stratum[0] for stratum in strata if stratum)))
    costs: list[list[float]] = [[] for _ in strata]
    exact = [True for _ in strata]

    def is_open(h: int) -> bool:
        return len(costs[h]) < len(strata[h]) or not exact[h]

    def wants(h: int) -> bool:
        return len(costs[h]) < least and is_open(h)

    numbers = range(len(strata))
    while any(map(wants, numbers)) or (clock() - began < seconds and any(map(is_open, numbers))):
        for h in filter(is_open, numbers):
            class_id = strata[h][len(costs[h]) % len(strata[h])]
            spent, is_whole = probe(breaker, class_id, ways, cost)
            costs[h].append(spent)
            exact[h] &= is_whole
            if tell:
                tell(clock() - began)
    results = [Stratum(len(strata[h]), tuple(costs[h]), exact[h]) for h in numbers]
    return results, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def estimate(
    plan: Plan,
    seconds: float,
    seed: int = 0,
    cost: Cost | None = None,
    budget: int = PROBE_BUDGET,
    processes: int = 1,
    least: int = MIN_PROBES,
    tell: Tell | None = None,
) -> Estimate:
    """Probe random classes of every stratum in turn for ``seconds``, or until every class is known.

    The classes and the ways down are drawn separately, so the same seed gives the same classes
    whatever they split into.  The round of probes that is under way is finished, and each of the
    ``processes`` makes ``least`` probes of each stratum, however long they take.  A unit of a probe
    has an effort of at most ``budget``, and costs its CPU seconds, or what ``cost`` makes of its
    result and them.  ``tell`` is called now and then with the seconds passed.
    """
    began = time.monotonic()
    spec = replace(plan.spec, params=replace(plan.spec.params, unit_budget=budget))
    strata = draw(plan, seed)
    processes = min(processes, len(max(strata, key=len)))
    if processes > 1:
        with pool(processes) as executor:
            jobs = []
            for k in range(processes):
                share = [stratum[k::processes] for stratum in strata]
                jobs.append(
                    executor.submit(sample, spec, share, seconds, f"{seed} {k}", cost, least)
                )
            while wait(jobs, timeout=1).not_done:
                if tell:
                    tell(time.monotonic() - began)
            samples = [job.result() for job in jobs]
    else:
        samples = [sample(spec, strata, seconds, f"{seed} 0", cost, least, tell)]
    known: list[Stratum] = []
    memory_mb = 0
    for parts, used_mb in samples:
        known = list(map(Stratum.joined, known, parts)) if known else parts
        memory_mb = max(memory_mb, used_mb)
    total, low, high = interval(known)
    return Estimate(
        cpu_hours=total / 3600,
        low=low / 3600,
        high=high / 3600,
        n_classes=sum(map(len, strata)),
        n_probes=sum(len(stratum.costs) for stratum in known),
        is_known=all(stratum.is_known for stratum in known),
        strata=tuple((stratum.size, len(stratum.costs), fmean(stratum.costs)) for stratum in known),
        memory_mb=memory_mb,
        seconds=time.monotonic() - began,
    )


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
