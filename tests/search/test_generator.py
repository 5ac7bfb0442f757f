"""The terms that layers ask for: all that a layer changes, those without its first free cell, and whether they fit."""

from __future__ import annotations

import numpy as np
import pytest

from boardclass.geometry import geometry
from search.keys import LITERAL_BITS
from search.params import Params
from search.trees.generator import Generator
from search.trees.lexicon import make_lexicon
from tests.search.test_forest import POINTS, WORDS

BOARD = geometry("3x3")
LETTERS = "esta"
ROOM = 1 << 20


def new_generator(**params: int) -> Generator:
    made = Generator(BOARD, Params(memory_mb=16, **params), make_lexicon(BOARD, WORDS, POINTS), ROOM)
    made.rim = BOARD.cell_order[:1]
    return made


def forced(n: int) -> tuple[tuple[int, int], ...]:
    return tuple((c, 1 << ord(x) - 97) for c, x in zip(BOARD.cell_order, LETTERS[:n], strict=False))


@pytest.mark.parametrize("n_bare", range(1, 5))
@pytest.mark.parametrize("n_new", [1, 2])
def test_the_terms_of_a_base_are_those_of_the_layer_that_do_not_use_the_first_free_cell(n_bare, n_new):
    some, bare = new_generator(), forced(n_bare)
    new = (1 << n_bare) - (1 << max(0, n_bare - n_new))
    every, base = np.zeros(ROOM, np.uint64), np.zeros(ROOM, np.uint64)
    n = some.of_layer(bare, new, every)
    first_key = np.uint64(1 << LITERAL_BITS * (BOARD.n - n_bare - 1))
    kept = every[:n][every[:n] >> np.uint64(some.code_bits) < first_key]
    assert 0 < len(kept) < n
    assert sorted(base[: some.of_base(bare, new, base)].tolist()) == sorted(kept.tolist())


def test_terms_seem_to_fit_where_a_sample_says_so():
    room = np.zeros(ROOM, np.uint64)
    n = new_generator().of_layer(forced(1), 1, room)
    assert new_generator().seems_to_fit(forced(1), 1, room)
    assert not new_generator().seems_to_fit(forced(1), 1, room[: n // 8])  # four of the words are the sample
    assert not new_generator().seems_to_fit(forced(1), 1, room[:1])
    assert not new_generator().seems_to_fit(forced(1), 1, room[:0])
    assert not new_generator(whole_terms=n // 8).seems_to_fit(forced(1), 1, room)
