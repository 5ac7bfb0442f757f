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
