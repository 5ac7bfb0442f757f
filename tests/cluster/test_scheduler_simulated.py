"""The scheduler is right under kills, delays, duplicates, reordering and lost replies."""

from __future__ import annotations

import pytest

from tests.cluster.simulator import Simulation
from tests.samples import daily

N_SEEDS = 1000
N_BATCHES = 10


@pytest.mark.parametrize("batch", daily(range(N_BATCHES), lambda batch: batch < 3))
def test_keeps_its_promises(batch):
    n = N_SEEDS // N_BATCHES
    for seed in range(batch * n, (batch + 1) * n):
        Simulation(seed).play()


def test_same_seed_same_run():
    first, second = Simulation(3).play(), Simulation(3).play()
    assert first.log == second.log


def test_storms_do_happen():
    runs = [Simulation(seed).play() for seed in range(60)]
    text = "\n".join(line for run in runs for line in run.log)
    for sign in (
        "lost Answer",
        "lost WorkerDown",
        "Death.oom",
        "Death.node",
        "alone=True",
        "silent for too long",
        "Quarantine",
    ):
        assert sign in text
    assert sum(run.scheduler.snapshot().n_duplicates for run in runs) > 0
    assert sum(not run.quarantined for run in runs) > 0
