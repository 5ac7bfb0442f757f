"""Whether every board of the whole space lies in exactly one unit with a verdict.  Only then is a
run *proven*.

    ids       the roots in the store are exactly the canonical classes of the partition; no row is
              about others
    sizes     the boards of each class times its orbit size add up to 26^n
    splits    the parts that a split unit settled itself and its children share no board and make up
              the unit; the children have verdicts, down to the leaves
    boards    each candidate belongs to the unit that lists it

Sizes and orbits are computed here from buckets and symmetries: if the enumeration left out a class,
their sum would be too small.

>>> from orderly_boggle.results.store.run import open_run
>>> print(check_coverage(open_run("runs/2x2-scowl70-14")).message())
all 55 classes settled, 456,976 boards covered
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from orderly_boggle.boardclass.arrays import Int64s
from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.partition import Partition, among
from orderly_boggle.boardclass.parts import SEPARATOR, last_part, parse_path
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.results.errors import RowError
from orderly_boggle.results.store.rows import SPLIT, Key, keys_of, scalar
from orderly_boggle.results.store.run import Run

if TYPE_CHECKING:
    from orderly_boggle.results.proof.nodes import SearchNodes

MAX_EXAMPLES = 10


@dataclass
class Coverage:
    """The outcome of :func:`check_coverage`."""

    n_units: int  # rows with a verdict
    n_boards_expected: int  # in the whole space
    n_classes: int = 0  # canonical classes of the partition
    n_classes_done: int = 0  # those of them that are settled down to their leaves
    n_boards: int = 0  # in settled classes, every symmetric image counted
    problems: list[str] = field(default_factory=list)  # what cannot be true
    conflicting: list[str] = field(default_factory=list)  # units with contradicting verdicts
    quarantined: list[str] = field(default_factory=list)  # units given up
    missing: list[str] = field(default_factory=list)  # units without a verdict

    @property
    def complete(self) -> bool:
        """Whether every board lies in exactly one settled unit."""
        faults = self.problems or self.conflicting or self.quarantined or self.missing
        # both: classes might be counted right and still hold too few boards
        done = (self.n_classes_done, self.n_boards)
        due = (self.n_classes, self.n_boards_expected)
        return not faults and done == due

    def message(self) -> str:
        """Return what is wrong, most serious first, or that nothing is."""
        if self.complete:
            return f"all {self.n_classes:,} classes settled, {self.n_boards:,} boards covered"
        lines = [f"{self.n_classes_done:,} of {self.n_classes:,} classes settled"]
        kinds = {
            "problem": self.problems,
            "conflict": self.conflicting,
            "given up": self.quarantined,
            "missing": self.missing,
        }
        for title, found in kinds.items():
            if found:
                lines.append(f"  {title}: {len(found):,}: {first_few(found)}")
        if len(lines) == 1:
            lines.append(f"  {self.n_boards:,} boards covered, {self.n_boards_expected:,} expected")
        return "\n".join(lines)


def check_coverage(run: Run, nodes: SearchNodes | None = None) -> Coverage:
    """Compare what a run holds with the whole space of its partition.

    The parts of every split unit are compared, one by one, with those that the search would make:
    ``nodes`` says how it cuts classes, by default as ``run.json`` does.  Raises DamagedError,
    RowError when a stored file or row cannot be trusted.
    """
    partition = run.partition
    table = run.verdict_table
    found = Coverage(table.num_rows, 26**partition.dims.n)
    unfinished: set[int] = set()
    # a unit with two answers has none
    for key in sorted(run.conflicts):
        found.conflicting.append(unit_name(key))
        unfinished.add(key[0])
    # its class stays unfinished by itself: a unit that was given up has no row with a verdict
    for key in sorted(run.index.quarantined):
        found.quarantined.append(unit_name(key))
    is_class = pc.equal(table.column("path"), scalar(""))
    if run.index.splits:
        is_split = pc.equal(table.column("status"), scalar(SPLIT))
        # few rows as a rule: whole classes are compared in arrays below
        rows = table.filter(pc.or_(pc.invert(is_class), is_split))
        n_boards = map(int, rows.column("n_boards").to_pylist())
        sizes = dict(zip(keys_of(rows), n_boards, strict=True))
        unfinished |= _check_splits(run, sizes, nodes, found)
    # a board outside its unit would belong to another, which never listed it
    _check_boards(run, found)
    n_foreign = _check_classes(run, table.filter(is_class), unfinished, found)
    # enumerated and counted by Burnside's lemma: two ways that share no code
    if found.n_classes != partition.n_canonical:
        found.problems.append(
            f"{found.n_classes} canonical classes enumerated, {partition.n_canonical} counted"
        )
    if foreign := rows_out_of_space(run) or (
        f"{n_foreign} stored classes are not classes of the run" * (n_foreign > 0)
    ):
        found.problems.append(foreign)
    return found


def _check_classes(run: Run, rows: pa.Table, unfinished: set[int], found: Coverage) -> int:
    """Compare the rows of whole classes with all classes there are; return how many rows are of
    none.
    """
    ids = rows.column("class_id").to_numpy()
    # a million rows have a few hundred different sizes
    texts = rows.column("n_boards").combine_chunks().dictionary_encode()
    told = list(map(int, texts.dictionary.to_pylist()))
    order = np.argsort(ids)
    ids = ids[order]
    told_of = texts.indices.to_numpy()[order]
    open_ids = np.array(sorted(unfinished), np.int64)
    n_seen = 0
    # in pieces: a partition may have more classes than fit in memory
    for all_ranks in run.partition.canonical_ranks():
        found.n_classes += len(all_ranks)
        is_stored = among(all_ranks, ids)
        for rank in all_ranks[~is_stored].tolist():
            if (rank, "") not in run.conflicts:
                found.missing.append(f"class {rank}")
        ranks = all_ranks[is_stored]
        places = np.searchsorted(ids, ranks)
        n_seen += len(ranks)
        sizes, size_of, n_images = class_sizes(run.partition, ranks)
        is_done = ~among(ranks, open_ids)
        found.n_classes_done += int(np.count_nonzero(is_done))
        # images are counted by size, then multiplied as Python's integers: a sum of 26^16 overflows
        n_covered = np.bincount(size_of[is_done], n_images[is_done], len(sizes))
        found.n_boards += sum(map(mul, sizes, map(int, n_covered)))
        # beyond 64 bits: each of the few numbers is compared once
        numbers = dict(zip(sizes, range(len(sizes)), strict=True))
        numbers_of_told = [numbers.get(size, -1) for size in told]
        number_of = np.array(numbers_of_told, np.int64)
        for place in np.flatnonzero(number_of[told_of[places]] != size_of).tolist():
            size = sizes[size_of[place]]
            stored = told[told_of[places[place]]]
            found.problems.append(f"class {ranks[place]} has {size} boards, its row says {stored}")
    return len(order) - n_seen


def class_sizes(partition: Partition, ranks: Int64s) -> tuple[list[int], Int64s, Int64s]:
    """Return the numbers of boards that occur among some classes, the place in this list of that of
    each class, int64[n], and its number of distinct images, int64[n].
    """
    cells = np.array(np.unravel_index(ranks, partition.radix, order="F"))
    halves = np.ones((2, len(ranks)), np.int64)  # a product of 13 lengths has 63 bits at most
    for cell, buckets in enumerate(partition.cell_buckets):
        n_letters = np.array(list(map(len, buckets)))
        halves[cell // 13] *= n_letters[cells[cell]]
    (low, low_of), (high, high_of) = (np.unique(half, return_inverse=True) for half in halves)
    pairs, pair_of = np.unique(low_of * len(high) + high_of, return_inverse=True)
    of_low = low[pairs // len(high)]
    of_high = high[pairs % len(high)]
    factors = of_low.tolist(), of_high.tolist()
    # Python's integers: the product of 25 lengths of 26 has 118 bits
    products = list(map(mul, *factors))
    sizes = sorted(set(products))
    size_of = np.array(list(map(sizes.index, products)), np.int64)[pair_of]
    weights = np.cumprod([1, *partition.radix[:-1]])
    images = weights[np.argsort(partition.geometry.symmetries, axis=1)] @ cells
    # equal images stand beside each other: counting changes counts the different ones
    images.sort(axis=0)
    return sizes, size_of, 1 + np.count_nonzero(images[1:] != images[:-1], axis=0)


def _check_splits(
    run: Run, sizes: dict[Key, int], nodes: SearchNodes | None, found: Coverage
) -> set[int]:
    """Check every split unit that a root leads to; return the classes that have an open unit."""
    # only where something was split: these rules load the search
    if nodes is None:
        from orderly_boggle.results.proof.nodes import run_nodes

        nodes = run_nodes(run)
    is_split = pc.equal(run.verdict_table.column("status"), scalar(SPLIT))
    rows = run.verdict_table.filter(is_split)
    named = rows.select(["children", "settled"]).to_pylist()
    splits = dict(zip(keys_of(rows), named, strict=True))
    unfinished: set[int] = set()
    # from the roots down: a split that no root leads to settles nothing, whatever it says
    whole_classes = [key for key in splits if not key[1]]
    stack = sorted(whole_classes, reverse=True)
    while stack:
        key = stack.pop()
        children = [(key[0], child) for child in splits[key]["children"]]
        try:
            _check_split(run.partition, key, children, splits[key]["settled"], sizes, nodes)
        except (RowError, InputError) as error:
            found.problems.append(f"{unit_name(key)}: {error}")
            # its children are not looked at: what they cover would be counted to a split that is
            # wrong
            unfinished.add(key[0])
            continue
        for child in children:
            if child not in sizes:
                found.missing.append(unit_name(child))
                unfinished.add(key[0])
            if child in splits:
                stack.append(child)
    return unfinished


def _check_split(
    partition: Partition,
    key: Key,
    children: list[Key],
    settled: list[str],
    sizes: dict[Key, int],
    nodes: SearchNodes,
) -> None:
    """Check the parts of one split unit: they share no board, lie in the unit, and make it up.

    A unit names each part that it decided itself (settled, in the order of its search) and each
    that it left to be searched (children).  A part may not be, hold or lie in another.  Each must
    be one that the search makes, and together they must be the whole unit, so that a lost part is
    noticed wherever it stood.
    """
    named = [*(path for _, path in children), *settled]
    # before sizes are added up: parts that overlap could make up for one that is missing
    check_apart(key[1], named)
    total = sum(nodes.n_boards(key[0], path) for path in settled)
    for child in children:
        # of a child without a row nothing but its size by the rules is known
        size = sizes.get(child, 1)
        expected = nodes.n_boards(*child)
        most = math.prod(len(bucket) for bucket in unit_letters(partition, child))
        # three sources: the row, the rules of splitting, and the letters of the class
        if child in sizes and not 1 <= size == expected <= most:
            raise RowError(f"{unit_name(child)} has {expected} boards, its row says {size}")
        total += size
    # it may be less: what is missing is named by the next lines
    if total > sizes[key]:
        raise RowError(f"its parts hold {total} boards, it has {sizes[key]}")
    lost = uncovered(nodes, key, named)
    if lost is not None:
        raise RowError(f"its part {lost!r} is neither a child nor settled")


def _check_boards(run: Run, found: Coverage) -> None:
    """Check that each candidate is a board of the unit that lists it."""
    n_listed = pc.list_value_length(run.verdict_table.column("candidates"))
    rows = run.verdict_table.filter(pc.greater(n_listed, scalar(0)))
    lists = rows.column("candidates").to_pylist()
    for key, listed in zip(keys_of(rows), lists, strict=True):
        try:
            letters = unit_letters(run.partition, key)
        except (RowError, InputError) as error:
            found.problems.append(f"{unit_name(key)}: {error}")
            continue
        for item in listed:
            pairs = zip(item["board"], letters, strict=True)
            if not all(letter in bucket for letter, bucket in pairs):
                found.problems.append(f"{unit_name(key)} lists {item['board']}, which is not in it")


def unit_letters(partition: Partition, key: Key) -> list[str]:
    """Return the letters of each cell of a unit: those of its class, narrowed by its path.

    Raises InputError when there is no such class, or the path is none of this board; RowError when
    it adds letters.
    """
    class_id, path = key
    letters = list(partition.class_letters(class_id))
    for cell, forced in parse_path(path, len(letters)):
        # a path that adds a letter would count boards that are not in the class
        if not set(forced) <= set(letters[cell]):
            raise RowError(
                f"path {path!r} forces {forced!r} on cell {cell}, which has {letters[cell]!r}"
            )
        letters[cell] = forced
    return letters


def check_apart(path: str, children: Sequence[str]) -> None:
    """Check that the parts of the unit ``path`` that ``children`` name share no board.

    The paths are read as a tree from the top: the branches at one place must force the same cell,
    to different letters.

    Raises RowError when two children may share boards.
    """
    # a part that is named may have nothing below it
    ends = set(children)
    todo = [(path, list(children))]
    while todo:
        above, inside = todo.pop()
        below = _by_branch(above, inside)
        forced = [last_part(branch) for branch in below]
        letters = "".join(letters for _, letters in forced)
        if (
            above in ends
            or len({cell for cell, _ in forced}) > 1
            or len(set(letters)) < len(letters)
        ):
            raise RowError(f"children below {above!r} share boards")
        todo += [(branch, group) for branch, group in below.items() if group != [branch]]


def uncovered(nodes: SearchNodes, unit: Key, named: Sequence[str]) -> str | None:
    """Return a part of a unit that the ``named`` parts do not cover; None if they cover the unit.

    Every split on the way from the unit to a named part is made anew, so a part that was lost
    cannot hide.

    Raises RowError when no split of the search makes one of the named parts.
    """
    class_id, top = unit
    todo = [(top, list(named))]
    reached = 0
    while todo:
        path, inside = todo.pop()
        # nothing that was named lies here: this part was lost
        if not inside:
            return path
        if path in inside:
            reached += 1
        else:
            below = _by_branch(path, inside)
            cell, _ = last_part(next(iter(below)))
            for part in nodes.parts(class_id, path, cell):
                todo.append((part, below.get(part, [])))
    # a part that no split leads to would count boards that others count as well
    if reached != len(set(named)):
        raise RowError("it names a part that no split of the search makes")
    return None


def _by_branch(above: str, inside: Iterable[str]) -> dict[str, list[str]]:
    """Return some paths below ``above`` by the part of it that they lie in: a forged path may have
    hundreds of parts, so what lies above it is never written out.
    """
    below: dict[str, list[str]] = {}
    for path in inside:
        end = path.find(SEPARATOR, len(above) + 1)
        below.setdefault(path if end < 0 else path[:end], []).append(path)
    return below


def first_few(items: Iterable[object]) -> str:
    """Return the first items as text, with dots instead of the others."""
    texts = list(map(str, items))
    return ", ".join(texts[:MAX_EXAMPLES]) + ", ..." * (len(texts) > MAX_EXAMPLES)


def unit_name(key: Key) -> str:
    """Return how to name a unit in messages."""
    if key[1]:
        return f"class {key[0]} path {key[1]}"
    return f"class {key[0]}"


def rows_out_of_space(run: Run) -> str:
    """Return which rows are of classes not the run's own, where they stand, how to get rid of them;
    may be empty.
    """
    classes = run.foreign.tolist()
    if not classes:
        return ""
    asked = pa.array(classes)
    tables = zip(run.manifest.parts, run.columns(["class_id"]), strict=True)
    names = []
    for part, table in tables:
        if pc.any(pc.is_in(table.column("class_id"), asked)).as_py():
            names.append(part.name)
    which = counted(len(classes), "class that is not its own", "classes that are not its own")
    return (
        f"rows of {which}: {first_few(classes)}, in {first_few(names)}; the command that made the "
        "run takes these parts out with --drop-damaged, and searches again what else they held"
    )
