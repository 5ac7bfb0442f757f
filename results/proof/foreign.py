"""Rows of classes that are not the run's own: they could never be settled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from boardclass.printable import counted
from results.proof.faults import listed
from results.proof.space import PartitionLike
from results.store.parts import read_part
from results.store.run import Run
from results.store.schema import SCHEMA


def foreign_classes(partition: PartitionLike, ids: npt.NDArray[np.int64]) -> list[int]:
    """Return the ids (int64[n], distinct) that are not of canonical classes of a partition, ascending."""
    inside = (ids >= 0) & (ids < partition.n_classes)
    own = ids[inside]
    return sorted([*ids[~inside].tolist(), *own[partition.orbit_sizes(own) == 0].tolist()])


def describe_foreign(run: Run, classes: Sequence[int]) -> str:
    """Return which classes are not the run's own, where their rows stand and how to get rid of them; may be empty."""
    if not classes:
        return ""
    asked, names = pa.array(classes), []
    for part in run.manifest.parts:
        if part.first_id <= classes[-1] and part.last_id >= classes[0]:
            ids = read_part(run.folder, part, SCHEMA, ["class_id"]).column("class_id")
            names += [part.name] * bool(pc.any(pc.is_in(ids, asked)).as_py())
    which = counted(len(classes), "class that is not its own", "classes that are not its own")
    return (
        f"rows of {which}: {listed(classes)}, in {listed(names)}; the command "
        "that made the run takes these parts out with --drop-damaged, and searches again what else they held"
    )
