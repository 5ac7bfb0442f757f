"""The strongest centres of 4x4 keep to the memory they are given: what a worker holds, measured in one."""

from __future__ import annotations

import subprocess
import sys

import pytest

CENTRES = ("atin", "east", "tain", "eeee")
MOST_MB = 2048
PROGRAM = """
import resource, sys
from cluster.plan import make_plan
from configs.model import load_config
from search.breaker import Breaker, Unit

plan = make_plan(load_config("4x4", {"wordlist": "enable2k", "cutoff": 3500, "search": {"unit_budget": 60_000_000}}))
breaker = Breaker(plan.spec)
cut, cells = breaker.partition, [5, 6, 9, 10]
for centre in sys.argv[1:]:
    board = ["z"] * 16
    for cell, letter in zip(cells, centre):
        board[cell] = letter
    class_id = cut.canonical_rank(cut.rank_of_board("".join(board)))
    unit = Unit(class_id)
    for _ in range(4):  # the strongest part of the strongest part, and so on
        result = breaker.break_unit(unit)
        print(centre, unit.path or "-", result.counters["max_tree_bytes"])
        if not result.children:
            break
        unit = result.children[-1]
print("resident", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_the_strongest_centres_stay_within_the_memory_of_a_worker(enable2k):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *CENTRES], capture_output=True, text=True, check=True, timeout=1100
    )
    *units, (_, resident_mb) = (line.split() for line in done.stdout.splitlines())
    assert {centre for centre, *_ in units} == set(CENTRES)
    assert any(path != "-" for _, path, _ in units), "they are split"
    assert all(int(n_bytes) <= 1408 << 20 for *_, n_bytes in units)
    assert int(resident_mb) < MOST_MB
