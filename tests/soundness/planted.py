"""Planted winners: the class of a good board, with the cutoff at its score, must return that board.

python -m tests.soundness.planted --boards 1000 --seed 1 [--wordlist enable2k] [--wide]
python -m tests.soundness.planted --boards 24 --question 4x4-enable2k-words

Good boards are local optima of random ones.  They come in groups; each group draws letter buckets
of its own and other search parameters, so that both term generators, the rim tree, fused cells,
forced parts and spent budgets take part. With the cutoff one point higher the same class must not
return the board.  With a question its own classes and parameters are taken, such as loose trees,
and the best boards of a climb, one of each class.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.board import LETTERS
from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.partition import Partition, parse_partition
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.configs.model import load_config
from orderly_boggle.search.breaker import Breaker, Unit
from orderly_boggle.search.local.methods import Find, local_search
from orderly_boggle.search.params import DEMANDS
from orderly_boggle.search.scoring.scorer import Scorer, decode_boards
from tests.classes import canonical_rank, rank_of_board
from tests.params import Params, spec_of

COMMON = np.array([LETTERS.index(x) for x in "eeeaaariinoossttlldrcpmhgu"], np.uint8)
GROUP = 25


class Kind(NamedTuple):
    """What to plant: the best of ``n_tries`` optima, in classes of so many buckets for centre,
    edges and corners.
    """

    dims: str
    n_buckets: tuple[int, int, int]
    share: int
    n_tries: int = 1
    scores: str = "standard"


# The fewer buckets, the larger the classes: 3x3 up to an open rim, whose trees are grown in layers;
# 4x4 a few letters on each cell.
_STANDARD = (
    Kind("3x3", (26, 1, 1), 1, 20),
    Kind("3x3", (26, 2, 2), 2),
    Kind("3x3", (4, 4, 4), 4),
    Kind("3x3", (6, 3, 6), 2),
    Kind("3x4", (26, 5, 4), 3),
    Kind("3x4", (6, 6, 6), 4),
    Kind("4x4", (13, 8, 7), 3),
    Kind("4x4", (8, 9, 8), 2),
)
# With `powers` the words of each length have points of their own, with `words` all have the same.
OTHER_SCORES = tuple(
    kind._replace(scores=name, share=1)
    for name, kind in product(("powers", "words"), _STANDARD[4:])
)
KINDS = _STANDARD + OTHER_SCORES
# More free cells than a key holds: some of them are fused into groups of letters first.
WIDE = (Kind("3x6", (13, 9, 8), 1), Kind("4x5", (13, 9, 8), 2))


def optimum(scorer: Scorer, rng: np.random.Generator) -> tuple[str, int]:
    """Return a local optimum: a board that no other letter on one cell makes better, and its
    score.
    """
    n = scorer.geometry.n
    board = rng.choice(COMMON, n)
    score = int(scorer.scores(board[None])[0])
    while True:
        others = np.repeat(board[None], 26 * n, axis=0)
        others[np.arange(26 * n), np.arange(26 * n) % n] = np.arange(26 * n) // n
        scores = scorer.scores(others)
        best = int(scores.argmax())
        if scores[best] <= score:
            return decode_boards(board[None])[0], score
        board, score = others[best], int(scores[best])


def random_partition(kind: Kind, rng: random.Random) -> Partition:
    """Return a partition with as many buckets as the kind says, of about the same size."""
    texts = []
    for name, n in zip(("center", "edge", "corner"), kind.n_buckets, strict=True):
        letters = rng.sample(LETTERS, 26)
        texts.append(f"{name}: {' '.join(''.join(letters[i::n]) for i in range(n))}")
    return parse_partition(", ".join(texts), kind.dims)


def random_params(kind: Kind, rng: random.Random) -> Params:
    """Return search parameters: generous and tiny budgets, both generators, cells fused or not.

    Two things would take hours: path shapes look at every path of every word however few letters
    the cells have, so they are taken for narrow cells on 3x3 alone; where the rim of an open class
    does not fit, each part is grown anew.
    """
    params = Params(
        fused=rng.choice([("center",), ()]),
        demands=rng.choice(DEMANDS),
        unfuse_parts=rng.choice([2, 3, 26]),
        shape_letters=rng.choice([0 if kind.dims == "3x3" else 14, 14, 99]),
        unit_budget=1 << 60,
        memory_mb=rng.choice([256, 1024] if kind.n_buckets[1] == 1 else [64, 256]),
        whole_terms=rng.choice([20_000, 30_000_000]),
    )
    if rng.random() < 0.5:
        budget = rng.choice([100, 5_000, 100_000])
        params = replace(
            params,
            node_budget=budget,
            least_budget=budget // 4,
            fused_budget=budget,
            fused_per_term=0,
        )
    if kind in WIDE:
        groups = rng.choice([Params.coarse_groups, ("jqxzvwkfybughmpcd", "lnorstiae")])
        params = replace(params, max_free=rng.choice([11, 12]), coarse_groups=groups)
    return params


def planted(
    n_boards: int, wordlist: str, seed: int, kinds: Sequence[Kind] = KINDS
) -> Iterator[tuple[str, str]]:
    """Yield (board size, fault) for each planted board; the fault is empty when all is as it must
    be.
    """
    words = load_wordlist(wordlist).words
    sizes = [kind for kind in kinds for _ in range(kind.share)]
    scorers = {
        key: Scorer(key[0], words, parse_scores(key[1]))
        for key in {(kind.dims, kind.scores) for kind in kinds}
    }
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    rng.shuffle(sizes)
    for first in range(0, n_boards, GROUP):
        kind = sizes[first // GROUP % len(sizes)]
        partition = random_partition(kind, rng)
        params = random_params(kind, rng)
        scorer = scorers[kind.dims, kind.scores]
        breaker = Breaker(spec_of(kind.dims, words, scorer.table.points, 1, partition.text, params))
        for _ in range(min(GROUP, n_boards - first)):
            tries = [optimum(scorer, numbers) for _ in range(kind.n_tries)]
            board, score = max(tries, key=lambda found: found[1])
            yield kind.dims, fault_of(breaker, board, score)


def planted_in_question(n_boards: int, question: str, seed: int) -> Iterator[tuple[str, str]]:
    """Yield the same for the best boards of a climb in different classes of a question."""
    plan = make_plan(load_config(question))
    budgets = replace(plan.spec.budgets, unit_budget=1 << 60)
    breaker = Breaker(replace(plan.spec, budgets=budgets))
    best_of_class: dict[int, Find] = {}
    for find in local_search(plan.scorer, seed=seed):  # best first
        rank = rank_of_board(plan.question.partition, find.board)
        best_of_class.setdefault(canonical_rank(plan.question.partition, rank), find)
    for find in islice(best_of_class.values(), n_boards):
        yield plan.question.dims, fault_of(breaker, find.board, find.score)


def fault_of(breaker: Breaker, board: str, score: int) -> str:
    """Return what is wrong with the verdicts on the class of a board, with the cutoff at its score
    and one higher.
    """
    partition = breaker.partition
    class_id = canonical_rank(partition, rank_of_board(partition, board))
    for cutoff in (score, score + 1):
        breaker.question = replace(breaker.question, cutoff=cutoff)
        result = breaker.break_unit(Unit(class_id))
        found = {
            canonical_board(other, breaker.geometry): points for other, points in result.candidates
        }
        expected = score if cutoff == score else None
        if result.children or found.get(canonical_board(board, breaker.geometry)) != expected:
            how = f"{breaker.question.rules} {breaker.budgets}"
            where = f"class {class_id} of {partition.text!r}, cutoff {cutoff}, {how}"
            return f"{board} scores {score}; {where}: {found or result.status}"
    return ""


def main() -> None:
    """Print the counts; exit code 1 on any fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--boards", type=int, default=1000)
    parser.add_argument("--wordlist", default="enable2k")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wide", action="store_true", help="boards of 18 and 20 cells")
    parser.add_argument("--question", help="name or path of a preset")
    given = parser.parse_args()
    kinds = WIDE if given.wide else KINDS
    if given.question:
        checked = planted_in_question(given.boards, given.question, given.seed)
    else:
        checked = planted(given.boards, given.wordlist, given.seed, kinds)
    counts: Counter[str] = Counter()
    n_wrong = 0
    for dims, fault in checked:
        counts[dims] += 1
        if fault:
            n_wrong += 1
            sys.stdout.write(f"{fault}\n")
    sizes = ", ".join(f"{count:,} {dims}" for dims, count in sorted(counts.items()))
    n = counts.total()
    sys.stdout.write(
        f"{n - n_wrong:,} of {n:,} planted boards returned at their score and not one point above "
        f"it ({sizes}); {time.process_time():,.0f} CPU s\n"
    )
    sys.exit(n_wrong > 0 or not n)


if __name__ == "__main__":
    main()
