"""Loose trees: two trees merged in their upper part only.  They have all terms of both, a higher
bound, and the same survivors.
"""

from __future__ import annotations

import itertools
import random

import pytest

from orderly_boggle.boardclass.jit import frozen
from orderly_boggle.search.trees import state, tree
from tests.samples import daily
from tests.search.harness import encoded, prepared
from tests.search.test_bound import EVERY_DAY, SEEDS, assignments, searched, small_case
from tests.search.test_merge import LEVELS, Ground, added, random_terms

pytestmark = pytest.mark.usefixtures("widths")

MARK = 0x5A5A5A5A  # in cells that nothing may be written to


@pytest.mark.parametrize(
    ("n_levels", "seed", "n", "letters"),
    [
        (n_levels, seed, *size)
        for n_levels, seed, size in itertools.product(
            LEVELS[1:], range(8), ((60, 2), (400, 4), (9, 2))
        )
    ],
)
def test_a_loose_tree_has_all_terms_and_a_bound_between_that_of_the_whole_and_the_sum_of_two(
    n_levels, seed, n, letters
):
    """The more may be bundled, the higher the bound; the two trees stay as they were."""
    rng = random.Random(seed)
    one = random_terms(rng, n_levels, n, letters)
    other = random_terms(rng, n_levels, 1 + n // 3, letters)
    ground = Ground(n_levels)
    root, bound = ground.build(one)
    other_root, other_bound = ground.build(other)
    before = ground.cells[: ground.tip].copy()
    bounds = []
    for loose in (0, 1, 5, 20, 1 << 20):
        tip, merged, found = ground.merge({}, root, (other_bound, other_root), loose=loose)
        assert tip > 0
        assert ground.read(merged) == (added(one, other), found)
        bounds.append(found)
    assert bounds[0] == Ground(n_levels).build(added(one, other))[1]
    assert bounds == sorted(bounds)
    assert bounds[-1] <= bound + other_bound
    assert (ground.cells[: before.size] == before).all()


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
@pytest.mark.parametrize("loose", [1, 4, 1 << 20])
def test_a_loose_tree_has_the_survivors_of_the_whole(dims, seed, loose):
    case = small_case(dims, seed)
    rng = random.Random(seed)
    terms = {encoded(case, term): points for term, points in case.total.items()}
    one = {key: points for key, points in terms.items() if rng.random() < 0.5}
    ground = Ground(case.n_levels)
    root, _ = ground.build(one)
    other, bound = ground.build({key: terms[key] for key in terms if key not in one})
    tip, merged, merged_bound = ground.merge({}, root, (bound, other), loose=loose)
    assert tip > 0
    grown = tree.Tree(
        *(ground.cells, ground.bounds, frozen(ground.keys), frozen(ground.points)),
        *(case.n_levels, 0, tip),
    )
    s = prepared(case)
    assert state.add_root(grown, s, merged) == merged_bound
    cutoff = max(1, case.sums.cutoff_for(3000))
    found = searched(grown, s, cutoff)
    assert len(found) == len(set(found))
    assert set(found) == assignments(case, case.sums.reaching(cutoff))


@pytest.mark.parametrize("seed", range(3))
def test_a_loose_tree_without_room_is_reported_and_nothing_is_written_behind_the_room(seed):
    """Many bundles come before the sum node that would find no room itself."""
    rng = random.Random(seed)
    one, other = random_terms(rng, 4, 400, 4), random_terms(rng, 4, 400, 4)
    seen = set()
    for n_cells in (0, 1, 4, 40, tree.LARGEST_NODE, 2 * tree.LARGEST_NODE, 20_000):
        ground = Ground(4)
        root, _ = ground.build(one)
        other_root, other_bound = ground.build(other)
        every = ground.cells
        every[ground.tip :] = MARK
        ground.cells = every[: ground.tip + n_cells]
        tip, merged, bound = ground.merge({}, root, (other_bound, other_root), loose=1 << 20)
        seen.add(min(tip, 1))
        assert tip == tree.TREE_FULL or ground.read(merged) == (added(one, other), bound)
        assert (every[ground.cells.size :] == MARK).all()
    assert seen == {1, tree.TREE_FULL}
