"""Certificates of a run, checked by audit.py, and the record of these audits.

RUN/certificates/part-*.parquet has one row per class or part of one; audit.py says what its columns
mean. A part is certified once; certifying again adds rows for parts without one.  No board is in
two rows.

RUN/audits.json has an entry per audit that rejected nothing, for the strength of the claim.  It
counts only as long as the certificates and the listed boards are those that were audited.

>>> from orderly_boggle.results.store.run import open_run
>>> run = open_run("runs/2x2-scowl70-14")
>>> certificate_files(run.folder)
[]
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from pydantic import Field

from orderly_boggle.boardclass.errors import MismatchError
from orderly_boggle.results.proof import audit
from orderly_boggle.results.proof.audit import SCHEMA, Audit, Rejected, Unreadable, count
from orderly_boggle.results.proof.claim import digest_of, read_claim, unscored_boards
from orderly_boggle.results.proof.summary import BoardList
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder
from orderly_boggle.results.store.documents import publish_document, read_model
from orderly_boggle.results.store.parts import parse_parquet, serialised
from orderly_boggle.results.store.rows import SCHEMA as ROWS
from orderly_boggle.results.store.run import Run


def write_certificates(run: Run, shapes: Iterable[tuple[int, Any]]) -> int:
    """Add files with the certificates of some classes or parts (``search.certificate.Shape``);
    return their bytes.
    """
    digest = run.question.digest
    rows = [_row(digest, class_id, shape) for class_id, shape in shapes]
    # numbered after those that are there: certifying again adds, and never rewrites
    taken = 0
    for name in certificate_files(run.folder):
        taken = max(taken, files.part_number(name, files.CERTIFICATES) or 0)
    pieces = list(serialised(pa.Table.from_pylist(rows, schema=audit.SCHEMA)))
    for number, (_, data) in enumerate(pieces, taken + 1):
        run.folder.publish(files.part_name(files.CERTIFICATES, number), data)
    return sum(len(data) for _, data in pieces)


def certified_parts(run: Run) -> dict[int, set[str]]:
    """Return the letters forced in the certificates of each class that has some.

    Raises DamagedError when a file cannot be read.
    """
    parts: dict[int, set[str]] = {}
    for row in _rows(run, ["class_id", "forced"]):
        parts.setdefault(row["class_id"], set()).add(row["forced"])
    return parts


def _rows(run: Run, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return all certificates of a run as they are stored; nothing about them is believed."""
    rows = []
    for name in certificate_files(run.folder):
        rows += read_certificates(run.folder, name, columns).to_pylist()
    return rows


def certificates_digest(run: Run) -> str:
    """Return the SHA-256 over all certificate files; empty when there are none."""
    names = certificate_files(run.folder)
    digest = hashlib.sha256()
    for name in names:
        of_file = hashlib.sha256(run.folder.read(name) or b"")
        digest.update(name.encode() + of_file.digest())
    if names:
        return digest.hexdigest()
    return ""


def certificate_files(folder: Folder) -> list[str]:
    """Return the names of the certificate files of a run, sorted."""
    names = folder.names(files.CERTIFICATES)
    return sorted(name for name in names if files.part_number(name, files.CERTIFICATES) is not None)


def read_certificates(folder: Folder, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return one file of certificates, or some of its columns; raises DamagedError when it cannot
    be read.
    """
    return parse_parquet(folder.read(name) or b"", folder.where(name), audit.SCHEMA, columns)


def _row(digest: str, class_id: int, shape: Any) -> dict[str, Any]:
    # the byte order is that of the file: a checker on another machine reads the same numbers
    body = np.asarray(shape.body).astype("<u4")
    row: dict[str, Any] = {
        "version": audit.VERSION,
        "fingerprint": digest,
        "class_id": class_id,
        "order": bytes(shape.order),
        "forced": shape.forced,
        "n_leaves": shape.n_leaves,
        "n_boards": shape.n_boards,
        "body": body.tobytes(),
    }
    return {**row, "sha256": audit.row_digest(row)}


_COUNTS = ("n_boards", "n_boards_all", "n_classes", "n_parts", "n_splits", "n_leaves", "n_left")
_REMEDY = "remove it and run `orderly audit` on the run again"
_Count = Annotated[int, Field(ge=0)]


@dataclass(kw_only=True)
class AuditRecord(Audit):
    """An audit of the certificates and the list of boards with these digests.

    ``n_asked``: leaves drawn at random by ``seed``; None: all of them.
    """

    certificates: str
    boards: str
    n_leaves_checked: _Count = 0
    n_scored: _Count = 0
    n_asked: Annotated[int, Field(gt=0)] | None = None
    seed: int = 0


@dataclass
class _Audits:
    audits: list[AuditRecord]


def check_files(run: Run) -> None:
    """Check all files that the checker decodes by itself: certificates and results.

    Raises DamagedError when a file is damaged or too large, or has other columns.
    """
    # the checker has no limits of its own: a page that unpacks to gigabytes would end it
    for folder, schema in ((files.CERTIFICATES, SCHEMA), (files.RESULTS, ROWS)):
        for name in run.folder.names(folder):
            if files.part_number(name, folder) is not None:
                parse_parquet(run.folder.read(name) or b"", run.folder.where(name), schema)


def record_audit(run: Run, found: Audit, n_asked: int | None, seed: int) -> None:
    """Add an audit; ``n_asked`` leaves at random by ``seed``, None: all of them."""
    listed = None
    # without a claim nothing was compared: the record must not hold for boards found later
    if read_claim(run):
        listed = unscored_boards(run)
    certificates, boards = _subject(run, listed)
    record = AuditRecord(
        **vars(found), certificates=certificates, boards=boards, n_asked=n_asked, seed=seed
    )
    # the same audit twice is one: repeating it would look like more than it is
    records = [other for other in read_audits(run) if other != record]
    publish_document(run.folder, files.AUDITS, asdict(_Audits([*records, record])))


def read_audits(run: Run) -> list[AuditRecord]:
    """Return all recorded audits, oldest first; raises DamagedError when the file was altered."""
    document = read_model(run.folder, files.AUDITS, _Audits, _REMEDY)
    if document:
        return document.audits
    return []


def audited(run: Run, listed: BoardList) -> str:
    """Return what certificates and audits add to the strength of a claim about the ``listed``
    boards; may be empty.

    What is certified is counted from the certificates that are there.  What was audited is known
    from the record only.

    Raises MismatchError when a certificate does not hold together, or a record is about other
    numbers than those that are there.
    """
    subject = _subject(run, listed)
    if not subject[0]:
        return ""
    try:
        # counted anew: the record says what was audited, only the files say what there is
        there = count(run.question.identity, _rows(run))
    except Rejected as error:
        raise MismatchError(
            f"{run.folder.where(files.CERTIFICATES)}: {error}; make them again"
        ) from error
    except Unreadable as error:
        raise MismatchError(
            f"{run.folder.where(files.CERTIFICATES)} cannot be counted: {error}"
        ) from error
    if there.n_boards == there.n_boards_all:
        share = "all boards"
    else:
        share = f"{100 * there.n_boards / there.n_boards_all:.2g} % of all boards"
    certified = f", certified {share} in {there.n_parts:,} trees"
    n_ends = there.n_leaves + there.n_left
    n_most = 0
    for record in read_audits(run):
        # about certificates or boards that are not there any more
        if (record.certificates, record.boards) != subject:
            continue
        values = vars(record)
        differing = []
        for name in _COUNTS:
            if values[name] != getattr(there, name):
                differing.append(name)
        n_checked = record.n_leaves_checked + record.n_scored
        if record.n_asked is None:
            n_asked = n_ends
        else:
            n_asked = record.n_asked
        # a record may be forged: at least it must not say more than is possible
        too_many = record.n_leaves_checked > there.n_leaves or record.n_scored > there.n_left
        if differing or too_many or n_checked != min(n_asked, n_ends):
            names = (*differing, "n_leaves_checked", "n_scored")
            raise MismatchError(
                f"{run.folder.where(files.AUDITS)} says "
                f"{', '.join(f'{name} {values[name]:,}' for name in names)}; the certificates have "
                f"{there.n_parts:,} trees with {there.n_leaves:,} leaves and {there.n_left:,} "
                f"boards: {_REMEDY}"
            )
        n_most = max(n_most, n_checked)
    if not n_most:
        return f"{certified}, not audited"
    if n_most == n_ends:
        checked = f"every one of {n_ends:,} leaves"
    else:
        checked = f"{n_most:,} random leaves"
    return f"{certified}, audited {checked} by an independent checker, as {files.AUDITS} records"


def _subject(run: Run, listed: BoardList | None) -> tuple[str, str]:
    """Return digests of what an audit is about: the certificates and the list of boards."""
    digest = ""
    if listed:
        digest = digest_of(run.question, listed, complete=True)
    return certificates_digest(run), digest
