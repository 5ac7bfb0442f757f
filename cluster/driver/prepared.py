"""What one call of ``run`` has before it: an open store, and which classes are open in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from orderly_boggle.boardclass.arrays import Float64s, Int64s
from orderly_boggle.boardclass.partition import among
from orderly_boggle.cluster.driver.journal import Journal
from orderly_boggle.cluster.driver.loop import Ledger
from orderly_boggle.cluster.driver.progress import Progress
from orderly_boggle.cluster.planning.plan import Plan
from orderly_boggle.cluster.planning.shares import Share
from orderly_boggle.cluster.scheduling.forecast import NO_HISTORY, History
from orderly_boggle.results.store.run import Run
from orderly_boggle.results.store.store import Store
from orderly_boggle.search.breaker import Unit
from orderly_boggle.search.costs import likely_costs
from orderly_boggle.search.tally import EFFORT


@dataclass(frozen=True)
class Prepared:
    """A store that is open, and what is left to do in it."""

    plan: Plan
    store: Store
    ledger: Ledger  # collects what this call adds
    progress: Progress
    journal: Journal
    began_s: float  # monotonic
    n_reused: int  # verdicts that were there
    n_classes: int
    share: Share | None
    own_ids: Int64s  # those of the share, or all
    open_ids: Int64s  # without a verdict, or with one that is in doubt
    ended_ids: Int64s  # settled to the last part
    children: tuple[Unit, ...]  # parts of own classes that are still to be searched

    @property
    def n_own(self) -> int:
        """Number of the classes of the share; 0 without a share."""
        if self.share:
            return len(self.own_ids)
        return 0

    @property
    def n_own_ended(self) -> int:
        """How many of the own classes are settled."""
        return int(among(self.ended_ids, self.own_ids).sum())


def prepare(
    plan: Plan,
    store: Store,
    progress: Progress,
    journal: Journal,
    began_s: float,
    share: Share | None = None,
    own_ids: Int64s | None = None,
) -> Prepared:
    """Look at what an open store lacks.

    own_ids : the classes of the share, if there is one
    """
    all_ids = plan.question.class_ids()
    done_ids = store.index.done_ids()
    if own_ids is None:
        own_ids = all_ids
    doubted = store.run.doubted
    roots = [class_id for class_id, path in doubted if not path]
    is_open = ~among(all_ids, done_ids) | among(all_ids, np.array(roots, np.int64))
    parts = []
    for key in (*store.index.pending(), *doubted):
        if key[1]:
            parts.append(Unit(*key))
    begun_ids = np.array([part.class_id for part in parts], np.int64)
    children = compress(parts, among(begun_ids, own_ids))
    ledger = Ledger(store, plan.question)
    stored = [(board, score) for board, score, _ in store.run.candidates()]
    ledger.note_candidates(stored)
    return Prepared(
        plan=plan,
        store=store,
        ledger=ledger,
        progress=progress,
        journal=journal,
        began_s=began_s,
        n_reused=len(store.index.places),
        n_classes=len(all_ids),
        share=share,
        own_ids=own_ids,
        open_ids=all_ids[is_open],
        ended_ids=all_ids[~is_open & ~among(all_ids, np.sort(begun_ids))],
        children=tuple(children),
    )


def history(run: Run, plan: Plan, class_ids: Int64s) -> History:
    """Return likely cost, effort and time of classes, int64[n], that were searched to the end;
    those without a row are left out.  A wrong counter in a row makes a wrong guess of the time
    left, and nothing else.
    """
    ids, sums = class_sums(run, (*EFFORT, "seconds"))
    ended = among(ids, class_ids)
    if not ended.any():
        return NO_HISTORY
    efforts = np.maximum(sums[:, :-1], 0.0).sum(axis=1)
    times_s = np.empty(0)
    if run.index.places.parts():
        paths, seconds = run.arrays(["path", "seconds"])
        times_s = seconds[paths != ""]
    if len(times_s):
        child_s = float(times_s.mean())
    else:
        child_s = 0.0
    return History(
        likely_costs(plan.question, ids[ended]),
        efforts[ended],
        float(sums[ended, -1].sum()),
        child_s,
    )


def class_sums(run: Run, names: Sequence[str]) -> tuple[Int64s, Float64s]:
    """Return the classes that a run has rows of, int64[n], ascending, and sums of columns over the
    rows of each, float64[n, len(names)]; rows are added up as they are.
    """
    class_ids, *columns = run.arrays(["class_id", *names])
    ids, place = np.unique(class_ids, return_inverse=True)
    sums = [np.bincount(place, column, len(ids)) for column in columns]
    return ids, np.stack(sums, axis=1)
