"""Bounds against full enumerations: no bound of a class is below the score of one of its boards.

python -m tests.soundness.enumerations [--small] [--wordlist enable2k] [--seed 1]

    all 2x2 boards            26^4 = 456,976; every class of a partition; six bounds
    3x3 over five letters     5^9 = 1,953,125; every class of a partition of these letters; four
                              bounds
    random pairs              1,000 random parts of 3x3, 3x4 and 4x4 with 1,000 random boards in
                              each; three bounds
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from orderly_boggle.boardclass.board import LETTERS
from orderly_boggle.boardclass.canonical import canonical
from orderly_boggle.boardclass.geometry import CELL_TYPES, geometry
from orderly_boggle.boardclass.partition import letter_mask
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.search.class_bounds import orderly_bounds, walk_class
from orderly_boggle.search.node import Node
from orderly_boggle.search.scoring.scorer import Scorer
from orderly_boggle.search.trees import state
from orderly_boggle.search.trees.forest import Forest
from tests.params import Params
from tests.results.helpers import question_of

# Board size and ``shape_letters`` of random parts: 99 for the walk, 0 for path shapes, seconds for
# each part of 4x4.
KINDS = [("4x4", 0), ("3x4", 0), *[("3x3", 0), ("4x4", 99), ("3x4", 99), ("3x3", 99)] * 4]
TABLE = parse_scores("standard")
Bounds = dict[str, Callable[[Sequence[str]], int]]


def checker_bound(dims: str, words: Sequence[str]) -> Callable[[Sequence[str]], int]:
    """Return the bound of the independent checker, as a function of the letters of each cell."""
    shape = geometry(dims)
    question = question_of(shape, {word: TABLE.of(word) for word in words if len(word) <= shape.n})

    def value(letters: Sequence[str]) -> int:
        bounds = question.bounds(
            letters, [cell for cell in shape.cell_order if len(letters[cell]) > 1]
        )
        return bounds[0] + max(bounds[1:])

    return value


def tree_bound(forest: Forest, letters: Sequence[str], fused: Collection[int] = ()) -> int:
    """Return the bound of the search at the root of a part with some cells fused: of its tree, and
    of the state with the root pushed.
    """
    bare = {cell for cell, x in enumerate(letters) if len(x) == 1 or cell in fused}
    node = Node(tuple(map(letter_mask, letters)), sum(1 << cell for cell in bare))
    free = [cell for cell in forest.geometry.cell_order if cell not in bare]
    grown = forest.grow(node, free)
    assert grown is not None, "it fits the memory"
    s = state.sized_for(state.new_search(), grown.orderly, grown.root)
    rows = state.rows_at(s, 0)
    for level, cell in enumerate(free):
        rows[level, [x for x in range(26) if node.masks[cell] >> x & 1]] = 0
    return min(grown.bound, int(state.add_root(grown.orderly, s, grown.root)))


def bounds_for(
    dims: str, words: Sequence[str], params: Params, buckets: Sequence[str] = ()
) -> Bounds:
    """Return every bound there is, as functions of the letters of each cell."""
    scorer, board = Scorer(dims, words, TABLE), geometry(dims)
    forest = Forest(board, scorer.trie, params.rules, params.budgets)
    with_kin = Forest(
        board,
        scorer.trie,
        replace(params.rules, fused=CELL_TYPES),
        params.budgets,
        map(letter_mask, buckets),
    )
    return {
        "sum bound": lambda letters: walk_class(letters, scorer).sum_bound,
        "max bound": lambda letters: walk_class(letters, scorer).max_bound,
        "orderly bound": lambda letters: int(orderly_bounds(walk_class(letters, scorer).terms)[0]),
        "search": lambda letters: tree_bound(forest, letters),
        "search with every other cell fused": partial(
            tree_bound, with_kin, fused=range(0, board.n, 2)
        ),
        "checker": checker_bound(dims, words),
    }


def scores_of_all(dims: str, alphabet: str, words: Sequence[str]) -> NDArray[np.int32]:
    """Return the exact score of every board over an alphabet, one axis per cell."""
    n = geometry(dims).n
    values = np.array([LETTERS.index(x) for x in alphabet], np.uint8)
    boards = values[np.indices((len(alphabet),) * n).reshape(n, -1).T]
    return (
        Scorer(dims, words, TABLE)
        .scores(np.ascontiguousarray(boards))
        .reshape((len(alphabet),) * n)
    )


def enumerate_classes(
    dims: str, alphabet: str, buckets: Sequence[str], words: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, str, bool]]:
    """Yield (bound, class, whether it holds) for each class that the buckets make, against all of
    its boards.
    """
    exact = scores_of_all(dims, alphabet, words)
    for params in (Params(memory_mb=64, shape_letters=0), Params(memory_mb=64, shape_letters=99)):
        every = bounds_for(dims, words, params, buckets)
        for letters in product(buckets, repeat=geometry(dims).n):
            if canonical(letters, geometry(dims)) != letters:
                continue
            inside = np.ix_(*([alphabet.index(x) for x in cell] for cell in letters))
            best = int(exact[inside].max())
            for name in names:
                yield name, " ".join(letters), every[name](letters) >= best


def random_pairs(
    n_parts: int, n_boards: int, words: Sequence[str], seed: int
) -> Iterator[tuple[str, str, bool]]:
    """Yield (bound, part, whether it holds) for random parts, against random boards of each."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    scorers = {dims: Scorer(dims, words, TABLE) for dims in ("3x3", "3x4", "4x4")}
    every = {
        kind: bounds_for(kind[0], words, Params(memory_mb=256, shape_letters=kind[1]))
        for kind in set(KINDS)
    }
    for number in range(n_parts):
        dims, wide = KINDS[number % len(KINDS)]
        n = geometry(dims).n
        single = set(rng.sample(range(n), rng.randint(max(0, n - 12), n - 1)))
        n_letters = [1 if cell in single else rng.randint(2, 6) for cell in range(n)]
        letters = ["".join(sorted(rng.sample(LETTERS, k))) for k in n_letters]
        chosen = [
            numbers.choice([LETTERS.index(x) for x in cell], n_boards).astype(np.uint8)
            for cell in letters
        ]
        best = int(scorers[dims].scores(np.ascontiguousarray(np.stack(chosen, axis=1))).max())
        for name in ("orderly bound", "search", "checker"):
            yield name, f"{dims} {' '.join(letters)}", every[dims, wide][name](letters) >= best


def run(
    small: bool, wordlist: str, seed: int
) -> Iterator[tuple[str, Iterator[tuple[str, str, bool]]]]:
    """Yield each enumeration: what it is, and its comparisons."""
    words = load_wordlist(wordlist).words
    short = [word for word in words if len(word) <= 4]
    fused = "search with every other cell fused"
    names = ("sum bound", "max bound", "orderly bound", "search", fused, "checker")
    buckets = ["aeiou", "bcdfgjklmpvwxyz", "hnqrst"]
    yield "all 2x2 boards", enumerate_classes("2x2", LETTERS, buckets, short, names)
    alphabet = "aerst"
    buckets = ["a", "erst"] if small else ["ae", "r", "st"]
    fitting = [word for word in words if set(word) <= set(alphabet) and len(word) <= 9]
    yield "3x3 over five letters", enumerate_classes("3x3", alphabet, buckets, fitting, names[2:])
    yield "random pairs", random_pairs(*((12, 200) if small else (1000, 1000)), words, seed)


def main() -> None:
    """Print the counts; exit code 1 on any violation."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--wordlist", default="enable2k")
    parser.add_argument("--seed", type=int, default=1)
    told, n_violations = [], 0
    for what, checks in run(**vars(parser.parse_args())):
        found = list(checks)
        wrong = [
            f"the {name} of {letters} is below the score of a board\n"
            for name, letters, holds in found
            if not holds
        ]
        sys.stdout.writelines(wrong[:20])
        told.append(f"{what}: {len(found):,} bounds")
        n_violations += len(wrong)
    sys.stdout.write(
        f"{n_violations} violations ({'; '.join(told)}); {time.process_time():,.0f} CPU s\n"
    )
    sys.exit(n_violations > 0)


if __name__ == "__main__":
    main()
