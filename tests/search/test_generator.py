"""The terms that layers ask for: all that a layer changes, those without its first free cell, those that the demands
leave, and whether they fit."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest

from boardclass.geometry import geometry
from boardclass.partition import letter_mask
from search.keys import LITERAL_BITS
from search.params import Params
from search.trees.generator import Generator, make_lexicon
from tests.samples import daily
from tests.search.harness import is_possible, letters_at
from tests.search.test_forest import POINTS, WORDS

BOARD = geometry("3x3")
LETTERS = "esta"
ROOM = 1 << 20


def new_generator(**params: int) -> Generator:
    made = Generator(BOARD, Params(memory_mb=16, **params), make_lexicon(BOARD, WORDS, POINTS), ROOM)
    made.rim = BOARD.cell_order[:1]
    return made


def forced_to(n: int) -> tuple[tuple[int, int], ...]:
    return tuple((c, 1 << ord(x) - 97) for c, x in zip(BOARD.cell_order, LETTERS[:n], strict=False))


@pytest.mark.parametrize("n_bare", range(1, 5))
@pytest.mark.parametrize("n_new", [1, 2])
def test_the_terms_of_a_base_are_those_of_the_layer_that_do_not_use_the_first_free_cell(n_bare, n_new):
    some, bare = new_generator(), forced_to(n_bare)
    new = (1 << n_bare) - (1 << max(0, n_bare - n_new))
    every, base = np.zeros(ROOM, np.uint64), np.zeros(ROOM, np.uint64)
    n = some.of_layer(bare, new, every)
    first_key = np.uint64(1 << LITERAL_BITS * (BOARD.n - n_bare - 1))
    kept = every[:n][every[:n] >> np.uint64(some.code_bits) < first_key]
    assert 0 < len(kept) < n
    assert sorted(base[: some.of_base(bare, new, base)].tolist()) == sorted(kept.tolist())


def test_terms_seem_to_fit_where_a_sample_says_so():
    room = np.zeros(ROOM, np.uint64)
    n = new_generator().of_layer(forced_to(1), 1, room)
    assert new_generator().seems_to_fit(forced_to(1), 1, room)
    assert not new_generator().seems_to_fit(forced_to(1), 1, room[: n // 8])  # four of the words are the sample
    assert not new_generator().seems_to_fit(forced_to(1), 1, room[:1])
    assert not new_generator().seems_to_fit(forced_to(1), 1, room[:0])
    assert not new_generator(whole_terms=n // 8).seems_to_fit(forced_to(1), 1, room)


def demands_of(seed: int) -> tuple[tuple[int, int], ...]:
    pairs = list(permutations(BOARD.cell_order[1:], 2))
    return tuple(random.Random(seed).sample(pairs, 8))


@pytest.mark.parametrize("seed", daily(range(6), lambda seed: seed < 3))
@pytest.mark.parametrize("n_bare", range(1, 5))
def test_terms_that_contradict_a_demand_are_left_out_of_a_layer(n_bare, seed):
    """Whether the demand is between two free cells, or one of them has got its letters."""
    rng = random.Random(seed)
    forced = {c: "".join(rng.sample(LETTERS, rng.randint(1, 2))) for c in BOARD.cell_order[:n_bare]}
    bare = tuple((c, letter_mask(x)) for c, x in forced.items())
    plain, some = new_generator(), new_generator()
    some.demands = demands_of(seed)
    every, left, base, alone = (np.zeros(ROOM, np.uint64) for _ in range(4))
    new = (1 << n_bare) - (1 << (n_bare - 1))

    def possible(terms: np.ndarray) -> list[int]:
        at = {int(x): letters_at(int(x) >> some.code_bits, BOARD.n - 1, BOARD) for x in terms}
        return sorted(x for x in terms.tolist() if is_possible(at[x], forced, some.demands))

    everything = every[: plain.of_layer(bare, new, every)]
    wanted = possible(everything)
    assert sorted(left[: some.of_layer(bare, new, left)].tolist()) == wanted
    assert len(wanted) < len(everything)
    first_key = 1 << LITERAL_BITS * (BOARD.n - n_bare - 1)
    kept = [term for term in wanted if term >> some.code_bits < first_key]
    assert sorted(base[: some.of_base(bare, new, base)].tolist()) == kept
    is_loss = 1 << some.code_bits - 1
    losses = [term for term in wanted if term & is_loss]
    assert sorted(left[: some.of_layer(bare, new, left, only_losses=True)].tolist()) == losses
    assert losses
    whole = every[: plain.of_bare(bare, every)]
    assert sorted(alone[: some.of_bare(bare, alone)].tolist()) == possible(whole) != sorted(whole.tolist())


def test_nothing_is_demanded_of_the_rim():
    """All classes share it, and each has demands of its own."""
    rim = tuple((c, 0) for c in BOARD.cell_order[:1])
    plain, some = new_generator(), new_generator()
    some.demands = demands_of(0)
    every, found = np.zeros(ROOM, np.uint64), np.zeros(ROOM, np.uint64)
    n = plain.of_bare(rim, every)
    assert n > 0
    assert sorted(found[: some.of_bare(rim, found)].tolist()) == sorted(every[:n].tolist())
