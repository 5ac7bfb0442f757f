"""How often the interval of ``orderly plan`` holds the truth: many plans of runs whose cost is
known.

    python -m tests.bench.coverage                  # 1,000 plans of each length, from what was
                                                    # recorded; minutes
    python -m tests.bench.coverage --record NAME FILE    # search every unit once and record it

    3x4     ENABLE2K, cutoff 1500: 351 classes, of which 5 are split; CPU seconds
    deep    3x3, cutoff 300: 26 classes that split at once, level after level, into 4,501 units,
            each of which counts as a second; the largest class has 835
    3x5-enable2k, 4x4-enable2k    published runs: a unit costs what its terms and pushes do, at 123
            and 39 ns; it is larger than the units that a plan searches

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
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from orderly_boggle.cluster.planning.estimate import PROBE_BUDGET, Probes, sample
from orderly_boggle.cluster.planning.plan import Plan, make_plan
from orderly_boggle.configs.model import load_config
from orderly_boggle.results.storage.files import PUBLISHED
from orderly_boggle.results.store.rows import VERDICTS
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search.breaker import Breaker, Unit

HERE = Path(__file__).parent
PRICES_NS = {"n_terms": 123, "n_pushes": 39}


class Verdict(NamedTuple):
    """What a recorded unit cost, seconds, and what it split into."""

    seconds: float
    children: list[Unit]


@dataclass
class Case:
    """A run whose cost is known: a breaker that knows it, and a clock that goes on by it."""

    config: str  # a size or a preset
    options: dict[str, Any]
    params: dict[str, int]
    costs: Path
    lengths: tuple[int, ...]  # seconds of a plan
    is_timed: bool = True  # else each unit counts as a second
    now: float = 0.0

    @cached_property
    def plan(self) -> Plan:
        """The plan of the run."""
        plan = make_plan(load_config(self.config, {**self.options, "workers": 0}))
        return replace(
            plan, spec=replace(plan.spec, budgets=replace(plan.spec.budgets, **self.params))
        )

    def record(self, file: Path) -> None:
        """Search every class, and every part that a probe could come to; write a line for each:
        class, path, CPU seconds, paths of its children."""
        breaker = Breaker(self.plan.spec)
        todo = [Unit(int(class_id)) for class_id in self.plan.question.class_ids()]
        breaker.break_unit(todo[0])
        with file.open("w") as out:
            while todo:
                unit = todo.pop()
                began = time.process_time()
                result = breaker.break_unit(unit)
                seconds = round(time.process_time() - began, 3) if self.is_timed else 1
                paths = [child.path for child in result.children]
                line = [unit.class_id, unit.path, seconds, paths]
                out.write(json.dumps(line, separators=(",", ":")) + "\n")
                todo += result.children

    @cached_property
    def verdicts(self) -> dict[Unit, Verdict]:
        """What was recorded."""
        verdicts = {}
        for line in self.costs.read_text().splitlines():
            class_id, path, seconds, children = json.loads(line)
            units = [Unit(class_id, child) for child in children]
            verdicts[Unit(class_id, path)] = Verdict(seconds, units)
        return verdicts

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

    def clock(self) -> float:
        """Return the time, seconds."""
        return self.now

    def _share(self, seconds: float) -> float:
        return self.now / seconds

    def _is_over(self, seconds: float) -> bool:
        return self.now >= seconds

    def intervals(self, seconds: float, n: int) -> Iterator[tuple[float, float, float]]:
        """Yield cost, lower and upper end, seconds, of plans with the seeds 0 to n - 1."""
        for seed in range(n):
            self.now = 0.0
            probes = Probes(self.plan, seed, gone=partial(self._share, seconds))
            submit = partial(self.submit, ends_s=seconds)
            sample(probes, 1, submit, partial(self._is_over, seconds), clock=self.clock)
            found = probes.estimate(0, 0.0)
            yield found.cpu_hours * 3600, found.low * 3600, (found.high or inf) * 3600


@dataclass
class Published(Case):
    """A published run; ``costs`` is its directory."""

    @cached_property
    def verdicts(self) -> dict[Unit, Verdict]:
        """The verdicts that the rows of the run hold."""
        verdicts = {}
        names = ["class_id", "path", "status", "children", *PRICES_NS]
        for table in open_run(str(self.costs)).columns(names):
            for row in table.to_pylist():
                if row["status"] in VERDICTS:
                    seconds = sum(row[name] * price / 1e9 for name, price in PRICES_NS.items())
                    units = [Unit(row["class_id"], child) for child in row["children"]]
                    verdicts[Unit(row["class_id"], row["path"])] = Verdict(seconds, units)
        return verdicts


CASES = {
    "3x5-enable2k": Published(
        "3x5-enable2k", {}, {}, PUBLISHED / "3x5-enable2k", (300, 600, 1200, 2400)
    ),
    "4x4-enable2k": Published(
        "4x4-enable2k", {}, {}, PUBLISHED / "4x4-enable2k", (600, 1200, 2400)
    ),
    "3x4": Case(
        "3x4",
        {"wordlist": "enable2k", "cutoff": 1500},
        {"unit_budget": PROBE_BUDGET},
        HERE / "costs-3x4.jsonl",
        (15, 30, 60, 120, 300),
    ),
    "deep": Case(
        "3x3",
        {"cutoff": 300},
        {
            "unit_budget": 10_000,
            "node_budget": 100,
            "least_budget": 100,
            "fused_budget": 100,
            "fused_per_term": 0,
        },
        HERE / "units-3x3.jsonl",
        (90, 180, 360),
        is_timed=False,
    ),
}


def main() -> int:
    """Record, or play and print; return 1 if fewer than 17 of 20 intervals hold the truth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", nargs=2, metavar=("NAME", "FILE"))
    parser.add_argument("--plans", type=int, default=1000, metavar="N")
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    options = parser.parse_args()
    if options.record:
        CASES[options.record[0]].record(Path(options.record[1]))
        return 0
    is_worth = True
    for name in options.only:
        case = CASES[name]
        truth = case.truth
        for seconds in case.lengths:
            found = list(case.intervals(seconds, options.plans))
            low = sum(high < truth for _, _, high in found)
            high = sum(low > truth for _, low, _ in found)
            held = len(found) - low - high
            widths = sorted((high - low) / truth for _, low, high in found)
            factors = sorted(high / low if low else inf for _, low, high in found)
            middle = len(found) // 2
            sys.stdout.write(
                f"{name} {seconds:4} s: {held:,} of {len(found):,} intervals hold the {truth:,.0f} "
                f"s it takes, {low:,} lie below, {high:,} above; median width "
                f"{widths[middle]:.0%}, from end to end {factors[middle]:.2f}\n"
            )
            is_worth &= held * 20 >= 17 * len(found)
    return 0 if is_worth else 1


if __name__ == "__main__":
    sys.exit(main())
