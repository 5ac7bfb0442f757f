"""Coverage: nothing missing, doubled, foreign or wrongly split passes for a proof."""

from __future__ import annotations

from dataclasses import replace
from string import ascii_lowercase
from typing import Any, ClassVar

import numpy as np
import pytest

from boardclass.canonical import images
from boardclass.errors import IncompleteError, InputError
from boardclass.partition import parse_partition
from results.errors import ConflictError, RowError
from results.proof.coverage import Coverage, check_apart, check_coverage, class_sizes
from results.storage import files
from results.store.rows import Row
from results.store.run import open_run
from results.store.store import Store
from tests.results.helpers import BUCKETS, all_rows, fingerprint, row, split_rows


def cover(tmp_path, rows: list[Row]) -> Coverage:
    with Store.open(tmp_path, fingerprint()) as store:
        try:
            store.append(rows)
        except ConflictError:
            store.flush()
    return check_coverage(open_run(tmp_path), Nodes())


class Nodes:
    """The splits of helpers.split_rows, as a search would make them."""

    made: ClassVar = {"": ["0=ae", "0=iou"], "0=ae": ["0=ae/1=a", "0=ae/1=eiou"]}
    sizes: ClassVar = {"0=ae": 250, "0=iou": 375, "0=ae/1=a": 50, "0=ae/1=eiou": 200}

    def n_boards(self, class_id: int, path: str) -> int:
        if path not in self.sizes:
            raise InputError(f"no node {path!r}")
        return self.sizes[path]

    def parts(self, class_id: int, path: str) -> list[str]:
        return self.made.get(path, [])


def with_split(*, without: int | None = None, **changes: Any) -> list[Row]:
    """All rows, class 0 split in two levels; one of the five rows altered or left out."""
    split = split_rows(0)
    if without is not None:
        del split[without]
    for index, values in changes.items():
        place = int(index.removeprefix("row"))
        split[place] = replace(split[place], **values)
    return [*split, *all_rows()[1:]]


def settled_rows(children: tuple[str, ...], settled: tuple[str, ...]) -> list[Row]:
    """Return a class whose root says what it settled, with a verdict for each child."""
    root = replace(split_rows(0)[0], children=children, settled=settled)
    return [root, *(row(0, path=path, n_boards=Nodes.sizes[path]) for path in children), *all_rows()[1:]]


COMPLETE = [
    all_rows(),
    with_split(),
    [*with_split(), *with_split()],
    settled_rows(("0=ae/1=eiou", "0=iou"), ("0=ae/1=a",)),
    settled_rows(("0=ae",), ("0=iou",)),  # behind the first child
    settled_rows(("0=iou",), ("0=ae",)),  # before it
    settled_rows(("0=iou",), ("0=ae/1=eiou", "0=ae/1=a")),
    settled_rows(("0=ae/1=a",), ("0=iou", "0=ae/1=eiou")),
    settled_rows(("0=iou", "0=ae/1=a"), ("0=ae/1=eiou",)),
]


@pytest.mark.parametrize("rows", COMPLETE)
def test_complete(tmp_path, rows):
    coverage = cover(tmp_path, rows)
    assert coverage.complete, coverage.message()
    assert coverage.n_boards == coverage.n_boards_expected == 26**4
    assert (coverage.n_classes, coverage.n_classes_done) == (6, 6)


MISSING = [
    *((all_rows()[:i] + all_rows()[i + 1 :], f"class {all_rows()[i].class_id}") for i in range(6)),
    *((with_split(without=i), f"class 0 path {split_rows(0)[i].path}") for i in range(1, 5)),
    (with_split(without=0), "class 0"),  # units without their root do not count
    ([replace(all_rows()[0], status="error", message="worker died"), *all_rows()[1:]], "class 0"),
]


@pytest.mark.parametrize(("rows", "missing"), MISSING)
def test_what_is_missing_is_named(tmp_path, rows, missing):
    coverage = cover(tmp_path, rows)
    assert not coverage.complete
    assert coverage.missing == [missing]
    assert coverage.n_classes_done == 5
    with pytest.raises(IncompleteError, match=missing):
        coverage.require_complete()


WRONG = [
    ([replace(all_rows()[0], n_boards=624), *all_rows()[1:]], "class 0 has 625 boards, its row says 624"),
    ([replace(all_rows()[0], n_boards=626), *all_rows()[1:]], "class 0 has 625 boards, its row says 626"),
    (with_split(row0={"children": ("0=ae", "0=eiou")}), "share boards"),
    (with_split(row0={"children": ("0=ae", "1=iou")}), "share boards"),
    (with_split(row0={"children": ("0=ae", "0=iou", "0=ae/1=b")}), "share boards"),
    (with_split(row0={"children": ("0=ae", "0=bcd")}), "no node '0=bcd'"),
    (with_split(row0={"children": ("0=ae", "0=iou"), "n_boards": 624}), "hold 625 boards, it has 624"),
    (with_split(row2={"children": ("0=ae/0=i", "0=ae/1=b")}), "share boards"),
    (with_split(row2={"children": ("0=ae/0=i",)}), "no node '0=ae/0=i'"),
    (with_split(row1={"n_boards": 376}), "has 375 boards, its row says 376"),
    (with_split(row4={"status": "candidates", "candidates": (("zzzz", 100),)}), "lists zzzz, which is not in it"),
    # settled parts and children that the search would not make
    (settled_rows(("0=ae",), ()), "part '0=iou' is neither"),
    (settled_rows(("0=iou",), ()), "part '0=ae' is neither"),
    (settled_rows(("0=ae/1=a",), ("0=ae/1=eiou",)), "part '0=iou' is neither"),
    (settled_rows(("0=ae/1=a",), ("0=iou",)), "part '0=ae/1=eiou' is neither"),
    (settled_rows(("0=ae/1=eiou", "0=iou"), ()), "part '0=ae/1=a' is neither"),
    (settled_rows(("0=iou",), ("0=ae/1=a",)), "part '0=ae/1=eiou' is neither"),
    (settled_rows(("0=ae", "0=iou"), ("0=ae/1=a",)), "share boards"),  # below a child
    (settled_rows(("0=ae/1=a", "0=iou"), ("0=ae",)), "share boards"),  # above one
    (settled_rows(("0=ae",), ("0=io",)), "no node '0=io'"),
    (settled_rows(("0=ae",), ("1=iou",)), "share boards"),
    (with_split(row2={"children": ("0=ae/1=a",)}), "part '0=ae/1=eiou' is neither a child nor settled"),
    (with_split(row0={"children": ("0=ae", "0=io")}), "no node '0=io'"),
]


@pytest.mark.parametrize(("rows", "message"), WRONG)
def test_what_is_wrong_is_a_problem(tmp_path, rows, message):
    coverage = cover(tmp_path, rows)
    assert not coverage.complete
    assert any(message in problem for problem in coverage.problems), coverage.problems


def test_conflicts_and_quarantined_units_are_named(tmp_path):
    rows = all_rows()
    given_up = replace(rows[2], status="quarantined", n_boards=0, max_bound=0)
    conflict = replace(rows[1], n_boards=rows[1].n_boards + 1)
    coverage = cover(tmp_path, [*rows[:2], given_up, *rows[3:], conflict])
    assert not coverage.complete
    assert coverage.conflicting == [f"class {rows[1].class_id}"]
    assert coverage.quarantined == [f"class {rows[2].class_id}"]
    assert coverage.missing == [f"class {rows[2].class_id}"]
    assert coverage.n_classes_done == 4


@pytest.mark.parametrize("class_id", [1, 16, 2**62])
def test_foreign_classes_are_problems(tmp_path, class_id):
    coverage = cover(tmp_path, [*all_rows(), row(class_id, n_boards=625)])
    assert not coverage.complete
    (problem,) = coverage.problems
    assert f"rows of 1 class that is not its own: {class_id}, in {files.RESULTS}/" in problem
    assert "--drop-damaged" in problem


def test_messages_stay_short(tmp_path):
    cut = parse_partition(" ".join(ascii_lowercase), "2x2")
    Store.open(tmp_path, fingerprint(partition=cut.text)).close()
    coverage = check_coverage(open_run(tmp_path))
    assert len(coverage.missing) == coverage.n_classes == cut.n_canonical
    assert len(coverage.message()) < 300


@pytest.mark.parametrize(
    ("dims", "text"),
    [("2x3", BUCKETS), ("3x3", f"{BUCKETS}, corner: abc defghijklmnopqrstuvwxyz")],
)
def test_sizes_agree_with_the_partition(dims, text):
    cut = parse_partition(text, dims)
    total = 0
    for ranks in cut.canonical_ranks():
        n_boards, n_images = class_sizes(cut, ranks)
        assert n_boards.tolist() == [cut.n_boards(int(rank)) for rank in ranks]
        assert n_images.tolist() == [len(images(cut.unrank(int(rank)), cut.geometry)) for rank in ranks]
        total += int(np.sum(n_boards * n_images))
    assert total == 26**cut.dims.n


def test_sizes_beyond_64_bits_are_exact():
    cut = parse_partition("abcdefghijklmnopqrstuvwxyz", "4x4")
    n_boards, n_images = class_sizes(cut, np.zeros(1, dtype=np.int64))
    assert (n_boards.tolist(), n_images.tolist()) == ([26**16], [1])


def test_children_apart():
    check_apart("", ["0=a/1=c", "0=a/1=d", "0=b"])
    check_apart("3=x", ["3=x/0=a", "3=x/0=b/0=b"])
    overlapping = ("0=a 0=a/1=c", "0=ab 0=b", "0=a 1=c", "0=a/1=c 0=a/2=d", "0=a/1=c 0=a/1=cd")
    for shared in map(str.split, overlapping):
        with pytest.raises(RowError, match="share"):
            check_apart("", shared)
