"""The theorem of docs/algorithm.md by a solver of linear programs: all classes of 2x2 over three
letters.

    python -m tests.soundness.linear_programs [--seed N] [--lists N] [--python PYTHON]

For each list of words drawn at random, and each class, HiGHS gets the files that ``orderly export``
writes.  The program without letters must have the value of the orderly bound; the one with letters,
as integers, the best multi-score of all boards of the class; and its linear relaxation lies between
the two.  PYTHON has highspy; without it an environment is made for it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.search import Scorer
from orderly_boggle.search.class_bounds import boards_reaching, orderly_bounds, walk_class
from orderly_boggle.search.models import linear_program, lp_lines
from tests.field import pages
from tests.field.ask import __file__ as ask

PACKAGE = "highspy==1.16.0"
LETTERS = "abc"
WORDS = 8  # of a list
_EXACT = 1e-6  # the values are integers


class Values(NamedTuple):
    """What a class should have, and its files."""

    orderly: int
    multi: int
    files: tuple[str, str]  # without letters, with them


def groups() -> list[str]:
    """Return all sets of letters that a cell may have."""
    sets = []
    for size in range(1, len(LETTERS) + 1):
        sets += map("".join, itertools.combinations(LETTERS, size))
    return sets


def small_lists(seed: int, n: int) -> Iterator[list[str]]:
    """Yield ``n`` lists of some words of three and four letters, drawn at random."""
    rng = np.random.default_rng(seed)
    every = []
    for length in (3, 4):
        every += map("".join, itertools.product(LETTERS, repeat=length))
    for _ in range(n):
        yield sorted(rng.choice(every, WORDS, replace=False).tolist())


def write_classes(words: list[str], name: str, folder: Path) -> list[Values]:
    """Write both programs of every class; return what they should say."""
    scorer, expected = Scorer("2x2", words, parse_scores("powers")), []
    for number, letters in enumerate(itertools.product(groups(), repeat=4)):
        terms = walk_class(letters, scorer).terms
        bound = int(orderly_bounds(terms)[0])
        if not bound:
            continue
        boards = boards_reaching(terms, letters, 1)
        files = []
        for kind, given in (("r", None), ("x", letters)):
            path = folder / f"{name}-{number:04}-{kind}.lp"
            path.write_text("\n".join(lp_lines(linear_program(terms, given), path.name)) + "\n")
            files.append(path.name)
        best = max(score for _, score in boards)
        expected.append(Values(bound, best, (files[0], files[1])))
    return expected


def values_of(python: Path, folder: Path) -> dict[str, tuple[float, float]]:
    """Return for each file the value of its linear relaxation, and that in integers."""
    command = [python, ask, "highs_many", str(folder), "100000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {
        name: (pair[0], pair[1])
        for name, pair in json.loads(done.stdout.splitlines()[-1])["values"].items()
    }


def compare(expected: list[Values], found: dict[str, tuple[float, float]]) -> list[str]:
    """Return a sentence for each class whose values are not those of the theorem."""
    wrong = []
    for values in expected:
        without, given = (found[name] for name in values.files)
        if abs(without[0] - values.orderly) > _EXACT:
            wrong.append(f"{values.files[0]}: {without[0]}, the orderly bound is {values.orderly}")
        if abs(given[1] - values.multi) > _EXACT:
            wrong.append(f"{values.files[1]}: {given[1]}, the best multi-score is {values.multi}")
        if not values.multi - _EXACT < given[0] < values.orderly + _EXACT:
            wrong.append(f"{values.files[1]}: relaxed {given[0]} is not between {values}")
    return wrong


def main() -> None:
    """Compare all classes; exit code 1 if one has another value."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lists", type=int, default=3)
    parser.add_argument("--python", type=Path, help="of an environment with highspy")
    given = parser.parse_args()
    wrong, n, gaps = [], 0, []
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        python = given.python or pages.environment(folder / "env", [PACKAGE])
        for number, words in enumerate(small_lists(given.seed, given.lists)):
            models = folder / str(number)
            models.mkdir()
            expected = write_classes(words, str(number), models)
            found = values_of(python, models)
            wrong += compare(expected, found)
            n += len(expected)
            for values in expected:
                linked = found[values.files[1]][0]
                gaps.append((values.orderly > values.multi, values.orderly - linked > _EXACT))
    above = sum(gap for gap, _ in gaps)
    gained = sum(linked for _, linked in gaps)
    lines = [
        *wrong,
        f"in all: {n:,} classes with points, {len(wrong)} values are not those of the theorem; "
        f"the bound is above the best multi-score in {above:,}, and letters lower the value of "
        f"{gained:,}",
    ]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    raise SystemExit(bool(wrong or not n))


if __name__ == "__main__":
    main()
