"""Rolling and tracing, each against brute force."""

from __future__ import annotations

import doctest
import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from boardclass import rolling, tracing
from boardclass.geometry import geometry
from boardclass.rolling import assign_dice, roll
from boardclass.tracing import trace

faces = st.text("abcd", min_size=1, max_size=3)


@given(st.text("abcd", min_size=4, max_size=4), st.lists(faces, min_size=4, max_size=5))
def test_the_matching_is_exact(board, dice):
    can = any(all(x in die for x, die in zip(board, order, strict=False)) for order in itertools.permutations(dice, 4))
    found = assign_dice(board, dice)
    assert (found is not None) == can
    if found is not None:
        assert len(set(found)) == 4
        assert all(letter in dice[die] for letter, die in zip(board, found, strict=True))


def test_a_roll_can_be_rolled_and_repeats_with_its_seed():
    dice = ["ab", "cd", "eq", "xyz"] * 4
    for seed in range(50):
        board = roll(dice, random.Random(seed))
        assert assign_dice(board, dice) is not None
        assert board == roll(dice, random.Random(seed))


@given(st.text("abc", min_size=6, max_size=6), st.text("abc", min_size=1, max_size=4))
def test_tracing_is_the_first_path_of_all(board, word):
    shape = geometry("2x3")
    paths = [
        path
        for path in itertools.permutations(range(6), len(word))
        if all(b in shape.neighbours[a] for a, b in itertools.pairwise(path))
        and all(board[cell] == letter for cell, letter in zip(path, word, strict=True))
    ]
    assert trace(word, board, shape) == min(paths, default=None)


def test_the_empty_word_cannot_be_traced():
    assert trace("", "abcd", geometry("2x2")) is None


def test_the_examples_in_the_docstrings():
    for module in (rolling, tracing):
        assert doctest.testmod(module).attempted
        assert doctest.testmod(module).failed == 0
