"""Speed of the stages of a run, each on a task of fixed size: ``make bench``; ``make test`` runs each once."""

from __future__ import annotations

from itertools import islice
from math import prod

import numpy as np
import pytest

from boardclass.partition import parse_partition
from boardclass.scores import parse_scores
from boardclass.wordlist import load_wordlist
from cluster.planning.plan import make_plan
from configs.model import load_config
from results.store.rows import Row
from results.store.run import open_run
from results.store.store import Store
from search.breaker import Breaker, Unit
from search.class_bounds import bounds, walk_class
from search.scoring.scorer import Scorer
from search.scoring.trie import CODE_SHIFT, N_CODES, build_trie

FOUR = "aeijou bcdfgmpqvwxz hklnrsty, corner: aeiosuy bcdfghjklmnpqrtvwxz"
STANDARD = parse_scores("standard")


@pytest.fixture(scope="module")
def words():
    return load_wordlist("scowl70").words


@pytest.fixture(scope="module")
def plan():
    return make_plan(load_config("3x3", {"cutoff": 430, "search": {"memory_mb": 256}}))


def test_enumerate_canonical_classes(benchmark):
    """All 8,503,056 classes of the published 4x4 partition."""
    partition = parse_partition(FOUR, "4x4")
    assert benchmark(lambda: sum(map(len, partition.canonical_ranks()))) == 1_068_363


def test_build_trie(benchmark, words):
    """The bundled word list, words of up to 16 letters."""
    points = [STANDARD.of(word) for word in words]
    trie = benchmark(build_trie, words, points, 16)
    short = [(word, of_word) for word, of_word in zip(words, points, strict=True) if len(word) <= 16]
    assert len(trie.nodes) == len({word[:i] for word, _ in short for i in range(len(word) + 1)})
    codes = trie.nodes >> CODE_SHIFT & N_CODES - 1
    assert trie.points[codes].sum() == sum(of_word for _, of_word in short)


def test_score_boards(benchmark, words):
    """10,000 random 4x4 boards."""
    boards = np.random.default_rng(1).integers(0, 26, (10_000, 16), np.uint8)
    found = benchmark(Scorer("4x4", words, STANDARD).scores, boards)
    assert (found[::50] == Scorer("4x4", words, STANDARD, portable=True).scores(boards[::50])).all()
    assert len(found) == len(boards)


def test_orderly_root_bound(benchmark, words):
    """One published 3x3 class: terms, deduplication, tree, bound."""
    letters = ["lnrsy", "aeiou", "chkmpt", "chkmpt", "aeiou", "lnrsy", "lnrsy", "aeiou", "bdfgjvwxz"]
    scorer = Scorer("3x3", words, STANDARD)
    assert benchmark(lambda: bounds(walk_class(letters, scorer).terms)[0]) == 1_075


@pytest.mark.parametrize("centre", ["q", "w"])
def test_break_class(benchmark, plan, centre):
    """A 3x3 class of the preset, rim free: generation, tree, OrderlyBound."""
    breaker = Breaker(plan.spec)
    unit = Unit(plan.partition.rank_of_board(f"aaaa{centre}aaaa"))
    assert benchmark(breaker.break_unit, unit).status == "eliminated"


def test_append_rows(benchmark, plan, tmp_path):
    """2,000 rows checked, written with checksums and synced: one flush of a run."""
    serial = iter(range(1_000))

    def append():
        with Store.open(tmp_path / str(next(serial)), plan.fingerprint) as store:
            store.append(Row(plan.fingerprint.digest, number, "", "eliminated", 1) for number in range(2_000))

    benchmark(append)
    assert [row.class_id for row in open_run(tmp_path / "0").rows()] == list(range(2_000))


def test_predict_costs(benchmark):
    """The first classes of the published 4x4 partition."""
    plan = make_plan(load_config("4x4", {"cutoff": 3000, "buckets": FOUR}))
    ids = np.concatenate(list(islice(plan.partition.canonical_ranks(), 4)))
    costs = benchmark(plan.predicted_costs, ids)
    weights = {letter: 1.0 + place for place, letter in enumerate(plan.spec.params.letter_order)}
    cells = plan.partition.class_letters(int(ids[-1]))
    assert costs[-1] == prod(max(weights[letter] for letter in cell) for cell in cells)
