"""Score tables and the overflow check."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardclass.errors import ScoreError
from boardclass.scores import TABLES, ScoreTable, check_overflow, n_letters, parse_scores


def test_standard_points_by_number_of_letters():
    assert parse_scores("standard").points[:10] == (0, 0, 0, 1, 1, 2, 3, 5, 11, 11)
    assert parse_scores("words").points[:6] == (0, 0, 0, 1, 1, 1)
    assert parse_scores("powers").points[:8] == (0, 0, 0, 1, 2, 4, 8, 16)
    assert {len(table.points) for table in TABLES.values()} == {65}


def test_q_counts_as_two_letters():
    assert n_letters("qiz") == 4
    assert parse_scores("powers").of("qiz") == 2
    assert parse_scores("powers").of("cat") == 1


def test_custom_lists_as_text_and_as_numbers():
    custom = parse_scores([1, 1, 2, 3, 5, 11])
    assert custom == parse_scores(" 1, 1,2,3,5,11 ")
    assert custom.points == TABLES["standard"].points
    assert parse_scores("7").points == (0, 0, 0) + (7,) * 62


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ("", "'' in scores ''"),
        ("standart", "'standart' .*expected standard, words, powers"),
        ("1,,2", "'' in scores '1,,2'"),
        ("1,-2", "'-2' in scores"),
        ("1,2.5", "'2.5' in scores"),
        ("1,2147483648", "2147483648 in scores"),
        ("9" * 5000, "in scores"),
        ("0,0", "no points at all"),
        ([], "has 0 values"),
        ([1] * 63, "has 63 values"),
        ([True, 1], "True in scores"),
        ([1, 2.0], "2.0 in scores"),
        ([-1], "-1 in scores"),
        (["1"], "'1' in scores"),
    ],
)
def test_bad_tables_are_refused(scores, said):
    with pytest.raises(ScoreError, match=said) as caught:
        parse_scores(scores)
    assert "expected" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_overflow_is_refused_at_two_to_the_31_and_not_below():
    table = ScoreTable("edge", (0, 0, 0, 2**30 - 1, 2**30) + (0,) * 60)
    check_overflow(["cat", "cats"], table)
    with pytest.raises(ScoreError, match="gives 2147483648 points over the word list: expected less than 2147483648"):
        check_overflow(["cats", "dogs"], table)


@given(st.text(max_size=20) | st.text("0123456789,- ", max_size=12) | st.lists(st.integers() | st.floats() | st.none()))
def test_anything_is_a_table_or_a_typed_error(scores):
    try:
        table = parse_scores(scores)
    except ScoreError:
        return
    assert len(table.points) == 65
    assert parse_scores(table.name) == table
