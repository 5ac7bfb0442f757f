"""What a run will cost, from a random sample of its classes: hours of one core with an interval, before it is started.

    estimate -> strata of classes by predicted cost -> probe: one random way down the parts of a class -> total

A probe (Knuth 1975, "Estimating the efficiency of backtrack programs") searches a unit; where the unit is split, it
goes on with one of the children, chosen at random, and counts it as many times as there are children.  Its expectation
is the cost of the class, whatever the class splits into, so one strong centre costs a probe as little as any other.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from statistics import fmean, variance

import numpy as np

from cluster.plan import Plan
from search.breaker import Breaker, Unit, UnitResult

SHARES = (0.6, 0.3, 0.1)  # of the classes, in the order of their predicted cost
PROBE_BUDGET = 100_000_000  # effort of a unit of a probe: some seconds
LEAST = 2  # probes of each stratum, however long they take
NORMAL = 1.96  # 95 % of a normal distribution

Cost = Callable[[UnitResult, float], float]


@dataclass(frozen=True)
class Estimate:
    """The cost of a run.

    Attributes
    ----------
    cpu_hours, low, high : hours of one core, with its 95 % interval; a normal one, so too narrow for few probes
    n_classes, n_probes : classes of the run, probes made
    strata : (classes, probes, mean seconds of a class) from weak to strong classes
    memory_mb : largest resident memory of this process so far, MiB
    seconds : time it took
    """

    cpu_hours: float
    low: float
    high: float
    n_classes: int
    n_probes: int
    strata: tuple[tuple[int, int, float], ...]
    memory_mb: int
    seconds: float


def _cpu_seconds(result: UnitResult, seconds: float) -> float:
    del result
    return seconds


def probe(breaker: Breaker, class_id: int, rng: random.Random, cost: Cost = _cpu_seconds) -> float:
    """Return the cost of a random way down the parts of a class; its expectation is the cost of the class."""
    unit, weight, total = Unit(class_id), 1, 0.0
    while True:
        began = time.process_time()
        result = breaker.break_unit(unit)
        total += weight * cost(result, time.process_time() - began)
        if not result.children:
            return total
        weight *= len(result.children)
        unit = rng.choice(result.children)


def estimate(
    plan: Plan, seconds: float, seed: int = 0, cost: Cost = _cpu_seconds, budget: int = PROBE_BUDGET
) -> Estimate:
    """Probe random classes of every stratum in turn for so many seconds, at least ``LEAST`` of each.

    Parameters
    ----------
    plan : Plan
    seconds : time to spend; the probe that is under way is finished
    seed : of the classes and of the ways down
    cost : what a unit costs, given its result and the CPU seconds it took
    budget : effort of one unit of a probe
    """
    began = time.monotonic()
    rng = random.Random(seed)
    breaker = Breaker(replace(plan.spec, params=replace(plan.spec.params, unit_budget=budget)))
    ids = np.concatenate(list(plan.partition.canonical_ranks()))
    ids = ids[np.argsort(plan.predicted_costs(ids), kind="stable")]
    cuts = np.round(np.cumsum((0, *SHARES)) * ids.size).astype(int)
    strata = [ids[a:b] for a, b in pairwise(cuts) if b > a]
    costs: list[list[float]] = [[] for _ in strata]
    breaker.break_unit(Unit(int(ids[0])))  # path tables and the rim: once per worker, so they count for nobody
    while min(map(len, costs)) < LEAST or time.monotonic() - began < seconds:
        for stratum, found in zip(strata, costs, strict=True):
            found.append(probe(breaker, int(rng.choice(stratum)), rng, cost))
    total = sum(len(stratum) * fmean(found) for stratum, found in zip(strata, costs, strict=True))
    error = sqrt(sum(len(s) ** 2 * variance(found) / len(found) for s, found in zip(strata, costs, strict=True)))
    return Estimate(
        cpu_hours=total / 3600,
        low=max(0.0, total - NORMAL * error) / 3600,
        high=(total + NORMAL * error) / 3600,
        n_classes=int(ids.size),
        n_probes=sum(map(len, costs)),
        strata=tuple((len(s), len(found), fmean(found)) for s, found in zip(strata, costs, strict=True)),
        memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        seconds=time.monotonic() - began,
    )
