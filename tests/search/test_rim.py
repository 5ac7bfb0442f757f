"""The rim of a large board is built once on a machine, and every worker maps the file."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest

from orderly_boggle.boardclass.geometry import cell_order_of, geometry
from orderly_boggle.boardclass.scores import TABLES, ScoreTable, parse_scores
from orderly_boggle.search.node import Node, OpenClass
from orderly_boggle.search.params import Budgets, Rules
from orderly_boggle.search.scoring.scorer import trie_of
from orderly_boggle.search.trees.forest import Forest
from tests.search.harness import random_words
from tests.search.test_forest import snapshot

CENTRE = OpenClass((5, 6, 9, 10), ())
EVERY = (1 << 26) - 1
WORDS = tuple(random_words(random.Random(5), "aest", 40, 6))


def node(letters: str) -> Node:
    """Return the class of 4x4 with one letter on each centre cell."""
    masks = [EVERY] * 16
    for cell, letter in zip(CENTRE.bare, letters, strict=True):
        masks[cell] = 1 << ord(letter) - 97
    return Node(tuple(masks), sum(1 << cell for cell in CENTRE.bare))


def new_forest(
    words: tuple[str, ...] = WORDS,
    table: ScoreTable = TABLES["standard"],
    order: str = "ring",
    memory_mb: int = 16,
) -> Forest:
    board = geometry("4x4", cell_order_of("4x4", order))
    return Forest(board, trie_of(words, table, 16), Rules(), Budgets(memory_mb=memory_mb))


def grown_on_the_rim(forest: Forest, letters: str = "tses") -> tuple[dict[int, int], int]:
    found = snapshot(forest.grow_on_layers(CENTRE, node(letters)))
    assert not forest.stack[0].bare, "another bottom"
    return found


def grown_at_once(forest: Forest, letters: str = "tses") -> tuple[dict[int, int], int]:
    free = [cell for cell in forest.geometry.cell_order if cell not in CENTRE.bare]
    return snapshot(forest.grow(node(letters), free))


def laid() -> list[Path]:
    """Return the files of rims that begin the arrays of this process."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [Path(line.split()[-1]) for line in lines if "/rims/" in line and " rw-p " in line]


def test_the_second_forest_has_the_rim_of_the_first_and_the_same_trees():
    before = len(laid())
    first, second = new_forest(), new_forest()
    for letters in ("tses", "eeee", "nsta"):
        wanted = grown_at_once(new_forest(), letters)
        assert grown_on_the_rim(first, letters) == wanted
        assert grown_on_the_rim(second, letters) == wanted
    assert len(laid()) == before + 6  # keys, points and cells of both


@pytest.mark.parametrize(
    "other",
    [
        new_forest,
        partial(new_forest, (*WORDS, "mire")),
        partial(new_forest, table=TABLES["words"]),
        partial(new_forest, table=parse_scores("2,2,4,6,10,22")),  # each twice the standard
        partial(new_forest, order="pairs"),
    ],
)
def test_a_rim_is_that_of_the_list_the_points_and_the_cell_order(other):
    grown_on_the_rim(new_forest())
    assert grown_on_the_rim(other()) == grown_at_once(other())


@pytest.mark.usefixtures("terms_not_mb")
def test_a_rim_that_did_not_fit_fits_more_memory():
    words = (*WORDS, "stints")
    wanted = grown_at_once(new_forest(words, memory_mb=1 << 18))
    for _ in range(2):
        assert new_forest(words, memory_mb=500).grow_on_layers(CENTRE, node("tses")) is None
        assert grown_on_the_rim(new_forest(words, memory_mb=1 << 18)) == wanted


def test_a_damaged_rim_is_built_again():
    words = (*WORDS, "mites")
    before = set(laid())
    forest = new_forest(words)
    wanted = grown_on_the_rim(forest)
    files = set(laid()) - before
    assert len(files) == 3
    del forest  # whose memory they are
    for file in files:
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.unlink()
        file.write_bytes(data)
    assert grown_on_the_rim(new_forest(words)) == wanted == grown_at_once(new_forest(words))


def test_the_rim_is_there_again_after_another_bottom_took_its_place():
    """What a class writes over the rim stays its own."""
    forest = new_forest()
    wanted = grown_on_the_rim(forest)
    forest.terms(node("nsta"), [c for c in forest.geometry.cell_order if c not in CENTRE.bare])
    assert grown_on_the_rim(forest) == wanted
    assert grown_on_the_rim(new_forest()) == wanted
