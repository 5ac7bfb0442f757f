"""Path tables against paths walked cell by cell, and the two marks of a dominated path against
their definition.
"""

from __future__ import annotations

import itertools
import random
from itertools import pairwise

import numpy as np
import pytest

from orderly_boggle.boardclass.geometry import Geometry, geometry
from orderly_boggle.boardclass.jit import frozen
from orderly_boggle.search.terms.path_table import (
    MAX_EXTRA,
    PathTable,
    add_distinct,
    extra_cells,
    path_table,
)
from orderly_boggle.search.terms.paths import (
    ELSEWHERE,
    FREE,
    LONGEST_WIDE,
    MAX_BARE,
    cell_bits,
    enumerate_paths,
    level_shifts,
    longest_path,
    pairs_of,
    paths_of_length,
)
from tests.reference.classes import slow_neighbours
from tests.reference.solver import paths_of

Path = tuple[int, ...]


def slow_paths(w: int, h: int, length: int) -> list[Path]:
    """Return every simple directed path of ``length`` cells."""
    return paths_of("x" * (w * h), w, h, "x" * length)


def unpacked(packed: int, length: int, bits: int = 4) -> Path:
    return tuple(packed >> bits * t & (1 << bits) - 1 for t in range(length))


def random_mask(rng: random.Random, n: int, most: int) -> int:
    return sum(1 << c for c in rng.sample(range(n), rng.randint(0, most)))


PINNED = [
    ((3, 3), 10_305),
    ((3, 4), 193_924),
    ((4, 4), 12_029_640),
    ((4, 2), 2_904),
    ((5, 3), 3_244_045),
]


@pytest.mark.parametrize(("size", "n_paths"), PINNED)
def test_golden_counts(size, n_paths):
    """The published numbers count directed paths of one cell and more."""
    w, h = size
    masks = frozen(
        np.array([sum(1 << d for d in slow_neighbours(w, h, c)) for c in range(w * h)], np.int64)
    )
    none = np.empty(0, np.uint64)
    counts = [
        [enumerate_paths(masks, length, c, 4, none) for c in range(w * h)]
        for length in range(1, w * h + 1)
    ]
    assert sum(map(sum, counts)) == n_paths
    assert sum(counts[0]) == w * h


@pytest.mark.parametrize("dims", ["2x2", "2x3", "3x3"])
def test_paths_are_those_walked_cell_by_cell(dims):
    board = geometry(dims)
    for length in range(1, board.n + 1):
        found = [unpacked(packed, length) for packed in paths_of_length(board, length).tolist()]
        assert sorted(found) == sorted(slow_paths(*board.dims, length))
    assert not paths_of_length(board, board.n + 1).size


@pytest.mark.parametrize(("dims", "longest"), [("2x8", 4), ("2x9", 4), ("4x5", 3), ("5x5", 3)])
def test_paths_name_every_cell_of_boards_of_16_cells_and_more(dims, longest):
    board = geometry(dims)
    bits = cell_bits(board.n)
    assert board.n <= 1 << bits
    assert bits * longest_path(board.n) <= 64
    for length in range(1, longest + 1):
        numbers = paths_of_length(board, length).tolist()
        found = [unpacked(packed, length, bits) for packed in numbers]
        assert sorted(found) == sorted(slow_paths(*board.dims, length))


def test_the_longest_paths_of_a_wide_board_are_simple_and_all_there():
    """As many as the slow twin walks on 2x9, and on 4x5 as many as were counted elsewhere."""
    board = geometry("2x9")
    numbers = paths_of_length(board, LONGEST_WIDE).tolist()
    paths = {unpacked(packed, LONGEST_WIDE, 5) for packed in numbers}
    assert len(paths) == len(numbers)
    assert all(len(path) == LONGEST_WIDE and is_path(board, path) for path in paths)
    assert paths == set(slow_paths(2, 9, LONGEST_WIDE))


def groups_of(table: PathTable, length: int) -> dict[tuple[int, ...], int]:
    """Return the group of each pattern of one length, read from the pattern trie."""
    found: dict[tuple[int, ...], int] = {}

    def descend(node: int, pattern: tuple[int, ...]) -> None:
        for symbol, nxt in enumerate(table.child[node].tolist()):
            if nxt and len(pattern) + 1 == length:
                found[(*pattern, symbol)] = nxt - 1
            elif nxt:
                descend(nxt, (*pattern, symbol))

    if table.root[length]:
        descend(int(table.root[length]), ())
    return found


def paths_of_group(
    board: Geometry, bare: int, table: PathTable, pattern: tuple[int, ...], group: int
) -> dict[int, Path]:
    """Return the paths of a group by number, put together from its pattern and its shifts."""
    bare_cells = [c for c in board.cell_order if bare >> c & 1]
    shifts = level_shifts(board, bare).tolist()
    cell_of = {shifts[c]: c for c in range(board.n) if not bare >> c & 1}
    first = int(table.first[group])
    count = int(table.first[group + 1] - table.first[group])
    n_free = pattern.count(FREE)
    block = (
        table.shifts[table.block[group] : table.block[group + 1]].reshape(n_free, count).tolist()
    )
    paths = {}
    for p in range(count):
        column = iter([row[p] for row in block])
        paths[first + p] = tuple(
            cell_of[next(column)] if x == FREE else bare_cells[x - 1] for x in pattern
        )
    return paths


def is_path(board: Geometry, path: Path) -> bool:
    return len(set(path)) == len(path) and all(d in board.neighbours[c] for c, d in pairwise(path))


def moved(path: Path, t: int, cell: int) -> Path:
    return (*path[:t], cell, *path[t + 1 :])


def slow_absorb(board: Geometry, bare_cells: list[int], path: Path) -> int:
    """Return 8 bits per position: the unused bare and extra cells to which it alone could move.

    From a bare cell only those before it count.
    """
    bits = 0
    extra = extra_cells(board, sum(1 << c for c in bare_cells))
    for t, cell in enumerate(path):
        for b, other in enumerate([*bare_cells, *extra][:MAX_BARE]):
            earlier = cell not in bare_cells or b < bare_cells.index(cell)
            if earlier and other not in path and is_path(board, moved(path, t, other)):
                bits |= 1 << 8 * t + b
    return bits


def slow_swap(board: Geometry, path: Path) -> int:
    bits = 0
    for x, (i, j) in enumerate(pairs_of(len(path)).tolist()):
        if path[i] > path[j] and is_path(board, moved(moved(path, i, path[j]), j, path[i])):
            bits |= 1 << x
    return bits


def check_marks(
    board: Geometry, bare_cells: list[int], table: PathTable, paths: dict[int, Path]
) -> int:
    """Compare the marks of some paths, by number, with their definition; return how many may
    absorb.
    """
    n_absorbing = 0
    for p, path in paths.items():
        low, high = table.absorb_words[table.absorb[p]].tolist()
        assert high << 64 | low == slow_absorb(board, bare_cells, path)
        assert int(table.swap_words[table.swap[p], 0]) == slow_swap(board, path)
        n_absorbing += bool(high if len(path) > 8 else low)
    return n_absorbing


def ranges_of_group(table: PathTable, group: int) -> dict[int, tuple[int, ...]]:
    """Return the positions on the extra cells of each path of a group, as the ranges tell them."""
    found: dict[int, tuple[int, ...]] = {}

    def descend(begin: int, end: int, places: tuple[int, ...]) -> None:
        for e in range(begin, end):
            here = (*places, int(table.place[e]))
            if len(here) < table.n_extra:
                descend(int(table.sub[e]), int(table.sub[e + 1]), here)
            else:
                numbers = range(int(table.start[e]), int(table.start[e + 1]))
                assert numbers
                assert not found.keys() & set(numbers)
                found.update(dict.fromkeys(numbers, here))

    if table.n_extra:
        descend(int(table.parts[group]), int(table.parts[group + 1]), ())
    return found


@pytest.mark.parametrize("n_bare", range(6))
@pytest.mark.parametrize("dims", ["2x3", "3x3"])
def test_ranges_are_the_positions_on_the_extra_cells(dims, n_bare):
    board = geometry(dims)
    bare = sum(1 << c for c in board.cell_order[:n_bare])
    table = path_table(dims, bare, board.n)
    extra = extra_cells(board, bare)
    assert extra == board.cell_order[n_bare : n_bare + MAX_EXTRA]
    assert table.n_extra == len(extra)
    assert extra_cells(board, 1 << board.cell_order[1]) == (), (
        "only the first cells have extra ones"
    )
    for length in range(1, board.n + 1):
        for pattern, group in groups_of(table, length).items():
            paths = paths_of_group(board, bare, table, pattern, group)
            wanted = {}
            for p, path in paths.items():
                if extra:
                    wanted[p] = tuple(path.index(c) if c in path else ELSEWHERE for c in extra)
            assert ranges_of_group(table, group) == wanted


@pytest.mark.parametrize(("dims", "seed"), [*itertools.product(("2x2", "2x3", "3x3"), range(4))])
def test_tables_hold_every_path_once_with_its_marks(dims, seed):
    board = geometry(dims)
    rng = random.Random(f"{dims} {seed}")
    bare = random_mask(rng, board.n, board.n - 1)
    bare_cells = [c for c in board.cell_order if bare >> c & 1]
    longest = rng.choice([board.n, board.n + 3])
    table = path_table(dims, bare, longest)
    assert table.n_bare == len(bare_cells)
    n_paths = 0
    for length in range(1, board.n + 1):
        found: list[Path] = []
        for pattern, group in groups_of(table, length).items():
            paths = paths_of_group(board, bare, table, pattern, group)
            check_marks(board, bare_cells, table, paths)
            found += paths.values()
        assert sorted(found) == sorted(slow_paths(*board.dims, length))
        n_paths += len(found)
    assert n_paths == len(table.swap) == len(table.absorb) == table.first[-1]
    assert table.block[-1] == len(table.shifts)


@pytest.mark.parametrize(
    ("dims", "n_bare", "lengths"),
    [
        ("4x4", 4, [11]),
        ("3x4", 10, range(1, 6)),
        ("2x8", 4, [12]),
        ("2x9", 6, [10, 11]),
        ("4x5", 8, [4, 5, 6]),
        ("5x5", 13, [4]),
    ],
)
def test_marks_of_long_paths_and_of_many_bare_cells(dims, n_bare, lengths):
    """A sample.  Positions behind the eighth fill the second word, and 16 cells have more pairs
    than bits; absorption looks at the first eight bare cells only."""
    board, rng, n_absorbing = geometry(dims), random.Random(1), 0
    bare_cells = list(board.cell_order[:n_bare])
    bare = sum(1 << c for c in bare_cells)
    table = path_table(dims, bare, max(lengths))
    for length in lengths:
        groups = groups_of(table, length)
        for pattern in rng.sample(sorted(groups), min(60, len(groups))):
            paths = paths_of_group(board, bare, table, pattern, groups[pattern])
            some = rng.sample(sorted(paths), min(5, len(paths)))
            assert all(is_path(board, paths[p]) for p in some)
            n_absorbing += check_marks(board, bare_cells, table, {p: paths[p] for p in some})
    assert n_absorbing > 10


def test_tables_of_wide_boards_end_with_the_longest_paths():
    for dims, longest in (("2x8", 16), ("2x9", LONGEST_WIDE)):
        table = path_table(dims, 0b11, 99)
        lengths = [length for length, root in enumerate(table.root.tolist()) if root]
        assert lengths == list(range(1, longest + 1))


def test_pairs_are_the_nearest():
    for length in range(1, 17):
        pairs = [tuple(pair) for pair in pairs_of(length).tolist()]
        every = [(i, j) for j in range(length) for i in range(j)]
        assert len(pairs) == len(set(pairs)) == min(64, len(every))
        assert set(pairs) <= set(every)
        assert [j - i for i, j in pairs] == sorted(j - i for i, j in every)[: len(pairs)]


def test_shorter_tables_are_prefixes_and_short_boards_have_no_longer_paths():
    table = path_table("2x3", 1 << 2, 4)
    assert [bool(root) for root in table.root.tolist()] == [False, *[True] * 4, *[False] * 13]
    assert path_table("2x3", 1 << 2, 99).root.tolist() == path_table("2x3", 1 << 2, 6).root.tolist()


@pytest.mark.parametrize("width", [1, 2])
def test_distinct_rows_are_kept_once_and_found_again(width):
    rng = np.random.default_rng(width)
    values = rng.integers(0, 1 << 63, (9000, width), np.uint64)
    table = []
    rounds = [values[rng.integers(0, most, 5000)] for most in (1, 3, 4000, 9000)]
    places = [add_distinct(rows, table) for rows in rounds]
    for added, rows in zip(table, rounds, strict=True):
        assert len(added) == len(np.unique(rows, axis=0))
    for rows, found in zip(rounds, places, strict=True):
        assert (np.concatenate(table)[found] == rows).all()
