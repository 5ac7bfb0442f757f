"""Puts runs of one question together: what several drivers found goes into one directory.

    check_sources   reads every source whole: bytes, rows, coverage rules, units with two verdicts;
                    writes nothing
    merge           takes the target's lock, compares its rows likewise, appends what it lacks as
                    new parts

Runs are joined as sets of rows.  A row is known by its unit, its host, and whether it is a verdict
or else its status; of rows that are known by the same, the first stays.  So any order and any
grouping of merges ends with the same units, verdicts and doubts: a host that was contradicted in
one run is doubted for what it found in any of them.

Nothing is written before all of it is checked, and no row of the target is touched.  A
kill between two new parts leaves a target that is sound; the same command goes on from there.
Lines of the log that the target lacks are appended (log.py).  Claim, boards and certificates are
not taken over: they are made again from the rows.

>>> from orderly_boggle.results.store.run import open_run
>>> run = open_run("runs/2x2-scowl70-14")
>>> both = check_sources([run, run])
>>> both.n_verdicts == 2 * both.rows.num_rows
True
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from orderly_boggle.boardclass.arrays import Int64s
from orderly_boggle.boardclass.errors import InputError, MismatchError
from orderly_boggle.results.errors import RowError
from orderly_boggle.results.log import merge_logs
from orderly_boggle.results.proof.coverage import check_coverage, rows_out_of_space
from orderly_boggle.results.proof.known import check_known
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder, LocalFolder
from orderly_boggle.results.storage.lock import say_once
from orderly_boggle.results.store.identity import open_place, refuse_another
from orderly_boggle.results.store.made import EVERYTHING, Made
from orderly_boggle.results.store.rows import (
    ELIMINATED,
    QUARANTINED,
    SCHEMA,
    VERDICTS,
    Row,
    from_table,
    verdicts_of,
)
from orderly_boggle.results.store.run import Run, describe_conflict, raise_conflicts
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep.extend import require_kept

PART_ROWS = 50_000  # of a new part: few files, none of which takes much memory
_FILE = pa.field("file", pa.dictionary(pa.int32(), pa.string()))
_PLACED = SCHEMA.append(_FILE).append(pa.field("row", pa.int64()))
_UNIT = ["class_id", "path"]
_ALIKE = "Only runs of one question that cut their classes in the same way can be merged."


@dataclass(frozen=True)
class MergeResult:
    """What a merge did."""

    n_added: int  # verdicts that the target got
    n_there: int  # verdicts of the sources that it had or that came twice
    n_other: int  # other rows that it got: failures, units given up
    n_parts: int  # part files that were written
    n_lines: int  # lines that its log got
    dropped: Mapping[str, str]  # parts of the target that opening took out, and why


@dataclass(frozen=True)
class Sources:
    """Runs that were read and found fit to be merged."""

    runs: tuple[Run, ...]
    made: Made  # of a new target
    rows: pa.Table  # of all runs, joined, with their places
    n_verdicts: int  # in the files; one that came twice counts twice


def check_sources(runs: Sequence[Run]) -> Sources:
    """Read every row of some runs, at least one, and check that they are of one question and can be
    put together.

    Raises FingerprintError when they are of several questions, or cut their classes in other ways;
    DamagedError, RowError when a file or a row cannot be trusted; ConflictError when they give a
    unit different verdicts; MismatchError when rows do not fit the partition or each other.
    """
    first = runs[0]
    for run in runs:
        where = run.folder.where("")
        refuse_another(first.question, run.question, where, _ALIKE)
        # each source by itself first: a fault is named where it is
        raise_conflicts(run.conflicts)
        if foreign := rows_out_of_space(run):
            raise RowError(f"{where} has {foreign}; nothing was merged")
        coverage = check_coverage(run)
        if coverage.problems:
            raise MismatchError(
                f"the rows in {where} do not fit together, nothing was merged: {coverage.message()}"
            )
    tables = [_placed(run) for run in runs]
    joined = _joined(tables)[0]
    for run in runs:  # two of them that contradict each other were named with both rows
        check_known(run, "nothing was merged")
    # one source that promises less is enough to promise less
    covers = all(run.made.covers == EVERYTHING for run in runs)
    # together they may be more than a share; the rows say how much
    made = replace(first.made, share="", covers=EVERYTHING if covers else "")
    return Sources(tuple(runs), made, joined, sum(verdicts_of(table).num_rows for table in tables))


def merge(location: str, sources: Sources) -> MergeResult:
    """Append to a run what it lacks of the sources; it is made if it is not there.

    Raises StoreError as ``Store.open``, when the target is locked, damaged or of another question,
    or the disk refuses; ConflictError when a unit has another verdict there; FingerprintError when
    the rows there promise more than those of a source; InputError when it is one of the sources.
    Then nothing is written.
    """
    place = open_place(location)
    folder = place.folder
    where = folder.where("")
    if any(_name(run.folder) == _name(folder) for run in sources.runs):
        raise InputError(
            f"{location!r} is the target and a source: name other runs to merge into it"
        )
    place.must_be_readable()
    question = sources.runs[0].question
    if identity := place.identity:
        refuse_another(question, identity.question, where, _ALIKE)
        require_kept(where, identity.made, sources.made, "name another TARGET")
    with Store.open(place, question, sources.made, wait=say_once()) as store:
        there = _placed(store.run)
        rows, places = _joined([there, sources.rows])
        # the target may have been altered since it was opened for reading
        check_known(store.run, "nothing was merged")
        new = rows.filter(pa.array(places >= there.num_rows)).select(SCHEMA.names)
        # first: a kill between two parts must not leave rows of a host without the doubt about it
        is_doubt = pc.field("status") == QUARANTINED
        new = pa.concat_tables([new.filter(is_doubt), new.filter(~is_doubt)])
        before = store.run.manifest.last_number
        # a claim is about rows that are not all there are any more
        if new.num_rows:
            folder.remove(files.CLAIM)
        for begin in range(0, new.num_rows, PART_ROWS):
            store.append(from_table(new.slice(begin, PART_ROWS)), copied=True)
        n_parts = store.snapshot().manifest.last_number - before
        folders = [run.folder for run in sources.runs]
        n_lines = merge_logs(folder, folders, n_rows=new.num_rows, n_parts=n_parts)
    n_added = verdicts_of(new).num_rows
    return MergeResult(
        n_added,
        sources.n_verdicts - n_added,
        new.num_rows - n_added,
        n_parts,
        n_lines,
        store.repaired.parts,
    )


def _placed(run: Run) -> pa.Table:
    """Return all rows of a run, checked, each with its place: ``file`` and ``row``."""
    tables = [_PLACED.empty_table()]
    for part, table in run.checked():
        where = run.folder.where(part.name)
        n = table.num_rows
        file = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), [where])
        columns = [*table.columns, file, pa.array(np.arange(n))]
        tables.append(pa.table(columns, _PLACED))
    return pa.concat_tables(tables)


def _joined(tables: Sequence[pa.Table]) -> tuple[pa.Table, Int64s]:
    """Return the rows of some tables, one for each unit, host and kind, and where each stood among
    all of them; ConflictError when a unit has different verdicts.
    """
    every = pa.concat_tables(tables)
    status = every.column("status")
    # a failure is a row of its own beside a verdict of the same host
    kind = pc.if_else(pc.is_in(status, pa.array(VERDICTS)), "verdict", status)
    keys = every.select([*_UNIT, "host"]).append_column("kind", kind)
    keys = keys.append_column("at", pa.array(np.arange(every.num_rows)))
    verdicts = keys.filter(pc.field("kind") == "verdict")
    firsts = verdicts.group_by(_UNIT, use_threads=False).aggregate([("at", "min")])
    pairs = verdicts.join(firsts, _UNIT, join_type="inner", use_threads=False).sort_by("at")
    pairs = pairs.filter(pc.field("at") != pc.field("at_min"))
    _check_agreement(every.take(pairs.column("at_min")), every.take(pairs.column("at")))
    same = keys.group_by([*_UNIT, "host", "kind"], use_threads=False)
    kept = same.aggregate([("at", "min")])
    # in the order of the sources: merging again gives the same parts
    places = np.sort(kept.column("at_min").to_numpy())
    return every.take(pa.array(places)), places


def _check_agreement(known: pa.Table, offered: pa.Table) -> None:
    # most rows: compared in arrays, the few others one by one
    is_plain = []
    for table in (known, offered):
        is_plain.append(pc.equal(table.column("status"), ELIMINATED))
    same_size = pc.equal(known.column("n_boards"), offered.column("n_boards"))
    # the other rows cannot differ in anything else
    rest = pc.invert(pc.and_(pc.and_(*is_plain), same_size))
    ours = _with_places(known.filter(rest))
    theirs = _with_places(offered.filter(rest))
    pairs = zip(ours, theirs, strict=True)
    conflicts = []
    for pair in pairs:
        if pair[0][1].verdict != pair[1][1].verdict:
            conflicts.append(pair)
    if conflicts:
        remedy = (
            "Nothing was merged. Find out which is wrong; `orderly repeat` searches a class again."
        )
        told = {}
        for pair in conflicts:
            _, row = pair[0]
            told[row.key] = describe_conflict(list(pair), remedy)
        raise_conflicts(told)


def _with_places(table: pa.Table) -> list[tuple[str, Row]]:
    paths = table.column("file").to_pylist()
    numbers = table.column("row").to_pylist()
    places = zip(paths, numbers, strict=True)
    names = [f"{file} row {row}" for file, row in places]
    return list(zip(names, from_table(table.select(SCHEMA.names)), strict=True))


def _name(folder: Folder) -> str:
    """Return a name that is the same for all ways to write a place."""
    if isinstance(folder, LocalFolder):
        return str(folder.root.resolve())
    return folder.where("")
