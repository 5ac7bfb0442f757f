"""Replicas find the boards that the breaker finds, on another image and in another cell order."""

from __future__ import annotations

import random

import pytest

from boardclass.errors import IncompleteError, InputError
from boardclass.geometry import geometry
from results.proof.nodes import SearchNodes, paths_of
from search.breaker import Breaker, Unit, UnitResult, another_order, image
from search.node import class_node
from search.params import Params
from tests.search.test_breaker import WORLDS, broken, random_params


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("seed", range(3))
def test_replicas_agree_with_every_verdict(name, seed):
    of, rng = WORLDS[name], random.Random(f"{name} {seed}")
    cutoff = of.scores.cutoff_for(rng.choice([1, 30, 300]))
    params = random_params(rng, tiny=seed % 2 == 1 and name != "3x3")
    breaker = Breaker(of.spec(cutoff, params))
    nodes = SearchNodes(of.partition, params)
    results = broken(breaker, Unit(0))
    patient = Breaker(of.spec(cutoff, Params(**{**vars(params), "unit_budget": 10**9})))
    for result in rng.sample(results, min(5, len(results))):
        if paths_of(result):
            replica = patient.replicate(result.unit, paths_of(result), rng.getrandbits(32))
            assert nodes.difference(result, replica) == ""
            assert breaker.break_unit(result.unit).candidates == result.candidates
    again = patient.break_unit(results[0].unit)
    assert set(again.candidates) >= {found for result in results for found in result.candidates if not result.children}


@pytest.mark.parametrize("lie", ["lost", "added", "score", "size"])
def test_a_difference_is_named(lie):
    of = WORLDS["3x3"]
    cutoff = of.scores.cutoff_for(300)
    breaker = Breaker(of.spec(cutoff))
    nodes = SearchNodes(of.partition, breaker.spec.params)
    true = breaker.break_unit(Unit(0))
    found = list(true.candidates)
    assert found
    demanded = [board for board, _ in sorted(nodes._demanded([nodes._node(0, "")], true))]
    replaced = {"lost": [item for item in found if item[0] != demanded[0]],
                "added": [*found, ("aaaaaaaaa", cutoff)],
                "score": [(board, score + (board == demanded[0])) for board, score in found],
                "size": found}[lie]  # fmt: skip
    n_boards = true.n_boards + (lie == "size")
    wrong = UnitResult(true.unit, true.status, n_boards, 0, tuple(replaced), (), (), {}, 0.0)
    assert nodes.difference(true, breaker.replicate(Unit(0), ("",), 1)) == ""
    assert nodes.difference(true, wrong)


def test_images_and_orders_differ():
    of = WORLDS["3x3"]
    board = geometry("3x3")
    root = class_node(of.partition.class_masks(0).tolist(), board, Params())
    assert root.demands
    orders = {another_order(board, root.demands, random.Random(seed)) for seed in range(50)}
    assert len(orders) > 10
    for order in orders:
        assert sorted(order) == list(range(9))
        assert all(order.index(c) < order.index(d) for c, d in root.demands)
        assert [board.cell_types[cell] for cell in order] == [board.cell_types[cell] for cell in board.cell_order]
    turned = image(root, [2, 5, 8, 1, 4, 7, 0, 3, 6])
    assert turned.masks[0] == root.masks[2]
    assert {turned.n_boards} == {root.n_boards}


def test_what_no_replica_can_answer():
    of = WORLDS["2x3"]
    breaker = Breaker(of.spec(1, Params(memory_mb=16, unit_budget=0, node_budget=0, least_budget=0)))
    with pytest.raises(InputError):
        breaker.replicate(Unit(0), ("9=z",), 0)
    with pytest.raises(IncompleteError, match="10 times"):
        breaker.replicate(Unit(0), ("",), 0)
    assert breaker.geometry is geometry("2x3"), "and it goes on as before"
