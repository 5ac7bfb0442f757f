"""Letter buckets, ranks, canonical classes counted in three independent ways, and the paths of
parts of a class.
"""

from __future__ import annotations

import pickle
import random
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

from orderly_boggle.boardclass.canonical import canonical, images
from orderly_boggle.boardclass.errors import PartitionError, PathError
from orderly_boggle.boardclass.geometry import DIMS, geometry
from orderly_boggle.boardclass.partition import Partition, parse_class, parse_partition
from orderly_boggle.boardclass.parts import (
    PATH_PATTERN,
    ancestors,
    depth,
    is_below,
    join,
    last_part,
    max_depth,
    parse_path,
    way_to,
)
from orderly_boggle.results.proof.coverage import class_sizes
from tests.classes import canonical_rank, n_boards_of, rank_of, rank_of_board
from tests.reference.classes import all_digits, slow_burnside, slow_canonical_ranks, slow_orbits

LETTERS = "abcdefghijklmnopqrstuvwxyz"
FOUR = "bdfgjqvwxz aeiou lnrsy chkmpt"
PAPER = "aeijou bcdfgmpqvwxz hklnrsty, corner: aeiosuy bcdfghjklmnpqrtvwxz"
CENTRES = f"center: {' '.join(LETTERS)}, edge: {LETTERS}, corner: {LETTERS}"
PINNED = [
    ("3x3", FOUR, 262_144, 34_960),
    ("3x4", PAPER, 104_976, 27_135),
    ("4x4", PAPER, 8_503_056, 1_068_363),
    ("4x4", CENTRES, 26**4, 61_776),
]

ANY_DIMS = st.sampled_from(DIMS)


def n_covered(partition: Partition, ranks: np.ndarray) -> int:
    """Return the number of boards in the orbits of canonical classes."""
    sizes, size_of, n_images = class_sizes(partition, ranks)
    return int((np.array(sizes, object)[size_of] * n_images).sum())


@st.composite
def partitions(draw, dims=ANY_DIMS, max_buckets=26):
    """Random partitions, each as a text with explicit cell types."""
    parts = []
    for kind in ("center", "edge", "corner"):
        numbers = draw(st.lists(st.integers(1, max_buckets), min_size=26, max_size=26))
        buckets: dict[int, str] = {}
        for number, letter in zip(numbers, draw(st.permutations(LETTERS)), strict=True):
            buckets[number] = buckets.get(number, "") + letter
        parts.append(f"{kind}: {' '.join(buckets.values())}")
    return parse_partition(", ".join(draw(st.permutations(parts))), draw(dims))


@pytest.mark.parametrize(("dims", "text", "n_classes", "n_canonical"), PINNED)
def test_pinned_counts_by_burnside_enumeration_and_orbit_sums(dims, text, n_classes, n_canonical):
    partition = parse_partition(text, dims)
    ranks = np.concatenate(list(partition.canonical_ranks()))
    assert partition.n_classes == n_classes
    assert partition.n_canonical == len(ranks) == n_canonical
    assert class_sizes(partition, ranks)[2].sum() == n_classes
    if n_canonical < 100_000:  # in several blocks
        assert n_covered(partition, ranks) == 26**partition.dims.n
        every = np.arange(n_classes)
        assert partition.foreign(every) == np.setdiff1d(every, ranks).tolist()


@pytest.mark.parametrize(
    ("dims", "text"),
    [
        ("2x2", FOUR),
        ("2x3", "aeiou bcdfghjklmnpqrstvwxyz, edge: abc defgh ijklmnopqrstuvwxyz"),
        ("3x3", f"abcdefghijklm nopqrstuvwxyz, center: {FOUR}"),
        ("3x3", f"aeiou bcd fghjklmnpqrstvwxyz, corner: {LETTERS}"),
        ("3x4", f"abcdefghijklm nopqrstuvwxyz, edge: {LETTERS}"),
    ],
)
def test_enumeration_agrees_with_the_slow_twin(dims, text):
    partition = parse_partition(text, dims)
    radix, (w, h) = partition.radix.tolist(), partition.dims
    ranks = np.concatenate(list(partition.canonical_ranks()))
    orbits = slow_orbits(radix, w, h)
    assert ranks.tolist() == slow_canonical_ranks(radix, w, h)
    assert partition.n_canonical == len(orbits) == slow_burnside(radix, w, h)
    assert class_sizes(partition, ranks)[2].tolist() == [
        orbits[partition.unrank(rank)] for rank in ranks.tolist()
    ]
    assert [partition.unrank(rank) for rank in range(partition.n_classes)] == list(
        all_digits(radix)
    )


def test_more_classes_than_fit_the_memory_come_piece_by_piece():
    pieces = parse_partition(PAPER, "5x5").canonical_ranks()
    first, second = next(pieces), next(pieces)
    assert 0 == first[0] <= first[-1] < second[0]


def test_enumeration_and_canonicaliser_agree_on_random_classes():
    partition = parse_partition(PAPER, "4x4")
    chosen = sorted(random.Random(5).sample(range(partition.n_classes), 300))
    foreign = partition.foreign(np.array(chosen))
    n_images = class_sizes(partition, np.array(chosen))[2].tolist()
    for rank, size in zip(chosen, n_images, strict=True):
        digits = partition.unrank(rank)
        assert (
            (rank not in foreign)
            == (canonical_rank(partition, rank) == rank)
            == (canonical(digits, partition.geometry) == digits)
        )
        assert size == len(images(digits, partition.geometry))
        assert not partition.foreign(np.array([canonical_rank(partition, rank)]))
    best = {
        rank_of_board(partition, "".join(image))
        for image in images("perslatgsineters", partition.geometry)
    }
    assert {canonical_rank(partition, rank) for rank in best} == {
        canonical_rank(partition, 705_707)
    }
    assert 705_707 in best


def test_cell_0_is_least_significant():
    partition = parse_partition(FOUR, "2x2")
    assert partition.unrank(1) == (1, 0, 0, 0)
    assert partition.class_letters(1) == ("aeiou", "bdfgjqvwxz", "bdfgjqvwxz", "bdfgjqvwxz")
    assert partition.class_masks(1)[0] == sum(1 << LETTERS.index(letter) for letter in "aeiou")
    assert n_boards_of(partition, 1) == 5 * 10**3


@given(partitions(), st.randoms(use_true_random=False))
def test_rank_round_trips_and_boards_lie_in_their_class(partition, rng):
    rank = rng.randrange(partition.n_classes)
    assert rank_of(partition, partition.unrank(rank)) == rank
    board = "".join(rng.choice(letters) for letters in partition.class_letters(rank))
    assert rank_of_board(partition, board) == rank


@given(partitions())
def test_text_round_trips_and_covers_the_alphabet(partition):
    again = parse_partition(partition.text, partition.dims)
    assert {again, partition} == {partition}
    assert pickle.loads(pickle.dumps(partition)) == partition
    assert repr(partition) == f"parse_partition({partition.text!r}, {str(partition.dims)!r})"
    assert set(partition.buckets) == set(geometry(partition.dims).cell_types)
    for buckets in partition.buckets.values():
        assert sorted("".join(buckets)) == list(LETTERS)


@given(partitions(dims=st.sampled_from(["2x2", "2x3", "3x3"]), max_buckets=3))
def test_orbit_sums_equal_the_whole_space_for_any_partition(partition):
    ranks = np.concatenate(list(partition.canonical_ranks()))
    assert len(ranks) == partition.n_canonical
    assert class_sizes(partition, ranks)[2].sum() == partition.n_classes
    assert n_covered(partition, ranks) == 26**partition.dims.n


def test_normalised_text_names_the_types_of_the_board():
    text = f"zyxwvutsrqponmlkjihgfedcba , CORNER: {FOUR}"
    assert parse_partition(text, "2x2").text == f"corner: {FOUR}"
    assert parse_partition(text, "2x3").text == f"edge: {LETTERS}, corner: {FOUR}"
    assert (
        parse_partition(text, "3x3").text == f"center: {LETTERS}, edge: {LETTERS}, corner: {FOUR}"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "missing letters 'abcdefghijklmnopqrstuvwxyz'"),
        ("aabdfgjvwxz aeiou lnrsy chkmpt", "missing letters 'q' and repeated letters 'a'"),
        (f"{FOUR}, corner: {FOUR.replace('z', '')}", "missing letters 'z' for corner"),
        (f"{FOUR}, corners: {FOUR}", "unknown cell type 'corners'.*expected center, edge, corner"),
        (f"edge: {FOUR}, edge: {FOUR}", "buckets for edge are given twice"),
        (f"edge: {FOUR}, corner: {FOUR}", "no buckets for center"),
        (FOUR.replace("a", "å"), "'å' is not a letter a-z"),
        ("x" * 100_000, "repeated letters 'x'"),
        ("center:edge:abc", "is not a letter a-z for center"),
    ],
)
def test_bad_partitions_are_refused(text, said):
    with pytest.raises(PartitionError, match=said) as caught:
        parse_partition(text, "3x3")
    assert len(str(caught.value)) < 500
    assert caught.value.exit_code == 2


def test_more_classes_than_64_bits_are_refused_only_when_enumerated():
    partition = parse_partition(" ".join(LETTERS), "4x4")
    assert partition.n_classes == 26**16
    assert rank_of(partition, partition.unrank(26**16 - 1)) == 26**16 - 1
    with pytest.raises(PartitionError, match=r"expected below 2\*\*63"):
        next(partition.canonical_ranks())


def test_ranks_out_of_range_are_refused():
    partition = parse_partition(FOUR, "2x2")
    for rank in (-1, 256, 10**30):
        with pytest.raises(PartitionError, match="expected 0 to 255"):
            partition.unrank(rank)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has 0 groups: expected 4 groups"),
        ("a b c dd", "group 'dd' of cell 3 .*repeats a letter"),
        ("a b c 4", "group '4'"),
    ],
)
def test_bad_classes_are_refused(text, said):
    assert parse_class("ba c\td  zyx", "2x2") == ("ab", "c", "d", "xyz")
    with pytest.raises(PartitionError, match=said):
        parse_class(text, "2x2")


PARTS = st.lists(
    st.tuples(
        st.integers(0, 15), st.lists(st.sampled_from("abtz"), min_size=1, unique=True).map("".join)
    ),
    max_size=5,
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
    "path",
    [
        "/",
        "5=",
        "=a",
        "5",
        "5=ab/",
        "/5=ab",
        "5=a//6=b",
        "9=a",
        "5=aa",
        "5=A",
        "-1=a",
        "05=a",
        "5=a\n",
        "٥=a",
    ],
)
def test_other_paths_are_refused_and_quoted(path):
    with pytest.raises(PathError, match=re.escape(repr(path))):
        parse_path(path, 9)


def test_a_path_takes_a_letter_away_with_every_part():
    assert max_depth(9) == 9 * 26
    longest = format_path([(3, "a")] * max_depth(9))
    assert len(parse_path(longest, 9)) == max_depth(9)
    with pytest.raises(PathError, match="235 parts"):
        parse_path(join(longest, 3, "a"), 9)


def test_a_path_is_below_another_only_where_a_part_of_that_one_ends():
    assert not any(
        is_below(*two) for two in (("0=ab", "0=a"), ("0=a", "0=a"), ("0=a/", "0=a"), ("", ""))
    )
    for text in ("", "5", "0=a/"):
        with pytest.raises(PathError, match="end with a part"):
            last_part(text)


def test_ranks_that_no_class_has_are_refused():
    small = parse_partition(FOUR, "2x2")
    for rank in (-1, small.n_classes):
        with pytest.raises(PartitionError, match="no class "):
            small.unrank(rank)
        assert small.foreign(np.array([rank])) == [rank]
    assert small.foreign(np.array([], np.int64)) == []
    huge = parse_partition(" ".join(LETTERS), "4x4")
    with pytest.raises(PartitionError, match=r"expected below 2\*\*63"):
        huge.foreign(np.array([0]))


def test_buckets_are_a_text():
    with pytest.raises(PartitionError, match="expected a text"):
        parse_partition(4, "2x2")
