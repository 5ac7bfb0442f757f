"""One run from config to claim; running it again resumes it.

    run -> make_plan        everything validated, nothing written
        -> Store.open       created, or opened and compared; the rules of splitting likewise
        -> Session          search, then conclude (session.py)

The command line calls :func:`run` and prints the :class:`RunOutcome`; it decides nothing about the run itself.
"""

from __future__ import annotations

import time

from boardclass.jit import kernel_hash
from cluster.driver.journal import Journal
from cluster.driver.progress import Progress
from cluster.driver.session import MakeExecutor, RunOutcome, Session
from cluster.planning.plan import make_plan
from cluster.planning.shares import SHARE, Shard, Share
from cluster.scheduling.events import Policy
from cluster.workers.executors import InProcessExecutor, ProcessExecutor
from cluster.workers.ray_cluster import LOCAL, check_guarded, check_installed
from configs.model import RunConfig
from results.errors import DamagedError
from results.proof.coverage import rows_out_of_space
from results.store.documents import check_same_structure
from results.store.store import Store
from results.upkeep.extend import extend, inherited, open_source
from results.upkeep.repair import repair

MAX_WORKERS = 4096


def run(
    config: RunConfig,
    *,
    progress: Progress | None = None,
    make_executor: MakeExecutor | None = None,
    policy: Policy | None = None,
    drop_damaged: bool = False,
    extends: str | None = None,
    share: Share | None = None,
) -> RunOutcome:
    """Start a run, or continue it, until it is complete or cannot continue.

    Without ``config.address``, ``config.workers`` = 0 computes in this process; any other number is that of the
    processes to start.  ``make_executor`` makes another executor of the spec.  With ``drop_damaged``, what damaged
    parts of the store held is computed again, instead of refused.  Verdicts of the run ``extends`` are taken over where
    they hold at the cutoff of this one.  Only the classes of ``share`` are searched; whether the run is complete does
    not depend on it.

    Raises InputError when something given cannot be used (nothing has been written), StoreError when the run directory
    is damaged, locked, or of another run, Interrupted on SIGINT, SIGTERM and the like (everything found so far is
    stored), MismatchError when rescoring contradicts the rows.
    """
    progress = progress or Progress()
    began_s = time.monotonic()
    make_executor = make_executor or default_executor(config)
    try:
        plan = make_plan(config, progress.stage, extends)
        policy = policy or default_policy(config, plan.spec.params.memory_mb)
        source = open_source(extends, plan.fingerprint) if extends else None
        if source:
            check_same_structure(plan.run_info["structure"], source.info, str(extends))
        shard = Shard(share, plan) if share else None
        run_info = plan.run_info | {SHARE: str(share or "")} | (inherited(source) if source else {})
        with Store.open(plan.location, plan.fingerprint, run_info, recover=repair if drop_damaged else None) as store:
            check_same_structure(plan.run_info["structure"], store.run.info, plan.location)
            if foreign := rows_out_of_space(store.run):  # they could never be settled
                raise DamagedError(f"{store.run.folder.where('')} has {foreign}")
            with Journal(store.run.folder) as journal:
                for name, fault in (store.repaired.parts | store.repaired.others).items():
                    outcome = "its rows are computed again" if name in store.repaired.parts else "removed or rewritten"
                    progress.note(f"dropped {name}: {outcome}\n  {fault}")
                    journal.note("dropped", name=name, message=fault[:500])
                if source:
                    extension = extend(source, store)
                    progress.stage(extension.describe())
                    told = ("location", "cutoff", "n_reused", "n_verdicts")
                    journal.note("reused", **{name: getattr(extension, name) for name in told})
                session = Session(plan, store, progress, journal, began_s, shard)
                message = session.search(make_executor, policy)
                return session.conclude(message)
    finally:
        progress.end()


def default_executor(config: RunConfig) -> MakeExecutor:
    """Return what makes the executor that a config asks for.

    Raises RayError when Ray is not installed, or the cluster does not answer or would let anybody in.
    """
    address = config.address
    if address is None:
        return lambda spec: ProcessExecutor(spec) if config.workers else InProcessExecutor(spec)
    check_installed()
    if address != LOCAL:
        check_guarded(address)
    from cluster.workers.ray_executor import RayExecutor

    return lambda spec: RayExecutor(spec, config.workers, address=address)


def default_policy(config: RunConfig, memory_mb: int) -> Policy:
    """Return the scheduler's policy for a config; threads are not replaced when they have grown."""
    grown_bytes = (2 * memory_mb + 1024) * 2**20
    is_cluster = config.address is not None
    return Policy(
        n_workers=config.workers or (MAX_WORKERS if is_cluster else 1),
        recycle_bytes=grown_bytes if config.workers or is_cluster else 0,
        max_deaths=8 if is_cluster else 3,  # on one machine the next worker fares as the last one did
        kernel_hash=kernel_hash(),
        replicate=config.replicate / 100.0,
    )
