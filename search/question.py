"""The question of a run: which boards of a size reach a cutoff, and how they are cut into classes
and parts.

It is made once, below everything that stores or searches: presets, options and stored runs are
readers of it, sentences and plans are views of it.

>>> question = ask("3x2", "0" * 64, "words", 14, "aeiou bcdfghjklmnpqrstvwxyz")
>>> question.dims, question.buckets
('2x3', 'edge: aeiou bcdfghjklmnpqrstvwxyz, corner: aeiou bcdfghjklmnpqrstvwxyz')
>>> question.partition.n_canonical, question.digest[:8]
(24, '621c2931')
>>> from dataclasses import replace
>>> question.differences(replace(question, cutoff=15))
['cutoff: asked for 14, stored 15']
"""

import hashlib
import json
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from functools import cached_property
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Int64s
from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.geometry import ORDERS, Dims, Geometry, geometry, parse_dims
from orderly_boggle.boardclass.partition import Partition, parse_partition
from orderly_boggle.boardclass.scores import (
    MAX_LETTERS,
    MIN_LETTERS,
    SUM_LIMIT,
    Scores,
    ScoreTable,
    parse_scores,
    points_in_words,
)
from orderly_boggle.boardclass.wordlist import DEFAULT_WORDLIST
from orderly_boggle.search.params import KEY_CELLS, MOST_CELLS_OUTSIDE, Rules

# that matter only where a class has more free cells than a key holds
_OF_WIDE_CLASSES = ("max_free", "coarse_groups")
_is_sha256 = re.compile(r"[0-9a-f]{64}", re.ASCII).fullmatch
DEFAULT_BUCKETS = (
    "center: jqxz kvw fy bgu hmp cd l n o r s t i a e, "
    "edge: abcdefghijklmnopqrstuvwxyz, corner: abcdefghijklmnopqrstuvwxyz"
)
NEEDED: Any = ...  # instead of a default
_LIMITS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
Value = str | int | tuple[int, ...]  # of a question, but for its rules


class Scored(NamedTuple):
    """What the score of a board depends on; where it is equal, boards may be compared."""

    dims: str
    words_sha256: str
    points: tuple[int, ...]
    later: tuple[tuple[str, Value], ...] = ()  # as in ``Question.later``


class Written(NamedTuple):
    """How people write a value of a question; the keys of a config are made from it."""

    key: str
    kind: Any  # type
    default: Any  # where it is left out
    words: tuple[str, ...]  # that may stand instead
    limits: Mapping[str, int]  # of the kind, as pydantic calls them


def _written(
    key: str, kind: Any, default: Any, words: tuple[str, ...] = (), before: Any = MISSING,
    **limits: int,
) -> Any:  # fmt: skip
    """Return a field of a question that is :class:`Written` so; ``before`` is the value of the runs
    of before there was the field.
    """
    how = Written(key, kind, default, words, limits)
    return field(default=before, metadata={"written": how})


@dataclass(frozen=True)
class Question:
    """What a run is asked.  Everything here is spelled as a run spells it; :func:`ask` reads what
    people write.

    Budgets, workers and seeds are no part of it: they change how long a run takes and how units are
    split, never what is true.

    Raises InputError for a value that is none, or is spelled otherwise.
    """

    # board size, such as ``3x4``
    dims: str = _written("dims", str, NEEDED)
    # of the normalised word list, 64 hex digits; written as its name or path
    words_sha256: str = _written("wordlist", str, DEFAULT_WORDLIST, min_length=1)
    # by number of letters, from 0; written as a score table, by name or from three letters on
    points: tuple[int, ...] = _written("scores", str | list[int], "standard")
    # the smallest score of interest; ``auto`` takes the best score that hill climbing finds
    cutoff: int = _written("cutoff", int, "auto", ("auto",), ge=1, lt=2**31)
    # the normalised text of the letter buckets of each cell type, which make the classes
    buckets: str = _written("buckets", str, DEFAULT_BUCKETS, min_length=1)
    # in which cells are forced; written by name (boardclass/geometry.py), by default that of the
    # run that is there, or the best one for the size
    cell_order: tuple[int, ...] = _written("order", None, None, ORDERS)
    # written as the ``[search]`` table
    rules: Rules = field(default_factory=Rules)

    def __post_init__(self) -> None:
        if not isinstance(self.cutoff, int) or not 0 < self.cutoff < SUM_LIMIT:
            raise InputError(f"cutoff {quote(self.cutoff)}: expected a whole number of 1 or more")
        if not _is_sha256(self.words_sha256):
            raise InputError(f"words_sha256 {quote(self.words_sha256)}: expected 64 hex digits")
        # of words that fit no board any number of points
        known = [isinstance(n, int) and 0 <= n < 2**63 for n in self.points]
        if not all(known) or not MIN_LETTERS < len(known) <= MAX_LETTERS + 1:
            raise InputError(f"points {quote(self.points)}: expected points by number of letters")
        spelled = str(self.partition.dims), self.partition.text
        if spelled != (self.dims, self.buckets):
            raise InputError(
                f"dims {quote(self.dims)}, buckets {quote(self.buckets)} are not spelled as a run "
                f"does: expected {spelled[0]!r}, {spelled[1]!r}"
            )
        assert self.geometry.n, "a cell order names each cell once"
        for each in later_fields():
            _check_limits(each.name, getattr(self, each.name), each.metadata["written"])

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the identity, 64 hex digits; stored with every row."""
        text = json.dumps(self.identity, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def identity(self) -> dict[str, Value]:
        """Everything that determines the answer and the meaning of a class id, under the names that
        the first runs had for it.

        The rules are left out: they say how a class is cut, which no verdict on a whole class
        depends on; :meth:`differences` compares them.
        """
        identity: dict[str, Value] = {
            "dims": self.dims,
            "wordlist_sha256": self.words_sha256,
            "scores": self.points,
            "cutoff": self.cutoff,
            "partition": self.buckets,
            "cell_order": self.cell_order,
        }
        # the digest of a run must not change because a later version may be asked for more
        return identity | self.later

    @property
    def later(self) -> dict[str, Value]:
        """The values that the first runs did not have, by name, where they differ from those of the
        runs before them.  A claim names them after the points, and its digest depends on them.
        """
        found = {}
        for each in later_fields():
            value = getattr(self, each.name)
            if value != each.default:
                found[each.name] = value
        return found

    @cached_property
    def table(self) -> ScoreTable:
        """The points by number of letters, under the name that sentences have for them."""
        return ScoreTable(points_in_words(self.points), self.points)

    @property
    def scored(self) -> Scored:
        """What the score of a board depends on."""
        later = tuple(sorted(self.later.items()))
        return Scored(self.dims, self.words_sha256, self.points, later)

    @property
    def stored(self) -> dict[str, Value | Mapping[str, Value | tuple[str, ...]]]:
        """The values by name, as ``run.json`` has them.  A later value that is that of before is
        left out, so older versions and the checker read the run.
        """
        values = asdict(self)
        for each in later_fields():
            if values[each.name] == each.default:
                del values[each.name]
        return values

    @cached_property
    def partition(self) -> Partition:
        """The letter buckets, which make the board classes."""
        return parse_partition(self.buckets, self.dims)

    def class_ids(self) -> Int64s:
        """Return the canonical classes, int64, ascending."""
        return np.concatenate([np.empty(0, np.int64), *self.partition.canonical_ranks()])

    @property
    def geometry(self) -> Geometry:
        """The board, with the cell order of the question."""
        return geometry(self.dims, self.cell_order)

    @property
    def n_cells(self) -> int:
        """Number of cells of the board."""
        return len(self.cell_order)

    @property
    def n_fused_first(self) -> int:
        """How many free cells of a class are fused before it is searched, at most."""
        if not self.rules.coarse_groups:
            return 0
        n_free = 0
        cells = zip(self.geometry.cell_types, self.partition.cell_buckets, strict=True)
        for kind, buckets in cells:
            n_free += kind not in self.rules.fused and max(map(len, buckets)) > 1
        return max(0, n_free - self.rules.max_free)

    def differences(self, stored: "Question") -> list[str]:
        """Return what differs in a stored question, a line for each value; nothing when rows of
        both may stand in one run.
        """
        return list(self._differences(stored))

    def _differences(self, stored: "Question") -> Iterator[str]:
        for each in fields(self):
            if each.name != "rules":
                yield from _difference(each.name, self, stored)
        for each in fields(self.rules):
            is_idle = not (self.n_fused_first or stored.n_fused_first)
            if each.name not in _OF_WIDE_CLASSES or not is_idle:
                yield from _difference(each.name, self.rules, stored.rules)


def later_fields() -> list[Field[Any]]:
    """Return the fields that the first runs did not have; the default of each is what these did."""
    return [each for each in fields(Question) if each.default is not MISSING]


def _check_limits(name: str, value: Any, written: Written) -> None:
    """Raise InputError for a value that a config could not have."""
    if value in written.words:
        return
    fits = type(value) is written.kind
    expected = written.kind.__name__
    for test, limit in written.limits.items():
        # pydantic and the module operator have the same names for them
        fits = fits and getattr(operator, test)(value, limit)
        expected += f", {_LIMITS[test]} {limit}"
    if not fits:
        raise InputError(f"{name} {quote(value)}: expected {expected}")


def _difference(name: str, asked: object, stored: object) -> Iterator[str]:
    values = getattr(asked, name), getattr(stored, name)
    if values[0] != values[1]:
        yield f"{name}: asked for {_brief(values[0])}, stored {_brief(values[1])}"


def _brief(value: object) -> str:
    if isinstance(value, tuple):
        return quote(list(value), 100)
    return repr(value)


def ask(
    dims: str | Dims, words_sha256: str, points: Scores, cutoff: int,
    buckets: str, cell_order: Sequence[int] = (), rules: Rules | None = None, **later: Any,
) -> Question:  # fmt: skip
    """Return the question that some values ask, spelled as a run spells it.

    points : a score table, its name, or points from three letters on
    buckets : text of the letter buckets, such as ``aeiou bcdfghjklmnpqrstvwxyz``
    cell_order, rules : the default ones, unless given
    later : values of :func:`later_fields`

    Raises InputError for a value that cannot be read.
    """
    size = parse_dims(dims)
    if not isinstance(cutoff, int | np.integer):
        raise InputError(f"cutoff {quote(cutoff)}: expected a whole number of 1 or more")
    partition = parse_partition(buckets, size)
    board = geometry(size, cell_order)
    return Question(
        dims=str(size),
        words_sha256=words_sha256,
        points=parse_scores(points).points,
        cutoff=int(cutoff),
        buckets=partition.text,
        cell_order=board.cell_order,
        rules=_suited(rules or Rules(), board, partition),
        **later,
    )


def _suited(rules: Rules, board: Geometry, partition: Partition) -> Rules:
    """Return the rules with no more free cells than a key holds where no node can have cells
    outside its keys: on a large board, unless every class is open and its fused cells come first.
    """
    kinds = [board.cell_types[cell] for cell in board.cell_order]
    is_fused = [kind in rules.fused for kind in kinds]
    has_room = board.n <= MOST_CELLS_OUTSIDE and is_fused == sorted(is_fused, reverse=True)
    for kind in set(kinds) - set(rules.fused):
        has_room &= all(len(letters) == len(ascii_lowercase) for letters in partition.buckets[kind])
    if has_room:
        return rules
    return replace(rules, max_free=min(rules.max_free, KEY_CELLS))
