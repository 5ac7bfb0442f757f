"""What the rows of a run prove, its state, and how far it is, also while a driver writes to it.

    summary
      prove
        unscored_boards    claim.py       the boards, with the scores that the rows give
        check_coverage     coverage.py    every board in exactly one unit with a verdict
        Run.doubted        run.py         no verdict rests on a host that was contradicted
                                          the board that the cutoff was climbed to is among those
                                          listed
        refutation         known.py       no run that comes with the program says otherwise

This is the one gate to the word "Proven": only :func:`prove` makes a :class:`Proof`, and without
one there is no sentence (``make_claim``), no ``claim.json`` (``publish_claim``) and no summary that
says it.  Whoever takes verdicts over from a run asks ``check_known``.

Every reader works it out again: nothing that a run says about itself is believed.  ``claim.json``
records what was found once the boards were scored again: a reader says when it disagrees with the
rows, and believes the rows.

While something is plainly open, the rows are not checked one by one, so a reader of a run under way
answers at once.
"""

from dataclasses import InitVar, dataclass
from operator import itemgetter
from pathlib import Path

import numpy as np

from orderly_boggle.boardclass.board import LETTERS
from orderly_boggle.boardclass.canonical import canonical_board, images
from orderly_boggle.boardclass.errors import IncompleteError, MismatchError
from orderly_boggle.boardclass.partition import among
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.results.proof.claim import (
    digest_of,
    disagreement,
    make_claim,
    read_claim,
    unscored_boards,
    wording_of,
)
from orderly_boggle.results.proof.coverage import (
    Coverage,
    check_coverage,
    first_few,
    rows_out_of_space,
    unit_name,
)
from orderly_boggle.results.proof.known import refutation
from orderly_boggle.results.proof.summary import BoardList, ListedBoard, Summary
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.rows import STATUSES
from orderly_boggle.results.store.run import Run, open_run

_CHECKED = object()  # the key to a Proof, which no other module has


@dataclass(frozen=True)
class Proof:
    """What the rows of a run prove, and what is missing; made by :func:`prove` only."""

    run: Run
    listed: BoardList  # the boards that the rows list
    coverage: Coverage | None  # None while something is plainly open
    missing: tuple[str, ...]  # what is still to be done, a sentence each
    faults: tuple[str, ...]  # what cannot be true of a sound run, a sentence each
    refuted: str  # why a run that comes with the program says otherwise; else empty
    key: InitVar[object]

    def __post_init__(self, key: object) -> None:
        if key is not _CHECKED:
            raise TypeError("a Proof is made by results.proof.prove.prove, which checks a run")

    @property
    def proven(self) -> bool:
        """Whether the listed boards are all that reach the cutoff, provided that each verdict is
        right.
        """
        is_whole = self.coverage is not None and self.coverage.complete
        return is_whole and not self.why_not

    @property
    def is_faulty(self) -> bool:
        """Whether more searching does not help."""
        return bool(self.refuted or self.faults)

    @property
    def why_not(self) -> str:
        """What stands against it, the most serious first; empty when proven."""
        return "; ".join(filter(None, (self.refuted, *self.faults, *self.missing)))

    def require_sound(self) -> None:
        """Raise MismatchError when there are faults."""
        where = self.run.folder.where("")
        if self.refuted:
            raise MismatchError(f"{where} is {self.refuted}; do not believe this run")
        if self.faults:
            raise MismatchError(
                f"the rows in {where} do not fit together: {'; '.join(self.faults)}"
            )

    def require_proven(self) -> None:
        """Raise MismatchError when there are faults, IncompleteError when something is missing."""
        self.require_sound()
        if not self.proven:
            where = self.run.folder.where("")
            raise IncompleteError(f"the run in {where} proves nothing yet: {self.why_not}")


def prove(run: Run, *, thorough: bool = False) -> Proof:
    """Return what the rows of a run prove; if ``thorough``, look at every row even when something
    is plainly open.

    Raises StoreError when a file is damaged or a row breaks a rule.
    """
    listed = unscored_boards(run)
    # reading this property costs a pass over the rows, but only where a host was contradicted
    if run.doubted:
        doubt = _in_doubt(run)
    else:
        doubt = []
    # what costs next to nothing first: a run that is plainly open need not be read whole
    missing = _open(run) + doubt
    foreign = rows_out_of_space(run)
    if foreign:
        faults = [foreign]
    else:
        faults = []
    # of two verdicts that differ one is false, and nobody can say which
    if run.conflicts:
        named = first_few(map(unit_name, run.conflicts))
        units = counted(len(run.conflicts), "unit has", "units have")
        faults.append(f"{units} contradicting verdicts ({named})")
    coverage = None
    # coverage looks at every row: of a run that is plainly open it would only say the same
    if thorough or not (missing or faults):
        coverage = check_coverage(run)
        if coverage.problems:
            faults = [coverage.message()]
        elif not coverage.complete:
            missing = [coverage.message(), *doubt]
    # an unfinished run may have it in a class that is still to come
    if not missing and (lost := _lost_climb(run, listed)):
        faults.append(lost)
    # also of an open run: an hour more would not make it agree
    refuted = refutation(run, listed)
    return Proof(run, listed, coverage, tuple(missing), tuple(faults), refuted, _CHECKED)


def _open(run: Run) -> list[str]:
    index = run.index
    partition = run.partition
    n_done = len(index.done_ids())
    n_pending = len(index.pending())
    classes = counted(partition.n_canonical, "class", "classes")
    counts = [
        (len(index.quarantined), "unit was given up", "units were given up"),
        (
            partition.n_canonical - n_done,
            f"of {classes} has no verdict",
            f"of {classes} have no verdict",
        ),
        (n_pending, "part of a class has no verdict", "parts of classes have no verdict"),
    ]
    still_open = []
    for n, one, many in counts:
        if n > 0:
            still_open.append(counted(n, one, many))
    return still_open


def _in_doubt(run: Run) -> list[str]:
    hosts = ", ".join(sorted(run.index.doubted_hosts))
    n = len(run.doubted)
    verdicts = f"{n:,} verdicts come from hosts that replicas contradicted ({hosts})"
    return [f"{verdicts}: repeat the command that made the run to search them again"]


def _lost_climb(run: Run, listed: BoardList) -> str:
    """Return what to say if the board that the cutoff was climbed to is not listed with its
    score.
    """
    climbed = run.made.climbed
    if climbed is None:
        return ""
    where = run.folder.where(files.RUN)
    shape = run.partition.geometry
    board = climbed.board
    score = climbed.score
    if len(board) != shape.n or score is None:
        return f"{where} does not say which board the cutoff was climbed to"
    # a cutoff above the climbed board asks for better ones: that board need not be listed
    if reaches(score, run.question.cutoff):
        image = canonical_board(board, shape)
        if not any((item.board, item.score) == (image, score) for item in listed.boards):
            return (
                f"{where} says that the search began from {board}, which scores {score:,}; the "
                "rows do not list it"
            )
    return ""


def _from_climb(run: Run, proof: Proof) -> ListedBoard | None:
    """Return the board that the cutoff was climbed to if it is the best that is known: the rows
    list none, and nothing speaks against it.

    ``run.json`` tells it, and the list to score it with need not be here.  Its score must be the
    cutoff that it gave: a larger one would be a board that nobody has seen.
    """
    climbed = run.made.climbed
    shape = run.partition.geometry
    if climbed is None or proof.listed.boards or proof.proven or proof.is_faulty:
        return None
    is_board = len(climbed.board) == shape.n and set(climbed.board) <= set(LETTERS)
    if climbed.score != run.question.cutoff or not is_board:
        return None
    return ListedBoard(climbed.board, climbed.score, len(images(climbed.board, shape)))


def boards(location: str | Path | Run) -> list[ListedBoard]:
    """Return the boards that the rows of a run list, best first; :func:`summary` says whether they
    are all there are.

    Raises StoreError when there is no run, or it is damaged.
    """
    return list(unscored_boards(open_run(location)).boards)


def top(location: str | Path | Run, n: int = 10) -> list[ListedBoard]:
    """Return the ``n`` best boards of a run, see :func:`boards`.

    Examples
    --------
    >>> top("runs/2x2-scowl70-14", 1)
    [ListedBoard(board='aert', score=14, n_images=8)]
    """
    return boards(location)[: max(0, n)]


def summary(location: str | Path | Run) -> Summary:
    """Return how far a run is and what its rows prove; raises StoreError when there is no run, or
    it is damaged.
    """
    run = open_run(location)
    proof = prove(run)
    listed = proof.listed
    recorded = read_claim(run)
    digest = digest_of(run.question, listed, complete=proof.proven)
    # the rows list boards by the scores that a worker gave: only the claim says they were scored
    # again
    proven = proof.proven and recorded is not None and recorded.result_digest == digest
    if proof.proven and not proven:
        digest = digest_of(run.question, listed, complete=False)
    unscored = (
        "its boards were not scored again: repeat the command that made the run, or use orderly "
        "verify --write"
    )
    done_ids = run.index.done_ids()
    own = done_ids[~among(done_ids, run.foreign)]
    pending = run.index.pending()  # in the order of classes
    begun = among(own, np.array(list(map(itemgetter(0), pending)), np.int64))
    if proven:
        why_not = ""
    else:
        why_not = proof.why_not or unscored
    wording = wording_of(run)
    claim = None
    if proven:
        claim = make_claim(proof, wording)
    objection = ""
    if recorded:
        objection = disagreement(recorded, claim, why_not)
    return Summary(
        question=run.question,
        wording=wording,
        n_rows=dict.fromkeys(STATUSES, 0) | run.index.n_loaded,
        n_classes=run.partition.n_canonical,
        n_classes_begun=len(own),
        n_classes_done=int(np.count_nonzero(~begun)),
        n_pending=len(pending),
        n_quarantined=len(run.index.quarantined),
        n_conflicts=len(run.conflicts),
        listed=listed,
        proven=proven,
        why_not=why_not,
        is_faulty=proof.is_faulty,
        is_refuted=bool(proof.refuted),
        from_climb=_from_climb(run, proof),
        statement=claim.statement if claim else None,
        notes=(f"do not believe {run.folder.where(files.CLAIM)}: {objection}",)
        if objection
        else (),
        result_digest=digest,
    )
