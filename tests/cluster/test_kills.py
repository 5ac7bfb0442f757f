"""Kill anything, lose nothing; 200 kills: ``python -m tests.cluster.campaign``."""

from __future__ import annotations

import os

import pytest

from results.store.run import open_run
from tests.cluster.campaign import Campaign, config_of_units
from tests.cluster.processes import command_line, descendants

pytest.importorskip("ray")

# Each is shot at by itself, some of them every day, in test_ray_process and test_ray_driver.
EVERY = [
    "worker",
    "worker",
    "worker-term",
    "worker-stop",
    "raylet",
    "raylet-term",
    "ray",
    "guard",
    "driver",
    "all-term",
]


@pytest.mark.ray
@pytest.mark.nightly
@pytest.mark.timeout(1500)  # two minutes, unless the machine has ten other things to do
def test_kills_and_the_digest_of_an_undisturbed_run(tmp_path):
    campaign = Campaign(config_of_units(tmp_path), tmp_path, seed=0, pause_s=0.25)
    digest, n_units = campaign.undisturbed()
    victims = campaign.rng.sample(EVERY, len(EVERY))
    try:
        notes = campaign.play(victims, n_units)
    finally:
        campaign.child.kill()
    assert campaign.kills.total() == len(victims)
    assert notes.digest == digest
    rows = [row for row in open_run(campaign.config.out).rows() if row.is_verdict]
    assert len(rows) == len({row.key for row in rows}) == n_units
    assert 0 < notes.n_twice <= campaign.n_excused
    alive = [process for process in descendants() - {os.getpid()} if "ray::Worker" in command_line(process)]
    assert not alive
