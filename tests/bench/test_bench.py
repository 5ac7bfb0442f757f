"""Speed of the stages of a run, each on a task of fixed size: ``make bench``; ``make test`` runs each once.

What comes out is looked at in the tests of each stage.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from boardclass.scores import parse_scores
from boardclass.wordlist import load_wordlist
from cluster.planning.plan import make_plan
from configs.model import load_config
from results.store.rows import Row
from results.store.store import Store
from search.breaker import Breaker, Unit
from search.class_bounds import bounds, walk_class
from search.scoring.scorer import Scorer
from search.scoring.trie import build_trie

FOUR = "aeijou bcdfgmpqvwxz hklnrsty, corner: aeiosuy bcdfghjklmnpqrtvwxz"
STANDARD = parse_scores("standard")


@pytest.fixture(scope="module")
def words():
    return load_wordlist("scowl70").words


@pytest.fixture(scope="module")
def plan():
    return make_plan(load_config("3x3", {"cutoff": 430, "search": {"memory_mb": 256}}))


def test_build_trie(benchmark, words):
    """The bundled word list, words of up to 16 letters."""
    assert benchmark(build_trie, words, list(map(STANDARD.of, words)), 16)


def test_score_boards(benchmark, words):
    """10,000 random 4x4 boards."""
    boards = np.random.default_rng(1).integers(0, 26, (10_000, 16), np.uint8)
    assert len(benchmark(Scorer("4x4", words, STANDARD).scores, boards)) == len(boards)


def test_orderly_root_bound(benchmark, words):
    """One published 3x3 class: terms, deduplication, tree, bound."""
    letters = ["lnrsy", "aeiou", "chkmpt", "chkmpt", "aeiou", "lnrsy", "lnrsy", "aeiou", "bdfgjvwxz"]
    scorer = Scorer("3x3", words, STANDARD)
    assert benchmark(lambda: bounds(walk_class(letters, scorer).terms)[0]) == 1_075


@pytest.mark.parametrize("centre", ["q", "w"])
def test_break_class(benchmark, plan, centre):
    """A 3x3 class of the preset, rim free: generation, tree, OrderlyBound."""
    unit = Unit(plan.partition.rank_of_board(f"aaaa{centre}aaaa"))
    assert benchmark(Breaker(plan.spec).break_unit, unit).status == "eliminated"


def test_append_rows(benchmark, plan, tmp_path):
    """2,000 rows checked, written with checksums and synced: one flush of a run."""
    folders = (tmp_path / str(number) for number in range(1_000))

    def append():
        with Store.open(next(folders), plan.fingerprint) as store:
            store.append(Row(plan.fingerprint.digest, number, "", "eliminated", 1) for number in range(2_000))

    benchmark(append)


def test_enumerate_and_predict_costs(benchmark):
    """The first classes of the published 4x4 partition."""
    plan = make_plan(load_config("4x4", {"cutoff": 3000, "buckets": FOUR}))
    assert benchmark(lambda: sum(map(len, map(plan.predicted_costs, islice(plan.partition.canonical_ranks(), 4)))))
