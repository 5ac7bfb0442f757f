"""Words of more than eight letters, from path shapes.

The moves of eight positions fill an absorb word (search.terms.paths), so the ninth letter begins a
second one; eight bare cells fill a position's part of it, so the ninth bare cell has no bit; and a
word of twelve letters has more pairs of positions than a swap word has bits.  Each of these is
tried on both sides.

Every case has so few words that one lost way is one lost point: the words lie on one path, and one
of its cells, at a position t, can be exchanged for an unused one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import pytest

from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.search.terms import shapes
from orderly_boggle.search.terms.path_table import MAX_EXTRA
from orderly_boggle.search.terms.paths import paths_of_length
from tests.reference.orderly import all_scores
from tests.samples import daily
from tests.search.harness import Case
from tests.search.test_kin import found_with, held, rim_with_kin, wanted_terms
from tests.search.test_paths import Path, is_path, moved, unpacked
from tests.search.test_shapes import run, without

ALONG = "abcdefghijklmnop"  # the letters along a path
OTHER, KIN = "z", "y"  # a letter that no word has, and one that stands for another in a second word


@dataclass(frozen=True)
class World:
    """A board, how many of its first cells are bare, the lengths of the words tried on it, and
    whether a free cell may also hold a letter that no word has.
    """

    dims: str
    n_bare: int
    lengths: range
    is_open: bool = True


# eight bare cells on 12, more than absorption has bits for, up to 16 letters on a narrow board, and
# the largest board whose paths are followed to their end
WORLDS = [
    World("3x4", 8, range(8, 12)),
    World("3x4", 10, range(8, 12)),
    World("2x8", 9, range(12, 16)),
    World("4x4", 6, range(15, 16), is_open=False),
]
FIRST = 7  # position tried: the last of the first word
KINDS = ("equal", "different", "fused", "both fused", "kin", "kin on both", "kin and equal")
OF_A_FREE_CELL = ("equal", "different", "both fused", "kin on both", "kin and equal")


class Exchange(NamedTuple):
    """A path, a position of it, and the unused bare cell that its cell there, which may be bare as
    well, can be exchanged for.
    """

    path: Path
    t: int
    other: int


@cache
def some_paths(dims: str, length: int) -> list[Path]:
    """Return paths of a length, in random order."""
    every = paths_of_length(geometry(dims), length)
    some = random.Random(f"{dims} {length}").sample(range(len(every)), min(len(every), 2000))
    return [unpacked(packed, length) for packed in every[some].tolist()]


def exchanges(world: World) -> Iterator[tuple[Exchange, list[str]]]:
    """Yield an exchange of each two bare cells, and of a free and each bare one, for each length
    and position from FIRST on, where the board has a path for it; with its kinds, of which every
    day the first and another one are tried.
    """
    board = geometry(world.dims)
    bare = board.cell_order[: world.n_bare]
    for length in world.lengths:
        tried: set[tuple[int, int, int]] = set()
        for path in some_paths(world.dims, length):
            for t in range(FIRST, length):
                for other in bare:
                    here = t, path[t] if path[t] in bare else -1, other
                    there = moved(path, t, other)
                    if here not in tried and other not in path and is_path(board, there):
                        first, *others = KINDS if path[t] in bare else OF_A_FREE_CELL
                        n = len(tried) % len(others)
                        tried.add(here)
                        yield Exchange(path, t, other), [first, *others[n:], *others[:n]]
        assert set(range(FIRST, min(length, 12))) <= {t for t, *_ in tried}


def case_of(world: World, exchange: Exchange, kind: str) -> tuple[Case, tuple[str, ...]]:
    """Return a class on which a word lies both ways, or not, and the buckets of its kin."""
    board = geometry(world.dims)
    bare = frozenset(board.cell_order[: world.n_bare])
    path, t, other = exchange
    word = ALONG[: len(path)]
    letters = [OTHER] * board.n
    for cell, letter in zip(path, word, strict=True):
        letters[cell] = letter if cell in bare or not world.is_open else letter + OTHER
    points = {word: 1}
    buckets: tuple[str, ...] = ()
    if kind != "different":
        letters[other] = word[t]
    if kind in ("fused", "both fused") and path[t] in bare:
        letters[path[t]] += OTHER
    if kind == "both fused":
        letters[other] += OTHER
    if kind.startswith("kin"):
        points[moved_letter(word, t)] = 1
        letters[path[t]] += KIN
        buckets = (word[t] + KIN,)
    if kind == "kin on both":
        letters[other] += KIN
    if kind == "kin and equal":  # a third word, which has other points, is nobody's kin
        points[word[:-1]] = 2
    return Case(world.dims, tuple(letters), bare, points), buckets


def moved_letter(word: str, t: int) -> str:
    return word[:t] + KIN + word[t + 1 :]


def cases(world: World, n_kinds: int) -> Iterator[tuple[Exchange, Case, tuple[str, ...]]]:
    for exchange, kinds in exchanges(world):
        for kind in kinds[:n_kinds]:
            yield exchange, *case_of(world, exchange, kind)


@pytest.mark.parametrize("n_kinds", daily([2], [len(KINDS)]))
@pytest.mark.parametrize("world", WORLDS)
def test_a_word_keeps_a_way_at_every_position(world, n_kinds):
    """Its terms are those of the definition, and no board scores more than the terms that hold."""
    n_held = Counter[int]()
    for _, case, buckets in cases(world, n_kinds):
        terms = found_with(case, rim_with_kin(case, buckets))
        assert terms == wanted_terms(case, buckets)
        for board, score in all_scores(case.letters, case.size, case.points).items():
            points = held(board, terms)
            assert points >= score, f"a way of {board} is lost"
            n_held[points - score] += score > 0
    assert n_held[0] > 0.6 * n_held.total(), "else a lost way may hide behind another"


@pytest.mark.parametrize("n_kinds", daily([2], [len(KINDS)]))
@pytest.mark.parametrize("world", daily(WORLDS[:1], WORLDS[1:2]))
def test_what_new_bare_cells_change_makes_the_terms_of_long_words(world, n_kinds):
    """Gains and losses, of the last bare cells, or of a cell that was left out as a hole."""
    n_lost = 0
    for exchange, case, buckets in cases(world, n_kinds):
        rim = rim_with_kin(case, buckets)
        bare = [c for c in case.geometry.cell_order if c in case.bare]
        for cells in ([exchange.other], bare[bare.index(exchange.other) :]):
            below = without(case, frozenset(cells))
            terms = found_with(below, rim_with_kin(below, buckets))
            change = found_with(case, rim, sum(1 << bare.index(c) for c in cells))
            n_lost += sum(points < 0 for points in change.values())
            terms.update(change)
            assert all(points >= 0 for points in terms.values())
            assert +terms == found_with(case, rim)
    assert n_lost


@pytest.mark.parametrize("t", [FIRST, FIRST + 1])
def test_of_two_new_cells_one_takes_a_way_away_though_the_other_stands_for_kin(t):
    """Of the last letter, on a free cell, whose term both new cells would do without."""
    board = geometry("3x4")
    bare = board.cell_order[:8]
    word = ALONG[: t + 1]
    points, buckets = {word: 1, moved_letter(word, t): 1}, (word[t] + KIN,)
    n_lost = 0
    for path in some_paths("3x4", t + 1):
        others = [c for c in bare if c not in path and is_path(board, moved(path, t, c))]
        if path[t] not in bare and len(others) == 2 and n_lost < 40:
            letters = [OTHER] * board.n
            for cell, letter in zip(path, word, strict=True):
                letters[cell] = letter if cell in bare else letter + OTHER
            letters[others[n_lost % 2]] = word[t]
            letters[others[1 - n_lost % 2]] = word[t] + KIN
            case = Case("3x4", tuple(letters), frozenset(bare), points)
            first = min(map(bare.index, others))
            below = without(case, frozenset(bare[first:]))
            new = (1 << len(bare)) - (1 << first)
            change = found_with(case, rim_with_kin(case, buckets), new)
            terms = found_with(below, rim_with_kin(below, buckets))
            n_lost += any(points < 0 for points in change.values())
            terms.update(change)
            assert +terms == wanted_terms(case, buckets)
    assert n_lost


@pytest.mark.parametrize("n_kinds", daily([2], [len(KINDS)]))
@pytest.mark.parametrize("world", WORLDS[:2])
def test_extra_cells_of_a_smaller_table_give_the_same_terms_of_long_words(world, n_kinds):
    every = []
    for _, case, buckets in cases(world, n_kinds):
        rim = rim_with_kin(case, buckets)
        if (rim.fused < world.n_bare - MAX_EXTRA).all():  # kin are for cells of every layer
            every.append((case, rim))
    new_ones = [0, 1 << world.n_bare - 1, 6 << world.n_bare - 3]
    of_table: list[list[list[int]]] = []
    for n_extra in range(MAX_EXTRA + 1):
        found = []
        for case, rim in every:
            here = rim._replace(n_extra=n_extra)
            for new in new_ones:
                for only in (shapes.ALL, shapes.GAINS, shapes.LOSSES):
                    terms = run(case, new, 1 << 12, n_extra=n_extra, only=only, rim=here)[1]
                    found.append(sorted(terms.tolist()))
        of_table.append(found)
    assert of_table[1:] == of_table[:1] * MAX_EXTRA
    assert any(of_table[0])
