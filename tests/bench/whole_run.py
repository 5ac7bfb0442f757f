"""A whole run of invented classes: what the driver of a large cluster costs, with its real
scheduler, store, ledger and log.

    python -m tests.bench.whole_run [--size small|middle|full] [--seed N]

Workers and machines are made up, on a clock of their own (virtual.py), on which the time that the
driver spends passes as well: a driver that is too slow falls behind.  Five in a hundred machines
are lost an hour.  "full" are more than 2,862,000 classes, those of 4x5, on 4,096 workers of 256
machines.  Every class is eliminated, in what a lognormal draw says, 24 s on average.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from unittest import mock

from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.cluster.scheduling.events import Policy
from orderly_boggle.configs.model import load_config
from orderly_boggle.results.proof.nodes import SearchNodes
from tests.bench.virtual import Size, VirtualCluster

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Scale:
    """A run, by the groups of letters in a centre cell and in a corner, which make its classes."""

    n_center: int
    n_corner: int
    cluster: Size

    @property
    def buckets(self) -> str:
        """The partition of the letters."""
        center, corner = (_groups(n) for n in (self.n_center, self.n_corner))
        return f"center: {center}, corner: {corner}, edge: {LETTERS}"


def _groups(n: int) -> str:
    cuts = [len(LETTERS) * k // n for k in range(n + 1)]
    return " ".join(LETTERS[a:b] for a, b in pairwise(cuts))


LOST = 0.05
# what a run may take at most, but for a small one, of which a lost machine is a larger share
MUSTS = {"driver CPU s": 7200, "largest memory MiB": 2048, "done twice, %": 1.0}
SCALES = {
    "small": Scale(6, 2, Size(256, 16, LOST)),
    "middle": Scale(9, 2, Size(1024, 64, LOST)),
    "full": Scale(14, 5, Size(4096, 256, LOST)),
}


def play(scale: Scale, seed: int) -> dict[str, float]:
    """Run it to the end and return what it took."""
    size = scale.cluster
    policy = Policy(size.n_workers, replicate=0.01, lease_s=600.0)
    with tempfile.TemporaryDirectory() as folder:
        values = {"buckets": scale.buckets, "cutoff": 3000, "out": f"{folder}/run", "workers": 1}
        config = load_config("4x4", values)
        n_boards = SearchNodes(make_plan(config).question).n_boards
        cluster = VirtualCluster(size, seed, is_busy=True, n_boards=n_boards)
        began_s = time.process_time()
        clock = SimpleNamespace(monotonic=cluster.clock)
        with mock.patch("orderly_boggle.cluster.driver.run_search.time", clock):
            outcome = run(config, make_executor=lambda _spec: cluster, policy=policy)
        spent_s = time.process_time() - began_s - cluster.spent_s
    n_classes = outcome.coverage.n_classes
    assert outcome.n_computed == n_classes, outcome.message
    once_s = cluster.verdict_s
    return {
        "classes": n_classes,
        "driver CPU s": spent_s,
        "driver CPU ms a verdict": 1000 * spent_s / n_classes,
        "largest memory MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "hours on the cluster's clock": cluster.now_s / 3600,
        "workers lost": cluster.n_lost,
        "done twice, %": 100 * (cluster.assigned_s - once_s) / once_s,
        "replicas, %": 100 * cluster.replica_s / once_s,
    }


def main() -> None:
    """Print the figures; end with exit code 1 if one of a large run is more than it may be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=list(SCALES), default="small")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    figures = play(SCALES[options.size], options.seed)
    for name, value in figures.items():
        sys.stdout.write(f"{name:32}{value:14,.2f}\n")
    of_musts = ", ".join(f"{name} {figures[name]:,.2f}" for name in MUSTS)
    sys.stdout.write(f"in all: {of_musts}\n")
    missed = [name for name, most in MUSTS.items() if figures[name] > most]
    if missed and options.size != "small":
        sys.exit(f"more than allowed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
