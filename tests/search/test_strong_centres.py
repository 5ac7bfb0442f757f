"""The strongest centres of 4x4 keep to the memory they are given: what a worker holds, in a process of its own."""

from __future__ import annotations

import multiprocessing
import resource
from concurrent.futures import ProcessPoolExecutor

import pytest

from cluster.planning.plan import make_plan
from configs.model import load_config
from search.breaker import Breaker, Unit
from search.params import Params

CENTRES = ("atin", "east", "tain", "eeee")
MOST_MB = 2048


def strongest_parts(centre: str, breaker: Breaker) -> list[tuple[str, int]]:
    """Break a class, the strongest part left of it, the strongest part of that; return paths and bytes of trees."""
    letters = iter(centre)
    board = "".join(next(letters) if kind == "center" else "z" for kind in breaker.geometry.cell_types)
    unit = Unit(breaker.partition.canonical_rank(breaker.partition.rank_of_board(board)))
    found = []
    for _ in range(4):
        result = breaker.break_unit(unit)
        found.append((unit.path, result.counters["max_tree_bytes"]))
        if not result.children:
            break
        unit = result.children[-1]
    return found


def measure(centres: tuple[str, ...]) -> tuple[list[tuple[str, int]], int]:
    """Return what one breaker says of all centres, and the largest resident memory of this process, MiB."""
    search = {"unit_budget": 60_000_000}
    breaker = Breaker(make_plan(load_config("4x4", {"wordlist": "enable2k", "cutoff": 3500, "search": search})).spec)
    found = [part for centre in centres for part in strongest_parts(centre, breaker)]
    return found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_the_strongest_centres_stay_within_the_memory_of_a_worker(enable2k):
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        parts, resident_mb = pool.submit(measure, CENTRES).result()
    assert len(parts) > len(CENTRES), "they are split"
    assert all(n_bytes <= Params().memory_mb << 20 for _, n_bytes in parts)
    assert resident_mb < MOST_MB
