"""Certificates of a run, which audit.py checks.

RUN/certificates/part-*.parquet has one row per class or part of one; audit.py says what its columns
mean. A part is certified once; certifying again adds rows for parts without one.  No board is in
two rows.

>>> from results.store.run import open_run
>>> run = open_run("runs/2x2-scowl70-14")
>>> certificate_files(run.folder)
[]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from boardclass.errors import MismatchError
from results.proof import audit
from results.proof.audit import SCHEMA, Rejected, count
from results.storage import files
from results.storage.local import Folder
from results.store.parts import parse_parquet, serialised
from results.store.rows import SCHEMA as ROWS
from results.store.run import Run


def write_certificates(run: Run, shapes: Iterable[tuple[int, Any]]) -> int:
    """Add files with the certificates of some classes or parts (``search.certificate.Shape``);
    return their bytes.
    """
    rows = [_row(run.fingerprint.digest, class_id, shape) for class_id, shape in shapes]
    taken = max(
        (
            files.part_number(name, files.CERTIFICATES) or 0
            for name in certificate_files(run.folder)
        ),
        default=0,
    )
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


def check_files(run: Run) -> None:
    """Check all files that the checker decodes by itself: certificates and results.

    Raises DamagedError when a file is damaged or too large, or has other columns.
    """
    for folder, schema in ((files.CERTIFICATES, SCHEMA), (files.RESULTS, ROWS)):
        for name in run.folder.names(folder):
            if files.part_number(name, folder) is not None:
                parse_parquet(run.folder.read(name) or b"", run.folder.where(name), schema)


def certified(run: Run) -> str:
    """Return how much of a run is certified, by the certificates that are there; may be empty.

    Raises MismatchError when a certificate does not hold together.
    """
    rows = _rows(run)
    if not rows:
        return ""
    try:
        there = count(asdict(run.fingerprint), rows)
    except Rejected as error:
        raise MismatchError(
            f"{run.folder.where(files.CERTIFICATES)}: {error}; make them again"
        ) from error
    share = (
        "all boards"
        if there.n_boards == there.n_boards_all
        else f"{100 * there.n_boards / there.n_boards_all:.2g} % of all boards"
    )
    return f", certified {share} in {there.n_parts:,} trees"
