"""The independent solvers: pinned numbers, special tiles by brute force, agreement with the scorer and each other."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardclass.errors import BoardError, InputError, WordListError, quote
from boardclass.wordlist import load_wordlist
from search.scoring.scorer import score
from search.solvers import METHODS, Grid, HeapSolver, PathsSolver, make_solver, solve
from tests.reference.solver import words_on
from tests.samples import daily
from tests.search.referees import referee

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


@st.composite
def special_boards(draw):
    size = draw(st.sampled_from([(2, 2), (2, 3), (3, 3), (1, 4), (4, 2)]))
    n = size[0] * size[1]
    board = "".join(draw(st.lists(st.sampled_from("abeq"), min_size=n, max_size=n)))
    cells = st.sets(st.integers(0, n - 1), max_size=3)
    words = draw(st.sets(st.text("abeq", min_size=1, max_size=5), max_size=12))
    return size, board, tuple(sorted(words)), draw(cells), draw(cells)


def allowed(path, begin_only, end_only):
    return not any(c in begin_only for c in path[1:]) and not any(c in end_only for c in path[:-1])


def by_definition(size, board, words, begin_only, end_only):
    """Return the words with a path of distinct neighbours that keeps special cells at its ends."""
    _, h = size

    def touch(a, b):
        return max(abs(a // h - b // h), abs(a % h - b % h)) == 1

    found = set()
    for word in words:
        places = [[c for c, x in enumerate(board) if x == letter] for letter in word]
        for path in itertools.product(*places):
            simple = len(set(path)) == len(path) and all(map(touch, path, path[1:]))
            if simple and allowed(path, begin_only, end_only):
                found.add(word)
                break
    return sorted(found)


@given(special_boards())
def test_special_tiles_by_definition(case):
    size, board, words, begin_only, end_only = case
    expected = by_definition(*case)
    for method in METHODS:
        plain = [word.replace("q", "qu") for word in words]
        found = solve(board, plain, method=method, dims=size, begin_only=begin_only, end_only=end_only)
        assert found == sorted(word.replace("q", "qu") for word in expected), method


def test_heap_finds_the_words_in_order():
    board = "tatnoontaqit"
    words = (*WORDS, "qit")
    found = list(HeapSolver(words).in_order(Grid(board, (3, 4))))
    assert found == sorted(found)
    assert set(found) == words_on(board, 3, 4, dict.fromkeys(words, 1))


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


def test_words_other_than_letters_are_refused_by_the_method_that_needs_letters():
    with pytest.raises(InputError):
        make_solver(["a-b"], "words")


@pytest.mark.parametrize("n", daily([100, 1000], lambda n: n == 100))
def test_boards_agree_with_the_scorer(enable2k, n):
    counts, faults = referee(n, "enable2k", seed=20)
    assert not faults
    assert counts["trie"] == counts["words"] == counts["heap"] == counts["scorer_words"] == n
    assert counts["paths"] > 0.3 * n
    assert counts["paths_4x4"] == (n >= 1000)
    assert counts["boards_with_a_word_of_16_cells"] >= 0.05 * n
    assert counts["boards_with_a_word_with_q"] > 0.05 * n
