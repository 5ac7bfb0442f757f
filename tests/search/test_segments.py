"""Nodes whose first free cells are outside the keys: terms in segments, trees merged segment by
segment, layers, and whole searches, against the same with keys that hold every cell.

The small boards here have keys of fewer cells than there is room for.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from functools import cache

import numpy as np
import pytest

from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.partition import letter_mask
from orderly_boggle.boardclass.scores import TABLES
from orderly_boggle.search.breaker import Breaker, Spec, Unit
from orderly_boggle.search.keys import N_CODES
from orderly_boggle.search.node import Node, OpenClass
from orderly_boggle.search.params import Budgets, Rules
from orderly_boggle.search.scoring.scorer import Scorer, trie_of
from orderly_boggle.search.scoring.trie import Trie, build_trie
from orderly_boggle.search.terms import shapes
from orderly_boggle.search.terms.path_table import MAX_EXTRA
from orderly_boggle.search.trees import arrays, generator, runs, segments, tree
from orderly_boggle.search.trees.arrays import Arrays
from orderly_boggle.search.trees.forest import Forest
from orderly_boggle.search.trees.layer import Grown
from tests.params import Params, spec_of
from tests.reference.solver import score
from tests.samples import daily
from tests.search.harness import random_words, read_tree
from tests.search.test_breaker import others
from tests.search.test_shapes import EVERY, EVERY_DAY, SEEDS, code_bits, first_bare, rim_of, run


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_a_segment_and_a_key_are_the_term(dims, seed):
    """All terms of a node, and what its last bare cell changes."""
    case = first_bare(dims, seed)
    n_bare, n_free = len(case.bare), case.n_levels
    for n_extra, n_outside in itertools.product(range(MAX_EXTRA + 1), range(1, 3)):
        if n_extra > n_bare or n_extra + n_outside > MAX_EXTRA or n_outside > n_free:
            continue
        rim = rim_of(case, n_extra)._replace(n_outside=n_outside)
        inside = (1 << 5 * (n_free - n_outside) + code_bits(case)) - 1
        for new, only in itertools.product(
            {0, 1 << n_bare >> 1}, (shapes.ALL, shapes.GAINS, shapes.LOSSES)
        ):
            open_rim = rim._replace(shift=rim.shift[:0], forbidden=rim.forbidden[:0])
            _, every = run(
                case, new, n_extra=n_extra, only=only, rim=open_rim._replace(n_outside=0)
            )
            where = np.full(1 << 20, -1, np.int32)
            n, found = run(case, new, n_extra=n_extra, only=only, rim=open_rim, segments=where)
            wanted = []
            for term in every.tolist():
                outside = term >> 5 * (n_free - n_outside) + code_bits(case)
                digits = [outside >> 5 * k & 31 for k in reversed(range(n_outside))]
                segment = 0
                for digit in digits:
                    segment = segment * N_CODES + digit
                wanted.append((segment, term & inside))
            assert sorted(zip(where[:n].tolist(), found.tolist(), strict=True)) == sorted(wanted)


def random_terms(rng: random.Random, n: int, n_levels: int) -> list[tuple[int, int, int]]:
    """Return segment, key and points code (1 or 2) of some terms, many of them equal."""
    found = []
    for _ in range(n):
        key = 0
        for _ in range(n_levels):
            key = key << 5 | rng.choice([0, 0, 1, 5, 26])
        found.append((rng.choice([0, 1, 5, 26, 700, 728]), key, rng.choice([1, 2])))
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [0, 1, 50, 6000])
def test_terms_are_sorted_and_grouped_segment_by_segment(n, seed, monkeypatch):
    monkeypatch.setattr("orderly_boggle.search.trees.arrays._FEW_TERMS", 40)
    rng = random.Random(seed)
    points_of_code = np.array([0, 1, 3] + [0] * 5 + [0, -1, -3] + [0] * 5, np.int32)
    ground = Arrays(2, 4, points_of_code)
    terms, begin, tip = random_terms(rng, n, 12 if seed % 2 else 3), 17, 1 + seed
    ground.terms[begin : begin + n] = [key << 4 | code for _, key, code in terms]
    ground.points[begin : begin + n] = [segment for segment, _, _ in terms]
    cuts = ground.sort_segments(begin, n, 12, N_CODES**2, tip)
    assert cuts is not None
    wanted: Counter[tuple[int, int]] = Counter()
    for segment, key, code in terms:
        wanted[segment, key] += (0, 1, 3)[code]
    found = {}
    for segment in range(N_CODES**2):
        places = range(cuts[segment], cuts[segment + 1])
        keys = [int(ground.terms[i]) for i in places]
        assert keys == sorted(keys)
        found.update({(segment, int(ground.terms[i])): int(ground.points[i]) for i in places})
    assert cuts[0] == begin
    assert len(found) == cuts[-1] - begin
    assert found == wanted


def test_terms_that_find_no_room_to_be_parted_are_not_sorted():
    ground = Arrays(1, 4, np.zeros(16, np.int32))
    assert ground.sort_segments(0, ground.terms.size, 12, N_CODES, 1) is None


def test_parts_follow_one_another():
    parted, ends = np.zeros(5, np.uint64), np.zeros(4, np.int64)
    terms = np.array([9, 8, 7, 6, 5], np.uint64)
    runs.part(terms, np.array([3, 1, 3, 0, 1], np.int32), ends, parted)
    assert parted.tolist() == [6, 8, 5, 9, 7]
    assert ends.tolist() == [1, 3, 3, 5]


class Keys:
    """Some keys as they are, and in segments, in arrays of their own."""

    def __init__(
        self, total: dict[int, int], n_inside: int, n_outside: int, ground: Arrays, at: int
    ):
        inside = (1 << 5 * n_inside) - 1
        in_order = sorted(total)
        counts = np.zeros(N_CODES**n_outside, np.int64)
        for k, key in enumerate(in_order, at):
            segment = 0
            for level in reversed(range(n_outside)):
                segment = segment * N_CODES + (key >> 5 * (n_inside + level) & 31)
            counts[segment] += 1
            ground.terms[k] = key & inside
            ground.points[k] = total[key]
        self.cuts = np.append(at, at + np.cumsum(counts))


def random_total(rng: random.Random, n: int, n_levels: int) -> dict[int, int]:
    """Return the points of some random keys."""
    found = {}
    for _ in range(n):
        key = 0
        for _ in range(n_levels):
            key = key << 5 | rng.choice([0, 0, 0, 1, 2, 5, 26])
        found[key] = rng.randint(1, 9)
    return found


@pytest.mark.parametrize("n_outside", [0, 1, 2])
@pytest.mark.parametrize("seed", range(12))
def test_trees_merged_segment_by_segment_are_those_of_longer_keys(seed, n_outside):
    """Two trees and keys, some of which take away what the trees have."""
    rng = random.Random(f"{seed} {n_outside}")
    n_inside = rng.randint(1, 4)
    n_levels = n_inside + n_outside
    ground = Arrays(4, 4, np.zeros(16, np.int32))
    one, other = (random_total(rng, rng.choice([0, 1, 4, 60, 400]), n_levels) for _ in range(2))
    both = Counter(one) + Counter(other)
    change = Counter(random_total(rng, rng.choice([0, 3, 100]), n_levels))
    for key in rng.sample(sorted(both), min(len(both), 30)):
        change[key] = -rng.randint(1, both[key])
    tip, at, roots = 1, 0, []
    for total in (one, other, change):
        cuts = Keys(total, n_inside, n_outside, ground, at).cuts
        base, behind = (
            (roots[0].root, (roots[1].bound, roots[1].root)) if len(roots) == 2 else (0, (0, 0))
        )
        merged = segments.merge(ground, cuts, n_levels, 0, tip, base, behind)
        assert merged
        tip, at = merged.tip, merged.spill
        roots.append(merged)
    for merged, wanted in zip(roots, (one, other, both + change), strict=True):
        grown = ground.as_tree(n_levels, 0, tip)
        found, bound = read_tree(grown, merged.root, 0, n_inside)
        wanted = Counter(wanted)
        if merged is roots[2]:
            wanted = Counter(both)
            wanted.update(change)
        assert found == {key: points for key, points in wanted.items() if points}
        assert bound == merged.bound


def test_a_bound_that_the_choice_of_a_cell_outside_cannot_hold_is_reported():
    """A word on that cell alone: its points stand nowhere else."""
    ground = Arrays(1, 4, np.zeros(16, np.int32))
    for points in (1, tree.MAX_NARROW, tree.MAX_NARROW + 1, 2 * tree.MAX_NARROW + 5):
        cuts = Keys({1 << 5: points}, 1, 1, ground, 0).cuts
        merged = segments.merge(ground, cuts, 2, 0, 1)
        assert bool(merged) == (points <= tree.MAX_NARROW)
        assert not merged or merged.bound == points
    wide = Arrays(1, 4, np.full(16, 100, np.int32))
    for points in (tree.MAX_BOUND // 2, tree.MAX_BOUND // 2 + 1):
        cuts = Keys({0: points, 1 << 5: points}, 1, 1, wide, 0).cuts
        assert bool(segments.merge(wide, cuts, 2, 0, 1)) == (2 * points <= tree.MAX_BOUND)


def test_terms_to_lose_that_are_not_there_stop_the_program():
    ground = Arrays(1, 4, np.zeros(16, np.int32))
    cuts = Keys({1: 3, 2: 4}, 1, 0, ground, 0).cuts
    there = segments.merge(ground, cuts, 1, 0, 1)
    assert there
    cuts = Keys({1: -4}, 1, 0, ground, there.spill).cuts
    with pytest.raises(AssertionError, match="not in the tree"):
        segments.merge(ground, cuts, 1, 0, there.tip, there.root)


def test_segments_that_find_no_room_for_their_cells_are_reported():
    total = random_total(random.Random(8), 40, 3)
    ground = Arrays(1, 4, np.zeros(16, np.int32))
    n_built = 0
    for n_cells in range(1, 6000, 20):
        cuts = Keys(total, 2, 1, ground, 0).cuts
        merged = segments.merge(ground, cuts, 3, 0, ground.cells.size - n_cells)
        if merged:
            orderly = ground.as_tree(3, 0, merged.tip)
            assert read_tree(orderly, merged.root, 0, 2) == (total, merged.bound)
            n_built += 1
    assert 0 < n_built < 300


ORDER = geometry("2x3").cell_order
SOME = tuple(sorted({*random_words(random.Random(2), "aest", 40, 5), "eat", "tea", "seat"}))
TRIE = trie_of(SOME, TABLES["standard"], 6)
OPEN = OpenClass(ORDER[:1], ())


def forest_of(
    key_cells: int,
    monkeypatch,
    whole_terms: int = Params.whole_terms,
    trie: Trie = TRIE,
    **budgets: int,
) -> Forest:
    """Return a forest over 2x3 whose keys hold so many cells, with one or two more outside."""
    monkeypatch.setattr(generator, "KEY_CELLS", key_cells)
    budgets = {"memory_mb": 1, **budgets}
    params = Params(
        whole_terms=whole_terms, fused=("edge", "corner"), max_free=key_cells + 2, **budgets
    )
    return Forest(geometry("2x3"), trie, params.rules, params.budgets)


def node_with(*letters: str) -> Node:
    """Return a node whose first cells have these letters, and the others all."""
    bare = dict(zip(ORDER, letters, strict=False))
    masks = tuple(letter_mask(bare.get(cell, EVERY)) for cell in range(6))
    return Node(masks, sum(1 << cell for cell in bare))


NODES = [
    node_with(*letters)
    for letters in (
        ("e",),
        ("t",),
        ("z",),
        ("e", "s"),
        ("a", "e"),
        ("st",),
        ("s", "ae"),
        ("e", "z"),
    )
]


@cache
def grown_at_once(node: Node) -> tuple[dict[int, int], int]:
    """Return the terms of a node and its bound, from keys of every cell."""
    free = [cell for cell in ORDER if not node.is_bare(cell)]
    params = Params(memory_mb=1)
    grown = Forest(geometry("2x3"), TRIE, params.rules, params.budgets).grow(node, free)
    assert grown
    return read_tree(grown.orderly, grown.root)


def read(grown: Grown | None, key_cells: int) -> tuple[dict[int, int], int]:
    assert grown
    found = read_tree(grown.orderly, grown.root, grown.orderly.first, key_cells)
    assert found[1] == grown.bound
    return found


@pytest.mark.parametrize("key_cells", [5, 4, 3])
def test_layers_make_the_trees_that_keys_of_every_cell_make(key_cells, monkeypatch):
    """With no, one and two cells outside, in the order in which a search goes on, and from a new
    stack.
    """
    wanted = [grown_at_once(node) for node in NODES]
    assert sum(len(terms) for terms, _ in wanted) > 1000
    used = forest_of(key_cells, monkeypatch)
    assert (used.max_free, used.max_open) == (key_cells, key_cells + 2)
    for i in [*range(len(NODES)), *random.Random(6).choices(range(len(NODES)), k=10)]:
        for forest in (used, forest_of(key_cells, monkeypatch)):
            assert read(forest.grow_on_layers(OPEN, NODES[i]), key_cells) == wanted[i]


@pytest.mark.parametrize("key_cells", [4, 3])
def test_parts_are_grown_where_the_whole_has_too_many_terms(key_cells, monkeypatch):
    """Then the terms of a part that use the forced cell are generated."""
    whole, part = node_with("e"), node_with("e", "s")
    grown = forest_of(key_cells, monkeypatch).grow_on_layers(OPEN, whole)
    assert grown
    forest = forest_of(key_cells, monkeypatch, whole_terms=grown.n_terms - 1)
    assert forest.grow_on_layers(OPEN, whole) is None
    assert read(forest.grow_on_layers(OPEN, part), key_cells) == grown_at_once(part)


@pytest.mark.parametrize("key_cells", [4, 3])
def test_layers_that_find_no_room_are_none_and_leave_the_others_right(key_cells, monkeypatch):
    wanted = [grown_at_once(node) for node in NODES[:5]]
    monkeypatch.setattr(arrays, "BYTES_PER_TERM", 1 << 20)  # memory_mb is a number of terms
    outcomes = set()
    for capacity in range(40, 3000, 160):
        forest = forest_of(key_cells, monkeypatch, memory_mb=capacity)
        for node, found in zip(NODES, wanted, strict=False):
            grown = forest.grow_on_layers(OPEN, node)
            outcomes.add(bool(grown))
            assert not grown or read(grown, key_cells) == found
    assert outcomes == {False, True}


def test_terms_that_fit_but_not_once_more_to_be_parted_make_no_layer(monkeypatch):
    words = random_words(random.Random(2), "aest", 300, 6)
    trie, node = trie_of(words, TABLES["standard"], 6), node_with("e")
    roomy = forest_of(4, monkeypatch, trie=trie).grow_on_layers(OPEN, node)
    assert roomy
    wanted, n_terms = read(roomy, 4), roomy.n_terms
    monkeypatch.setattr(arrays, "BYTES_PER_TERM", 1 << 20)
    outcomes = []
    for capacity in (n_terms + 1200, 3 * n_terms):
        forest = forest_of(4, monkeypatch, trie=trie, memory_mb=capacity)
        grown = forest.grow_on_layers(OPEN, node)
        outcomes.append(bool(grown))
        assert not grown or read(grown, 4) == wanted
    assert outcomes == [False, True]


def test_loose_trees_have_every_cell_in_their_keys(monkeypatch):
    above, node = node_with("e"), node_with("e", "s")
    grown = forest_of(4, monkeypatch).grow_on_layers(OPEN, above)
    assert grown
    for key_cells, is_grown in ((4, True), (3, False)):
        forest = forest_of(key_cells, monkeypatch, grown.n_terms - 1, loose_points=8)
        assert forest.grow_on_layers(OPEN, above) is None
        assert bool(forest.grow_loosely(OPEN, node)) == is_grown


@pytest.mark.parametrize(("n_values", "key_cells"), [(7, 12), (8, 11)])
def test_at_most_two_cells_are_outside_whatever_the_points_leave_to_keys(n_values, key_cells):
    trie = build_trie({"tea" + "s" * n: n + 1 for n in range(n_values)}, 12)
    for max_free in range(1, 15):
        made = generator.Generator(
            geometry("4x5"), Rules(max_free=max_free), Budgets(), trie, 1 << 12
        )
        assert made.max_free == min(max_free, key_cells)
        some_outside = max_free > 12
        assert made.max_open == (min(max_free, key_cells + 2) if some_outside else made.max_free)


def test_a_node_with_more_cells_outside_is_not_for_layers(monkeypatch):
    forest = forest_of(2, monkeypatch)
    assert not forest.suits_layers(OPEN, node_with("e"))
    assert forest.suits_layers(OPEN, node_with("e", "s"))


@pytest.mark.parametrize("node_budget", [3, 5_000_000])
@pytest.mark.parametrize("key_cells", [4, 3, 2])
def test_a_search_finds_the_same_boards(key_cells, node_budget, monkeypatch):
    text = f"edge: aei s t r {others('aeistr')}, corner: {EVERY}"
    budgets = {"node_budget": node_budget, "fused_budget": node_budget, "least_budget": 1}
    n_found = 0
    for class_id in (0, 1, 7, 9, 15):
        found = []
        for cells in (12, key_cells):
            monkeypatch.setattr(generator, "KEY_CELLS", cells)
            params = Params(
                memory_mb=1, max_free=cells + 2 if cells < 12 else 12, fused=("edge",), **budgets
            )
            spec = spec_of("2x3", SOME, "standard", 9, text, params)
            found.append(break_class_of(spec, class_id))
        assert found[0] == found[1]
        n_found += len(found[0])
    assert n_found > 5


def break_class_of(spec: Spec, class_id: int) -> set[tuple[str, int]]:
    """Return the boards of a class that reach the cutoff, each with its images."""
    result = Breaker(spec).break_unit(Unit(class_id))
    assert result.status != "split"
    images = geometry("2x3").symmetries.tolist()
    return {
        ("".join(board[c] for c in image), points)
        for board, points in result.candidates
        for image in images
    }


def test_boards_with_fourteen_free_cells_are_found():
    """4x5 with its centre forced: every rim cell has all letters, in one tree of fourteen
    levels.
    """
    board = geometry("4x5")
    words = ("rates", "stare", "tears", "aster", "earn", "near", "nears", "tin", "lint", "saner")
    rng = random.Random(3)
    scorer = Scorer("4x5", words, "standard")
    letters = np.array([ord(x) - 97 for x in "aeinrstl"], np.uint8)
    boards = letters[np.random.default_rng(3).integers(0, 8, (60_000, board.n))]
    best = boards[scorer.scores(boards).argmax()]
    text = "".join(chr(97 + x) for x in best)
    points_of = {word: int(TABLES["standard"].points[len(word)]) for word in words}
    cutoff = score(text, 4, 5, points_of)
    assert cutoff > 8
    centre = [c for c, kind in enumerate(board.cell_types) if kind == "center"]
    masks = tuple(1 << int(best[c]) if c in centre else (1 << 26) - 1 for c in range(board.n))
    node = Node(masks, sum(1 << c for c in centre))
    params = Params(memory_mb=64, max_free=14)
    forest = Forest(board, scorer.trie, params.rules, params.budgets)
    open_class = OpenClass(tuple(c for c in board.cell_order if c in centre), ())
    grown = forest.grow_on_layers(open_class, node)
    assert grown
    assert grown.orderly.n_levels == 14
    terms, bound = read_tree(grown.orderly, grown.root, 0, forest.max_free)
    assert bound == grown.bound >= cutoff
    free = [c for c in board.cell_order if c not in centre]
    for _ in range(50):
        other = list(text)
        for cell in rng.sample(free, rng.randint(0, 6)):
            other[cell] = rng.choice("aeinrstl")
        held = 0
        for key, points in terms.items():
            asked = [(c, key >> 5 * (13 - level) & 31) for level, c in enumerate(free)]
            held += points * all(not code or ord(other[c]) - 96 == code for c, code in asked)
        assert held >= score("".join(other), 4, 5, points_of)
