"""Verification: everything a run left behind is read again and checked, and only then is the claim written.

    verify -> check_coverage      every board in exactly one unit with a verdict
           -> rescore             every candidate by the production scorer
           -> _double_check       and by an independent one
           -> statistics          sums and a digest that do not depend on the order of the verdicts
           -> audited             what certificates and audits add (audits.py)
           -> write_claim         with a label that says how much was checked

Nothing is written before coverage is complete.  What to do about a fault decides the error: 3 stored data cannot be
trusted, 4 something is missing, 5 stored evidence contradicts itself or an independent computation.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from boardclass.errors import IncompleteError, MismatchError
from results import files
from results.audits import audited
from results.claim import COMPLETE, Checked, Claim, digest_of, read_claim, write_claim
from results.coverage import Coverage, NodesLike, PartitionLike, check_coverage
from results.lock import RunLock
from results.rescore import BoardList, ScorerLike, candidates, read_rescored, rescore
from results.run import Run, raise_conflicts
from results.schema import COUNTERS, VERDICTS
from results.suspects import suspects


@dataclass(frozen=True)
class Question:
    """How to name what a run is about, in the sentence of the claim.

    Attributes
    ----------
    wordlist, scores : str
        Names.
    n_words : int
        Usable words of the list.
    """

    wordlist: str
    n_words: int
    scores: str


@dataclass(frozen=True)
class Verified:
    """What verification came to."""

    claim: Claim
    coverage: Coverage
    listed: BoardList


def verify(
    run: Run,
    partition: PartitionLike,
    nodes: NodesLike,
    scorer: ScorerLike,
    referee: ScorerLike,
    question: Question,
) -> Verified:
    """Check a run from its files and write its claim.

    Parameters
    ----------
    run : Run
        As opened from disk.
    partition : Partition
        That of the run.
    nodes : NodesLike
        How the search cuts classes into parts.
    scorer, referee : ScorerLike
        The production scorer, and one that shares no code with it.
    question : Question

    Raises
    ------
    StoreError
        When a file is damaged or foreign, or verdicts contradict each other.
    IncompleteError
        When a board lies in no unit with a verdict; the message says which classes.
    MismatchError
        When rows do not add up, a score is wrong, or the stored claim says something else.
    """
    coverage = check_coverage(partition, run, nodes)
    raise_conflicts(run.conflicts)
    if coverage.n_problems:
        raise MismatchError(f"the rows in {run.folder.where('')} do not fit together: {coverage.message()}")
    coverage.require_complete()
    earlier = read_claim(run)
    if doubted := suspects(run):
        raise IncompleteError(
            f"{len(doubted):,} verdicts in {run.folder.where('')} come from hosts that replicas contradicted "
            f"({', '.join(sorted(run.index.doubted_hosts))}): the command that made the run searches them again"
        )
    lock = RunLock(run.folder)
    lock.acquire()
    try:
        n_checked = _double_check(run, referee)
        before = read_rescored(run)
        listed = rescore(run, scorer)
        if before is not None and before != listed:
            raise MismatchError(
                f"the list of boards in {run.folder.where(files.RESCORED_MANIFEST)} was not what the rows give; it has "
                "been written anew: verify again, and do not use what was taken from the old one"
            )
        digest = digest_of(run.fingerprint, listed, complete=True)
        if earlier and earlier.n_units == coverage.n_units and earlier.result_digest != digest:
            raise MismatchError(
                f"the claim in {run.folder.where('')} has the result digest {earlier.result_digest}, its rows give "
                f"{digest}: one of them was altered; restore the run from a copy"
            )
        checked = Checked(_strength(run, listed, n_checked), statistics(run), verdict_digest(run))
        claim = write_claim(
            run,
            coverage,
            listed,
            wordlist=question.wordlist,
            n_words=question.n_words,
            scores=question.scores,
            checked=checked,
        )
    finally:
        lock.release()
    return Verified(claim, coverage, listed)


def statistics(run: Run) -> dict[str, int]:
    """Return the work done, summed over the verdicts: the largest tree, all other counters added up.

    Only counts: times differ from machine to machine.  A unit that was settled twice counts twice.
    """
    totals = dict.fromkeys(COUNTERS, 0)
    for table in run.columns(["status", *COUNTERS]):
        verdicts = table.filter(pc.is_in(table.column("status"), pa.array(VERDICTS)))
        for name in COUNTERS:
            value = (pc.max if name.startswith("max_") else pc.sum)(verdicts.column(name)).as_py() or 0
            totals[name] = max(totals[name], value) if name.startswith("max_") else totals[name] + value
    return totals


def verdict_digest(run: Run) -> str:
    """Return the SHA-256 over all verdicts sorted by unit, whatever order, machine or part files they came in."""
    table = run.verdict_table.sort_by([("class_id", "ascending"), ("path", "ascending")])
    digest = hashlib.sha256()
    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            row["candidates"] = sorted([item["board"], item["score"]] for item in row["candidates"])
            row["children"], row["settled"] = sorted(row["children"]), sorted(row["settled"])
            digest.update(json.dumps(row, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def _double_check(run: Run, referee: ScorerLike) -> int:
    """Score every candidate by the independent scorer; return how many boards that were.

    Raises
    ------
    MismatchError
        Naming the first board whose row says something else.
    """
    stored = {(board, score, class_id) for board, score, class_id in candidates(run)}
    boards = sorted({board for board, _, _ in stored})
    exact = dict(zip(boards, (int(score) for score in referee.scores(boards)), strict=True))
    for board, score, class_id in sorted(stored):
        if exact[board] != score:
            raise MismatchError(
                f"class {class_id} in {run.folder.where('')}: the row says {board} scores {score}, an independent "
                f"solver finds {exact[board]}; a machine or the program is at fault: do not believe this run"
            )
    return len(boards)


def _strength(run: Run, listed: BoardList, n_checked: int) -> str:
    """Return what was checked, from the run itself to strangers' checks."""
    twice = f"double-checked 100 % of {n_checked:,} candidates by an independent solver"
    return f"{COMPLETE}, {twice if n_checked else 'no candidates to double-check'}{audited(run, listed)}"
