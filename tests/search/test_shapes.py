"""Terms from path shapes: exactly the terms that the two marks leave, and between them every
minimal term.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection
from functools import cache, lru_cache
from itertools import permutations

import numpy as np
import pytest

from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.jit import frozen
from orderly_boggle.search.scoring.trie import Trie, build_trie
from orderly_boggle.search.terms import shapes
from orderly_boggle.search.terms.emit import Rim
from orderly_boggle.search.terms.path_table import (
    MAX_EXTRA,
    PathTable,
    Words,
    _TableBuilder,
    extra_cells,
    path_table,
    word_arrays,
)
from orderly_boggle.search.terms.paths import (
    LONGEST_WIDE,
    MAX_BARE,
    MAX_LENGTH,
    longest_path,
    pairs_of,
)
from tests.reference.orderly import Literals, Term
from tests.reference.solver import paths_of
from tests.samples import daily
from tests.search.harness import Case, decoded, random_case, seeds
from tests.search.test_paths import is_path

EVERY = "abcdefghijklmnopqrstuvwxyz"
Path = tuple[int, ...]
Demands = tuple[tuple[int, int], ...]
SEEDS = seeds({"2x2": 30, "2x3": 30, "3x3": 20, "3x4": 5})
N_DAILY = {"2x2": 10, "2x3": 10, "3x3": 6, "3x4": 1}
EVERY_DAY = [(dims, seed) for dims, seed in SEEDS if seed < N_DAILY[dims]]
REPEATS = ("eeee", "eee", "sasses", "assesses", "noon", "level", "ee", "e", "esse", "sees", "aaaa")


def opened(case: Case, seed: int) -> Case:
    """Return the case with some free cells open to all letters."""
    rng = random.Random(seed)
    letters = [
        EVERY if c not in case.bare and rng.random() < 0.6 else x
        for c, x in enumerate(case.letters)
    ]
    return Case(case.dims, tuple(letters), case.bare, case.points)


@cache
def shape_case(dims: str, seed: int) -> Case:
    return opened(random_case(dims, seed, bare=seed % 4 if dims != "3x4" else 4 + seed % 4), seed)


@cache
def repeats_case(dims: str, seed: int) -> Case:
    """Return words of few different letters on a board whose bare cells have those letters."""
    case = random_case(
        dims, seed, alphabet="aes", widest=2, bare=seed % 4 + (3 if dims == "3x4" else 0)
    )
    words = [w for w in REPEATS if len(w) <= case.geometry.n]
    return opened(
        Case(dims, case.letters, case.bare, {w: i + 1 for i, w in enumerate(words)}), seed
    )


def rim_of(
    case: Case,
    n_extra: int = 0,
    demands: Demands = (),
    order: str = EVERY,
    kin: tuple[np.ndarray, np.ndarray] | None = None,
) -> Rim:
    """Return what the kernel is told of a case; of the demands, those between two free cells."""
    bare = [c for c in case.geometry.cell_order if c in case.bare]
    on_bare = [sum(1 << i for i, c in enumerate(bare) if x in case.letters[c]) for x in EVERY]
    tight = [(level, c) for level, c in enumerate(case.free) if case.letters[c] != EVERY]
    shift = [5 * (case.n_levels - 1 - level) for level, _ in tight]
    forbidden = [
        sum(1 << i + 1 for i, x in enumerate(EVERY) if x not in case.letters[c]) for _, c in tight
    ]
    arrays = [frozen(np.array(values, np.int64)) for values in (on_bare, shift, forbidden)]
    shifts = {c: 5 * (case.n_levels - 1 - level) for level, c in enumerate(case.free)}
    pairs = [(shifts[c], shifts[d]) for c, d in demands if c in shifts and d in shifts]
    smaller = [
        0,
        *(sum(2 << ord(y) - 97 for y in order[: order.index(x)]) for x in EVERY),
        *[0] * 5,
    ]
    ordered = frozen(np.array(pairs, np.int64).reshape(-1, 2))
    smaller_codes = frozen(np.array(smaller, np.int64))
    nobody = np.zeros(0, np.int64), np.zeros((0, len(case.points)), np.int8)
    return Rim(*arrays, ordered, smaller_codes, *map(frozen, kin or nobody), n_extra)


def trie_of(case: Case) -> Trie:
    return _made(case.dims, tuple(case.points.items()))[0]


def words_of(case: Case) -> Words:
    return _made(case.dims, tuple(case.points.items()))[1]


@lru_cache(maxsize=16)
def _made(dims: str, points: tuple[tuple[str, int], ...]) -> tuple[Trie, Words]:
    trie = build_trie(dict(points), geometry(dims).n)
    return trie, word_arrays(trie, geometry(dims).n)


def code_bits(case: Case) -> int:
    return max(case.points.values()).bit_length() + 1


@lru_cache(maxsize=4)
def table_of(dims: str, bare: int, lengths: tuple[int, ...]) -> PathTable:
    """Return the path table of a board; of 4x4, whose table takes half a minute, with the paths of
    these lengths only.
    """
    if dims != "4x4":
        return path_table(dims, bare, max(lengths))
    board = geometry(dims)
    builder = _TableBuilder(board, bare)
    for length in lengths:
        builder.add(length)
    return PathTable._make([*builder.arrays(), bare.bit_count(), len(extra_cells(board, bare))])


def run(
    case: Case,
    new: int = 0,
    capacity: int = 1 << 16,
    limit: np.uint64 = shapes.NO_LIMIT,
    n_extra: int = 0,
    only: int = shapes.ALL,
    rim: Rim | None = None,
    segments: np.ndarray | None = None,
) -> tuple[int, np.ndarray]:
    """Return the status and the terms as the kernel left them; the code of a word is its points.

    n_extra : so many of the bare cells, the last in cell order, are extra cells of a table for the
        others
    """
    ordered = [c for c in case.geometry.cell_order if c in case.bare]
    bare = sum(1 << c for c in ordered[: len(ordered) - n_extra])
    table = table_of(case.dims, bare, tuple(sorted(set(map(len, case.points)))))
    words = words_of(case)
    terms = np.zeros(capacity, np.uint64)
    rim = rim or rim_of(case, n_extra)
    if segments is None:
        segments = np.empty(0, np.int32)
    n, _ = shapes.shape_terms(words, table, rim, terms, code_bits(case), new, limit, only, segments)
    return int(n), terms[: max(0, int(n))]


def shape_found(case: Case, new: int = 0) -> Counter[Term]:
    words = {points: word for word, points in case.points.items()}
    n, terms = run(case, new)
    assert n == len(terms)
    found: Counter[Term] = Counter()
    for key in terms.tolist():
        code = key & (1 << code_bits(case) - 1) - 1
        loss = key >> code_bits(case) - 1 & 1
        found[words[code], decoded(case, key >> code_bits(case))] += -1 if loss else 1
    return found


@cache
def pairs_with_a_bit(length: int) -> list[list[int]]:
    return pairs_of(length).tolist()


def dominated(
    case: Case, word: str, path: Path, tied: Collection[tuple[str, int, int]] = ()
) -> bool:
    """Return whether one move makes the path dominated, or one swap of equal letters.

    A move goes from a free cell to a bare one, or from a bare cell to one before it; of the words,
    positions and cells in ``tied`` there is none.
    """
    board = case.geometry
    bare = [c for c in board.cell_order if c in case.bare][:MAX_BARE]
    for t, cell in enumerate(path):
        before = bare[: bare.index(cell)] if cell in bare else bare
        if (word, t, cell) not in tied and any(
            word[t] in case.letters[b]
            and (word, t, b) not in tied
            and is_path(board, (*path[:t], b, *path[t + 1 :]))
            for b in before
        ):
            return True
    for i, j in pairs_with_a_bit(len(word)):
        if word[i] == word[j] and path[i] > path[j]:
            swapped = list(path)
            swapped[i], swapped[j] = path[j], path[i]
            if is_path(board, tuple(swapped)):
                return True
    return False


def term_of(case: Case, word: str, path: Path) -> Term:
    return word, frozenset((c, x) for c, x in zip(path, word, strict=True) if c not in case.bare)


@pytest.mark.parametrize("make", [shape_case, repeats_case])
@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_terms_are_those_whose_path_is_not_superfluous(dims, seed, make):
    case = make(dims, seed)
    kept = [
        term_of(case, word, path)
        for word in case.points
        for path in paths_of(case.letters, *case.size, word)
        if not dominated(case, word, path)
    ]
    found = shape_found(case)
    assert found == Counter(kept)
    assert set(case.minimal_terms) <= set(found), "a minimal term is lost"
    assert set(found) <= set(case.all_terms), "not a term of the word"


def meets(term: Literals, demands: Demands, order: str) -> bool:
    """Return whether the letters of a term meet the demands between them."""
    letters = dict(term)
    met = [
        order.index(letters[c]) <= order.index(letters[d])
        for c, d in demands
        if c in letters and d in letters
    ]
    return all(met)


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_terms_that_contradict_a_demand_are_left_out(dims, seed):
    """Gains and losses, of all bare cells and of the last one."""
    case = (repeats_case if seed % 2 else shape_case)(dims, seed)
    rng = random.Random(seed)
    order = "".join(rng.sample(EVERY, 26))
    cells = rng.sample(range(case.geometry.n), min(4, case.geometry.n))
    demands = tuple((c, d) for c, d in permutations(cells, 2) if rng.random() < 0.5)
    for new in {0, (1 << len(case.bare)) - 1, 1 << len(case.bare) >> 1}:
        _, every = run(case, new)
        _, found = run(case, new, rim=rim_of(case, 0, demands, order))
        kept = [
            x for x in every.tolist() if meets(decoded(case, x >> code_bits(case)), demands, order)
        ]
        assert sorted(found.tolist()) == sorted(kept)


def test_few_more_terms_than_minimal_ones():
    """One move at a time absorbs less than the definition: a few terms more, in words that can move
    a lot.
    """
    some = ("seat", "tease", "state", "assets", "estate", "rates", "tasters", "easter")
    words = {w: i + 1 for i, w in enumerate(some)}
    n_found = n_minimal = 0
    for seed in range(6):
        rng = random.Random(seed)
        bare = frozenset({4, *rng.sample([1, 3, 5, 7], 2)})
        letters = tuple(rng.choice("aerst") if c in bare else EVERY for c in range(9))
        case = Case("3x3", letters, bare, words)
        n_found += shape_found(case).total()
        n_minimal += len(case.minimal_terms)
    assert n_minimal <= n_found < 1.2 * n_minimal


def test_there_was_something_to_absorb_to_swap_and_to_restrict():
    cases = [make(dims, seed) for dims, seed in SEEDS[:80:4] for make in (shape_case, repeats_case)]
    n_paths = sum(len(case.paths) for case in cases)
    n_found = sum(shape_found(case).total() for case in cases)
    assert n_found < 0.8 * n_paths
    assert sum(any(case.letters[c] != EVERY for c in case.free) for case in cases) > 5
    assert sum(any(len(case.letters[c]) > 1 for c in case.bare) for case in cases) > 5


def first_bare(dims: str, seed: int) -> Case:
    """Return a case whose bare cells are the first in cell order, at least one of them."""
    case = (repeats_case if seed % 2 else shape_case)(dims, seed)
    order = case.geometry.cell_order
    rng = random.Random(seed)
    bare = order[: rng.randint(1, min(case.geometry.n - 1, 7)) if dims != "3x4" else 7]
    letters = tuple(
        "".join(rng.sample("aest", rng.randint(1, 2))) if c in bare else EVERY for c in order
    )
    placed = tuple(letters[order.index(c)] for c in range(case.geometry.n))
    return opened(Case(dims, placed, frozenset(bare), case.points), seed)


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_extra_cells_of_a_smaller_table_give_the_same_terms(dims, seed):
    """All of a node, what its last cells change, up to a limit, and counted: whichever table they
    come from.
    """
    case = first_bare(dims, seed)
    n_bare = len(case.bare)
    limit = np.uint64((1 << 5 * (case.n_levels - 1) + code_bits(case)) - 1)
    for n_old in range(n_bare + 1):
        new = (1 << n_bare) - (1 << n_old) if n_old < n_bare else 0
        _, every = run(case, new)
        n_at_most, nothing = run(case, new, 0)
        assert n_at_most >= sum(term >> code_bits(case) - 1 & 1 == 0 for term in every.tolist())
        assert nothing.size == 0
        for n_extra in range(min(MAX_EXTRA, n_bare) + 1):
            for at_most in (shapes.NO_LIMIT, limit):
                wanted = sorted(term for term in every.tolist() if term <= at_most)
                assert sorted(run(case, new, limit=at_most, n_extra=n_extra)[1].tolist()) == wanted
                _, lost = run(case, new, limit=at_most, n_extra=n_extra, only=shapes.LOSSES)
                assert sorted(lost.tolist()) == [
                    x for x in wanted if new and x >> code_bits(case) - 1 & 1
                ]
                _, gained = run(case, new, limit=at_most, n_extra=n_extra, only=shapes.GAINS)
                assert sorted(gained.tolist()) == [
                    x for x in wanted if not x >> code_bits(case) - 1 & 1
                ]
            assert run(case, new, 0, n_extra=n_extra)[0] == n_at_most


def without(case: Case, cells: frozenset[int]) -> Case:
    """Return the case in which some bare cells have no letter at all: their paths give no terms."""
    letters = tuple("" if c in cells else x for c, x in enumerate(case.letters))
    return Case(case.dims, letters, case.bare, case.points)


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_what_new_bare_cells_change_makes_the_terms_of_the_node_out_of_those_below(dims, seed):
    case = shape_case(dims, seed)
    bare = [c for c in case.geometry.cell_order if c in case.bare]
    for n_old in range(len(bare)):
        below = shape_found(without(case, frozenset(bare[n_old:])))
        change = shape_found(case, (1 << len(bare)) - (1 << n_old))
        below.update(change)
        assert all(n >= 0 for n in below.values())
        assert +below == shape_found(case)


def test_new_bare_cells_gain_and_lose_terms():
    seen = set()
    for dims, seed in SEEDS[:60]:
        case = shape_case(dims, seed)
        if case.bare:
            seen |= {n > 0 for n in shape_found(case, (1 << len(case.bare)) - 1).values()}
    assert seen == {False, True}


@pytest.mark.parametrize("seed", range(5))
def test_a_full_term_array_is_reported_or_did_not_matter(seed):
    case = shape_case("3x3", seed)
    n, terms = run(case)
    assert n > 20
    n_full = 0
    for capacity in [1, n // 2, n - 1, n, n + 1, n + 10, 2 * n, 1 << 18]:
        status, found = run(case, capacity=capacity)
        if status == shapes.TERMS_FULL:
            n_full += 1
            assert capacity < 1 << 18
        else:
            assert capacity >= n
            assert sorted(found.tolist()) == sorted(terms.tolist())
    assert n_full >= 4


def test_words_and_their_equal_letters():
    words = word_arrays(build_trie({"abc": 1, "a" * 16: 2, "b" * 17: 3, "level": 4}, 17), 16)
    assert words.length.tolist() == [3, 5, 16], "no board of 16 cells has a longer one"
    assert words.code.tolist() == [1, 4, 2]
    assert words.letters.shape == (3, MAX_LENGTH)
    assert words.n_whole == 3
    same = [
        tuple(pair) for x, pair in enumerate(pairs_of(5).tolist()) if int(words.equal[1]) >> x & 1
    ]
    assert sorted(same) == [(0, 4), (1, 3)]
    case = Case("2x2", (EVERY,) * 4, frozenset(), {"abc": 1, "abcde": 2})
    assert {word for word, _ in shape_found(case)} == {"abc"}
    assert run(Case("2x2", (EVERY,) * 4, frozenset(), {"abcde": 1}))[0] == 0


@pytest.mark.parametrize("n_cells", [15, 16, 17, 18, 25])
def test_words_longer_than_the_longest_paths_are_cut_and_come_last(n_cells):
    """Words of every length on both sides of the one at which they are cut, and of the board."""
    points = {EVERY[:length]: length for length in range(3, 27)}
    points["abcdefghijkz"] = 27  # cut like another one
    words = word_arrays(build_trie(points, n_cells), n_cells)
    longest = longest_path(n_cells)
    assert longest == (min(n_cells, 16) if n_cells <= 16 else LONGEST_WIDE)
    fitting = sorted((word for word in points if len(word) <= n_cells), key=len)
    assert words.length.tolist() == [min(len(word), longest) for word in fitting]
    assert words.n_whole == sum(len(word) <= longest for word in fitting)
    texts = [
        "".join(EVERY[x] for x in row[:n])
        for row, n in zip(words.letters.tolist(), words.length.tolist(), strict=True)
    ]
    assert texts == [word[:longest] for word in fitting]
    assert not any(row[n:].any() for row, n in zip(words.letters, words.length, strict=True))
    assert not words.equal.any()


def side_to_side(dims: str) -> list[int]:
    """Return the path from side to side through all cells."""
    w, h = geometry(dims).dims
    path = []
    for y in range(h):
        path += [x * h + y for x in (range(w) if y % 2 else reversed(range(w)))]
    return path


def snake(dims: str, seed: int) -> Case:
    """Return a class on which some words of nine letters to all of the board's lie: a random path
    has their letters, other cells and some of its own have more.
    """
    rng = random.Random(f"snake {dims} {seed}")
    path = side_to_side(dims)
    text = "".join(rng.choice("aest") for _ in path)
    letters = [""] * len(path)
    for cell, x in zip(path, text, strict=True):
        letters[cell] = "".join(sorted({x, rng.choice("aest")} if rng.random() < 0.3 else {x}))
    words = set()
    for length in range(9, len(path) + 1):
        begin = rng.randint(0, len(path) - length)
        words.add(text[begin : begin + length])
        words.add(text[begin : begin + length - 1] + rng.choice("aest"))
    n_bare = rng.randint(len(path) - 12, len(path) - 6)
    order = geometry(dims).cell_order
    bare = order[:n_bare] if seed % 2 else rng.sample(order, n_bare)
    # more points than seven have no room beside twelve levels
    some = [max(words, key=len), *rng.sample(sorted(words), min(6, len(words)))]
    some = list(dict.fromkeys(some))
    return Case(dims, tuple(letters), frozenset(bare), {x: i + 1 for i, x in enumerate(some)})


@pytest.mark.parametrize(
    ("dims", "seed"), [(dims, seed) for dims in ("2x8", "2x9", "3x6") for seed in range(4)]
)
def test_a_word_that_is_cut_has_the_terms_of_what_is_left_of_it(dims, seed):
    """On both sides of sixteen cells: there whole words, here those of up to eleven letters."""
    case = snake(dims, seed)
    longest = longest_path(case.geometry.n)
    wanted: Counter[tuple[Literals, int]] = Counter()
    for word, points in case.points.items():
        for path in paths_of(case.letters, *case.size, word[:longest]):
            if not dominated(case, word[:longest], path):
                wanted[term_of(case, word[:longest], path)[1], points] += 1
    found: Counter[tuple[Literals, int]] = Counter()
    _, terms = run(case)
    for term in terms.tolist():
        found[decoded(case, term >> code_bits(case)), term & (1 << code_bits(case) - 1) - 1] += 1
    assert found == wanted
    assert max(map(len, case.points)) > LONGEST_WIDE
