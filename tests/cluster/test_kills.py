"""Kill anything, lose nothing; 200 kills: ``python -m tests.cluster.campaign``."""

from __future__ import annotations

import pytest

from orderly_boggle.configs.model import SearchConfig
from orderly_boggle.results.store.run import open_run
from tests.cluster.campaign import KINDS, Campaign, config_of_units
from tests.cluster.small import SMALL
from tests.samples import daily

SOME, ALL = ["worker", "driver"], [*KINDS, "worker", "worker-stop"]


@pytest.mark.parametrize(
    ("victims", "unit_budget", "question"),
    daily([(SOME, 1, SMALL | {"workers": 2})], [(ALL, 200_000, {})]),
    ids=["some", "all"],
)
@pytest.mark.timeout(1500)  # two minutes, unless the machine has ten other things to do
def test_kills_and_the_digest_of_an_undisturbed_run(tmp_path, victims, unit_budget, question):
    search = SearchConfig(memory_mb=256, unit_budget=unit_budget)
    campaign = Campaign(
        config_of_units(tmp_path, search=search, **question), tmp_path, seed=0, pause_s=0.1
    )
    digest, n_units = campaign.undisturbed()
    try:
        notes = campaign.play(campaign.rng.sample(victims, len(victims)), n_units)
    finally:
        campaign.child.kill()
    assert campaign.kills.total() == len(victims)
    assert notes.digest == digest
    rows = [row for row in open_run(campaign.config.out).rows() if row.is_verdict]
    assert len(rows) == len({row.key for row in rows}) == n_units
    assert 0 < notes.n_twice <= campaign.n_excused
