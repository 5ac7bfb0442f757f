"""Whether every board of the whole space lies in exactly one unit with a verdict.  Only then is a run *proven*.

    ids       the roots in the store are exactly the canonical classes of the partition; no row is about others
    sizes     the boards of each class times its orbit size add up to 26^n
    splits    the parts that a split unit settled itself and its children share no board and make up the unit; the
              children have verdicts, down to the leaves
    boards    each candidate belongs to the unit that lists it

Classes are checked here (their sizes, and rows of others, come from space.py), units in splits.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardclass.errors import IncompleteError
from boardclass.partition import Partition
from results.proof.rescore import Source
from results.proof.space import (
    MAX_EXAMPLES,
    ClassSizes,
    Faults,
    NodesLike,
    describe_out_of_space,
    out_of_space,
    unit_name,
)
from results.proof.splits import Units


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


def check_coverage(partition: Partition, source: Source, nodes: NodesLike | None = None) -> Coverage:
    """Compare what a run holds with the whole space of its partition.

    Parameters
    ----------
    partition : Partition
        That of the run.
    source : Store or Run
    nodes : NodesLike, optional
        With it, the children of every split unit are compared with those that the search would make, one by one.
        A unit settles some parts itself, so without it a child lost from the list goes unnoticed.

    Raises
    ------
    DamagedError, RowError
        When a stored file or row cannot be trusted.
    ValueError
        When the partition is not that of the run.
    """
    run = source.snapshot()
    if (partition.text, str(partition.dims)) != (run.fingerprint.partition, run.fingerprint.dims):
        raise ValueError(f"partition {partition.text!r} of {partition.dims} is not that of the run")
    faults = Faults()
    units = Units(run, partition, faults)
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
    foreign = describe_out_of_space(run, out_of_space(partition, run.index.class_ids))
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
