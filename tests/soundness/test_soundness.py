"""What ``make nightly`` does at full size, small enough for every day, and Numba's two modes that
it runs tests in.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from numba import njit, types

from orderly_boggle.boardclass import numba_inside
from orderly_boggle.boardclass.jit import kernel, read_only
from tests.conftest import ROOT
from tests.params import Params
from tests.samples import daily
from tests.search.test_breaker import check_class, random_params, world
from tests.soundness import enumerations
from tests.soundness.planted import (
    KINDS,
    OTHER_SCORES,
    WIDE,
    planted,
    planted_in_question,
)

CODE = """
import numpy as np
from numba import types
from orderly_boggle.boardclass.jit import kernel, read_only

@kernel(types.int64(read_only(types.int64), types.int64))
def at(values, index):
    return values[index]

for index in (-1, 3):
    try:
        at(np.zeros(3, np.int64), index)
        print("read outside", end=" ")
    except IndexError:
        print("compiled," if hasattr(at, "signatures") else "plain,", "noticed", end=" ")
"""


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("NUMBA_BOUNDSCHECK", "compiled, noticed compiled, noticed"),
        ("NUMBA_DISABLE_JIT", "read outside plain, noticed"),  # plain Python counts -1 from the end
    ],
)
def test_an_index_outside_of_an_array_is_noticed(setting, told, tmp_path):
    environment = {
        **os.environ,
        setting: "1",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    path = tmp_path / "beyond.py"  # numba caches functions of files only
    path.write_text(CODE)
    done = subprocess.run(
        [sys.executable, path], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == told, done.stderr


def test_all_modules_with_kernels_are_plain_python_where_numba_is_off(tmp_path):
    """The nightly stage ``no-jit`` runs tests that way."""
    folders = [ROOT / name for name in ("boardclass", "search")]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    names = [
        ".".join(("orderly_boggle", *path.relative_to(ROOT).with_suffix("").parts))
        for path in paths
        if "@kernel" in path.read_text()
    ]
    off = {"NUMBA_DISABLE_JIT": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", f"import {', '.join(names)}"],
        env=os.environ | off,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (len(names) > 10, done.returncode, done.stderr) == (True, 0, "")


def test_kernels_take_an_index_as_it_is_and_other_code_counts_from_the_end():
    """numba has no setting for it, so a new numba may need another way; elsewhere it must be what
    it was.
    """
    signature = types.int64(read_only(types.int64), types.int64)
    with_kernel, with_njit = kernel(signature)(_at), njit(signature)(_at)
    assert with_njit(np.arange(4), -1) == 3
    middle = np.arange(8)[4:]
    assert with_kernel(middle, -1) == 3  # what lies before the array


def _at(values, index):
    return values[index]


UNKNOWN = """
import sys
import numba
import numpy as np
from numba import types
from numba.core.caching import CacheImpl
from numba.np import arrayobj

numba.version_info = numba.version_info._replace(short=(0, 999))
before = arrayobj.fix_integer_index, *CacheImpl._locator_classes
from orderly_boggle.boardclass.jit import kernel, read_only
from orderly_boggle.search.keys import first_place

@kernel(types.int64(read_only(types.int64), types.int64), _nrt=False)
def at(values, index):
    return values[index]

print(at(np.arange(8)[4:], -1), (arrayobj.fix_integer_index, *CacheImpl._locator_classes) == before)
print(first_place(np.int64(1 << 37)))
"""


def test_an_unknown_numba_is_used_as_it_is(tmp_path):
    """Kernels are slower then, and give the same: only indices below 0 are another matter."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    path = tmp_path / "unknown.py"
    path.write_text(UNKNOWN)
    for _ in range(2):  # compiled, and found again
        done = subprocess.run(
            [sys.executable, path], env=environment, capture_output=True, text=True, check=False
        )
        assert done.stdout.split() == ["7", "True", "7"], done.stderr


def test_the_versions_of_numba_that_may_be_installed_are_those_that_are_known():
    assert numba_inside.IS_KNOWN
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (pinned,) = (each for each in metadata["dependencies"] if each.startswith("numba>"))
    first, last = numba_inside.FIRST, numba_inside.LAST
    assert pinned == f"numba>={first[0]}.{first[1]},<{last[0]}.{last[1] + 1}"


WORLDS = {letters: world("2x3", letters, 60, letters) for letters in ("aeqst", "aeirst", "aest")}


def starved(rng: random.Random) -> Params:
    """Return budgets that rule out some letters of a cell for all fused letters, and then are
    spent.
    """
    return replace(
        random_params(rng),
        fused=rng.choice([("edge",), ("edge",), ("corner",)]),
        node_budget=rng.choice([1, 3, 10, 30]),
        least_budget=rng.choice([0, 1, 3]),
        fused_budget=rng.choice([10, 100, 1000]),
        fused_per_term=rng.choice([0, 2]),
        fused_misses=rng.choice([1, 2, 26]),
        unit_budget=rng.choice([30, 300, 1 << 40, 1 << 40]),
        memory_mb=16,
        whole_terms=10**6,
        product_limit=rng.choice([0, 20, 20_000]),
    )


@pytest.mark.parametrize("letters", WORLDS)
@pytest.mark.parametrize("seed", range(20))
def test_small_budgets_lose_no_board(letters, seed):
    of, rng = WORLDS[letters], random.Random(f"{letters} {seed}")
    check_class(of, of.scores.cutoff_for(rng.choice([30, 300])), of.best_rank(), starved(rng))


def test_planted_winners_are_returned():
    kinds = [kind for kind in KINDS if kind.dims == "3x3"][1:]
    found = [each for kind in kinds for each in planted(2, "scowl70", seed=1, kinds=[kind])]
    assert [fault for _, fault in found if fault] == []
    assert len(found) == 6


@pytest.mark.parametrize("kind", WIDE)
def test_planted_winners_of_boards_that_no_key_holds_are_returned(kind):
    """Whole classes of 3x6 and 4x5: 14 rim cells, two more than a key has room for."""
    assert [fault for _, fault in planted(2, "scowl70", seed=1, kinds=[kind])] == ["", ""]


OF_3X4 = [number for number, kind in enumerate(OTHER_SCORES) if kind.dims == "3x4"]


@pytest.mark.parametrize("number", daily(OF_3X4, range(len(OTHER_SCORES))))
def test_planted_winners_of_other_score_tables_are_returned(number):
    kind = OTHER_SCORES[number]
    assert [fault for _, fault in planted(5, "scowl70", seed=1, kinds=[kind]) if fault] == []


def test_planted_winners_of_a_question_are_returned():
    found = planted_in_question(3, "2x2", seed=1)
    assert list(found) == 3 * [("2x2", "")]


def test_no_bound_of_a_2x2_class_is_below_a_score():
    checks = list(next(enumerations.run(small=True, wordlist="scowl70", seed=1))[1])
    assert len(checks) > 200
    assert all(holds for _, _, holds in checks)
