"""Trees of a node: one over all terms, or two; the rim tree is shared by every class with the same bare cells."""

from __future__ import annotations

import random

import numpy as np
import pytest

from boardclass.cutoff import reaches
from boardclass.geometry import geometry
from boardclass.scores import TABLES, ScoreTable
from search import bound, forest
from search.breaker import Breaker, Spec, Unit, UnitResult
from search.forest import Forest, Grown
from search.node import Node
from search.params import Params
from search.scorer import Scorer, encode_boards
from tests.search.harness import Case, prepared, random_words

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
ALL = (1 << 26) - 1
POINTS = TABLES["standard"].points
WORDS = tuple(w for w in random_words(random.Random(4), "aest", 120, 6) if len(w) >= 3)
PARAMS = Params(memory_mb=16)
BUCKETS = f"center: {' '.join(ALPHABET)}, edge: {ALPHABET}, corner: {ALPHABET}"


def node_with(bare: dict[int, str]) -> Node:
    """Return a 3x3 node that is open but for some bare cells."""
    masks = [sum(1 << ord(x) - 97 for x in bare[c]) if c in bare else ALL for c in range(9)]
    return Node(tuple(masks), sum(1 << c for c in bare))


def free_of(node: Node) -> list[int]:
    return [c for c in geometry("3x3").cell_order if not node.is_bare(c)]


def new_forest(words: tuple[str, ...] = WORDS, params: Params = PARAMS) -> Forest:
    return Forest(geometry("3x3"), words, POINTS, params)


def end_of(cells: np.ndarray, root: int) -> int:
    """Return the offset behind a sum node."""
    end = root + 1
    for _ in range(int(cells[root]) & 15):
        end += 1 + 2 * (int(cells[end]) & ALL).bit_count()
    return end


def snapshot(grown: Grown | None) -> tuple[object, ...]:
    """Return everything that a search of these trees reads, as values: the arrays are used again."""
    assert grown is not None
    cells, keys, points, n_levels = grown.orderly
    end = end_of(cells, max(grown.roots))
    n_keys, rest = divmod(grown.n_bytes - 4 * (end - 1), 12)
    assert rest == 0
    values = (cells[1:end].tolist(), keys[:n_keys].tolist(), points[:n_keys].tolist(), n_levels)
    return (*grown[1:], *values)


def survivors(
    grown: Grown, cutoff: int, bare: dict[int, str], at_most: int = 10**6, rim: str = ALPHABET
) -> tuple[set[bytes], int]:
    """Search the trees for rims of some letters; return the survivors, and the bound at the root."""
    case = Case("3x3", tuple(bare.get(c, rim) for c in range(9)), frozenset(bare), {})
    s = prepared(case)
    first = 0
    for root in grown.roots:
        first = int(bound.add_root(grown.orderly, s, root))
    rows = np.zeros((min(at_most, 1 << 16), 12), np.int8)
    found: set[bytes] = set()
    status = bound.SURVIVORS_FULL
    while status == bound.SURVIVORS_FULL and len(found) < at_most:
        before = int(s.counts[bound.SURVIVORS])
        status = bound.orderly_bound(grown.orderly, s, cutoff, 1 << 60, rows)
        found |= {row.tobytes() for row in rows[: int(s.counts[bound.SURVIVORS]) - before]}
    return found, first


def good_cutoff(bare: dict[int, str], share: float = 0.97) -> int:
    """Return a cutoff near the best multi-score, so that the survivors are few and not none."""
    grown = new_forest().grow(node_with(bare), free_of(node_with(bare)))
    assert grown is not None
    high = low = survivors(grown, 10**6, bare)[1]
    while not survivors(grown, low, bare, 2000)[0]:
        low = int(low * share)
    assert low < high
    return low


BARE = [{4: "e"}, {4: "t"}, {4: "z"}, {4: "e", 1: "s"}, {4: "a", 1: "e", 3: "t"}, {4: "est"}]


@pytest.mark.parametrize("bare", BARE)
def test_two_trees_are_looser_than_one_and_lose_nothing(bare):
    node = node_with(bare)
    free = free_of(node)
    cutoff = good_cutoff(bare)
    one = new_forest().grow(node, free)
    assert one is not None
    strict, strict_bound = survivors(one, cutoff, bare)
    assert one.bound == strict_bound
    both_in = new_forest()
    assert both_in.suits_rim(node, free)
    two = both_in.grow_beside_rim(node, free)
    assert two is not None
    assert len(two.roots) == 2
    loose, loose_bound = survivors(two, cutoff, bare)
    assert strict
    assert strict <= loose
    assert strict_bound <= loose_bound <= two.bound


@pytest.mark.parametrize("bare", BARE)
def test_survivors_bound_the_exact_scores(bare):
    """Random boards of the node that reach the cutoff are among the survivors of both."""
    node, rng = node_with(bare), random.Random(1)
    free = free_of(node)
    boards = ["".join(rng.choice(bare.get(c, "aest")) for c in range(9)) for _ in range(20_000)]
    scores = Scorer("3x3", WORDS, TABLES["standard"]).scores(boards)
    best = int(scores.max())
    good = {
        encode_boards([board], 9)[0, free].astype(np.int8).tobytes()
        for board, score in zip(boards, scores.tolist(), strict=True)
        if reaches(score, best)
    }
    in_use = new_forest()
    for grow in (in_use.grow, in_use.grow_beside_rim):
        grown = grow(node, free)
        assert grown is not None
        found = {row[: len(free)] for row in survivors(grown, best, bare, rim="aest")[0]}
        assert good <= found


def test_the_rim_tree_of_another_class_gives_what_a_new_one_gives():
    """The rim tree must not know the class it was grown for: its bare letters must absorb nothing there."""
    used = new_forest()
    nodes = [node_with({4: x}) for x in ("e", "t", "e", "z", "est", "a", "qz")]
    for node in nodes:
        free = free_of(node)
        again = snapshot(used.grow_beside_rim(node, free))
        assert again == snapshot(new_forest().grow_beside_rim(node, free))


def test_the_rim_tree_is_kept_for_the_same_bare_cells_and_grown_anew_for_others():
    used = new_forest()
    node, other = node_with({4: "e"}), node_with({4: "e", 1: "s"})
    kept = []
    for x in (node, node_with({4: "t"}), other, node, node_with({4: "a", 1: "t"}), other):
        free = free_of(x)
        assert snapshot(used.grow_beside_rim(x, free)) == snapshot(new_forest().grow_beside_rim(x, free))
        kept.append(used._rim)
    assert kept[0] is kept[1]
    assert kept[1] is not kept[2]
    assert kept[4] is kept[5]


def test_one_tree_over_all_terms_takes_the_place_of_the_rim_tree():
    used = new_forest()
    node = node_with({4: "e"})
    free = free_of(node)
    beside = snapshot(new_forest().grow_beside_rim(node, free))
    alone = snapshot(new_forest().grow(node, free))
    for _ in range(2):
        assert snapshot(used.grow_beside_rim(node, free)) == beside
        assert snapshot(used.grow(node, free)) == alone


def test_only_open_cells_suit_the_rim_tree():
    node = node_with({4: "e"})
    masks = list(node.masks)
    masks[0] &= ~1
    narrow = Node(tuple(masks), node.bare)
    assert new_forest().suits_rim(node, free_of(node))
    assert not new_forest().suits_rim(narrow, free_of(narrow))
    large = Forest(geometry("4x5"), WORDS, POINTS, PARAMS)
    assert not large.suits_rim(Node((ALL,) * 20, 0), list(range(20)))


@pytest.mark.parametrize("grow", ["grow", "grow_beside_rim"])
def test_memory_too_small_gives_none_and_the_next_node_its_tree(grow, monkeypatch):
    node = node_with({4: "e"})
    free = free_of(node)
    whole = getattr(new_forest(), grow)(node, free)
    wanted = snapshot(whole)
    few = node_with(dict.fromkeys(range(8), "z"))
    wanted_few = snapshot(getattr(new_forest(), grow)(few, free_of(few)))
    monkeypatch.setattr(forest, "_BYTES_PER_TERM", 1 << 20)
    outcomes = []
    for capacity in (1, whole.n_terms // 2, whole.n_terms, 20 * whole.n_terms):
        small = new_forest(params=Params(memory_mb=capacity))
        for _ in range(2):
            grown = getattr(small, grow)(node, free)
            outcomes.append(grown is not None)
            assert grown is None or snapshot(grown) == wanted
            assert snapshot(getattr(small, grow)(few, free_of(few))) == wanted_few
    assert outcomes[:2] == [False, False]
    assert outcomes[-2:] == [True, True]
    assert outcomes[::2] == outcomes[1::2]


def broken(breaker: Breaker, class_id: int) -> list[UnitResult]:
    todo, results = [Unit(class_id)], []
    while todo:
        results.append(breaker.break_unit(todo.pop()))
        todo += results[-1].children
    return results


def images(board: str) -> set[str]:
    return {"".join(board[c] for c in row) for row in geometry("3x3").symmetries.tolist()}


def found_by(params: Params, cutoff: int, classes: str) -> tuple[set[tuple[str, int]], int]:
    breaker = Breaker(Spec("3x3", WORDS, POINTS, cutoff, BUCKETS, params))
    results = [result for letter in classes for result in broken(breaker, ALPHABET.index(letter))]
    listed = {(image, score) for result in results for board, score in result.candidates for image in images(board)}
    return listed, sum(result.counters["n_splits"] for result in results)


@pytest.fixture(scope="module")
def cutoff() -> int:
    """Return the best score of some random boards, hill-climbed."""
    rng = random.Random(2)
    scorer = Scorer("3x3", WORDS, ScoreTable("run", POINTS))
    pool = ["".join(rng.choices("aest", k=9)) for _ in range(3000)]
    for _ in range(30):
        parents = rng.choices(pool[:200], k=1000)
        pool += ["".join(rng.choice("aest") if rng.random() < 0.2 else x for x in board) for board in parents]
        values = dict(zip(pool, scorer.scores(pool).tolist(), strict=True))
        pool = sorted(values, key=lambda b: -values[b])[:300]
    return int(values[pool[0]])


def test_candidates_are_the_same_with_and_without_a_rim_tree(cutoff, monkeypatch):
    with_rim, _ = found_by(PARAMS, cutoff, "etsa")
    assert with_rim
    monkeypatch.setattr(Forest, "suits_rim", lambda *_: False)
    without, _ = found_by(PARAMS, cutoff, "etsa")
    assert without == with_rim


def test_a_breaker_without_the_memory_splits_and_finds_the_same(cutoff, monkeypatch):
    wanted, n_before = found_by(PARAMS, cutoff, "es")
    whole = new_forest().grow_beside_rim(node_with({4: "e"}), free_of(node_with({4: "e"})))
    assert whole is not None
    rim = whole.n_terms
    monkeypatch.setattr(forest, "_BYTES_PER_TERM", 1 << 20)
    for share in (1, 3):
        small = Params(memory_mb=max(1, rim // share))
        got, n_splits = found_by(small, cutoff, "es")
        assert got == wanted
        assert n_splits > n_before
