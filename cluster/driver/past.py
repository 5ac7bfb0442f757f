"""What the classes cost that earlier calls searched: the scheduler judges the open ones by them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cluster.planning.plan import Plan
from cluster.scheduling.calibration import NOTHING, Past
from results.store.run import Run
from search.node_search import EFFORT


def past(run: Run, plan: Plan, class_ids: npt.NDArray[np.int64]) -> Past:
    """Return predicted cost and effort of classes that were searched to the end.

    A wrong counter in a row makes a wrong guess of the time left, and nothing else.

    Parameters
    ----------
    run : Run
    plan : Plan
    class_ids : int64[n]
        The classes; those without a row are left out.
    """
    ids, counters = class_sums(run, EFFORT)
    ended = np.isin(ids, class_ids, assume_unique=True)
    efforts = np.maximum(counters, 0.0).sum(axis=1)
    return Past(plan.predicted_costs(ids[ended]), efforts[ended]) if ended.any() else NOTHING


def class_sums(run: Run, names: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the classes that a run has rows of, int64[n], ascending, and sums of columns over the rows of each,
    float64[n, len(names)]; rows are added up as they are."""
    tables = list(run.columns(("class_id", *names)))
    columns = [np.concatenate([np.empty(0), *(t.column(name).to_numpy() for t in tables)]) for name in names]
    of_rows = np.concatenate([np.empty(0, np.int64), *(t.column("class_id").to_numpy() for t in tables)])
    ids, place = np.unique(of_rows, return_inverse=True)
    sums = np.zeros((len(ids), len(names)))
    np.add.at(sums, place, np.stack(columns, axis=1))
    return ids, sums
