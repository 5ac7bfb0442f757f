"""The parts that the coverage check expects are those that the breaker makes."""

from __future__ import annotations

import pytest

from boardclass.errors import InputError
from boardclass.partition import parse_partition
from boardclass.scores import parse_scores
from results.proof.coverage import uncovered
from results.proof.nodes import SearchNodes
from search.breaker import Breaker, Spec, Unit
from search.params import Params

BUCKETS = "center: abcdefghijklm nopqrstuvwxyz, edge: aeiou bcdfghjklmnpqrstvwxyz, corner: abcdefghijklmnopqrstuvwxyz"
WORDS = ("ate", "east", "eat", "eta", "sat", "sea", "seat", "tea", "teas")


@pytest.fixture(scope="module")
def partition():
    return parse_partition(BUCKETS, "3x3")


@pytest.mark.parametrize("fused", [("center",), ()])
def test_parts_and_sizes_are_those_of_the_breaker(partition, fused):
    params = Params(fused=fused, unit_budget=0, node_budget=0, memory_mb=16)
    breaker = Breaker(Spec("3x3", WORDS, parse_scores("words").points, 9, partition.text, params))
    nodes = SearchNodes(partition, params)
    last = int(next(partition.canonical_ranks())[-1])
    todo, n_splits = [Unit(0), Unit(last)], 0
    while todo:
        unit = todo.pop()
        result = breaker.break_unit(unit)
        assert result.n_boards == nodes.n_boards(unit.class_id, unit.path)
        if result.status == "split":
            children = [child.path for child in result.children]
            named = [*children, *result.settled]
            assert uncovered(nodes, (unit.class_id, unit.path), named) is None
            assert all(
                uncovered(nodes, (unit.class_id, unit.path), [x for x in named if x != lost]) for lost in named[:9]
            )
            todo += result.children[-2:] if unit.path.count("/") < 4 else ()
            n_splits += 1
    assert n_splits > 3


@pytest.mark.parametrize("path", ["4=a", "4=jkfb/4=q", "0=a", "4=jkfb/1=u", "no path"])
def test_a_part_that_no_split_makes(partition, path):
    nodes = SearchNodes(partition, Params())
    with pytest.raises(InputError, match="no part"):
        nodes.n_boards(0, path)


def test_a_board_has_no_parts():
    nodes = SearchNodes(parse_partition(" ".join("abcdefghijklmnopqrstuvwxyz"), "2x2"), Params())
    assert nodes.n_boards(0, "") == 1
    with pytest.raises(InputError, match="single board"):
        nodes.parts(0, "")
