"""Arrays that processes share: made once, checked by whoever maps them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numba import config

from boardclass.geometry import cell_order_of, geometry
from boardclass.processes import Pool
from boardclass.shared_arrays import shared
from search.terms.path_table import path_table
from tests.conftest import ROOT

VALUES = [np.arange(7, dtype=np.uint64), np.zeros((0, 2), np.int32), np.ones((3, 5), np.uint8)]


@pytest.fixture
def folder(request):
    """A directory of the cache that no other test has."""
    path = Path(config.CACHE_DIR, f"test-{abs(hash(request.node.nodeid)):x}")
    yield path
    for place in path.parent.glob(f"{path.name}*"):
        shutil.rmtree(place) if place.is_dir() else place.unlink()


def usual():
    return VALUES


def shorter():
    return VALUES[:2]


def must_not():
    raise AssertionError("they are there")


def same(one, other):
    return len(one) == len(other) and all(map(np.array_equal, one, other))


def test_they_are_made_once(folder):
    made = shared(folder.name, usual)
    again = shared(folder.name, must_not)
    assert same(made, VALUES)
    assert same(again, VALUES)
    assert [array.dtype for array in again] == [array.dtype for array in VALUES]
    assert not any(array.flags.writeable for array in [*made, *again])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("name", ["0.npy", "2.npy", "sha256"])
@pytest.mark.parametrize("damage", [flip, cut_off, empty, Path.unlink])
def test_damaged_files_are_made_again(folder, damage, name):
    shared(folder.name, usual)
    damage(folder / name)
    assert same(shared(folder.name, shorter), VALUES[:2])
    assert same(shared(folder.name, must_not), VALUES[:2])


def test_a_file_whose_head_is_damaged_is_made_again(folder):
    """The same bytes as numbers of another type, or in another shape."""
    for name, before, after in (("0.npy", b"<u8", b"<i8"), ("2.npy", b"(3, 5)", b"(5, 3)")):
        shared(folder.name, usual)
        file = folder / name
        data = file.read_bytes()
        assert before in data
        file.write_bytes(data.replace(before, after))
        again = shared(folder.name, usual)
        assert same(again, VALUES)
        assert [array.dtype for array in again] == [array.dtype for array in VALUES]


def test_nothing_is_written_where_the_user_is(tmp_path, folder):
    """Also where nothing else has said where the cache is."""
    code = f"from boardclass.shared_arrays import shared; shared({folder.name!r}, list)"
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_each_has_its_own():
    assert same(shared("no-such-folder/values", usual), VALUES)
    assert same(shared("no-such-folder/values", shorter), VALUES[:2])


def ask(name: str) -> bool:
    """Return whether this process had to make them."""
    calls = []

    def make() -> list[np.ndarray]:
        calls.append(name)
        return [np.arange(1_000_000)]

    assert shared(name, make)[0][-1] == 999_999
    return bool(calls)


def test_of_processes_that_ask_at_once_one_makes_them(folder):
    with Pool(3) as executor:
        made = list(executor.map(ask, [folder.name] * 6))
    assert sum(made) == 1


def test_path_tables_are_shared_by_all_that_they_depend_on():
    board = geometry("3x5")
    centre = sum(1 << cell for cell in range(board.n) if board.cell_types[cell] == "center")
    ring, pairs = cell_order_of("3x5", "ring"), cell_order_of("3x5", "pairs")
    more = centre | 1 << ring[3]
    asked = [(centre, 6, ring), (centre, 6, pairs), (centre, 5, ring), (more, 6, ring)]
    tables = [path_table("3x5", *question) for question in asked]
    path_table.cache_clear()
    for table, question in zip(tables, asked, strict=True):
        assert same(table, path_table("3x5", *question))
    for one, other in combinations(tables, 2):
        assert not same(one[:-2], other[:-2])


def test_nobody_else_has_the_cell_order_of_a_replica():
    board = geometry("3x5")
    centre = board.cell_order[:3]
    drawn = (*centre, *reversed(board.cell_order[3:]))
    path_table("3x5", sum(1 << cell for cell in centre), 6, drawn)
    assert not list(Path(config.CACHE_DIR).glob(f"*{'.'.join(map(str, drawn))}*"))
