"""What audits came to: RUN/audits.json, one entry per audit that rejected nothing, for the strength of the claim.

An entry counts only as long as the certificates and the listed boards are those that were audited.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from results import files
from results.audit import SCHEMA, Audit
from results.certificates import certificates_digest
from results.claim import digest_of
from results.documents import format_document, read_document
from results.errors import DamagedError
from results.parts import check_parquet
from results.rescore import BOARD_SCHEMA, BoardList, read_rescored
from results.run import Run

_FORMAT = 1
_REMEDY = "remove it and run `orderly audit` on the run again"


def check_files(run: Run) -> None:
    """Check that what the checker decodes by itself, certificates and lists of boards, is of a size that is read.

    Raises
    ------
    DamagedError
        When a file is not, or has other columns.
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
    values = read_document(run.folder, files.AUDITS, _REMEDY)
    if values is None:
        return []
    entries = values.get("audits")
    if values.get("format") != _FORMAT or not isinstance(entries, list) or not all(map(_is_entry, entries)):
        raise DamagedError(f"{run.folder.where(files.AUDITS)} is not of this version; {_REMEDY}")
    return entries


def audited(run: Run, listed: BoardList) -> str:
    """Return what certificates and audits add to the strength of a claim about the ``listed`` boards; may be empty."""
    subject = _subject(run, listed)
    if not subject["certificates"]:
        return ""
    entries = [entry for entry in read_audits(run) if {name: entry[name] for name in subject} == subject]
    if not entries:
        return ", certified in part, not audited"
    last = entries[-1]
    every = any("n_asked" not in entry for entry in entries)
    n_checked = max(entry["n_leaves_checked"] + entry["n_scored"] for entry in entries)
    whole = last["n_boards"] == last["n_boards_all"]
    share = "all boards" if whole else f"{100 * last['n_boards'] / last['n_boards_all']:.2g} % of all boards"
    checked = f"every one of {n_checked:,} leaves" if every else f"{n_checked:,} random leaves"
    return f", certified {share} in {last['n_parts']:,} trees, audited {checked} by an independent checker"


def _subject(run: Run, listed: BoardList | None) -> dict[str, str]:
    """Return digests of what an audit is about: the certificates and the list of boards."""
    digest = digest_of(run.fingerprint, listed, complete=True) if listed else ""
    return {"certificates": certificates_digest(run), "boards": digest}


def _is_entry(entry: object) -> bool:
    numbers = ("n_leaves_checked", "n_scored", "n_boards", "n_boards_all", "n_parts")
    return (
        isinstance(entry, dict)
        and all(type(entry.get(name)) is int and 0 <= entry[name] <= 26**25 for name in numbers)
        and entry["n_boards_all"] > 0
        and all(type(entry.get(name)) is str for name in ("certificates", "boards"))
    )
