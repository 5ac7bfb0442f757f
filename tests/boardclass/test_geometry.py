"""Geometry and the one canonicaliser against drawings on a grid, the slow twins and the pinned
facts.
"""

from __future__ import annotations

import pickle
from itertools import pairwise, product

import pytest
from hypothesis import given, strategies as st

from orderly_boggle.boardclass.canonical import canonical, canonical_board, images
from orderly_boggle.boardclass.errors import DimsError, InputError
from orderly_boggle.boardclass.geometry import (
    DIMS,
    ORDERS,
    Dims,
    cell_name,
    cell_order_of,
    geometry,
    parse_dims,
    read_cell,
)
from tests.reference.classes import slow_canonical, slow_cell_type, slow_images, slow_neighbours

PINNED_ORDER = {  # stored runs depend on them
    ("3x3", "pairs"): (4, 1, 7, 3, 5, 0, 2, 6, 8),
    ("3x4", "pairs"): (5, 6, 1, 9, 2, 10, 4, 7, 0, 8, 3, 11),
    ("4x4", "pairs"): (5, 6, 9, 10, 1, 13, 2, 14, 4, 7, 8, 11, 0, 12, 3, 15),
    ("2x3", "ring"): (1, 4, 2, 5, 3, 0),
    ("3x3", "ring"): (4, 1, 5, 7, 3, 2, 8, 6, 0),
    ("3x4", "ring"): (5, 6, 1, 2, 7, 10, 9, 4, 3, 11, 8, 0),
    ("4x4", "ring"): (5, 6, 9, 10, 1, 2, 7, 11, 14, 13, 8, 4, 3, 15, 12, 0),
    ("4x4", "far"): (5, 6, 9, 10, 14, 13, 8, 4, 1, 2, 7, 11, 12, 0, 3, 15),
    ("3x6", "far"): (7, 8, 9, 10, 15, 14, 13, 6, 1, 2, 3, 4, 11, 16, 12, 0, 5, 17),
    ("4x5", "far"): (6, 7, 8, 11, 12, 13, 17, 16, 10, 5, 1, 2, 3, 9, 14, 18, 15, 0, 4, 19),
    ("3x4", "rows"): (5, 6, 1, 2, 4, 7, 9, 10, 0, 3, 8, 11),
}
DEFAULT_ORDER = {
    "2x2": "pairs",
    "3x3": "pairs",
    "3x4": "ring",
    "3x5": "ring",
    "4x4": "ring",
    "3x6": "pairs",
    "4x5": "far",
    "5x5": "pairs",
}


@pytest.mark.parametrize("text", DIMS)
def test_neighbours_types_and_symmetries_agree_with_the_slow_twin(text):
    geo = geometry(text)
    w, h = geo.dims
    assert geo.n == geo.dims.n == w * h
    assert geo.neighbours[0] == tuple(sorted({1, h, h + 1})), "cells are numbered down the columns"
    for cell in range(geo.n):
        assert set(geo.neighbours[cell]) == slow_neighbours(w, h, cell)
        assert geo.neighbour_masks[cell] == sum(1 << near for near in slow_neighbours(w, h, cell))
        assert geo.cell_types[cell] == slow_cell_type(w, h, cell)
    assert sorted(map(tuple, geo.symmetries.tolist())) == sorted(slow_images(range(geo.n), w, h))
    assert geo.symmetries[0].tolist() == list(range(geo.n))
    assert len(geo.symmetries) == (8 if w == h else 4)


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("text", DIMS)
def test_a_cell_order_is_a_permutation_centre_first(text, name):
    geo = geometry(text, cell_order_of(text, name))
    assert sorted(geo.cell_order) == list(range(geo.n))
    kinds = [("center", "edge", "corner").index(geo.cell_types[cell]) for cell in geo.cell_order]
    assert kinds == sorted(kinds)


@pytest.mark.parametrize("name", ["ring", "far"])
@pytest.mark.parametrize("text", DIMS)
def test_a_ring_goes_round_the_rim_cell_by_cell(text, name):
    """Each edge touches the next one, on the same side or round a corner; each corner is a side
    away from the last.
    """
    geo = geometry(text, cell_order_of(text, name))
    w, h = geo.dims
    at = [divmod(cell, h) for cell in geo.cell_order]
    edges = [
        xy for xy, cell in zip(at, geo.cell_order, strict=True) if geo.cell_types[cell] == "edge"
    ]
    corners = [
        xy for xy, cell in zip(at, geo.cell_order, strict=True) if geo.cell_types[cell] == "corner"
    ]
    if min(w, h) > 2:
        assert all(max(abs(x - u), abs(y - v)) == 1 for (x, y), (u, v) in pairwise(edges))
    assert all((x == u) != (y == v) for (x, y), (u, v) in pairwise(corners))


def test_pinned_cell_orders():
    assert {(text, name): cell_order_of(text, name) for text, name in PINNED_ORDER} == PINNED_ORDER
    for text, name in DEFAULT_ORDER.items():
        assert geometry(text).cell_order == cell_order_of(text) == cell_order_of(text, name)


def test_an_order_of_other_cells_is_refused():
    for wrong in ((0, 1, 2, 2), (0, 1, 2), (0, 1, 2, 4), (0, 1, 2, 3, 3)):
        with pytest.raises(
            InputError, match=r"cell order .* expected each of the cells 0 to 3 once"
        ):
            geometry("2x2", wrong)
    with pytest.raises(
        InputError, match=r"unknown cell order 'spiral': expected one of ring, far, pairs, rows"
    ):
        cell_order_of("4x4", "spiral")


def test_geometry_is_cached_read_only_and_survives_pickling():
    for geo in (geometry("3x4"), geometry("3x4", cell_order_of("3x4", "rows"))):
        assert geo is geometry(Dims(3, 4), geo.cell_order) is pickle.loads(pickle.dumps(geo))
        assert not any(array.flags.writeable for array in (geo.neighbour_masks, geo.symmetries))


@pytest.mark.parametrize(
    "text",
    ["", "3", "3x", "3x3x3", "3x9", "1x9", "2x13", "10x10", "-3x3", "3 x 3", "٣x٣", "3×3", "004x4"],
)
def test_unknown_dims_are_refused_with_the_value_and_the_choice(text):
    with pytest.raises(DimsError) as caught:
        parse_dims(text)
    assert repr(text) in str(caught.value)
    assert "columns x rows, such as 3x4, each 2 or more, 25 cells at most" in str(caught.value)
    assert caught.value.exit_code == 2


def test_every_size_of_two_to_25_cells_is_one():
    assert len(DIMS) == len(set(DIMS)) == 21
    for w, h in product(range(14), repeat=2):
        text = f"{w}x{h}"
        if min(w, h) >= 2 and w * h <= 25:
            assert parse_dims(text) == (min(w, h), max(w, h))
            assert str(parse_dims(text)) in DIMS
        else:
            with pytest.raises(DimsError):
                parse_dims(text)


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


def test_boards_and_class_letters_use_the_same_rule():
    geo = geometry("2x2")
    assert canonical_board("dcba", geo) == "abcd"
    assert canonical(("xy", "ab", "cd", "a"), geo) == ("a", "ab", "cd", "xy")
    with pytest.raises(ValueError, match="3 values for 2x2, expected 4"):
        canonical("abc", geo)


def test_a_cell_is_named_by_row_and_column_and_read_by_them_or_by_its_number():
    w, h = 4, 10
    for cell in range(w * h):
        x, y = divmod(cell, h)
        assert cell_name(cell, h) == f"row {y + 1}, column {x + 1}"
        assert read_cell(f" {y + 1}.{x + 1} ", w, h) == read_cell(str(cell), w, h) == cell
    for text in ("", ".", "1.", ".1", "0.1", "1.0", "1.5", "11.1", "40", "-1", "1.1.1", "٣", "1,1"):
        assert read_cell(text, w, h) is None


def test_what_all_share_cannot_be_written_to():
    shape = geometry("3x3")
    for array in (shape.neighbour_masks, shape.symmetries):
        assert not array.flags.writeable
