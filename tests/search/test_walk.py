"""Term generation against terms by the definition."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from orderly_boggle.boardclass.scores import TABLES
from orderly_boggle.search.class_bounds import published_order
from orderly_boggle.search.scoring.trie import build_trie
from orderly_boggle.search.terms import walk
from orderly_boggle.search.trees import runs
from tests.search.harness import (
    NO_LIMIT,
    Case,
    build,
    cells_of,
    decoded,
    generate,
    random_case,
    seeds,
)

SEEDS = seeds({"2x2": 40, "2x3": 40, "3x3": 25, "3x4": 8})


def found_terms(case: Case, limit: int = NO_LIMIT) -> Counter:
    """Return the kernel's terms as (word, literals); every word of a case has points of its own."""
    n, _, terms, points_of_code = generate(case, limit)
    assert n == len(terms)
    words = {points: word for word, points in case.points.items()}
    mask = (1 << case.code_bits) - 1
    keys = [int(term) for term in terms]
    return Counter(
        (words[int(points_of_code[key & mask])], decoded(case, key >> case.code_bits))
        for key in keys
    )


@pytest.mark.parametrize(("dims", "seed"), SEEDS)
def test_terms_are_those_of_the_definition(dims, seed):
    case = random_case(dims, seed)
    assert found_terms(case) == Counter(case.minimal_terms)
    assert found_terms(case, 0) == Counter(case.all_terms)
    assert generate(case)[1] == len(case.paths)


@pytest.mark.parametrize("seed", range(20))
def test_limited_absorption_lies_between_none_and_all(seed):
    case = random_case("3x3", seed, bare=4)
    every, fewest = Counter(case.all_terms), Counter(case.minimal_terms)
    for limit in (1, 5, 50, 500):
        found = found_terms(case, limit)
        assert fewest <= found <= every


def test_there_was_something_to_absorb_and_something_to_deduplicate():
    cases = [random_case(dims, seed) for dims, seed in SEEDS[::2]]
    n_paths = sum(len(case.paths) for case in cases)
    n_terms = sum(len(case.all_terms) for case in cases)
    n_minimal = sum(len(case.minimal_terms) for case in cases)
    assert n_minimal < 0.9 * n_terms < 0.8 * n_paths


def test_words_of_equal_points_share_a_code():
    case = random_case("3x3", 5, n_words=40)
    shared = Case(
        case.dims, case.letters, case.bare, {word: 1 + i % 3 for i, word in enumerate(case.points)}
    )
    _, _, terms, points_of_code = generate(shared)
    found = Counter((int(points_of_code[int(t) & 15]), decoded(shared, int(t) >> 4)) for t in terms)
    wanted = Counter((shared.points[word], term) for word, term in case.minimal_terms)
    assert found == wanted


def test_words_worth_nothing_and_words_too_long_leave_no_term():
    case = Case("2x2", ("a", "b", "c", "d"), frozenset(), {"abc": 0, "abcda": 3, "acb": 2})
    _, _, terms, _ = generate(case)
    assert [decoded(case, int(t) >> 4) for t in terms] == [
        frozenset({(0, "a"), (2, "c"), (1, "b")})
    ]
    nothing = Case("2x2", ("a", "b", "c", "d"), frozenset(), {"abc": 0})
    assert generate(nothing)[0] == 0


def test_a_word_on_all_twelve_levels_fits_a_term():
    snake = (0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11)
    word = "zyxwvutsrqpo"
    letters = tuple(word[snake.index(c)] for c in range(12))
    case = Case("3x4", letters, frozenset(), {word[:k]: k for k in range(1, 13)} | {word[::-1]: 13})
    assert found_terms(case) == Counter(case.minimal_terms)
    assert found_terms(case)[word, frozenset(zip(range(12), letters, strict=True))] == 1


@pytest.mark.parametrize("seed", range(6))
def test_full_arrays_are_reported_or_did_not_matter(seed):
    case = random_case("3x3", seed, bare=2)
    n, _, terms, _ = generate(case)
    assert n > 10
    assert generate(case, n_terms=n)[2].tolist() == terms.tolist()
    for capacity in {0, 1, n // 2, n - 1}:
        assert generate(case, n_terms=capacity)[0] == walk.TERMS_FULL
    n_full = 0
    for capacity in [0, 1, 8, 40, 63, 64, 65, *range(66, 2000, 80), 1 << 15]:
        status, _, found, _ = generate(case, n_front=capacity)
        n_full += status == walk.FRONTIER_FULL
        assert status == walk.FRONTIER_FULL or found.tolist() == terms.tolist()
    assert n_full >= 5


def test_a_word_whose_paths_fill_more_than_half_of_the_room_is_reported_and_nothing_is_lost():
    """The paths of one word are copied, and twice as many absorbed: that they fit is not enough."""
    case = Case("3x3", ("abcd",) * 9, frozenset({4}), {"ab": 1, "abcd": 2})
    trie = build_trie(case.points, 9)
    _, _, wanted, _ = generate(case)
    seen = set()
    for capacity in range(640, 1060, 40):
        whole = walk.new_frontier(2 * capacity)
        for array in whole:
            array[:] = 77
        front = walk.Frontier._make(array[:capacity] for array in whole)
        terms = np.zeros(1 << 12, np.uint64)
        n, _ = walk.walk(trie.nodes, cells_of(case), front, terms, case.code_bits, NO_LIMIT)
        seen.add(n == walk.FRONTIER_FULL)
        assert n == walk.FRONTIER_FULL or terms[:n].tolist() == wanted.tolist()
        assert all((array[capacity:] == 77).all() for array in whole)
    assert len(seen) == 2


# Class, cell order if not ours, paths, distinct sets of literals, root bound: golden facts, 1231
# belongs to that order.
PINNED = [
    (
        "3x3",
        "lnrsy aeiou chkmpt chkmpt aeiou lnrsy lnrsy aeiou bdfgjvwxz",
        published_order("3x3"),
        None,
        None,
        1231,
    ),
    (
        "3x4",
        # class 2520743
        "chkmpt aeiou lnrsy lnrsy lnrsy aeiou chkmpt aeiou lnrsy aeiou lnrsy bdfgjvwxz",
        published_order("3x4"),
        787_201,
        665_026,
        5496,
    ),
]


@pytest.mark.parametrize(("dims", "text", "order", "n_paths", "n_keys", "root_bound"), PINNED)
def test_golden_counts_and_root_bounds(enable2k, dims, text, order, n_paths, n_keys, root_bound):
    letters = tuple(text.split())
    standard = TABLES["standard"]
    points = {word: standard.of(word) for word in enable2k.words if len(word) <= len(letters)}
    case = Case(dims, letters, frozenset(), points, order)
    n, walked, terms, points_of_code = generate(case, n_terms=1 << 20, n_front=1 << 20)
    terms.sort()
    values = np.zeros(n, np.int32)
    found = runs.group(terms, terms, values, points_of_code, 4)
    assert n_paths in (None, walked)
    assert n_keys in (None, found)
    cells = np.zeros(1 << 23, np.int32)
    assert (
        build(terms, values, 0, found, len(letters), cells, cells.view(np.int16), 1)[2]
        == root_bound
    )


def test_the_published_example_of_multi_scores():
    letters = tuple("ebeefe")  # rows E B E over E F E, turned so that the board is 2 wide
    case = Case("2x3", letters, frozenset(), {"bee": 1, "fee": 2, "beef": 3})
    assert len(case.paths) == 12
    assert len(case.all_terms) == 6
    assert found_terms(case) == Counter(case.all_terms)
