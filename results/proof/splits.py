"""Units and their parts: a split must cut a unit into parts that share no board and make up the unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from boardclass.errors import InputError, PartitionError
from boardclass.partition import Partition
from boardclass.parts import SEPARATOR, last_part
from results.errors import RowError
from results.proof.space import Faults, Letters, NodesLike, unit_name
from results.store.rows import SPLIT, Key, parse_path
from results.store.run import Run


class Units:
    """The verdict rows of a run: roots as arrays, everything that needs letters row by row.

    Parameters
    ----------
    run : Run
    partition : Partition
        That of the run.
    faults : Faults
        Takes what the checks find.

    Attributes
    ----------
    ids : int64[n]
        Classes whose root has a verdict, ascending.
    n_boards : object[n] of int
        How many boards their rows say they hold.
    """

    def __init__(self, run: Run, partition: Partition, faults: Faults) -> None:
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
        self._table = table
        self._partition = partition
        self._faults = faults

    def check_splits(self, nodes: NodesLike | None) -> set[int]:
        """Check every split unit that a root leads to; return the classes that have an open unit."""
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

    def _check_split(self, row: dict[str, Any], children: list[Key], nodes: NodesLike | None) -> None:
        """Check the parts of one split unit: they share no board, lie in the unit, and make it up.

        A unit names each part that it decided itself (settled, in the order of its search) and each that it left to be
        searched (children).  A part may not be, hold or lie in another.  With ``nodes``, each must be one that the
        search makes, and together they must be the whole unit, so that a lost part is noticed wherever it stood.
        """
        key, n_boards, settled = _key(row), int(row["n_boards"]), row["settled"]
        check_apart(key[1], [*row["children"], *settled])
        total = 0
        for child in children:
            size = self._below.get(child, 1)
            most = math.prod(len(bucket) for bucket in self.unit_letters(child))
            expected = nodes.n_boards(*child) if nodes else size
            if child in self._below and not 1 <= size == expected <= most:
                raise RowError(f"{unit_name(child)} has {expected if nodes else most} boards, its row says {size}")
            total += size
        total += sum(nodes.n_boards(key[0], path) if nodes else 1 for path in settled)
        if total > n_boards:
            raise RowError(f"its parts hold {total} boards, it has {n_boards}")
        if nodes:
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


def uncovered(nodes: NodesLike, unit: Key, named: Sequence[str]) -> str | None:
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
