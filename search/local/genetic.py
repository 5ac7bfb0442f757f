"""A genetic algorithm: boards that inherit a region of cells from each of two parents.

A child takes one half-plane of cells from one parent and the rest from a random symmetric image of the other, so that
neighbouring letters, which make words, stay together; then a few cells mutate.  The best distinct canonical boards of
parents and children survive.  It ends when the best board has not changed for some generations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from boardclass.board import LETTERS
from boardclass.errors import InputError
from boardclass.geometry import Geometry
from search.local.anneal import propose
from search.local.climb import BatchScorer, Progress, Start, ascend, canonical_cells, first_boards, pack, parse_alphabet
from search.scoring.scorer import decode_boards

CHILDREN = 8  # per parent
STALE = 40  # generations without a better board
_ASCENTS = 50
_MAX_MUTATIONS = 3


def breed(
    scorer: BatchScorer,
    *,
    seed: int = 0,
    pool: int = 500,
    letters: str = LETTERS,
    start: Start | None = None,
    progress: Progress | None = None,
) -> list[tuple[str, int]]:
    """Return the last population, canonical, with exact scores, best first.

    ``pool`` boards survive a generation; the options are those of :func:`search.local.methods.local_search`.
    """
    if pool < 2 or seed < 0:
        raise InputError(f"a population of {pool}, seed {seed}: expected 2 boards or more, and no negative seed")
    rng = np.random.default_rng(seed)
    alphabet = parse_alphabet(letters)
    n = scorer.geometry.n
    boards = np.resize(first_boards(rng, pool, n, alphabet, start), (pool, n))
    if isinstance(start, str):
        boards[1:] = propose(rng, boards[1:], alphabet)
    boards, scores = _survivors(scorer, boards, pool)
    generation = waited = 0
    n_scored = len(boards)
    while waited < STALE:
        children = _children(rng, boards, scorer.geometry, alphabet, pool * CHILDREN)
        before = int(scores[0])
        boards, scores = _survivors(scorer, np.concatenate((boards, children)), pool)
        generation += 1
        n_scored += len(children)
        waited = 0 if int(scores[0]) > before else waited + 1
        if progress:
            progress(generation, int(scores[0]), n_scored)
    top = ascend(scorer, boards[:_ASCENTS], alphabet)
    boards, scores = _survivors(scorer, np.concatenate((boards, top)), pool)
    return list(zip(decode_boards(boards), scores.tolist(), strict=True))


def _survivors(
    scorer: BatchScorer, boards: NDArray[np.uint8], population: int
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the best distinct boards, canonical, best first, and their scores."""
    distinct = np.unique(canonical_cells(boards, scorer.geometry), axis=0)
    scores = scorer.scores(distinct)
    high, low = pack(distinct)
    keep = np.lexsort((low, high, -scores.astype(np.int64)))[:population]
    return distinct[keep], scores[keep]


def _children(
    rng: np.random.Generator, boards: NDArray[np.uint8], shape: Geometry, alphabet: NDArray[np.uint8], m: int
) -> NDArray[np.uint8]:
    """Return uint8[m, n] children of parents that won a tournament of two."""
    mother, father = (boards[np.minimum(*rng.integers(0, len(boards), (2, m)))] for _ in range(2))
    image = shape.symmetries[rng.integers(0, len(shape.symmetries), m)]
    father = np.take_along_axis(father, image, axis=1)
    x, y = np.divmod(np.arange(shape.n), shape.dims.h)
    angle = rng.random((m, 1)) * 2 * np.pi
    side = np.cos(angle) * (x - (shape.dims.w - 1) / 2) + np.sin(angle) * (y - (shape.dims.h - 1) / 2)
    shift = (rng.random((m, 1)) - 0.5) * shape.dims.w
    children = np.where(side > shift, mother, father)
    mutations = rng.integers(0, _MAX_MUTATIONS + 1, m)
    for k in range(_MAX_MUTATIONS):
        at = np.flatnonzero(mutations > k)
        children[at] = propose(rng, children[at], alphabet)
    return children
