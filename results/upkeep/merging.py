"""Puts runs of one question together: what several drivers found goes into one directory.

    check_sources   reads every source whole: bytes, rows, coverage rules, units with two verdicts; writes nothing
    merge           takes the target's lock, compares its rows likewise, appends what it lacks as new parts

Runs are joined as sets of rows.  A row is known by its unit, its host, and whether it is a verdict or else its status;
of rows that are known by the same, the first stays.  So any order and any grouping of merges ends with the same units,
verdicts and doubts: a host that was contradicted in one run is doubted for what it found in any of them.

Nothing is written before all of it is checked, and the parts of the target are never touched.  A kill between two new
parts leaves a target that is sound; the same command goes on from there.  Lines of the log that the target lacks are
appended (log.py).  Claim, boards and certificates are not taken over: they are made again from the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from boardclass.errors import InputError, MismatchError
from results.errors import ConflictError, FingerprintError, RowError
from results.log import merge_logs
from results.proof.coverage import check_coverage, rows_out_of_space
from results.storage import files
from results.storage.files import Folder
from results.storage.local import LocalFolder, open_folder
from results.store.documents import check_same, check_same_structure
from results.store.rows import ELIMINATED, SCHEMA, SPLIT, VERDICTS, Row, from_table
from results.store.run import Run, describe_conflict, raise_conflicts, read_identity
from results.store.store import Store
from results.upkeep.extend import COVERS, EVERYTHING

PART_ROWS = 50_000  # of a new part: few files, none of which takes much memory
_PLACED = SCHEMA.append(pa.field("file", pa.dictionary(pa.int32(), pa.string()))).append(pa.field("row", pa.int64()))
_UNIT = ["class_id", "path"]
_MAX_TOLD = 3
_APART = "Only runs of one question can be merged."
_STRUCTURE = "Only runs that cut their classes in the same way can be merged."


@dataclass(frozen=True)
class MergeResult:
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
    rows : Table
        Their rows, joined, with their places.
    n_verdicts : int
        Verdicts in the files; one that came twice counts twice.
    """

    runs: tuple[Run, ...]
    info: dict[str, Any]
    rows: pa.Table
    n_verdicts: int


def check_sources(runs: Sequence[Run]) -> Sources:
    """Read every row of some runs of one question and check that they can be put together.

    Parameters
    ----------
    runs : sequence of Run
        At least one; they may be unfinished, and a driver may write to them meanwhile.

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
    first = runs[0]
    for run in runs:
        where = run.folder.where("")
        check_same(first.fingerprint, run.fingerprint, where, _APART)
        check_same_structure(first.info.get("structure", {}), run.info, where, _STRUCTURE)
        raise_conflicts(run.conflicts)
        if foreign := rows_out_of_space(run):
            raise RowError(f"{where} has {foreign}; nothing was merged")
        coverage = check_coverage(run)
        if coverage.n_problems:
            raise MismatchError(f"the rows in {where} do not fit together, nothing was merged: {coverage.message()}")
    tables = [_placed(run) for run in runs]
    covers = all(run.info.get(COVERS) == EVERYTHING for run in runs)
    info = {**first.info, "share": "", COVERS: EVERYTHING if covers else ""}
    return Sources(tuple(runs), info, _joined(tables)[0], sum(_n_verdicts(table) for table in tables))


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


def merge(location: str, sources: Sources) -> MergeResult:
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
        there = _placed(store.run)
        rows, places = _joined([there, sources.rows])
        new = rows.filter(pa.array(places >= there.num_rows)).select(SCHEMA.names)
        before, folder = len(store.run.manifest.parts), store.run.folder
        if new.num_rows:
            folder.remove(files.CLAIM)
        for begin in range(0, new.num_rows, PART_ROWS):
            store.append(from_table(new.slice(begin, PART_ROWS)), copied=True)
        parts = tuple(part.name for part in store.snapshot().manifest.parts[before:])
        n_lines = merge_logs(folder, [run.folder for run in sources.runs], n_rows=new.num_rows, n_parts=len(parts))
    n_added = _n_verdicts(new)
    return MergeResult(n_added, sources.n_verdicts - n_added, new.num_rows - n_added, parts, n_lines)


def _placed(run: Run) -> pa.Table:
    """Return all rows of a run, checked, with two columns more: the ``file`` in which each stands, and its ``row``."""
    tables = [_PLACED.empty_table()]
    for part, table in zip(run.manifest.parts, run.tables(), strict=True):
        file = pa.DictionaryArray.from_arrays(np.zeros(table.num_rows, np.int32), [run.folder.where(part.name)])
        table = table.append_column(_PLACED.field("file"), file)
        tables.append(table.append_column(_PLACED.field("row"), pa.array(np.arange(table.num_rows))))
    return pa.concat_tables(tables)


def _joined(tables: Sequence[pa.Table]) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Return the rows of some tables, one for each unit, host and kind, and where each stood among all of them.

    Raises
    ------
    ConflictError
        When a unit has different verdicts.
    """
    every = pa.concat_tables(tables)
    status = every.column("status")
    kind = pc.if_else(pc.is_in(status, _verdicts()), "verdict", status)
    keys = every.select([*_UNIT, "host"]).append_column("kind", kind)
    keys = keys.append_column("at", pa.array(np.arange(every.num_rows)))
    verdicts = keys.filter(pc.field("kind") == "verdict")
    firsts = verdicts.group_by(_UNIT, use_threads=False).aggregate([("at", "min")])
    pairs = verdicts.join(firsts, _UNIT, join_type="inner", use_threads=False).sort_by("at")
    pairs = pairs.filter(pc.field("at") != pc.field("at_min"))
    _check_agreement(every.take(pairs.column("at_min")), every.take(pairs.column("at")))
    kept = keys.group_by([*_UNIT, "host", "kind"], use_threads=False).aggregate([("at", "min")])
    places = np.sort(kept.column("at_min").to_numpy())
    return every.take(pa.array(places)), places


def _check_agreement(known: pa.Table, offered: pa.Table) -> None:
    is_plain = [pc.equal(table.column("status"), ELIMINATED) for table in (known, offered)]
    same_size = pc.equal(known.column("n_boards"), offered.column("n_boards"))
    rest = pc.invert(pc.and_(pc.and_(*is_plain), same_size))  # the other rows cannot differ in anything else
    pairs = zip(*(_with_places(table.filter(rest)) for table in (known, offered)), strict=True)
    conflicts = [pair for pair in pairs if pair[0][1].verdict != pair[1][1].verdict]
    if conflicts:
        remedy = "Nothing was merged. Find out which is wrong; `orderly repeat` searches a class again."
        if any(row.status == SPLIT for pair in conflicts[:_MAX_TOLD] for _, row in pair):
            remedy += " Where one is split, another budget ([search] of the config) is enough to explain it."
        told = [describe_conflict(list(pair), remedy) for pair in conflicts[:_MAX_TOLD]]
        more = f"\n... and {len(conflicts) - _MAX_TOLD} more units" if len(conflicts) > _MAX_TOLD else ""
        raise ConflictError("\n".join(told) + more)


def _with_places(table: pa.Table) -> list[tuple[str, Row]]:
    places = zip(table.column("file").to_pylist(), table.column("row").to_pylist(), strict=True)
    names = [f"{file} row {row}" for file, row in places]
    return list(zip(names, from_table(table.select(SCHEMA.names)), strict=True))


def _verdicts() -> pa.Array:
    return pa.array(VERDICTS)


def _n_verdicts(table: pa.Table) -> int:
    return int(pc.sum(pc.is_in(table.column("status"), _verdicts())).as_py() or 0)


def _name(folder: Folder) -> str:
    """Return a name that is the same for all ways to write a place."""
    return str(folder.root.resolve()) if isinstance(folder, LocalFolder) else folder.where("")
