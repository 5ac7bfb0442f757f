"""Slow twins of boardclass: geometry drawn on a grid, canonical forms and counts by brute force.

Plain Python, no numpy, nothing from the package except that the column-major convention is the
same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

Grid = list[list[Any]]  # grid[y][x], rows from top to bottom


def to_grid(values: Sequence[Any], w: int, h: int) -> Grid:
    """Write one value per cell, down the columns, into rows."""
    grid: Grid = [[None] * w for _ in range(h)]
    cells = iter(values)
    for x in range(w):
        for y in range(h):
            grid[y][x] = next(cells)
    return grid


def from_grid(grid: Grid) -> tuple[Any, ...]:
    """Read a grid down the columns."""
    return tuple(row[x] for x in range(len(grid[0])) for row in grid)


def turned(grid: Grid) -> Grid:
    """Rotate a grid by a quarter turn, clockwise."""
    return [list(row) for row in zip(*grid[::-1], strict=True)]


def mirrored(grid: Grid) -> Grid:
    """Flip a grid left to right."""
    return [row[::-1] for row in grid]


def slow_images(values: Sequence[Any], w: int, h: int) -> list[tuple[Any, ...]]:
    """Return the image under each rotation and reflection that keeps the shape, with
    repetitions.
    """
    found = []
    grid = to_grid(values, w, h)
    for _ in range(4):
        for image in (grid, mirrored(grid)):
            if len(image[0]) == w:
                found.append(from_grid(image))
        grid = turned(grid)
    return found


def all_images(found: Iterable[tuple[str, int]], w: int, h: int) -> set[tuple[str, int]]:
    """Return boards with their scores, and all their images with the same ones."""
    images = set()
    for board, score in found:
        images |= {("".join(image), score) for image in slow_images(board, w, h)}
    return images


def slow_canonical(values: Sequence[Any], w: int, h: int) -> tuple[Any, ...]:
    """Return the lexicographically smallest image."""
    return sorted(slow_images(values, w, h))[0]


@cache
def slow_neighbours(w: int, h: int, cell: int) -> set[int]:
    """Return the cells a king's move away from a cell."""
    x, y = cell // h, cell % h
    found = set()
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            if (dx or dy) and 0 <= x + dx < w and 0 <= y + dy < h:
                found.add((x + dx) * h + y + dy)
    return found


def slow_cell_type(w: int, h: int, cell: int) -> str:
    """Tell the cell type from the number of neighbours a cell lacks."""
    x, y = cell // h, cell % h
    sides = [x == 0, x == w - 1, y == 0, y == h - 1]
    return {0: "center", 1: "edge", 2: "corner"}[sum(sides)]


def all_digits(radix: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield every class as bucket numbers, in the order of ranks: cell 0 runs fastest."""
    for reversed_digits in itertools.product(*(range(k) for k in reversed(radix))):
        yield tuple(reversed(reversed_digits))


def slow_canonical_ranks(radix: Sequence[int], w: int, h: int) -> list[int]:
    """Return the ranks of the classes that are their own smallest image."""
    return [
        rank
        for rank, digits in enumerate(all_digits(radix))
        if slow_canonical(digits, w, h) == digits
    ]


def slow_orbits(radix: Sequence[int], w: int, h: int) -> dict[tuple[int, ...], int]:
    """Return each canonical class with the number of classes that have it as their canonical
    image.
    """
    sizes: dict[tuple[int, ...], int] = {}
    for digits in all_digits(radix):
        smallest = slow_canonical(digits, w, h)
        sizes[smallest] = sizes.get(smallest, 0) + 1
    return sizes


def slow_burnside(radix: Sequence[int], w: int, h: int) -> int:
    """Count orbits as the mean number of classes that a symmetry leaves alone, counting those one
    by one.
    """
    n_symmetries = len(slow_images(range(w * h), w, h))
    n_fixed = sum(
        image == digits for digits in all_digits(radix) for image in slow_images(digits, w, h)
    )
    assert n_fixed % n_symmetries == 0
    return n_fixed // n_symmetries


def slow_normalise(lines: Sequence[str]) -> list[str]:
    """Return the playable words of a clean list, ``qu`` written ``q``."""
    words = set()
    for line in lines:
        word = line.strip()
        others_only = word.replace("qu", "")
        if (
            len(word) >= 3
            and "q" not in others_only
            and all("a" <= letter <= "z" for letter in word)
        ):
            words.add(word.replace("qu", "q"))
    return sorted(words)
