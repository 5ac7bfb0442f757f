"""A genetic algorithm: boards are crossed by regions, mutated, and the best survive.

A child takes the cells on one side of a random line from one parent, and the rest from a random
symmetric image of the other, so that neighbouring letters stay together; a few random moves mutate
it.  Parents are chosen by tournament: the better of two random boards.  Each child competes with
the boards that are left after the best of them: the best distinct canonical boards of parents and
children survive.  When no generation found a better board for some time, the survivors climb to
their local optima, as after annealing.

>>> from orderly_boggle.search import Scorer, local_search
>>> local_search(Scorer("2x2", "scowl70"), "genetic", pool=20)[0][:2]
('aert', 14)
"""

from __future__ import annotations

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, UInt8s
from orderly_boggle.search.local.moves import Search, best_first, canonical_cells, propose
from orderly_boggle.search.local.pool import climb

CHILDREN = 8  # a parent, in each generation
STALE = 40  # generations without a better board
MOST_MUTATIONS = 3
_POOL = 100  # at the end


def breed(s: Search) -> list[tuple[str, int, int]]:
    """Return the pool at the end: (canonical board, exact score, 1), best first."""
    boards = np.resize(s.first, (s.size, s.scorer.geometry.n))
    if len(s.first) == 1:
        boards[1:] = propose(s.rng, boards[1:], s.scorer.geometry, s.alphabet)
    boards, scores = _survivors(s, boards)
    generation = waited = 0
    n_scored = len(boards)
    while waited < STALE and not s.stop():
        children = _children(s, boards)
        before = int(scores[0])
        boards, scores = _survivors(s, np.concatenate((boards, children)))
        generation += 1
        n_scored += len(children)
        waited += 1
        if int(scores[0]) > before:
            waited = 0
        s.tell(generation, int(scores[0]), n_scored)

    def tell(number: int, score: int, n_more: int) -> None:
        s.tell(generation + number, score, n_scored + n_more)

    best = boards[:_POOL]
    return climb(s._replace(first=best, size=len(best), tell=tell))


def _survivors(s: Search, boards: UInt8s) -> tuple[UInt8s, Int32s]:
    """Return the best distinct boards, as many as the population has, and their scores."""
    distinct = np.unique(canonical_cells(boards, s.scorer.geometry), axis=0)
    scores = s.scorer.scores(distinct)
    keep = best_first(distinct, scores, s.size)
    return distinct[keep], scores[keep]


def _children(s: Search, boards: UInt8s) -> UInt8s:
    """Return uint8[CHILDREN * size, n]; ``boards`` are best first."""
    m = s.size * CHILDREN
    rng = s.rng
    shape = s.scorer.geometry
    # the smaller of two random places is the better board
    mother = boards[np.minimum(*rng.integers(0, len(boards), (2, m)))]
    father = boards[np.minimum(*rng.integers(0, len(boards), (2, m)))]
    image = shape.symmetries[rng.integers(0, len(shape.symmetries), m)]
    father = np.take_along_axis(father, image, axis=1)
    children = np.where(_regions(s, m), mother, father)
    mutations = rng.integers(0, MOST_MUTATIONS + 1, m)
    for k in range(MOST_MUTATIONS):
        at = np.flatnonzero(mutations > k)
        children[at] = propose(rng, children[at], shape, s.alphabet)
    return children


def _regions(s: Search, m: int) -> np.ndarray:
    """Return bool[m, n]: the cells on one side of a random line across the board."""
    shape = s.scorer.geometry
    x, y = np.divmod(np.arange(shape.n), shape.dims.h)
    angle = s.rng.random((m, 1)) * 2 * np.pi
    across = np.cos(angle) * (x - (shape.dims.w - 1) / 2)
    along = np.sin(angle) * (y - (shape.dims.h - 1) / 2)
    shift = (s.rng.random((m, 1)) - 0.5) * shape.dims.w
    return across + along > shift
