"""Whether every board of the whole space lies in exactly one unit with a verdict.  Only then is a run *proven*.

    ids       the roots in the store are exactly the canonical classes of the partition; no row is about others
    sizes     the boards of each class times its orbit size add up to 26^n
    splits    the parts that a split unit settled itself and its children share no board and make up the unit; the
              children have verdicts, down to the leaves
    boards    each candidate belongs to the unit that lists it

Sizes and orbits are computed here from buckets and symmetries, independently of the enumeration that they check.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from boardclass.errors import IncompleteError, InputError, PartitionError
from boardclass.geometry import geometry
from boardclass.partition import Partition
from boardclass.parts import SEPARATOR, last_part
from boardclass.printable import counted
from results.errors import RowError
from results.store.parts import read_part
from results.store.rows import SCHEMA, SPLIT, Key, parse_path
from results.store.run import Run

if TYPE_CHECKING:
    from results.proof.nodes import SearchNodes


@dataclass(frozen=True)
class Coverage:
    """The outcome of :func:`check_coverage`; examples are cut to the first few, counts are exact.

    Attributes
    ----------
    n_classes, n_classes_done : int
        Canonical classes of the partition, and those that are settled down to their leaves.
    n_units : int
        Rows with a verdict.
    n_boards, n_boards_expected : int
        Boards in settled classes, every symmetric image counted, and in the whole space.
    n_missing, n_conflicting, n_quarantined, n_problems : int
    missing, conflicting, quarantined, problems : tuple of str
    """

    n_classes: int
    n_classes_done: int
    n_units: int
    n_boards: int
    n_boards_expected: int
    n_missing: int
    n_conflicting: int
    n_quarantined: int
    n_problems: int
    missing: tuple[str, ...]
    conflicting: tuple[str, ...]
    quarantined: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every board lies in exactly one settled unit."""
        faults = self.n_missing + self.n_conflicting + self.n_quarantined + self.n_problems
        return faults == 0 and self.n_classes_done == self.n_classes and self.n_boards == self.n_boards_expected

    def message(self) -> str:
        """Return what is wrong, most serious first, or that nothing is."""
        if self.complete:
            return f"all {self.n_classes:,} classes settled, {self.n_boards:,} boards covered"
        lines = [f"{self.n_classes_done:,} of {self.n_classes:,} classes settled"]
        kinds = (
            ("problem", "problems"),
            ("conflict", "conflicting"),
            ("given up", "quarantined"),
            ("missing", "missing"),
        )
        for title, name in kinds:
            count, examples = getattr(self, f"n_{name}"), getattr(self, name)
            if count:
                lines.append(f"  {title}: {count:,}: {', '.join(examples)}{', ...' if count > len(examples) else ''}")
        if len(lines) == 1:
            lines.append(f"  {self.n_boards:,} boards covered, {self.n_boards_expected:,} expected")
        return "\n".join(lines)

    def require_complete(self) -> None:
        """Raise IncompleteError (exit code 4) with :meth:`message` unless complete."""
        if not self.complete:
            raise IncompleteError(f"the run proves nothing yet: {self.message()}\nRun again to go on.")


def check_coverage(run: Run, nodes: SearchNodes | None = None) -> Coverage:
    """Compare what a run holds with the whole space of its partition.

    Parameters
    ----------
    run : Run
    nodes : SearchNodes, optional
        How the search cuts classes, by default what ``run.json`` says.  The parts of every split unit are compared with
        those that the search would make, one by one.

    Raises
    ------
    DamagedError, RowError
        When a stored file or row cannot be trusted.
    """
    partition = run.partition
    faults = Faults()
    units = Units(run, faults)
    unfinished = units.check_splits(nodes) | {class_id for class_id, _ in run.conflicts}
    units.check_boards()
    sizes = ClassSizes(partition)
    n_classes, n_done, n_boards, n_seen = 0, 0, 0, 0
    for ranks in partition.canonical_ranks():
        place = np.searchsorted(units.ids, ranks)
        present = np.zeros(len(ranks), np.bool_)
        near = place < len(units.ids)
        present[near] = units.ids[place[near]] == ranks[near]
        for rank in ranks[~present].tolist():
            if (rank, "") not in run.conflicts:
                faults.add_missing(f"class {rank}")
        settled = [rank not in unfinished for rank in ranks[present].tolist()] if unfinished else True
        counted, orbits = sizes.of(ranks[present])
        stored = units.n_boards[place[present]]
        for rank, size, expected in zip(ranks[present].tolist(), stored, counted, strict=True):
            if size != expected:
                faults.add_problem(f"class {rank} has {expected} boards, its row says {size}")
        n_boards += int(np.sum(np.where(settled, counted * orbits, 0), initial=0))
        n_done += len(counted) if isinstance(settled, bool) else sum(settled)
        n_classes += len(ranks)
        n_seen += len(counted)
    if n_classes != partition.n_canonical:
        faults.add_problem(f"{n_classes} canonical classes enumerated, {partition.n_canonical} counted")
    foreign = rows_out_of_space(run)
    if foreign or n_seen < len(units.ids):
        faults.add_problem(foreign or f"{len(units.ids) - n_seen} stored classes are not classes of the run")
    conflicting, quarantined = sorted(run.conflicts), sorted(run.index.quarantined)
    return Coverage(
        n_classes=n_classes,
        n_classes_done=n_done,
        n_units=run.verdict_table.num_rows,
        n_boards=n_boards,
        n_boards_expected=26**partition.dims.n,
        n_missing=faults.n_missing,
        n_conflicting=len(conflicting),
        n_quarantined=len(quarantined),
        n_problems=faults.n_problems,
        missing=tuple(faults.missing),
        conflicting=tuple(unit_name(key) for key in conflicting[:MAX_EXAMPLES]),
        quarantined=tuple(unit_name(key) for key in quarantined[:MAX_EXAMPLES]),
        problems=tuple(faults.problems),
    )


class Units:
    """The verdict rows of a run: roots as arrays, everything that needs letters row by row.

    Parameters
    ----------
    run : Run
    faults : Faults
        Takes what the checks find.

    Attributes
    ----------
    ids : int64[n]
        Classes whose root has a verdict, ascending.
    n_boards : object[n] of int
        How many boards their rows say they hold.
    """

    def __init__(self, run: Run, faults: Faults) -> None:
        table = run.verdict_table
        roots = table.filter(pc.equal(table.column("path"), ""))
        ids = roots.column("class_id").to_numpy()
        order = np.argsort(ids, kind="stable")
        self.ids: npt.NDArray[np.int64] = ids[order]
        self.n_boards = np.array([int(text) for text in roots.column("n_boards").to_pylist()], dtype=object)[order]
        below = table.filter(pc.not_equal(table.column("path"), ""))
        self._below = {
            _key(row): int(row["n_boards"]) for row in below.select(["class_id", "path", "n_boards"]).to_pylist()
        }
        self._run = run
        self._table = table
        self._partition = run.partition
        self._faults = faults

    def check_splits(self, nodes: SearchNodes | None) -> set[int]:
        """Check every split unit that a root leads to; return the classes that have an open unit."""
        if not self._run.index.splits:
            return set()
        if nodes is None:
            from results.proof.nodes import run_nodes

            nodes = run_nodes(self._run)
        rows = self._table.filter(pc.equal(self._table.column("status"), SPLIT))
        columns = ["class_id", "path", "n_boards", "children", "settled"]
        splits = {_key(row): row for row in rows.select(columns).to_pylist()}
        unfinished: set[int] = set()
        stack = sorted((key for key in splits if not key[1]), reverse=True)
        while stack:
            row = splits[stack.pop()]
            children = [(row["class_id"], child) for child in row["children"]]
            try:
                self._check_split(row, children, nodes)
            except (RowError, InputError) as error:
                self._faults.add_problem(f"{unit_name(_key(row))}: {error}")
                unfinished.add(row["class_id"])
                continue
            for child in children:
                if child not in self._below:
                    self._faults.add_missing(unit_name(child))
                    unfinished.add(row["class_id"])
                if child in splits:
                    stack.append(child)
        return unfinished

    def _check_split(self, row: dict[str, Any], children: list[Key], nodes: SearchNodes) -> None:
        """Check the parts of one split unit: they share no board, lie in the unit, and make it up.

        A unit names each part that it decided itself (settled, in the order of its search) and each that it left to be
        searched (children).  A part may not be, hold or lie in another.  Each must be one that the search makes, and
        together they must be the whole unit, so that a lost part is noticed wherever it stood.
        """
        key, n_boards, settled = _key(row), int(row["n_boards"]), row["settled"]
        check_apart(key[1], [*row["children"], *settled])
        total = sum(nodes.n_boards(key[0], path) for path in settled)
        for child in children:
            size, expected = self._below.get(child, 1), nodes.n_boards(*child)
            most = math.prod(len(bucket) for bucket in self.unit_letters(child))
            if child in self._below and not 1 <= size == expected <= most:
                raise RowError(f"{unit_name(child)} has {expected} boards, its row says {size}")
            total += size
        if total > n_boards:
            raise RowError(f"its parts hold {total} boards, it has {n_boards}")
        lost = uncovered(nodes, key, [*row["children"], *settled])
        if lost is not None:
            raise RowError(f"its part {lost!r} is neither a child nor settled")

    def check_boards(self) -> None:
        """Check that each candidate is a board of the unit that lists it."""
        rows = self._table.filter(pc.greater(pc.list_value_length(self._table.column("candidates")), 0))
        for row in rows.select(["class_id", "path", "candidates"]).to_pylist():
            try:
                letters = self.unit_letters(_key(row))
            except RowError as error:
                self._faults.add_problem(f"{unit_name(_key(row))}: {error}")
                continue
            for item in row["candidates"]:
                if not all(letter in bucket for letter, bucket in zip(item["board"], letters, strict=True)):
                    self._faults.add_problem(f"{unit_name(_key(row))} lists {item['board']}, which is not in it")

    def unit_letters(self, key: Key) -> Letters:
        """Return the letters of each cell of a unit: those of its class, narrowed by its path.

        Raises
        ------
        RowError
            When the class does not exist or the path adds letters.
        """
        class_id, path = key
        try:
            letters = list(self._partition.class_letters(class_id))
        except PartitionError as error:
            raise RowError(f"no such class: {error}") from error
        for cell, forced in parse_path(path, len(letters)):
            if not set(forced) <= set(letters[cell]):
                raise RowError(f"path {path!r} forces {forced!r} on cell {cell}, which has {letters[cell]!r}")
            letters[cell] = forced
        return tuple(letters)


def check_apart(path: str, children: Sequence[str]) -> None:
    """Check that the parts of the unit ``path`` that ``children`` name share no board.

    The paths are read as a tree from the top: the branches at one place must force the same cell, to different letters.

    Raises
    ------
    RowError
        When two children may share boards.
    """
    ends = set(children)
    todo = [(path, list(children))]
    while todo:
        above, inside = todo.pop()
        below = _by_branch(above, inside)
        forced = [last_part(branch) for branch in below]
        letters = "".join(letters for _, letters in forced)
        if above in ends or len({cell for cell, _ in forced}) > 1 or len(set(letters)) < len(letters):
            raise RowError(f"children below {above!r} share boards")
        todo += [(branch, group) for branch, group in below.items() if group != [branch]]


def uncovered(nodes: SearchNodes, unit: Key, named: Sequence[str]) -> str | None:
    """Return a part of a unit that the ``named`` parts do not cover; None if they cover the unit.

    Every split on the way from the unit to a named part is made anew, so a part that was lost cannot hide.

    Raises
    ------
    RowError
        When no split of the search makes one of the named parts.
    """
    class_id, top = unit
    todo, reached = [(top, list(named))], 0
    while todo:
        path, inside = todo.pop()
        if not inside:
            return path
        if path in inside:
            reached += 1
        else:
            below = _by_branch(path, inside)
            todo += [(part, below.get(part, [])) for part in nodes.parts(class_id, path)]
    if reached != len(set(named)):
        raise RowError("it names a part that no split of the search makes")
    return None


def _by_branch(above: str, inside: Iterable[str]) -> dict[str, list[str]]:
    """Return some paths below ``above`` by the part of it that they lie in: a forged path may have hundreds of parts,
    so what lies above it is never written out."""
    below: dict[str, list[str]] = {}
    for path in inside:
        end = path.find(SEPARATOR, len(above) + 1)
        below.setdefault(path if end < 0 else path[:end], []).append(path)
    return below


def _key(row: dict[str, Any]) -> Key:
    return row["class_id"], row["path"]


Letters = tuple[str, ...]
MAX_EXAMPLES = 10


class ClassSizes:
    """Boards and orbit sizes of many classes at once, in exact Python integers."""

    def __init__(self, partition: Partition) -> None:
        shape = geometry(partition.dims)
        buckets = [[len(letters) for letters in partition.buckets[kind]] for kind in shape.cell_types]
        self._lengths = [np.array(lengths, dtype=object) for lengths in buckets]
        self._radices = [len(lengths) for lengths in buckets]
        self._weights = [math.prod(self._radices[:cell]) for cell in range(shape.n)]
        self._symmetries = shape.symmetries

    def of(self, ranks: npt.NDArray[np.int64]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the number of boards and of distinct images (object arrays of int) of each class."""
        cells = zip(self._weights, self._radices, strict=True)
        digits = np.stack([(ranks // weight) % radix for weight, radix in cells], axis=1)
        n_boards = np.ones(len(ranks), dtype=object)
        for cell, lengths in enumerate(self._lengths):
            n_boards = n_boards * lengths[digits[:, cell]]
        weights = np.array(self._weights, dtype=np.int64)
        images = np.sort(np.stack([digits[:, symmetry] @ weights for symmetry in self._symmetries], axis=1), axis=1)
        n_images = 1 + np.count_nonzero(images[:, 1:] != images[:, :-1], axis=1)
        return n_boards, n_images.astype(object)


@dataclass
class Faults:
    """What is missing, and what cannot be true.

    Attributes
    ----------
    n_missing, n_problems : int
    missing, problems : list of str
        The first :data:`MAX_EXAMPLES` of each.
    """

    n_missing: int = 0
    n_problems: int = 0
    missing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add_missing(self, text: str, n: int = 1) -> None:
        """Note ``n`` units without a verdict that ``text`` names."""
        self.n_missing += n
        if len(self.missing) < MAX_EXAMPLES:
            self.missing.append(text)

    def add_problem(self, text: str) -> None:
        """Note something that cannot be true."""
        self.n_problems += 1
        if len(self.problems) < MAX_EXAMPLES:
            self.problems.append(text)


def listed(items: Sequence[object]) -> str:
    """Return the first few items as text, with dots instead of the others."""
    return ", ".join(map(str, items[:MAX_EXAMPLES])) + ", ..." * (len(items) > MAX_EXAMPLES)


def unit_name(key: Key) -> str:
    """Return how to name a unit in messages."""
    return f"class {key[0]} path {key[1]}" if key[1] else f"class {key[0]}"


def out_of_space(partition: Partition, ids: npt.NDArray[np.int64]) -> list[int]:
    """Return the ids (int64[n], distinct) that are not of canonical classes of a partition, ascending."""
    inside = (ids >= 0) & (ids < partition.n_classes)
    own = ids[inside]
    return sorted([*ids[~inside].tolist(), *own[partition.orbit_sizes(own) == 0].tolist()])


def rows_out_of_space(run: Run) -> str:
    """Return which rows are of classes not the run's own, where they stand, how to get rid of them; may be empty."""
    classes = out_of_space(run.partition, run.index.class_ids)
    if not classes:
        return ""
    asked, names = pa.array(classes), []
    for part in run.manifest.parts:
        if part.first_id <= classes[-1] and part.last_id >= classes[0]:
            ids = read_part(run.folder, part, SCHEMA, ["class_id"]).column("class_id")
            names += [part.name] * bool(pc.any(pc.is_in(ids, asked)).as_py())
    which = counted(len(classes), "class that is not its own", "classes that are not its own")
    return (
        f"rows of {which}: {listed(classes)}, in {listed(names)}; the command "
        "that made the run takes these parts out with --drop-damaged, and searches again what else they held"
    )
