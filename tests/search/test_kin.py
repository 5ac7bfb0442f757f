"""Words that differ only in the letter on a fused cell: who is kin, which terms are left, and that
no board has more points than those that hold on it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest

from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.partition import letter_mask
from orderly_boggle.search.breaker import Breaker, Unit
from orderly_boggle.search.node import Node
from orderly_boggle.search.scoring.trie import build_trie
from orderly_boggle.search.terms.emit import Rim
from orderly_boggle.search.terms.kin import NOT_TIED, PLACE, SILENT, Kin
from orderly_boggle.search.trees.forest import Forest
from tests.params import Params, spec_of
from tests.reference.orderly import Weighted, all_scores, multi_score_of
from tests.reference.solver import paths_of
from tests.samples import daily
from tests.search.harness import Case, decoded, random_words, seeds
from tests.search.test_shapes import (
    EVERY,
    code_bits,
    dominated,
    rim_of,
    run,
    trie_of,
    without,
    words_of,
)

BUCKETS = [("ae", "st"), ("aes", "tz"), ("aest",), ("ae", "es", "tz"), ("st",)]
SEEDS = seeds({"2x2": 1500, "2x3": 1500, "3x3": 60})
N_DAILY = {"2x2": 150, "2x3": 100, "3x3": 10}
EVERY_DAY = [(dims, seed) for dims, seed in SEEDS if seed < N_DAILY[dims]]


def joined(buckets: Sequence[str]) -> list[str]:
    """Return the buckets; those that share letters as one."""
    found = [set(bucket) for bucket in buckets]
    while pair := next((p for p in combinations(found, 2) if p[0] & p[1]), None):
        found = [x for x in found if x not in pair] + [pair[0] | pair[1]]
    return ["".join(sorted(bucket)) for bucket in found]


def only_place(word: str, bucket: str) -> int | None:
    """Return the place of the only letter that a word has of a bucket."""
    places = [t for t, letter in enumerate(word) if letter in bucket]
    return places[0] if len(places) == 1 else None


def wild(word: str, buckets: Sequence[str]) -> str:
    """Return a word with a digit for each letter that is its only one of a bucket."""
    letters = list(word)
    for number, bucket in enumerate(buckets):
        place = only_place(word, bucket)
        if place is not None:
            letters[place] = str(number)
    return "".join(letters)


def in_order(words: Iterable[str]) -> list[str]:
    """Return the words as the program numbers them: by length, then by letters."""
    by_letters = sorted(words)
    return sorted(by_letters, key=len)


def kin_of(points: dict[str, int], letters: str, buckets: Sequence[str]) -> dict[str, int]:
    """Return Kin.on by its definition, by word."""
    every = joined(buckets)
    bucket = next((x for x in every if set(letters) <= set(x)), None)
    if bucket is None:
        return dict.fromkeys(points, NOT_TIED)
    place = {}
    for word in in_order(points):
        t = only_place(word, bucket)
        if t is not None and word[t] in letters:
            place[word] = t
    of_house: dict[tuple[str, int], set[str]] = {}
    for word, t in place.items():
        of_house.setdefault((wild(word, every), points[word]), set()).add(word[t])
    found = dict.fromkeys(points, NOT_TIED)
    spoken = set()
    for word, t in place.items():
        if len(of_house[wild(word, every), points[word]]) > 1:
            family = wild(word, [bucket]), points[word]
            found[word] = t | SILENT * (family in spoken)
            spoken.add(family)
    return found


@cache
def kin_case(dims: str, seed: int) -> tuple[Case, tuple[str, ...]]:
    """Return a class with fused cells, and the buckets that its letters are from."""
    rng = random.Random(f"kin {dims} {seed}")
    n = geometry(dims).n
    buckets = BUCKETS[seed % len(BUCKETS)]
    n_bare = rng.randint(1, min(5, n - 1))
    bare = rng.sample(range(n), n_bare)
    letters = ["".join(sorted(rng.sample("aest", rng.randint(1, 2)))) for _ in range(n)]
    for cell in bare:
        bucket = rng.choice(buckets)
        n_letters = rng.randint(1, len(bucket))
        letters[cell] = "".join(sorted(rng.sample(bucket, n_letters)))
    words = sorted(families(rng, buckets, min(n, 5)))
    points = {word: len(word) + (rng.random() < 0.1) for word in words}
    return Case(dims, tuple(letters), frozenset(bare), points), buckets


def families(rng: random.Random, buckets: Sequence[str], longest: int) -> set[str]:
    """Return a few words, and others that differ from one of them in letters of the same bucket:
    only few words have no others to hide behind where one is not counted.
    """
    words = set(random_words(rng, "aestz", rng.randint(1, 3), longest))
    for _ in range(rng.randint(1, 12)):
        word = list(rng.choice(sorted(words)))
        t = rng.randrange(len(word))
        others = "".join(bucket for bucket in buckets if word[t] in bucket)
        word[t] = rng.choice(others or "aest")
        words.add("".join(word))
    return words


def rim_with_kin(case: Case, buckets: Sequence[str]) -> Rim:
    """Return what the kernel is told of a case whose fused cells have kin."""
    words = words_of(case)
    kin = Kin(words, map(letter_mask, buckets))
    bare = [c for c in case.geometry.cell_order if c in case.bare]
    fused = [i for i, c in enumerate(bare) if len(case.letters[c]) > 1]
    rows = np.zeros((len(fused), words.length.size), np.int8)
    for row, i in zip(rows, fused, strict=True):
        row[:] = kin.on(letter_mask(case.letters[bare[i]]))
    return rim_of(case, kin=(np.array(fused, np.int64), rows))


def found_with(case: Case, rim: Rim, new: int = 0) -> Counter[tuple[frozenset, int]]:
    """Return how many terms there are, by literals and points."""
    found: Counter[tuple[frozenset, int]] = Counter()
    points = trie_of(case).points
    _, terms = run(case, new, rim=rim)
    for term in terms.tolist():
        code = term & (1 << code_bits(case) - 1) - 1
        is_lost = term >> code_bits(case) - 1 & 1
        found[decoded(case, term >> code_bits(case)), int(points[code])] += -1 if is_lost else 1
    return found


def held(board: str, terms: Counter[tuple[frozenset, int]]) -> int:
    """Return the points of the terms that hold on a board."""
    weighted: Weighted = [(literals, n * points) for (literals, points), n in terms.items()]
    return multi_score_of(board, weighted)


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_kin_are_those_of_the_definition(dims, seed):
    case, buckets = kin_case(dims, seed)
    words = words_of(case)
    texts = in_order(case.points)
    kin = Kin(words, map(letter_mask, buckets))
    for letters in ("ae", "st", "es", "tz", "aes", "aest", "ez"):
        wanted = kin_of(case.points, letters, buckets)
        assert kin.on(letter_mask(letters)).tolist() == [wanted[word] for word in texts]


def wanted_terms(case: Case, buckets: Sequence[str]) -> Counter[tuple[frozenset, int]]:
    """Return the terms by the definition: those that speak and that no move or swap dominates."""
    kin = {
        cell: kin_of(case.points, case.letters[cell], buckets)
        for cell in case.bare
        if len(case.letters[cell]) > 1
    }
    tied = {
        (word, of_word[word] & PLACE, cell)
        for cell, of_word in kin.items()
        for word in case.points
        if of_word[word] != NOT_TIED
    }
    wanted: Counter[tuple[frozenset, int]] = Counter()
    for word, points in case.points.items():
        for path in paths_of(case.letters, *case.size, word):
            places = [(t, cell) for t, cell in enumerate(path) if (word, t, cell) in tied]
            is_silent = any(kin[cell][word] & SILENT for _, cell in places)
            if not is_silent and not dominated(case, word, path, tied):
                literals = zip(path, word, strict=True)
                wanted[frozenset(x for x in literals if x[0] not in case.bare), points] += 1
    return wanted


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_terms_are_those_that_speak_and_that_nothing_takes_away(dims, seed):
    case, buckets = kin_case(dims, seed)
    wanted = wanted_terms(case, buckets)
    assert found_with(case, rim_with_kin(case, buckets)) == wanted


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_no_board_has_more_points_than_the_terms_that_hold(dims, seed):
    case, buckets = kin_case(dims, seed)
    terms = found_with(case, rim_with_kin(case, buckets))
    for board, score in all_scores(case.letters, case.size, case.points).items():
        assert score <= held(board, terms)


@pytest.mark.parametrize("letters", list(permutations(["a", "ae", "st", "z"])))
def test_a_word_stays_where_kin_of_its_kin_lie(letters):
    """`etz` and `atz` are on a board with `e` and `t`, the latter by way of the lone `a`.

    There `atz` speaks for `etz`, and `asz` for `atz`.  Nothing is kin of `asz` on the first fused
    cell, and yet its path over that cell must not move to the lone `a`.
    """
    bare = frozenset(cell for cell in range(4) if letters[cell] != "z")
    case = Case("2x2", letters, bare, dict.fromkeys(["asz", "atz", "etz"], 1))
    terms = found_with(case, rim_with_kin(case, ("ae", "st")))
    assert all(
        score <= held(board, terms)
        for board, score in all_scores(letters, (2, 2), case.points).items()
    )


def test_words_that_are_cut_alike_both_count():
    """On more than sixteen cells a long word is known by its first letters, and two that have these
    in common may lie on one board.
    """
    h = 9
    path = [x * h + y for y in range(h) for x in ((0, 1) if y % 2 else (1, 0))]
    text = "bcdefghijklmnoprst"
    letters = [""] * len(path)
    for cell, letter in zip(path, text, strict=True):
        letters[cell] = letter
    letters[path[3]] = "ae"
    words = [
        text[:12],
        text[:14],
        text[:11],
        f"{text[:3]}a{text[4:12]}",
        f"{text[:3]}a{text[4:11]}",
    ]
    case = Case("2x9", tuple(letters), frozenset(path[:7]), dict.fromkeys(words, 5))
    terms = found_with(case, rim_with_kin(case, ("ae",)))
    scores = all_scores(case.letters, case.size, case.points)
    assert max(scores.values()) == 15
    assert all(score <= held(board, terms) for board, score in scores.items())


def test_the_terms_that_hold_have_fewer_points_than_without_kin():
    n_less = 0
    for dims, seed in EVERY_DAY:
        case, buckets = kin_case(dims, seed)
        terms = found_with(case, rim_with_kin(case, buckets))
        all_terms = found_with(case, rim_of(case))
        for board in all_scores(case.letters, case.size, case.points):
            n_less += held(board, terms) < held(board, all_terms)
    assert n_less > 50


@pytest.mark.parametrize(("dims", "seed"), daily(EVERY_DAY, SEEDS))
def test_what_new_bare_cells_change_makes_the_terms_out_of_those_below(dims, seed):
    """Also where the new cell is a fused one: below it there is a hole."""
    case, buckets = kin_case(dims, seed)
    bare = [c for c in case.geometry.cell_order if c in case.bare]
    rim = rim_with_kin(case, buckets)
    wanted = found_with(case, rim)
    last_ones = [bare[n:] for n in range(len(bare))]
    for cells in last_ones + [[cell] for cell in bare]:
        below = without(case, frozenset(cells))
        terms = found_with(below, rim_with_kin(below, buckets))
        new = sum(1 << bare.index(cell) for cell in cells)
        terms.update(found_with(case, rim, new))
        assert all(n >= 0 for n in terms.values())
        assert +terms == wanted


def bound_with(words: Sequence[str], buckets: Sequence[str]) -> int:
    """Return the bound of the 3x3 class with `c` and `d` on the centre cell, one point a word."""
    board = geometry("3x3")
    trie = build_trie(dict.fromkeys(words, 1), board.n)
    params = Params(memory_mb=16)
    forest = Forest(board, trie, params.rules, params.budgets, map(letter_mask, buckets))
    masks = [(1 << 26) - 1] * board.n
    masks[4] = letter_mask("cd")
    free = [cell for cell in board.cell_order if cell != 4]
    grown = forest.grow(Node(tuple(masks), 1 << 4), free)
    assert grown
    return grown.bound


def test_a_search_counts_one_of_two_words_that_no_board_has_together():
    words = ("cat", "dat", "tea")
    fewer = bound_with(words, ["cd"])
    assert fewer < bound_with(words, []) == bound_with(words, ["ab"])
    partition = f"center: cd abefghijklmnopqrstuvwxyz, {EVERY}"
    params = Params(memory_mb=16)
    spec = spec_of("3x3", words, "words", fewer + 1, partition, params)
    result = Breaker(spec).break_unit(Unit(0))
    assert (result.status, result.max_bound) == ("eliminated", fewer)
    assert result.counters["n_pushes"] == 0
