"""What the rows of a run prove, its state, and how far it is, also while a driver writes to it.

    summary
      prove
        unscored_boards    claim.py       the boards, with the scores that the rows give
        check_coverage     coverage.py    every board in exactly one unit with a verdict
        Run.doubted        run.py         no verdict rests on a host that was contradicted
                                          the board that the cutoff was climbed to is among those
                                          listed

Every reader works it out again: nothing that a run says about itself is believed.  ``claim.json``
records what was found once the boards were scored again: a reader says when it disagrees with the
rows, and believes the rows.

While something is plainly open, the rows are not checked one by one, so a reader of a run under way
answers at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from boardclass.canonical import canonical_board
from boardclass.cutoff import reaches
from boardclass.errors import IncompleteError, InputError, MismatchError, quote
from boardclass.printable import counted
from results.proof.claim import (
    Board,
    BoardList,
    Question,
    digest_of,
    disagreement,
    make_claim,
    question_of,
    read_claim,
    unscored_boards,
)
from results.proof.coverage import (
    Coverage,
    check_coverage,
    first_few,
    out_of_space,
    rows_out_of_space,
    unit_name,
)
from results.storage import files
from results.store.documents import Fingerprint
from results.store.rows import STATUSES
from results.store.run import Run, open_run


@dataclass(frozen=True)
class Proof:
    """What the rows prove, and what is missing."""

    listed: BoardList  # the boards that the rows list
    coverage: Coverage | None  # None while something is plainly open
    missing: tuple[str, ...]  # what is still to be done, a sentence each
    faults: tuple[str, ...]  # what cannot be true of a sound run, a sentence each

    @property
    def proven(self) -> bool:
        """Whether the listed boards are all boards that reach the cutoff, provided that each
        verdict is right.
        """
        return (
            not self.missing
            and not self.faults
            and self.coverage is not None
            and self.coverage.complete
        )

    @property
    def why_not(self) -> str:
        """What stands against it, the most serious first; empty when proven."""
        return "; ".join((*self.faults, *self.missing))


def prove(run: Run, *, thorough: bool = False) -> Proof:
    """Return what the rows of a run prove; if ``thorough``, look at every row even when something
    is plainly open.

    Raises StoreError when a file is damaged or a row breaks a rule.
    """
    listed = unscored_boards(run)
    missing, foreign = _open(run), rows_out_of_space(run)
    faults = [foreign] if foreign else []
    if run.conflicts:
        named = first_few(map(unit_name, run.conflicts))
        units = counted(len(run.conflicts), "unit has", "units have")
        faults.append(f"{units} contradicting verdicts ({named})")
    coverage = None
    if thorough or not (missing or faults):
        coverage = check_coverage(run)
        if coverage.problems:
            faults = [coverage.message()]
        elif not coverage.complete:
            missing = [coverage.message(), *_in_doubt(run)]
    if not missing and (lost := _lost_climb(run, listed)):
        faults.append(lost)
    return Proof(listed, coverage, tuple(missing), tuple(faults))


def _open(run: Run) -> list[str]:
    index, partition = run.index, run.partition
    n_done, n_pending = len(index.done_ids()), len(index.pending())
    classes = counted(partition.n_canonical, "class", "classes")
    told = [
        (len(index.quarantined), "unit was given up", "units were given up"),
        (
            partition.n_canonical - n_done,
            f"of {classes} has no verdict",
            f"of {classes} have no verdict",
        ),
        (n_pending, "part of a class has no verdict", "parts of classes have no verdict"),
    ]
    return [counted(n, one, many) for n, one, many in told if n > 0] + _in_doubt(run)


def _in_doubt(run: Run) -> list[str]:
    if not run.doubted:
        return []
    hosts, n = ", ".join(sorted(run.index.doubted_hosts)), len(run.doubted)
    told = f"{n:,} verdicts come from hosts that replicas contradicted ({hosts})"
    return [f"{told}: the command that made the run searches them again"]


def _lost_climb(run: Run, listed: BoardList) -> str:
    """Return what to say if the board that the cutoff was climbed to is not listed with its
    score.
    """
    climbed = run.info.get("climbed")
    if climbed is None:
        return ""
    where, shape = run.folder.where(files.RUN), run.partition.geometry
    board, score = climbed.get("board", ""), climbed.get("score")
    if len(board) != shape.n or score is None:
        return f"{where} does not say which board the cutoff was climbed to"
    if reaches(score, run.fingerprint.cutoff):
        image = canonical_board(board, shape)
        if not any((item.board, item.score) == (image, score) for item in listed.boards):
            return (
                f"{where} says that the search began from {board}, which scores {score:,}; the "
                "rows do not list it"
            )
    return ""


class State(StrEnum):
    """What is said of a run in one word."""

    PROVEN = "proven"  # its rows prove the answer
    FAULTY = "faulty"  # its rows contradict each other or the run: more searching does not help
    RUNNING = "running"  # a driver works on it
    INCOMPLETE = "incomplete"  # something is missing, and nobody works on it
    READING = "reading"  # its rows have not been read since they changed
    UNREADABLE = "unreadable"  # it is damaged, or is not a run


def state_of(rows: State | None, *, is_running: bool, error: str = "") -> State:
    """Return the state of a run.

    ``rows`` is what the rows show (``Summary.state``), None when they have not been read since they
    changed; ``is_running`` tells whether a driver holds the lock, ``error`` why the run cannot be
    read.
    """
    if error:
        return State.UNREADABLE
    if rows in (State.PROVEN, State.FAULTY):
        return rows
    return State.RUNNING if is_running else rows or State.READING


@dataclass(frozen=True)
class Summary:
    """How far a run is and what it proves."""

    fingerprint: Fingerprint
    info: dict[str, Any]
    question: Question  # how ``run.json`` names what was asked
    n_rows: dict[str, int]  # by status
    n_classes: int
    n_classes_begun: int  # classes whose root has a verdict
    n_classes_done: int  # those of them with nothing left below
    n_pending: int  # children of split units without a verdict
    n_quarantined: int  # units given up
    n_conflicts: int  # units with contradicting rows
    listed: BoardList  # boards at or above the cutoff, as the rows give them
    # whether the rows cover all boards there are, and a claim records that these were scored
    # exactly
    proven: bool
    why_not: str  # what stands against it; empty when proven
    # whether the rows contradict each other or the run: more searching does not help
    is_faulty: bool
    statement: str | None  # the sentence that the rows prove
    notes: tuple[str, ...]  # in what ``claim.json`` disagrees with the rows
    result_digest: str  # of the answer so far

    @property
    def state(self) -> State:
        """The state that the rows show: proven, faulty or incomplete, whether or not a driver works
        on the run.
        """
        if self.proven:
            return State.PROVEN
        return State.FAULTY if self.is_faulty else State.INCOMPLETE

    @property
    def caveat(self) -> str:
        """What to say with whatever is shown of a run that is not proven; else empty."""
        return "" if self.proven else f"found so far, not proven: {self.why_not}"

    def require_proven(self, where: str) -> None:
        """Say that what was shown of the run is not proven.

        Raises IncompleteError, MismatchError when it is not; the latter when the rows are faulty.
        """
        if not self.proven:
            raise (MismatchError if self.is_faulty else IncompleteError)(f"{where}: {self.caveat}")


def boards(location: str | Path | Run) -> list[Board]:
    """Return the boards that the rows of a run list, best first; :func:`summary` says whether they
    are all there are.

    Raises StoreError when there is no run, or it is damaged.
    """
    return list(unscored_boards(open_run(location)).boards)


def top(location: str | Path | Run, n: int = 10) -> list[Board]:
    """Return the ``n`` best boards of a run, see :func:`boards`.

    Examples
    --------
    >>> top("runs/2x2-scowl70-14", 1)
    [Board(board='aert', score=14, n_images=8)]
    """
    return boards(location)[: max(0, n)]


def summary(location: str | Path | Run) -> Summary:
    """Return how far a run is and what its rows prove; raises StoreError when there is no run, or
    it is damaged.
    """
    run = open_run(location)
    proof = prove(run)
    listed, recorded = proof.listed, read_claim(run)
    digest = digest_of(run.fingerprint, listed, complete=proof.proven)
    proven = proof.proven and recorded is not None and recorded.result_digest == digest
    if proof.proven and not proven:
        digest = digest_of(run.fingerprint, listed, complete=False)
    unscored = (
        "its boards were not scored again: the command that made the run does, and orderly verify "
        "--write"
    )
    done_ids, open_ids = (
        set(run.index.done_ids().tolist()),
        {class_id for class_id, _ in run.index.pending()},
    )
    own = done_ids - set(out_of_space(run.partition, done_ids))
    why_not = "" if proven else proof.why_not or unscored
    question = question_of(run)
    claim = make_claim(run, proof.coverage, listed, question) if proven and proof.coverage else None
    told = disagreement(recorded, claim, why_not) if recorded else ""
    return Summary(
        fingerprint=run.fingerprint,
        info=run.info,
        question=question,
        n_rows={status: run.index.n_loaded[status] for status in STATUSES},
        n_classes=run.partition.n_canonical,
        n_classes_begun=len(own),
        n_classes_done=len(own - open_ids),
        n_pending=len(run.index.pending()),
        n_quarantined=len(run.index.quarantined),
        n_conflicts=len(run.conflicts),
        listed=listed,
        proven=proven,
        why_not=why_not,
        is_faulty=bool(proof.faults),
        statement=claim.statement if claim else None,
        notes=(f"do not believe {run.folder.where(files.CLAIM)}: {told}",) if told else (),
        result_digest=digest,
    )


def named_runs(locations: Sequence[str | Path]) -> list[tuple[str, Run]]:
    """Return each run with a distinct name: its folder's, or the whole location where folders have
    the same name.
    """
    texts = [str(location).rstrip("/") or "/" for location in locations]
    short = [text.rpartition("/")[2] or text for text in texts]
    names = short if len(set(short)) == len(short) else texts
    if len(set(names)) < len(names):
        raise InputError(f"run directory {quote(max(names, key=names.count))} is given twice")
    return list(zip(names, map(open_run, locations), strict=True))
