"""Arrays that processes share: made once, checked by whoever maps them."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numba import config

from orderly_boggle.boardclass.geometry import cell_order_of, geometry
from orderly_boggle.boardclass.processes import Pool
from orderly_boggle.boardclass.shared_arrays import shared, shared_copy, working
from orderly_boggle.search.scoring.trie import build_trie
from orderly_boggle.search.terms.path_table import path_table, shared_words, word_arrays
from tests.conftest import ROOT

VALUES = [np.arange(7, dtype=np.uint64), np.zeros((0, 2), np.int32), np.ones((3, 5), np.uint8)]


@pytest.fixture
def folder(request):
    """A directory of the cache, of a kind that no other test has."""
    kind = f"test-{abs(hash(request.node.nodeid)):x}"
    yield Path(config.CACHE_DIR, kind, "values")
    shutil.rmtree(Path(config.CACHE_DIR, kind), ignore_errors=True)


def name_of(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def usual():
    return VALUES


def shorter():
    return VALUES[:2]


def must_not():
    raise AssertionError("they are there")


def same(one, other):
    return len(one) == len(other) and all(map(np.array_equal, one, other))


def test_they_are_made_once(folder):
    made = shared(name_of(folder), usual)
    again = shared(name_of(folder), must_not)
    assert same(made, VALUES)
    assert same(again, VALUES)
    assert [array.dtype for array in again] == [array.dtype for array in VALUES]
    assert not any(array.flags.writeable for array in [*made, *again])


MANY = [np.arange(5000), np.ones(7, np.uint8)]


def many():
    return MANY


def room_for_many():
    """Return working memory with something in it."""
    room = working(9000, np.int64)
    room[:] = -1
    return room


def test_they_are_laid_over_working_memory(folder):
    for make in (many, must_not):
        room = room_for_many()
        values, others = shared(name_of(folder), make, [room])
        assert same([values, others], MANY)
        assert np.shares_memory(values, room)
        assert np.array_equal(room[:5000], MANY[0])
        assert (room[6000:] == -1).all()
        assert not others.flags.writeable


def test_the_pages_that_nobody_writes_to_are_those_of_the_file(folder):
    room = room_for_many()
    shared(name_of(folder), many, [room])
    page = room.ctypes.data - room.ctypes.data % mmap.PAGESIZE
    lines = Path("/proc/self/maps").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(f"{page:08x}-")]
    assert line.endswith(str(folder / "0.npy"))


def test_what_is_written_over_them_stays_with_the_process(folder):
    mine, other = room_for_many(), room_for_many()
    shared(name_of(folder), many, [mine])
    shared(name_of(folder), must_not, [other])
    mine[:] = 7
    assert (mine == 7).all()
    assert np.array_equal(other[:5000], MANY[0])
    assert same(shared(name_of(folder), must_not), MANY)
    shared(name_of(folder), must_not, [mine])
    assert np.array_equal(mine[:5000], MANY[0])


def test_memory_that_is_too_small_for_them_is_left_alone(folder):
    shared(name_of(folder), many)
    room = working(4000, np.int64)
    with pytest.raises(AssertionError, match="less memory"):
        shared(name_of(folder), many, [room])
    assert not room.any()


def test_what_a_bad_disk_made_of_them_is_not_laid_over_what_was_made(folder, monkeypatch):
    room = room_for_many()
    save = np.save

    def badly(file, array):
        save(file, array)
        flip(file)

    def make():
        room[:5000] = MANY[0]
        return [room[:5000], MANY[1]]

    monkeypatch.setattr(np, "save", badly)
    for _ in range(2):
        values, others = shared(name_of(folder), make, [room])
        assert same([values, others], MANY)
        assert np.array_equal(room[:5000], MANY[0])
        room[:] = -1


def test_what_is_used_is_kept(folder):
    for number in range(8):
        shared(f"{folder.parent.name}/{number}", usual)
        os.utime(folder.with_name(f"{number}"), (number, number))
    shared(f"{folder.parent.name}/0", must_not)
    shared(f"{folder.parent.name}/8", usual)
    kept = sorted(place.name for place in folder.parent.glob("*/"))
    assert kept == ["0", *"2345678"]


def test_the_newest_of_a_kind_are_kept(folder):
    for number in range(12):
        shared(f"{folder.parent.name}/{number:02}", usual)
        os.utime(folder.with_name(f"{number:02}"), (number, number))
    kept = sorted(place.name for place in folder.parent.glob("*/"))
    assert kept == [f"{number:02}" for number in range(4, 12)]


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def grow(file: Path) -> None:
    np.save(file, np.zeros(1_000_000, np.int64))


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("name", ["0.npy", "2.npy", "sha256"])
@pytest.mark.parametrize("damage", [flip, cut_off, empty, Path.unlink])
def test_damaged_files_are_made_again(folder, damage, name):
    shared(name_of(folder), usual)
    damage(folder / name)
    assert same(shared(name_of(folder), shorter), VALUES[:2])
    assert same(shared(name_of(folder), must_not), VALUES[:2])


@pytest.mark.parametrize("damage", [flip, cut_off, grow, empty])
def test_damaged_files_are_made_again_before_they_are_laid_over_anything(folder, damage):
    shared(name_of(folder), many, [room_for_many()])
    damage(folder / "0.npy")
    room = room_for_many()
    values, _ = shared(name_of(folder), many, [room])
    assert np.array_equal(values, MANY[0])
    assert np.array_equal(room[:5000], MANY[0])
    assert (room[6000:] == -1).all()


def test_a_file_whose_head_is_damaged_is_made_again(folder):
    """The same bytes as numbers of another type, or in another shape."""
    for name, before, after in (("0.npy", b"<u8", b"<i8"), ("2.npy", b"(3, 5)", b"(5, 3)")):
        shared(name_of(folder), usual)
        file = folder / name
        data = file.read_bytes()
        assert before in data
        file.write_bytes(data.replace(before, after))
        again = shared(name_of(folder), usual)
        assert same(again, VALUES)
        assert [array.dtype for array in again] == [array.dtype for array in VALUES]


def test_nothing_is_written_where_the_user_is(tmp_path, folder):
    """Also where nothing else has said where the cache is."""
    code = "from orderly_boggle.boardclass.shared_arrays import shared; "
    code += f"shared({name_of(folder)!r}, list)"
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_each_has_its_own(tmp_path):
    no_folder = tmp_path / "file"
    no_folder.touch()
    assert same(shared(f"{no_folder}/values", usual), VALUES)
    assert same(shared(f"{no_folder}/values", shorter), VALUES[:2])


def test_copies_of_the_same_are_one_and_what_one_made_wrong_stays_with_it(folder):
    kind = folder.parent.name
    wrong = [np.arange(1, 8, dtype=np.uint64), *VALUES[1:]]
    for made in (VALUES, wrong, VALUES, wrong):
        found = shared_copy(kind, made)
        assert same(found, made)
        assert not any(array.flags.writeable for array in found)
    assert len(list(folder.parent.glob("*/"))) == 2


def test_shared_words_are_those_of_the_trie():
    trie = build_trie({"tea": 1, "teas": 2, "eat": 1}, 12)
    found, words = shared_words(geometry("4x4", cell_order_of("4x4", "ring")), trie)
    assert same(found, trie)
    *arrays, n_whole = word_arrays(trie, 16)
    assert same(words[:-1], arrays)
    assert words.n_whole == n_whole == 3


def test_a_file_with_a_longer_head_is_copied(folder):
    """Another version of numpy may write one."""
    shared(name_of(folder), many)
    file = folder / "0.npy"
    data = file.read_bytes()
    end = data.index(b"\n")
    n_bytes = end - 9 + 64  # of the head behind its own length
    head = data[:8] + n_bytes.to_bytes(2, "little") + data[10:end] + b" " * 64
    file.write_bytes(head + data[end:])
    room = room_for_many()
    values, _ = shared(name_of(folder), must_not, [room])
    assert np.array_equal(values, MANY[0])
    assert (room[6000:] == -1).all()


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
        made = list(executor.map(ask, [name_of(folder)] * 6))
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
    assert not list(Path(config.CACHE_DIR).glob(f"paths/*{'.'.join(map(str, drawn))}*"))
