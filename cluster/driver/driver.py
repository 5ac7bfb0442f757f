"""One run from config to claim; running it again resumes it.

    run -> make_plan     everything validated, nothing written
        -> Store.open    created, or opened and compared; the rules of splitting likewise
        -> prepare       prepared.py     what is open
        -> search        run_search.py   scheduler, executor, ledger in the run loop; skipped when
                                         nothing is open
        -> conclude      rescore -> coverage -> claim; with a share, whether that is done

What it does is shown (progress.py) and noted (journal.py).  Ctrl-C and the like are a flag that the
run loop reads (signals.py), so that a write is never interrupted.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf

from orderly_boggle.boardclass.jit import kernel_hash
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.boardclass.wordlist import WordList
from orderly_boggle.cluster.driver.journal import Journal
from orderly_boggle.cluster.driver.loop import Ledger
from orderly_boggle.cluster.driver.prepared import Prepared, prepare
from orderly_boggle.cluster.driver.progress import Progress, Told, notebook_progress
from orderly_boggle.cluster.driver.run_search import Interrupted, MakeExecutor, search
from orderly_boggle.cluster.driver.signals import StopSignals
from orderly_boggle.cluster.driver.stuck import why_stuck
from orderly_boggle.cluster.planning.known import worth_naming
from orderly_boggle.cluster.planning.plan import Plan, make_plan
from orderly_boggle.cluster.planning.shares import Share
from orderly_boggle.cluster.scheduling.events import Finish, Policy
from orderly_boggle.cluster.workers.executors import InProcessExecutor, ProcessExecutor
from orderly_boggle.cluster.workers.ray_cluster import LOCAL, check_guarded, check_installed
from orderly_boggle.configs.model import RunConfig
from orderly_boggle.results.errors import DamagedError
from orderly_boggle.results.log_events import RESCORING, Dropped, Finished, Report, Reused, Stage
from orderly_boggle.results.proof.claim import (
    Claim,
    digest_of,
    make_claim,
    publish_claim,
    scored_again,
    wording_of,
)
from orderly_boggle.results.proof.coverage import Coverage, rows_out_of_space
from orderly_boggle.results.proof.known import check_known
from orderly_boggle.results.proof.prove import Proof, prove
from orderly_boggle.results.proof.repeat import check_taken, climb_again
from orderly_boggle.results.proof.summary import BoardList
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.outage import Patience
from orderly_boggle.results.store.made import list_name
from orderly_boggle.results.store.run import Run, open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep.extend import (
    check_promise,
    check_source,
    extend,
    inherited,
    taken,
)
from orderly_boggle.results.upkeep.repair import repair

__all__ = ["Interrupted", "RunOutcome", "default_executor", "default_policy", "run"]

MAX_WORKERS = 4096
OUTAGE_S = 1200.0  # for which a store may be away in the middle of a run


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended."""

    location: str
    words: WordList  # with which it was searched, whatever became of the file
    proof: Proof  # what the checks found
    claim: Claim | None  # None when the run is not complete; else it is written
    message: str  # what is missing, when not complete
    coverage: Coverage
    listed: BoardList  # boards at or above the cutoff, scored again, best first
    digest: str  # of the result; comparable between runs only when both are complete
    n_reused: int  # verdicts found in the store
    n_computed: int  # verdicts added by this call
    seconds: float  # wall time of this call
    is_stuck: bool  # whether the same command would not complete it, as ``message`` says
    share_done: bool  # whether only a share was asked for and all of its classes are settled

    @property
    def complete(self) -> bool:
        """Whether every board lies in a unit with a verdict."""
        return self.claim is not None


def run(
    config: RunConfig,
    *,
    progress: Progress | Callable[[Report], object] | None = None,
    make_executor: MakeExecutor | None = None,
    policy: Policy | None = None,
    drop_damaged: bool = False,
    extends: str | None = None,
    share: Share | None = None,
) -> RunOutcome:
    """Start a run, or continue it, until it is complete or cannot continue.

    ``progress`` shows how far it is, or is told about twice a second, which share is ``done`` and
    more; by default it is a bar in a notebook.

    Without ``config.address``, ``config.workers`` = 0 computes in this process; any other number is
    that of the processes to start.  ``make_executor`` makes another executor of the spec.  With
    ``drop_damaged``, what damaged parts of the store held is computed again, instead of refused.
    Verdicts of the run ``extends`` are taken over where they hold at the cutoff of this one.  Only
    the classes of ``share`` are searched; whether the run is complete does not depend on it.

    Raises InputError when something given cannot be used (nothing has been written), StoreError
    when the run directory is damaged, locked, or of another run, Interrupted on SIGINT, SIGTERM and
    the like (everything found so far is stored), MismatchError when rescoring contradicts the rows.
    """
    if progress is None:
        progress = notebook_progress()
    elif not isinstance(progress, Progress):
        progress = Told(progress)
    began_s = time.monotonic()
    make_executor = make_executor or default_executor(config)
    try:
        source = None
        if extends:
            source = open_run(extends)
        # all bad input ends the call here, before anything is written
        plan = make_plan(config, progress.stage, source)
        policy = policy or default_policy(config, plan.spec.budgets.memory_mb)
        own_ids = None
        if share:
            own_ids = share.of(plan.question)
        made = replace(plan.made, share=str(share or ""))
        if source:
            check_source(source, plan.question)
            made = inherited(source, made)
        recover = None
        if drop_damaged:
            recover = repair
        # from here on the first Ctrl-C raises nothing: in a callback from C that would be printed
        # and lost
        with (
            StopSignals() as signals,
            Store.open(
                plan.place,
                plan.question,
                made,
                recover=recover,
                wait=_waiting(progress, signals),
            ) as store,
        ):
            store.run.folder.patience = Patience(
                OUTAGE_S, progress.note, is_stopped=lambda: bool(signals.reason)
            )
            if foreign := rows_out_of_space(store.run):  # they could never be settled
                raise DamagedError(f"{store.run.folder.where('')} has {foreign}")
            # a run that contradicts a published one is not worth another hour
            check_known(store.run)
            if source:
                check_promise(store.run, source)
            with Journal(store.run.folder) as journal:
                tell_repairs(store, progress, journal)
                if source:
                    _take_over(source, store, plan, progress, journal)
                prepared = prepare(plan, store, progress, journal, began_s, share, own_ids)
                if not prepared.n_reused:  # who began it already knows what they want
                    answered = worth_naming(plan.question, plan.place.folder.where(""))
                    if answered:
                        progress.stage(answered)
                finish = search(prepared, config, make_executor, policy, signals)
                # rescoring and coverage may be interrupted at once: all rows are stored
                signals.release()
                return conclude(prepared, finish)
    finally:
        progress.end()


def _waiting(progress: Progress, signals: StopSignals) -> Callable[[str], None]:
    """Return what tells, once, whom a driver waits for, and ends that when a signal comes."""
    told = False

    def wait(text: str) -> None:
        nonlocal told
        if signals.reason:
            raise Interrupted(f"stopped by {signals.reason} while {text}; the same command goes on")
        if not told:
            told = True
            progress.stage(text)

    return wait


def tell_repairs(store: Store, progress: Progress, journal: Journal) -> None:
    """Tell, on the terminal and in the log, what opening took out of a run."""
    repaired = store.repaired
    for name, fault in (repaired.parts | repaired.others).items():
        again = "removed or rewritten"
        if name in repaired.parts:
            again = "its rows are computed again"
        progress.note(f"dropped {name}: {again}\n  {fault}")
        journal.note(Dropped(name=name, message=fault))


def _take_over(source: Run, store: Store, plan: Plan, progress: Progress, journal: Journal) -> None:
    """Store the verdicts that hold here; some of those are searched again that hold at a lower
    cutoff only if their bounds are right.
    """
    n_repeated = None
    if not reaches(plan.question.cutoff, source.question.cutoff):
        progress.stage("searching some verdicts again before their bounds are believed")
        known = store.index.places
        rows = (row for row in taken(source, plan.question) if row.key not in known)
        # a lower cutoff rests on the bounds that the source stored, and nothing else vouches for
        # these
        n_repeated = check_taken(source, plan.spec, rows, secrets.randbits(31))
    extension = extend(source, store, n_repeated)
    progress.stage(extension.describe())
    journal.note(
        Reused(
            location=extension.location,
            cutoff=extension.cutoff,
            n_reused=extension.n_reused,
            n_verdicts=extension.n_verdicts,
        )
    )


def default_executor(config: RunConfig) -> MakeExecutor:
    """Return what makes the executor that a config asks for.

    Raises RayError when Ray is not installed, or the cluster does not answer or would let anybody
    in.
    """
    address = config.address
    if address is None:
        if config.workers:
            return ProcessExecutor
        return InProcessExecutor
    check_installed()
    if address != LOCAL:
        check_guarded(address)
    from orderly_boggle.cluster.workers.ray_executor import RayExecutor

    return partial(RayExecutor, n_workers=config.workers, address=address)


def default_policy(config: RunConfig, memory_mb: int) -> Policy:
    """Return the scheduler's policy for a config; threads are not replaced when they have grown."""
    is_cluster = config.address is not None
    grown_mb = 0
    if config.workers or is_cluster:
        grown_mb = 2 * memory_mb + 1024
    return Policy(
        n_workers=config.workers or (MAX_WORKERS if is_cluster else 1),
        recycle_bytes=grown_mb * 2**20,
        # on one machine the next worker fares as the last one did
        max_deaths=8 if is_cluster else 3,
        lease_s=600.0 if is_cluster else inf,
        kernel_hash=kernel_hash(),
        replicate=config.replicate / 100.0,
    )


def conclude(prepared: Prepared, finish: Finish) -> RunOutcome:
    """Rescore, check coverage and, when it is complete, write the claim.

    finish : how the search ended, and what it says is missing

    Raises MismatchError when the rows cannot be those of a sound run.
    """
    plan = prepared.plan
    store = prepared.store
    progress = prepared.progress
    journal = prepared.journal
    text = "rescoring and checking that every board is covered"
    progress.stage(text)
    journal.note(Stage(name=RESCORING, text=text))
    # who reads a run that ended opens few files
    store.compact()
    run = store.snapshot()  # the only one: what is claimed is what was read
    _check_read(prepared.ledger, run)
    listed = scored_again(run, plan.scorer)
    proof = prove(run, thorough=True)
    coverage = proof.coverage
    assert coverage is not None, "looked at thoroughly"
    complete = proof.proven
    claim = None
    missing = ""
    share_done = False
    if complete:
        name = list_name(plan.words.name, plan.question.words_sha256)
        wording = replace(wording_of(run), wordlist=name, n_words=len(plan.words))
        claim = make_claim(proof, wording)
        if wording.condition:
            progress.stage("climbing, since bounds were believed")
            climb_again(run, plan.scorer, listed, secrets.randbits(31))
        publish_claim(proof, claim)
    elif prepared.share and not proof.is_faulty:
        missing, share_done = prepared.share.judge(
            prepared.own_ids, store, coverage, finish.message, run.doubted
        )
    else:
        missing = "\n".join(filter(None, (finish.message, proof.why_not)))
    why = ""
    if claim is None and not share_done:
        why = why_stuck(prepared, gave_up=finish.gave_up)
        missing = "; ".join(filter(None, (missing, why)))
    digest = digest_of(plan.question, listed, complete=complete)
    seconds = time.monotonic() - prepared.began_s
    n_computed = prepared.ledger.n_rows
    journal.note(
        Finished(
            complete=complete,
            message=missing,
            digest=digest,
            n_verdicts=n_computed,
            seconds=round(seconds, 1),
        )
    )
    proof.require_sound()
    return RunOutcome(
        plan.location,
        plan.words,
        proof,
        claim,
        missing,
        coverage,
        listed,
        digest,
        prepared.n_reused,
        n_computed,
        seconds,
        bool(why),
        share_done,
    )


def _check_read(ledger: Ledger, run: Run) -> None:
    """Raise DamagedError when the rows lack a board that this call has seen: nothing is concluded
    from them.
    """
    read = {(board, score) for board, score, _ in run.candidates()}
    if lost := sorted(ledger.seen.items() - read):
        boards = counted(len(lost), "board")
        raise DamagedError(
            f"{run.folder.where(files.RESULTS)} lacks {boards} stored there before, such as "
            f"{lost[0][0]} with {lost[0][1]:,} points: what was written is not what is read "
            "back; nothing was concluded: run again"
        )
