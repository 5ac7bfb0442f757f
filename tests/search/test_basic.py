"""The basic method: bounds hold by full enumeration, agree with their twins, and give the pinned numbers."""

from __future__ import annotations

import numpy as np
import pytest

from boardclass.errors import InputError
from boardclass.geometry import geometry
from boardclass.partition import parse_class, parse_partition
from boardclass.scores import parse_scores
from search.paper import basic
from search.paper import terms as paper_terms
from search.scoring.scorer import Scorer
from tests.reference import bounds, orderly

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
        self.letters = tuple("".join(sorted(rng.choice(list("abcq"), k, replace=False))) for k in n_letters)
        self.scorer = Scorer(dims, self.words, STANDARD)
        self.terms = orderly.terms_of_class(self.letters, self.words, self.size)
        self.unique = orderly.with_points(orderly.deduplicated(self.terms), self.points)


CASES = [("2x2", 1), ("2x2", 2), ("2x3", 3), ("2x3", 4), ("3x3", 5), ("3x3", 6), ("3x3", 7)]


@pytest.fixture(params=CASES, ids=lambda p: f"{p[0]}-{p[1]}")
def case(request) -> Case:
    return Case(*request.param)


def multi_score(board: str, scorer: Scorer) -> tuple[int, int]:
    """Return the multi-score of a board (every path counts) and its deduplicated multi-score."""
    terms = paper_terms.class_terms(tuple(board), scorer)
    return terms.multi_points, terms.unique_points


def test_old_bounds_equal_their_twins(case: Case) -> None:
    assert basic.sum_bound(case.letters, case.scorer) == bounds.sum_bound(case.letters, *case.size, case.points)
    assert basic.max_bound(case.letters, case.scorer) == bounds.max_bound(case.letters, *case.size, case.points)


def test_terms_equal_their_twins(case: Case) -> None:
    terms = paper_terms.class_terms(case.letters, case.scorer)
    assert terms.n_paths == len(case.terms)
    assert terms.n_unique == len(case.unique)
    assert terms.multi_points == sum(case.points[word] for word, _ in case.terms)
    assert terms.unique_points == sum(points for _, points in case.unique)
    total: dict[orderly.Literals, int] = {}
    for literals, points in case.unique:
        total[literals] = total.get(literals, 0) + points
    assert sorted(terms.points.tolist()) == sorted(total.values())


def test_no_board_scores_above_a_bound(case: Case) -> None:
    bound = basic.orderly_root_bound(case.letters, case.scorer)
    assert bound == orderly.orderly_bound(case.unique, paper_terms.published_order(case.geometry.dims))
    highest = min(bound, basic.sum_bound(case.letters, case.scorer), basic.max_bound(case.letters, case.scorer))
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
        assert basic.orderly_root_bound(case.letters, case.scorer, order) == orderly.orderly_bound(case.unique, order)


def test_branch(case: Case) -> None:
    order = paper_terms.published_order(case.geometry.dims)
    terms, twin = paper_terms.class_terms(case.letters, case.scorer), case.unique
    bound = basic.orderly_tree(terms).bound
    rng = np.random.default_rng(2)
    for level, cell in enumerate(order):
        letter = str(rng.choice(list(case.letters[cell])))
        terms, twin = terms.force(letter), orderly.branch(twin, cell, letter)
        assert len(terms.points) == len(twin)
        forced = basic.orderly_tree(terms).bound
        assert forced == orderly.orderly_bound(twin, order[level + 1 :])
        assert forced <= bound
        bound = forced


@pytest.mark.parametrize("n_branch", [0, 2, 9])
def test_boards_reaching(case: Case, n_branch: int) -> None:
    multi = {board: orderly.multi_score_of(board, case.unique) for board in orderly.boards_of(case.letters)}
    for cutoff in (0, max(1, max(multi.values()) // 2), max(multi.values()), max(multi.values()) + 1):
        expected = sorted((board, points) for board, points in multi.items() if points >= cutoff)
        assert basic.boards_reaching(case.letters, case.scorer, cutoff, n_branch=n_branch) == expected


def test_twins_of_the_fast_search_agree_with_enumeration(case: Case) -> None:
    """Absorption and the synchronised search of the reference itself, against every board."""
    order = case.geometry.cell_order
    exact = orderly.all_scores(case.letters, case.size, case.points)
    cutoff = max(1, max(exact.values()) // 2)
    found = orderly.synchronised_search(case.unique, case.letters, order, cutoff)
    multi = {board: orderly.multi_score_of(board, case.unique) for board in exact}
    assert found == {board: points for board, points in multi.items() if points >= cutoff}
    forced = {cell: case.letters[cell][0] for cell in order[:2]}
    letters = tuple(forced.get(cell, x) for cell, x in enumerate(case.letters))
    terms = orderly.terms_of_class(letters, case.words, case.size)
    absorbed = orderly.with_points(orderly.absorb(terms, forced), case.points)
    for board in orderly.boards_of(letters):
        assert exact[board] <= orderly.multi_score_of(board, absorbed) <= orderly.multi_score_of(board, case.unique)


def test_budget_is_no_verdict() -> None:
    case = Case("3x3", 5)
    with pytest.raises(basic.BudgetSpent):
        basic.boards_reaching(case.letters, case.scorer, 0, n_branch=0, budget=3)


def test_wide_keys() -> None:
    """25 cells of all 26 letters need both words of a key; a term decodes to what was packed."""
    letters = ["abcdefghijklmnopqrstuvwxyz"] * 25
    layout = paper_terms.key_layout(letters, paper_terms.published_order("5x5"))
    assert sorted(set(layout.in_low.tolist())) == [0, 1]
    words = ["abc", "cba", "zzz"]
    scorer = Scorer("5x5", words, STANDARD)
    terms = paper_terms.class_terms(letters, scorer)
    twin = orderly.deduplicated(orderly.terms_of_class(letters, words, (5, 5)))
    assert (terms.n_paths, terms.n_unique) == (len(orderly.terms_of_class(letters, words, (5, 5))), len(twin))
    assert terms.high.any()
    tree = basic.orderly_tree(terms)
    points = dict.fromkeys(words, 1)
    assert tree.bound == orderly.orderly_bound(orderly.with_points(twin, points), paper_terms.published_order("5x5"))


def test_bad_class() -> None:
    scorer = Scorer("2x2", ["aba"], STANDARD)
    for letters in (("a", "b", "c"), ("a", "b", "c", ""), ("a", "b", "c", "D")):
        with pytest.raises(InputError):
            basic.sum_bound(letters, scorer)


def test_a_class_with_too_many_terms_is_refused(monkeypatch) -> None:
    scorer = Scorer("2x2", ["aba", "bab", "cab"], STANDARD)
    n_terms = len(paper_terms.class_terms(("abc",) * 4, scorer).high)
    monkeypatch.setattr(paper_terms, "MAX_TERMS", n_terms)
    paper_terms.class_terms(("abc",) * 4, scorer)
    monkeypatch.setattr(paper_terms, "MAX_TERMS", n_terms - 1)
    with pytest.raises(InputError, match="'abc abc abc abc' has more than"):
        paper_terms.class_terms(("abc",) * 4, scorer)


def test_2x3_example(enable2k) -> None:
    scorer = Scorer("2x3", enable2k.words, STANDARD)
    board = "ebeefe"  # rows E E, B F, E E: the golden README draws it lying down, E B E over E F E
    assert [found.word for found in scorer.words(board)] == ["bee", "beef", "fee"]
    assert scorer.score(board) == 3
    assert multi_score(board, scorer) == (12, 6)


def test_multi_scores(enable2k) -> None:
    scorer = Scorer("4x4", enable2k.words, STANDARD)
    assert multi_score("eeesrvrreeesrsrs", scorer) == (21953, 13253)


def test_pinned_3x3(enable2k) -> None:
    scorer = Scorer("3x3", enable2k.words, STANDARD)
    assert basic.orderly_root_bound(parse_class(CLASS_3X3, "3x3"), scorer) == 1231


def test_pinned_3x4(enable2k) -> None:
    scorer = Scorer("3x4", enable2k.words, STANDARD)
    letters = parse_partition("bdfgjvwxz aeiou lnrsy chkmptq", "3x4").class_letters(2520743)
    letters = tuple(x.replace("q", "") for x in letters)  # the published buckets lack q
    terms = paper_terms.class_terms(letters, scorer)
    assert (terms.n_paths, len(terms.points)) == (787_201, 665_026)
    assert basic.orderly_tree(terms).bound == 5496
    found = [board for board, _ in basic.boards_reaching(letters, scorer, 1400)]
    assert int((scorer.scores(found) >= 1400).sum()) == 12


@pytest.mark.parametrize(("rank", "bound"), [(7506, 13500)])
def test_pinned_4x4(enable2k, rank: int, bound: int) -> None:
    scorer = Scorer("4x4", enable2k.words, STANDARD)
    assert basic.orderly_root_bound(parse_partition(PARTITION_4X4, "4x4").class_letters(rank), scorer) == bound


MANY = 1 << 26  # these published classes have more terms than people are shown: some GB


@pytest.mark.nightly
@pytest.mark.parametrize(("rank", "bound"), [(467573, 26536), (2579965, 26043)])
def test_pinned_4x4_large(enable2k, monkeypatch, rank: int, bound: int) -> None:
    monkeypatch.setattr(paper_terms, "MAX_TERMS", MANY)
    test_pinned_4x4(enable2k, rank, bound)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_pinned_616_boards(enable2k, monkeypatch) -> None:
    monkeypatch.setattr(paper_terms, "MAX_TERMS", MANY)
    scorer = Scorer("4x4", enable2k.words, STANDARD)
    found = basic.boards_reaching(parse_partition(PARTITION_4X4, "4x4").class_letters(467573), scorer, 3500)
    assert len(found) == 616
    assert scorer.scores([board for board, _ in found]).max() < 3500
