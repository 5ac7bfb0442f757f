"""One run from config to claim; running it again resumes it.

    run -> make_plan           everything validated, nothing written
        -> Store.open          created, or opened and compared; the rules of splitting likewise
        -> Session.search      scheduler, executor and ledger in the run loop; skipped when nothing
                               is open
        -> Session.conclude    rescore -> coverage -> claim; with a share, whether that is done

What it does is shown (progress.py) and noted (journal.py).  Ctrl-C and the like are a flag that the
run loop reads, so that a write is never interrupted.
"""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from boardclass.errors import IncompleteError
from boardclass.jit import kernel_hash
from boardclass.printable import counted, memory_size
from cluster.driver.journal import Journal
from cluster.driver.loop import Ledger, run_loop
from cluster.driver.progress import Progress
from cluster.planning.plan import Plan, make_plan
from cluster.planning.shares import SHARE, Share
from cluster.scheduling.backlog import NO_HISTORY, History, Work
from cluster.scheduling.events import Policy, Report
from cluster.scheduling.scheduler import Scheduler
from cluster.workers.executors import Executor, InProcessExecutor, ProcessExecutor
from cluster.workers.ray_cluster import (
    LOCAL,
    ClusterGoneError,
    RayError,
    check_guarded,
    check_installed,
)
from cluster.workers.worker import machine_memory
from configs.model import RunConfig
from results.errors import DamagedError
from results.log_events import RESCORING, Dropped, Finished, MemoryLow, Reused, Stage, Started
from results.proof.claim import (
    BoardList,
    Claim,
    digest_of,
    make_claim,
    publish_claim,
    question_of,
    scored_again,
)
from results.proof.coverage import Coverage, rows_out_of_space
from results.proof.prove import prove
from results.storage import files
from results.store.documents import check_same_structure
from results.store.run import Run
from results.store.store import Store
from results.upkeep.extend import extend, inherited, open_source
from results.upkeep.repair import repair
from search.breaker import Spec, Unit
from search.node_search import EFFORT

MAX_WORKERS = 4096
MakeExecutor = Callable[[Spec], Executor]
_LOW_MEMORY = 1 / 16  # of all memory: below, a warning
# Batch systems warn with the last three before they kill.
_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGXCPU,
    signal.SIGALRM,
)


class Interrupted(IncompleteError):
    """Stopped by a signal with everything found so far stored; the same command goes on."""


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended."""

    location: str
    dims: str
    claim: Claim | None  # None when the run is not complete; else it is written
    message: str  # what is missing, when not complete
    coverage: Coverage
    listed: BoardList  # boards at or above the cutoff, scored again, best first
    digest: str  # of the result; comparable between runs only when both are complete
    n_reused: int  # verdicts found in the store
    n_computed: int  # verdicts added by this call
    seconds: float  # wall time of this call
    share_done: bool  # whether only a share was asked for and all of its classes are settled

    @property
    def complete(self) -> bool:
        """Whether every board lies in a unit with a verdict."""
        return self.claim is not None


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

    Without ``config.address``, ``config.workers`` = 0 computes in this process; any other number is
    that of the processes to start.  ``make_executor`` makes another executor of the spec.  With
    ``drop_damaged``, what damaged parts of the store held is computed again, instead of refused.
    Verdicts of the run ``extends`` are taken over where they hold at the cutoff of this one.  Only
    the classes of ``share`` are searched; whether the run is complete does not depend on it.

    Raises InputError when something given cannot be used (nothing has been written), StoreError
    when the run directory is damaged, locked, or of another run, Interrupted on SIGINT, SIGTERM and
    the like (everything found so far is stored), MismatchError when rescoring contradicts the rows.
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
        own_ids = share.of(plan) if share else None
        run_info = plan.run_info | {SHARE: str(share or "")} | (inherited(source) if source else {})
        recover = repair if drop_damaged else None
        # from here on the first Ctrl-C raises nothing: in a callback from C that would be printed
        # and lost
        with (
            StopSignals() as signals,
            Store.open(plan.location, plan.fingerprint, run_info, recover=recover) as store,
        ):
            check_same_structure(plan.run_info["structure"], store.run.info, plan.location)
            if foreign := rows_out_of_space(store.run):  # they could never be settled
                raise DamagedError(f"{store.run.folder.where('')} has {foreign}")
            with Journal(store.run.folder) as journal:
                for name, fault in (store.repaired.parts | store.repaired.others).items():
                    outcome = (
                        "its rows are computed again"
                        if name in store.repaired.parts
                        else "removed or rewritten"
                    )
                    progress.note(f"dropped {name}: {outcome}\n  {fault}")
                    journal.note(Dropped(name=name, message=fault))
                if source:
                    extension = extend(source, store)
                    progress.stage(extension.describe())
                    journal.note(
                        Reused(
                            location=extension.location,
                            cutoff=extension.cutoff,
                            n_reused=extension.n_reused,
                            n_verdicts=extension.n_verdicts,
                        )
                    )
                session = Session(plan, store, progress, journal, began_s, share, own_ids)
                message = session.search(make_executor, policy, signals)
                signals.release()
                return session.conclude(message)
    finally:
        progress.end()


def default_executor(config: RunConfig) -> MakeExecutor:
    """Return what makes the executor that a config asks for.

    Raises RayError when Ray is not installed, or the cluster does not answer or would let anybody
    in.
    """
    address = config.address
    if address is None:
        return ProcessExecutor if config.workers else InProcessExecutor
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
        # on one machine the next worker fares as the last one did
        max_deaths=8 if is_cluster else 3,
        kernel_hash=kernel_hash(),
        replicate=config.replicate / 100.0,
    )


class StopSignals:
    """While active, the signals that end a process only set :attr:`reason`, to their name.

    A second SIGINT raises KeyboardInterrupt.  Signals that are ignored (nohup), or that somebody
    else handles, stay so.
    """

    def __init__(self) -> None:
        self.reason = ""
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give the signals back."""
        while self._before:
            signal.signal(*self._before.popitem())

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.reason and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.reason = signal.Signals(number).name


class Session:
    """One call of :func:`run` on an open store; of the classes ``own_ids``, int64[n], ascending, if
    only of a share.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        progress: Progress,
        journal: Journal,
        began_s: float,
        share: Share | None,
        own_ids: npt.NDArray[np.int64] | None,
    ) -> None:
        self._plan = plan
        self._store = store
        self._progress = progress
        self._journal = journal
        self._began_s = began_s
        self._share = share
        all_ids, done_ids = plan.class_ids(), store.index.done_ids()
        self._own_ids = own_ids = all_ids if own_ids is None else own_ids
        doubted = store.run.doubted
        roots = [class_id for class_id, path in doubted if not path]
        is_open = ~np.isin(all_ids, done_ids, assume_unique=True) | np.isin(all_ids, roots)
        children = [
            Unit(class_id, path) for class_id, path in (*store.index.pending(), *doubted) if path
        ]
        begun_ids = np.array([unit.class_id for unit in children], np.int64)
        self._open_ids = all_ids[is_open]
        self._children = [
            unit for unit, own in zip(children, np.isin(begun_ids, own_ids), strict=True) if own
        ]
        self._ended_ids = all_ids[~is_open & ~np.isin(all_ids, begun_ids)]
        self._n_own_before = np.isin(self._ended_ids, own_ids).sum().item()
        self._fixed: dict[str, Any] = {  # figures of every report
            "n_classes": len(all_ids),
            "share": str(share or ""),
            "n_own": len(own_ids) if share else 0,
        }
        self._n_reused = len(store.index.places)
        self._snapshot: Report | None = None
        self._ready_s: float | None = None  # when the first worker was up
        self._is_memory_low = False
        self._ledger = Ledger(store, plan.fingerprint)
        self._ledger.note_candidates([(board, score) for board, score, _ in store.run.candidates()])

    def search(self, make_executor: MakeExecutor, policy: Policy, signals: StopSignals) -> str:
        """Break everything that is open; return what is missing in the end; empty when nothing
        is.
        """
        plan, config, store = self._plan, self._plan.config, self._store
        self._begin(policy)
        if signals.reason:
            raise Interrupted(self._interrupted(signals.reason))
        is_own = np.isin(self._open_ids, self._own_ids)
        class_ids, elsewhere_ids = self._open_ids[is_own], self._open_ids[~is_own]
        if not len(class_ids) and not self._children:
            return ""
        work = Work(
            class_ids,
            plan.predicted_costs(class_ids),
            self._children,
            known={Unit(class_id, path) for class_id, path in store.index.orphans()},
            history=history(store.run, plan, self._ended_ids),
            elsewhere=plan.predicted_costs(elsewhere_ids),
        )
        if config.workers or config.address:
            self._progress.stage("starting workers")
        asked_s = time.monotonic()
        scheduler = Scheduler(
            policy, work, np.random.default_rng(config.seed), plan.nodes().difference
        )
        if config.address:  # what Ray does when it starts cannot be interrupted otherwise
            signals.release()
        try:
            with make_executor(plan.spec) as executor, signals:
                finish = run_loop(
                    scheduler,
                    executor,
                    self._ledger,
                    clock=time.monotonic,
                    stop=lambda: signals.reason,
                    watch=lambda snapshot: self._watch(snapshot, executor),
                    note=self._journal.loop,
                )
                store.flush()
                self._journal.stored(*store.last_part)
                self._journal.report(self._report(), now=True)
        except (RayError, ClusterGoneError) as error:
            if not signals.reason:  # the signal was also meant for the workers
                raise
            raise Interrupted(self._interrupted(signals.reason)) from error
        if signals.reason:
            raise Interrupted(self._interrupted(signals.reason))
        self._tell_start(asked_s, time.monotonic())
        return finish.message

    def conclude(self, message: str) -> RunOutcome:
        """Rescore, check coverage and, when it is complete, write the claim."""
        plan, store = self._plan, self._store
        text = "rescoring and checking that every board is covered"
        self._progress.stage(text)
        self._journal.note(Stage(name=RESCORING, text=text))
        run = store.snapshot()  # the only one: what is claimed is what was read
        self._check_read(run)
        listed = scored_again(run, plan.scorer)
        proof = prove(run, thorough=True)
        coverage = proof.coverage
        assert coverage is not None, "looked at thoroughly"
        claim = None
        complete = proof.proven
        if complete:
            name, n_words = plan.wordlist.name, len(plan.wordlist.words)
            question = replace(question_of(run), wordlist=name, n_words=n_words)
            claim = make_claim(run.fingerprint, coverage, listed, question)
            publish_claim(run, claim)
        digest = digest_of(plan.fingerprint, listed, complete=complete)
        missing, share_done = (
            "" if complete else "\n".join(filter(None, (message, proof.why_not))),
            False,
        )
        if self._share and not complete:
            missing, share_done = self._share.judge(
                self._own_ids, store, coverage, message, run.doubted
            )
        seconds, n_computed = time.monotonic() - self._began_s, self._ledger.n_rows
        self._journal.note(
            Finished(
                complete=complete,
                message=missing,
                digest=digest,
                n_verdicts=n_computed,
                seconds=round(seconds, 1),
            )
        )
        return RunOutcome(
            plan.location,
            plan.fingerprint.dims,
            claim,
            missing,
            coverage,
            listed,
            digest,
            self._n_reused,
            n_computed,
            seconds,
            share_done,
        )

    def _check_read(self, run: Run) -> None:
        """Raise DamagedError when the rows lack a board that this call has seen: nothing is
        concluded from them.
        """
        read = {(board, score) for board, score, _ in run.candidates()}
        if lost := sorted(self._ledger.seen.items() - read):
            boards = counted(len(lost), "board", "boards")
            raise DamagedError(
                f"{run.folder.where(files.RESULTS)} lacks {boards} stored there before, such as "
                f"{lost[0][0]} with {lost[0][1]:,} points: what was written is not what is read "
                "back; nothing was concluded: run again"
            )

    def _begin(self, policy: Policy) -> None:
        plan, config, n_done = self._plan, self._plan.config, len(self._ended_ids)
        n_classes, n_own = self._fixed["n_classes"], self._fixed["n_own"]
        workers = counted(policy.n_workers, "worker")
        if config.address:
            workers = (
                f"{workers if config.workers else 'every processor'} of the cluster at "
                f"{config.address}"
            )
        self._progress.begin(
            f"{plan.fingerprint.dims}, {plan.wordlist.name}, cutoff {plan.cutoff:,}: "
            f"{counted(n_classes, 'board class', 'board classes')}"
            + (f", {n_own:,} of them are share {self._share}" if self._share else "")
            + (f", {n_done:,} done before" if n_done else "")
            + f", {workers}, into {plan.location}",
            n_classes,
            n_done,
        )
        self._journal.note(
            Started(
                dims=plan.fingerprint.dims,
                wordlist=plan.wordlist.name,
                cutoff=plan.cutoff,
                n_classes=n_classes,
                share=self._fixed["share"],
                n_workers=policy.n_workers,
                n_classes_done=n_done,
                n_verdicts=self._n_reused,
                host=platform.node(),
                pid=os.getpid(),
                version=plan.run_info["versions"].get("orderly", ""),
                kernel_hash=kernel_hash(),
            )
        )

    def _watch(self, snapshot: Report, executor: Executor) -> None:
        self._snapshot = snapshot
        report = self._report()
        self._tell_memory(report)
        if self._ready_s is None and snapshot.n_workers:
            self._ready_s = time.monotonic()
        if self._ready_s is not None:
            self._progress.update(report)
        self._journal.stored(*self._store.last_part)
        self._journal.report(report)
        executor.show(report)

    def _tell_start(self, asked_s: float, ended_s: float) -> None:
        """Say so when one process would have done it in less time than the workers took to
        start.
        """
        n_workers = 0 if self._plan.config.address else self._plan.config.workers
        start_s, total_s = (self._ready_s or ended_s) - asked_s, ended_s - asked_s
        if n_workers and start_s > total_s / 2 and (total_s - start_s) * n_workers < total_s:
            self._progress.note(
                f"starting the workers took {start_s:.0f} of {total_s:.0f} s; --workers 0 is "
                "faster for such a run"
            )

    def _tell_memory(self, report: Report) -> None:
        """Warn once when memory becomes short on the machine of the workers, and again when it has
        been plentiful.
        """
        free, total = report.n_free_bytes, report.n_total_bytes
        if free < total * _LOW_MEMORY and not self._is_memory_low:
            text = (
                f"{memory_size(free)} of {memory_size(total)} memory are free on this machine, "
                "and the system ends a worker when none is left: end another program, or run "
                "again with fewer --workers or a smaller --memory"
            )
            self._progress.note(text)
            self._journal.note(MemoryLow(n_free_bytes=free, n_total_bytes=total, message=text))
        self._is_memory_low = free < 2 * total * _LOW_MEMORY

    def _report(self) -> Report:
        assert self._snapshot is not None, "asked for once the loop runs"
        snapshot, ledger = self._snapshot, self._ledger
        best_score, best_board = ledger.best or (None, "")
        free, total = (0, 0) if self._plan.config.address else machine_memory()
        return replace(
            snapshot,
            **self._fixed,
            n_classes_done=len(self._ended_ids) + snapshot.n_classes_done,
            n_own_done=self._n_own_before + snapshot.n_classes_done if self._share else 0,
            n_verdicts=ledger.n_rows,
            n_measured=snapshot.n_classes_done,
            n_candidates=ledger.n_candidates,
            best_score=best_score,
            best_board=best_board,
            elapsed_s=time.monotonic() - self._began_s,
            n_free_bytes=free,
            n_total_bytes=total,
        )

    def _interrupted(self, signal_name: str) -> str:
        n_done = len(self._ended_ids) + (self._snapshot.n_classes_done if self._snapshot else 0)
        return (
            f"stopped by {signal_name}: {n_done:,} of {self._fixed['n_classes']:,} board classes "
            f"are done and stored in {self._plan.location}; the same command goes on from here"
        )


def history(run: Run, plan: Plan, class_ids: npt.NDArray[np.int64]) -> History:
    """Return predicted cost, effort and time of classes, int64[n], that were searched to the end;
    those without a row are left out.  A wrong counter in a row makes a wrong guess of the time
    left, and nothing else.
    """
    ids, sums = class_sums(run, (*EFFORT, "seconds"))
    ended = np.isin(ids, class_ids, assume_unique=True)
    if not ended.any():
        return NO_HISTORY
    efforts = np.maximum(sums[:, :-1], 0.0).sum(axis=1)
    tables = list(run.columns(("path", "seconds")))
    of_parts = [t.column("seconds").to_numpy()[t.column("path").to_numpy() != ""] for t in tables]
    part_s = np.concatenate(of_parts)
    child_s = float(part_s.mean()) if len(part_s) else 0.0
    return History(
        plan.predicted_costs(ids[ended]), efforts[ended], float(sums[ended, -1].sum()), child_s
    )


def class_sums(
    run: Run, names: Sequence[str]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the classes that a run has rows of, int64[n], ascending, and sums of columns over the
    rows of each, float64[n, len(names)]; rows are added up as they are.
    """
    tables = list(run.columns(("class_id", *names)))
    columns = [
        np.concatenate([np.empty(0), *(t.column(name).to_numpy() for t in tables)])
        for name in names
    ]
    of_rows = np.concatenate(
        [np.empty(0, np.int64), *(t.column("class_id").to_numpy() for t in tables)]
    )
    ids, place = np.unique(of_rows, return_inverse=True)
    sums = np.zeros((len(ids), len(names)))
    np.add.at(sums, place, np.stack(columns, axis=1))
    return ids, sums
