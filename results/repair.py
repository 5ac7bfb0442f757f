"""``--drop-damaged``: takes what is damaged out of a run, so that its units, and no others, are searched again.

    part unreadable, altered or missing    a manifest line takes it off the list
    part with rows of other classes        the same
    manifest line unreadable or missing    the part that it listed is taken off the list: nothing vouches for its bytes
    run.json unreadable or missing         written anew, if the rows of the run are of the question that was asked
    claim, rescored list unreadable        removed; they are made again in the end

Called with the lock held.  Nothing is touched before the run is known to be the one that was asked for.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow.compute as pc

from boardclass.partition import parse_partition
from results import files
from results.coverage import foreign_classes
from results.documents import read_document
from results.errors import DamagedError, RowError
from results.fingerprint import Fingerprint, check_same
from results.folder import Folder
from results.parts import Part, parse_part, read_manifest, read_parts, unlisted
from results.run import read_identity
from results.schema import SCHEMA, check_table
from results.storage import LocalFolder


def repair(folder: Folder, fingerprint: Fingerprint, document: bytes) -> list[str]:
    """Repair a run; return the names of the parts whose rows are to be computed again.

    Parameters
    ----------
    folder : Folder
    fingerprint : Fingerprint
        Of the run that was asked for.
    document : bytes
        ``run.json`` of a new run like it.

    Raises
    ------
    FingerprintError
        When the run there is another one.
    DamagedError
        When it cannot be told what run it is, or its manifest cannot be repaired because it is in an object store.
    """
    if not _check_identity(folder, fingerprint):
        if not folder.names(files.RESULTS):
            return []
        _check_rows(folder, fingerprint)
        folder.publish(files.RUN, document)
    dropped = _repair_manifest(folder)
    dropped += _drop_parts(folder, fingerprint)
    for name in (files.CLAIM, files.RESCORED_MANIFEST):
        if dropped or not _is_readable(folder, name):
            folder.remove(name)
    return dropped


def _check_identity(folder: Folder, fingerprint: Fingerprint) -> bool:
    """Return whether ``run.json`` is there and readable; refuse that of another run."""
    try:
        identity = read_identity(folder)
    except DamagedError:
        return False
    if identity is not None:
        check_same(fingerprint, identity[0], folder.where(""))
    return identity is not None


def _check_rows(folder: Folder, fingerprint: Fingerprint) -> None:
    """Refuse a folder whose parts, as far as they can be read, are not of the run that was asked for.

    Raises
    ------
    DamagedError
        When rows are of another run, or no part can be read.
    """
    n_readable = 0
    for part in _listed(folder).values():
        try:
            ((_, table),) = read_parts(folder, [part], SCHEMA)
        except DamagedError:
            continue
        n_readable += 1
        try:
            check_table(table, fingerprint, folder.where(part.name))
        except RowError as error:
            raise DamagedError(
                f"{folder.where(files.RUN)} cannot be read, and the rows are not of the run asked for: {error}; "
                "give the same settings as when it began, or choose another --out"
            ) from error
    if not n_readable:
        raise DamagedError(
            f"{folder.where(files.RUN)} cannot be read, nor can any rows that would tell which run this is: "
            "restore it from a copy, or choose another --out"
        )


def _listed(folder: Folder) -> dict[int, Part]:
    """Return the parts that the readable lines of the manifest list, by number; the last line on a part counts."""
    parts = {}
    for line in folder.read_lines(files.MANIFEST)[0]:
        try:
            part = parse_part(line)
        except (ValueError, RecursionError):
            continue
        parts[part.number] = part
    return parts


def _repair_manifest(folder: Folder) -> list[str]:
    """Write a manifest anew that is damaged; return the names of the parts that it does not vouch for any more."""
    try:
        unlisted(folder, read_manifest(folder))
    except DamagedError:
        if not isinstance(folder, LocalFolder):
            raise
    else:
        return []
    parts = _listed(folder)
    found = {files.part_number(name, files.RESULTS) or 0: name for name in folder.names(files.RESULTS)}
    lines, lost = [], []
    for number in range(1, max([*parts, *found], default=0) + 1):
        part = parts.get(number)
        if part is None:
            name = found.get(number) or files.part_name(files.RESULTS, number)
            part = Part(name, 0, 0, 0, "0" * 64, dropped=True)
            lost.append(name)
        lines.append(replace(part, dropped=False).format())
        if part.dropped:
            lines.append(part.format())
    folder.publish(files.MANIFEST, "".join(f"{line}\n" for line in lines).encode())
    return lost


def _drop_parts(folder: Folder, fingerprint: Fingerprint) -> list[str]:
    """Take every part off the manifest that cannot be read or is about classes of another run; return their names."""
    manifest = read_manifest(folder)
    partition = parse_partition(fingerprint.partition, fingerprint.dims)
    n_bytes, dropped = manifest.n_bytes, []
    for part in manifest.parts:
        try:
            ((_, table),) = read_parts(folder, [part], SCHEMA)
            check_table(table, fingerprint, folder.where(part.name))
            readable = not foreign_classes(partition, pc.unique(table.column("class_id")).to_numpy())
        except (DamagedError, RowError):
            readable = False
        if not readable:
            n_bytes = folder.append_line(files.MANIFEST, replace(part, dropped=True).format(), n_bytes)
            dropped.append(part.name)
    return dropped


def _is_readable(folder: Folder, name: str) -> bool:
    try:
        read_document(folder, name, "")
    except DamagedError:
        return False
    return True
