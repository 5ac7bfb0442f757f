"""Letter-synchronised OrderlyBound: what survives, against full enumeration; every bound, against
the formula.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.partition import letter_mask
from orderly_boggle.search.node import residual_demands
from orderly_boggle.search.params import LETTER_ORDER
from orderly_boggle.search.trees import bound, state, tree
from orderly_boggle.search.trees.last_levels import bound_last_levels
from tests.reference.orderly import orderly_bound, synchronised_bound
from tests.reference.truth_table import multi_scores
from tests.samples import daily
from tests.search.harness import Case, planted, prepared, random_case, seeds

NO_BUDGET = 1 << 60
pytestmark = pytest.mark.usefixtures("widths")
SEEDS = seeds({"2x2": 30, "2x3": 30, "3x3": 25, "3x4": 6})
N_DAILY = {"2x2": 10, "2x3": 10, "3x3": 8, "3x4": 2}
EVERY_DAY = [(dims, seed) for dims, seed in SEEDS if seed < N_DAILY[dims]]
Assignment = tuple[str, ...]


@cache
def small_case(dims: str, seed: int) -> Case:
    """Return a case whose assignments can all be enumerated."""
    bare = {"2x2": None, "2x3": None, "3x3": 1 + seed % 4, "3x4": 4 + seed % 3}[dims]
    return random_case(dims, seed, n_words=20, widest={"2x2": 5, "2x3": 4}.get(dims, 3), bare=bare)


def assignments(case: Case, chosen: int) -> set[Assignment]:
    """Return the letters of the free cells, in level order, of some boards."""
    return {tuple(board[c] for c in case.free) for board in case.boards.boards(chosen)}


def rounds(
    grown: tree.Tree,
    s: state.Search,
    cutoff: int,
    budget: int = NO_BUDGET,
    rows: int = 10**5,
    step: int | None = None,
) -> Iterator[tuple[list[Assignment], bool]]:
    """Run the search to its end; yield survivors each time it stops, and whether its budget is
    spent.

    The caller skips the letter then, or the budget is raised to what was spent and a ``step`` more.
    """
    survivors = np.zeros((rows, 12), np.int8)
    status = bound.BUDGET_SPENT
    while status != bound.DONE:
        before = int(s.counts[state.SURVIVORS])
        status = bound.orderly_bound(grown, s, cutoff, budget, survivors)
        if status == bound.LETTER_TAKEN:
            bound_last_levels(grown, s, cutoff)
        n = int(s.counts[state.SURVIVORS]) - before
        assert status != bound.SURVIVORS_FULL or n == rows
        yield (
            [tuple(chr(97 + x) for x in row[: grown.n_levels]) for row in survivors[:n].tolist()],
            status == bound.BUDGET_SPENT,
        )
        if step is not None and status == bound.BUDGET_SPENT:
            assert s.counts[state.DEPTH] >= 1
            budget = int(s.counts[state.PUSHES] - s.counts[state.SINCE]) + step


def searched(
    grown: tree.Tree,
    s: state.Search,
    cutoff: int,
    rows: int = 4096,
    first: int = NO_BUDGET,
    step: int = 0,
) -> list[Assignment]:
    """Run the search to its end, emptying the survivors and raising the budget as often as it
    asks.
    """
    return [found for some, _ in rounds(grown, s, cutoff, first, rows, step) for found in some]


def started(case: Case, **options) -> tuple[tree.Tree, state.Search, int]:
    plant = planted(case, case.total)
    assert plant.tip > 0
    s = prepared(case, **options)
    return plant.tree, s, int(state.add_root(plant.tree, s, plant.root))


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_survivors_are_the_assignments_that_reach_the_cutoff(dims, seed):
    case = small_case(dims, seed)
    sums = case.sums
    best = sums.best(sums.boards.all)
    for cutoff in sorted({0, 1, best // 2, best - 1, best, best + 1, sums.cutoff_for(50)}):
        wanted = assignments(case, sums.reaching(cutoff))
        if len(wanted) > 30_000:
            continue
        grown, s, _ = started(case)
        found = searched(grown, s, cutoff)
        assert set(found) == wanted
        assert len(found) == len(wanted) == int(s.counts[state.SURVIVORS])
        assert s.counts[state.DISCARDED] >= sums.best(case.boards.all & ~sums.reaching(cutoff)), (
            "max_bound covers all"
        )


@pytest.mark.parametrize(("dims", "seed"), SEEDS[::8])
def test_search_resumes_after_full_buffers_and_spent_budgets(dims, seed):
    case = small_case(dims, seed)
    cutoff = max(1, case.sums.cutoff_for(400))
    grown, s, _ = started(case)
    once = searched(grown, s, cutoff)
    for rows, first_budget, step in ((1, NO_BUDGET, 0), (3, 0, 0), (7, 5, 3), (4096, 0, 1)):
        grown, again, _ = started(case)
        assert searched(grown, again, cutoff, rows, first_budget, step) == once
        assert again.counts.tolist() == s.counts.tolist()


def skipping(
    grown: tree.Tree, s: state.Search, cutoff: int, budget: int
) -> tuple[list[Assignment], set[str]]:
    """Run the search to its end, skipping every letter that spends its budget; return survivors and
    these letters.
    """
    found: list[Assignment] = []
    skipped = set()
    for some, is_given_up in rounds(grown, s, cutoff, budget):
        found += some
        if is_given_up:
            assert s.counts[state.DEPTH] >= 1
            assert s.counts[state.PUSHES] - s.counts[state.SINCE] > budget
            letter = chr(97 + state.skip_letter(s, 0))
            assert letter not in skipped
            skipped.add(letter)
    return found, skipped


@pytest.mark.parametrize(("dims", "seed"), SEEDS[::6])
def test_letters_that_spend_their_budget_are_skipped_and_the_others_are_finished(dims, seed):
    case = small_case(dims, seed)
    cutoff = max(1, case.sums.cutoff_for(3000))
    wanted = assignments(case, case.sums.reaching(cutoff))
    for budget in (0, 3, 30, NO_BUDGET):
        grown, s, _ = started(case)
        found, skipped = skipping(grown, s, cutoff, budget)
        assert len(set(found)) == len(found)
        assert set(found) <= wanted
        assert {x for x in wanted if x[0] not in skipped} <= set(found)
        assert skipped <= set(case.letters[case.free[0]])
        assert budget < NO_BUDGET or not skipped


def test_a_letter_that_spends_its_budget_stops_the_search_and_no_other_pays_for_it():
    case = random_case("3x3", 2, n_words=40, widest=4, bare=2)
    grown, s, _ = started(case)
    searched(grown, s, 1)
    pushes = int(s.counts[state.PUSHES])
    grown, s, _ = started(case)
    survivors = np.zeros((10**5, 12), np.int8)
    assert bound.orderly_bound(grown, s, 1, 50, survivors) == bound.BUDGET_SPENT
    assert 50 < s.counts[state.PUSHES] - s.counts[state.SINCE] <= s.counts[state.PUSHES] < pushes
    most, status = 0, bound.BUDGET_SPENT
    while status != bound.DONE:
        budget = int(s.counts[state.PUSHES] - s.counts[state.SINCE])
        most = max(most, budget)
        status = bound.orderly_bound(grown, s, 1, budget, survivors)
    grown, s, _ = started(case)
    assert skipping(grown, s, 1, most + 1)[1] == set()
    assert int(s.counts[state.PUSHES]) > most + 1


def states(grown: tree.Tree, s: state.Search, cutoff: int) -> Iterator[tuple[Assignment, int]]:
    """Stop the search as often as a budget can, and yield the states on its path: letters chosen,
    bound.
    """
    survivors = np.zeros((10**5, 12), np.int8)
    status = bound.BUDGET_SPENT
    seen = set()
    while status != bound.DONE:
        # else the budget spent behind one letter would hide states behind the next
        s.counts[state.SINCE] = s.counts[state.PUSHES]
        status = bound.orderly_bound(grown, s, cutoff, 0, survivors)
        for depth in range(int(s.counts[state.DEPTH]) + 1):
            chosen = tuple(chr(96 + int(x)) for x in s.letter[:depth])
            if chosen not in seen:
                seen.add(chosen)
                yield chosen, int(s.bound[depth])


@pytest.mark.parametrize(("dims", "seed"), [(d, i) for d, i in SEEDS if i < 8])
def test_bounds_lie_between_the_best_board_and_the_formula(dims, seed):
    case = small_case(dims, seed)
    sums = case.sums
    grown, s, first = started(case)
    assert sums.best(case.boards.all) <= first <= orderly_bound(case.weighted, case.free)
    cutoff = 1 + sums.best(case.boards.all) // 3
    for n, (chosen, value) in enumerate(states(grown, s, cutoff)):
        fixed = dict(zip(case.free, chosen, strict=False))
        below = case.boards.where(fixed.items())
        assert sums.best(below) <= value
        assert value == synchronised_bound(case.weighted, case.free, fixed)
        if n == 150:
            break


def test_synchronised_bound_beats_the_sum_over_nodes():
    # Two nodes wait on one cell: apart they take different letters, together they must agree.
    total = {
        frozenset({(0, "a"), (1, "a"), (2, "x")}): 4,
        frozenset({(1, "a"), (2, "y")}): 4,
        frozenset({(0, "a"), (2, "x")}): 1,
    }
    weighted = list(total.items())
    assert (
        orderly_bound(weighted, [0, 1, 2]) == synchronised_bound(weighted, [0, 1, 2], {0: "a"}) == 9
    )
    assert synchronised_bound(weighted, [0, 1, 2], {0: "a", 1: "a"}) == 5
    case = Case("2x2", ("a", "a", "xy", "b"), frozenset({3}), {})
    grown, _, root, _ = planted(case, total)
    for cutoff, wanted in ((6, []), (5, [{"a", "x"}])):
        s = prepared(case)
        state.add_root(grown, s, root)
        assert [set(x) for x in searched(grown, s, cutoff)] == wanted


@pytest.mark.parametrize("pause", [0, 1])
@pytest.mark.parametrize("seed", daily(range(20), range(40)))
def test_demands_leave_exactly_the_boards_that_meet_them(seed, pause):
    rng = random.Random(seed)
    dims = rng.choice(["2x2", "2x3", "3x3"])
    plain = small_case(dims, seed)
    orbit_letters = symmetric_letters(rng, dims, "aeqtz", 3 if dims == "3x3" else 4)
    case = Case(dims, orbit_letters, plain.bare, plain.points)
    order = "".join(rng.sample(LETTER_ORDER, 26))
    demands = tuple(
        (c, d)
        for c, d in residual_demands([*map(letter_mask, orbit_letters)], geometry(dims))
        if {c, d} <= set(case.free)
    )
    sums = case.sums
    cutoff = sums.cutoff_for(2000)
    level = {c: i for i, c in enumerate(case.free)}
    wanted = set()
    for letters in assignments(case, sums.reaching(cutoff)):
        places = [order.index(letter) for letter in letters]
        if all(places[level[c]] <= places[level[d]] for c, d in demands):
            wanted.add(letters)
    grown, s, _ = started(case, demands=demands, letter_order=order)
    s.counts[state.PAUSE] = pause
    found = searched(grown, s, cutoff)
    assert set(found) == wanted
    assert len(found) == len(wanted)


def symmetric_letters(rng: random.Random, dims: str, alphabet: str, widest: int) -> tuple[str, ...]:
    """Return letters per cell that some random symmetries leave alone."""
    rows = geometry(dims).symmetries.tolist()
    chosen = rng.sample(rows, rng.randint(1, 2))
    letters = ["".join(sorted(rng.sample(alphabet, rng.randint(1, widest)))) for _ in rows[0]]
    for _ in rows[0]:
        for row in chosen:
            for cell, other in enumerate(row):
                letters[cell] = letters[other] = min(letters[cell], letters[other])
    return tuple(letters)


@pytest.mark.parametrize("limit", [tree.MAX_NARROW, tree.MAX_NARROW + 1])
@pytest.mark.parametrize("letters", ["x", "fx"])
def test_sums_of_two_bytes_hold_a_bound_of_two_bytes(limit, letters):
    """A letter sum of the last cell, of a letter that it may have or not, becomes as large as the
    bound of the tree.
    """
    case = Case("2x2", ("ab", "ab", letters, "c"), frozenset({3}), {})
    half = limit // 2
    total = {frozenset({(0, "a"), (2, "f")}): half, frozenset({(1, "a"), (2, "f")}): limit - half}
    grown, _, root, root_bound = planted(case, total)
    assert root_bound == limit
    sums = multi_scores(case.boards, list(total.items()))
    for cutoff in (0, half, limit):
        found = []
        for fits in (True, False):
            s = prepared(case)
            if fits:
                s = state.sized_for(state.new_search(), grown, root)
                assert (s.sums.dtype == tree.NARROW) == (
                    grown.bounds.dtype == tree.NARROW and limit <= tree.MAX_NARROW
                )
                prepared(case, search=s)
            elif s.sums.dtype == tree.NARROW:
                continue
            state.add_root(grown, s, root)
            found.append((searched(grown, s, cutoff), s.counts.tolist()))
            assert set(found[-1][0]) == assignments(case, sums.reaching(cutoff))
        assert found[0] == found[-1]


def test_a_letter_that_a_demand_forbids_stays_forbidden_whatever_is_added():
    case = Case("2x2", ("jqs", "jqs", "c", "d"), frozenset({2, 3}), {})
    total = {frozenset({(0, "s"), (1, "j")}): tree.MAX_NARROW - 1, frozenset({(0, "s")}): 1}
    grown, _, root, root_bound = planted(case, total)
    assert root_bound == tree.MAX_NARROW
    s = prepared(case, demands=((0, 1),), letter_order=LETTER_ORDER)
    state.add_root(grown, s, root)
    place = LETTER_ORDER.index
    wanted = [(x, y) for x, y in itertools.product("jqs", repeat=2) if place(x) <= place(y)]
    assert sorted(searched(grown, s, 0)) == wanted
