"""The one canonicaliser against the slow twin, and against the kernel that enumerates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardclass.canonical import canonical, canonical_board, images
from boardclass.geometry import DIMS, geometry
from tests.reference.classes import slow_canonical, slow_images


@st.composite
def sized_values(draw):
    geo = geometry(draw(st.sampled_from(DIMS)))
    n_values = draw(st.integers(1, 4))
    return geo, tuple(draw(st.lists(st.integers(0, n_values), min_size=geo.n, max_size=geo.n)))


@given(sized_values())
def test_images_and_canonical_agree_with_the_slow_twin(case):
    geo, values = case
    assert images(values, geo) == set(slow_images(values, *geo.dims))
    assert canonical(values, geo) == slow_canonical(values, *geo.dims)


@given(sized_values())
def test_every_image_has_the_same_canonical_form_which_is_an_image(case):
    geo, values = case
    assert {canonical(image, geo) for image in images(values, geo)} == {canonical(values, geo)}
    assert canonical(values, geo) in images(values, geo)
    assert canonical(canonical(values, geo), geo) == canonical(values, geo) <= values


def test_boards_and_class_letters_use_the_same_rule():
    geo = geometry("2x2")
    assert canonical_board("dcba", geo) == "abcd"
    assert canonical(("xy", "ab", "cd", "a"), geo) == ("a", "ab", "cd", "xy")


def test_a_rectangle_is_not_turned_by_a_quarter():
    geo = geometry("2x3")
    assert images(range(6), geo) == {(0, 1, 2, 3, 4, 5), (2, 1, 0, 5, 4, 3), (3, 4, 5, 0, 1, 2), (5, 4, 3, 2, 1, 0)}


def test_wrong_length_is_an_error():
    with pytest.raises(ValueError, match="3 values for 2x2, expected 4"):
        canonical("abc", geometry("2x2"))
