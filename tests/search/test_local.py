"""The pool hill climb, annealing, the genetic algorithm, and the scorers around the scorer."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from boardclass.board import LETTERS
from boardclass.canonical import canonical_board
from boardclass.errors import BoardError, InputError
from boardclass.geometry import DIMS, geometry
from boardclass.scores import parse_scores
from search.local import anneal as annealing
from search.local.climb import ascend, canonical_cells, climb, neighbours, parse_alphabet
from search.local.methods import METHODS, local_search
from search.local.parallel import HoldingScorer, ParallelScorer, StoppableScorer
from search.scoring.scorer import Scorer, decode_boards, encode_boards
from tests.samples import daily

STANDARD = parse_scores("standard")
WORDS = ["aba", "bab", "abc", "cab", "qaba", "abcd", "dcba", "add", "baddab"]


def boards(m, n, seed=1):
    return np.random.default_rng(seed).integers(0, 26, (m, n), dtype=np.uint8)


def test_parallel_scores_are_the_scores():
    scorer = Scorer("3x3", WORDS, STANDARD)
    batch = boards(5000, 9) % 5
    expected = scorer.scores(batch)
    for n in (1, 2, 5):
        assert (ParallelScorer(scorer, n).scores(batch) == expected).all()
    assert (ParallelScorer(Scorer("3x3", WORDS, STANDARD, portable=True), 3).scores(batch) == expected).all()
    with pytest.raises(InputError):
        ParallelScorer(scorer, 0)


@pytest.mark.parametrize("portable", [False, True])
def test_twins_share_nothing_that_is_written(portable):
    """Found the hard way: twins with common lanes gave wrong scores, but only now and then."""
    scorer = Scorer("3x3", WORDS, STANDARD, portable=portable)
    twin = scorer.twin()
    written = [[s._seen, s._generation, *(array for part in s._vector or () for array in part)] for s in (scorer, twin)]
    for one, other in zip(*written, strict=True):
        assert not np.shares_memory(one, other)
    batch = boards(20_000, 9) % 5
    expected = scorer.scores(batch)
    parallel = ParallelScorer(scorer, 4)
    for _ in range(20):
        assert (parallel.scores(batch) == expected).all()


def test_holding_scores_are_zero_without_the_word():
    scorer = Scorer("2x3", WORDS, STANDARD)
    batch = boards(3000, 6) % 4
    held = HoldingScorer(scorer, "abd").scores(batch)
    has = Scorer("2x3", ["abd"], parse_scores("words")).scores(batch) > 0
    assert has.any()
    assert (held == np.where(has, scorer.scores(batch), 0)).all()
    for wrong in ("", "ab", "abcdefg", "a-b"):
        with pytest.raises(InputError):
            HoldingScorer(scorer, wrong)


def test_first_boards_hold_the_word_on_many_paths():
    scorer = HoldingScorer(Scorer("3x3", WORDS, STANDARD), "baddab")
    rng = np.random.default_rng(3)
    first = scorer.first(rng, 200, parse_alphabet("abdxyz"))
    assert (Scorer("3x3", ["baddab"], parse_scores("words")).scores(first) == 1).all()
    assert set("".join(decode_boards(first))) == set("abdxyz")
    assert len({tuple(np.flatnonzero(board == 3)) for board in first}) > 20
    full = HoldingScorer(Scorer("2x2", WORDS, STANDARD), "dcba").first(rng, 5, parse_alphabet("abcd"))
    assert all(sorted(board) == list("abcd") for board in decode_boards(full))
    with pytest.raises(InputError, match="'d'"):
        scorer.first(rng, 1, parse_alphabet("ab"))
    found = local_search(scorer, start=scorer.first, pool=20)
    assert all(find.score >= 3 for find in found[:1])


def test_pools_from_one_board_are_one_run():
    scorer = Scorer("2x3", WORDS, STANDARD)
    assert {find.n_found for find in local_search(scorer, pool=20, start="abcdef")} == {1}


def test_neighbours_stay_in_the_alphabet():
    alphabet = parse_alphabet("bdq")
    around = decode_boards(neighbours(encode_boards(["bdqb"], 4), alphabet))
    assert len(around) == 4 * 2 + 6
    assert set("".join(around)) == set("bdq")
    assert {"ddqb", "qdqb", "bbqb", "dbqb", "bdqq"} <= set(around)
    assert len(neighbours(encode_boards(["bbbb"], 4), parse_alphabet("b"))) == 6


def test_ascend_ends_where_no_neighbour_is_better():
    scorer = Scorer("2x3", WORDS, STANDARD)
    alphabet = parse_alphabet("abcdq")
    start = boards(20, 6) % 4
    top = ascend(scorer, start, alphabet)
    values = scorer.scores(top)
    assert (values >= scorer.scores(start)).all()
    around = scorer.scores(neighbours(top, alphabet)).reshape(20, -1)
    assert (around.max(axis=1) <= values).all()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_deterministic_exact_and_finds_the_best(method):
    scorer = Scorer("2x3", WORDS, STANDARD)
    one, two = (local_search(scorer, method, seed=4, runs=2, pool=60) for _ in range(2))
    assert one == two
    assert one == sorted(one, key=lambda find: (-find.score, find.board))
    assert len({find.board for find in one}) == len(one)
    for find in one[:40]:
        assert find.board == canonical_board(find.board, scorer.geometry)
        assert find.score == scorer.score(find.board)
    assert one[0].score == climb(scorer, pool=100)[0][1]
    n_found = sum(find.n_found for find in one)
    assert n_found == 60 or (method == "anneal" and n_found > 60), "two runs share the pool out; pools after chains add"


def test_annealing_ends_with_a_pool(monkeypatch):
    monkeypatch.setattr(annealing, "STEPS_PER_CELL", 4)
    scorer = Scorer("2x3", WORDS, STANDARD)
    told: list[tuple[int, int, int]] = []
    chains, steps = 5, 24
    found = annealing.anneal(scorer, pool=chains, seed=1, progress=lambda *figures: told.append(figures))
    best = [board for board, _, _ in found[:chains]]
    pooled = climb(scorer, pool=chains, start=lambda *_: encode_boards(best, 6))
    assert [(board, score) for board, score, _ in found[:chains]] == pooled, "no pool finds more from there"
    assert told[-1][0] > steps
    assert told[-1][1] == found[0][1]


@pytest.mark.parametrize("method", METHODS)
def test_letters_and_start(method):
    scorer = Scorer("2x3", WORDS, STANDARD)
    for find in local_search(scorer, method, pool=20, letters="abz", start="zzzzzz"):
        assert set(find.board) <= set("abz")
    with pytest.raises(BoardError):
        local_search(scorer, method, letters="abz", start="zzzzzc")


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("luck", {}),
        ("pool", {"runs": 0}),
        ("pool", {"runs": 6, "pool": 5}),
        ("anneal", {"pool": 0}),
        ("genetic", {"pool": 1}),
        ("pool", {"letters": ""}),
    ],
)
def test_bad_input(method, options):
    with pytest.raises(InputError):
        local_search(Scorer("2x2", WORDS, STANDARD), method, **options)


@pytest.mark.slow
@pytest.mark.parametrize("method", daily(METHODS, lambda method: method == "pool"))
def test_best_3x3(enable2k, method):
    assert local_search(Scorer("3x3", enable2k.words, STANDARD), method, pool=200)[0].score == 545


@pytest.mark.nightly
def test_one_small_pool_reaches_the_best_4x4_board(enable2k):
    found = local_search(ParallelScorer(Scorer("4x4", enable2k.words, STANDARD), 2), pool=100, runs=1)
    assert found[0][:2] == ("perslatgsineters", 3625)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_nine_of_ten_seeds_reach_the_best_4x4_board(enable2k):
    scorer = ParallelScorer(Scorer("4x4", enable2k.words, STANDARD), 2)
    best = [local_search(scorer, seed=seed)[0].score for seed in range(10)]
    assert best.count(3625) >= 9, best


@pytest.mark.parametrize("method", METHODS)
def test_a_search_that_is_stopped_gives_the_best_so_far(method):
    def stopping_after(n):
        left = iter(range(n))
        return lambda: next(left, None) is None

    scorer = Scorer("2x3", WORDS, STANDARD)
    whole = local_search(scorer, method, pool=30, runs=2)
    assert local_search(scorer, method, pool=30, runs=2, stop=lambda: False) == whole
    assert local_search(scorer, method, pool=30, runs=2, stop=lambda: True) == []
    found = local_search(scorer, method, pool=30, runs=2, stop=stopping_after(40 if method == "anneal" else 3))
    assert 0 < len(found) <= 15
    assert [find.score for find in found] == sorted((find.score for find in found), reverse=True)
    for find in found:
        assert find == (canonical_board(find.board, geometry("2x3")), scorer.score(find.board), 1)
    assert len({find.board for find in found}) == len(found)


def test_the_best_boards_of_all_batches_are_remembered():
    scorer = Scorer("2x2", WORDS, STANDARD)
    seen = StoppableScorer(scorer, lambda: False, 4)
    batch = boards(3000, 4) % 5
    for part in np.array_split(batch, 10):
        assert (seen.scores(part) == scorer.scores(part)).all()
    names = {canonical_board(board, geometry("2x2")) for board in decode_boards(batch)}
    scored = sorted(((board, scorer.score(board)) for board in names), key=lambda item: (-item[1], item[0]))
    assert [score for _, score in seen.best()] == [score for _, score in scored[:4]]
    assert set(seen.best()) <= set(scored)


@pytest.mark.parametrize("dims", DIMS)
def test_canonical_cells(dims: str) -> None:
    g = geometry(dims)
    boards = np.random.default_rng(1).integers(0, 26, (200, g.n), dtype=np.uint8)
    boards[:100] %= 2  # many ties
    expected = [canonical_board(board, g) for board in decode_boards(boards)]
    assert decode_boards(canonical_cells(boards, g)) == expected


def test_neighbours() -> None:
    boards = np.random.default_rng(2).integers(0, 26, (3, 6), dtype=np.uint8)
    around = decode_boards(neighbours(boards, parse_alphabet(LETTERS)))
    assert len(around) == 3 * (6 * 25 + 15)
    for board, own in zip(decode_boards(boards), _parts(around, 165), strict=True):
        changed = {board[:c] + x + board[c + 1 :] for c in range(6) for x in map(chr, range(97, 123))} - {board}
        swapped = set()
        for a, b in itertools.combinations(range(6), 2):
            cells = list(board)
            cells[a], cells[b] = cells[b], cells[a]
            swapped.add("".join(cells))
        assert set(own[:150]) == changed
        assert set(own[150:]) == swapped


def _parts(items: list[str], size: int) -> list[list[str]]:
    return [items[i : i + size] for i in range(0, len(items), size)]


def test_finds_the_best_of_all_small_boards() -> None:
    scorer = Scorer("2x3", WORDS, STANDARD)
    best = scorer.scores(["".join(cells) for cells in itertools.product("abcdq", repeat=6)]).max()
    assert climb(scorer, pool=100)[0][1] == best


def test_progress() -> None:
    seen: list[tuple[int, int, int]] = []
    best = climb(Scorer("2x2", WORDS, STANDARD), pool=5, progress=lambda *now: seen.append(now))[0][1]
    assert [now[0] for now in seen] == list(range(1, len(seen) + 1))
    assert seen[-1][1] == best


@pytest.mark.parametrize("wrong", [{"pool": 0}, {"seed": -1}])
def test_bad_options_of_a_pool(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        climb(Scorer("2x2", WORDS, STANDARD), **wrong)
