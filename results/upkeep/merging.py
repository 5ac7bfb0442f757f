"""Puts runs of one question together: what several drivers found goes into one directory.

    check_sources   reads every source whole: bytes, rows, coverage rules, units with two verdicts; writes nothing
    merge           takes the target's lock, compares its rows likewise, appends what it lacks as new parts

Nothing is written before all of it is checked, and the parts of the target are never touched.  A kill between two new
parts leaves a target that is sound; the same command goes on from there.

What becomes of the rest of a source:

    verdicts         one row a unit, unless the target has it: then both must agree
    other rows       every one that the target lacks.  So a host that was doubted in a source is doubted in the target,
                     and what it found is searched again; a unit that was given up counts as such until it is found
    events           the lines that the target's log lacks (logmerge.py)
    claim, boards    not taken over: they are made again from the rows.  A target that gets rows loses its claim
    certificates     not taken over: they depend on the question only, and are made again by ``orderly certify``
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from boardclass.errors import InputError, MismatchError
from results.errors import FingerprintError, RowError
from results.log.logmerge import merge_logs
from results.proof.coverage import check_coverage
from results.proof.space import NodesLike, PartitionLike
from results.storage import files
from results.storage.folder import Folder
from results.storage.local import LocalFolder, open_folder
from results.store.fingerprint import check_same, check_same_structure
from results.store.run import Run, raise_conflicts, read_identity
from results.store.schema import SCHEMA, from_table
from results.store.store import Store
from results.upkeep.extend import COVERS, EVERYTHING
from results.upkeep.placed import apart, lacking, no_rows, once, read_placed, unlike

PART_ROWS = 50_000  # of a new part: few files, none of which takes much memory
_APART = "Only runs of one question can be merged."
_STRUCTURE = "Only runs that cut their classes in the same way can be merged."


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    Attributes
    ----------
    n_added, n_there : int
        Verdicts that the target got, and those of the sources that it had or that came twice.
    n_other : int
        Other rows that it got: failures, units given up.
    parts : tuple of str
        New part files.
    n_lines : int
        Lines that its log got.
    """

    n_added: int
    n_there: int
    n_other: int
    parts: tuple[str, ...]
    n_lines: int


@dataclass(frozen=True)
class Sources:
    """Runs that were read and found fit to be merged.

    Attributes
    ----------
    runs : tuple of Run
    info : dict
        For the ``run.json`` of a new target.
    verdicts : Table
        One row for each unit, with its place.
    others : Table
        All rows that are not verdicts, without those that are equal in every column.
    n_verdicts : int
        Verdicts in the files; one that came twice counts twice.
    """

    runs: tuple[Run, ...]
    info: dict[str, Any]
    verdicts: pa.Table
    others: pa.Table
    n_verdicts: int
    names: list[str]


def check_sources(runs: Sequence[Run], partition: PartitionLike, nodes: NodesLike) -> Sources:
    """Read every row of some runs of one question and check that they can be put together.

    Parameters
    ----------
    runs : sequence of Run
        At least one; they may be unfinished, and a driver may write to them meanwhile.
    partition : Partition
        That of the first.
    nodes : NodesLike
        How the first one cuts classes into parts.

    Raises
    ------
    FingerprintError
        When they are not of one question, or cut their classes in other ways.
    DamagedError, RowError
        When a file or a row cannot be trusted.
    ConflictError
        When they give a unit different verdicts; both rows are named.
    MismatchError
        When rows do not fit the partition or each other.
    """
    first, names = runs[0], list[str]()
    canonical = np.concatenate([np.empty(0, np.int64), *partition.canonical_ranks()])
    verdicts, others, n_verdicts = no_rows(), no_rows(), 0
    for run in runs:
        where = run.folder.where("")
        check_same(first.fingerprint, run.fingerprint, where, _APART)
        check_same_structure(first.info.get("structure", {}), run.info, where, _STRUCTURE)
        raise_conflicts(run.conflicts)
        table = read_placed(run, names)
        _check_classes(table, canonical, names)
        coverage = check_coverage(partition, run, nodes)
        if coverage.n_problems:
            raise MismatchError(f"the rows in {where} do not fit together, nothing was merged: {coverage.message()}")
        found, rest = apart(table)
        n_verdicts += found.num_rows
        verdicts = pa.concat_tables([verdicts, lacking(verdicts, once(found), names)])
        others = pa.concat_tables([others, unlike(others, rest)])
    covers = all(run.info.get(COVERS) == EVERYTHING for run in runs)
    info = {**first.info, "share": "", COVERS: EVERYTHING if covers else ""}
    return Sources(tuple(runs), info, verdicts, others, n_verdicts, names)


def check_target(location: str, sources: Sources) -> None:
    """Refuse a target that the sources cannot go into; nothing is written.

    Raises
    ------
    FingerprintError
        When it is a run of another question, or its rows promise more than those of a source.
    InputError
        When it is one of the sources.
    """
    folder = open_folder(location)
    if any(_name(run.folder) == _name(folder) for run in sources.runs):
        raise InputError(f"{location!r} is the target and a source: name other runs to merge into it")
    identity = read_identity(folder)
    if identity is None:
        return
    fingerprint, info = identity
    where = folder.where("")
    check_same(sources.runs[0].fingerprint, fingerprint, where, _APART)
    check_same_structure(sources.runs[0].info.get("structure", {}), info, where, _STRUCTURE)
    if info.get(COVERS) == EVERYTHING != sources.info[COVERS]:
        raise FingerprintError(
            f"{where} promises that max_bound covers {EVERYTHING} ({COVERS} in {files.RUN}), and a source does not: "
            "merge them into a new directory, which will not promise it"
        )


def merge(location: str, sources: Sources) -> Merged:
    """Append to a run what it lacks of the sources; it is made if it is not there.

    Raises
    ------
    StoreError
        As ``Store.open``, when the target is locked, damaged or of another question, or the disk refuses.
    ConflictError
        When a unit has another verdict there; both rows are named and nothing is written.
    """
    check_target(location, sources)
    with Store.open(location, sources.runs[0].fingerprint, sources.info) as store:
        names = list(sources.names)
        there = read_placed(store.run, names)
        known, rest = apart(there)
        new = lacking(known, sources.verdicts, names)
        other = unlike(rest, sources.others)
        before = len(store.snapshot().manifest.parts)
        if new.num_rows or other.num_rows:
            store.run.folder.remove(files.CLAIM)
        for table in _batches(pa.concat_tables([new, other]).select(SCHEMA.names)):
            store.append(from_table(table))
        parts = store.snapshot().manifest.parts[before:]
        n_lines = merge_logs(
            store.run.folder,
            [run.folder for run in sources.runs],
            n_rows=new.num_rows + other.num_rows,
            n_parts=len(parts),
        )
    return Merged(
        n_added=new.num_rows,
        n_there=sources.n_verdicts - new.num_rows,
        n_other=other.num_rows,
        parts=tuple(part.name for part in parts),
        n_lines=n_lines,
    )


def _check_classes(table: pa.Table, canonical: npt.NDArray[np.int64], names: Sequence[str]) -> None:
    """Refuse rows about classes that the partition does not have, parts of classes included."""
    foreign = ~np.isin(table.column("class_id").to_numpy(), canonical)
    if foreign.any():
        row = table.take([int(np.flatnonzero(foreign)[0])]).to_pylist()[0]
        raise RowError(
            f"{names[row['file']]} row {row['row']}: class {row['class_id']} is not a canonical class of the "
            "partition; nothing was merged: restore the file from a copy"
        )


def _batches(table: pa.Table) -> Iterator[pa.Table]:
    for begin in range(0, table.num_rows, PART_ROWS):
        yield table.slice(begin, PART_ROWS)


def _name(folder: Folder) -> str:
    """Return a name that is the same for all ways to write a place."""
    return str(folder.root.resolve()) if isinstance(folder, LocalFolder) else folder.where("")
