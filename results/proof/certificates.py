"""Certificates of a run: one row per class or part of one in RUN/certificates/part-*.parquet, checked by audit.py.

Format, version 2 (the columns and the meaning of the body are defined in audit.py, their only owner):

    version, fingerprint    of the format, and of the run: board size, word list, points, cutoff, buckets
    class_id                the class
    order                   one byte per cell: the order in which its cells with several letters are split
    forced                  letters that the first cells of the order have: the certificate is about that part; "" = all
    n_leaves, n_boards      of the tree: parts that bounds rule out, complete boards that are scored exactly
    body                    one little-endian uint32 per split, preorder; bit l (0 = a): the part with letter l goes on.
                            All other letters of the cell are leaves: their bound is below the cutoff.
    sha256                  over the fields above

A part is certified once; certifying again adds rows for parts without one.  No board is in two rows.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from results.proof import audit
from results.storage import files
from results.storage.files import Folder
from results.store.parts import parse_parquet, serialised
from results.store.run import Run


def write_certificates(run: Run, shapes: Iterable[tuple[int, Any]]) -> int:
    """Add files with the certificates of some classes or parts (``search.certificate.Shape``); return their bytes."""
    rows = [_row(run.fingerprint.digest, class_id, shape) for class_id, shape in shapes]
    taken = max((files.part_number(name, files.CERTIFICATES) or 0 for name in certificate_files(run.folder)), default=0)
    pieces = list(serialised(pa.Table.from_pylist(rows, schema=audit.SCHEMA)))
    for number, (_, data) in enumerate(pieces, taken + 1):
        run.folder.publish(files.part_name(files.CERTIFICATES, number), data)
    return sum(len(data) for _, data in pieces)


def certified_parts(run: Run) -> dict[int, set[str]]:
    """Return the letters forced in the certificates of each class that has some.

    Raises
    ------
    DamagedError
        When a file cannot be read.
    """
    found: dict[int, set[str]] = {}
    for name in certificate_files(run.folder):
        table = read_certificates(run.folder, name, ["class_id", "forced"])
        for class_id, forced in zip(*(table.column(i).to_pylist() for i in ("class_id", "forced")), strict=True):
            found.setdefault(class_id, set()).add(forced)
    return found


def certificate_rows(run: Run) -> list[dict[str, Any]]:
    """Return all certificates of a run as they are stored; nothing about them is believed.

    Raises
    ------
    DamagedError
        When a file cannot be read.
    """
    tables = (read_certificates(run.folder, name) for name in certificate_files(run.folder))
    return [row for table in tables for row in table.to_pylist()]


def certificates_digest(run: Run) -> str:
    """Return the SHA-256 over all certificate files; empty when there are none."""
    names = certificate_files(run.folder)
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + hashlib.sha256(run.folder.read(name) or b"").digest())
    return digest.hexdigest() if names else ""


def hot_classes(run: Run) -> list[int]:
    """Return the classes most worth checking: all that list a candidate, and the tenth with the most pushes."""
    pushes: Counter[int] = Counter()
    good: set[int] = set()
    for table in run.columns(["class_id", "n_pushes", "candidates"]):
        for row in table.to_pylist():
            pushes[row["class_id"]] += row["n_pushes"]
            if row["candidates"]:
                good.add(row["class_id"])
    most = sorted(pushes, key=lambda class_id: (-pushes[class_id], class_id))[: -(-len(pushes) // 10)]
    return sorted(good.union(most))


def certificate_files(folder: Folder) -> list[str]:
    """Return the names of the certificate files of a run, sorted."""
    names = folder.names(files.CERTIFICATES)
    return sorted(name for name in names if files.part_number(name, files.CERTIFICATES) is not None)


def read_certificates(folder: Folder, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return one file of certificates, or some of its columns.

    Raises
    ------
    DamagedError
        When it cannot be read.
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
