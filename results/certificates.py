"""Certificates of a run: one row per class in RUN/certificates/part-*.parquet, written here, checked by audit.py.

Format, version 1 (the columns and the meaning of the body are defined in audit.py, their only owner):

    version, fingerprint    of the format, and of the run: board size, word list, points, cutoff, buckets
    class_id                the class
    order                   one byte per cell: the order in which its cells with several letters are split
    n_leaves, n_boards      of the tree: parts that bounds rule out, complete boards that are scored exactly
    body                    one little-endian uint32 per split, preorder; bit l (0 = a): the part with letter l goes on.
                            All other letters of the cell are leaves: their bound is below the cutoff.
    sha256                  over the fields above

A class is certified once; certifying again adds parts for classes that have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from results import audit, files
from results.parts import parse_parquet, serialise
from results.run import Run


class ShapeLike(Protocol):
    """The shape of a search: ``search.certificate.Shape``."""

    @property
    def order(self) -> Sequence[int]:
        """Cells in the order in which they are split."""

    @property
    def body(self) -> Any:
        """One number per split, preorder."""

    @property
    def n_leaves(self) -> int:
        """Leaves."""

    @property
    def n_boards(self) -> int:
        """Boards to score."""


def write_certificates(run: Run, shapes: Iterable[tuple[int, ShapeLike]]) -> int:
    """Add a part with the certificates of some classes; return how many bytes it has."""
    rows = [_row(run.fingerprint.digest, class_id, shape) for class_id, shape in shapes]
    data = serialise(pa.Table.from_pylist(rows, schema=audit.SCHEMA))
    taken = (files.part_number(name, files.CERTIFICATES) or 0 for name in run.folder.names(files.CERTIFICATES))
    run.folder.publish(files.part_name(files.CERTIFICATES, 1 + max(taken, default=0)), data)
    return len(data)


def certified_classes(run: Run) -> set[int]:
    """Return the classes that have a certificate.

    Raises
    ------
    DamagedError
        When a part cannot be read.
    """
    found: set[int] = set()
    for name in run.folder.names(files.CERTIFICATES):
        if files.part_number(name, files.CERTIFICATES) is not None:
            table = parse_parquet(
                run.folder.read(name) or b"", run.folder.where(name), audit.SCHEMA, ["class_id", "fingerprint"]
            )
            found |= set(table.column("class_id").to_pylist())
    return found


def _row(digest: str, class_id: int, shape: ShapeLike) -> dict[str, Any]:
    body = np.asarray(shape.body).astype("<u4")
    row: dict[str, Any] = {
        "version": audit.VERSION,
        "fingerprint": digest,
        "class_id": class_id,
        "order": bytes(shape.order),
        "n_leaves": shape.n_leaves,
        "n_boards": shape.n_boards,
        "body": body.tobytes(),
    }
    return {**row, "sha256": audit.row_digest(row)}
