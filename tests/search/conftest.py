"""Fixtures of the tests of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from orderly_boggle.search import node_search
from orderly_boggle.search.trees import arrays, tree
from tests.search.harness import of_width


@pytest.fixture(params=[tree.NARROW, tree.WIDE], ids=["narrow", "wide"])
def width(request: pytest.FixtureRequest) -> Iterator[np.dtype[Any]]:
    """Run a test with bounds of 2 and of 4 bytes."""
    with of_width(request.param):
        yield request.param


@pytest.fixture(
    params=[(tree.NARROW, tree.NARROW), (tree.NARROW, tree.WIDE), (tree.WIDE, tree.WIDE)],
    ids=["narrow", "narrow, sums wide", "wide"],
)
def widths(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a test with bounds of 2 and of 4 bytes, and letter sums at least as wide."""
    with of_width(*request.param):
        yield


@pytest.fixture
def terms_not_mb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``memory_mb`` be a number of terms."""
    monkeypatch.setattr(arrays, "BYTES_PER_TERM", 1 << 20)


@pytest.fixture
def always_pausing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches of small boards find out what their last levels give, as those of large boards
    do.
    """
    monkeypatch.setattr(node_search, "LEVELS_LEFT", 1)
