"""The 32 published 4x4 boards come back from the parts that hold them; from whole classes: tests/bench/golden.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from boardclass.canonical import canonical_board
from boardclass.wordlist import WordList
from cluster.cli.compare import read_boards
from cluster.planning.plan import make_plan
from configs.model import load_config
from search.breaker import Breaker, Spec, Unit
from search.node import Node, class_node, split

N_BOARDS = 32
STEPS = 3  # a fused centre letter at most twice, then the first edge: parts of some seconds


@pytest.fixture(scope="module")
def spec(enable2k: WordList) -> Spec:
    """Return what the 4x4 preset searches for at the published cutoff, with units that are never handed back."""
    config = load_config("4x4", {"wordlist": enable2k.name, "cutoff": 3500, "search": {"unit_budget": 2**61}})
    return make_plan(config).spec


@pytest.fixture(scope="module")
def breaker(spec: Spec) -> Breaker:
    return Breaker(spec)


@pytest.fixture(scope="module")
def listed(golden: Path, breaker: Breaker) -> dict[str, int]:
    """Return the published boards, canonical, with their scores."""
    boards = read_boards(str(golden / "best-4x4-enable2k-3500.txt"), breaker.geometry)
    found = {board: score for board, score in boards.items() if score is not None}
    assert len(found) == N_BOARDS
    return found


def images(board: str, breaker: Breaker) -> list[str]:
    return ["".join(board[cell] for cell in row) for row in breaker.geometry.symmetries.tolist()]


def holds(node: Node, board: str) -> bool:
    """Return whether a part holds a board as it stands and the board meets its demands."""
    return all(mask >> (ord(x) - 97) & 1 for mask, x in zip(node.masks, board, strict=True))


def part_of(breaker: Breaker, class_id: int, board: str) -> Unit:
    """Return the part of a class, some steps down, that holds an image of a board."""
    params = breaker.spec.params
    nodes = [class_node(breaker.partition.class_masks(class_id).tolist(), breaker.geometry, params)]
    for _ in range(STEPS):
        nodes = [part for node in nodes for part in split(node, breaker.geometry, params)]
        nodes = [part for part in nodes if any(holds(part, image) for image in images(board, breaker))]
    return Unit(class_id, nodes[0].path)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_golden_boards_come_back_from_their_parts(breaker: Breaker, listed: dict[str, int]) -> None:
    cut = breaker.partition
    for board, score in listed.items():
        unit = part_of(breaker, cut.canonical_rank(cut.rank_of_board(board)), board)
        result = breaker.break_unit(unit)
        found = {canonical_board(text, breaker.geometry): value for text, value in result.candidates}
        assert found.get(board) == score, (board, unit)
        assert found.items() <= listed.items()
