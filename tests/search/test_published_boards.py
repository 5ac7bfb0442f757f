"""Published boards of 3x4 come back from the classes that hold them; 4x4 within the memory of a worker: nightly."""

from __future__ import annotations

import multiprocessing
import resource
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from boardclass.canonical import canonical_board
from boardclass.scores import parse_scores
from boardclass.wordlist import WordList
from cluster.planning.plan import make_plan
from configs.model import load_config
from search.breaker import Breaker, Spec, Unit
from search.params import Params
from tests.search.test_breaker import SINGLE


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_golden_boards_come_back(enable2k: WordList, golden: Path) -> None:
    points = parse_scores("standard").points
    breaker = Breaker(Spec("3x4", enable2k.words, points, 1500, SINGLE, Params(unit_budget=1 << 60)))
    lines = (golden / "best-3x4-enable2k-1500.txt").read_text().split("\n")
    listed = {
        canonical_board(board, breaker.geometry): int(score) for board, score in (x.split(": ") for x in lines if x)
    }
    cut = breaker.partition
    found = {}
    for class_id in sorted({cut.canonical_rank(cut.rank_of_board(board)) for board in listed}):
        result = breaker.break_unit(Unit(class_id))
        assert not result.children
        found |= {canonical_board(board, breaker.geometry): score for board, score in result.candidates}
    assert found == listed
    assert len(listed) == 33


def breaker_of_4x4(unit_budget: int) -> Breaker:
    """Return what the 4x4 preset searches with at the published cutoff."""
    config = load_config("4x4", {"wordlist": "enable2k", "cutoff": 3500, "search": {"unit_budget": unit_budget}})
    return Breaker(make_plan(config).spec)


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
    breaker = breaker_of_4x4(60_000_000)
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
