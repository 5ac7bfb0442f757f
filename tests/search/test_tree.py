"""The orderly tree against the recursion U, and read back node by node."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from orderly_boggle.search.trees import runs, tree
from tests.reference.orderly import Literals, orderly_bound
from tests.samples import daily
from tests.search import harness
from tests.search.harness import (
    Case,
    Planted,
    build,
    decoded,
    generate,
    planted,
    random_case,
    read_tree,
    seeds,
)

pytestmark = pytest.mark.usefixtures("width")

SEEDS = seeds({"2x2": 30, "2x3": 30, "3x3": 20, "3x4": 6})


def grown(case: Case) -> Planted:
    """Walk, sort, group and build."""
    n, _, terms, points_of_code = generate(case)
    terms.sort()
    points = np.zeros(max(1, n), np.int32)
    n_keys = runs.group(terms, terms, points, points_of_code, case.code_bits)
    cells = np.zeros(1 << 20, np.int32)
    bounds = cells.view(harness.width)
    tip, root, root_bound = build(terms, points, 0, n_keys, case.n_levels, cells, bounds, 1)
    assert tip > root > 0
    return Planted(
        tree.Tree(cells, bounds, terms[:n_keys], points[:n_keys], case.n_levels, 0, tip),
        tip,
        root,
        root_bound,
    )


def read_back(case: Case, plant: Planted) -> dict[Literals, int]:
    """Return the terms of a tree, which is checked node by node."""
    found, bound = read_tree(plant.tree, plant.root)
    assert bound == plant.bound
    return {decoded(case, key): points for key, points in found.items()}


@pytest.mark.parametrize(("dims", "seed"), SEEDS)
def test_root_bound_is_U_and_the_tree_holds_exactly_the_terms(dims, seed):
    case = random_case(dims, seed, n_words=15 if dims == "3x4" else 25)
    plant = grown(case)
    assert plant.bound == orderly_bound(case.weighted, case.free)
    assert read_back(case, plant) == case.total


@pytest.mark.parametrize("seed", range(20))
def test_grouping_adds_the_points_of_equal_keys(seed):
    rng = random.Random(seed)
    code_bits = rng.choice([4, 5, 6])
    table = np.array([0] + [rng.choice([-2, -1, 1, 2, 10**6]) for _ in range(63)], np.int32)
    codes = [
        (rng.randrange(12), rng.randrange(1, 1 << code_bits)) for _ in range(rng.randrange(60))
    ]
    terms = np.array(sorted(key << code_bits | code for key, code in codes), np.uint64)
    points = np.zeros(60, np.int32)
    n = runs.group(terms, terms, points, table, code_bits)
    wanted: Counter = Counter()
    for key, code in codes:
        wanted[key] += int(table[code])
    wanted = Counter({key: total for key, total in wanted.items() if total})
    assert [int(k) for k in terms[:n]] == sorted(wanted)
    assert [int(p) for p in points[:n]] == [wanted[key] for key in sorted(wanted)]


def any_total(rng: random.Random, case: Case, n: int, largest: int) -> dict[Literals, int]:
    """Return terms that no word list would give: any literals, dense or sparse, the empty term
    among them at times.
    """
    some = [
        frozenset((c, rng.choice(case.letters[c])) for c in case.free if rng.random() < 0.6)
        for _ in range(n)
    ]
    return {term: rng.randint(1, largest) for term in some}


@pytest.mark.parametrize("seed", range(60))
def test_any_set_of_terms_round_trips(seed):
    rng = random.Random(seed)
    case = random_case(
        rng.choice(["2x2", "2x3", "3x3", "3x4"]), seed, alphabet="abyz", widest=4, bare=0
    )
    total = any_total(rng, case, rng.choice([0, 1, 2, 3, 10, 200]), rng.choice([1, 9, 1000]))
    plant = planted(case, total)
    assert plant.tip > plant.root > 0
    assert plant.bound == orderly_bound(list(total.items()), case.free)
    assert read_back(case, plant) == total
    behind = planted(case, total, tip=1000, before=(7, 3, 5))
    assert behind.tip - 1000 == plant.tip - 1
    assert (behind.root - 1000, behind.bound) == (plant.root - 1, plant.bound)
    assert not behind.tree.cells[:1000].any(), "what stands before is left alone"
    assert behind.tree.keys[:3].tolist() == [7, 3, 5]
    assert read_back(case, behind) == total


def test_trees_of_few_terms_and_what_is_left_in_the_keys():
    case = Case("3x3", ("abc",) * 9, frozenset(), {})
    end = case.free[-1]
    lonely, apart, together = {}, {}, {}
    for x in "abc":
        begin = frozenset((c, x) for c in case.free[:-1])
        lonely[begin | {(end, x)}] = 1
        apart |= {begin | {(end, "a")}: 3, begin | {(end, "b")}: 3}
        together |= {begin | {(end, "a")}: 3, begin: 2}
    few = [
        {},
        {frozenset(): 5},
        {frozenset({(3, "b")}): 7},
        {frozenset(): 5, frozenset({(2, "c"), (3, "a")}): 1},
    ]
    bounds = [0, 5, 7, 6, 1, 3, 5]
    for total, bound in zip([*few, lonely, apart, together], bounds, strict=True):
        plant = planted(case, total)
        assert 30 > plant.tip > plant.root > 0, (
            "three terms or pairs that share nothing need one sum node"
        )
        assert plant.bound == bound
        assert read_back(case, plant) == total


@pytest.mark.parametrize("seed", daily(range(2), range(6)))
def test_a_full_tree_is_reported_or_did_not_matter(seed):
    rng = random.Random(seed)
    case = random_case("3x3", seed, alphabet="abyz", widest=4, bare=0)
    total = any_total(rng, case, 300, 9)
    _, tip, root, root_bound = planted(case, total)
    n_full = 0
    for capacity in [1, 2, 100, tip // 2, tip - 1, tip, tip + 200, tip + tree.LARGEST_NODE]:
        plant = planted(case, total, capacity)
        if plant.tip == tree.TREE_FULL:
            n_full += 1
        else:
            assert plant[1:] == (tip, root, root_bound)
            assert read_back(case, plant) == total
    assert n_full >= 5
    assert planted(case, total, tip + tree.LARGEST_NODE).tip == tip


@pytest.mark.parametrize("n_missing", [0, 1, tree.LARGEST_NODE])
def test_a_node_that_may_not_fit_is_not_written(n_missing, width):
    cells = np.zeros(tree.LARGEST_NODE + 5, np.int32)
    room = cells[: cells.size - n_missing]
    choice = tree.Choice(2, 0b101, np.array([3, 4], np.int32), np.zeros(2, np.int32))
    tip, node = tree.write_node(room, room.view(width), 5, 7, [choice])
    assert (tip > 0) == (n_missing == 0)
    if tip > 0:
        assert tree.read_node(room, room.view(width), node)[0] == 7
    else:
        assert (tip, node) == (tree.TREE_FULL, 0)
        assert not cells.any()


def test_too_large_a_bound_is_reported(width):
    case = Case("2x2", ("ab",) * 4, frozenset(), {})
    largest = tree.MAX_BOUND if width == tree.WIDE else tree.MAX_NARROW
    half = largest // 2
    one, other = frozenset({(0, "a")}), frozenset({(1, "a"), (2, "b")})
    light = planted(case, {one: 1, other: 1})
    assert planted(case, {one: half, other: half})[1:] == (light.tip, light.root, 2 * half)
    of_root = planted(case, {one: half, other: half + 2}).tip
    assert (of_root == tree.BOUND_TOO_LARGE) == (width == tree.WIDE), "only entries are narrow"
    assert planted(case, {one: largest + 1}).tip == tree.BOUND_TOO_LARGE
    below = {
        frozenset({(0, "a"), *term}): points
        for term, points in ((one, half), (other, half), (frozenset({(3, "a")}), half))
    }
    assert planted(case, below).tip == tree.BOUND_TOO_LARGE
    assert planted(case, {frozenset(): tree.MAX_BOUND + 1}).tip == tree.BOUND_TOO_LARGE
