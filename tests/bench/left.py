"""How near the time left is to the truth, and how often its interval holds it, in replays of runs
whose costs are known.

    python -m tests.bench.left [RUN ...]    # published runs; seconds

The classes of a run end in the order in which a driver hands them out: a random hundredth, then
the others, expensive ones first.  Each costs the terms, pushes and splits of its rows, so a second
is an effort of 1.  The forecast is asked when 2, 5, 10, 20, 35, 50, 70 and 90 % of them have ended,
for five draws of the hundredth.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Float64s
from orderly_boggle.cluster.scheduling.backlog import order_of
from orderly_boggle.cluster.scheduling.forecast import NO_HISTORY, Forecast
from orderly_boggle.results.storage.files import PUBLISHED
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search.costs import likely_costs

RUNS = (
    "4x4-enable2k",
    "4x4-enable2k-words",
    "3x5-enable2k",
    "3x4-enable2k",
    "3x4-scowl70",
    "3x4-yawl",
    "3x4-debian-spanish",
    "3x4-debian-italian",
    "3x4-debian-swedish",
)
ENDED = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
DRAWS = 5
SAMPLE = 0.01  # of the classes, that a driver hands out first


class Asked(NamedTuple):
    """What a forecast said, and what was true; ``low`` and ``high`` are None where it did not tell
    an interval.
    """

    said: float
    truth: float
    low: float | None
    high: float | None

    @property
    def holds(self) -> bool:
        """Whether there is an interval, and the truth is in it."""
        if self.low is None or self.high is None:
            return False
        return self.low <= self.truth <= self.high


def costs_of(name: str) -> tuple[Float64s, Float64s]:
    """Return the likely costs of the classes of a published run, and their efforts, float64[n]
    each.
    """
    run = open_run(str(PUBLISHED / name))
    efforts: Counter[int] = Counter()
    for table in run.columns(["class_id", "n_terms", "n_pushes", "n_splits"]):
        for row in table.to_pylist():
            efforts[row["class_id"]] += row["n_terms"] + row["n_pushes"] + row["n_splits"]
    ids = np.array(sorted(efforts), np.int64)
    costs = np.array([efforts[class_id] for class_id in ids.tolist()], np.float64)
    return likely_costs(run.question, ids), np.maximum(costs, 1.0)


def replayed(likely: Float64s, efforts: Float64s, seed: int) -> Iterator[Asked]:
    """Let the classes end one by one; yield what the forecast says in between."""
    forecast = Forecast(likely, NO_HISTORY, np.empty(0))
    order = order_of(likely, np.random.default_rng(seed), SAMPLE)
    ask_at = {int(share * len(order)) for share in ENDED}
    left = float(efforts.sum())
    for n_ended, place in enumerate(order.tolist()):
        if n_ended in ask_at:
            low, high = None, None
            interval = forecast.range_s()
            if interval:
                low, high = interval
            yield Asked(forecast.remaining_s(), left, low, high)
        effort = float(efforts[place])
        forecast.close_class(place)
        forecast.note_verdict(place, effort, effort)
        forecast.note_class(place, effort)
        left -= effort


def all_replayed(name: str) -> list[Asked]:
    """Replay a run with each draw of the sample."""
    likely, efforts = costs_of(name)
    asked = []
    for seed in range(DRAWS):
        asked += replayed(likely, efforts, seed)
    return asked


def main() -> None:
    """Replay and print a line for each run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="*", default=list(RUNS))
    for name in parser.parse_args().runs:
        asked = all_replayed(name)
        squares = [log(one.said / one.truth) ** 2 for one in asked]
        error = sqrt(sum(squares) / len(squares))
        n_told = sum(one.low is not None for one in asked)
        n_held = sum(one.holds for one in asked)
        sys.stdout.write(
            f"{name:20} off by {error:.0%} (root mean square of the logarithm), {n_held} of "
            f"{n_told} intervals hold the truth\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
