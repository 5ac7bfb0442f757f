"""One run from config to claim; running it again resumes it.

    run -> make_plan        everything validated, nothing written
        -> Store.open       created, or opened and compared; check_structure likewise
        -> search           scheduler, executor and ledger in the run loop; skipped when nothing is open
        -> conclude         rescore -> coverage -> claim; with a share, whether that is done

The command line calls :func:`run` and prints the :class:`RunOutcome`; it decides nothing about the run itself.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from boardclass.errors import IncompleteError
from boardclass.jit import kernel_hash
from cluster.driver.journal import Journal
from cluster.driver.ledger import Ledger
from cluster.driver.loop import run_loop
from cluster.driver.progress import Overview, Progress, Silent
from cluster.driver.signals import StopSignals
from cluster.planning.plan import Plan, check_structure, make_plan
from cluster.planning.shares import SHARE, Hand, Share
from cluster.scheduling.figures import Report
from cluster.scheduling.policy import Policy
from cluster.scheduling.scheduler import Scheduler
from cluster.workers.executors import Executor, InProcessExecutor
from cluster.workers.ray_cluster import ClusterGoneError, RayError, check_guarded
from configs.model import RunConfig
from results.errors import DamagedError
from results.log.eventlog import EventLog
from results.proof.claim import Claim, digest_of, write_claim
from results.proof.coverage import Coverage
from results.proof.foreign import describe_foreign, foreign_classes
from results.proof.prove import prove
from results.proof.rescore import BoardList, rescore
from results.store.run import Run
from results.store.store import Store
from results.store.suspects import suspects
from results.upkeep.extend import extend, inherited, open_source
from results.upkeep.repair import repair
from search.breaker import Spec, Unit

MAX_WORKERS = 4096
MakeExecutor = Callable[[Spec, int], Executor]


class Interrupted(IncompleteError):
    """Stopped by a signal with everything found so far stored; the same command goes on."""


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended.

    Attributes
    ----------
    complete : bool
        Whether every board lies in a unit with a verdict: the claim holds and is written.
    claim : Claim or None
        Present when complete.
    message : str
        What is missing, when not complete.
    share_done : bool
        Whether only a share was asked for, and all of its classes are settled.
    listed : BoardList
        Boards at or above the cutoff, rescored, best first.
    digest : str
        Result digest; comparable between runs only when both are complete.
    n_reused, n_computed : int
        Verdicts found in the store, and added by this call.
    seconds : float
        Wall time of this call.
    """

    complete: bool
    location: str
    dims: str
    wordlist: str
    n_words: int
    scores: str
    cutoff: int
    claim: Claim | None
    message: str
    coverage: Coverage
    listed: BoardList
    digest: str
    n_reused: int
    n_computed: int
    n_quarantined: int
    n_deaths: int
    seconds: float
    share_done: bool = False


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
    """Start a run, or go on with it, until it is complete or cannot go on.

    Parameters
    ----------
    config : RunConfig
        Without ``address``, ``workers`` = 0 computes in this process, more start as many Ray workers.
    progress : Progress, optional
        Shown how it goes; nothing by default.
    make_executor : callable, optional
        Makes the executor from the spec and the number of workers, in place of ``config.workers``' choice.
    policy : Policy, optional
        The scheduler's, in place of the default one.
    drop_damaged : bool
        Compute again what damaged parts of the store held, instead of refusing them.
    extends : str, optional
        Another run, whose verdicts are taken over where they hold at the cutoff of this one.
    share : Share, optional
        Search the classes of this share only; whether the run is complete does not depend on it.

    Raises
    ------
    InputError
        When something given cannot be used; nothing has been written.
    StoreError
        When the run directory is damaged, locked, or of another run.
    Interrupted
        On SIGINT, SIGTERM or SIGHUP; everything found so far is stored.
    MismatchError
        When rescoring contradicts the rows.
    """
    progress = progress or Silent()
    began_s = time.monotonic()
    make_executor = make_executor or default_executor(config)
    try:
        plan = make_plan(config, progress.stage)
        source = _source(extends, plan) if extends else None
        hand = Hand(share, plan) if share else None
        run_info = plan.run_info | {SHARE: str(share or "")} | (inherited(source) if source else {})
        with Store.open(plan.location, plan.fingerprint, run_info, mend=repair if drop_damaged else None) as store:
            check_structure(plan.spec.params, store.run.info, plan.location)
            _check_own(store.run, plan)
            with Journal(EventLog(store.run.folder)) as journal:
                _tell_faults(store, progress, journal)
                if source:
                    _take_over(source, store, progress, journal)
                session = _Session(plan, store, progress, journal, began_s, hand)
                message = session.search(make_executor, policy)
                return session.conclude(message)
    finally:
        progress.end()


def _check_own(run: Run, plan: Plan) -> None:
    """Refuse to go on with a run that has rows of classes that are not its own: they could never be settled.

    Raises
    ------
    DamagedError
        Naming classes, parts and the way out.
    """
    foreign = foreign_classes(plan.partition, run.index.class_ids)
    if foreign:
        raise DamagedError(f"{run.folder.where('')} has {describe_foreign(run, foreign)}")


def _source(location: str, plan: Plan) -> Run:
    """Return the run that a plan extends, if it is one that it can extend."""
    source = open_source(location, plan.fingerprint)
    check_structure(plan.spec.params, source.info, location)
    return source


def _tell_faults(store: Store, progress: Progress, journal: Journal) -> None:
    """Say what was dropped or written anew because it was damaged, and why."""
    for name, fault in store.faults.items():
        outcome = "its rows are computed again" if name in store.dropped else "removed or written anew"
        progress.note(f"dropped {name}: {outcome}\n  {fault}")
        journal.note("dropped", name=name, message=fault[:500])


def _take_over(source: Run, store: Store, progress: Progress, journal: Journal) -> None:
    """Store the verdicts of an older run that hold, and say how many they are."""
    extension = extend(source, store)
    progress.stage(extension.describe())
    journal.note(
        "reused",
        location=extension.location,
        cutoff=extension.cutoff,
        n_reused=extension.n_reused,
        n_verdicts=extension.n_verdicts,
    )


def default_executor(config: RunConfig) -> MakeExecutor:
    """Return how to make the executor that a config asks for.

    Raises
    ------
    RayError
        When the cluster does not answer, or would let anybody in.
    """
    address = config.address
    if address is None and config.workers == 0:
        return lambda spec, _: InProcessExecutor(spec)
    from cluster.workers.ray_process import RayProcess

    if address is not None:
        check_guarded(address)
    return lambda spec, n_workers: RayProcess(spec, config.workers if address else n_workers, address=address)


def default_policy(config: RunConfig, memory_mb: int) -> Policy:
    """Return the scheduler's policy for a config; threads are not replaced when the process has grown."""
    grown_bytes = (2 * memory_mb + 1024) * 2**20
    is_cluster = config.address is not None
    return Policy(
        n_workers=config.workers or (MAX_WORKERS if is_cluster else 1),
        recycle_bytes=grown_bytes if config.workers or is_cluster else 0,
        spawn_s=900.0 if is_cluster else 300.0,  # a new machine compiles the kernels first
        kernel_hash=kernel_hash(),
        replicate=config.replicate / 100.0,
    )


class _Session:
    """One call of :func:`run` on an open store."""

    def __init__(
        self, plan: Plan, store: Store, progress: Progress, journal: Journal, began_s: float, hand: Hand | None
    ) -> None:
        self._plan = plan
        self._store = store
        self._progress = progress
        self._journal = journal
        self._began_s = began_s
        self._hand = hand
        self._ledger = Ledger(store, plan.fingerprint)
        self._snapshot: Report | None = None
        all_ids, done_ids = plan.class_ids(), store.index.done_ids()
        doubted = suspects(store.run)
        roots = [class_id for class_id, path in doubted if not path]
        is_open = ~np.isin(all_ids, done_ids, assume_unique=True) | np.isin(all_ids, roots)
        self._class_ids = all_ids[is_open]
        self._children = [Unit(class_id, path) for class_id, path in (*store.index.pending(), *doubted) if path]
        self._n_classes = len(all_ids)
        n_begun = len({unit.class_id for unit in self._children} - set(self._class_ids.tolist()))
        self._n_done_before = len(all_ids) - len(self._class_ids) - n_begun
        if hand:
            self._class_ids = hand.keep(self._class_ids)
            self._children = [unit for unit in self._children if hand.holds(unit.class_id)]
        self._n_reused = len(done_ids) + len(store.index.done_paths())
        for row in store.run.candidate_rows():
            self._ledger.note_candidates(row.candidates)

    def search(self, make_executor: MakeExecutor, policy: Policy | None) -> str:
        """Break everything that is open; return what is missing in the end, if anything is."""
        plan, config = self._plan, self._plan.config
        policy = policy or default_policy(config, plan.spec.params.memory_mb)
        self._begin(policy)
        if not len(self._class_ids) and not self._children:
            return ""
        rng = np.random.default_rng(config.seed)
        costs = plan.predicted_costs(self._class_ids)
        known = {Unit(class_id, path) for class_id, path in self._store.index.orphans()}
        nodes = plan.nodes()
        scheduler = Scheduler(policy, self._class_ids, costs, rng, self._children, nodes.difference, known)
        with StopSignals() as signals:
            try:
                with make_executor(plan.spec, policy.n_workers) as executor:
                    finish = run_loop(
                        scheduler,
                        executor,
                        self._ledger,
                        clock=time.monotonic,
                        stop=lambda: signals.reason,
                        watch=lambda snapshot: self._watch(snapshot, executor),
                        note=self._journal.loop,
                    )
                    self._store.flush()
                    self._journal.stored(*self._store.last_part)
                    self._journal.report(self._report(), now=True)
            except (RayError, ClusterGoneError) as error:
                if not signals.reason:  # what ended this process was meant for all
                    raise
                raise Interrupted(self._interrupted(signals.reason)) from error
        if signals.reason:
            raise Interrupted(self._interrupted(signals.reason))
        return finish.message

    def conclude(self, message: str) -> RunOutcome:
        """Rescore, check coverage and, when it is complete, write the claim."""
        plan, store = self._plan, self._store
        text = "rescoring and checking that every board is covered"
        self._progress.stage(text)
        self._journal.note("stage", text=text)
        store.flush()
        listed = rescore(store, plan.scorer)
        proof = prove(store.snapshot(), lambda _: plan.nodes(), thorough=True)
        coverage = proof.coverage
        assert coverage is not None, "looked at thoroughly"
        claim = None
        complete = proof.proven
        if complete:
            name, n_words = plan.wordlist.name, len(plan.wordlist.words)
            claim = write_claim(store, coverage, listed, wordlist=name, n_words=n_words, scores=plan.table.name)
        digest = digest_of(plan.fingerprint, listed, complete=complete)
        snapshot = self._snapshot
        missing, share_done = "" if complete else "\n".join(filter(None, (message, proof.why_not))), False
        if self._hand and not complete:
            missing, share_done = self._hand.judge(store, coverage, message, suspects(store.snapshot()))
        seconds = time.monotonic() - self._began_s
        self._journal.note(
            "finished",
            complete=complete,
            message=missing[:500],
            digest=digest,
            n_verdicts=self._ledger.n_rows,
            seconds=round(seconds, 1),
        )
        return RunOutcome(
            complete=complete,
            location=plan.location,
            dims=plan.fingerprint.dims,
            wordlist=plan.wordlist.name,
            n_words=len(plan.wordlist.words),
            scores=plan.table.name,
            cutoff=plan.cutoff,
            claim=claim,
            message=missing,
            coverage=coverage,
            listed=listed,
            digest=digest,
            n_reused=self._n_reused,
            n_computed=self._ledger.n_rows,
            n_quarantined=snapshot.n_quarantined if snapshot else 0,
            n_deaths=snapshot.n_deaths if snapshot else 0,
            seconds=seconds,
            share_done=share_done,
        )

    def _begin(self, policy: Policy) -> None:
        plan, config = self._plan, self._plan.config
        self._progress.begin(
            Overview(
                directory=plan.location,
                dims=plan.fingerprint.dims,
                wordlist=plan.wordlist.name,
                cutoff=plan.cutoff,
                n_classes=self._n_classes,
                n_reused=self._n_done_before,
                n_workers=config.workers if config.address else policy.n_workers,
                cluster=config.address or "",
                share=str(self._hand or ""),
                n_own=len(self._hand.class_ids) if self._hand else 0,
            )
        )
        self._journal.note(
            "started",
            dims=plan.fingerprint.dims,
            wordlist=plan.wordlist.name,
            cutoff=plan.cutoff,
            n_workers=policy.n_workers,
            n_classes=self._n_classes,
            n_classes_done=self._n_done_before,
            n_verdicts=self._n_reused,
            host=platform.node(),
            pid=os.getpid(),
            version=plan.run_info["versions"].get("orderly", ""),
            kernel_hash=kernel_hash(),
            share=str(self._hand or ""),
        )

    def _watch(self, snapshot: Report, executor: Executor) -> None:
        self._snapshot = snapshot
        report = self._report()
        self._progress.update(report)
        self._journal.stored(*self._store.last_part)
        self._journal.report(report)
        executor.show(report)

    def _report(self) -> Report:
        """Return the scheduler's figures with those that only the driver knows."""
        assert self._snapshot is not None, "asked for once the loop runs"
        snapshot, ledger = self._snapshot, self._ledger
        best_score, best_board = ledger.best or (None, "")
        return replace(
            snapshot,
            n_classes=self._n_classes,
            n_classes_done=self._n_done_before + snapshot.n_classes_done,
            remaining_s=snapshot.remaining_s if snapshot.n_classes_done else None,
            n_verdicts=ledger.n_rows,
            n_measured=snapshot.n_classes_done,
            n_candidates=ledger.n_candidates,
            best_score=best_score,
            best_board=best_board,
            elapsed_s=time.monotonic() - self._began_s,
            share=str(self._hand or ""),
        )

    def _interrupted(self, signal_name: str) -> str:
        n_done = self._n_done_before + (self._snapshot.n_classes_done if self._snapshot else 0)
        return (
            f"stopped by {signal_name}: {n_done:,} of {self._n_classes:,} board classes are done and stored in "
            f"{self._plan.location}; the same command goes on from here"
        )
