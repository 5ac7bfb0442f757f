"""The search of one call: workers are started, everything open is broken, what comes is told.

search -> Scheduler, executor and ledger in the run loop
       -> _Watch: progress for people, the journal, gauges of the executor; MemoryWatch
"""

import os
import platform
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from orderly_boggle.boardclass.board import with_letters
from orderly_boggle.boardclass.errors import IncompleteError, NoProgressError
from orderly_boggle.boardclass.jit import kernel_hash
from orderly_boggle.boardclass.partition import among
from orderly_boggle.boardclass.printable import counted, memory_size
from orderly_boggle.cluster.driver.journal import Journal
from orderly_boggle.cluster.driver.lookout import Lookout
from orderly_boggle.cluster.driver.loop import run_loop
from orderly_boggle.cluster.driver.prepared import Prepared, history
from orderly_boggle.cluster.driver.progress import Progress
from orderly_boggle.cluster.driver.signals import StopSignals
from orderly_boggle.cluster.driver.stuck import why_stuck
from orderly_boggle.cluster.scheduling.backlog import Work
from orderly_boggle.cluster.scheduling.events import Answer, Bar, Event, Finish, Instruction, Policy
from orderly_boggle.cluster.scheduling.machines import N_TRIES
from orderly_boggle.cluster.scheduling.scheduler import Scheduler
from orderly_boggle.cluster.workers.executors import Executor
from orderly_boggle.cluster.workers.memory import machine_memory
from orderly_boggle.cluster.workers.ray_cluster import ClusterGoneError, RayError
from orderly_boggle.configs.model import RunConfig
from orderly_boggle.results.log_events import MemoryLow, Report, Started
from orderly_boggle.results.proof.nodes import SearchNodes
from orderly_boggle.results.proof.summary import Wording
from orderly_boggle.results.storage.outage import Reminder
from orderly_boggle.results.store.rows import SPLIT
from orderly_boggle.results.store.run import Run
from orderly_boggle.results.store.store import Store
from orderly_boggle.search.breaker import Spec, Unit
from orderly_boggle.search.costs import likely_costs
from orderly_boggle.search.tally import EFFORT

MakeExecutor = Callable[[Spec], Executor]
_LOW = 1 / 16  # of all memory
_LISTEN_S = 0.1
_NEVER = 1 << 62  # an effort that no unit has
# of what is waited for
_TELL_AFTER_S = 30.0
_REMIND_S = 600.0


class Interrupted(IncompleteError):
    """Stopped by a signal with everything found so far stored; the same command goes on."""


class InterruptedInVainError(Interrupted, NoProgressError):
    """Stopped by a signal once more before it had added anything."""


def search(
    prepared: Prepared,
    config: RunConfig,
    make_executor: MakeExecutor,
    policy: Policy,
    signals: StopSignals,
) -> Finish:
    """Break everything that is open; return how it ended, and what is missing.

    Raises Interrupted when a signal came.
    """
    _begin(prepared, config, policy)
    watch = _Watch(prepared, Lookout(config.wordlist), is_here=not config.address)
    if signals.reason:
        raise watch.interrupted(signals.reason)
    plan = prepared.plan
    store = prepared.store
    # of a share: the others are searched elsewhere, and only their cost is told
    is_own = among(prepared.open_ids, prepared.own_ids)
    class_ids = prepared.open_ids[is_own]
    elsewhere_ids = prepared.open_ids[~is_own]
    # one without open classes may still have open parts, of classes that were split before
    if not len(class_ids) and not prepared.children:
        return Finish(complete=True)
    work = Work(
        class_ids,
        likely_costs(plan.question, class_ids),
        list(prepared.children),
        known=_known(store),
        doubted=_split_at(store.run),
        history=history(store.run, plan, prepared.ended_ids),
        elsewhere=likely_costs(plan.question, elsewhere_ids),
    )
    if config.workers or config.address:
        prepared.progress.stage("starting workers")
    # of the order only: no seed changes a verdict
    rng = np.random.default_rng(config.seed)
    scheduler = Scheduler(policy, work, rng, SearchNodes(plan.question).difference)
    if config.address:  # what Ray does when it starts cannot be interrupted otherwise
        signals.release()
    elif not _kernels_loaded(signals):
        raise watch.interrupted(signals.reason, at_once=True)
    try:
        with make_executor(plan.spec) as executor, signals:
            # the clock is monotonic: a time server must not end leases
            finish = run_loop(
                scheduler,
                executor,
                prepared.ledger,
                clock=time.monotonic,
                stop=lambda: signals.reason,
                watch=partial(watch.look, executor),
                note=watch.note,
            )
            # the last figures tell of a part that is stored
            store.flush()
            watch.end()
    except (RayError, ClusterGoneError) as error:
        if not signals.reason:  # the signal was also meant for the workers
            raise
        raise watch.interrupted(signals.reason) from error
    if signals.reason:
        raise watch.interrupted(signals.reason)
    return finish


def _known(store: Store) -> set[Unit]:
    """Return the units that no split has to open again: those below a split whose own verdict was
    lost, or is in doubt.
    """
    known = store.index.orphans()
    for class_id, path in store.run.doubted:
        children = store.index.splits.get((class_id, path), ())
        known.update((class_id, child) for child in children)
    return {Unit(*key) for key in known}


def _split_at(run: Run) -> dict[Unit, int]:
    """Return the units with a verdict in doubt, and the effort at which each was split."""
    efforts = {}
    for _, row in run.rows_on(set(run.doubted), run.manifest.parts):
        effort = _NEVER
        if row.status == SPLIT:
            effort = sum(row.counters[name] for name in EFFORT)
        efforts[Unit(*row.key)] = effort
    return efforts


def _kernels_loaded(signals: StopSignals) -> bool:
    """Load the kernels, or compile them the first time, before any worker does; return False as
    soon as a signal comes, although they are still compiled then.
    """
    errors: list[BaseException] = []

    def load() -> None:
        try:
            import orderly_boggle.search.node_search  # noqa: F401
        # a thread that dies in silence would look like kernels that were loaded
        except BaseException as error:  # noqa: BLE001 - raised below, where it is handled
            errors.append(error)

    # compiling cannot be interrupted: who presses Ctrl-C in the first minute must not wait for it
    thread = threading.Thread(target=load, name="orderly-kernels", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LISTEN_S)
        if signals.reason:
            return False
    if errors:
        raise errors[0]
    return True


class MemoryWatch:
    """Warns once when memory becomes short, and again when it has been plentiful in between."""

    def __init__(self, progress: Progress, journal: Journal) -> None:
        self._progress = progress
        self._journal = journal
        self._is_low = False

    def look(self, n_free_bytes: int, n_total_bytes: int) -> None:
        """Compare what is free with all there is; both are 0 where nobody knows."""
        if n_free_bytes < n_total_bytes * _LOW and not self._is_low:
            text = (
                f"{memory_size(n_free_bytes)} of {memory_size(n_total_bytes)} memory are free on "
                "this machine, and the system ends a worker when none is left: end another "
                "program, or run again with fewer --workers or a smaller --memory"
            )
            self._progress.note(text)
            self._journal.note(
                MemoryLow(n_free_bytes=n_free_bytes, n_total_bytes=n_total_bytes, message=text)
            )
        # twice the limit before it may warn again, or it would warn with every breath
        self._is_low = n_free_bytes < 2 * n_total_bytes * _LOW


class _Watch:
    """Tells people and files how far the search is."""

    def __init__(self, prepared: Prepared, lookout: Lookout, *, is_here: bool) -> None:
        self._is_here = is_here  # the workers are on this machine
        self._prepared = prepared
        self._lookout = lookout
        self._memory = MemoryWatch(prepared.progress, prepared.journal)
        self._snapshot: Report | None = None
        self._waits_since_s: float | None = None
        self._reminder = Reminder(_TELL_AFTER_S, _REMIND_S)
        self._n_own_ended = prepared.n_own_ended
        self._has_begun = False
        self._told_of_layers = False

    def look(self, executor: Executor, snapshot: Report) -> None:
        """Take the scheduler's figures and pass them on."""
        self._snapshot = snapshot
        report = self._note(snapshot)
        self._memory.look(report.n_free_bytes, report.n_total_bytes)
        # a bar at zero while machines are waited for would look like a search that hangs
        self._has_begun |= snapshot.n_workers > 0
        if self._has_begun:
            self._prepared.progress.update(report)
        executor.show(report)
        now_s = time.monotonic()
        self._tell_of_waiting(executor.waiting(), now_s)
        for text in self._lookout.look(now_s):
            self._prepared.progress.note(text)

    def _tell_of_waiting(self, text: str, now_s: float) -> None:
        """Say what is waited for, when that has lasted; empty: for nothing."""
        if not text:
            self._waits_since_s = None
            self._reminder.end()
            return
        if self._waits_since_s is None:
            self._waits_since_s = now_s
        if self._reminder.is_due(now_s - self._waits_since_s):
            self._prepared.progress.note(text)

    def note(self, came: Sequence[Event], orders: Sequence[Instruction]) -> None:
        """Note events and instructions in the journal, and tell people of a machine that is
        barred.
        """
        self._prepared.journal.loop(came, orders)
        for event in came:
            if isinstance(event, Answer) and event.n_short_layers:
                self._tell_of_layers(event)
        for order in orders:
            if isinstance(order, Bar):
                self._prepared.progress.note(
                    f"no worker is started on {order.machine} any more, the last {N_TRIES} did not "
                    f"come up: {order.message}"
                )

    def _tell_of_layers(self, answer: Answer) -> None:
        """Say, of the first class only, that memory is too short to search it as fast as it could
        be.
        """
        if self._told_of_layers:
            return
        self._told_of_layers = True
        memory_mb = self._prepared.plan.spec.budgets.memory_mb
        self._prepared.progress.note(
            f"class {answer.result.unit.class_id:,} has layers of terms that do not fit "
            f"{memory_mb:,} MiB: the verdict is just as valid, but would take less time with a "
            "larger --memory"
        )

    def end(self) -> None:
        """Note the last figures."""
        assert self._snapshot is not None, "the loop has run"
        self._note(self._snapshot, now=True)

    def _note(self, snapshot: Report, *, now: bool = False) -> Report:
        report = self._report(snapshot)
        journal = self._prepared.journal
        journal.stored(*self._prepared.store.last_part)
        journal.report(report, now=now)
        return report

    def interrupted(self, signal_name: str, *, at_once: bool = False) -> Interrupted:
        """Return what to raise when a signal has stopped the search.

        at_once : whether the process must not wait for its threads
        """
        prepared = self._prepared
        n_done = len(prepared.ended_ids)
        if self._snapshot:
            n_done += self._snapshot.n_classes_done
        state = (
            f"stopped by {signal_name}: {n_done:,} of {prepared.n_classes:,} board classes are "
            f"done and stored in {prepared.plan.location}"
        )
        if why := why_stuck(prepared):
            error: Interrupted = InterruptedInVainError(f"{state}; {why}")
        else:
            error = Interrupted(f"{state}; the same command resumes from here")
        error.leaves_at_once = at_once
        return error

    def _report(self, snapshot: Report) -> Report:
        prepared = self._prepared
        ledger = self._prepared.ledger
        best_score, best_board = ledger.best or (None, "")
        if self._is_here:
            free, total = machine_memory()
        else:
            free = 0
            total = 0
        n_done = snapshot.n_classes_done
        return replace(
            snapshot,
            n_classes=prepared.n_classes,
            share=str(prepared.share or ""),
            n_own=prepared.n_own,
            n_classes_done=len(prepared.ended_ids) + n_done,
            n_own_done=self._n_own_ended + n_done if prepared.share else 0,
            n_verdicts=ledger.n_rows,
            n_measured=n_done,
            n_candidates=ledger.n_candidates,
            best_score=best_score,
            best_board=best_board,
            elapsed_s=time.monotonic() - prepared.began_s,
            n_free_bytes=free,
            n_total_bytes=total,
        )


def _begin(prepared: Prepared, config: RunConfig, policy: Policy) -> None:
    plan = prepared.plan
    n_done = len(prepared.ended_ids)
    workers = counted(policy.n_workers, "worker")
    if config.address:
        workers = f"{workers if config.workers else 'every processor'} of the cluster at "
        workers += config.address
    classes = counted(prepared.n_classes, "board class", "board classes")
    share = ""
    if prepared.share:
        share = f", {prepared.n_own:,} of them are share {prepared.share}"
    before = ""
    if n_done:
        before = f", {n_done:,} done before"
    question = Wording.of(plan.question, plan.made.words).short(plan.question)
    text = f"{question}: {classes}{share}{before}, {workers}, into {plan.location}"
    if plan.made.climbed:
        text += f"; the climb found {counted(plan.made.climbed.score or 0, 'point')}: "
        text += with_letters(plan.made.climbed.board, plan.words.letters)
    prepared.progress.begin(text, prepared.n_classes, n_done)
    prepared.journal.note(
        Started(
            dims=plan.question.dims,
            wordlist=plan.words.name,
            cutoff=plan.question.cutoff,
            n_classes=prepared.n_classes,
            share=str(prepared.share or ""),
            n_workers=policy.n_workers,
            n_classes_done=n_done,
            n_verdicts=prepared.n_reused,
            host=platform.node(),
            pid=os.getpid(),
            version=plan.made.versions.get("orderly", ""),
            kernel_hash=kernel_hash(),
        )
    )
