"""How often the interval of ``orderly plan`` holds the truth: many plans of all of 3x4, whose cost
is known.

    python -m tests.bench.coverage                    # 1,000 plans of each length, from recorded
                                                      costs; seconds
    python -m tests.bench.coverage --record FILE      # search every class once and record what it
                                                      costs; 20 minutes

A plan is played with the code of ``orderly plan``; only the breaker and the clock are replaced, by
ones that know what each unit cost when it was recorded and what it split into.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cluster.planning.estimate import (
    N_FIRST,
    PROBE_BUDGET,
    Stratum,
    Ways,
    draw,
    expected_costs,
    overall,
    sample,
)
from cluster.planning.plan import Plan, make_plan
from configs.model import load_config
from search.breaker import Breaker, Unit

COSTS = Path(__file__).parent / "costs-3x4.jsonl"
LENGTHS = (15, 30, 60, 120, 300)  # seconds of a plan


def plan_of_3x4() -> Plan:
    """Return the run that the costs are of: 3x4, ENABLE2K, cutoff 1500."""
    config = load_config("3x4", {"wordlist": "enable2k", "cutoff": 1500, "workers": 0})
    plan = make_plan(config)
    return replace(
        plan, spec=replace(plan.spec, params=replace(plan.spec.params, unit_budget=PROBE_BUDGET))
    )


def record(file: Path) -> None:
    """Search every class, and every part that a probe could come to; write a line for each: class,
    path, CPU seconds, paths of its children."""
    plan = plan_of_3x4()
    breaker = Breaker(plan.spec)
    todo = [Unit(int(class_id)) for class_id in plan.class_ids()]
    breaker.break_unit(todo[0])
    with file.open("w") as out:
        while todo:
            unit = todo.pop()
            began = time.process_time()
            result = breaker.break_unit(unit)
            seconds = round(time.process_time() - began, 3)
            out.write(
                json.dumps(
                    [unit.class_id, unit.path, seconds, [child.path for child in result.children]]
                )
                + "\n"
            )
            todo += result.children


class Verdict(NamedTuple):
    """What a recorded unit cost, seconds, and what it split into."""

    seconds: float
    children: list[Unit]


class Recorded:
    """A breaker that knows the costs, and a clock that goes on by them."""

    def __init__(self, plan: Plan, file: Path = COSTS) -> None:
        self.spec = plan.spec
        self.now = 0.0
        self.verdicts: dict[Unit, Verdict] = {}
        for line in file.read_text().splitlines():
            class_id, path, seconds, children = json.loads(line)
            self.verdicts[Unit(class_id, path)] = Verdict(
                seconds, [Unit(class_id, child) for child in children]
            )

    @property
    def truth(self) -> float:
        """What everything cost, seconds."""
        return sum(verdict.seconds for verdict in self.verdicts.values())

    def submit(self, unit: Unit, ends_s: float) -> Future[Any]:
        """Return the recorded verdict, which has come unless the time ends before."""
        job: Future[Any] = Future()
        verdict = self.verdicts[unit]
        self.now += verdict.seconds
        if self.now < ends_s:
            job.set_result((verdict, verdict.seconds, 0))
        self.now = min(self.now, ends_s)
        return job


def intervals(plan: Plan, seconds: float, n: int) -> Iterator[tuple[float, float, float]]:
    """Yield cost, lower and upper end, seconds, of plans with the seeds 0 to n - 1."""
    recorded = Recorded(plan)
    for seed in range(n):
        recorded.now = 0.0
        strata = draw(plan, seed)
        ways = Ways(
            plan.spec, strata, expected_costs(plan, strata), f"{seed} 0", N_FIRST, is_timed=True
        )
        sample(
            [ways],
            partial(recorded.submit, ends_s=seconds),
            lambda: recorded.now >= seconds,
            clock=lambda: recorded.now,
        )
        found = [
            Stratum(len(stratum), tuple(costs), exact)
            for stratum, costs, exact in zip(strata, ways.costs, ways.is_exact, strict=True)
        ]
        yield overall(found, [ways])


def main() -> int:
    """Record, or play and print; return 1 if fewer than nine of ten intervals hold the truth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, metavar="FILE")
    parser.add_argument("--plans", type=int, default=1000, metavar="N")
    options = parser.parse_args()
    if options.record:
        record(options.record)
        return 0
    plan = plan_of_3x4()
    truth = Recorded(plan).truth
    is_worth = True
    for seconds in LENGTHS:
        found = list(intervals(plan, seconds, options.plans))
        low = sum(high < truth for _, _, high in found)
        high = sum(low > truth for _, low, _ in found)
        held = len(found) - low - high
        widths = sorted((high - low) / truth for _, low, high in found)
        sys.stdout.write(
            f"{seconds:4} s: {held:,} of {len(found):,} intervals hold the {truth:,.0f} s it "
            f"takes, {low:,} lie below, {high:,} above; median width "
            f"{widths[len(widths) // 2]:.0%}\n"
        )
        is_worth &= held * 10 >= 9 * len(found)
    return 0 if is_worth else 1


if __name__ == "__main__":
    sys.exit(main())
