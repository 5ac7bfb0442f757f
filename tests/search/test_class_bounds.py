"""The bounds of a whole class: they hold by full enumeration, agree with their twins, and give the
pinned numbers.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from orderly_boggle.boardclass.errors import BoardError, IncompleteError, InputError, PartitionError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.partition import parse_class, parse_partition
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.search.class_bounds import (
    Terms,
    boards_reaching,
    bounds,
    forced_to,
    n_nodes,
    orderly_bounds,
    published_order,
    walk_class,
)
from orderly_boggle.search.scoring.scorer import Scorer
from tests.reference import orderly
from tests.samples import daily

STANDARD = parse_scores("standard")
PARTITION_4X4 = "aeijou bcdfgmpqvwxz hklnrsty, corner: aeiosuy bcdfghjklmnpqrtvwxz"
CLASS_3X3 = "lnrsy aeiou chkmpt chkmpt aeiou lnrsy lnrsy aeiou bdfgjvwxz"


class Case:
    """A random class with words of its own, and everything the twins say about it."""

    def __init__(self, dims: str, seed: int, n_words: int = 60) -> None:
        rng = np.random.default_rng(seed)
        self.geometry = geometry(dims)
        self.size = (self.geometry.dims.w, self.geometry.dims.h)
        n = self.geometry.n
        lengths = rng.integers(3, min(6, n) + 1, n_words)
        self.words = sorted({"".join(rng.choice(list("abcq"), k)) for k in lengths})
        self.points = {word: STANDARD.of(word) for word in self.words}
        n_letters = rng.integers(1, 4 if n <= 6 else 3, n)
        self.letters = tuple(
            "".join(sorted(rng.choice(list("abcq"), k, replace=False))) for k in n_letters
        )
        self.scorer = Scorer(dims, self.words, STANDARD)
        self.terms = orderly.terms_of_class(self.letters, self.words, self.size)
        self.unique = orderly.with_points(orderly.deduplicated(self.terms), self.points)


CASES = [("2x2", 1), ("2x2", 2), ("2x3", 3), ("2x3", 4), ("3x3", 5), ("3x3", 6)]


@pytest.fixture(params=CASES, ids=lambda p: f"{p[0]}-{p[1]}")
def case(request) -> Case:
    return Case(*request.param)


def bound_of(terms: Terms) -> int:
    """Return the orderly bound of the terms of one part."""
    return int(orderly_bounds(terms)[0])


def multi_score(board: str, scorer: Scorer) -> tuple[int, int]:
    """Return the multi-score of a board (every path counts) and its deduplicated multi-score."""
    walk = walk_class(board, scorer)
    return walk.max_bound, int(walk.terms.points.sum())


def test_a_class_equals_its_twin(case: Case) -> None:
    walk = walk_class(case.letters, case.scorer)
    assert walk.sum_bound == sum(case.points[word] for word in {word for word, _ in case.terms})
    assert walk.max_bound == orderly.max_bound(case.letters, *case.size, case.points)
    assert (walk.n_paths, walk.n_terms) == (len(case.terms), len(case.unique))
    total: dict[orderly.Literals, int] = {}
    for literals, points in case.unique:
        total[literals] = total.get(literals, 0) + points
    assert (
        dict(zip(map(frozenset, walk.terms.literals()), walk.terms.points.tolist(), strict=True))
        == total
    )
    beginnings = {
        tuple(literals[:k]) for literals in walk.terms.literals() for k in range(len(literals) + 1)
    }
    assert n_nodes(walk.terms) == len(beginnings | {()})


def test_no_board_scores_above_a_bound(case: Case) -> None:
    walk = walk_class(case.letters, case.scorer)
    bound = bound_of(walk.terms)
    assert bound == orderly.orderly_bound(case.unique, published_order(case.geometry.dims))
    highest = min(bound, walk.sum_bound, walk.max_bound)
    boards = list(orderly.boards_of(case.letters))
    scores = case.scorer.scores(boards)
    assert scores.max() <= highest
    exact = orderly.all_scores(case.letters, case.size, case.points)
    assert dict(zip(boards, scores.tolist(), strict=True)) == exact
    for board in boards[:: max(1, len(boards) // 50)]:
        multi = orderly.multi_score_of(board, case.unique)
        assert exact[board] <= multi <= bound
        assert multi_score(board, case.scorer)[1] == multi


def test_any_cell_order_bounds(case: Case) -> None:
    rng = np.random.default_rng(11)
    for _ in range(3):
        order = rng.permutation(case.geometry.n).tolist()
        terms = walk_class(case.letters, case.scorer, order).terms
        assert bound_of(terms) == orderly.orderly_bound(case.unique, order)


def test_forced_cells(case: Case) -> None:
    order = published_order(case.geometry.dims)
    terms, twin = walk_class(case.letters, case.scorer).terms, case.unique
    bound = bound_of(terms)
    rng = np.random.default_rng(2)
    for level, cell in enumerate(order):
        letter = str(rng.choice(list(case.letters[cell])))
        terms, twin = forced_to(terms, letter), orderly.branch(twin, cell, letter)
        assert dict(
            zip(map(frozenset, terms.literals()), terms.points.tolist(), strict=True)
        ) == dict(twin)
        assert bound_of(terms) == orderly.orderly_bound(twin, order[level + 1 :])
        assert bound_of(terms) <= bound
        bound = bound_of(terms)


@pytest.mark.parametrize("at_once", [1, 1 << 20])
def test_boards_reaching(case: Case, at_once: int) -> None:
    """All boards whose multi-score reaches the cutoff, however many parts are forced together."""
    multi = {
        board: orderly.multi_score_of(board, case.unique)
        for board in orderly.boards_of(case.letters)
    }
    terms = walk_class(case.letters, case.scorer).terms
    for cutoff in (
        0,
        max(1, max(multi.values()) // 2),
        max(multi.values()),
        max(multi.values()) + 1,
    ):
        found = list(boards_reaching(terms, case.letters, cutoff, at_once=at_once))
        assert len(found) == len(dict(found))
        assert dict(found) == {board: points for board, points in multi.items() if points >= cutoff}


def test_absorption_by_the_twin_loses_no_board(case: Case) -> None:
    forced = {cell: case.letters[cell][0] for cell in case.geometry.cell_order[:2]}
    letters = tuple(forced.get(cell, x) for cell, x in enumerate(case.letters))
    terms = orderly.terms_of_class(letters, case.words, case.size)
    absorbed = orderly.with_points(orderly.absorb(terms, forced), case.points)
    for board, score in orderly.all_scores(letters, case.size, case.points).items():
        assert (
            score
            <= orderly.multi_score_of(board, absorbed)
            <= orderly.multi_score_of(board, case.unique)
        )


def test_budget_is_no_verdict() -> None:
    case = Case("3x3", 5)
    terms = walk_class(case.letters, case.scorer).terms
    with pytest.raises(IncompleteError):
        list(boards_reaching(terms, case.letters, 0, budget=3))


def test_the_largest_board() -> None:
    letters = ["abcdefghijklmnopqrstuvwxyz"] * 25
    words = ["abc", "cba", "zzz"]
    walk = walk_class(letters, Scorer("5x5", words, STANDARD))
    twin = orderly.terms_of_class(letters, words, (5, 5))
    unique = orderly.with_points(orderly.deduplicated(twin), dict.fromkeys(words, 1))
    assert (walk.n_paths, walk.n_terms) == (len(twin), len(unique))
    assert bound_of(walk.terms) == orderly.orderly_bound(unique, published_order("5x5"))


def test_a_class_without_words() -> None:
    walk = walk_class(("ab",) * 4, Scorer("2x2", ["cde"], STANDARD))
    assert (
        walk.n_paths,
        walk.sum_bound,
        walk.max_bound,
        bound_of(walk.terms),
        n_nodes(walk.terms),
    ) == (0, 0, 0, 0, 1)
    assert len(list(boards_reaching(walk.terms, ("ab",) * 4, 0))) == 16


def test_classes_with_too_many_terms_are_refused() -> None:
    scorer = Scorer("2x2", ["aba", "bab", "cab"], STANDARD)
    n_paths = walk_class(("abc",) * 4, scorer).n_paths
    walk_class(("abc",) * 4, scorer, max_terms=n_paths)
    with pytest.raises(InputError, match="'abc abc abc abc' has more than"):
        walk_class(("abc",) * 4, scorer, max_terms=n_paths - 1)


def test_pinned_multi_scores_and_3x3(enable2k) -> None:
    scorer = Scorer("2x3", enable2k.words, STANDARD)
    board = "ebeefe"  # rows E E, B F, E E: the golden README draws it lying down, E B E over E F E
    assert [found.word for found in scorer.words(board)] == ["bee", "beef", "fee"]
    assert scorer.score(board) == 3
    assert multi_score(board, scorer) == (12, 6)
    assert multi_score("eeesrvrreeesrsrs", Scorer("4x4", enable2k.words, STANDARD)) == (
        21953,
        13253,
    )
    scorer = Scorer("3x3", enable2k.words, STANDARD)
    assert bound_of(walk_class(parse_class(CLASS_3X3, "3x3"), scorer).terms) == 1231


@pytest.mark.parametrize("and_its_boards", daily([False], [True]))
def test_pinned_3x4(enable2k, and_its_boards: bool) -> None:
    scorer = Scorer("3x4", enable2k.words, STANDARD)
    letters = parse_partition("bdfgjvwxz aeiou lnrsy chkmptq", "3x4").class_letters(2520743)
    letters = tuple(x.replace("q", "") for x in letters)  # the published buckets lack q
    walk = walk_class(letters, scorer)
    assert (walk.n_paths, len(walk.terms.points)) == (787_201, 665_026)
    assert bound_of(walk.terms) == 5496
    if and_its_boards:
        found = [board for board, _ in boards_reaching(walk.terms, letters, 1400)]
        assert int((scorer.scores(found) >= 1400).sum()) == 12


@pytest.mark.nightly
# some GB
@pytest.mark.parametrize(("rank", "bound"), [(7506, 13500), (467573, 26536), (2579965, 26043)])
def test_pinned_4x4(enable2k, rank: int, bound: int) -> None:
    letters = parse_partition(PARTITION_4X4, "4x4").class_letters(rank)
    scorer = Scorer("4x4", enable2k.words, STANDARD)
    assert bound_of(walk_class(letters, scorer, max_terms=1 << 26).terms) == bound


@pytest.mark.parametrize("cell", [None, 0, 3])
def test_the_bounds_of_a_class_by_their_public_name(case: Case, cell: int | None) -> None:
    """They hold for every board of the class, and so do those with a cell forced."""
    text, dims = " ".join(case.letters), str(case.geometry.dims)
    words = [word.replace("q", "qu") for word in case.words]
    found = bounds(text, words, dims=dims, cell=cell)
    assert found == bounds(case.letters, words, "standard", dims=dims, cell=cell)
    assert found.cell == (published_order(dims)[0] if cell is None else cell)
    assert set(found.forced) == set(case.letters[found.cell])
    assert found.orderly <= found.max
    for letter, bound in found.forced.items():
        groups = list(case.letters)
        groups[found.cell] = letter
        boards = ["".join(board) for board in itertools.product(*groups)]
        best = max(case.scorer.scores(boards).tolist())
        assert best <= bound <= found.orderly
        assert best <= found.sum


def test_bounds_of_what_is_no_class_are_refused() -> None:
    wrong = [
        ({"letters": "ab cd ef"}, BoardError),
        ({"letters": "ab cd ef g1"}, PartitionError),
        ({"letters": "ab cd ef g", "cell": 4}, InputError),
        ({"letters": "ab cd ef g", "dims": "2x3"}, PartitionError),
    ]
    for options, error in wrong:
        with pytest.raises(error):
            bounds(words=["bad"], **options)
