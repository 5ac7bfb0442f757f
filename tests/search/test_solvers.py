"""The independent solvers: pinned numbers, special tiles by brute force, agreement with the scorer and each other."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardclass.errors import BoardError, InputError, WordListError, quote
from boardclass.tiles import Tile, Tiles
from boardclass.wordlist import load_wordlist
from search.scoring.scorer import score
from search.solvers import METHODS, Grid, PathsSolver, solve
from search.solvers.tiles import Rules
from tests.samples import daily
from tests.search.referees import referee
from tests.search.test_tiles import by_definition

WORDS = ("bee", "beef", "fee", "ebe", "quit", "noon", "tat", "tattat")


@pytest.mark.parametrize(("dims", "n_paths"), [((3, 3), 10_305), ((3, 4), 193_924), ((4, 2), 2_904), ((2, 4), 2_904)])
def test_paths_looks_up_every_simple_path_of_the_king_graph(dims, n_paths):
    assert PathsSolver(WORDS).solve_counted(Grid("x" * (dims[0] * dims[1]), dims))[1] == n_paths


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dims", "n_paths"), daily([((4, 4), 12_029_640), ((5, 3), 3_244_045)], lambda dims, _: dims == (5, 3))
)
def test_paths_in_processes_finds_the_large_numbers_too(dims, n_paths):
    assert PathsSolver(WORDS, 2).solve_counted(Grid("x" * (dims[0] * dims[1]), dims)) == ([], n_paths)


@pytest.mark.parametrize("method", METHODS)
def test_the_pinned_board(method):
    assert solve("ebeefe", WORDS, method=method) == ["bee", "beef", "ebe", "fee"]
    assert solve("qx/it", WORDS, method=method) == ["quit"]
    assert solve("aaaa", (), method=method) == []


@given(
    st.sampled_from([(2, 2), (2, 3), (3, 2), (1, 4)]),
    st.lists(st.sampled_from("abeq"), min_size=6, max_size=6),
    st.sets(st.text("abeq", min_size=3, max_size=5), max_size=12),
    st.sets(st.integers(0, 3), max_size=3),
    st.sets(st.integers(0, 3), max_size=3),
)
def test_special_tiles_by_definition(size, letters, words, begin_only, end_only):
    board = "".join(letters[: size[0] * size[1]])
    spelled = {word.replace("q", "qu") for word in words}
    tiles = [Tile((x.replace("q", "qu"),), cell in begin_only, cell in end_only) for cell, x in enumerate(board)]
    expected = sorted(by_definition(Tiles(*size, tuple(tiles)), spelled, Rules()))
    for method in METHODS:
        options = {"dims": size, "begin_only": begin_only, "end_only": end_only}
        assert solve(board, spelled, method=method, **options) == expected, method


@pytest.mark.parametrize(
    ("board", "options", "error"),
    [
        ("abc", {}, BoardError),
        ("abcd", {"dims": (3, 3)}, BoardError),
        ("ab1d", {}, BoardError),
        ("abcd", {"begin_only": (4,)}, InputError),
        ("abcd", {"end_only": (-1,)}, InputError),
        ("abcd", {"method": "magic"}, InputError),
        ("a" * 25, {"method": "paths"}, InputError),
    ],
)
def test_bad_input_is_named(board, options, error):
    with pytest.raises(error):
        solve(board, WORDS, **options)


@pytest.mark.parametrize("words", [["qit"], ["Quit"], ["caf\u00e9"], [3], ["cat", ""], [b"cat"], "no-such-list"])
def test_what_is_no_word_is_refused(words):
    for ask in (solve, score):
        with pytest.raises(WordListError, match=re.escape(quote(words if isinstance(words, str) else words[-1]))):
            ask("berlatdes", words)
    for board in (None, 7, ["berlatdes"]):
        with pytest.raises(BoardError):
            ask(board, ["cat"])


def test_words_are_taken_by_name_by_path_and_as_people_write_them(tmp_path):
    (tmp_path / "mine.txt").write_text("quite\ntie\n")
    for words in (
        str(tmp_path / "mine.txt"),
        tmp_path / "mine.txt",
        ["quite", "tie"],
        load_wordlist(tmp_path / "mine.txt"),
    ):
        assert solve("Qu i/t e", words) == ["quite", "tie"]
        assert score("Qu i/t e", words) == score("qtie", words) == 3
    assert score("bld eae rts", "scowl70") == 430


@pytest.mark.parametrize("n", daily([60, 1000], lambda n: n == 60))
def test_boards_agree_with_the_scorer(enable2k, n):
    counts, faults = referee(n, "enable2k", seed=20)
    assert not faults
    assert counts["trie"] == counts["words"] == counts["heap"] == counts["scorer_words"] == n
    assert counts["paths"] > 0.3 * n
    assert counts["paths_4x4"] == (n >= 1000)
    assert counts["boards_with_a_word_of_16_cells"] >= 0.05 * n
    assert counts["boards_with_a_word_with_q"] > 0.05 * n
