"""How long a stored run takes on so many workers, at the prices that ``make bench`` measured last.

    python -m tests.bench.fleet CONFIG RUN [WORKERS ...]

The scheduler of the program deals the units of the run to workers that are all there from the
start, in the order of its own predictions; they are priced by their terms and pushes.  Once with
hurried splitting and once without: a hurried unit is back after 10 s, and what is left of it comes
in parts of 20 s at most, as was seen of class 46,747 of 4x4.
"""

from __future__ import annotations

import heapq
import math
import sys
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.cluster.scheduling import events
from orderly_boggle.cluster.scheduling.backlog import Work
from orderly_boggle.cluster.scheduling.scheduler import Scheduler
from orderly_boggle.configs.model import load_config
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search.breaker import Unit, UnitResult
from orderly_boggle.search.costs import predicted_costs
from tests.bench.figures import newest_prices

FLEETS = (16, 64, 512, 4096)
TURN_S = 0.1  # the driver looks at its workers so often
HURRIED_S, PART_S = 10.0, 20.0


@dataclass
class Units:
    """What the units of a run take, and what they are split into."""

    seconds: dict[Unit, float]
    parts: defaultdict[int, list[Unit]]  # of the classes that were split

    def broken(self, unit: Unit, *, hurries: bool) -> UnitResult:
        """Return the verdict on a unit; what is left of a hurried one becomes units of its own."""
        seconds = self.seconds[unit]
        parts = [] if unit.path else self.parts[unit.class_id]
        if hurries and seconds > HURRIED_S:
            n_parts = math.ceil((seconds - HURRIED_S) / PART_S)
            left = [Unit(unit.class_id, f"{unit.path}/{n}=a".lstrip("/")) for n in range(n_parts)]
            self.seconds |= dict.fromkeys(left, (seconds - HURRIED_S) / n_parts)
            seconds, parts = HURRIED_S, [*parts, *left]
        status = "split" if parts else "eliminated"
        effort = {"n_terms": int(seconds * 1e7)}
        return UnitResult(unit, status, 1, 1, (), tuple(parts), (), effort, seconds)


def units_of(location: str, term_ns: float, push_ns: float) -> Units:
    """Return the units of a run, priced."""
    found = Units({}, defaultdict(list))
    names = ("class_id", "path", "n_terms", "n_pushes")
    for table in open_run(location).columns(names):
        columns = [table.column(name).to_pylist() for name in names]
        for class_id, path, n_terms, n_pushes in zip(*columns, strict=True):
            unit = Unit(class_id, path)
            found.seconds[unit] = (n_terms * term_ns + n_pushes * push_ns) / 1e9
            found.parts[class_id] += [unit] if path else []
    return found


def hours_of(
    units: Units, predicted: npt.NDArray[np.float64], n_workers: int, *, hurries: bool
) -> float:
    """Play the run to its end and return the hours."""
    class_ids = sorted(unit.class_id for unit in units.seconds if not unit.path)
    scheduler = Scheduler(
        events.Policy(n_workers, lease_s=600.0),
        Work(np.array(class_ids), predicted),
        np.random.default_rng(1),
        str,  # no replicas are compared
    )
    now_s, n_queued = 0.0, 0
    queue: list[tuple[float, int, list[events.Event]]] = []
    came: list[events.Event] = [events.Room(n_workers)]
    while True:
        orders: list[events.Instruction] = []
        for event in (*came, events.Tick()):
            orders += scheduler.handle(event, now_s)
        for order in orders:
            if isinstance(order, events.Finish):
                return now_s / 3600
            spent_s, told = 0.0, []
            if isinstance(order, events.Spawn):
                told = [events.WorkerUp(order.worker, "host")]
            elif isinstance(order, events.Assign):
                where = order.worker, order.assignment
                for unit in order.units:
                    result = units.broken(unit, hurries=hurries and order.hurry)
                    spent_s += result.seconds
                    told.append(events.Answer(*where, result, "host"))
                told.append(events.Returned(*where))
            n_queued += 1
            heapq.heappush(queue, (now_s + spent_s, n_queued, told))
        now_s = max(now_s + TURN_S, queue[0][0])
        came = []
        while queue and queue[0][0] <= now_s:
            came += heapq.heappop(queue)[2]


def main() -> int:
    """Print a line per fleet."""
    config, location, *fleets = sys.argv[1:]
    term_ns, push_ns, where = newest_prices()
    plan = make_plan(load_config(config))
    predicted = predicted_costs(plan.question, plan.question.class_ids())
    seconds = units_of(location, term_ns, push_ns).seconds.values()
    total, largest = sum(seconds) / 3600, max(seconds)
    sys.stdout.write(f"{total:.1f} core hours, largest unit {largest:.0f} s ({where})\n")
    for n_workers in map(int, fleets or FLEETS):
        hours = [
            hours_of(units_of(location, term_ns, push_ns), predicted, n_workers, hurries=hurries)
            for hurries in (True, False)
        ]
        sys.stdout.write(
            f"{n_workers:6,} workers: {hours[0]:.3f} h, {hours[1]:.3f} without hurried splitting\n"
        )
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
