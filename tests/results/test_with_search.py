"""Store, coverage, rescoring and claim over units that the real breaker split: any budget, one digest."""

from __future__ import annotations

from functools import cache

import pytest

from boardclass.geometry import geometry
from boardclass.partition import parse_partition
from boardclass.scores import ScoreTable, n_letters
from results.claim import write_claim
from results.coverage import check_coverage
from results.fingerprint import Fingerprint
from results.rescore import rescore
from results.schema import Row
from results.store import Store
from search.breaker import Breaker, Spec, Unit
from search.node import Node, class_node, node_at, split
from search.params import Params
from search.scorer import Scorer

TEXT = "eat eats east seat seats tea teas tease set sets asset state states sea seas ate tat teat tats"
WORDS = tuple(TEXT.split())
POINTS = (0, 0, 0, 1, 1, 2, 3, 5, 11)
CUTOFF = 9
BUCKETS = "aest bcdfghijklmnopqruvwxyz"


class Nodes:
    """The search's own splits, for coverage."""

    def __init__(self, params: Params) -> None:
        self.partition = parse_partition(BUCKETS, "2x2")
        self.shape = geometry("2x2")
        self.params = params
        self.node = cache(self._node)

    def _node(self, class_id: int, path: str) -> Node:
        root = class_node(self.partition.class_masks(class_id).tolist(), self.shape, self.params)
        return node_at(root, path, self.shape, self.params)

    def n_boards(self, class_id: int, path: str) -> int:
        return self.node(class_id, path).n_boards

    def parts(self, class_id: int, path: str) -> list[str]:
        return [part.path for part in split(self.node(class_id, path), self.shape, self.params)]


def test_any_budget_gives_one_digest(tmp_path):
    cut = parse_partition(BUCKETS, "2x2")
    table = ScoreTable("toy", POINTS + (11,) * (65 - len(POINTS)))
    assert all(n_letters(word) < 65 for word in WORDS)
    print_of = Fingerprint("2x2", "0" * 64, table.points, CUTOFF, cut.text, geometry("2x2").cell_order)
    scorer = Scorer("2x2", WORDS, table)
    digests, n_splits = set(), []
    for name, unit_budget, node_budget in (("wide", 1 << 60, 1 << 40), ("narrow", 40, 4), ("none", 0, 0)):
        params = Params(unit_budget=unit_budget, node_budget=node_budget, memory_mb=64)
        breaker = Breaker(Spec("2x2", WORDS, table.points, CUTOFF, BUCKETS, params))
        with Store.open(tmp_path / name, print_of) as store:
            todo = [Unit(int(rank)) for ranks in cut.canonical_ranks() for rank in ranks]
            while todo:
                results = [breaker.break_unit(unit) for unit in todo]
                store.append(Row.of_result(result, print_of) for result in results)
                todo = [Unit(*key) for key in store.pending()]
            listed = rescore(store, scorer)
            coverage = check_coverage(cut, store, Nodes(params))
            assert coverage.complete, coverage.message()
            digests.add(write_claim(store, coverage, listed, wordlist="toy", n_words=len(WORDS)).result_digest)
            n_splits.append(len(store.splits()))
            assert listed.boards
    assert len(digests) == 1
    assert n_splits[0] == 0
    assert n_splits[2] > 0


@pytest.mark.parametrize("gone", [0, -1])
def test_a_child_lost_from_a_split_is_noticed(tmp_path, gone):
    cut = parse_partition(BUCKETS, "2x2")
    params = Params(unit_budget=0, node_budget=0, memory_mb=64)
    breaker = Breaker(Spec("2x2", WORDS, POINTS + (11,) * (65 - len(POINTS)), CUTOFF, BUCKETS, params))
    results = [breaker.break_unit(Unit(int(rank))) for ranks in cut.canonical_ranks() for rank in ranks]
    split_one = next(result for result in results if result.status == "split" and len(result.children) > 2)
    print_of = Fingerprint("2x2", "0" * 64, POINTS, CUTOFF, cut.text, geometry("2x2").cell_order)
    row = Row.of_result(split_one, print_of)
    kept = list(row.children)
    del kept[len(kept) // 2 if gone else -1]
    with Store.open(tmp_path, print_of) as store:
        store.append([Row(**{**vars(row), "children": tuple(kept)})])
        coverage = check_coverage(cut, store, Nodes(params))
    assert any("not all that was left" in problem for problem in coverage.problems)
