"""Boards as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardclass.board import dims_of_length, format_rows, parse_board
from boardclass.errors import BoardError
from boardclass.geometry import DIMS, parse_dims


def test_rows_are_read_across_and_boards_down():
    assert format_rows("abcdefghijkl", "3x4") == [list("AEI"), list("BFJ"), list("CGK"), list("DHL")]
    assert format_rows("qoii", "2x2") == [["Qu", "I"], ["O", "I"]]


def test_length_tells_the_dims():
    for dims in map(parse_dims, DIMS):
        assert dims_of_length(dims.n) == dims
    for n in (-1, 0, 1, 5, 8, 15, 36):
        with pytest.raises(BoardError, match=f"no board has {n} letters: expected one of 4 \\(2x2\\)"):
            dims_of_length(n)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "board '' has 0 letters; expected 9 letters"),
        ("abcdefgh", "'abcdefgh' has 8 letters"),
        ("quabcdefgh", "has 10 letters; .*write the Qu cell as q alone"),
        ("abcdefghé", "'é' at position 9 is not a letter"),
        ("abc def ghi", "' ' at position 4"),
        ("ab/cd/efg", "'/' at position 3"),
        ("abcdefgh\0", "'\\\\x00' at position 9"),
        ("İİİİİİİİİ", "at position 1"),
        ("a" * 100_000, "has 100000 letters"),
    ],
)
def test_bad_boards_are_refused(text, said):
    with pytest.raises(BoardError, match=said) as caught:
        parse_board(text, "3x3")
    assert len(str(caught.value)) < 400


@given(st.text(max_size=20) | st.text("abQuq \n", max_size=12), st.sampled_from(DIMS))
def test_any_text_is_a_board_or_a_typed_error(text, dims):
    try:
        board = parse_board(text, dims)
    except BoardError:
        return
    assert len(board) == parse_dims(dims).n
    assert set(board) <= set("abcdefghijklmnopqrstuvwxyz")
    assert parse_board(f" {board.upper()}\n", dims) == board
