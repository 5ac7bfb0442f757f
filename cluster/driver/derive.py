"""A claim that follows from a proven run; the proof is in results/upkeep/derive.py."""

import time
from collections.abc import Sequence

from boardclass.scores import MIN_LETTERS
from boardclass.wordlist import WordList
from cluster.driver.driver import RunOutcome, conclude
from cluster.driver.journal import Journal
from cluster.driver.prepared import prepare
from cluster.driver.progress import Progress
from cluster.planning.plan import COARSE, STRUCTURAL, make_plan
from cluster.scheduling.events import Finish
from configs.model import RunConfig, SearchConfig
from results.log_events import Reused
from results.proof.known import check_known
from results.proof.prove import summary
from results.store.documents import check_same_structure
from results.store.run import Run
from results.store.store import Store
from results.upkeep.derive import check_follows, derived
from results.upkeep.extend import check_promise, doubts, inherited


def config_like(source: Run, **changes: object) -> RunConfig:
    """Return the question of a run with changes; what is None stays as it is."""
    fingerprint, info = source.fingerprint, source.info
    structure = info.get("structure", {})
    search = {name: structure[name] for name in STRUCTURAL + COARSE if name in structure}
    values = {
        "dims": fingerprint.dims,
        "cutoff": fingerprint.cutoff,
        "scores": _spelled(fingerprint.scores),
        "buckets": fingerprint.partition,
        "search": SearchConfig(**search),
    }
    chosen = {name: value for name, value in changes.items() if value is not None}
    return RunConfig.model_validate({**values, **chosen})


def derive(
    source: Run, config: RunConfig, source_words: WordList, progress: Progress | None = None
) -> RunOutcome:
    """Write the claim that a proven run allows about an easier question.

    config : the question; its run directory may hold what an earlier call left
    source_words : the word list of the run

    Raises IncompleteError when the run is not proven; InputError when the claim does not follow
    (nothing has been written); StoreError when a run directory is damaged, locked or of another
    run.
    """
    progress = progress or Progress()
    began_s = time.monotonic()
    where = source.folder.where("")
    summary(source).require_proven(where)
    plan = make_plan(config, progress.stage, where)
    check_same_structure(plan.run_info["structure"], source.info, where)
    check_follows(source, plan.fingerprint, source_words, plan.wordlist)
    info = plan.run_info | inherited(source)
    with (
        Store.open(plan.location, plan.fingerprint, info) as store,
        Journal(store.run.folder) as journal,
    ):
        check_same_structure(plan.run_info["structure"], store.run.info, plan.location)
        check_known(store.run)
        check_promise(store.run, source)
        rows = [
            row
            for row in derived(source, plan.fingerprint, plan.scorer)
            if row.key not in store.index.places  # of a run that was begun there
        ]
        store.append([*rows, *doubts(source, plan.fingerprint)], copied=True)
        store.flush()
        journal.note(
            Reused(
                location=where,
                cutoff=source.fingerprint.cutoff,
                n_reused=len(rows),
                n_verdicts=len(source.index.places),
            )
        )
        prepared = prepare(plan, store, progress, journal, began_s)
        return conclude(prepared, Finish(complete=True))


def _spelled(points: Sequence[int]) -> str:
    """Return points by the number of letters as ``boardclass.scores.parse_scores`` reads them."""
    least = next(n for n in range(MIN_LETTERS, len(points)) if points[n] or n == len(points) - 1)
    return f"{least}:{','.join(map(str, points[least:]))}"
