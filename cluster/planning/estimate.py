"""What a run will cost, before it is started: hours of one core, with an interval, from a random sample of its classes.

    estimate -> strata of classes by predicted cost -> probe: one random way down the parts of a class -> total

A probe (Knuth 1975, "Estimating the efficiency of backtrack programs") searches a unit; where the unit is split, it
goes on with one of the children, chosen at random, and counts it as one over the probability of that choice.  Its
expectation is the cost of the class, whatever the class splits into and however the choice is made; the nearer the
probabilities are to the costs, the narrower the interval.  So a probe of a strong center is as cheap as any other.

The path table and the rim are made once per worker and serve all its classes: they are made first and are not counted.
"""

from __future__ import annotations

import multiprocessing
import random
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from statistics import fmean, variance
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boardclass.geometry import Geometry
from boardclass.parts import parse_path
from cluster.planning.plan import Plan
from search.breaker import Breaker, Spec, Unit, UnitResult
from search.params import Params

SHARES = (0.5, 0.3, 0.15, 0.05)  # of the classes, in the order of their predicted cost
PROBE_BUDGET = 120_000_000  # effort of a unit of a probe: some ten seconds
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
    memory_mb : largest resident memory of a process that probed, MiB
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


def likely_cost(unit: Unit, board: Geometry, params: Params) -> float:
    """Return a figure that grows with the expected cost of a part.

    On 4x4 a forced cell is a factor of about 25, and the strongest letter costs about 16 times as much as the weakest;
    the parts of a fused cell share its cost.
    """
    parts = parse_path(unit.path, board.n)
    strongest = max(params.letter_order.index(letter) for letter in parts[-1][1])
    n_unfused = sum(board.cell_types[cell] in params.fused for cell, _ in parts)
    return float((strongest + 4) ** 1.4 / 25 ** (len(parts) - n_unfused) / params.unfuse_parts**n_unfused)


def probe(breaker: Breaker, class_id: int, rng: random.Random, cost: Cost = _cpu_seconds) -> float:
    """Return the cost of a random way down the parts of a class; its expectation is the cost of the class."""
    unit, weight, total = Unit(class_id), 1.0, 0.0
    while True:
        began = time.process_time()
        result = breaker.break_unit(unit)
        total += weight * cost(result, time.process_time() - began)
        if not result.children:
            return total
        chances = [likely_cost(child, breaker.geometry, breaker.spec.params) for child in result.children]
        chosen = rng.choices(range(len(chances)), chances)[0]
        weight *= sum(chances) / chances[chosen]
        unit = result.children[chosen]


class _Sample(NamedTuple):
    """Costs found in each stratum, and the largest resident memory of the process, MiB."""

    costs: list[list[float]]
    memory_mb: int


def _sample(
    spec: Spec,
    strata: Sequence[NDArray[np.int64]],
    seconds: float,
    seed: str,
    cost: Cost,
    least: int = LEAST,
) -> _Sample:
    """Probe random classes of every stratum in turn for so many seconds; :func:`estimate` says how.

    The classes and the ways down are drawn apart, so the same seed gives the same classes whatever they split into.
    """
    ends = time.monotonic() + seconds
    classes, ways = random.Random(seed), random.Random(seed)
    breaker = Breaker(spec)
    breaker.break_unit(Unit(int(strata[0][0])))
    costs: list[list[float]] = [[] for _ in strata]
    while min(map(len, costs)) < least or time.monotonic() < ends:
        for stratum, found in zip(strata, costs, strict=True):
            found.append(probe(breaker, int(classes.choice(stratum)), ways, cost))
    return _Sample(costs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)


def estimate(
    plan: Plan,
    seconds: float,
    seed: int = 0,
    cost: Cost = _cpu_seconds,
    budget: int = PROBE_BUDGET,
    processes: int = 1,
    least: int = LEAST,
) -> Estimate:
    """Probe random classes of every stratum in turn for so many seconds, at least ``least`` of each and process.

    Parameters
    ----------
    plan : Plan
    seconds : time to spend; the round of probes that is under way is finished
    seed : of the classes and of the ways down
    cost : what a unit costs, given its result and the CPU seconds it took; a function of a module
    budget : effort of one unit of a probe
    processes : how many probe side by side
    """
    began = time.monotonic()
    spec = replace(plan.spec, params=replace(plan.spec.params, unit_budget=budget))
    ids = plan.class_ids()
    ids = ids[np.argsort(plan.predicted_costs(ids), kind="stable")]
    cuts = np.round(np.cumsum((0, *SHARES)) * ids.size).astype(int)
    strata = [ids[a:b] for a, b in pairwise(cuts) if b > a]
    if processes > 1:
        with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
            jobs = [pool.submit(_sample, spec, strata, seconds, f"{seed} {k}", cost, least) for k in range(processes)]
            samples = [job.result() for job in jobs]
    else:
        samples = [_sample(spec, strata, seconds, f"{seed} 0", cost, least)]
    costs = [[x for sample in samples for x in sample.costs[h]] for h in range(len(strata))]
    total = sum(len(stratum) * fmean(found) for stratum, found in zip(strata, costs, strict=True))
    error = sqrt(sum(len(s) ** 2 * variance(found) / len(found) for s, found in zip(strata, costs, strict=True)))
    return Estimate(
        cpu_hours=total / 3600,
        low=max(0.0, total - NORMAL * error) / 3600,
        high=(total + NORMAL * error) / 3600,
        n_classes=int(ids.size),
        n_probes=sum(map(len, costs)),
        strata=tuple((len(s), len(found), fmean(found)) for s, found in zip(strata, costs, strict=True)),
        memory_mb=max(sample.memory_mb for sample in samples),
        seconds=time.monotonic() - began,
    )
