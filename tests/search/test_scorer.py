"""The exact scorer: both kernels, the slow twins and published boards agree."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from orderly_boggle.boardclass.errors import BoardError, ScoreError
from orderly_boggle.boardclass.geometry import DIMS, geometry
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.search.scoring import scorer_simd
from orderly_boggle.search.scoring.scorer import Scorer, decode_boards, encode_boards
from tests.conftest import published_boards
from tests.reference import solver

STANDARD = parse_scores("standard")
PORTABLE = [True, False] if scorer_simd.supported() else [True]


def random_words(rng: np.random.Generator, letters: str, n: int, longest: int) -> list[str]:
    lengths = rng.integers(3, longest + 1, n)
    return sorted({"".join(rng.choice(list(letters), k)) for k in lengths})


@pytest.mark.parametrize("portable", PORTABLE)
@pytest.mark.parametrize("dims", DIMS)
def test_twins_agree(dims: str, portable: bool) -> None:
    rng = np.random.default_rng(7)
    g = geometry(dims)
    words = random_words(rng, "abqz", 40, min(5, g.n)) + random_words(rng, "abqz", 10, g.n)
    points = {word: STANDARD.of(word) for word in words}
    scorer = Scorer(dims, words, STANDARD, portable=portable)
    boards = ["".join(rng.choice(list("abqz"), g.n)) for _ in range(12)]
    scores = scorer.scores(boards).tolist()
    assert scores == [solver.score_by_walk(board, *g.dims, points) for board in boards]
    assert scores[:4] == [solver.score(board, *g.dims, points) for board in boards[:4]]


@pytest.mark.parametrize("portable", PORTABLE)
def test_every_2x2_board_over_five_letters(portable: bool) -> None:
    words = ["aba", "bab", "abc", "cab", "aqa", "qaba", "abcd", "dcba", "add"]
    points = {word: STANDARD.of(word) for word in words}
    boards = ["".join(cells) for cells in itertools.product("abcdq", repeat=4)]
    scorer = Scorer("2x2", words, STANDARD, portable=portable)
    assert scorer.scores(boards).tolist() == [solver.score(board, 2, 2, points) for board in boards]


@pytest.mark.parametrize("portable", PORTABLE)
def test_more_boards_than_generations(portable: bool) -> None:
    """The generations of boards start anew after 255, and words found then count again."""
    scorer = Scorer("2x2", ["aba", "bab", "abba"], STANDARD, portable=portable)
    boards = ["abab", "abba", "zzzz"] * 400
    twice = np.concatenate((scorer.scores(boards), scorer.scores(boards)))
    assert twice.tolist() == [3, 3, 0] * 800
    scorer = Scorer("2x2", ["aba", "bab", "abba"], STANDARD, portable=portable)
    assert scorer.scores(["abab", *["zzzz"] * 254] * 3).tolist() == [3, *[0] * 254] * 3, (
        "no board in between has any"
    )


@pytest.mark.parametrize("portable", PORTABLE)
def test_words(portable: bool) -> None:
    rng = np.random.default_rng(3)
    words = random_words(rng, "abcq", 80, 6)
    points = {word: STANDARD.of(word) for word in words}
    scorer = Scorer("3x3", words, STANDARD, portable=portable)
    for _ in range(10):
        board = "".join(rng.choice(list("abcq"), 9))
        found = scorer.words(board)
        assert [f.word for f in found] == sorted(solver.words_on(board, 3, 3, points))
        assert sum(f.points for f in found) == scorer.score(board)
        for f in found:
            assert f.path == min(solver.paths_of(board, 3, 3, f.word))
            assert f.points == points[f.word]


def test_one_letter_boards() -> None:
    words = ["a" * k for k in range(3, 10)]
    scorer = Scorer("3x3", words, STANDARD)
    points = sum(map(STANDARD.of, words))
    assert scorer.scores(["a" * 9, "aaaaaaaab", "b" * 9]).tolist() == [
        points,
        points - STANDARD.of("a" * 9),
        0,
    ]


@pytest.mark.parametrize("portable", PORTABLE)
def test_board_outgrows_the_queue(portable: bool) -> None:
    """More paths than the vector kernel has room for: the portable kernel takes that board over, in
    its place.
    """
    scorer = Scorer("4x4", ["a" * k for k in range(3, 10)] + ["bbb"], STANDARD, portable=portable)
    if not portable:
        cells = encode_boards(["b" * 16, "a" * 16], 16)
        assert scorer._score_vector(cells, scorer._memory, np.zeros(2, np.int32)) == 1
    assert scorer.scores(["b" * 16, "a" * 16, "b" * 16, "a" * 16]).tolist() == [1, 34, 1, 34]


def test_read_only_input_and_slices() -> None:
    scorer = Scorer("2x2", ["aba", "abba"], STANDARD)
    boards = encode_boards(["abba", "zzzz", "abab"], 4)
    boards.flags.writeable = False
    assert scorer.scores(boards).tolist() == [2, 0, 2]
    assert scorer.scores(boards[::2]).tolist() == [2, 2]
    assert scorer.scores(np.zeros((0, 4), np.uint8)).tolist() == []
    assert decode_boards(boards) == ["abba", "zzzz", "abab"]
    assert Scorer("2x2", ["abcde"], STANDARD).words("abcd") == []


def test_bad_input() -> None:
    scorer = Scorer("2x2", ["aba"], STANDARD)
    for boards in (["abc"], ["abcD"], ["abc "], ["abcé"]):
        with pytest.raises(BoardError):
            scorer.scores(boards)
    wrong: list[Any] = [
        np.zeros((2, 5), np.uint8),
        np.zeros((2, 4), np.int64),
        np.full((1, 4), 26, np.uint8),
    ]
    for cells in wrong:
        with pytest.raises(BoardError):
            scorer.scores(cells)
    with pytest.raises(ScoreError):
        Scorer("2x2", ["aba", "bab"], parse_scores([2**30]))


@pytest.mark.parametrize("portable", PORTABLE)
def test_golden_boards(enable2k, portable: bool) -> None:
    for dims, cutoff in (("3x3", 500), ("3x4", 1500), ("4x4", 3500)):
        published = published_boards(f"best-{dims}-enable2k-{cutoff}")
        scorer = Scorer(dims, enable2k.words, STANDARD, portable=portable)
        assert published
        assert scorer.scores([*published]).tolist() == [*published.values()]


PUBLISHED = [
    (
        "4x4",
        "standard",
        {"eeesrvrreeesrsrs": 189, "hclbaiaertnssese": 2149, "qaicdrneetasnnil": 1391},
    ),
    ("4x4", "powers", {"rpqaselinifcoita": 44726}),
    ("4x4", "words", {"perslatgsineters": 1045}),
    ("5x5", "standard", {"ligdrmanesietildsracsepes": 10406}),
]


@pytest.mark.parametrize(("dims", "table", "boards"), PUBLISHED)
def test_published_scores(enable2k, dims: str, table: str, boards: dict[str, int]) -> None:
    for portable in PORTABLE:
        scorer = Scorer(dims, enable2k.words, parse_scores(table), portable=portable)
        assert scorer.scores([*boards]).tolist() == [*boards.values()]


@pytest.mark.skipif(
    len(PORTABLE) == 1, reason="this machine has no AVX-512: there is no vector kernel to compare"
)
def test_kernels_agree(enable2k) -> None:
    rng = np.random.default_rng(5)
    boards = rng.choice(26, (3000, 16), p=rng.dirichlet(np.ones(26))).astype(np.uint8)
    one, two = (
        Scorer("4x4", enable2k.words, STANDARD, portable=portable) for portable in (True, False)
    )
    assert (one.scores(boards) == two.scores(boards)).all()
