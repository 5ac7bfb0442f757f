"""Boards on which long words lie, found by the breaker: all of them, and no others.

The words of a list take all the cells of a board, or all but one or two, so there are few such
boards, and each of them is drawn along a path.  One way that is lost is a board that is lost.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.partition import parse_partition
from orderly_boggle.search.breaker import Breaker, Unit
from orderly_boggle.search.terms.paths import LONGEST_WIDE, pair_bits, paths_of_length
from tests.classes import canonical_rank, rank_of_board
from tests.params import Params, spec_of
from tests.reference.solver import words_on
from tests.reference.truth_table import Boards, scores
from tests.samples import daily
from tests.search.test_breaker import EVERY, NO_BUDGETS, broken, others
from tests.search.test_paths import unpacked
from tests.search.test_shapes import side_to_side

# only large boards would be searched with bounds of the last levels; here small ones are, too
pytestmark = pytest.mark.usefixtures("always_pausing")

ALONG = "abcdefghijkl"
PARAMS = {
    "whole trees": Params(memory_mb=64),
    "cells forced": Params(memory_mb=64, **NO_BUDGETS | {"node_budget": 300}),
}


def lists_of(n: int) -> list[tuple[str, ...]]:
    """Return lists of one, two and three words for a board of ``n`` cells, the longest first.

    A letter that comes twice in a row in the word of all cells makes two ways for the word that has
    it once, over two cells of the same letter.
    """
    word = ALONG[:n]
    once = word[: n - 1]
    lists = [(word,)]
    for t in (2, n - 2, n - 1):
        lists.append((once[:t] + once[t - 1] + once[t:], once))
    return [*lists, (once + once[-1], once, once[:-1])]


def boards_with(dims: str, words: tuple[str, ...]) -> set[tuple[str, int]]:
    """Return the canonical boards on which all the words lie, with their number."""
    board = geometry(dims)
    found = set()
    for packed in paths_of_length(board, board.n).tolist():
        path = unpacked(packed, board.n)
        found.add(canonical_board("".join(words[0][path.index(c)] for c in range(board.n)), board))
    points = dict.fromkeys(words, 1)
    return {
        (text, len(words))
        for text in found
        if len(words_on(text, *board.dims, points)) == len(words)
    }


@pytest.mark.parametrize("params", PARAMS)
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("dims", ["3x3", "2x5", "3x4"])
def test_every_board_of_all_the_words_is_found(dims, number, params):
    """Words of 7 to 12 letters, on boards of 9, 10 and 12 cells."""
    board = geometry(dims)
    words = lists_of(board.n)[number]
    breaker = Breaker(spec_of(dims, words, "words", len(words), EVERY, PARAMS[params]))
    found = set[tuple[str, int]]()
    for result in broken(breaker, Unit(0)):
        found |= {(canonical_board(text, board), score) for text, score in result.candidates}
    assert found == boards_with(dims, words)


@pytest.mark.parametrize(("i", "j"), [(0, 10), (1, 11), (0, 11)])
def test_every_board_of_a_word_is_found_whose_far_letters_are_equal(i, j):
    """Of the 66 pairs of positions the last two have no bit, so terms of equal letters there
    stay.
    """
    board = geometry("3x4")
    assert (pair_bits(board.n)[i, j] >= 0) == ((i, j) == (0, 10))
    words = (ALONG[:j] + ALONG[i] + ALONG[j + 1 :],)
    breaker = Breaker(spec_of("3x4", words, "words", 1, EVERY, PARAMS["whole trees"]))
    found = set[tuple[str, int]]()
    for result in broken(breaker, Unit(0)):
        found |= {(canonical_board(text, board), score) for text, score in result.candidates}
    assert found == boards_with("3x4", words)


@pytest.mark.parametrize("words", [(), ("abcdefghij",)])
def test_a_list_without_a_word_that_fits_has_no_board(words):
    breaker = Breaker(spec_of("3x3", words, "words", 1, EVERY, PARAMS["whole trees"]))
    (result,) = broken(breaker, Unit(0))
    assert (result.status, result.max_bound, result.candidates) == ("eliminated", 0, ())


def test_a_list_of_one_short_word_has_every_board_with_it():
    """Two cells: the word lies on a board or it does not."""
    breaker = Breaker(spec_of("2x2", ("aaaa",), "words", 1, EVERY, PARAMS["whole trees"]))
    (result,) = broken(breaker, Unit(0))
    assert result.candidates == (("aaaa", 1),)


PAIRS = ("ab", "cd", "ef", "gh", "ij")
CUT = LONGEST_WIDE + 1  # letters of the shortest word of which only a part is followed
# lengths of the words, which begin a text of all cells, and how many of them a board must have
BEGINNINGS = {
    "whole": ((CUT - 1,), 1),
    "cut": ((CUT,), 1),
    "both": ((CUT - 1, CUT), 2),
    "cut twice": ((CUT, CUT + 1), 2),
    "the board": ((CUT, 16, 18), 3),
}


def lists_on_a_snake(dims: str, seed: int, of: str) -> tuple[str, list[str], tuple[str, ...]]:
    """Return a partition, the letters of a class of two on each cell, and words that lie on the
    path from side to side; some lie on other paths as well.

    Beside the word of CUT letters that is asked for alone is another one, cut alike.
    """
    rng = random.Random(f"{dims} {seed}")
    path = side_to_side(dims)
    letters, text = [""] * len(path), ""
    for cell in path:
        letters[cell] = rng.choice(PAIRS)
        text += rng.choice(letters[cell])
    words = [text[:length] for length in BEGINNINGS[of][0]]
    if of == "cut":
        words.append(words[0][:-1] + rng.choice("".join(PAIRS).replace(text[CUT - 1], "")))
    return " ".join((*PAIRS, others("".join(PAIRS)))), letters, tuple(words)


@pytest.mark.parametrize("params", PARAMS)
@pytest.mark.parametrize("of", BEGINNINGS)
@pytest.mark.parametrize(
    ("dims", "seed"), daily([("2x9", 0), ("3x6", 1)], [("2x9", 2), ("3x6", 3), ("3x6", 4)])
)
def test_boards_of_words_that_are_cut_are_found_where_there_are_more_than_16_cells(
    dims, seed, of, params
):
    """Words of 11 letters are followed to their end there, of longer ones 11 letters are: all 2^18
    boards of a class are scored.
    """
    board = geometry(dims)
    text, letters, words = lists_on_a_snake(dims, seed, of)
    partition = parse_partition(text, dims)
    rank = canonical_rank(partition, rank_of_board(partition, "".join(x[0] for x in letters)))
    every = Boards(*board.dims, partition.class_letters(rank))
    n_wanted = BEGINNINGS[of][1]
    wanted = set(every.boards(scores(every, dict.fromkeys(words, 1)).reaching(n_wanted)))
    more = replace(PARAMS[params], shape_letters=0)  # by path shapes, which are of paths cut so
    breaker = Breaker(spec_of(dims, words, "words", n_wanted, text, more))
    found = set[str]()
    for result in broken(breaker, Unit(rank)):
        found |= {canonical_board(board_found, board) for board_found, _ in result.candidates}
    assert found == {canonical_board(each, board) for each in wanted} != set()
