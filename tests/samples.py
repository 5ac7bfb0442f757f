"""Which cases of a test are run every day; ``make nightly`` runs the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def daily(cases: Iterable[Any], wanted: Callable[..., bool]) -> list[Any]:
    """Return the cases of a parametrized test, marked nightly but for those that are ``wanted``
    every day.

    A case of several values is a tuple; ``wanted`` is called with them.
    """
    found = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        found.append(case if wanted(*values) else pytest.param(*values, marks=pytest.mark.nightly))
    return found
