"""The terms that layers ask for: all that a layer changes, those without its first free cell, those that the demands
leave, and whether they fit."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from boardclass.geometry import geometry
from boardclass.partition import letter_mask
from search.params import Params
from search.trees.generator import Generator, make_lexicon
from tests.samples import daily
from tests.search.harness import is_possible, letters_at
from tests.search.test_forest import POINTS, WORDS

BOARD = geometry("3x3")
LETTERS = "esta"
ROOM = 1 << 20
Demands = tuple[tuple[int, int], ...]


def new_generator(demands: Demands = ()) -> Generator:
    made = Generator(BOARD, Params(memory_mb=16), make_lexicon(BOARD, WORDS, POINTS), ROOM)
    made.rim = BOARD.cell_order[:1]
    made.demands = demands
    return made


def written(write: Callable[..., int], bare: Demands, *others: int) -> list[int]:
    """Return the terms that a method writes, sorted."""
    room = np.zeros(ROOM, np.uint64)
    return sorted(room[: write(bare, room, *others)].tolist())


def forced_to(n: int) -> tuple[tuple[int, int], ...]:
    return tuple((c, 1 << ord(x) - 97) for c, x in zip(BOARD.cell_order, LETTERS[:n], strict=False))


@pytest.mark.parametrize("n_bare", range(1, 5))
@pytest.mark.parametrize("n_new", [1, 2])
def test_the_terms_of_a_base_are_those_of_the_layer_that_do_not_use_the_first_free_cell(n_bare, n_new):
    some, bare = new_generator(), forced_to(n_bare)
    new = (1 << n_bare) - (1 << max(0, n_bare - n_new))
    every = written(some.of_open, bare, new)
    kept = [term for term in every if term >> some.code_bits < 1 << 5 * (BOARD.n - n_bare - 1)]
    assert 0 < len(kept) < len(every)
    assert written(some.of_base, bare, new) == kept


def test_terms_seem_to_fit_where_a_sample_says_so():
    room, some = np.zeros(ROOM, np.uint64), new_generator()
    n = some.of_open(forced_to(1), room, 1)
    assert some.seems_to_fit(forced_to(1), room, 1)
    for size in (n // 8, 1, 0):  # four of the words are the sample
        assert not some.seems_to_fit(forced_to(1), room[:size], 1)


def demands_of(seed: int) -> Demands:
    return tuple(random.Random(seed).sample(list(permutations(BOARD.cell_order[1:], 2)), 8))


@pytest.mark.parametrize("seed", daily(range(6), lambda seed: seed < 3))
@pytest.mark.parametrize("n_bare", range(1, 5))
def test_terms_that_contradict_a_demand_are_left_out_of_a_layer(n_bare, seed):
    """Whether the demand is between two free cells, or one of them has got its letters."""
    rng = random.Random(seed)
    forced = {c: "".join(rng.sample(LETTERS, rng.randint(1, 2))) for c in BOARD.cell_order[:n_bare]}
    bare = tuple((c, letter_mask(x)) for c, x in forced.items())
    plain, some = new_generator(), new_generator(demands_of(seed))
    new = (1 << n_bare) - (1 << (n_bare - 1))

    def possible(terms: list[int]) -> list[int]:
        at = {x: letters_at(x >> some.code_bits, BOARD.n - 1, BOARD) for x in terms}
        return [x for x in terms if is_possible(at[x], forced, some.demands)]

    everything = written(plain.of_open, bare, new)
    wanted = possible(everything)
    assert written(some.of_open, bare, new) == wanted != everything
    first_key = 1 << 5 * (BOARD.n - n_bare - 1)
    assert written(some.of_base, bare, new) == [term for term in wanted if term >> some.code_bits < first_key]
    losses = [term for term in wanted if term >> some.code_bits - 1 & 1]
    assert written(some.of_open, bare, new, True) == losses != []
    whole = written(plain.of_open, bare)
    assert written(some.of_open, bare) == possible(whole) != whole


def test_nothing_is_demanded_of_the_rim():
    """All classes share it, and each has demands of its own."""
    rim = tuple((c, 0) for c in BOARD.cell_order[:1])
    assert written(new_generator(demands_of(0)).of_open, rim) == written(new_generator().of_open, rim) != []
