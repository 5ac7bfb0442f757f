"""The two modes of numba that ``make nightly`` runs the kernels' tests in do what they are there for.

An explicit signature must not keep a kernel from being checked, or from being plain Python.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

CODE = """
import numpy as np
from numba import types
from boardclass.jit import kernel, read_only

@kernel(types.int64(read_only(types.int64), types.int64))
def at(values, index):
    return values[index]

try:
    at(np.zeros(3, np.int64), 3)
    print("read beyond the end")
except IndexError:
    print("compiled," if hasattr(at, "signatures") else "plain,", "noticed")
"""


@pytest.mark.parametrize(
    ("setting", "told"), [("NUMBA_BOUNDSCHECK", "compiled, noticed"), ("NUMBA_DISABLE_JIT", "plain, noticed")]
)
def test_an_index_beyond_the_end_is_noticed(setting, told, tmp_path):
    environment = {**os.environ, setting: "1", "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    path = tmp_path / "beyond.py"  # numba caches functions of files only
    path.write_text(CODE)
    done = subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == told, done.stderr
