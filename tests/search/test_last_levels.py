"""The most that the last levels give: against all assignments; what survives with it, against full
enumeration.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from orderly_boggle.search.trees import bound, last_levels, state, tree
from orderly_boggle.search.trees.lazy_subtree import collapse
from tests.reference.orderly import Weighted
from tests.samples import daily
from tests.search.harness import Case, planted, prepared, random_case, seeds

NO_BUDGET = 1 << 60
pytestmark = pytest.mark.usefixtures("widths")
SEEDS = seeds({"2x2": 10, "2x3": 40, "3x3": 40, "3x4": 8})
N_DAILY = {"2x2": 3, "2x3": 10, "3x3": 12, "3x4": 2}
EVERY_DAY = [(dims, seed) for dims, seed in SEEDS if seed < N_DAILY[dims]]


def wide_case(dims: str, seed: int) -> Case:
    """Return a case of many levels whose assignments can all be enumerated."""
    bare = {"2x2": 0, "2x3": 0, "3x3": 1 + seed % 2, "3x4": 4}[dims]
    widest = {"2x2": 4, "2x3": 3, "3x3": 3, "3x4": 2}[dims]
    return random_case(dims, seed, n_words=40, widest=widest, bare=bare)


def started(case: Case) -> tuple[tree.Tree, state.Search]:
    """Return a tree and a search of it that pauses wherever the first level has taken a letter."""
    plant = planted(case, case.total)
    s = prepared(case)
    state.add_root(plant.tree, s, plant.root)
    s.counts[state.PAUSE] = 1
    return plant.tree, s


def pauses(
    grown: tree.Tree, s: state.Search, cutoff: int, rows: int, budget: int = NO_BUDGET
) -> Iterator[tuple[int, list[tuple[str, ...]]]]:
    """Run the search to its end; yield why it stopped, and what survived since it last did."""
    survivors = np.zeros((rows, 12), np.int8)
    status = -1
    while status != bound.DONE:
        before = int(s.counts[state.SURVIVORS])
        status = bound.orderly_bound(grown, s, cutoff, budget, survivors)
        n = int(s.counts[state.SURVIVORS]) - before
        rows_found = survivors[:n, : grown.n_levels].tolist()
        yield status, [tuple(chr(97 + x) for x in row) for row in rows_found]


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_survivors_are_the_assignments_that_reach_the_cutoff(dims, seed):
    case = wide_case(dims, seed)
    sums = case.sums
    best = sums.best(sums.boards.all)
    for cutoff in sorted({1, best // 3, best // 2, best - 1, best, best + 1}):
        reaching = sums.reaching(cutoff)
        wanted = {tuple(board[c] for c in case.free) for board in case.boards.boards(reaching)}
        grown, s = started(case)
        found = []
        for status, some in pauses(grown, s, cutoff, rows=7):
            found += some
            if status == bound.LETTER_TAKEN:
                discarded = int(s.counts[state.DISCARDED])
                last_levels.bound_last_levels(grown, s, cutoff)
                assert s.counts[state.DISCARDED] == discarded, "nothing of that is a board"
        assert set(found) == wanted
        assert len(found) == len(wanted) == int(s.counts[state.SURVIVORS])
        below = case.boards.all & ~reaching
        assert s.counts[state.DISCARDED] >= sums.best(below), "max_bound covers all"
        assert s.counts[state.DISCARDED] < cutoff


def given(terms: Weighted, free: list[int], chosen: str, depth: int) -> dict[int, Weighted]:
    """Return what waits on each level behind the letter of the first one: terms, without it."""
    waiting: dict[int, Weighted] = {level: [] for level in range(depth, len(free))}
    for literals, points in terms:
        if any(cell == free[0] and letter != chosen for cell, letter in literals):
            continue
        rest = frozenset(x for x in literals if x[0] != free[0])
        if rest:
            level = min(free.index(cell) for cell, _ in rest)
            waiting[level].append((rest, points))
    return waiting


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_the_most_is_an_upper_bound_and_within_a_step_where_it_was_sought(dims, seed):
    case = wide_case(dims, seed)
    free = case.free
    n = len(free)
    best = case.sums.best(case.boards.all)
    cutoff = 1 + best // 4
    step = max(1, cutoff // 64)
    grown, s = started(case)
    for status, _ in pauses(grown, s, cutoff, rows=10**5):
        if status != bound.LETTER_TAKEN:
            continue
        letter = chr(96 + int(s.letter[0]))
        before = int(s.bound[1])
        after = last_levels.bound_last_levels(grown, s, cutoff)
        assert after <= before, "no bound is worse"
        kept = s.sums.reshape(state.MAX_LEVELS, -1, 32)[1]
        waiting = given(case.weighted, free, letter, 1)
        for level in range(n - 1, 0, -1):
            most = -1
            for x in itertools.product(*(sorted(set(case.letters[c])) for c in free[level:])):
                taken = set(zip(free[level:], x, strict=True))
                value = 0
                for here in range(level, n):
                    value += sum(p for literals, p in waiting[here] if literals <= taken)
                    value -= int(kept[here, ord(x[here - level]) - 97])
                most = max(most, value)
            plain = int(s.most[level + 1])
            plain += int(s.apart.reshape(-1, 32)[level].max())
            assert most <= s.most[level] <= plain
            if n - level <= min(7, n - 1 - 3):
                # the first aim was half a step above the number of the next level
                first_aim = int(s.most[level + 1]) + (step + 1) // 2
                assert s.most[level] < max(first_aim, most + step) or s.most[level] == plain


def test_a_single_term_that_waits_counts():
    """Terms that no node was built for wait in a list of their own."""
    case = Case("2x3", ("ab", "ab", "ab", "ab", "ab", "aq"), frozenset(), {})
    free = [5, 0, 1, 2, 3, 4]
    case = replace(case, cell_order=tuple(free))
    total = {
        frozenset({(5, "q"), (3, "a"), (4, "b")}): 9,
        frozenset({(5, "a"), (0, "a")}): 3,
        frozenset({(5, "a"), (0, "b"), (2, "a")}): 4,
    }
    plant = planted(case, total)
    s = prepared(case)
    state.add_root(plant.tree, s, plant.root)
    s.counts[state.PAUSE] = 1
    found = []
    n_waiting = 0
    for status, some in pauses(plant.tree, s, 8, rows=10**5):
        found += some
        if status == bound.LETTER_TAKEN:
            n_waiting += int(s.levels.reshape(state.MAX_LEVELS, -1, 4)[1, :, state.N_TAILS].sum())
            last_levels.bound_last_levels(plant.tree, s, 8)
    assert n_waiting == 1
    assert set(found) == {("q", *x, "a", "b") for x in itertools.product("ab", repeat=3)}


def test_nothing_is_kept_apart_for_the_next_letter():
    """What is known behind one letter of the first level says nothing of another."""
    case = wide_case("3x3", 3)
    grown, s = started(case)
    n = 0
    for status, _ in pauses(grown, s, 1, rows=10**5):
        if status == bound.LETTER_TAKEN:
            assert not s.counts[state.IS_APART]
            assert not s.most.any()
            assert not s.apart.any()
            last_levels.bound_last_levels(grown, s, 1)
            assert s.apart.any()
            n += 1
    assert 1 < n <= len(case.letters[case.free[0]]), "once behind each letter"


def test_a_search_that_is_left_halfway_leaves_nothing_to_the_next():
    case = wide_case("3x3", 3)
    plant = planted(case, case.total)
    s = prepared(case)
    state.add_root(plant.tree, s, plant.root)
    s.counts[state.PAUSE] = 1
    survivors = np.zeros((10**5, 12), np.int8)
    assert bound.orderly_bound(plant.tree, s, 1, NO_BUDGET, survivors) == bound.LETTER_TAKEN
    last_levels.bound_last_levels(plant.tree, s, 1)
    collapse(plant.tree.cells, s.counts[state.LINK])
    s.counts[:] = 0
    prepared(case, search=s)
    state.add_root(plant.tree, s, plant.root)
    cutoff = case.sums.best(case.boards.all) // 2
    wanted = case.boards.boards(case.sums.reaching(cutoff))
    found = [x for _, some in pauses(plant.tree, s, cutoff, rows=10**5) for x in some]
    assert sorted(found) == sorted(tuple(board[c] for c in case.free) for board in wanted)


@pytest.mark.parametrize("seed", daily(range(6), range(20)))
def test_a_search_that_is_cut_short_finds_the_same(seed):
    """A number that takes too long is left as it can always be had; budgets and full buffers."""
    case = wide_case("3x3", seed)
    cutoff = max(1, case.sums.cutoff_for(200))
    grown, s = started(case)
    wanted = sorted(x for status, some in pauses(grown, s, cutoff, rows=10**5) for x in some)
    for rows, first_budget in ((1, NO_BUDGET), (5, 0)):
        grown, s = started(case)
        found = []
        budget = first_budget
        survivors = np.zeros((rows, 12), np.int8)
        status = -1
        while status != bound.DONE:
            before = int(s.counts[state.SURVIVORS])
            status = bound.orderly_bound(grown, s, cutoff, budget, survivors)
            n = int(s.counts[state.SURVIVORS]) - before
            found += [tuple(chr(97 + x) for x in row[: grown.n_levels]) for row in survivors[:n]]
            if status == bound.LETTER_TAKEN:
                last_levels.bound_last_levels(grown, s, cutoff)
            if status == bound.BUDGET_SPENT:
                budget = int(s.counts[state.PUSHES] - s.counts[state.SINCE]) + 3
        assert sorted(found) == wanted
