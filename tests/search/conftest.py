"""Fixtures of the tests of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from search.trees import tree
from tests.search import harness


@pytest.fixture(params=[tree.NARROW, tree.WIDE], ids=["narrow", "wide"])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> np.dtype[Any]:
    """Run a test with bounds of 2 and of 4 bytes."""
    monkeypatch.setattr(harness, "width", request.param)
    return request.param


@pytest.fixture(
    params=[(tree.NARROW, tree.NARROW), (tree.NARROW, tree.WIDE), (tree.WIDE, tree.WIDE)],
    ids=["narrow", "narrow, sums wide", "wide"],
)
def widths(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with bounds of 2 and of 4 bytes, and letter sums at least as wide."""
    monkeypatch.setattr(harness, "width", request.param[0])
    monkeypatch.setattr(harness, "sum_width", request.param[1])
