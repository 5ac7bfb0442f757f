"""``--drop-damaged``: takes damaged files out of a run, so that their units, and no others, are
searched again.

    part unreadable, altered, missing, or with rows of other classes    a manifest line takes it off
                                                                        the list
    manifest line unreadable or missing    the part that it listed is taken off the list: nothing
                                           vouches for its bytes
    run.json unreadable or missing         rewritten, if the rows of the run are of the question
                                           that was asked; that max_bound covers all that was
                                           discarded is promised no more
    run.json lost, and no claim tells how classes were cut   of each part the classes that were
                                           eliminated whole are kept
    claim, audits, certificates unreadable or impossible   removed; the claim is made again in the
                                           end, the others by request

The digest in the rows does not tell the rules by which classes are cut into parts.  Where these are
lost, a path may mean other boards than it did: with the rows of both rules boards would be missing,
and no check of sizes would find that.  What a class lists up to symmetry depends on them, too.

A doubt about a host that goes with its part is written down again before that, if the part can
still be read, or if the event log tells of it.  Called with the lock held.  It changes nothing
before it knows that the run is the one that was asked for.

>>> from orderly_boggle.results.store.run import open_run
>>> run = open_run("runs/2x2-scowl70-14")
>>> repair(run.folder, run.question, b"")  # nothing is wrong
RepairResult(parts={}, others={})
"""

import bisect
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from orderly_boggle.boardclass.printable import counted
from orderly_boggle.results.errors import DamagedError, RowError
from orderly_boggle.results.log import read_events
from orderly_boggle.results.log_events import HostFlagged
from orderly_boggle.results.proof.certificates import (
    certificate_files,
    read_audits,
    read_certificates,
)
from orderly_boggle.results.proof.claim import claimed_question, read_claim
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder
from orderly_boggle.results.store.identity import read_identity, refuse_another
from orderly_boggle.results.store.parts import (
    Part,
    describe,
    parse_part,
    read_manifest,
    read_parts,
    serialise,
    unlisted,
)
from orderly_boggle.results.store.rows import (
    ELIMINATED,
    QUARANTINED,
    SCHEMA,
    Row,
    check_table,
    to_table,
)
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import RepairResult
from orderly_boggle.search.question import Question

_LOG_BYTES = 64 * 2**20  # of the event log, from its end
_MISSING = "it is missing"
# no rule of cutting has a say in such a verdict
_IS_WHOLE = (pc.field("path") == "") & (pc.field("status") == ELIMINATED)


def repair(folder: Folder, question: Question, document: bytes) -> RepairResult:
    """Repair the run that was asked for; return what was wrong.  ``document`` is put in the place
    of a lost ``run.json``; it promises no more than its rows may keep.

    Raises FingerprintError when the run there is another one; DamagedError when it cannot be told
    what run it is.
    """
    done = RepairResult({}, {})
    fault = _fault_of_identity(folder, question)
    has_rows = bool(folder.names(files.RESULTS))
    if fault == _MISSING and not has_rows:
        return done  # the store writes the document of a new run
    # nothing is known of the run but its rows: they must be of the question asked for
    if fault and has_rows:
        _check_rows(folder, question)
    is_cut_lost = bool(fault) and not _is_cut_so(folder, question)
    _repair_manifest(folder, question, done)
    _drop_parts(folder, question, done, is_cut_lost=is_cut_lost)
    if fault:
        # not before: a kill must not leave rows beside rules that they were not cut by
        folder.publish(files.RUN, document)
        done.others[files.RUN] = fault
    _remove_documents(folder, done)
    return done


def _fault_of_identity(folder: Folder, question: Question) -> str:
    """Return what is wrong with ``run.json``, if anything is; refuse that of another run."""
    try:
        identity = read_identity(folder)
    except DamagedError as error:
        return str(error)
    if identity is None:
        return _MISSING
    refuse_another(question, identity.question, folder.where(""))
    return ""


def _is_cut_so(folder: Folder, question: Question) -> bool:
    """Return whether a claim tells that classes were cut as the question says; refuse another
    way.
    """
    told = claimed_question(folder)
    if told is None or told.digest != question.digest:
        return False
    refuse_another(question, told, folder.where(""))
    return True


def _check_rows(folder: Folder, question: Question) -> None:
    cannot = f"{folder.where(files.RUN)} cannot be read"
    n_readable = 0
    for part in _listed(folder).values():
        try:
            ((_, table),) = read_parts(folder, [part])
            n_readable += 1
            check_table(table, question, folder.where(part.name))
        # a part that cannot be read tells nothing, and is dropped below
        except DamagedError:
            continue
        except RowError as error:
            raise DamagedError(
                f"{cannot}, and the rows are not of the run asked for: {error}; give the same "
                "settings as when it began, or choose another --out"
            ) from error
    # to believe the command would let a damaged run be continued as another one
    if not n_readable:
        raise DamagedError(
            f"{cannot}, nor can any rows that would tell which run this is: restore it from a "
            "copy, or choose another --out"
        )


def _listed(folder: Folder) -> dict[int, Part]:
    """Return the parts that readable lines of the manifest list, by number; the last line on a part
    counts.
    """
    parts = {}
    for line in folder.readable_lines(files.MANIFEST):
        try:
            part = parse_part(line)
        # one line, one part: the others are vouched for by their own checks
        except (ValueError, RecursionError):
            continue
        parts[part.number] = part
    return parts


def _doubts(folder: Folder, question: Question, hosts: Collection[str]) -> pa.Table:
    """Return rows that doubt some hosts, and those that were contradicted as the log tells."""
    # it is read only where a part is lost: it may be long, and nothing else rests on it
    events = read_events(folder, _LOG_BYTES)
    told = {event.host for event in events if isinstance(event, HostFlagged)}
    # a class that has a verdict in the end
    first = int(next(question.partition.canonical_ranks())[0])
    lost = "the row that said what a replica contradicted is lost"
    rows = []
    for host in sorted(told.union(hosts) - {""}):
        rows.append(Row(question.digest, first, "", QUARANTINED, 0, host=host, message=lost))
    return to_table(rows)


def _repair_manifest(folder: Folder, question: Question, done: RepairResult) -> None:
    """Write a damaged manifest anew; note that, and the parts that it no longer vouches for."""
    try:
        unlisted(folder, read_manifest(folder))
        return
    except DamagedError as error:
        done.others[files.MANIFEST] = str(error)
    parts = _listed(folder)
    stored = {}
    for name in folder.names(files.RESULTS):
        stored[files.part_number(name, files.RESULTS) or 0] = name
    lines = []
    known = sorted({0, *parts, *stored})
    number = known[-1]
    while number:  # from the end: a part that stands for others comes before these
        part = parts.get(number)
        if part is None:
            name = stored.get(number) or files.part_name(files.RESULTS, number)
            # it may have stood for every number down to the next one that is known
            n_numbers = number - known[bisect.bisect_left(known, number) - 1]
            part = Part(name, 0, 0, 0, "0" * 64, dropped=True)
            if n_numbers > 1:
                part = replace(part, counts=(0,) * n_numbers)
            # a file without its line may be a forged one: nothing vouches for its bytes
            done.parts[name] = f"no readable line of {files.MANIFEST} lists it"
        # listed, then dropped: a reader takes the numbers without a gap
        if part.dropped:
            lines.append(part.format())
        lines.append(replace(part, dropped=False).format())
        number = part.first_number - 1
    lines.reverse()
    if done.parts:
        doubts = _doubts(folder, question, ())
        # with the same write: a kill must not lose a doubt
        if doubts.num_rows:
            lines.append(_stored(folder, doubts, known[-1] + 1).format())
    folder.replace_lines(files.MANIFEST, lines)


def _drop_parts(
    folder: Folder, question: Question, done: RepairResult, *, is_cut_lost: bool
) -> None:
    """Take off the manifest what cannot be read or is of another run.

    is_cut_lost : whether nobody knows how classes were cut: then only those stay that were
        eliminated whole
    """
    manifest = read_manifest(folder)
    faults: dict[Part, str] = {}
    doubted: set[str] = set()
    known: set[str] = set()
    for part in manifest.parts:
        table, fault = _looked_at(folder, part, question)
        if is_cut_lost and not fault:
            n_kept = table.filter(_IS_WHOLE).num_rows
            if n_kept < table.num_rows:
                fault = (
                    f"{counted(table.num_rows - n_kept, 'row')} of it rested on how {files.RUN} "
                    f"said that classes are cut; {n_kept:,} are kept"
                )
        hosts = table.filter(pc.field("status") == QUARANTINED).column("host").to_pylist()
        if fault:
            faults[part] = fault
            doubted.update(hosts)
        else:
            known.update(hosts)
    if not faults:
        return
    # What stays is stored before the part goes: a kill in between leaves it twice.  Without a
    # doubt the other rows of its host would be believed again.
    is_known = pc.field("host").isin(pa.array(sorted(known), pa.string()))
    new = [_doubts(folder, question, doubted).filter(~is_known)]
    for part in faults if is_cut_lost else ():
        table, damage = _looked_at(folder, part, question)
        if not damage:
            new.append(table.filter(_IS_WHOLE))
    n_bytes = manifest.n_bytes
    for number, rows in enumerate(filter(len, new), manifest.last_number + 1):
        line = _stored(folder, rows, number).format()
        n_bytes = folder.append_line(files.MANIFEST, line, n_bytes)
    for part, fault in faults.items():
        n_bytes = folder.append_line(files.MANIFEST, replace(part, dropped=True).format(), n_bytes)
        done.parts[part.name] = fault


def _looked_at(folder: Folder, part: Part, question: Question) -> tuple[pa.Table, str]:
    """Return the rows of a part, none if it cannot be read, and what is wrong with them; an empty
    text if nothing is.
    """
    table = SCHEMA.empty_table()
    try:
        ((_, table),) = read_parts(folder, [part])
        check_table(table, question, folder.where(part.name))
    except (DamagedError, RowError) as error:
        return table, str(error)
    # a part may be sound and about classes that the run does not have: merged by hand, or forged
    ids = np.unique(table.column("class_id").to_numpy())
    if foreign := question.partition.foreign(ids):
        return table, f"it has rows of classes that are not the run's own, such as {foreign[0]}"
    return table, ""


def _stored(folder: Folder, rows: pa.Table, number: int) -> Part:
    """Store rows as the file of a part, which no line lists yet."""
    name = files.part_name(files.RESULTS, number)
    data = serialise(rows.combine_chunks())
    folder.publish(name, data)
    return describe(name, data, rows.column("class_id").to_pylist())


def _remove_documents(folder: Folder, done: RepairResult) -> None:
    run = open_run(folder)
    readers: dict[str, Callable[[], object]]
    readers = {files.CLAIM: partial(read_claim, run), files.AUDITS: partial(read_audits, run)}
    readers |= {
        name: partial(read_certificates, folder, name) for name in certificate_files(folder)
    }
    for name, read in readers.items():
        try:
            read()
        except DamagedError as error:
            folder.remove(name)
            done.others[name] = str(error)
    # after that, or it would not be told that it was damaged: it was made with rows that are gone
    if done.parts:
        folder.remove(files.CLAIM)
