"""Trees of a node: grown at once or merged layer by layer, they hold the same terms, but for those
that contradict a demand."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations

import numpy as np
import pytest

from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.partition import letter_mask
from orderly_boggle.boardclass.scores import TABLES
from orderly_boggle.search.breaker import Breaker, Unit
from orderly_boggle.search.local.methods import Find, local_search
from orderly_boggle.search.node import Node, OpenClass, class_node, letters_of, split
from orderly_boggle.search.node_search import NodeSearch
from orderly_boggle.search.params import Budgets, Rules
from orderly_boggle.search.scoring.scorer import Scorer, trie_of
from orderly_boggle.search.scoring.trie import build_trie
from orderly_boggle.search.terms.shapes import LOSSES
from orderly_boggle.search.trees import arrays
from orderly_boggle.search.trees.forest import Forest
from orderly_boggle.search.trees.generator import Generator
from orderly_boggle.search.trees.layer import Grown
from tests.params import Params, spec_of
from tests.reference.classes import all_images
from tests.samples import daily
from tests.search.harness import is_possible, letters_at, random_words, read_tree
from tests.search.test_breaker import EVERY, SINGLE, broken

ALL = (1 << 26) - 1
BOARD = geometry("3x3")
WORDS = tuple(w for w in random_words(random.Random(4), "aest", 120, 6) if len(w) >= 3)
TABLE = TABLES["standard"]
TRIE = trie_of(WORDS, TABLE, BOARD.n)
PARAMS = Params(memory_mb=16)
OPEN = OpenClass((4,), ())


def node_with(bare: dict[int, str]) -> Node:
    """Return a 3x3 node that is open but for some bare cells."""
    masks = [sum(1 << ord(x) - 97 for x in bare[c]) if c in bare else ALL for c in range(9)]
    return Node(tuple(masks), sum(1 << c for c in bare))


def free_of(node: Node) -> list[int]:
    return [c for c in BOARD.cell_order if not node.is_bare(c)]


def new_forest(
    memory_mb: int = 16, whole_terms: int = Params.whole_terms, buckets: Sequence[str] = ()
) -> Forest:
    params = Params(
        memory_mb=memory_mb,
        whole_terms=whole_terms,
        fused=("center", "edge"),
        loose_points=8,
    )
    return Forest(BOARD, TRIE, params.rules, params.budgets, map(letter_mask, buckets))


def snapshot(grown: Grown | None) -> tuple[dict[int, int], int]:
    """Return the terms of a tree, points by key, and its bound, as values: the arrays are used
    again.
    """
    assert grown is not None
    found, total = read_tree(grown.orderly, grown.root, grown.orderly.first)
    assert total == grown.bound
    return found, total


BARE = [
    {4: "e"},
    {4: "t"},
    {4: "z"},
    {4: "e", 1: "s"},
    {4: "a", 1: "e", 7: "t"},
    {4: "est"},
    {4: "s", 1: "ae", 7: "e"},
]


def layered(grove: Forest, node: Node) -> Grown | None:
    return grove.grow_on_layers(OPEN, node)


def grown_at_once(node: Node, memory_mb: int = 16) -> tuple[dict[int, int], int]:
    return snapshot(new_forest(memory_mb).grow(node, free_of(node)))


def test_layers_make_the_trees_that_are_grown_at_once_as_the_search_goes_on():
    used, nodes = new_forest(), [node_with(bare) for bare in BARE]
    wanted = [grown_at_once(node) for node in nodes]
    rng = random.Random(6)
    for i in [*range(len(BARE)), *rng.choices(range(len(BARE)), k=25)]:
        if rng.random() < 0.1:
            assert snapshot(used.grow(nodes[i], free_of(nodes[i]))) == wanted[i]
        assert snapshot(layered(used, nodes[i])) == wanted[i]
        assert snapshot(layered(new_forest(), nodes[i])) == wanted[i]


# A class of three bare cells, and its parts: the cell unfused last is missing in the layer below.
CLASS = OpenClass((4, 1, 7), ())
FUSED = [
    ({4: "est", 1: "ae", 7: "r"}, ""),
    ({4: "e", 1: "ae", 7: "r"}, "4=e"),
    ({4: "st", 1: "ae", 7: "r"}, "4=st"),
    ({4: "st", 1: "e", 7: "r"}, "4=st/1=e"),
    ({4: "st", 1: "e", 7: "r", 3: "s"}, "4=st/1=e/3=s"),
    ({4: "t", 1: "e", 7: "r"}, "4=st/1=e/4=t"),
    ({4: "est", 1: "est", 7: "est"}, ""),
    ({4: "t", 1: "est", 7: "est"}, "4=t"),
    ({4: "t", 1: "est", 7: "est", 3: "e"}, "4=t/3=e"),
    ({4: "e", 1: "s", 7: "t"}, ""),
    ({4: "e", 1: "s", 7: "t", 3: "a"}, "3=a"),
]


def part_of(bare: dict[int, str], path: str) -> Node:
    return replace(node_with(bare), path=path)


def hole_of(node: Node) -> list[int]:
    """Return the cell without letters in the layer below that of a part of the class."""
    grove = new_forest()
    grove.grow_on_layers(CLASS, node)
    return [
        c for layer in grove.stack if len(layer.bare) == 3 for c, mask in layer.bare if not mask
    ]


def test_the_cell_unfused_last_or_first_is_left_out_of_a_layer_below():
    assert [hole_of(part_of(*part)) for part in FUSED] == [
        [4],
        [4],
        [4],
        [1],
        [1],
        [4],
        [4],
        [4],
        [4],
        [],
        [],
    ]


def test_a_cell_outside_the_class_that_is_forced_to_several_letters_is_no_hole():
    """A second layer of the same class would count each of its terms twice."""
    assert hole_of(part_of({4: "e", 1: "s", 7: "t", 3: "st"}, "3=st")) == []
    used = new_forest()
    used.grow_on_layers(CLASS, part_of({4: "e", 1: "s", 7: "t", 3: "st"}, "3=st"))
    assert len({layer.bare for layer in used.stack}) == len(used.stack) == 3


@pytest.mark.parametrize("buckets", [(), ("est", "ae"), ("ae", "st")])
@pytest.mark.parametrize("whole_terms", [Params.whole_terms, 8000, 6000])
@pytest.mark.usefixtures("terms_not_mb")
def test_parts_grown_over_a_class_with_a_hole_have_the_same_trees(whole_terms, buckets):
    """In any order, with room for every layer and with less, with and without kin."""
    parts = [part_of(*part) for part in FUSED]
    alone = partial(new_forest, 1 << 20, buckets=buckets)
    wanted = [snapshot(alone().grow(part, free_of(part))) for part in parts]
    rng = random.Random(8)
    n_there = n_loose = 0
    # From 4,300 terms on the layer with the hole fits, from 6,000 on the class over it.
    for capacity in (1 << 22, 600, 1500, 3400, *range(4200, 6400, 200)):
        used = new_forest(capacity, whole_terms, buckets)
        for _ in range(16):
            i = rng.randrange(len(parts))
            grown = used.grow_on_layers(CLASS, parts[i])
            n_there += grown is not None
            assert grown is None or snapshot(grown) == wanted[i]
            if grown := used.grow_loosely(CLASS, parts[i]):
                found, _ = snapshot(grown)
                assert all(found[key] >= points for key, points in wanted[i][0].items())
                n_loose += 1
    assert n_there
    assert n_loose


def test_two_parts_share_what_does_not_use_the_unfused_cell(monkeypatch):
    sorts: list[int] = []
    sort = arrays.Arrays.sort

    def counted(self, begin, n, *rest):
        sorts.append(n)
        return sort(self, begin, n, *rest)

    monkeypatch.setattr(arrays.Arrays, "sort", counted)
    used = new_forest()
    for part in FUSED[:3]:
        used.grow_on_layers(CLASS, part_of(*part))
    assert len(sorts) == 5, "the rim, what all three share, and each by itself"
    each = [new_forest().grow_on_layers(CLASS, part_of(*part)) for part in FUSED[:3]]
    assert [grown.n_terms for grown in each if grown] == [sorts[1] + n for n in sorts[2:5]]


def possible(
    terms: dict[int, int], node: Node, demands: tuple[tuple[int, int], ...]
) -> dict[int, int]:
    """Return the terms (points by key) that a board of the node can have, if it meets the
    demands.
    """
    forced = {c: letters_of(node.masks[c]) for c in BOARD.cell_order if node.is_bare(c)}
    return {
        key: p
        for key, p in terms.items()
        if is_possible(letters_at(key, BOARD.n - 1, BOARD), forced, demands)
    }


def test_layers_of_classes_in_turn_have_every_term_that_meets_the_demands():
    """Some classes have demands, which leave out thousands of terms, others none."""
    rng, used, n_left_out = random.Random(3), new_forest(), 0
    small, n_loose = new_forest(whole_terms=3000), 0
    for turn in range(18):
        letter, demanded = rng.choice("est"), turn % 3 != 0
        root = class_node(
            [ALL if c != 4 else 1 << ord(letter) - 97 for c in range(9)], BOARD, PARAMS
        )
        assert len(root.demands) > 3
        node = root
        for _ in range(rng.randint(0, 3)):
            node = rng.choice(
                [part for part in split(node, BOARD, PARAMS) if part.path[-1] in "aestiz"]
            )
        demands = root.demands if demanded else ()
        found, _ = snapshot(used.grow_on_layers(OpenClass((4,), demands), node))
        masks = tuple(mask if node.is_bare(c) else ALL for c, mask in enumerate(node.masks))
        every, _ = grown_at_once(replace(node, masks=masks))
        wanted = possible(every, node, demands)
        assert possible(found, node, demands) == wanted
        if loose := small.grow_loosely(OpenClass((4,), demands), node):
            more, _ = snapshot(loose)
            assert all(more[key] >= points for key, points in wanted.items())
            n_loose += demanded
        n_left_out += len(set(every) - set(found))
        assert demanded or found == every
    assert n_left_out > 1000
    assert n_loose


def loosely(grove: Forest, node: Node) -> Grown | None:
    return grove.grow_loosely(OPEN, node)


def test_a_loose_tree_has_the_terms_of_the_node_and_those_that_absorption_would_take_away():
    """It contains the base of the layer below, and the layers stay as they are."""
    used = new_forest(whole_terms=10)
    above = node_with({4: "e"})
    assert layered(used, above) is None, "it has too many terms"
    assert loosely(used, above) is None, "no cell is forced"
    for letter in "asz":
        node = node_with({4: "e", 1: letter})
        roomy = new_forest(whole_terms=8000)
        grown = loosely(roomy, node)
        assert grown
        found, bound = snapshot(grown)
        assert [layer.bare for layer in roomy.stack] == [(), ((4, 1 << 4),)]
        base, _ = read_tree(grown.orderly, roomy.stack[-1].base, 1)
        gained = Counter(found)
        gained.subtract(base)
        assert all(points >= 0 for points in gained.values())
        wanted, exact = grown_at_once(node)
        assert all(found[key] >= points for key, points in wanted.items())
        assert bound >= exact
        assert letter == "z" or sum(found.values()) > sum(wanted.values())
        assert snapshot(layered(roomy, node)) == (wanted, exact)
        assert snapshot(loosely(roomy, node)) == (found, bound), "whatever was grown before"


@pytest.mark.usefixtures("terms_not_mb")
def test_a_loose_tree_without_room_is_none_and_the_next_is_right(n_rim):
    nodes = [node_with({4: "e", 1: letter}) for letter in "asz"]
    roomy = new_forest(1 << 20, whole_terms=8000)
    wanted = [snapshot(loosely(roomy, node)) for node in nodes]
    outcomes = set()
    for capacity in (1, *range(n_rim, 3 * n_rim, n_rim // 5)):
        small = new_forest(capacity, whole_terms=8000)
        for node, found in zip(nodes, wanted, strict=True):
            grown = loosely(small, node)
            outcomes.add(grown is not None)
            assert grown is None or snapshot(grown) == found
    assert outcomes == {False, True}


def test_no_loose_tree_is_grown_where_none_is_wanted_or_layers_do_not_suit():
    wanted = node_with({4: "e", 1: "a"})
    for loose_points, node in ((0, wanted), (8, node_with({4: "e", 7: "a"}))):
        params = replace(PARAMS, whole_terms=8000, loose_points=loose_points)
        forest = Forest(BOARD, TRIE, params.rules, params.budgets)
        layered(forest, node_with({4: "e"}))
        before = list(forest.stack)
        assert loosely(forest, node) is None
        assert forest.stack == before


def test_what_a_whole_has_is_not_generated_for_a_loose_tree():
    used = new_forest()
    assert layered(used, node_with({4: "e"}))
    assert loosely(used, node_with({4: "e", 1: "a"})) is None


def test_going_down_one_letter_generates_less_than_growing_at_once():
    used = new_forest()
    layered(used, node_with({4: "e"}))
    below = node_with({4: "e", 1: "s"})
    change = layered(used, below)
    whole = new_forest().grow(below, free_of(below))
    assert change is not None
    assert whole is not None
    assert 0 < change.n_terms < whole.n_terms


def forced_in(terms: dict[int, int], level: int, letter: str) -> Counter[int]:
    """Return terms (points by key) with a level forced to a letter: a literal with this letter
    goes, a term with another one as well.
    """
    found: Counter[int] = Counter()
    shift = 5 * (BOARD.n - 2 - level)
    for key, points in terms.items():
        literal = key >> shift & 31
        if literal in (0, ord(letter) - 96):
            found[key & ~(31 << shift)] += points
    return found


@pytest.mark.parametrize("letters", ["a", "s", "z", "ea", "st"])
def test_where_a_forced_cell_need_not_absorb_its_terms_are_those_of_the_tree_above(letters):
    """Nothing is generated, and each term that the node has is there, with its points at least."""
    budgets = replace(PARAMS.budgets, absorb_forced=0)
    forest = Forest(BOARD, TRIE, PARAMS.rules, budgets)
    node = node_with({4: "e"})
    terms, _ = snapshot(layered(forest, node))
    for level, letter in enumerate(letters):
        node = node_with({4: "e"} | dict(zip((1, 7), letters[: level + 1], strict=False)))
        grown = layered(forest, node)
        assert grown
        assert grown.n_terms == 0
        terms = forced_in(terms, level, letter)
        found, bound = snapshot(grown)
        assert found == terms
        exact, least = grown_at_once(node)
        assert all(found[key] >= points for key, points in exact.items())
        assert bound >= least
        assert letters == "z" or found != exact


@pytest.mark.parametrize(
    ("dims", "class_bare", "cells", "suits"),
    [
        ("3x3", (4,), (4,), True),
        ("3x3", (4, 1), (4, 1), True),
        ("3x3", (4,), (4, 1, 7), True),
        ("3x3", (1,), (1,), False),
        ("3x3", (4, 0), (4, 0), False),
        ("3x3", (4,), (4, 7), False),  # 1 comes before it
        ("4x5", (), (), False),
        ("4x5", (6, 7, 8, 11, 12, 13), (6, 7, 8, 11, 12, 13, 17), False),  # 13 free cells
        ("4x5", (6, 7, 8, 11, 12, 13), (6, 7, 8, 11, 12, 13, 17, 16), True),
        ("4x5", (6, 7, 8, 11, 12, 13), (6, 7, 8, 11, 12, 13, 17, 16, 10, 5), False),
        ("4x4", (5, 6, 9, 10), (5, 6, 9, 10), True),
        ("4x4", (5, 6), (5, 6), False),  # 14 free cells do not fit a key
        ("4x4", (5, 6), (5, 6, 9, 10), True),
        ("3x3", (4,), (4, 1, 7, 3, 5), False),  # so few free cells are for the walk
        ("4x4", (5, 6, 9, 10), (5, 6, 9, 10, 1, 2, 7), True),
        ("4x4", (5, 6, 9, 10), (5, 6, 9, 10, 1, 2, 7, 11), False),
    ],
)
def test_layers_want_bare_cells_that_come_first(dims, class_bare, cells, suits):
    node = Node((ALL,) * geometry(dims).n, sum(1 << c for c in cells))
    assert (
        Forest(geometry(dims), TRIE, PARAMS.rules, PARAMS.budgets).suits_layers(
            OpenClass(class_bare, ()), node
        )
        is suits
    )


def test_terms_of_a_certificate_are_those_of_whole_words():
    """Of thirteen letters on twelve free cells of a board whose paths are cut after eleven."""
    board = geometry("2x9")
    bare = {0, 1, 2, 9, 10, 11}
    masks = tuple(1 << 25 if cell in bare else ALL for cell in range(board.n))
    node = Node(masks, sum(1 << cell for cell in bare))
    free = [cell for cell in board.cell_order if cell not in bare]
    forest = Forest(
        board, build_trie({"bcdefghijklmn": 1}, board.n), Rules(), Budgets(memory_mb=64)
    )
    n_keys, *_ = forest.terms(node, free)
    assert n_keys == 0
    grown = forest.grow(node, free)
    assert grown
    assert grown.n_terms > 0


DEEP = {4: "e", 1: "s", 7: "t", 3: "ai", 5: "r"}


def test_a_deep_node_is_grown_behind_the_layers_and_leaves_them_alone():
    used = new_forest()
    below = node_with({4: "e", 1: "s"})
    deep = node_with(DEEP)
    layered(used, below)
    grown = used.grow(deep, free_of(deep))
    alone = new_forest().grow(deep, free_of(deep))
    assert grown is not None
    assert alone is not None
    assert snapshot(grown) == snapshot(alone)
    assert (grown.n_terms, grown.n_bytes) == (alone.n_terms, alone.n_bytes)
    assert grown.root > alone.root
    again, fresh = layered(used, below), layered(new_forest(), below)
    assert again is not None
    assert fresh is not None
    assert snapshot(again) == snapshot(fresh) == grown_at_once(below)
    assert again.n_terms == fresh.n_terms


@pytest.fixture(scope="module")
def n_rim() -> int:
    """Return the number of keys of the rim."""
    roomy = new_forest()
    layered(roomy, node_with({4: "e"}))
    return roomy.stack[0].n_keys


@pytest.mark.parametrize("bare", [DEEP, {4: "r", 1: "e", 7: "s"}])
@pytest.mark.usefixtures("terms_not_mb")
def test_whether_a_node_fits_does_not_depend_on_what_lies_there(bare, n_rim):
    above, other = node_with({4: "e", 1: "s", 7: "t"}), node_with(bare)
    size = new_forest(1 << 20).grow(other, free_of(other))
    assert size is not None
    outcomes, n_given_up = [], 0
    for capacity in [
        *range(size.n_terms // 4, 2 * size.n_terms, size.n_terms // 4),
        *range(n_rim, 2 * n_rim, 300),
    ]:
        alone, used = new_forest(capacity), new_forest(capacity)
        layered(used, above)
        n_layers = len(used.stack)
        grown = used.grow(other, free_of(other))
        wanted = alone.grow(other, free_of(other))
        assert (grown is None) == (wanted is None)
        assert grown is None or snapshot(grown) == snapshot(wanted)
        outcomes.append(grown is not None)
        n_given_up += grown is not None and n_layers > len(used.stack)
    assert not outcomes[0]
    assert outcomes[-1]
    assert n_given_up


@pytest.mark.usefixtures("terms_not_mb")
def test_a_node_that_does_not_fit_leaves_the_layers_for_others(n_rim):
    small = new_forest(n_rim * 5 // 4)
    assert layered(small, node_with({4: "e"})) is None
    assert [layer.bare for layer in small.stack] == [()]


@pytest.mark.usefixtures("terms_not_mb")
def test_a_layer_without_room_gets_it_over_another_bottom(n_rim):
    nodes = [
        node_with(bare)
        for bare in ({4: "e"}, {4: "e", 1: "s"}, {4: "e", 1: "s", 7: "t"}, {4: "e", 1: "s", 7: "a"})
    ]
    wanted = [snapshot(new_forest(1 << 20).grow(node, free_of(node))) for node in nodes]
    bottoms, n_without = set(), 0
    for capacity in range(n_rim, 3 * n_rim, n_rim // 25):
        small = new_forest(capacity)
        for node, terms in zip(nodes, wanted, strict=True):
            grown = layered(small, node)
            n_without += grown is None
            bottoms |= {len(layer.bare) for layer in small.stack[:1]}
            assert grown is None or snapshot(grown) == terms
    assert bottoms == {0, 2, 3}
    assert n_without


@pytest.mark.usefixtures("terms_not_mb")
def test_the_smallest_parts_have_room_where_those_above_them_have_none(n_rim):
    """One of those above becomes the bottom, and what is there is grown anew over it."""
    above = {4: "e", 1: "s"}
    for capacity in range(n_rim * 3 // 2, 3 * n_rim, n_rim // 25):
        small = new_forest(capacity)
        for x, y in ("ta", "ts", "at"):
            part = node_with({**above, 7: x, 3: y})
            layered(small, node_with(above))
            layered(small, node_with({**above, 7: x}))
            wanted = new_forest(1 << 20).grow(part, free_of(part))
            assert snapshot(layered(small, part)) == snapshot(wanted)


@pytest.mark.usefixtures("terms_not_mb")
def test_a_whole_that_fills_the_keys_is_given_up_when_a_part_is_grown():
    """Otherwise no part would find room, and every layer would be grown again for each."""
    nodes = [node_with({4: "e"}), node_with({4: "e", 1: "s"}), node_with({4: "e", 1: "t"})]
    roomy = new_forest(1 << 16)
    layered(roomy, nodes[0])
    small = new_forest(roomy.stack[-1].end_keys + 100)
    assert layered(small, nodes[0]) is not None
    assert small.stack[-1].end_tip < small._arrays.cells.size * 7 // 8, "the cells are not full"
    for node in nodes[1:]:
        assert layered(small, node) is not None
        assert [bool(layer.whole) for layer in small.stack] == [True, False, True]


@pytest.mark.usefixtures("terms_not_mb")
def test_a_part_whose_keys_find_no_room_behind_a_whole_is_grown_elsewhere():
    """The whole leaves a little more than the eighth that it has to leave."""
    whole, part = node_with({4: "e"}), node_with({4: "e", 1: "s"})
    roomy = new_forest(1 << 16)
    layered(roomy, whole)
    small = new_forest(roomy.stack[-1].end_keys * 8 // 7 + 20)
    assert layered(small, whole)
    assert snapshot(layered(small, part)) == grown_at_once(part, 1 << 20)


def test_a_node_of_many_terms_is_not_searched_whole_but_its_parts_can_be():
    some = new_forest(whole_terms=50)
    assert layered(some, node_with({4: "e"})) is None
    part = node_with({4: "e", 1: "z"})
    assert snapshot(layered(some, part)) == grown_at_once(part)
    for bare in BARE:  # a limit of no terms is not a question for their number
        assert layered(new_forest(whole_terms=0), node_with(bare)) is None
    some = new_forest(whole_terms=50)
    assert layered(some, node_with({4: "z"})), "no word has the letter"
    assert layered(some, node_with({4: "z", 1: "e"})) is None, "it takes more terms away"


@pytest.mark.parametrize("grow", ["grow", "layers"])
@pytest.mark.usefixtures("terms_not_mb")
def test_memory_too_small_gives_none_and_the_next_node_its_tree(grow):
    def grown_in(grove: Forest, node: Node) -> Grown | None:
        return layered(grove, node) if grow == "layers" else grove.grow(node, free_of(node))

    node = node_with({4: "e"})
    few = node_with({4: "e", 1: "s", 7: "t", 3: "z"})
    whole = new_forest(1 << 20).grow(node, free_of(node))
    assert whole is not None
    wanted = snapshot(whole)
    wanted_few = snapshot(new_forest(1 << 20).grow(few, free_of(few)))
    outcomes = []
    for capacity in (1, whole.n_terms // 2, whole.n_terms * 3 // 4, 20 * whole.n_terms):
        small = new_forest(capacity)
        for _ in range(2):
            grown = grown_in(small, node)
            outcomes.append(grown is not None)
            assert grown is None or snapshot(grown) == wanted
            again = grown_in(small, few)
            assert again is None or snapshot(again) == wanted_few
        terms = small.terms(node, free_of(node))
        assert (terms is None) == (capacity < whole.n_terms), "those of a certificate"
    assert outcomes[:2] == [False, False]
    assert outcomes[-2:] == [True, True]
    assert outcomes[::2] == outcomes[1::2]


@pytest.mark.usefixtures("terms_not_mb")
def test_a_unit_gives_the_same_verdict_whatever_was_searched_before(n_rim):
    """To its counters, where there is so little memory that the layers start from other bottoms."""
    units = [Unit(EVERY.index("e"), path) for path in ("1=a", "1=a/7=t", "1=a/7=s", "1=t/7=s")]
    n_moved = 0
    for capacity in range(n_rim, 3 * n_rim, n_rim // 5):
        params = Params(memory_mb=capacity, loose_points=8)
        spec = spec_of("3x3", WORDS, TABLE.points, 10**6, SINGLE, params)
        used = Breaker(spec)
        alone = {unit: replace(Breaker(spec).break_unit(unit), seconds=0) for unit in units}
        for unit in [*units, *reversed(units)]:
            n_moved += any(layer.bare for layer in used._nodes.forest.stack[:1])
            assert replace(used.break_unit(unit), seconds=0) == alone[unit]
    assert n_moved


TIGHT = Params(memory_mb=16, node_budget=300, least_budget=300)


def test_the_letters_left_in_one_unit_do_not_decide_where_the_next_is_split(best):
    """To its counters, whatever was searched before."""
    spec = spec_of("3x3", WORDS, TABLE.points, best.score, SINGLE, TIGHT)
    units = [Unit(EVERY.index("e"), path) for path in ("1=t", "1=t/7=s", "1=t/7=j", "1=s")]
    alone = [replace(Breaker(spec).break_unit(unit), seconds=0) for unit in units]
    assert any(result.counters["n_splits"] for result in alone)
    used = Breaker(spec)
    for unit, wanted in [*zip(units, alone, strict=True)] * 2:
        assert replace(used.break_unit(unit), seconds=0) == wanted


@pytest.mark.parametrize("absorb_forced", [0, 1])
def test_a_letter_left_beside_a_weaker_one_is_not_tried_beside_a_stronger(
    monkeypatch, best, absorb_forced
):
    """It is forced, and the boards are the same."""
    left_beside: dict[str, int] = {}  # by the path without its last letter
    spared = []
    begin, search_tree = NodeSearch.begin, NodeSearch._search_tree
    search_letters = NodeSearch._search_letters

    def anew(self):
        left_beside.clear()
        begin(self)

    def tree(self, node, free, left, *rest, **more):
        assert left & left_beside.get(node.path[:-1], 0) == 0
        return search_tree(self, node, free, left, *rest, **more)

    def letters(self, node, free, left, *rest):
        spared.append(left & left_beside.get(node.path[:-1], 0))
        still_left = search_letters(self, node, free, left, *rest)
        if node.path:
            left_beside[node.path[:-1]] = still_left
        return still_left

    wanted, _ = found_by(PARAMS, best)
    monkeypatch.setattr(NodeSearch, "begin", anew)
    monkeypatch.setattr(NodeSearch, "_search_tree", tree)
    monkeypatch.setattr(NodeSearch, "_search_letters", letters)
    assert found_by(replace(TIGHT, absorb_forced=absorb_forced), best)[0] == wanted
    assert any(spared)


def found_by(
    params: Params, best: Find, cell_order: Sequence[int] = BOARD.cell_order
) -> tuple[set[tuple[str, int]], int]:
    """Return the boards as good as the best, images included, of two classes, and how often nodes
    were split.
    """
    spec = spec_of("3x3", WORDS, TABLE.points, best.score, SINGLE, params, tuple(cell_order))
    breaker = Breaker(spec)
    listed, n_splits = set(), 0
    for letter in {best.board[4], "s"}:
        for result in broken(breaker, Unit(EVERY.index(letter))):
            listed |= all_images(result.candidates, 3, 3)
            n_splits += result.counters["n_splits"]
    return listed, n_splits


@pytest.fixture(scope="module")
def best() -> Find:
    return local_search(Scorer("3x3", WORDS, TABLE), letters="aest", pool=100)[0]


def test_candidates_are_the_same_with_and_without_layers(best):
    wanted, _ = found_by(PARAMS, best)
    assert wanted
    tight = Params(memory_mb=16, node_budget=5000, least_budget=2000, whole_terms=10_000)
    split, n_splits = found_by(tight, best)
    assert split == wanted
    assert n_splits > 10
    for budget in (0, 10, 100, 1000):
        loose = replace(tight, loose_points=8, loose_budget=budget)
        assert found_by(loose, best)[0] == wanted
    order = BOARD.cell_order[::-1]  # the cell of the class is last: there are no layers
    node = node_with({4: "e"})
    assert new_forest().suits_layers(OPEN, node)
    assert not Forest(geometry("3x3", order), TRIE, PARAMS.rules, PARAMS.budgets).suits_layers(
        OPEN, node
    )
    for params in (PARAMS, tight):
        assert found_by(params, best, order)[0] == wanted


@pytest.mark.usefixtures("terms_not_mb")
def test_candidates_are_the_same_with_and_without_memory(best):
    roomy = Params(memory_mb=1 << 20)
    wanted, n_before = found_by(roomy, best)
    assert wanted
    whole = layered(new_forest(1 << 20), node_with({4: "e"}))
    assert whole is not None
    for share in (1, 3):
        got, n_splits = found_by(Params(memory_mb=max(1, whole.n_terms // share)), best)
        assert got == wanted
        assert n_splits > n_before


LETTERS = "esta"
ROOM = 1 << 20
Demands = tuple[tuple[int, int], ...]


def new_generator(demands: Demands = ()) -> Generator:
    made = Generator(BOARD, PARAMS.rules, PARAMS.budgets, TRIE, ROOM)
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
def test_the_terms_of_a_base_are_those_of_the_layer_that_do_not_use_the_first_free_cell(
    n_bare, n_new
):
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


@pytest.mark.parametrize("seed", daily([0, 1, 2, 4], range(6)))
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
    assert written(some.of_base, bare, new) == [
        term for term in wanted if term >> some.code_bits < first_key
    ]
    losses = [term for term in wanted if term >> some.code_bits - 1 & 1]
    assert written(some.of_open, bare, new, LOSSES) == losses != []
    whole = written(plain.of_open, bare)
    assert written(some.of_open, bare) == possible(whole) != whole


def test_nothing_is_demanded_of_the_rim():
    """All classes share it, and each has demands of its own."""
    rim = tuple((c, 0) for c in BOARD.cell_order[:1])
    assert (
        written(new_generator(demands_of(0)).of_open, rim)
        == written(new_generator().of_open, rim)
        != []
    )
