"""Which cases of a test are run every day; ``make nightly`` runs the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def daily(every_day: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """Return the cases of a parametrized test: those of every day, and the others, which are marked
    nightly; what is among both runs every day.

    A case of several values is a tuple.
    """
    first = list(every_day)
    cases = list(first)
    for case in others:
        if case not in first:
            values = case if isinstance(case, tuple) else (case,)
            cases.append(pytest.param(*values, marks=pytest.mark.nightly))
    return cases
