"""The breaker: the boards it finds are the boards there, whatever the parameters, and no bound lies
below a score.

Small word lists over few letters, so that full enumeration (tests/reference/truth_table) can score
every board.
"""

from __future__ import annotations

import multiprocessing
import random
import resource
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product

import numpy as np
import pytest

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.errors import IncompleteError, InputError
from orderly_boggle.boardclass.geometry import ORDERS, cell_order_of, geometry
from orderly_boggle.boardclass.partition import Partition, parse_partition
from orderly_boggle.boardclass.parts import depth, is_below, parse_path
from orderly_boggle.boardclass.scores import TABLES, parse_scores
from orderly_boggle.boardclass.wordlist import WordList, load_wordlist
from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.configs.model import load_config
from orderly_boggle.results.proof.nodes import SearchNodes, paths_of
from orderly_boggle.search import node_search
from orderly_boggle.search.breaker import (
    Breaker,
    Spec,
    Unit,
    UnitResult,
    another_order,
    break_class,
    image,
)
from orderly_boggle.search.node import class_node
from orderly_boggle.search.params import DEMANDS, LETTER_ORDER
from orderly_boggle.search.trees import last_levels
from tests.classes import canonical_rank, n_boards_of, rank_of, rank_of_board
from tests.conftest import published_boards
from tests.params import Params, spec_of, with_question
from tests.reference.classes import all_images
from tests.reference.solver import score as slow_score
from tests.reference.truth_table import Boards, Sums, scores
from tests.samples import daily
from tests.search.harness import random_words

# only large boards would be searched with bounds of the last levels; here small ones are, too
pytestmark = pytest.mark.usefixtures("always_pausing")

STANDARD = TABLES["standard"]
SMALL = Params(memory_mb=16)
NO_BUDGETS = {"node_budget": 0, "least_budget": 0, "fused_budget": 0, "fused_per_term": 0}
EVERY = "abcdefghijklmnopqrstuvwxyz"
FREE_RIM = f"edge: {EVERY}, corner: {EVERY}"
Found = set[tuple[str, int]]


@dataclass(frozen=True)
class World:
    """A board size, a word list over a few letters, and a partition whose first buckets hold just
    those letters.
    """

    dims: str
    alphabet: str
    words: tuple[str, ...]
    partition_text: str

    @property
    def size(self) -> tuple[int, int]:
        w, h = geometry(self.dims).dims
        return w, h

    @cached_property
    def partition(self) -> Partition:
        return parse_partition(self.partition_text, self.dims)

    @cached_property
    def points(self) -> dict[str, int]:
        return {word: STANDARD.of(word) for word in self.words}

    @cached_property
    def boards(self) -> Boards:
        return Boards(*self.size, [self.alphabet] * geometry(self.dims).n)

    @cached_property
    def scores(self) -> Sums:
        return scores(self.boards, self.points)

    def spec(self, cutoff: int, params: Params = SMALL) -> Spec:
        return spec_of(self.dims, self.words, STANDARD.points, cutoff, self.partition_text, params)

    def images(self, found: Found) -> Found:
        """Return all images of the boards found."""
        return all_images(found, *self.size)

    def found_in(self, chosen: int) -> Found:
        """Return the boards of a set with their scores."""
        return {(board, self.score(board)) for board in self.boards.boards(chosen)}

    def best_rank(self) -> int:
        """Return the class of a best board."""
        best = self.scores.reaching(self.scores.best(self.boards.all))
        return rank_of_board(self.partition, next(self.boards.boards(best)))

    @cached_property
    def score(self) -> Callable[[str], int]:
        return cache(lambda board: slow_score(board, *self.size, self.points))


def others(letters: str) -> str:
    """Return the letters of a-z that are not in ``letters``."""
    return "".join(sorted(set(LETTER_ORDER) - set(letters)))


def world(
    dims: str, alphabet: str, n_words: int, buckets: str, seed: int = 0, longest: int = 6
) -> World:
    words = [
        w
        for w in random_words(random.Random(seed), alphabet, n_words, longest)
        if len(w) >= 3 or "q" in w
    ]
    return World(dims, alphabet, tuple(words), f"{buckets} {others(alphabet)}")


WORLDS = {
    "2x2": world("2x2", "aeqst", 60, "aeqst", longest=4),
    "2x3": world("2x3", "aeqs", 60, "as eq"),
    "2x5": world("2x5", "aes", 40, "aes"),
    "3x3": world("3x3", "aest", 40, "aest"),
    "3x3 q": world("3x3", "aqs", 40, "aq s", seed=5),
}
SEVERAL = ("2x3", "3x3 q")  # these cut their letters into two buckets


def broken(breaker: Breaker, unit: Unit) -> list[UnitResult]:
    """Break a unit and whatever it is split into."""
    results = []
    todo = [unit]
    while todo:
        unit = todo.pop()
        result = breaker.break_unit(unit)
        assert result.unit == unit
        assert (result.status == "split") == bool(result.children)
        for child in result.children:
            assert child.class_id == unit.class_id
            assert child.path.startswith(f"{unit.path}/" if unit.path else "")
            assert child.path != unit.path
        parts = [child.path for child in result.children] + list(result.settled)
        assert len(set(parts)) == len(parts)
        assert not any(other.startswith(f"{part}/") for part in parts for other in parts)
        assert all(path.startswith(f"{unit.path}/" if unit.path else "") for path in result.settled)
        assert result.children or not result.settled
        todo += result.children
        results.append(result)
    return results


def candidates(results: Iterable[UnitResult]) -> Found:
    return {candidate for result in results for candidate in result.candidates}


def in_class(found: Found, letters: tuple[str, ...]) -> Found:
    """Return the boards that lie in the class with these letters per cell."""
    return {
        item for item in found if all(x in cell for x, cell in zip(item[0], letters, strict=True))
    }


def random_params(rng: random.Random, tiny: bool = False) -> Params:
    order = "".join(rng.sample(LETTER_ORDER, 26))
    groups: list[str] = []
    for letter in order:
        if groups and rng.random() < 0.3:
            groups[-1] += letter
        else:
            groups.append(letter)
    return Params(
        fused=tuple(kind for kind in ("center", "edge", "corner") if rng.random() < 0.4),
        letter_order=rng.choice([LETTER_ORDER, order]),
        demands=rng.choice(DEMANDS),
        unfuse_parts=rng.choice([2, 3, 26]),
        force_groups=rng.choice([tuple(groups), tuple(LETTER_ORDER)]),
        node_budget=rng.choice([0, 1, 10, 100]) if tiny else rng.choice([100, 10**6]),
        least_budget=rng.choice([0, 1, 10, 100]) if tiny else rng.choice([100, 10**6]),
        whole_terms=rng.choice([0, 1, 100, 10**6]),
        loose_points=rng.choice([0, 1, 8, 10**6]),
        loose_budget=rng.choice([0, 1, 10, 10**6]),
        fused_budget=rng.choice([0, 1, 10, 100]) if tiny else rng.choice([100, 10**6]),
        fused_per_term=rng.choice([0, 2]),
        fused_misses=rng.choice([0, 1, 26]),
        unit_budget=rng.choice([0, 1, 100, 10**4]) if tiny else 10**9,
        memory_mb=rng.choice([1, 16]),
        absorb_limit=rng.choice([0, 1, 100, 10**6]),
        shape_letters=rng.choice([0, 2, 99]),
        product_limit=rng.choice([0, 1, 20, 20_000]),
        max_free=rng.choice([2, 4, 6, 12]),
        coarse_groups=rng.choice([(), tuple(groups), (LETTER_ORDER,), Params().coarse_groups]),
        absorb_forced=rng.choice([0, 1]),
    )


def check_class(of: World, cutoff: int, rank: int, params: Params) -> None:
    """Break a class; its candidates must be its boards, and no bound may lie below a score."""
    letters = of.partition.class_letters(rank)
    inside = of.boards.inside(letters)
    results = broken(Breaker(of.spec(cutoff, params)), Unit(rank))
    found = candidates(results)
    assert in_class(of.images(found), letters) == of.found_in(inside & of.scores.reaching(cutoff))
    assert in_class(found, letters) == found
    assert all(result.max_bound < cutoff for result in results)
    assert max(result.max_bound for result in results) >= of.scores.best(
        inside & ~of.scores.reaching(cutoff)
    )
    assert results[0].n_boards == n_boards_of(of.partition, rank)
    if not found:
        assert all(result.status != "candidates" for result in results)


def test_what_a_search_without_survivors_discards_counts_for_max_bound():
    of = WORLDS["2x2"]
    best = of.scores.best(of.boards.all)
    (result,) = broken(Breaker(of.spec(best + 5)), Unit(of.best_rank()))
    assert (result.counters["n_survivors"], result.counters["n_pushes"] > 0) == (0, True)
    assert result.counters["n_nodes"] > 0
    assert best <= result.max_bound < best + 5


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("seed", range(14))
def test_same_candidates_whatever_the_parameters_and_limits(name, seed):
    of = WORLDS[name]
    rng = random.Random(f"{name} {seed}")
    cutoff = max(1, of.scores.cutoff_for(rng.choice([1, 30, 300, 2000])))
    # Only buckets of letters that words have; once a board may hold other letters too, it is not in
    # the enumeration.
    several = (
        rank_of(of.partition, [rng.randrange(2) for _ in range(geometry(of.dims).n)])
        if name in SEVERAL
        else 0
    )
    for rank in {several, of.best_rank()} if seed % 2 else {several}:
        check_class(of, cutoff, rank, random_params(rng, tiny=seed % 2 == 1 and name != "3x3"))


def test_where_the_rim_is_narrow_each_letter_of_the_centre_is_searched_by_itself():
    """And nothing else: the terms grown for a class are those of its parts."""
    words = ("tea", "eat", "ate", "seat", "east", "teas", "rate", "tear", "stare", "tan", "tin")
    narrow = f"aest {others('aest')}"
    partition = f"center: aei {others('aei')}, edge: {narrow}, corner: {narrow}"
    breaker = Breaker(spec_of("3x3", words, "standard", 5, partition, SMALL))
    whole = breaker.break_unit(Unit(0))
    parts = [breaker.break_unit(Unit(0, f"4={letter}")) for letter in "aei"]
    assert {x for part in parts for x in part.candidates} == set(whole.candidates)
    assert whole.candidates
    assert whole.counters["n_splits"] == 1
    assert whole.counters["n_terms"] == sum(part.counters["n_terms"] for part in parts) > 0


@pytest.mark.parametrize("name", ["2x2", "2x3", "3x3"])
@pytest.mark.parametrize("budget", [3, 30])
def test_letters_that_are_left_and_letters_that_are_not(name, budget):
    """Some letters of a cell spend the budget and are forced, the others do not: of the next cell
    all are searched.
    """
    of = WORLDS[name]
    params = replace(SMALL, fused=(), node_budget=budget, least_budget=budget, unit_budget=1 << 40)
    for n_boards in (30, 1000):
        check_class(of, max(1, of.scores.cutoff_for(n_boards)), of.best_rank(), params)


@pytest.mark.parametrize(("cutoff", "n_boards", "n_splits"), [(1, 138_411, 0), (65, 0, 3)])
def test_boards_that_are_scored_in_vain_are_charged_to_the_budget(cutoff, n_boards, n_splits):
    """Any three of the letters are a word, and no board has more than 64.  Fused edges seem to have
    more, so thousands of boards are scored, for which no push is needed.
    """
    letters = "abcdefghijklm"
    words = ["".join(three) for three in product(letters, repeat=3)]
    partition = f"edge: abc {others('abc')}, corner: {letters} {others(letters)}"
    params = replace(SMALL, fused=("edge",), fused_budget=100_000, fused_misses=0)
    result = Breaker(spec_of("2x3", words, "words", cutoff, partition, params)).break_unit(Unit(0))
    assert (len(result.candidates), result.counters["n_splits"]) == (n_boards, n_splits)
    assert result.counters["n_pushes"] < 5000


LAYERED = world("3x3", "aet", 60, "aet", longest=7)
OPEN = replace(
    LAYERED, partition_text=f"center: a e t {others('aet')}, edge: {EVERY}, corner: {EVERY}"
)


def in_alphabet(found: Found) -> Found:
    """Return all images of boards of the open classes, those without letters of no word."""
    return {item for item in OPEN.images(found) if set(item[0]) <= set(OPEN.alphabet)}


@pytest.mark.parametrize("order", [*ORDERS, "drawn"])
def test_small_budgets_over_the_layers_of_a_class_lose_no_board_in_any_cell_order(order):
    """All letters are open but those of the centre, so nodes are grown over what their class has
    grown.
    """
    rng, board = random.Random(order), geometry("3x3")
    cells = cell_order_of(board.dims, order) if order in ORDERS else another_order(board, (), rng)
    cutoff = OPEN.scores.cutoff_for(60)
    there = OPEN.found_in(OPEN.scores.reaching(cutoff))
    best_below = OPEN.scores.best(OPEN.boards.all & ~OPEN.scores.reaching(cutoff))
    for budget in (10, 3000):
        params = Params(node_budget=budget, least_budget=rng.choice([0, budget]), memory_mb=64)
        breaker = Breaker(with_question(OPEN.spec(cutoff, params), cell_order=cells))
        results = [each for rank in range(3) for each in broken(breaker, Unit(rank))]
        assert in_alphabet(candidates(results)) == there
        assert best_below <= max(result.max_bound for result in results) < cutoff


def test_replicas_with_small_budgets_lose_no_board():
    cutoff = OPEN.scores.cutoff_for(60)
    params = Params(node_budget=1000, least_budget=1000, memory_mb=64)
    breaker = Breaker(OPEN.spec(cutoff, params))
    for seed in range(3):
        results = [breaker.replicate(Unit(rank), [""], seed) for rank in range(3)]
        assert in_alphabet(candidates(results)) == OPEN.found_in(OPEN.scores.reaching(cutoff))


@pytest.mark.parametrize("max_free", [1, 3, 5, 7])
@pytest.mark.parametrize("name", ["2x3", "2x5", "3x3"])
def test_a_class_that_no_key_holds_is_fused_before_it_is_searched(name, max_free):
    """Keys have room for ``max_free`` cells; the others are fused, searched, and unfused."""
    of = WORLDS[name]
    groups = ("ae", "".join(sorted(set(LETTER_ORDER) - set("ae"))))
    for n_boards, budgets in ((1, {}), (100, {}), (100, NO_BUDGETS)):
        cutoff = max(1, of.scores.cutoff_for(n_boards))
        params = replace(SMALL, max_free=max_free, coarse_groups=groups, **budgets)
        check_class(of, cutoff, of.best_rank(), params)
        check_class(of, cutoff, of.best_rank(), replace(params, unit_budget=1, shape_letters=0))


@pytest.mark.parametrize("n_terms_that_fit", [1, 8, 30])
@pytest.mark.parametrize("shape_letters", [0, 99])
@pytest.mark.usefixtures("terms_not_mb")
def test_too_little_memory_splits_and_loses_nothing(n_terms_that_fit, shape_letters):
    of = WORLDS["2x3"]
    cutoff = of.scores.cutoff_for(20)
    params = replace(
        SMALL, memory_mb=n_terms_that_fit, fused=("edge",), shape_letters=shape_letters
    )
    for rank in (0, of.best_rank()):
        check_class(of, cutoff, rank, params)
    starved = Breaker(
        of.spec(cutoff, replace(params, unit_budget=1 << 40, fused_misses=0))
    ).break_unit(Unit(0))
    assert starved.counters["n_splits"] > 0


def parts_named(nodes: SearchNodes, unit: Unit, named: set[str]) -> list[str]:
    """Return the parts of a unit, split as far as any of the ``named`` ones lie below, in search
    order.
    """
    todo, found = [unit.path], []
    while todo:
        path = todo.pop()
        if path not in named and any(is_below(other, path) for other in named):
            cell, _ = parse_path(next(other for other in named if is_below(other, path)), 16)[
                depth(path)
            ]
            todo += reversed(nodes.parts(unit.class_id, path, cell))
        else:
            found.append(path)
    return found


@pytest.mark.parametrize(
    ("name", "fused"), [("3x3 q", ("center",)), ("2x2", ()), ("2x3", ("corner",))]
)
@pytest.mark.parametrize("unit_budget", [0, 300])
def test_children_and_settled_parts_are_all_of_a_unit(name, fused, unit_budget):
    of = WORLDS[name]
    cutoff = of.scores.cutoff_for(300)
    seen = set()
    for node_budget, demands in product((0, 3, 40), DEMANDS):
        budgets = NO_BUDGETS | {"node_budget": node_budget, "unit_budget": unit_budget}
        params = replace(SMALL, fused=fused, demands=demands, **budgets)
        breaker = Breaker(of.spec(cutoff, params))
        nodes = SearchNodes(breaker.question)
        for result in broken(breaker, Unit(0))[:20]:
            if result.status != "split":
                continue
            children = [child.path for child in result.children]
            parts = parts_named(nodes, result.unit, {*children, *result.settled})
            assert set(parts) == {*children, *result.settled}
            assert [path for path in parts if path in children] == children, "in search order"
            seen |= {parts.index(path) < parts.index(children[0]) for path in result.settled}
            # A settled part was decided: searched on its own it gives no board that is not listed
            # here.
            for path in result.settled[:3]:
                assert candidates(broken(breaker, Unit(0, path))) <= set(result.candidates)
    assert seen == {True, False} or name in {"2x3", "2x2"}


@pytest.mark.parametrize("name", ["2x2", "2x3", "3x3"])
def test_eliminated_classes_have_a_bound_above_every_score(name):
    of = WORLDS[name]
    best = of.scores.best(of.boards.inside(of.partition.class_letters(0)))
    by_shape = replace(SMALL, shape_letters=0)
    for params in (
        SMALL,
        by_shape,
        replace(SMALL, fused=()),
        replace(by_shape, fused=("center", "edge")),
    ):
        # High enough for the whole class to go at once: then max_bound bounds every board of it.
        result = Breaker(of.spec(1_000_000, params)).break_unit(Unit(0))
        assert result.status == "eliminated"
        assert best <= result.max_bound
        again = Breaker(of.spec(result.max_bound, params)).break_unit(Unit(0))
        assert again.max_bound < result.max_bound, "a bound equal to the cutoff eliminates nothing"


SINGLE = f"center: {' '.join(EVERY)}, edge: {EVERY}, corner: {EVERY}"


def open_spec(params: Params) -> Spec:
    """Return a run with 3,000 words and single letters in the centre, all letters around it."""
    chosen = random.Random(1).sample(
        [word for word in load_wordlist("scowl70").words if len(word) <= 9], 3000
    )
    return spec_of(
        "3x3", tuple(sorted(chosen)), STANDARD.points, cutoff=60, buckets=SINGLE, params=params
    )


@pytest.mark.parametrize("memory_mb", daily([6], [5]))
def test_a_unit_does_not_depend_on_what_was_searched_before(memory_mb):
    """Where memory is short, what fits must not depend on what is left in the arrays from other
    units.
    """
    spec = open_spec(Params(memory_mb=memory_mb, unit_budget=20_000, loose_points=8))
    breaker, found, todo = Breaker(spec), {}, [Unit(x) for x in (0, 4, 18)]
    while todo:
        unit = todo.pop()
        found[unit] = breaker.break_unit(unit)
        todo += found[unit].children
    assert len(found) > 50
    units = list(found)
    random.Random(2).shuffle(units)
    other = Breaker(spec)
    for unit in units:
        assert replace(other.break_unit(unit), seconds=0.0) == replace(found[unit], seconds=0.0)


def test_layers_that_find_no_room_are_counted_for_each_unit():
    starved = Breaker(open_spec(Params(memory_mb=5, loose_points=8)))
    starved.break_unit(Unit(4))
    assert starved.n_short_layers > 0
    starved.break_unit(Unit(25))  # a weak class, with few terms
    assert starved.n_short_layers == 0
    starved.break_unit(Unit(4))
    starved.replicate(Unit(25), [], 0)  # of no part: nothing is searched
    assert starved.n_short_layers == 0
    sated = Breaker(open_spec(Params(memory_mb=64, loose_points=8)))
    sated.break_unit(Unit(4))
    assert sated.n_short_layers == 0


@pytest.mark.parametrize(
    ("cutoff", "classes"),
    daily([(40, (1, 2))], [(40, range(5)), (50, range(5))]),
)
def test_letters_are_ruled_out_for_all_fused_letters_at_once(cutoff, classes):
    """The boards do not depend on it; what it is for is fewer nodes: none below a part whose
    letters all are.
    """
    partition = f"center: jqxzkvw bcdfghmpy lnr st aeiou, edge: {EVERY}, corner: {EVERY}"
    found, splits = [], []
    for misses in (0, 2, 26):
        params = Params(memory_mb=64, whole_terms=100_000, fused_misses=misses, unit_budget=1 << 60)
        breaker = Breaker(with_question(open_spec(params), buckets=partition, cutoff=cutoff))
        results = [breaker.break_unit(Unit(class_id)) for class_id in classes]
        assert all(result.max_bound < cutoff for result in results)
        listed = candidates(results)
        found.append({(canonical_board(x, breaker.geometry), score) for x, score in listed})
        splits.append(sum(result.counters["n_splits"] for result in results))
    assert found[0] == found[1] == found[2]
    assert bool(found[0]) == (cutoff == 40)
    assert splits[0] > splits[1]


def test_another_cell_order_starts_from_nothing():
    """What was grown for one order of the edges says nothing about another one, though both begin
    in the centre.
    """
    spec = with_question(open_spec(Params(memory_mb=64)), cutoff=34)
    unit = Unit(4)
    breaker, other = Breaker(spec), Breaker(spec)
    order = breaker.geometry.cell_order
    turned = geometry("3x3", (order[0], *order[4:0:-1], *order[:4:-1]))
    results = [breaker.break_unit(unit)]
    for one in (breaker, other):
        one.turn(turned)
        results.append(replace(one.break_unit(unit), seconds=0.0))
    assert results[1] == results[2]
    found = [
        {canonical_board(board, turned) for board, _ in result.candidates} for result in results
    ]
    assert found[0] == found[1] != set()


def test_a_breaker_searches_at_the_cutoff_that_its_spec_has_now():
    of = WORLDS["2x2"]
    breaker, unit = Breaker(of.spec(1000)), Unit(of.best_rank())
    assert breaker.break_unit(unit).status == "eliminated"
    spec = of.spec(of.scores.best(of.boards.all))
    breaker.question = spec.question
    assert breaker.break_unit(unit).candidates == Breaker(spec).break_unit(unit).candidates != ()


def test_unknown_classes_and_paths_are_refused():
    of = WORLDS["2x2"]
    breaker = Breaker(of.spec(5))
    for unit in (Unit(-1), Unit(16), Unit(0, "0=xyz"), Unit(0, "nowhere")):
        with pytest.raises(InputError):
            breaker.break_unit(unit)
    with pytest.raises(InputError):
        break_class(of.spec(5), -1)
    with pytest.raises(InputError, match="is no question"):
        break_class(of, 0)


@pytest.mark.parametrize("scores_name", ["words", "powers", "3,0,7"])
def test_other_score_tables(scores_name):
    of = WORLDS["3x3"]
    table = parse_scores(scores_name)
    sums = scores(of.boards, {word: table.of(word) for word in of.words})
    cutoff = sums.cutoff_for(30)
    found = candidates(
        broken(Breaker(with_question(of.spec(cutoff), points=table.points)), Unit(0))
    )
    assert {board for board, _ in of.images(found)} == set(of.boards.boards(sums.reaching(cutoff)))


def found_in_all_classes(of: World, cutoff: int) -> Found:
    breaker = Breaker(of.spec(cutoff))
    found = set()
    for rank in np.concatenate([*of.partition.canonical_ranks()]).tolist():
        found |= candidates(broken(breaker, Unit(rank)))
    return found


def test_whole_2x3_with_other_letters_too():
    """All letters that no word has behave alike: they are enumerated as one, ``*``."""
    of = world("2x3", "aers", 40, "as er", seed=3)
    boards = Boards(*of.size, ["aers*"] * 6)
    sums = scores(boards, of.points)
    cutoff = sums.cutoff_for(60)
    reached = set(boards.boards(sums.reaching(cutoff)))
    found = found_in_all_classes(of, cutoff)
    plain = ["".join(x if x in "aers" else "*" for x in board) for board, _ in of.images(found)]
    assert set(plain) == reached
    assert len(plain) == sum(22 ** board.count("*") for board in reached)
    assert all(score == of.score(board) for board, score in found)


@pytest.mark.parametrize("shape_letters", [0, 99])
def test_whole_3x3_over_five_letters(shape_letters):
    """1,953,125 boards in classes of one centre letter each, as the presets cut them."""
    words = [w for w in random_words(random.Random(8), "aerst", 14, 5) if len(w) >= 3]
    rest = others("aerst")
    of = World(
        "3x3",
        "aerst",
        tuple(words),
        f"center: a e r s t {rest}, edge: aerst {rest}, corner: aerst {rest}",
    )
    cutoff = of.scores.cutoff_for(300)
    breaker = Breaker(of.spec(cutoff, replace(SMALL, shape_letters=shape_letters)))
    found: Found = set()
    for letter in range(5):
        digits = [0] * 9
        digits[4] = letter
        found |= candidates(broken(breaker, Unit(rank_of(of.partition, digits))))
    assert of.images(found) == of.found_in(of.scores.reaching(cutoff)) != set()


GOLDEN_CUTOFF = 500
PAPER_BUCKETS = "bdfgjqvwxz aeiou lnrsy chkmpt"


@pytest.fixture(scope="module")
def golden_boards() -> dict[str, int]:
    """Return all images of the 42 boards, with their scores."""
    best = published_boards("best-3x3-enable2k-500")
    assert len(best) == 42
    return dict(all_images(best.items(), 3, 3))


def check_golden_class(breaker: Breaker, rank: int, golden_boards: dict[str, int]) -> Found:
    """Break a class: the golden boards come back, and no other ones."""
    letters = breaker.partition.class_letters(rank)
    found = candidates(broken(breaker, Unit(rank)))
    assert in_class(all_images(found, 3, 3), letters) == in_class(
        set(golden_boards.items()), letters
    )
    return found


def test_class_of_each_golden_board_returns_it(enable2k, golden_boards):
    params = Params(fused=(), memory_mb=128)
    breaker = Breaker(
        spec_of("3x3", enable2k.words, STANDARD.points, GOLDEN_CUTOFF, PAPER_BUCKETS, params)
    )
    cut = breaker.partition
    n_found = set()
    for rank in {canonical_rank(cut, rank_of_board(cut, board)) for board in golden_boards}:
        found = check_golden_class(breaker, rank, golden_boards)
        n_found |= {min(all_images([(board, score)], 3, 3)) for board, score in found}
    assert len(n_found) == 42


@pytest.mark.parametrize("centre", daily("q", "xb"))
def test_classes_of_one_centre_letter(enable2k, golden_boards, centre):
    """Rim of all letters: no golden board has such a centre, or exactly those come back."""
    breaker = Breaker(
        spec_of(
            "3x3", enable2k.words, STANDARD.points, GOLDEN_CUTOFF, SINGLE, Params(memory_mb=256)
        )
    )
    check_golden_class(breaker, EVERY.index(centre), golden_boards)


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("seed", range(3))
def test_replicas_agree_with_every_verdict(name, seed):
    of, rng = WORLDS[name], random.Random(f"{name} {seed}")
    cutoff = of.scores.cutoff_for(rng.choice([1, 30, 300]))
    params = random_params(rng, tiny=seed % 2 == 1 and name != "3x3")
    breaker = Breaker(of.spec(cutoff, params))
    nodes = SearchNodes(breaker.question)
    results = broken(breaker, Unit(0))
    patient = Breaker(of.spec(cutoff, Params(**{**vars(params), "unit_budget": 10**9})))
    for result in rng.sample(results, min(5, len(results))):
        if paths_of(result):
            replica = patient.replicate(result.unit, paths_of(result), rng.getrandbits(32))
            assert nodes.difference(result, replica) == ""
            assert breaker.break_unit(result.unit).candidates == result.candidates
    again = patient.break_unit(results[0].unit)
    assert set(again.candidates) >= candidates(each for each in results if not each.children)


@pytest.mark.parametrize("lie", ["lost", "added", "score", "size"])
def test_a_difference_is_named(lie):
    of = WORLDS["3x3"]
    cutoff = of.scores.cutoff_for(300)
    breaker = Breaker(of.spec(cutoff))
    nodes = SearchNodes(breaker.question)
    true = breaker.break_unit(Unit(0))
    found = list(true.candidates)
    assert found
    demanded = [board for board, _ in sorted(nodes._demanded([nodes._node(0, "")], true))]
    replaced = {
        "lost": [item for item in found if item[0] != demanded[0]],
        "added": [*found, ("aaaaaaaaa", cutoff)],
        "score": [(board, score + (board == demanded[0])) for board, score in found],
        "size": found,
    }[lie]
    n_boards = true.n_boards + (lie == "size")
    wrong = UnitResult(true.unit, true.status, n_boards, 0, tuple(replaced), (), (), {}, 0.0)
    assert nodes.difference(true, breaker.replicate(Unit(0), ("",), 1)) == ""
    assert nodes.difference(true, wrong)


def test_images_that_the_demands_leave_out_are_no_difference():
    of = WORLDS["3x3"]
    breaker = Breaker(of.spec(of.scores.cutoff_for(300)))
    nodes = SearchNodes(breaker.question)
    true = breaker.break_unit(Unit(0))
    demanded = nodes._demanded([nodes._node(0, "")], true)
    images = of.images(set(true.candidates))
    assert demanded < images
    every = replace(true, candidates=tuple(sorted(images)))
    least = replace(true, candidates=tuple(sorted(demanded)))
    assert nodes.difference(every, least) == nodes.difference(least, every) == ""


def test_images_and_orders_differ():
    of = WORLDS["3x3"]
    board = geometry("3x3")
    root = class_node(of.partition.class_masks(0).tolist(), board, Params())
    assert root.demands
    orders = {another_order(board, root.demands, random.Random(seed)) for seed in range(50)}
    assert len(orders) > 10
    for order in orders:
        assert sorted(order) == list(range(9))
        assert all(order.index(c) < order.index(d) for c, d in root.demands)
        assert [board.cell_types[cell] for cell in order] == [
            board.cell_types[cell] for cell in board.cell_order
        ]
    turned = image(root, [2, 5, 8, 1, 4, 7, 0, 3, 6])
    assert turned.masks[0] == root.masks[2]
    assert {turned.n_boards} == {root.n_boards}


def test_what_no_replica_can_answer():
    of = WORLDS["2x3"]
    breaker = Breaker(
        of.spec(1, Params(memory_mb=16, unit_budget=0, node_budget=0, least_budget=0))
    )
    with pytest.raises(InputError):
        breaker.replicate(Unit(0), ("9=z",), 0)
    with pytest.raises(IncompleteError, match="10 times"):
        breaker.replicate(Unit(0), ("",), 0)
    assert breaker.geometry is geometry("2x3"), "and it goes on as before"


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_golden_boards_come_back(enable2k: WordList) -> None:
    points = parse_scores("standard").points
    breaker = Breaker(
        spec_of("3x4", enable2k.words, points, 1500, SINGLE, Params(unit_budget=1 << 60))
    )
    listed = {
        canonical_board(board, breaker.geometry): score
        for board, score in published_boards("best-3x4-enable2k-1500").items()
    }
    cut = breaker.partition
    found = {}
    for class_id in sorted({canonical_rank(cut, rank_of_board(cut, board)) for board in listed}):
        result = breaker.break_unit(Unit(class_id))
        assert not result.children
        found |= {
            canonical_board(board, breaker.geometry): score for board, score in result.candidates
        }
    assert found == listed
    assert len(listed) == 33


def breaker_of_4x4(unit_budget: int) -> Breaker:
    """Return what the 4x4 preset searches with at the published cutoff."""
    config = load_config(
        "4x4", {"wordlist": "enable2k", "cutoff": 3500, "search": {"unit_budget": unit_budget}}
    )
    return Breaker(make_plan(config).spec)


CENTRES = ("atin", "east", "tain", "eeee")
MOST_MB = 2048


def strongest_parts(centre: str, breaker: Breaker) -> list[tuple[str, int]]:
    """Break a class, the strongest part left of it, the strongest part of that; return paths and
    bytes of trees.
    """
    letters = iter(centre)
    board = "".join(
        next(letters) if kind == "center" else "z" for kind in breaker.geometry.cell_types
    )
    unit = Unit(canonical_rank(breaker.partition, rank_of_board(breaker.partition, board)))
    found = []
    for _ in range(4):
        result = breaker.break_unit(unit)
        found.append((unit.path, result.counters["max_tree_bytes"]))
        if not result.children:
            break
        unit = result.children[-1]
    return found


def measure(centres: tuple[str, ...]) -> tuple[list[tuple[str, int]], int]:
    """Return what one breaker says of all centres, and the largest resident memory of this process,
    MiB.
    """
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


@pytest.mark.parametrize(
    ("dims", "cutoff", "buckets"),
    [
        ("2x3", 25, EVERY),
        ("3x3", 250, "center: jqxz kvw fy bgu hmp cd l n o r s t i a e, " + FREE_RIM),
    ],
)
def test_bounds_of_the_last_levels_change_no_list_of_boards(dims, cutoff, buckets, monkeypatch):
    """Classes that symmetry maps onto themselves, fused letters and forced ones, as in a run."""
    spec = Spec.of(dims, "scowl35", "standard", cutoff, buckets)
    listed: list[list[tuple[object, ...]]] = []
    taken = Counter[int]()
    for levels in (99, 1):
        monkeypatch.setattr(node_search, "LEVELS_LEFT", levels)

        def noted(*arguments, levels=levels):
            taken[levels] += 1
            return last_levels.bound_last_levels(*arguments)

        monkeypatch.setattr(node_search, "bound_last_levels", noted)
        breaker = Breaker(spec)
        found = [breaker.break_unit(Unit(int(i))) for i in spec.question.class_ids()]
        listed.append([(each.status, sorted(each.candidates)) for each in found])
        assert all(each.max_bound < cutoff for each in found)
    assert listed[0] == listed[1]
    assert any(candidates for _, candidates in listed[0])
    assert not taken[99]
    assert taken[1] > 20
