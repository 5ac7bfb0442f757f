"""Boards on which long words lie, found by the breaker: all of them, and no others.

The words of a list run through as many cells as the board has, or all but one, so there are few
such boards, and each of them is drawn from a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import pytest

from boardclass.geometry import geometry
from search.breaker import Breaker, Spec, Unit
from search.params import Params
from search.terms.paths import paths_of_length
from tests.reference.classes import all_images
from tests.reference.solver import score
from tests.reference.truth_table import Boards, scores
from tests.search.test_breaker import EVERY, NO_BUDGETS, broken
from tests.search.test_paths import unpacked

ALONG = "abcdefghijklmnop"
SMALL = Params(memory_mb=64)
PARAMS = {"whole": SMALL, "forced": Params(memory_mb=64, **NO_BUDGETS | {"node_budget": 300})}


def found(spec: Spec, class_id: int = 0) -> set[tuple[str, int]]:
    results = broken(Breaker(spec), Unit(class_id))
    boards = {board for result in results for board in result.candidates}
    return all_images(boards, *geometry(spec.dims).dims)


def lists_of(n: int) -> dict[str, list[str]]:
    """Return lists of one to three words, by name: the boards of each of them hold all of its
    words.

    A letter that comes twice in a row in a word of all cells makes two ways for the word that has
    it once.
    """
    word = ALONG[:n]
    twice = {t: word[:t] + word[t - 1] + word[t : n - 1] for t in (2, n - 2, n - 1)}
    once = word[: n - 1]
    return {
        "all cells": [word],
        **{f"twice at {t}": [each, once] for t, each in twice.items()},
        "three": [twice[n - 1], once, once[:-1]],
    }
