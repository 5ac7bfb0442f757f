"""Lazy subtrees: their bounds against the recursion U, what a search builds of them, and that it
leaves no trace.
"""

from __future__ import annotations

import random
from itertools import combinations, product

import numpy as np
import pytest

from orderly_boggle.search.keys import LITERAL_BITS, last_levels
from orderly_boggle.search.trees import arrays, lazy_subtree, state, tree
from tests.search import harness
from tests.search.harness import prepared
from tests.search.test_bound import (
    NO_BUDGET,
    SEEDS,
    Assignment,
    assignments,
    rounds,
    searched,
    small_case,
    started,
)
from tests.search.test_merge import Ground, Terms, random_terms

pytestmark = pytest.mark.usefixtures("widths")
SCRATCH = np.empty(lazy_subtree.SCRATCH, np.int32)


def bound_of(terms: Terms, n_levels: int, above: int = 0) -> int:
    """Return the kernel's bound of some terms; ``above`` is what the keys have on levels that do
    not count.
    """
    keys = np.array([above << LITERAL_BITS * n_levels | key for key in sorted(terms)], np.uint64)
    points = np.array([terms[key] for key in sorted(terms)], np.int32)
    return int(lazy_subtree.bound_of(keys, points, 0, len(keys), last_levels(n_levels), SCRATCH))


@pytest.mark.parametrize(("n_levels", "letters"), [(2, 2), (3, 1)])
def test_the_bound_of_every_small_set_of_terms_is_U(n_levels, letters):
    every = [
        sum(x << 5 * i for i, x in enumerate(codes))
        for codes in product(range(letters + 1), repeat=n_levels)
    ]
    points = {key: 1 + 5 * i % 7 for i, key in enumerate(every)}
    for n in range(1, len(every) + 1):
        for some in combinations(every, n):
            terms = {key: points[key] for key in some}
            assert bound_of(terms, n_levels) == harness.bound_of(terms, n_levels)


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_of_any_terms_is_U_whatever_is_on_other_levels(seed):
    rng = random.Random(seed)
    for _ in range(100):
        n_levels = rng.randint(1, 11)
        terms = random_terms(
            rng, n_levels, rng.randint(1, tree.MAX_LAZY_TERMS), rng.choice([2, 4, 26])
        )
        assert bound_of(terms, n_levels, rng.randrange(27)) == harness.bound_of(terms, n_levels)
        assert bound_of({**terms, rng.choice([*terms]): -1}, n_levels) == lazy_subtree.NO_BOUND


def test_a_bound_that_no_tree_can_hold_does_not_wrap():
    """As many points as fit a key, in terms that all hold together, or begin to differ in a
    letter, or lie behind the second of three letters.
    """
    together = {1 << LITERAL_BITS * i: 1 << 30 for i in range(12)}
    apart = {key << LITERAL_BITS | 1: points for key, points in together.items() if key < 1 << 55}
    second, key = {}, 2 << 55
    for i in range(10, -1, -1):  # each key is the beginning of the next one
        second[key] = 1 << 30
        key |= 1 << LITERAL_BITS * i
    assert bound_of({1 << 55: 1, **second, key: 1 << 30, 3 << 55: 1}, 12) > tree.MAX_BOUND
    assert bound_of(together, 12) > tree.MAX_BOUND
    assert bound_of(apart, 12) > tree.MAX_BOUND
    assert bound_of({1: tree.MAX_BOUND, 2: 5}, 12) == tree.MAX_BOUND


def expanded(ground: Ground, o: int, place: int, link: int = 0) -> int:
    """Unfold the reference at ``o`` and all that is behind it; return the link of the last node."""
    within = last_levels(place)
    if ground.cells[o] >= 0 or ~int(ground.cells[o]) & tree.RUN == 0:
        return link
    ground.tip, link = map(
        int,
        lazy_subtree.expand(
            ground.cells,
            ground.bounds,
            ground.tip,
            link,
            ground.keys,
            ground.points,
            o,
            within,
            ground.n_levels - 1,
            SCRATCH,
        ),
    )
    node = int(ground.cells[o])
    first = node - 1
    for choice in tree.read_node(ground.cells, ground.bounds, node)[1]:
        for x in range(len(choice.refs)):
            link = expanded(ground, first - x, ground.n_levels - 1 - choice.level, link)
        first -= len(choice.refs)
    return link


@pytest.mark.parametrize("seed", range(40))
def test_what_is_unfolded_has_the_terms_and_bounds_and_goes_without_a_trace(seed):
    rng = random.Random(seed)
    n_levels = rng.randint(2, 12)
    terms = random_terms(rng, n_levels, rng.randint(2, tree.MAX_LAZY_TERMS), rng.choice([1, 2, 4]))
    ground = Ground(n_levels)
    begin, end = ground.put({3: 5} | {key: terms[key] for key in terms if key > 3})
    some = {key: points for key, points in terms.items() if key > 3} | {3: 5}
    o, ground.tip = 1, 2
    ground.cells[o] = ~(begin << tree.RUN_BITS | end - begin - 1)
    before, tip = ground.cells[:2].copy(), ground.tip
    link = expanded(ground, o, n_levels)
    if len(some) > 1:
        assert ground.cells[o] > tip
        assert ground.read(int(ground.cells[o])) == (some, harness.bound_of(some, n_levels))
        assert ground.tip - tip <= lazy_subtree.MAX_CELLS * len(some)
    lazy_subtree.collapse(ground.cells, link)
    assert (ground.cells[:2] == before).all()


@pytest.mark.parametrize(("dims", "seed"), SEEDS[::6])
def test_a_search_leaves_the_tree_as_it_was(dims, seed):
    case = small_case(dims, seed)
    grown, s, _ = started(case)
    before = grown.cells[: grown.tip].copy()
    searched(grown, s, 1 + case.sums.best(case.boards.all) // 3)
    assert bool(s.counts[state.LINK]) == (s.counts[state.TIP] > grown.tip)
    lazy_subtree.collapse(grown.cells, s.counts[state.LINK])
    assert (grown.cells[: grown.tip] == before).all()


def with_room(case: harness.Case, room: int) -> harness.Planted:
    """Return the tree of a case with so many cells behind it."""
    plant = harness.planted(case, case.total)
    cells = np.zeros(plant.tip + room + (plant.tip + room) % 2, np.int32)
    cells[: plant.tip] = plant.tree.cells[: plant.tip]
    return plant._replace(tree=plant.tree._replace(cells=cells, bounds=cells.view(harness.width)))


def searched_in(
    room: int, case: harness.Case, cutoff: int
) -> tuple[set[Assignment], set[str], int]:
    """Search a tree with so much room behind it; return survivors, letters given up, cells used at
    the end.

    The tree must be as it was when the search is over.
    """
    plant, s = with_room(case, room), prepared(case)
    before = plant.tree.cells[: plant.tip].copy()
    state.add_root(plant.tree, s, plant.root)
    found, given_up = set(), set()
    for some, is_given_up in rounds(plant.tree, s, cutoff, NO_BUDGET):
        found.update(some)
        if is_given_up:
            given_up.add(chr(97 + state.skip_letter(s, 0)))
    lazy_subtree.collapse(plant.tree.cells, s.counts[state.LINK])
    assert (plant.tree.cells[: plant.tip] == before).all()
    return found, given_up, int(s.counts[state.TIP]) - plant.tip


@pytest.mark.parametrize(("dims", "seed"), SEEDS[::8])
def test_letters_that_find_no_room_are_given_up_and_the_others_are_finished(dims, seed):
    case = small_case(dims, seed)
    cutoff = max(1, case.sums.cutoff_for(3000))
    wanted = assignments(case, case.sums.reaching(cutoff))
    for room in (0, lazy_subtree.MAX_CELLS, 3 * lazy_subtree.MAX_CELLS, 1000, 10**5):
        found, given_up, _ = searched_in(room, case, cutoff)
        assert {x for x in wanted if x[0] not in given_up} <= found <= wanted
        assert room < 10**5 or not given_up


def test_room_that_one_letter_used_is_there_for_the_next():
    """Searches end in less room than all of their letters use together."""
    n_ended = n_given_up = 0
    for dims, seed in SEEDS[::6]:
        case = small_case(dims, seed)
        once, _, used = searched_in(10**5, case, 1)
        for room in (used // 2, used * 3 // 4):
            found, given_up, _ = searched_in(room, case, 1)
            assert given_up or found == once
            n_ended += not given_up and used > 0
            n_given_up += bool(given_up)
    assert n_ended
    assert n_given_up


def test_no_more_terms_are_kept_than_a_reference_can_name():
    assert arrays.n_terms_in(16) == 16 * 2**20 // arrays.BYTES_PER_TERM
    largest = arrays.n_terms_in(1 << 20) - 1
    assert np.int32(~(largest << tree.RUN_BITS | tree.RUN)) < 0
    assert ~int(np.int32(~(largest << tree.RUN_BITS | tree.RUN))) >> tree.RUN_BITS == largest
