"""The results of audits: RUN/audits.json, one entry per audit that rejected nothing, for the strength of the claim.

An entry counts only as long as the certificates and the listed boards are those that were audited.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from boardclass.errors import MismatchError
from results.proof.audit import SCHEMA, Audit, Rejected, count
from results.proof.certificates import certificate_rows, certificates_digest
from results.proof.claim import digest_of
from results.proof.rescore import BOARD_SCHEMA, BoardList, read_rescored
from results.storage import files
from results.store.documents import format_document, read_model
from results.store.parts import check_parquet
from results.store.run import Run

_COUNTS = ("n_boards", "n_boards_all", "n_classes", "n_parts", "n_splits", "n_leaves", "n_left")
_FORMAT = 1
_REMEDY = "remove it and run `orderly audit` on the run again"


_Count = Annotated[int, Field(ge=0, le=26**25)]
_Asked = Annotated[int, Field(gt=0)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="allow")
    certificates: str
    boards: str
    n_asked: _Asked = 1
    n_boards: _Count
    n_boards_all: Annotated[int, Field(gt=0, le=26**25)]
    n_classes: _Count
    n_parts: _Count
    n_splits: _Count
    n_leaves: _Count
    n_left: _Count
    n_leaves_checked: _Count
    n_scored: _Count


class _Audits(BaseModel):
    audits: list[_Entry]


def check_files(run: Run) -> None:
    """Check the size of all files that the checker decodes by itself: certificates and lists of boards.

    Raises
    ------
    DamagedError
        When a file is too large, or has other columns.
    """
    for folder, schema in ((files.CERTIFICATES, SCHEMA), (files.RESCORED, BOARD_SCHEMA)):
        for name in run.folder.names(folder):
            if files.part_number(name, folder) is not None:
                check_parquet(run.folder.read(name) or b"", run.folder.where(name), schema)


def record_audit(run: Run, found: Audit, n_asked: int | None, seed: int) -> None:
    """Add an audit; ``n_asked`` leaves at random by ``seed``, None: all of them."""
    drawn = {} if n_asked is None else {"n_asked": n_asked, "seed": seed}
    entry = {**_subject(run, read_rescored(run)), **drawn, "complete": found.complete, **asdict(found)}
    entries = [other for other in read_audits(run) if other != entry]
    run.folder.publish(files.AUDITS, format_document({"format": _FORMAT, "audits": [*entries, entry]}))


def read_audits(run: Run) -> list[dict[str, Any]]:
    """Return all recorded audits, oldest first.

    Raises
    ------
    DamagedError
        When the file was altered.
    """
    told = read_model(run.folder, files.AUDITS, TypeAdapter(_Audits), _REMEDY)
    return [] if told is None else [entry.model_dump(exclude_unset=True) for entry in told.audits]


def audited(run: Run, listed: BoardList) -> str:
    """Return what certificates and audits add to the strength of a claim about the ``listed`` boards; may be empty.

    What is certified is counted from the certificates that are there.  What was audited is known from the record only.

    Raises
    ------
    MismatchError
        When a certificate does not hold together, or a record is about other numbers than those that are there.
    """
    subject = _subject(run, listed)
    if not subject["certificates"]:
        return ""
    try:
        there = count(run.fingerprint.to_json(), certificate_rows(run))
    except Rejected as error:
        raise MismatchError(f"{run.folder.where(files.CERTIFICATES)}: {error}; make them again") from error
    share = "all boards" if there.n_boards == there.n_boards_all else f"{_percent(there)} % of all boards"
    certified = f", certified {share} in {there.n_parts:,} trees"
    entries = [entry for entry in read_audits(run) if {name: entry[name] for name in subject} == subject]
    if not entries:
        return f"{certified}, not audited"
    n_ends = there.n_leaves + there.n_left
    for entry in entries:
        differing = [name for name in _COUNTS if entry[name] != getattr(there, name)]
        n_checked, n_asked = entry["n_leaves_checked"] + entry["n_scored"], entry.get("n_asked", n_ends)
        too_many = entry["n_leaves_checked"] > there.n_leaves or entry["n_scored"] > there.n_left
        if differing or too_many or n_checked != min(n_asked, n_ends):
            said = ", ".join(f"{name} {entry[name]:,}" for name in (*differing, "n_leaves_checked", "n_scored"))
            raise MismatchError(
                f"{run.folder.where(files.AUDITS)} says {said}; the certificates have {there.n_parts:,} trees with "
                f"{there.n_leaves:,} leaves and {there.n_left:,} boards: {_REMEDY}"
            )
    n_checked = max(entry["n_leaves_checked"] + entry["n_scored"] for entry in entries)
    checked = f"every one of {n_ends:,} leaves" if n_checked == n_ends else f"{n_checked:,} random leaves"
    return f"{certified}, audited {checked} by an independent checker, as {files.AUDITS} records"


def _percent(there: Audit) -> str:
    return f"{100 * there.n_boards / there.n_boards_all:.2g}"


def _subject(run: Run, listed: BoardList | None) -> dict[str, str]:
    """Return digests of what an audit is about: the certificates and the list of boards."""
    digest = digest_of(run.fingerprint, listed, complete=True) if listed else ""
    return {"certificates": certificates_digest(run), "boards": digest}
