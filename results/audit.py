"""The independent checker of certificates: one file that shares no code with search, boardclass or the store.

Checked for each certified class: every board of it scores less than the cutoff, or is listed up to symmetry.

    audit -> _Question           run.json: board size, score table, cutoff, buckets; word list parsed here, adjacency
                                 and symmetries from coordinates
          -> _read_certificates  Parquet, one row per class (columns: SCHEMA, body: _audit_class)
          -> _audit_class        terms generated from scratch; the tree walked; every leaf's bound computed here

Soundness.  A *term* is a word with the set of (cell, letter) pairs that one of its paths needs; equal pairs of word
and set count once.  Every word on a board has a term that holds on it, so the points of the terms that hold are at
least the score.  ``_nested`` bounds them over all boards of a class, cells in the order of the certificate:

    U(T, k) = points of T                       if no cell is left (T has one term at most: equal ones are added up)
    U(T, k) = U(terms that need no letter on cell k, k + 1) + max over l of U(terms that need l there, k + 1)

since a board has one letter on cell k.  Giving cell k the letter l keeps the first group and group l, without that
letter: the terms of the part, from which its bound is computed again.  A leaf stands when its bound is below the
cutoff; the letters of a split cell are those of the class, so the leaves partition it by construction; a complete
board that bounds cannot rule out is scored exactly.  The writer's numbers are never used.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numba import njit

VERSION = 1
_TYPES = {
    "version": pa.int32(),
    "fingerprint": pa.string(),
    "class_id": pa.int64(),
    "order": pa.binary(),  # one byte per cell: the cells in the order in which they are split
    "n_leaves": pa.int64(),
    "n_boards": pa.int64(),  # complete boards that need exact scoring
    "body": pa.binary(),  # one little-endian uint32 per split, see _audit_class
    "sha256": pa.string(),  # over the fields above
}
SCHEMA = pa.schema([pa.field(name, kind, nullable=False) for name, kind in _TYPES.items()])
MAX_FREE_CELLS = 12
MAX_BOARDS = 1_000_000
FINE, TRUNCATED, FOREIGN_LETTER, LEAF_TOO_HIGH, FULL = range(5)
_FAULTS = {
    TRUNCATED: "the certificate ends before the tree does",
    FOREIGN_LETTER: "a split names a letter that the cell does not have",
    LEAF_TOO_HIGH: "the bound of a leaf reaches the cutoff",
}


class Rejected(Exception):
    """A certificate, or the claim it supports, does not hold."""


class Unreadable(Exception):
    """Something needed for the audit is missing, damaged or of another run."""


@dataclass
class Audit:
    """What was checked; ``n_boards`` counts all symmetric images of the certified classes, ``n_boards_all`` is 26^n."""

    n_classes: int = 0
    n_splits: int = 0
    n_leaves: int = 0
    n_scored: int = 0
    n_listed: int = 0
    n_boards: int = 0
    n_boards_all: int = 0

    @property
    def complete(self) -> bool:
        """Whether every board there is lies in a certified class."""
        return self.n_boards == self.n_boards_all


class _Question:
    """What a run claims to answer, read and derived without the program's help."""

    def __init__(self, folder: Path, wordlist: Path) -> None:
        self.fingerprint: dict[str, Any] = _json(folder / "run.json").get("fingerprint", {})
        self.digest = hashlib.sha256(json.dumps(self.fingerprint, sort_keys=True).encode()).hexdigest()
        words = _words(wordlist)
        try:
            self.w, self.h = map(int, self.fingerprint["dims"].split("x"))
            self.n, self.cutoff = self.w * self.h, int(self.fingerprint["cutoff"])
            cells = [divmod(cell, self.h) for cell in range(self.n)]
            borders = [(x in (0, self.w - 1)) + (y in (0, self.h - 1)) for x, y in cells]
            buckets = _buckets(self.fingerprint["partition"])
            self.cell_buckets = [buckets[("center", "edge", "corner")[count]] for count in borders]
            worth = {word: int(self.fingerprint["scores"][len(word) + word.count("q")]) for word in words}
            if hashlib.sha256("\n".join(words).encode()).hexdigest() != self.fingerprint["wordlist_sha256"]:
                raise Unreadable(f"{wordlist} is not the word list of the run: name that with --wordlist")
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise Unreadable(f"{folder / 'run.json'} lacks what an audit needs: {error!r}") from error
        near = [[max(abs(x - u), abs(y - v)) == 1 for u, v in cells] for x, y in cells]
        self.neighbours = np.array([sum(1 << c for c, yes in enumerate(row) if yes) for row in near], np.int64)
        self.symmetries = _symmetries(self.w, self.h)
        fitting = [word for word in words if len(word) <= self.n and worth[word] > 0]
        points = [worth[word] for word in fitting]
        if sum(points) >= 2**31:
            raise Unreadable("the points of the word list do not fit 31 bits")
        self.points_of_code = np.array(sorted(set(points)), np.int64)
        if len(self.points_of_code) > 16:
            raise Unreadable("more than 16 different numbers of points: this version cannot audit the run")
        self.codes = np.searchsorted(self.points_of_code, points).astype(np.int64)
        self.letters = np.frombuffer("".join(fitting).encode(), np.uint8).astype(np.int64) - 97
        self.starts = np.concatenate(([0], np.cumsum([len(word) for word in fitting]))).astype(np.int64)

    def class_letters(self, class_id: int) -> list[str]:
        """Return the letters of each cell: the id in mixed radix, cell 0 least significant."""
        letters = []
        for buckets in self.cell_buckets:
            class_id, digit = divmod(class_id, len(buckets))
            letters.append(buckets[digit])
        if class_id:
            raise Rejected("a certificate is about a class that does not exist")
        return letters

    def images(self, values: Sequence[str]) -> set[tuple[str, ...]]:
        """Return the distinct symmetric images of one value per cell."""
        return {tuple(values[cell] for cell in row) for row in self.symmetries}

    def score(self, board: str) -> int:
        """Return the exact score of a board: a class without free cells, where each word that fits is one term."""
        return int(_terms(self, _masks(board), ())[1].sum())


def audit(folder: Path, wordlist: Path, tell: Callable[[str], None] = lambda _: None) -> Audit:
    """Check every certificate of a run; ``tell`` hears of each class.

    Raises
    ------
    Rejected
        When a certificate, or the list of boards, does not hold.
    Unreadable
        When files are missing or damaged, or the word list is another.
    """
    question = _Question(folder, wordlist)
    listed = _check_listed(question, _read_listed(folder, question))
    found = Audit(n_listed=len(set(listed.values())), n_boards_all=26**question.n)
    seen: set[tuple[str, ...]] = set()
    for row in _read_certificates(folder):
        where = f"certificate of class {row['class_id']}"
        letters = question.class_letters(row["class_id"])
        images = question.images(letters)
        if images & seen:
            raise Rejected(f"{where}: this class, or an image of it, was certified before")
        seen |= images
        _check_row(row, question, where)
        counts, boards = _audit_class(question, letters, row, where)
        for board in boards:
            if board not in listed and question.score(board) >= question.cutoff:
                raise Rejected(f"{where}: {board} scores {question.score(board)} and is not listed")
        found.n_classes += 1
        found.n_splits, found.n_leaves = found.n_splits + counts[0], found.n_leaves + counts[1]
        found.n_scored += len(boards)
        found.n_boards += len(images) * prod(map(len, letters))
        tell(f"class {row['class_id']}: {counts[0]:,} splits, {counts[1]:,} leaves, {len(boards):,} boards scored")
    return found


def _check_row(row: dict[str, Any], question: _Question, where: str) -> None:
    if row["version"] != VERSION:
        raise Rejected(f"{where} has version {row['version']}, this checker reads {VERSION}")
    if row["fingerprint"] != question.digest:
        raise Rejected(f"{where} belongs to another run")
    if row["sha256"] != row_digest(row):
        raise Rejected(f"{where} was altered: its digest does not match")
    if not 0 <= row["n_boards"] <= MAX_BOARDS:
        raise Rejected(f"{where} leaves {row['n_boards']:,} boards to score, more than {MAX_BOARDS:,}")
    if sorted(row["order"]) != list(range(question.n)) or len(row["body"]) % 4:
        raise Rejected(f"{where} has no order of cells, or a body cut off")


def row_digest(row: dict[str, Any]) -> str:
    """Return the SHA-256 of a certificate's fields."""
    names = [name for name in SCHEMA.names if name != "sha256"]
    fields = [row[name].hex() if isinstance(row[name], bytes) else row[name] for name in names]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def _audit_class(question: _Question, letters: Sequence[str], row: dict[str, Any], where: str) -> tuple[Any, set[str]]:
    """Walk the tree of one class; return (splits, leaves, boards) and the boards to score, one image of each.

    The cells with more than one letter are split in the certificate's order.  The body holds one number per split in
    preorder: bit l says that the part with letter l of the cell goes on (a split below, or on the last cell a board to
    score exactly); every other letter of the cell is a leaf.
    """
    free = [cell for cell in row["order"] if len(letters[cell]) > 1]
    if len(free) > MAX_FREE_CELLS:
        raise Rejected(f"{where}: {len(free)} cells with several letters; this version checks {MAX_FREE_CELLS} at most")
    masks = _masks(letters)
    keys, points = _terms(question, masks, free)
    body = np.frombuffer(row["body"], "<u4").astype(np.int64)
    counts = np.zeros(4, np.int64)
    found = np.zeros((max(1, row["n_boards"]), max(1, len(free))), np.int64)
    status, extra = FULL, 1 << 16
    while status == FULL and free:
        extra *= 4
        arena = np.concatenate((keys, np.zeros(extra + len(keys), np.int64)))
        values = np.concatenate((points, np.zeros(extra + len(keys), np.int64)))
        status = _walk(arena, values, len(keys), masks[free], question.cutoff, body, found, counts)
    if status != FINE and free:
        raise Rejected(f"{where}: {_FAULTS.get(status, 'more boards to score than it says')}")
    n_boards = int(counts[2]) if free else 1
    if [len(body), row["n_leaves"], row["n_boards"]] != [int(counts[3]), int(counts[1]), n_boards]:
        raise Rejected(f"{where}: the tree has other numbers of leaves or boards than it says")
    boards = set()
    for values_of in found[:n_boards].tolist():
        board = [cell[0] for cell in letters]
        for cell, letter in zip(free, values_of, strict=False):
            board[cell] = chr(97 + letter)
        boards.add("".join(min(question.images(board))))
    return counts[:3].tolist(), boards


def _masks(letters: Sequence[str]) -> Any:
    """Return int64[n], the letters of each cell, bit 0 = a."""
    return np.array([sum(1 << (ord(x) - 97) for x in cell) for cell in letters], np.int64)


def _terms(question: _Question, masks: Any, free: Sequence[int]) -> tuple[Any, Any]:
    """Return all terms of a class: sorted distinct keys (5 bits per free cell, first most significant) and points."""
    shift = np.full(question.n, -1, np.int64)
    for level, cell in enumerate(free):
        shift[cell] = 5 * (len(free) - 1 - level)
    holds = np.array([sum(1 << c for c in range(question.n) if masks[c] >> x & 1) for x in range(26)], np.int64)
    buffer, word, parts = np.empty(1 << 22, np.uint64), 0, []
    words = (question.letters, question.starts, question.codes)
    while word < len(question.codes):
        before = word
        word, n = _generate(*words, question.neighbours, holds, shift, word, buffer)
        parts.append(buffer[:n].copy())
        if word == before:
            buffer = np.empty(2 * len(buffer), np.uint64)
    terms = np.concatenate([np.empty(0, np.uint64), *parts])
    del parts, buffer
    terms.sort()
    keys, points = np.empty(len(terms), np.int64), np.empty(len(terms), np.int64)
    n = _add_up(terms, question.points_of_code, keys, points)
    return keys[:n], points[:n]


@njit
def _generate(letters, starts, codes, neighbours, holds, shift, word, out):  # type: ignore[no-untyped-def]
    """Write ``key << 4 | points code`` of each term, once per word; return the next word and the number written."""
    n_out = 0
    todo, cells, keys = np.zeros(32, np.int64), np.zeros(32, np.int64), np.zeros(33, np.int64)
    while word < len(codes):
        first, length = starts[word], starts[word + 1] - starts[word]
        begin, depth, used = n_out, 0, 0
        todo[0] = holds[letters[first]]
        while depth >= 0:
            if todo[depth] == 0:
                depth -= 1
                if depth >= 0:
                    used ^= 1 << cells[depth]
                continue
            cell = 0
            while not todo[depth] >> cell & 1:
                cell += 1
            todo[depth] ^= 1 << cell
            keys[depth + 1] = keys[depth]
            if shift[cell] >= 0:
                keys[depth + 1] += (letters[first + depth] + 1) << shift[cell]
            if depth + 1 == length:
                if n_out == len(out):
                    return word, begin  # full: this word comes first in the next round
                out[n_out] = np.uint64(keys[depth + 1]) << np.uint64(4) | np.uint64(codes[word])
                n_out += 1
            else:
                used |= 1 << cell
                cells[depth] = cell
                depth += 1
                todo[depth] = holds[letters[first + depth]] & neighbours[cell] & ~used
        if n_out - begin > 1:
            out[begin:n_out].sort()
            kept = begin
            for i in range(begin + 1, n_out):
                if out[i] != out[kept]:
                    kept += 1
                    out[kept] = out[i]
            n_out = kept + 1
        word += 1
    return word, n_out


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
def _nested(keys, points, begin, end, first, n):  # type: ignore[no-untyped-def]
    """Return U of the sorted terms begin..end, whose cells before level ``first`` need nothing, in one pass.

    ``without[k]`` and ``best[k]`` are the two summands of U at level k; a group is closed where the next key differs.
    """
    if begin == end:
        return 0
    without, best = np.zeros(16, np.int64), np.zeros(16, np.int64)
    value = 0
    for i in range(begin, end):
        differs = first - 1
        if i + 1 < end:
            rest, differs = keys[i] ^ keys[i + 1], n - 1
            while rest >= 32:
                rest >>= 5
                differs -= 1
        value = points[i]
        level = n - 1
        while level >= first:
            if keys[i] >> 5 * (n - 1 - level) & 31:
                best[level] = max(best[level], value)
            else:
                without[level] = value
            if level == differs:
                break
            value = without[level] + best[level]
            without[level] = best[level] = 0
            level -= 1
    return value


@njit
def _merge(keys, points, a, a_end, b, b_end, low, out):  # type: ignore[no-untyped-def]
    """Write the sorted union of two groups, the second without its first letter, at ``out``; return its end."""
    while a < a_end or b < b_end:
        left = keys[a] if a < a_end else np.int64(1) << 62
        right = keys[b] & low if b < b_end else np.int64(1) << 62
        keys[out] = min(left, right)
        points[out] = 0
        if left <= right:
            points[out] += points[a]
            a += 1
        if right <= left:
            points[out] += points[b]
            b += 1
        out += 1
    return out


@njit
def _walk(keys, points, n_terms, masks, cutoff, body, boards, counts):  # type: ignore[no-untyped-def]
    """Walk the tree that ``body`` describes over the terms at 0..n_terms; return a status, fill boards and counts."""
    n = len(masks)
    counts[:] = 0  # splits, leaves, boards, numbers read
    start, stop = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    groups, bounds = np.zeros((n, 28), np.int64), np.zeros((n, 27), np.int64)
    split, letter, chosen = np.zeros(n, np.int64), np.full(n, 26, np.int64), np.zeros(n, np.int64)
    stop[0] = n_terms
    level, entering = 0, True
    while level >= 0:
        shift = 5 * (n - 1 - level)
        if entering:
            if counts[3] == len(body):
                return TRUNCATED
            split[level] = body[counts[3]]
            counts[3] += 1
            counts[0] += 1
            if split[level] & ~masks[level]:
                return FOREIGN_LETTER
            groups[level, 0] = start[level]
            for digit in range(27):
                low, high = groups[level, digit], stop[level]
                while low < high:
                    middle = (low + high) // 2
                    if keys[middle] >> shift <= digit:
                        low = middle + 1
                    else:
                        high = middle
                groups[level, digit + 1] = low
                bounds[level, digit] = _nested(keys, points, groups[level, digit], low, level + 1, n)
            letter[level], entering = 0, False
        x = letter[level]
        if x == 26:
            level -= 1
            continue
        letter[level] += 1
        if not masks[level] >> x & 1:
            continue
        goes_on = split[level] >> x & 1
        chosen[level] = x
        if not goes_on:
            counts[1] += 1
            if bounds[level, 0] + bounds[level, x + 1] < cutoff:
                continue
        elif level == n - 1:
            if counts[2] == len(boards):
                return -1
            boards[counts[2], :n] = chosen
            counts[2] += 1
            continue
        w, g, g_end = groups[level, 1] - groups[level, 0], groups[level, x + 1], groups[level, x + 2]
        if stop[level] + w + g_end - g > len(keys):
            return FULL
        end = _merge(keys, points, start[level], groups[level, 1], g, g_end, (1 << shift) - 1, stop[level])
        if goes_on:
            start[level + 1], stop[level + 1] = stop[level], end
            level, entering = level + 1, True
        elif _nested(keys, points, stop[level], end, level + 1, n) >= cutoff:
            return LEAF_TOO_HIGH
    return FINE


def _symmetries(w: int, h: int) -> list[list[int]]:
    """Return, for each rotation and reflection, where every cell's value comes from."""
    rows = []
    for turned, flip_x, flip_y in product((False, True) if w == h else (False,), (False, True), (False, True)):
        cells = [(y, x) if turned else (x, y) for x, y in (divmod(cell, h) for cell in range(w * h))]
        rows.append([(w - 1 - x if flip_x else x) * h + (h - 1 - y if flip_y else y) for x, y in cells])
    return rows


def _buckets(text: str) -> dict[str, list[str]]:
    """Return the letter buckets by cell type; each type must hold a-z exactly once."""
    found = {}
    for part in text.split(","):
        kind, _, rest = part.partition(":")
        found[kind.strip()] = rest.split()
        if sorted("".join(rest.split())) != list("abcdefghijklmnopqrstuvwxyz"):
            raise Rejected(f"the buckets {part.strip()!r} do not hold every letter exactly once")
    return found


def _words(path: Path) -> list[str]:
    """Return the usable words, sorted: three letters a-z or more, every q followed by u and written alone."""
    try:
        data = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)(path.read_bytes())
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise Unreadable(f"cannot read the word list {path}: {error}") from error
    lines = data.decode("latin-1").removeprefix("ï»¿").replace("\r\n", "\n").split("\n")
    usable = (line for line in lines if re.fullmatch(r"(?:[a-pr-z]|qu){2,64}", line) and 3 <= len(line) <= 64)
    return sorted({line.replace("qu", "q") for line in usable})


def _json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_bytes())
        return values if isinstance(values, dict) else {}
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(f"cannot read {path}: {error}") from error


def _table(path: Path, schema: pa.Schema | None) -> list[dict[str, Any]]:
    try:
        file: Any = pq.ParquetFile(path, page_checksum_verification=True)
        if schema is not None and not file.schema_arrow.equals(schema):
            raise pa.ArrowInvalid("its columns are not those of certificates")
        rows: list[dict[str, Any]] = file.read().to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise Unreadable(f"cannot read {path}: {error}") from error
    return rows


def _read_certificates(folder: Path) -> Iterator[dict[str, Any]]:
    paths = sorted((folder / "certificates").glob("part-*.parquet"))
    if not paths:
        raise Unreadable(f"{folder} holds no certificates: make them with orderly certify")
    for path in paths:
        yield from _table(path, SCHEMA)


def _read_listed(folder: Path, question: _Question) -> list[dict[str, Any]]:
    document = _json(folder / "rescored" / "manifest.json")
    path = folder / str(document.get("name"))
    if document.get("fingerprint") != question.digest or not path.is_file():
        raise Unreadable(f"{folder} holds no list of rescored boards: orderly verify makes it")
    if hashlib.sha256(path.read_bytes()).hexdigest() != document.get("part_sha256"):
        raise Unreadable(f"{path} was altered")
    return _table(path, None)


def _check_listed(question: _Question, rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return every image of every listed board with the board, after scoring each exactly."""
    listed: dict[str, str] = {}
    for row in rows:
        board = str(row["board"])
        if not re.fullmatch(rf"[a-z]{{{question.n}}}", board) or board in listed:
            raise Rejected(f"{board!r} is listed and is no board, or an image of another one")
        score = question.score(board)
        if score != row["score"] or score < question.cutoff:
            raise Rejected(f"{board} is listed with {row['score']}, it scores {score}; the cutoff is {question.cutoff}")
        listed |= {"".join(image): board for image in question.images(board)}
    return listed


if __name__ == "__main__":
    sys.stdout.write(f"{audit(Path(sys.argv[1]), Path(sys.argv[2]))}\n")
