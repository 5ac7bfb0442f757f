"""Merging terms into a tree gives what building all of them at once gives, and leaves the old tree
alone.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from orderly_boggle.search.trees import merge, tree
from tests.search import harness

pytestmark = pytest.mark.usefixtures("width")

LEVELS = [1, 2, 3, 5, 12]
Terms = dict[int, int]


def random_terms(rng: random.Random, n_levels: int, n: int, letters: int) -> Terms:
    """Return points by key; few letters make the keys share much."""
    terms: Terms = {}
    for _ in range(n):
        key = 0
        for _ in range(n_levels):
            key = key << 5 | (rng.randint(1, letters) if rng.random() < 0.4 else 0)
        terms[key] = terms.get(key, 0) + rng.randint(1, 11)
    return terms


def added(*some: Terms) -> Terms:
    """Return the terms of all, the points of equal ones added up, without those that are left with
    none.
    """
    total: Counter[int] = Counter()
    for terms in some:
        total.update(terms)
    return {key: points for key, points in total.items() if points}


class Ground:
    """Arrays that trees grow in, one after the other."""

    def __init__(self, n_levels: int, n_keys: int = 5000, n_cells: int = 200_000) -> None:
        self.n_levels = n_levels
        self.keys = np.zeros(n_keys, np.uint64)
        self.points = np.zeros(n_keys, np.int32)
        self.cells = np.zeros(n_cells, np.int32)
        self.width = harness.width
        self.n_keys = 0
        self.tip = 1

    @property
    def bounds(self) -> np.ndarray:
        return self.cells.view(self.width)

    def put(self, terms: Terms) -> tuple[int, int]:
        """Write sorted terms behind the other keys; return where they begin and end."""
        begin, self.n_keys = self.n_keys, self.n_keys + len(terms)
        self.keys[begin : self.n_keys] = sorted(terms)
        self.points[begin : self.n_keys] = [terms[key] for key in sorted(terms)]
        return begin, self.n_keys

    def build(self, terms: Terms) -> tuple[int, int]:
        begin, end = self.put(terms)
        self.tip, root, bound = harness.build(
            self.keys, self.points, begin, end, self.n_levels, self.cells, self.bounds, self.tip
        )
        assert self.tip > 0
        return root, bound

    def merge(
        self,
        change: Terms,
        base: int,
        other: tuple[int, int] = (0, 0),
        first: int = 0,
        loose: int = 0,
    ) -> tuple[int, int, int]:
        """Return (the new tip or a status, root, bound); ``other`` is bound and reference of a
        second tree.
        """
        begin, end = self.put(change)
        tip, root, bound, spill = merge.merge(
            self.keys,
            self.points,
            begin,
            end,
            end,
            self.n_levels,
            first,
            self.cells,
            self.bounds,
            self.tip,
            base,
            *other,
            loose,
        )
        if tip > 0:
            self.tip, self.n_keys = int(tip), int(spill)
        return int(tip), int(root), int(bound)

    def behind(self, root: int, level: int, letter: int) -> tuple[int, int]:
        """Return bound and reference behind a letter (1..26) of a root's level; (0, 0) where there
        is none.
        """
        for choice in tree.read_node(self.cells, self.bounds, root)[1]:
            letters = [x for x in range(1, 27) if choice.letters >> x - 1 & 1]
            if choice.level == level and letter in letters:
                at = letters.index(letter)
                return int(choice.bounds[at]), int(choice.refs[at])
        return 0, 0

    def read(self, root: int, first: int = 0) -> tuple[Terms, int]:
        """Return the terms of a tree and its bound, both checked."""
        grown = tree.Tree(
            self.cells, self.bounds, self.keys, self.points, self.n_levels, 0, self.tip
        )
        return harness.read_tree(grown, root, first)


def cases() -> list[tuple[int, int, int, int, int]]:
    sizes = ((40, 40, 3), (300, 20, 5), (5, 200, 2))
    return [(n, seed, *size) for n, seed, size in itertools.product(LEVELS, range(12), sizes)]


@pytest.mark.parametrize(("n_levels", "seed", "n_base", "n_change", "letters"), cases())
def test_merging_is_building_all_at_once(n_levels, seed, n_base, n_change, letters):
    rng = random.Random(seed)
    base, change = (random_terms(rng, n_levels, n, letters) for n in (n_base, n_change))
    # what absorption takes away: part of it, or all
    for key in rng.sample(sorted(base), len(base) // 3):
        change[key] = change.get(key, 0) - rng.choice([1, base[key], base[key]])
    change = {key: points for key, points in change.items() if base.get(key, 0) + points >= 0}
    ground = Ground(n_levels)
    root, bound = ground.build(base)
    before = ground.cells[: ground.tip].copy()
    assert ground.read(root) == (base, bound)
    tip, merged, merged_bound = ground.merge(change, root)
    assert tip > 0
    wanted = added(base, change)
    assert ground.read(merged) == (wanted, merged_bound)
    fresh = Ground(n_levels)
    if wanted:
        assert fresh.build(wanted)[1] == merged_bound
    assert (ground.cells[: before.size] == before).all()
    assert ground.read(root) == (base, bound)


def cut(terms: Terms, n_levels: int, letter: int) -> Terms:
    """Return the terms with that letter on the first level (0: none), without the literal."""
    below = 5 * (n_levels - 1)
    return {
        key & (1 << below) - 1: points for key, points in terms.items() if key >> below == letter
    }


def losses(rng: random.Random, terms: Terms) -> Terms:
    """Return what absorption might take away: of some terms all points, of some a part."""
    return {
        key: -rng.choice([1, terms[key], terms[key]])
        for key in rng.sample(sorted(terms), len(terms) // 4)
    }


@pytest.mark.parametrize(
    ("n_levels", "seed", "n", "letters"),
    [
        (n_levels, seed, *size)
        for n_levels, seed, size in itertools.product(
            LEVELS[1:], range(10), ((60, 2), (400, 4), (9, 2))
        )
    ],
)
def test_forcing_a_letter_merges_what_is_behind_it_with_the_rest(n_levels, seed, n, letters):
    """Terms to lose may be of either tree; the keys of the second one still have the literal that
    was forced.
    """
    rng = random.Random(seed)
    terms = random_terms(rng, n_levels, n, letters)
    ground = Ground(n_levels)
    root, _ = ground.build(terms)
    base, _ = ground.build(rest) if (rest := cut(terms, n_levels, 0)) else (0, 0)
    before = ground.cells[: ground.tip].copy()
    for letter in range(1, letters + 2):
        change = losses(rng, rest)
        wanted = added(rest, change, cut(terms, n_levels, letter))
        tip, merged, bound = ground.merge(change, base, ground.behind(root, 0, letter), 1)
        assert tip > 0
        assert ground.read(merged, 1) == (wanted, bound)
        if wanted:
            assert Ground(n_levels).build(wanted)[1] == bound
    assert (ground.cells[: before.size] == before).all()


@pytest.mark.parametrize("seed", range(4))
def test_where_two_inner_nodes_meet_the_points_that_end_in_both_count(seed):
    """Behind the same edge each tree has more terms than stay lazy, and one that ends there."""
    rng = random.Random(seed)
    edge, forced = 1 << 20, 1 << 25
    below = [{0: 3 + seed} | random_terms(rng, 4, 60, 3) for _ in range(2)]
    rest, behind = ({key | edge: points for key, points in terms.items()} for terms in below)
    ground = Ground(6)
    root, _ = ground.build(rest | {key | forced: points for key, points in behind.items()})
    base, _ = ground.build(rest)
    tip, merged, bound = ground.merge({}, base, ground.behind(root, 0, 1), 1)
    assert tip > 0
    assert ground.read(merged, 1) == (added(rest, behind), bound)


@pytest.mark.parametrize("seed", range(6))
def test_forcing_level_after_level(seed):
    rng = random.Random(seed)
    ground, terms = Ground(7, 20_000, 10**6), random_terms(rng, 7, 500, 3)
    root, _ = ground.build(terms)
    for first in range(1, 6):
        rest = cut(terms, 8 - first, 0)
        base = ground.merge({}, 0)[1]
        _, base, _ = ground.merge(rest, base, (0, 0), first)
        letter = rng.randint(1, 3)
        change = losses(rng, rest)
        terms = added(rest, change, cut(terms, 8 - first, letter))
        _, root, bound = ground.merge(change, base, ground.behind(root, first - 1, letter), first)
        assert ground.read(root, first) == (terms, bound)


def test_an_empty_base_and_no_terms():
    ground = Ground(4)
    tip, root, bound = ground.merge({}, 0)
    assert (ground.read(root), bound) == (({}, 0), 0)
    terms = random_terms(random.Random(3), 4, 50, 3)
    tip, root, bound = ground.merge(terms, 0)
    assert tip > 0
    assert ground.read(root) == (terms, bound)
    assert bound == Ground(4).build(terms)[1]


_A, _B = 1 << 15, 1 << 15 | 2 << 10
LOST = {
    "leaf": ({_A: 3}, {_A: -4}),
    "pair": ({_B: 3, _B + 1: 4}, {_B: -4}),
    "single": ({_B: 3}, {_B: -4}),
    "node": ({_A: 3, _B: 1, _B + 1: 1, _B + 2: 1}, {_A: -4}),
    "beside": ({_A: 3}, {2 << 15: -1}),
    "root": ({0: 2, _A: 5}, {0: -3}),
}


@pytest.mark.parametrize("shape", LOST)
def test_losing_more_than_there_is_is_an_error(shape):
    base, lost = LOST[shape]
    ground = Ground(4)
    root, _ = ground.build(base)
    assert ground.merge(lost, root)[0] == merge.NO_EQUAL


@pytest.mark.parametrize("seed", range(4))
def test_full_arrays_and_large_bounds_are_reported(seed):
    rng = random.Random(seed)
    base, change = random_terms(rng, 8, 80, 3), random_terms(rng, 8, 80, 3)
    wanted = added(base, change)
    seen = set()
    for n_keys, n_cells in (
        (0, 5000),
        (1, 5000),
        (5000, 0),
        (5000, tree.LARGEST_NODE),
        (5000, 5000),
    ):
        ground = Ground(8)
        root, _ = ground.build(base)
        ground.keys = ground.keys[: len(base) + len(change) + n_keys].copy()
        ground.cells = ground.cells[: ground.tip + n_cells].copy()
        tip, merged, bound = ground.merge(change, root)
        seen.add(min(tip, 1))
        assert tip == tree.TREE_FULL or ground.read(merged) == (wanted, bound)
    assert tip > 0
    assert seen == {1, tree.TREE_FULL}
    ground = Ground(8)
    root, _ = ground.build(base)
    assert ground.merge({1 << 35: tree.MAX_BOUND}, root)[0] == tree.BOUND_TOO_LARGE


@pytest.mark.parametrize("seed", range(3))
def test_a_lazy_subtree_whose_keys_find_no_room_is_reported(seed):
    """What is behind a letter is merged as keys, which are copied first."""
    rng = random.Random(seed)
    base, change = random_terms(rng, 4, 12, 2), random_terms(rng, 4, 30, 3)
    seen = set()
    for n_keys in range(60):
        ground = Ground(4)
        root, _ = ground.build(base)
        behind = next(
            (bound, ref)
            for choice in tree.read_node(ground.cells, ground.bounds, root)[1]
            for bound, ref in zip(choice.bounds.tolist(), choice.refs.tolist(), strict=True)
            if ref < 0
        )
        ground.keys = ground.keys[: len(base) + len(change) + n_keys].copy()
        tip, merged, bound = ground.merge(change, 0, behind)
        seen.add(min(tip, 1))
        if tip > 0:
            found = ground.read(merged), bound
    assert seen == {1, tree.TREE_FULL}
    for n_keys in (0, 1, 5):
        ground = Ground(4)
        ground.build(base)
        ground.keys = ground.keys[: len(base) + len(change) + n_keys].copy()
        tip, merged, bound = ground.merge(change, 0, behind)
        assert tip == tree.TREE_FULL or (ground.read(merged), bound) == found


def test_a_merged_bound_that_its_entry_cannot_hold_is_reported(width):
    leaf, below = 1 << 15, 1 << 10
    for base, change in (
        ({leaf: tree.MAX_NARROW}, {leaf: 1}),
        ({leaf: 5}, {leaf | below: tree.MAX_NARROW - 4}),
    ):
        ground = Ground(4)
        root, _ = ground.build(base)
        tip, merged, bound = ground.merge(change, root)
        if width == tree.NARROW:
            assert tip == tree.BOUND_TOO_LARGE
        else:
            assert ground.read(merged) == (added(base, change), bound)
            assert bound == tree.MAX_NARROW + 1
