"""The independent checker of certificates: one file that shares no code with search, boardclass or
the store.

Checked for each certified part of a class: every board of it scores less than the cutoff, or is
listed up to symmetry.

    audit -> RunQuestion    run.json: board size, score table, cutoff, buckets; word list parsed
                            here, adjacency and symmetries from coordinates
          -> _read_listed   the boards that the rows of the run list, each scored here
          -> CertifiedPart  one certificate (columns: SCHEMA): the tree that its body describes,
                            checked for shape
          -> _check         the ends of the tree, all of them or some drawn at random: of leaves
                            the bound, of boards the exact score, from terms generated from scratch

Soundness.  A *term* is a word with the set of (cell, letter) pairs that one of its paths needs;
pairs on a cell that has one letter anyway are left out.  Of the terms of one word, one that
contains another adds nothing: where it holds, the other holds (``_minimal`` drops it).  So every
word on a board has a term that holds on it, and the points of the terms that hold are at least the
score.  ``_bounds`` bounds them over all boards of a part, cells in the order of the certificate:

    U(T, k) = points of T, if no cell is left (T has one term at most: equal ones are added up)
    U(T, k) = U(terms that need no letter on cell k, k + 1)
              + max over l of U(terms that need l there, k + 1)

since a board has one letter on cell k.  A leaf stands when its bound is below the cutoff; the
letters of a split cell are those of the class, so the leaves partition it by construction; a
complete board that bounds do not rule out is scored exactly: there no word has more than one term.
The writer's numbers are never used.

>>> Audit(n_boards=26**4, n_boards_all=26**4, n_listed=6).complete
True
"""

import gzip
import hashlib
import json
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from operator import itemgetter
from pathlib import Path
from random import Random
from struct import iter_unpack
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numba import njit

VERSION = 2
# a copy of the writer's schema, not an import: a column renamed there must be noticed here
_TYPES = {
    "version": pa.int32(),
    "fingerprint": pa.string(),
    "class_id": pa.int64(),
    "order": pa.binary(),  # one byte per cell: the cells in the order in which they are split
    # letters that the first cells of the order have: a part of the class; "" is all of it
    "forced": pa.string(),
    "n_leaves": pa.int64(),
    "n_boards": pa.int64(),  # complete boards that need exact scoring
    "body": pa.binary(),  # one little-endian uint32 per split, see CertifiedPart
    "sha256": pa.string(),  # over the fields above
}
_BOARD = pa.struct(
    [pa.field("board", pa.string(), nullable=False), pa.field("score", pa.int32(), nullable=False)]
)
# of the rows of a run
# only what is listed is read: a verdict of the rows must not influence what is checked
_LISTED = {"candidates": pa.list_(pa.field("element", _BOARD, nullable=False))}
SCHEMA, LISTED = (
    pa.schema([pa.field(*item, nullable=False) for item in kinds.items()])
    for kinds in (_TYPES, _LISTED)
)
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
MAX_FREE_CELLS = 12
# a stranger's run must not be able to fill the memory of whoever audits it
MAX_CELLS, MAX_FILE_BYTES = 25, 2**28
_LOWEST = np.uint64(sum(1 << 5 * level for level in range(MAX_FREE_CELLS)))


class Rejected(Exception):
    """A certificate, or the claim it supports, does not hold."""


class Unreadable(Exception):
    """Something needed for the audit is missing, damaged or belongs to another run."""


@dataclass
class Audit:
    """What was checked: of ``n_leaves`` bounds ``n_leaves_checked``, of ``n_left`` boards without
    one ``n_scored``.

    ``n_reaching`` of these reach the cutoff (up to symmetry); ``n_listed`` boards are listed, -1:
    no claim yet; ``n_boards`` counts all symmetric images of the certified parts, ``n_boards_all``
    is 26^n.
    """

    n_classes: int = 0
    n_parts: int = 0
    n_splits: int = 0
    n_leaves: int = 0
    n_leaves_checked: int = 0
    n_left: int = 0
    n_scored: int = 0
    n_reaching: int = 0
    n_listed: int = -1
    n_boards: int = 0
    n_boards_all: int = 0

    @property
    def complete(self) -> bool:
        """Whether every board there is lies in a certified part, every end was checked, and there
        is a list.
        """
        # an audit of some ends supports no claim about all boards
        every_end = (self.n_leaves_checked, self.n_scored) == (self.n_leaves, self.n_left)
        return self.n_boards == self.n_boards_all and every_end and self.n_listed >= 0


# runs of format 1 were identified by these names; their certificates still are
_OLD_NAMES = {"words_sha256": "wordlist_sha256", "points": "scores", "buckets": "partition"}
# what decides about the answer; a value that is not understood may change what a board scores
_KNOWN = {"dims", "wordlist_sha256", "scores", "cutoff", "partition", "cell_order"}


def identity(run: dict[str, Any]) -> dict[str, Any]:
    """Return what the fingerprint of a run is the SHA-256 of, by its ``run.json`` of either format;
    empty when that does not tell.
    """
    if "question" not in run:
        return run.get("fingerprint", {})
    asked, found = run["question"], dict[str, Any]()
    for name, value in asked.items() if isinstance(asked, dict) else ():
        if name != "rules":
            found[_OLD_NAMES.get(str(name), str(name))] = value
    return found


class RunQuestion:
    """What a run claims to answer, read and derived by this file alone; without words there are no
    bounds.
    """

    def __init__(
        self, fingerprint: dict[str, Any], where: str, words: Sequence[str] | None = None
    ) -> None:
        self.fingerprint = fingerprint
        self.digest = hashlib.sha256(
            json.dumps(self.fingerprint, sort_keys=True).encode()
        ).hexdigest()
        try:
            for name in sorted(set(fingerprint) - _KNOWN):
                raise Unreadable(
                    f"{where} asks {name} = {fingerprint[name]!r}, which this checker does not "
                    "know: a newer one may"
                )
            self.w, self.h = map(int, self.fingerprint["dims"].split("x"))
            # the identity of a run has the shorter side first, so 4x3 names no run
            if not 0 < self.w <= self.h <= MAX_CELLS // self.w:
                raise ValueError(f"no boards of {self.w}x{self.h} are audited")
            self.n, self.cutoff = self.w * self.h, int(self.fingerprint["cutoff"])
            cells = [divmod(cell, self.h) for cell in range(self.n)]
            # a cell on two borders is a corner; coordinates instead of the search's own cell
            # types
            borders = [(x in (0, self.w - 1)) + (y in (0, self.h - 1)) for x, y in cells]
            buckets = _buckets(self.fingerprint["partition"])
            self.cell_buckets = [buckets[("center", "edge", "corner")[count]] for count in borders]
            worth = {
                word: int(self.fingerprint["scores"][len(word) + word.count("q")])
                for word in words or ()
            }
            sha256 = hashlib.sha256("\n".join(worth).encode()).hexdigest()
            # a bound from fewer words would be lower, and would let leaves pass that do not stand
            if words is not None and sha256 != self.fingerprint["wordlist_sha256"]:
                raise Unreadable(
                    "the words are not those of the run: name its list with --wordlist, as plain "
                    "text, .gz or .xz"
                )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise Unreadable(f"{where} lacks what an audit needs: {error!r}") from error
        near = [
            [c for c, (u, v) in enumerate(cells) if max(abs(x - u), abs(y - v)) == 1]
            for x, y in cells
        ]
        # the last row is for the empty path, which may go on to any cell
        rows = [row + [-1] * (self.n - len(row)) for row in (*near, list(range(self.n)))]
        # neighbours of each cell, then -1; the last row holds all cells
        self.near = np.array(rows, np.int64)
        self.symmetries = _symmetries(self.w, self.h)
        self.take_words(
            {word: points for word, points in worth.items() if len(word) <= self.n and points > 0}
        )

    def take_words(self, worth: dict[str, int]) -> None:
        """Prepare sorted words as arrays: all letters in a row, where each word begins, a code for
        its points.
        """
        points = list(worth.values())
        # a term keeps its points as a code of four bits
        if sum(points) >= 2**31 or len(set(points)) > 16:
            raise Unreadable(
                "cannot audit points that exceed 31 bits or have more than 16 different values"
            )
        self.points_of_code = np.array(sorted(set(points)), np.int64)
        self.codes = np.searchsorted(self.points_of_code, points).astype(np.int64)
        self.letters = np.frombuffer("".join(worth).encode(), np.int8) - np.int8(97)
        self.starts = np.concatenate(([0], np.cumsum([len(word) for word in worth]))).astype(
            np.int64
        )
        # letters that each word shares with the one before
        pairs = zip(["", *worth], worth, strict=False)
        # of sorted words neighbours share most letters, so most of each walk is done already
        same = ([a == b for a, b in zip(*pair, strict=False)] for pair in pairs)
        self.common = np.array([(*letters, False).index(False) for letters in same], np.int64)

    def class_letters(self, class_id: int) -> list[str]:
        """Return the letters of each cell: the id in mixed radix, cell 0 least significant."""
        letters = []
        # what the class contains follows from its id alone: a certificate cannot leave a letter
        # out
        for buckets in self.cell_buckets:
            class_id, digit = divmod(class_id, len(buckets))
            letters.append(buckets[digit])
        if class_id:
            raise Rejected("a certificate is about a class that does not exist")
        return letters

    def images(self, values: Sequence[str]) -> set[tuple[str, ...]]:
        """Return the distinct symmetric images of one value per cell."""
        return {tuple(values[cell] for cell in row) for row in self.symmetries}

    def n_canonical(self, boards: Iterable[str]) -> int:
        """Return the number of boards up to symmetry."""
        return len({min(self.images(board)) for board in boards})

    def bounds(self, letters: Sequence[str], free: Sequence[int]) -> list[int]:
        """Return U of the terms that need no letter on the first free cell, then of those that need
        a, b, ...
        """
        keys, points = _terms(self, letters, free)
        bounds = np.zeros(27, np.int64)
        _bounds(keys, points, max(1, len(free)), bounds)
        return bounds.tolist()

    def score(self, board: Sequence[str]) -> int:
        """Return the exact score of a board: each word on it has exactly one term, which needs no
        letter.
        """
        return self.bounds(board, ())[0]


class CertifiedPart:
    """The part of a class that a certificate is about, and the tree over it.

    The cells with more than one letter are split in the certificate's order.  The body holds one
    number per split in preorder: bit l says that the part with letter l of the cell goes on (a
    split below, or on the last cell a board to score exactly); every other letter of the cell is a
    leaf.
    """

    def __init__(self, question: RunQuestion, row: dict[str, Any]) -> None:
        self.where = f"certificate of class {row['class_id']} {row['forced']}".rstrip()
        self.class_id, self.forced = row["class_id"], row["forced"]
        self.class_letters = question.class_letters(self.class_id)
        self.require(
            row["version"] == VERSION,
            f"it has version {row['version']}, this checker reads {VERSION}",
        )
        self.require(row["fingerprint"] == question.digest, "it belongs to another run")
        # against damage, not against forgers: they can renew a digest, but not a bound
        self.require(row["sha256"] == row_digest(row), "it was altered: its digest does not match")
        self.require(sorted(row["order"]) == list(range(question.n)), "it has no order of cells")
        self.require(len(self.forced) <= question.n, "it forces more cells than there are")
        self.require(len(row["body"]) % 4 == 0, "its body is cut off")
        self.letters, self.order = ["".join(sorted(x)) for x in self.class_letters], row["order"]
        for cell, letter in zip(self.order, self.forced, strict=False):
            self.require(
                letter in self.letters[cell],
                f"cell {cell} of the class does not have the letter {letter!r}",
            )
            self.letters[cell] = letter
        # a cell of one letter is on no key; only the others are split
        self.free = [cell for cell in row["order"] if len(self.letters[cell]) > 1]
        self.require(
            len(self.free) <= MAX_FREE_CELLS,
            f"more than {MAX_FREE_CELLS} cells with several letters",
        )
        self.body, self.n_splits = row["body"], len(row["body"]) // 4
        self.n_leaves, self.n_left = 0, int(not self.free)
        for above, letters, go_on in self.splits():
            self.n_leaves += len(letters) - len(go_on)
            self.n_left += len(go_on) if self.on_last(above) else 0
        self.require(
            [self.n_leaves, self.n_left] == [row["n_leaves"], row["n_boards"]],
            "the tree has other numbers of leaves or boards than it says",
        )

    def require(self, holds: bool, fault: str) -> None:
        """Raise Rejected with the fault unless something holds."""
        if not holds:
            raise Rejected(f"{self.where}: {fault}")

    def on_last(self, above: str) -> bool:
        """Whether the split below these letters is on the last cell."""
        return len(above) + 1 == len(self.free)

    def splits(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield of each split, in preorder, the letters of the free cells above it, the letters of
        its cell, and those that go on.
        """
        body = iter_unpack("<I", self.body)
        waiting = [""] if self.free else []
        while waiting:
            above = waiting.pop()
            (mask,) = next(body, (None,))
            self.require(mask is not None, "it ends before the tree does")
            letters = self.letters[self.free[len(above)]]
            go_on = [letter for letter in letters if mask >> (ord(letter) - 97) & 1]
            self.require(
                len(go_on) == mask.bit_count(), "a split names a letter that the cell does not have"
            )
            # reversed, as the stack gives the last one first: the body is in preorder
            if not self.on_last(above):
                waiting += [above + letter for letter in reversed(go_on)]
            yield above, letters, go_on
        # a rest that is not read could be taken for a part of the proof
        self.require(next(body, None) is None, "it goes on behind the end of the tree")

    def ends(self) -> Iterator[tuple[str, str, bool]]:
        """Yield of each leaf and board the letters of the free cells above, the letter of the next
        cell, and whether it is a board; a part that is one board is its only end.
        """
        if not self.free:
            yield "", self.letters[0], True
        for above, letters, go_on in self.splits():
            on_last = self.on_last(above)
            for letter in letters:
                goes_on = letter in go_on
                if on_last or not goes_on:
                    yield above, letter, goes_on


def audit(
    folder: Path,
    wordlist: Path,
    tell: Callable[[str], object] = str,
    n_ends: int | None = None,
    seed: int = 0,
) -> Audit:
    """Check the certificates of a run; ``tell`` hears of each.

    Raises Rejected when a certificate, or the list of boards, does not hold; Unreadable when files
    are missing or damaged, or the word list is another.

    Parameters
    ----------
    n_ends : int, optional
        Check only this many leaves and boards, drawn from those of all certificates by ``seed``.
    """
    where = folder / "run.json"
    question = RunQuestion(identity(_json(where)), str(where), read_words(wordlist))
    listed = _read_listed(folder, question)
    found = Audit(
        n_listed=-1 if listed is None else question.n_canonical(listed), n_boards_all=26**question.n
    )
    parts = _read_parts(_read_certificates(folder), question, found)
    total = found.n_leaves + found.n_left
    drawn = (
        range(total)
        if n_ends is None
        else set(Random(seed).sample(range(total), min(total, n_ends)))
    )
    # each end has its number before any is checked, so the writer cannot tell which are drawn
    numbers, reaching = iter(range(total)), set[str]()
    for part in parts:
        ends = (end for end, number in zip(part.ends(), numbers, strict=False) if number in drawn)
        for board, score in _check(question, part, ends, found):
            part.require(
                listed is None or board in listed, f"{board} scores {score} and is not listed"
            )
            reaching.add(board)
        tell(
            f"{part.where}: {found.n_leaves_checked + found.n_scored:,} of {len(drawn):,} leaves "
            "and boards checked so far"
        )
    found.n_reaching = question.n_canonical(reaching)
    return found


def count(fingerprint: dict[str, Any], certificates: Sequence[dict[str, Any]]) -> Audit:
    """Return how many trees, leaves and boards the certificates of a run hold; no bound is checked.

    Raises Rejected when a certificate is damaged, of another run, or shares boards with another.
    """
    question = RunQuestion(fingerprint, "the run")
    found = Audit(n_boards_all=26**question.n)
    _read_parts(certificates, question, found)
    return found


def _read_parts(
    certificates: Sequence[dict[str, Any]], question: RunQuestion, found: Audit
) -> list[CertifiedPart]:
    """Return the certified parts, no two of which share a board, and count them."""
    owners: dict[tuple[str, ...], int] = {}
    parts = sorted(
        (CertifiedPart(question, row) for row in certificates), key=lambda p: (p.class_id, p.forced)
    )
    for before, part in zip([None, *parts], parts, strict=False):
        # the images of a class count with it: two classes that are images hold the same boards
        images = question.images(part.class_letters)
        apart = {owners.setdefault(image, part.class_id) for image in images} == {part.class_id}
        # sorted: a part comes right before the parts of it
        if before and before.class_id == part.class_id:
            apart = (
                apart and before.order == part.order and not part.forced.startswith(before.forced)
            )
        part.require(apart, "it shares boards with one before, or with an image of one before")
        found.n_boards += len(images) * prod(map(len, part.letters))
        found.n_splits += part.n_splits
        found.n_leaves += part.n_leaves
        found.n_left += part.n_left
    found.n_classes, found.n_parts = len(set(owners.values())), len(parts)
    return parts


def _check(
    question: RunQuestion, part: CertifiedPart, ends: Iterable[tuple[str, str, bool]], found: Audit
) -> Iterator[tuple[str, int]]:
    """Check some ends of a tree: bounds of leaves, scores of boards; yield the boards that reach
    the cutoff.

    On the last cell a word has one term at most, so there the bound of each letter is the score of
    that board.
    """
    for above, group in groupby(ends, itemgetter(0)):
        letters, free = part.letters.copy(), part.free[len(above) :]
        # the ends below one split differ in one letter only, so one pass gives all their bounds
        for cell, letter in zip(part.free, above, strict=False):
            letters[cell] = letter
        bounds = question.bounds(letters, free)
        for _, letter, is_board in group:
            letters[free[0] if free else 0] = letter
            value = bounds[0] + bounds[ord(letter) - 96]
            # with equal terms of both groups, the bound is lower
            if value >= question.cutoff and len(free) > 1:
                again = question.bounds(letters, free[1:])
                value = again[0] + max(again[1:])
            found.n_leaves_checked += not is_board
            found.n_scored += is_board
            if value >= question.cutoff:
                part.require(is_board, "the bound of a leaf reaches the cutoff")
                yield "".join(letters), value


def row_digest(row: dict[str, Any]) -> str:
    """Return the SHA-256 of a certificate's fields."""
    names = [name for name in SCHEMA.names if name != "sha256"]
    # JSON has no bytes
    fields = [row[name].hex() if isinstance(row[name], bytes) else row[name] for name in names]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def _terms(
    question: RunQuestion, letters: Sequence[str], free: Sequence[int], size: int = 1 << 18
) -> tuple[Any, Any]:
    """Return all terms of a part, given as the letters of each cell: sorted distinct keys (5 bits
    per free cell, first most significant) and points.

    There is room for ``size`` paths at first.
    """
    shift = np.full(question.n, -1, np.int64)
    for level, cell in enumerate(free):
        shift[cell] = 5 * (len(free) - 1 - level)
    holds = np.array(
        [sum(1 << c for c in range(question.n) if x in letters[c]) for x in _ALPHABET], np.int64
    )
    # in rounds: how many terms there are is known only when they have been made
    word, parts = 0, []
    while word < len(question.codes):
        out, paths = np.empty(4 * size, np.uint64), np.empty((4, size), np.int64)
        words = (question.letters, question.starts, question.common, question.codes)
        scratch = np.empty(size, np.uint64), np.empty(size, np.uint64)
        word, n = _generate(*words, question.near, holds, shift, word, out, scratch, *paths)
        parts.append(out[:n].copy())
        size *= 1 + (n < 2 * size)  # room for paths ran out before room for terms
    terms = np.concatenate([np.empty(0, np.uint64), *parts])
    # or the terms would be in memory twice while they are sorted
    del parts
    terms.sort()
    keys, points = np.empty(len(terms), np.int64), np.empty(len(terms), np.int64)
    n = _add_up(terms, question.points_of_code, keys, points)
    return keys[:n], points[:n]


@njit
def _generate(  # type: ignore[no-untyped-def]
    letters, starts, common, codes, near, holds, shift, word, out, scratch, cells, used, keys, sizes
):
    """Write ``key << 4 | points code`` of the minimal terms of each word; return the next word and
    their number.

    Words are sorted, so that each shares its beginning with the one before.  The paths of the first
    d letters stand at begin[d]..begin[d + 1] (last cell, cells used, key) for d up to ``known``;
    the empty path first, ``near`` of its cell -1 are all cells.  Where no path spells the first d
    letters, ``known`` stays d.
    """
    n_out, known = 0, 0
    begin = np.zeros(66, np.int64)
    begin[1], cells[0], used[0], keys[0] = 1, -1, 0, 0
    while word < len(codes):
        first, length = starts[word], starts[word + 1] - starts[word]
        known = min(known, common[word])
        # a prefix that is on no board of the part ends all words that begin so
        while known < length and begin[known] < begin[known + 1]:
            letter, at = np.int64(letters[first + known]), begin[known + 1]
            # eight neighbours for each path, and the 25 cells that the empty path may go to
            if at + 8 * (at - begin[known]) + 32 > len(cells):
                return word, n_out  # full: this word comes first in the next round
            for i in range(begin[known], begin[known + 1]):
                allowed = holds[letter] & ~used[i]
                for k in range(near.shape[1]):
                    cell = near[cells[i], k]
                    if cell < 0:
                        break
                    if allowed >> cell & 1:
                        cells[at], used[at], keys[at] = cell, used[i] | np.int64(1) << cell, keys[i]
                        if shift[cell] >= 0:
                            keys[at] += (letter + 1) << shift[cell]
                        at += 1
            known += 1
            begin[known + 1] = at
        n = begin[length + 1] - begin[length] if known == length else 0
        if n_out + n > len(out):
            return word, n_out
        for i in range(n):
            out[n_out + i] = np.uint64(keys[begin[length] + i]) << np.uint64(4) | np.uint64(
                codes[word]
            )
        if n > 1:
            n = _minimal(out, n_out, n_out + n, sizes, *scratch) - n_out
        n_out += n
        word += 1
    return word, n_out


@njit
def _minimal(terms, begin, end, sizes, own, masks):  # type: ignore[no-untyped-def]
    """Keep, of the terms of one word at begin..end, each distinct one that contains no other;
    return their end.

    Scratch: ``own`` for the distinct terms, ``sizes`` for how many pairs each has, ``masks`` for
    the pairs of those kept.
    """
    terms[begin:end].sort()
    n, kept, fewest, most = 0, begin, 63, 0
    for i in range(begin, end):
        if i == begin or terms[i] != terms[i - 1]:
            own[n] = terms[i]
            # their sum ends up there
            sizes[n] = _used_levels(terms[i]) * _LOWEST >> np.uint64(55) & np.uint64(31)
            fewest, most = min(fewest, sizes[n]), max(most, sizes[n])
            n += 1
    # lemma 1: a term that contains another may go. Only one with fewer pairs can be contained
    for size in range(fewest, most + 1):
        smaller = kept
        for i in range(n):
            minimal = sizes[i] == size
            for j in range(smaller - begin if minimal else 0):
                if own[i] & masks[j] == terms[begin + j]:
                    minimal = False
                    break
            if minimal:
                masks[kept - begin] = _used_levels(own[i]) * np.uint64(31 << 4) | np.uint64(15)
                terms[kept] = own[i]
                kept += 1
    return kept


@njit
def _used_levels(term):  # type: ignore[no-untyped-def]
    """Return the lowest bit of each level on which a term needs a letter."""
    key = term >> np.uint64(4)
    # a letter is 1 to 26, so a level that is used has at least one of its five bits set
    two = key | key >> np.uint64(1)
    return (two | two >> np.uint64(2) | key >> np.uint64(4)) & _LOWEST


@njit
def _add_up(terms, points_of_code, keys, points):  # type: ignore[no-untyped-def]
    """Add up the points of equal keys in sorted terms; return the number of keys."""
    n = 0
    for term in terms:
        key = np.int64(term >> np.uint64(4))
        if n == 0 or keys[n - 1] != key:
            keys[n] = key
            points[n] = 0
            n += 1
        points[n - 1] += points_of_code[np.int64(term & np.uint64(15))]
    return n


@njit
def _bounds(keys, points, n, bounds):  # type: ignore[no-untyped-def]
    """Fill ``bounds[d]`` with U of the sorted terms that need letter d - 1 on the first of n cells
    (d = 0: none there).

    In one pass: ``without[k]`` and ``best[k]`` are the two summands of U at level k; a group of
    terms that agree on the cells before level k is closed where the next key differs there.
    """
    without, best = np.zeros(16, np.int64), np.zeros(16, np.int64)
    for i in range(len(keys)):
        differs = 0
        if i + 1 < len(keys):
            # the first level on which the next key differs: groups above it stay open
            rest, differs = keys[i] ^ keys[i + 1], n - 1
            while rest >= 32:
                rest >>= 5
                differs -= 1
        value, level = points[i], n - 1
        while level > 0:
            if keys[i] >> 5 * (n - 1 - level) & 31:
                best[level] = max(best[level], value)
            else:
                without[level] = value
            if level == differs:
                break
            value = without[level] + best[level]
            without[level] = best[level] = 0
            level -= 1
        if level == 0:
            bounds[keys[i] >> 5 * (n - 1)] = value


def _symmetries(w: int, h: int) -> list[list[int]]:
    """Return, for each rotation and reflection, where every cell's value comes from."""
    cells = np.arange(w * h).reshape(w, h)
    # only a square may be turned by a quarter
    turned = (cells, cells.T) if w == h else (cells,)
    flipped = [flip for grid in turned for flip in (grid, grid[::-1])]
    return [row.ravel().tolist() for grid in flipped for row in (grid, grid[:, ::-1])]


def _buckets(text: str) -> dict[str, list[str]]:
    """Return the letter buckets by cell type; each type must hold a-z exactly once."""
    found = {}
    for part in text.split(","):
        kind, _, rest = part.partition(":")
        found[kind.strip()] = rest.split()
        if sorted("".join(rest.split())) != list(_ALPHABET):
            raise Rejected(f"the buckets {part.strip()!r} do not hold every letter exactly once")
    return found


def read_words(path: Path) -> list[str]:
    """Return the usable words, sorted: three letters a-z or more, every q followed by u and written
    alone.
    """
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)
    data = _read(path.resolve(), MAX_FILE_BYTES, unpack)
    lines = (
        line.strip(" \t\r\v\f") for line in data.decode("latin-1").removeprefix("ï»¿").split("\n")
    )
    usable = (
        line
        for line in lines
        if re.fullmatch(r"(?:[a-pr-z]|qu){2,64}", line) and 3 <= len(line) <= 64
    )
    return sorted({line.replace("qu", "q") for line in usable})


def _read(path: Path, most: int, decode: Callable[[bytes], Any]) -> Any:
    """Return the content, decoded, of a plain file of at most so many bytes."""
    try:
        # the file may be a stranger's: no links out of the run, no pipes that never end
        if path.is_symlink() or not path.is_file() or path.stat().st_size > most:
            raise OSError(f"it is missing, not a plain file, or has more than {most:,} bytes")
        return decode(path.read_bytes())
    except (
        OSError,
        EOFError,
        zlib.error,
        lzma.LZMAError,
        pa.ArrowException,
        ValueError,
        RecursionError,
        MemoryError,
    ) as error:
        raise Unreadable(f"cannot read {path}: {error}") from error


def _json(path: Path) -> dict[str, Any]:
    return (
        values if isinstance(values := _read(path, MAX_FILE_BYTES >> 5, json.loads), dict) else {}
    )


def _table(path: Path, schema: pa.Schema) -> list[dict[str, Any]]:
    def rows(data: bytes) -> Any:
        file: Any = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        # type and name: a column of another type could be read as something else
        if any(field not in list(file.schema_arrow) for field in schema):
            raise pa.ArrowInvalid(f"it lacks one of the columns {', '.join(schema.names)}")
        return file.read(schema.names).to_pylist()

    return list(_read(path, MAX_FILE_BYTES, rows))


def _read_certificates(folder: Path) -> list[dict[str, Any]]:
    paths = sorted((folder / "certificates").glob("part-*.parquet"))
    if not paths:
        raise Unreadable(f"{folder} holds no certificates: make them with orderly certify")
    return [row for path in paths for row in _table(path, SCHEMA)]


def _read_listed(folder: Path, question: RunQuestion) -> set[str] | None:
    """Return every image of every board that the rows list, each scored here; None where the run
    claims nothing yet.
    """
    if not (folder / "claim.json").exists():
        return None
    n_claimed = _json(folder / "claim.json").get("n_canonical")
    rows = (
        row
        for path in sorted((folder / "results").glob("part-*.parquet"))
        for row in _table(path, LISTED)
    )
    listed: set[str] = set()
    for board, told in {
        (found["board"], found["score"]) for row in rows for found in row["candidates"]
    }:
        if not re.fullmatch(rf"[a-z]{{{question.n}}}", board):
            raise Rejected(f"{board!r} is listed, and it is not a board")
        score = question.score(board)
        if score != told or score < question.cutoff:
            raise Rejected(
                f"{board} is listed with {told}, it scores {score}; the cutoff is {question.cutoff}"
            )
        listed |= {"".join(image) for image in question.images(board)}
    # a claim of fewer boards than the rows list would still be a false sentence
    if (n_listed := question.n_canonical(listed)) != n_claimed:
        raise Rejected(f"claim.json says {n_claimed} boards, the rows list {n_listed}")
    return listed


if __name__ == "__main__":
    sys.stdout.write(f"{audit(Path(sys.argv[1]), Path(sys.argv[2]))}\n")
