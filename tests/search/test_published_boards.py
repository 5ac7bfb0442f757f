"""Published boards of 3x4 and 4x4 come back from the classes that hold them, within the memory of a worker: nightly."""

from __future__ import annotations

import multiprocessing
import resource
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from boardclass.canonical import canonical_board
from boardclass.scores import parse_scores
from boardclass.wordlist import WordList
from cluster.cli.ask import read_boards
from cluster.planning.plan import make_plan
from configs.model import load_config
from search.breaker import Breaker, Spec, Unit
from search.node import class_node, split
from search.params import Params
from tests.reference.classes import slow_images
from tests.search.test_breaker import SINGLE
from tests.search.test_node import holds


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


N_BOARDS = 32
STEPS = 3  # a fused centre letter at most twice, then the first edge: parts of some seconds


def breaker_of_4x4(unit_budget: int) -> Breaker:
    """Return what the 4x4 preset searches with at the published cutoff."""
    config = load_config("4x4", {"wordlist": "enable2k", "cutoff": 3500, "search": {"unit_budget": unit_budget}})
    return Breaker(make_plan(config).spec)


def part_of(breaker: Breaker, class_id: int, board: str) -> Unit:
    """Return the part of a class, some steps down, that holds an image of a board."""
    params, images = breaker.spec.params, {"".join(image) for image in slow_images(board, 4, 4)}
    nodes = [class_node(breaker.partition.class_masks(class_id).tolist(), breaker.geometry, params)]
    for _ in range(STEPS):
        nodes = [part for node in nodes for part in split(node, breaker.geometry, params)]
        nodes = [part for part in nodes if any(holds(part, image) for image in images)]
    return Unit(class_id, nodes[0].path)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("enable2k")
def test_golden_boards_come_back_from_their_parts(golden: Path) -> None:
    breaker = breaker_of_4x4(2**61)  # units are never handed back
    listed, cut = read_boards(str(golden / "best-4x4-enable2k-3500.txt"), breaker.geometry), breaker.partition
    assert len(listed) == N_BOARDS
    for board, score in listed.items():
        unit = part_of(breaker, cut.canonical_rank(cut.rank_of_board(board)), board)
        result = breaker.break_unit(unit)
        found = {canonical_board(text, breaker.geometry): value for text, value in result.candidates}
        assert found.get(board) == score, (board, unit)
        assert found.items() <= listed.items()


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
