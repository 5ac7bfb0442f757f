"""The shape of a search that others can check: which parts of a class were split until bounds ruled them out.

    class_shape -> class_terms (basic.py), single-letter cells forced -> grow (certificate_kernels.py) -> Shape

Not the fast search: no absorption, no fused letters, no residual symmetry, no budget; only the nested bound U over
deduplicated terms (search.md section 2), merged anew in every part.  A checker needs nothing else to follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boardclass.errors import IncompleteError, InputError
from boardclass.jit import frozen
from search.basic import class_terms
from search.certificate_kernels import DONE, FULL_BODY, Space, grow
from search.scorer import Scorer

MAX_FREE_CELLS = 12
MAX_SPLITS = 100_000_000


@dataclass(frozen=True)
class Shape:
    """A tree of parts.

    Attributes
    ----------
    order : cells in the order in which they are split
    body : uint32 per split, preorder: bit l (0 = ``a``) says that the part with letter l goes on
    n_leaves : parts that the bound rules out
    n_boards : boards it does not rule out
    """

    order: tuple[int, ...]
    body: NDArray[np.uint32]
    n_leaves: int
    n_boards: int

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.body)


def class_shape(class_letters: Sequence[str], scorer: Scorer, cutoff: int, max_splits: int = MAX_SPLITS) -> Shape:
    """Return the shape of the search of one class for boards that reach the cutoff.

    Raises
    ------
    InputError
        If more than 12 cells have several letters.
    IncompleteError
        If it takes more than ``max_splits`` splits.
    """
    cell_order = scorer.geometry.cell_order
    single = [cell for cell in cell_order if len(set(class_letters[cell])) == 1]
    free = [cell for cell in cell_order if cell not in single]
    order = (*single, *free)
    if len(free) > MAX_FREE_CELLS:
        raise InputError(
            f"class {' '.join(class_letters)!r} has {len(free)} cells with several letters: certificates take "
            f"{MAX_FREE_CELLS} at most; use single-letter buckets for more cells"
        )
    if not free:
        return Shape(order, np.empty(0, np.uint32), 0, 1)
    terms = class_terms(class_letters, scorer, order)
    for cell in single:
        terms = terms.force(class_letters[cell][0])
    assert terms.layout.in_low.all(), "twelve cells fit one word"
    bases, weights = frozen(terms.layout.bases), frozen(terms.layout.weights)
    n, spare, n_body = len(terms.low), len(terms.low) + (1 << 16), 1 << 20
    while True:
        space = Space(
            np.concatenate((terms.low, np.zeros(spare, np.int64))),
            np.concatenate((terms.points, np.zeros(spare, np.int64))),
            np.zeros(n + (1 << 16), np.int64),
            np.zeros(n + (1 << 16), np.int64),
            np.zeros(n_body, np.int64),
            np.zeros(3, np.int64),
        )
        status = grow(n, cutoff, bases, weights, space)
        if status == DONE:
            break
        if n_body > max_splits:
            raise IncompleteError(f"class {' '.join(class_letters)!r} takes more than {max_splits:,} splits to certify")
        n_body, spare = (8 * n_body, spare) if status == FULL_BODY else (n_body, 2 * spare)
    n_splits, n_leaves, n_boards = space.counts.tolist()
    return Shape(order, _by_letter(space.body[:n_splits], terms.layout.letters), n_leaves, n_boards)


def _by_letter(body: NDArray[np.int64], letters: Sequence[str]) -> NDArray[np.uint32]:
    """Return the body with bits by letter a-z instead of by place among the letters of the cell split.

    Follows the preorder: a bit set on any but the last cell opens a split of the next cell.
    """
    if all(cell == "abcdefghijklmnopqrstuvwxyz" for cell in letters):
        return body.astype(np.uint32)
    out = np.zeros(len(body), np.uint32)
    open_parts = [1] + [0] * len(letters)  # splits still to come, by level
    level = 0
    for i, mask in enumerate(body.tolist()):
        while not open_parts[level]:
            level -= 1
        open_parts[level] -= 1
        out[i] = sum(1 << (ord(x) - 97) for d, x in enumerate(letters[level]) if mask >> d & 1)
        if level + 1 < len(letters) and mask:
            level += 1
            open_parts[level] = mask.bit_count()
    return out
