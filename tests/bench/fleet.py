"""How long a stored run takes on so many workers, at the prices that ``make bench`` measured last.

    python -m tests.bench.fleet RUN [WORKERS ...]

Its units are priced by their terms and pushes and dealt to idle workers, the dearest first.  What
starting machines takes is left out, and that a child waits for its parent.
"""

from __future__ import annotations

import heapq
import sys

import numpy as np

from results.store.run import open_run
from tests.bench.figures import newest_prices

FLEETS = (16, 64, 512)


def unit_seconds(location: str, term_ns: float, push_ns: float) -> list[float]:
    """Return the priced seconds of each unit of a run, the dearest first."""
    costs = [0.0]
    for table in open_run(location).columns(("n_terms", "n_pushes")):
        terms, pushes = (table.column(name).to_numpy() for name in ("n_terms", "n_pushes"))
        costs += (np.array(terms * term_ns + pushes * push_ns) / 1e9).tolist()
    return sorted(costs, reverse=True)


def hours_of(costs: list[float], n_workers: int) -> float:
    """Return when the last of the workers is done."""
    ends = [0.0] * n_workers
    for cost in costs:
        heapq.heapreplace(ends, ends[0] + cost)
    return max(ends) / 3600


def main() -> int:
    """Print a line per fleet."""
    location, *fleets = sys.argv[1:]
    term_ns, push_ns, where = newest_prices()
    costs = unit_seconds(location, term_ns, push_ns)
    total, largest = sum(costs) / 3600, costs[0]
    sys.stdout.write(f"{total:.1f} core hours, largest unit {largest:.0f} s ({where})\n")
    for n_workers in map(int, fleets or FLEETS):
        sys.stdout.write(f"{n_workers:6,} workers: {hours_of(costs, n_workers):.2f} h\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
