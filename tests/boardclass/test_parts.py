"""Paths of parts: text and parts of a path, and which paths lie above which."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardclass.errors import PathError
from boardclass.parts import PATH_PATTERN, ancestors, depth, is_below, join, last_part, max_depth, parse_path, way_to

PARTS = st.lists(
    st.tuples(st.integers(0, 15), st.lists(st.sampled_from("abtz"), min_size=1, unique=True).map("".join)), max_size=5
)


def format_path(parts):
    return "/".join(f"{cell}={letters}" for cell, letters in parts)


@given(PARTS)
def test_paths_keep_their_parts(parts):
    path = format_path(parts)
    assert parse_path(path, 16) == tuple(parts)
    assert bool(re.fullmatch(PATH_PATTERN, path)) == bool(parts)
    assert depth(path) == len(parts)
    above = [format_path(parts[:i]) for i in range(len(parts))]
    assert ancestors(path) == tuple(above)
    assert list(way_to(path)) == [*above, path][1:]
    assert all(is_below(path, other) and not is_below(other, path) for other in above)
    if parts:
        assert join(above[-1], *parts[-1]) == path
        assert last_part(path) == parts[-1]


@pytest.mark.parametrize(
    "path", ["/", "5=", "=a", "5", "5=ab/", "/5=ab", "5=a//6=b", "9=a", "5=aa", "5=A", "-1=a", "05=a", "5=a\n", "٥=a"]
)
def test_other_texts_are_refused_and_quoted(path):
    with pytest.raises(PathError, match=re.escape(repr(path))):
        parse_path(path, 9)


def test_a_path_takes_a_letter_away_with_every_part():
    assert max_depth(9) == 9 * 26
    longest = format_path([(3, "a")] * max_depth(9))
    assert len(parse_path(longest, 9)) == max_depth(9)
    with pytest.raises(PathError, match="235 parts"):
        parse_path(join(longest, 3, "a"), 9)


def test_a_path_is_below_another_only_where_a_part_of_that_one_ends():
    assert not any(is_below(*two) for two in (("0=ab", "0=a"), ("0=a", "0=a"), ("0=a/", "0=a"), ("", "")))
    for text in ("", "5", "0=a/"):
        with pytest.raises(PathError, match="end with a part"):
            last_part(text)
