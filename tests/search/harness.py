"""Random small classes, and the kernels called the way the breaker calls them: what the kernel
tests share.

random_case -> Case -> generate (walk) -> planted (build) -> prepared (search state), each beside
its slow twin
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from orderly_boggle.boardclass.geometry import Geometry, geometry
from orderly_boggle.boardclass.jit import frozen
from orderly_boggle.search.keys import MAX_LEVELS
from orderly_boggle.search.node import at_least
from orderly_boggle.search.params import LETTER_ORDER, Rules
from orderly_boggle.search.scoring.trie import build_trie
from orderly_boggle.search.terms import walk
from orderly_boggle.search.trees import merge, state, tree
from tests.reference.orderly import Literals, Term, Weighted, absorb, deduplicated, terms_of_class
from tests.reference.truth_table import Boards, Sums, multi_scores

NO_LIMIT = 1 << 40
_PLACE = {letter: place for place, letter in enumerate(Rules().demand_order)}


@dataclass(frozen=True)
class Case:
    """A class, its bare cells and a word list; with at most 63 words each word may have points of
    its own.
    """

    dims: str
    letters: tuple[str, ...]
    bare: frozenset[int]
    points: dict[str, int]  # by word
    cell_order: tuple[int, ...] = ()  # other than the geometry's

    @cached_property
    def geometry(self) -> Geometry:
        return geometry(self.dims)

    @property
    def size(self) -> tuple[int, int]:
        w, h = self.geometry.dims
        return w, h

    @cached_property
    def free(self) -> list[int]:
        """Return the cells with literals, in the order of the levels."""
        return [c for c in self.cell_order or self.geometry.cell_order if c not in self.bare]

    @property
    def n_levels(self) -> int:
        return len(self.free)

    @property
    def code_bits(self) -> int:
        return max(4, len(set(self.points.values())).bit_length())

    @cached_property
    def paths(self) -> list[Term]:
        """Return the twin's terms, one per path, with the literals of bare cells."""
        return terms_of_class(self.letters, self.points, self.size)

    @cached_property
    def all_terms(self) -> list[Term]:
        """Return the twin's terms, deduplicated, not absorbed."""
        return deduplicated(
            (word, frozenset(x for x in term if x[0] not in self.bare)) for word, term in self.paths
        )

    @cached_property
    def minimal_terms(self) -> list[Term]:
        """Return the twin's terms, absorbed."""
        return absorb(self.paths, self.bare)

    @cached_property
    def total(self) -> dict[Literals, int]:
        """Return the twin's points by set of literals, absorbed."""
        total: Counter[Literals] = Counter()
        for word, term in self.minimal_terms:
            total[term] += self.points[word]
        return dict(total)

    @property
    def weighted(self) -> Weighted:
        """Return ``total`` as a list."""
        return list(self.total.items())

    @cached_property
    def boards(self) -> Boards:
        """Return every assignment of the free cells; bare cells have one letter, ``-``, that no
        word has.
        """
        return Boards(
            *self.size, ["-" if c in self.bare else self.letters[c] for c in range(self.geometry.n)]
        )

    @cached_property
    def sums(self) -> Sums:
        """Return the sum of the points of its terms for each of these boards."""
        return multi_scores(self.boards, self.weighted)

    @cached_property
    def shift(self) -> dict[int, int]:
        """Return the place of each free cell in a key, in bits."""
        return {c: 5 * (self.n_levels - 1 - level) for level, c in enumerate(self.free)}


def random_words(rng: random.Random, alphabet: str, n: int, longest: int) -> list[str]:
    """Return up to ``n`` words over an alphabet, many with repeated letters."""
    return sorted({"".join(rng.choices(alphabet, k=rng.randint(2, longest))) for _ in range(n)})


def random_case(
    dims: str,
    seed: int,
    *,
    n_words: int = 15,
    alphabet: str = "aeqtz",
    widest: int = 3,
    bare: int | None = None,
) -> Case:
    """Return a random case; bare cells are single letters or fused ones, ``bare`` fixes their
    number.
    """
    rng = random.Random(f"{dims} {seed}")
    n = geometry(dims).n
    letters = ["".join(sorted(rng.sample(alphabet, rng.randint(1, widest)))) for _ in range(n)]
    n_bare = rng.randint(0, n - 1) if bare is None else bare
    chosen = frozenset(rng.sample(range(n), max(n_bare, n - 12)))
    words = random_words(rng, alphabet, n_words, min(n, 6))
    return Case(dims, tuple(letters), chosen, {word: i + 1 for i, word in enumerate(words)})


def cells_of(case: Case) -> walk.Cells:
    """Return what the walk must know of a case."""
    unit = np.zeros(case.geometry.n, np.uint64)
    for level, c in enumerate(case.free):
        unit[c] = 1 << 5 * (case.n_levels - 1 - level)
    holds = [sum(1 << c for c, x in enumerate(case.letters) if chr(97 + y) in x) for y in range(26)]
    low = sum(1 << 5 * level for level in range(case.n_levels))
    bare = sum(1 << c for c in case.bare)
    return walk.Cells(
        case.geometry.neighbour_masks, frozen(np.array(holds, np.int64)), frozen(unit), bare, low
    )


def generate(case: Case, limit: int = NO_LIMIT, n_terms: int = 1 << 16, n_front: int = 1 << 16):
    """Walk a case; return (number or status, paths, terms as the kernel left them, points by
    code).
    """
    trie = build_trie(case.points, case.geometry.n)
    terms = np.zeros(n_terms, np.uint64)
    n, paths = walk.walk(
        trie.nodes, cells_of(case), walk.new_frontier(n_front), terms, case.code_bits, limit
    )
    return int(n), int(paths), terms[: max(0, int(n))], trie.points


def decoded(case: Case, key: int) -> Literals:
    """Return the literals of a key."""
    assert int(key) >> 5 * case.n_levels == 0
    return frozenset(
        (cell, chr(96 + code)) for cell, at in case.shift.items() if (code := int(key) >> at & 31)
    )


def encoded(case: Case, term: Literals) -> int:
    """Return the key of some literals."""
    return sum(ord(x) - 96 << case.shift[c] for c, x in term)


def letters_at(key: int, n_levels: int, board: Geometry) -> dict[int, str]:
    """Return the letters of a key by cell; its levels are the last cells in cell order."""
    at = {
        c: key >> 5 * (n_levels - 1 - level) & 31
        for level, c in enumerate(board.cell_order[-n_levels:])
    }
    return {c: chr(96 + code) for c, code in at.items() if code}


def is_possible(
    letters: dict[int, str], forced: dict[int, str], demands: tuple[tuple[int, int], ...]
) -> bool:
    """Return whether a board with these forced letters that meets the demands can have the letters
    of a term.

    A forced cell may have one of several letters.
    """
    known = forced | letters
    return all(
        min(map(_PLACE.__getitem__, known[c])) <= max(map(_PLACE.__getitem__, known[d]))
        for c, d in demands
        if c in known and d in known and not (c in forced and d in forced)
    )


def seeds(n_of: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return (dims, seed) of so many cases of each size."""
    found = []
    for dims, n in n_of.items():
        found += [(dims, seed) for seed in range(n)]
    return found


width: Any = tree.NARROW  # of the bounds of the trees built here; the fixture ``width`` tries both
sum_width: Any = tree.WIDE  # of the letter sums of a search


@contextmanager
def of_width(of_bounds: Any, of_sums: Any = tree.WIDE) -> Iterator[None]:
    """Build trees whose bounds, and search with letter sums that, have these types."""
    global width, sum_width
    before = width, sum_width
    width, sum_width = of_bounds, of_sums
    yield
    width, sum_width = before


class Planted(NamedTuple):
    """A tree and what :func:`build` returned for it."""

    tree: tree.Tree
    tip: int  # or a status
    root: int
    bound: int


def build(keys, points, begin, end, n_levels, cells, bounds, tip) -> tuple[int, int, int]:
    """Merge sorted keys with an empty tree; return (tip or a status, root, bound)."""
    places = (begin, end, end, n_levels, 0)
    merged = merge.merge(keys, points, *places, cells, bounds, tip, 0, 0, 0, 0)
    return int(merged[0]), int(merged[1]), int(merged[2])


def planted(
    case: Case,
    total: Mapping[Literals, int],
    capacity: int = 1 << 20,
    tip: int = 1,
    before: tuple[int, ...] = (),
) -> Planted:
    """Build the tree of the given terms from ``tip`` on, its keys behind those of another tree
    (``before``).
    """
    keys = np.array([*before, *sorted(encoded(case, term) for term in total)], np.uint64)
    by_key = {encoded(case, term): points for term, points in total.items()}
    points = np.array([*before, *(by_key[int(key)] for key in keys[len(before) :])], np.int32)
    cells = np.zeros(capacity, np.int32)
    bounds = cells.view(width)
    end, root, root_bound = build(
        keys, points, len(before), len(keys), case.n_levels, cells, bounds, tip
    )
    grown = tree.Tree(cells, bounds, frozen(keys), frozen(points), case.n_levels, 0, end)
    return Planted(grown, end, root, root_bound)


def read_tree(
    grown: tree.Tree, root: int, first: int = 0, n_inside: int = MAX_LEVELS
) -> tuple[dict[int, int], int]:
    """Return the terms of a tree, points by key, and its bound; both are checked against what its
    nodes say.

    What keys say of the levels before ``first`` does not count, and they hold the last ``n_inside``
    levels only.  Terms may be in both halves of a bundle.
    """
    within = (1 << 5 * min(grown.n_levels - first, n_inside)) - 1
    found: Counter[int] = Counter()

    def node(ref: int, prefix: int, place: int) -> int:
        points, choices = tree.read_node(grown.cells, grown.bounds, ref)
        if points:
            found[prefix] += points
        total = points
        for level, letters, bounds, refs in choices:
            here = grown.n_levels - 1 - level
            assert here < place
            chosen = [x for x in range(1, 27) if letters >> x - 1 & 1]
            for x, bound, below in zip(chosen, bounds.tolist(), refs.tolist(), strict=True):
                assert behind(bound, below, prefix | x << 5 * here, here) == bound > 0
            total += max(bounds)
        assert all(a.level > b.level for a, b in pairwise(choices)), (
            "one choice a level, in the order of the keys"
        )
        assert grown.cells[ref + 1] == total
        return total

    def bundled(bundle: int, key: int, place: int) -> int:
        """A leaf has what the bound leaves over."""
        bound = int(grown.cells[bundle + 1])
        refs = [int(ref) for ref in grown.cells[bundle - 2 : bundle] if ref]
        rest = bound - sum(behind(0, ref, key, place) for ref in refs)
        assert refs
        assert (rest > 0) == (len(refs) == 1)
        found[key] += rest
        return bound

    def behind(bound: int, ref: int, key: int, place: int) -> int:
        if ref > 0 and int(grown.cells[ref]) & tree.COUNT == tree.BUNDLE:
            return bundled(ref, key, place)
        if ref > 0:
            return node(ref, key, place)
        if ref == 0:
            found[key] += bound
            return bound
        begin, size = ~ref >> tree.RUN_BITS, (~ref & tree.RUN) + 1
        outside = key & ~within
        run = {
            int(grown.keys[i]) & within | outside: int(grown.points[i])
            for i in range(begin, begin + size)
        }
        assert all(other >> 5 * place == key >> 5 * place for other in run)
        assert len(run) == size
        assert size > 1 or key not in run
        found.update(run)
        return bound_of(run, place)

    total = node(root, 0, grown.n_levels)
    return {key: points for key, points in found.items() if points}, total


def prepared(
    case: Case,
    demands: tuple[tuple[int, int], ...] = (),
    letter_order: str = LETTER_ORDER,
    search: state.Search | None = None,
) -> state.Search:
    """Return a search state with nothing pushed, letters outside the class forbidden, demands
    between free cells.

    search : the working space for it; by default a new one with sums of the width that is tried
    """
    new = state.new_search()
    s = search or new._replace(sums=new.sums.view(sum_width)[: new.sums.size])
    rows = state.rows_at(s, 0)
    s.smaller[:] = [(1 << 26) - 1 & ~mask for mask in at_least(letter_order)]
    for level, c in enumerate(case.free):
        rows[level, [ord(x) - 97 for x in case.letters[c]]] = 0
        s.not_less[level] = sum(1 << case.free.index(d) for a, d in demands if a == c)
    return s


def bound_of(terms: dict[int, int], place: int) -> int:
    """Return the bound U of points by key, of what the keys have on the last ``place`` levels,
    level by level.
    """
    if not place:
        return sum(terms.values())
    at = 5 * (place - 1)
    by_letter: dict[int, dict[int, int]] = {}
    for key, points in terms.items():
        by_letter.setdefault(key >> at & 31, {})[key] = points
    return bound_of(by_letter.pop(0, {}), place - 1) + max(
        (bound_of(some, place - 1) for some in by_letter.values()), default=0
    )
