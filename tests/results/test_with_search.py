"""Store, coverage, rescoring and claim over units that the real breaker split: any budget, one digest."""

from __future__ import annotations

from boardclass.geometry import geometry
from boardclass.partition import parse_partition
from boardclass.scores import ScoreTable, n_letters
from results.proof.claim import digest_of, rescore
from results.proof.coverage import check_coverage
from results.proof.nodes import SearchNodes
from results.store.documents import Fingerprint
from results.store.rows import Row
from results.store.store import Store
from search.breaker import Breaker, Spec, Unit
from search.params import Params
from search.scoring.scorer import Scorer

TEXT = "eat eats east seat seats tea teas tease set sets asset state states sea seas ate tat teat tats"
WORDS = tuple(TEXT.split())
POINTS = (0, 0, 0, 1, 1, 2, 3, 5, 11)
CUTOFF = 9
BUCKETS = "aest bcdfghijklmnopqruvwxyz"


def test_any_budget_gives_one_digest(tmp_path):
    cut = parse_partition(BUCKETS, "2x2")
    table = ScoreTable("toy", POINTS + (11,) * (65 - len(POINTS)))
    assert all(n_letters(word) < 65 for word in WORDS)
    print_of = Fingerprint("2x2", "0" * 64, table.points, CUTOFF, cut.text, geometry("2x2").cell_order)
    scorer = Scorer("2x2", WORDS, table)
    digests, n_splits, n_settled = set(), [], 0
    for name, unit_budget, node_budget in (("wide", 1 << 60, 1 << 40), ("narrow", 40, 4), ("none", 0, 0)):
        params = Params(unit_budget=unit_budget, node_budget=node_budget, memory_mb=64)
        breaker = Breaker(Spec("2x2", WORDS, table.points, CUTOFF, BUCKETS, params))
        with Store.open(tmp_path / name, print_of) as store:
            todo = [Unit(int(rank)) for ranks in cut.canonical_ranks() for rank in ranks]
            while todo:
                results = [breaker.break_unit(unit) for unit in todo]
                store.append(Row.of_result(result, print_of) for result in results)
                todo = [Unit(*key) for key in store.index.pending()]
            listed = rescore(store.snapshot(), scorer)
            coverage = check_coverage(store.snapshot(), SearchNodes(cut, params))
            assert coverage.complete, coverage.message()
            digests.add(digest_of(print_of, listed, complete=True))
            n_splits.append(len(store.index.splits))
            n_settled += sum(len(row.settled) for row in store.rows())
            assert listed.boards
    assert len(digests) == 1
    assert n_splits[0] == 0
    assert n_splits[2] > 0
    assert n_settled > 0
