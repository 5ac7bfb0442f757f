"""The answer of a run: the boards that its rows list, scored again, and the claim about every board
there is.

Workers' scores are checked, not believed.  Boards are made canonical only here, so the rows keep
what was found.  The claim is written only with full coverage.

``claim.json`` records what was found once.  No reader believes it: what is proven, and the
sentence, follow from the rows every time (prove.py), and :func:`disagreement` tells whether the
record still says the same.

>>> from orderly_boggle.results.store.run import open_run
>>> listed = unscored_boards(open_run("runs/2x2-scowl70-14"))
>>> listed.n_canonical, listed.n_raw, listed.best_score
(6, 48, 14)
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from itertools import starmap
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ConfigDict, with_config

from orderly_boggle.boardclass.canonical import canonical, images
from orderly_boggle.boardclass.errors import MismatchError, quote
from orderly_boggle.boardclass.printable import counted, enumerated
from orderly_boggle.results.errors import DamagedError
from orderly_boggle.results.proof.summary import BoardList, ListedBoard, Wording
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder
from orderly_boggle.results.store import format_1
from orderly_boggle.results.store.documents import (
    json_digest,
    publish_document,
    read_versions,
    reader_of,
)
from orderly_boggle.results.store.rows import SPLIT, scalar, verdicts_of
from orderly_boggle.results.store.run import Run
from orderly_boggle.search.question import Question

if TYPE_CHECKING:
    from orderly_boggle.results.proof.prove import Proof


class ScorerLike(Protocol):
    """An exact scorer."""

    def scores(self, boards: list[str]) -> Any:
        """Return int32[m]: the exact score of each board."""


def scored_again(run: Run, scorer: ScorerLike) -> BoardList:
    """Score every candidate of a run again and merge symmetric ones; nothing is stored.

    Raises MismatchError when a stored score is not the board's score, or symmetric images score
    differently.
    """
    check_scores(run, scorer)
    listed = unscored_boards(run)
    scores = scorer.scores([item.board for item in listed.boards])
    for item, score in zip(listed.boards, scores, strict=True):
        if score != item.score:
            raise MismatchError(
                f"{item.board} scores {score}, a symmetric image of it {item.score}: the scorer "
                "is at fault"
            )
    return listed


def check_scores(run: Run, scorer: ScorerLike, says: str = "it scores") -> int:
    """Score every candidate of a run; return their number.

    Raises MismatchError, naming the first board whose row says something else.
    """
    reported = sorted(set(run.candidates()))
    scores = scorer.scores([board for board, _, _ in reported])
    for (board, stored, class_id), score in zip(reported, scores, strict=True):
        if score != stored:
            raise MismatchError(
                f"class {class_id} in {run.folder.where('')}: the row says {board} scores "
                f"{stored}, {says} {score}; a machine or the program is at fault: do not believe "
                "this run"
            )
    return len(reported)


def unscored_boards(run: Run) -> BoardList:
    """Return the boards with the scores that the rows give them; nothing is stored."""
    reported = run.candidates()
    shape = run.partition.geometry
    merged = {}
    for board, score, _ in reported:
        image = "".join(canonical(board, shape))
        merged[image] = ListedBoard(image, score, len(images(board, shape)))
    best_first = sorted(sorted(merged.values()), key=itemgetter(1), reverse=True)
    return BoardList.of(best_first, len(reported))


_FORMAT = 2  # with the question under its own names
COMPLETE = "complete"
MAX_LISTED = 1000
_REMEDY = "remove it and run `orderly run` on the directory again to rewrite it"


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Claim:
    """What a complete run proves."""

    statement: str  # the sentence
    # COMPLETE: every class has a verdict, every candidate was scored; then what else was checked
    strength: str
    # equal for equal answers, whatever partition, workers, order or budgets led to them
    result_digest: str
    question: Question
    wordlist: str
    n_words: int
    n_classes: int
    n_units: int
    n_boards_covered: int
    n_candidates: int
    n_canonical: int
    n_raw: int
    best_score: int | None
    best_boards: tuple[str, ...]
    # the first thousand, best first; the rows have all of them
    boards: tuple[tuple[str, int], ...] = ()
    # Added by ``orderly verify``; the same in whatever order the verdicts came.
    statistics: dict[str, int] = field(default_factory=dict)  # work done, summed over the verdicts
    verdict_digest: str = ""


def digest_of(question: Question, listed: BoardList, *, complete: bool) -> str:
    """Return the SHA-256 of the answer: the question asked, whether it is answered, canonical
    boards with scores.

    Partition and cell order are left out: they do not change the answer.
    """
    answer = {
        "dims": question.dims,
        "wordlist_sha256": question.words_sha256,
        "points": list(question.points),
        "cutoff": question.cutoff,
        "complete": complete,
        "boards": sorted(map(itemgetter(0, 1), listed.boards)),
    }
    return json_digest(answer | question.later)


def publish_claim(proof: Proof, claim: Claim) -> None:
    """Write a claim as ``claim.json`` of the run that it was proven of.

    Raises MismatchError, IncompleteError when nothing is proven; ValueError when something else is.
    """
    proof.require_proven()
    # the last gate before the file: whoever made the claim, it must be what the rows prove
    if claim.result_digest != digest_of(proof.run.question, proof.listed, complete=True):
        raise ValueError(f"a claim that the rows do not prove: {claim.statement!r}")
    told = asdict(claim) | {"question": claim.question.stored}
    publish_document(proof.run.folder, files.CLAIM, told, _FORMAT)


def make_claim(proof: Proof, wording: Wording) -> Claim:
    """Return the claim that a proof supports; raise MismatchError or IncompleteError when it proves
    nothing.
    """
    proof.require_proven()
    coverage = proof.coverage
    listed = proof.listed
    question = proof.run.question
    # proven says so: without coverage nothing is
    assert coverage is not None, "proven"
    return Claim(
        statement=statement_of(question, listed, wording),
        strength=COMPLETE,
        result_digest=digest_of(question, listed, complete=True),
        question=question,
        wordlist=wording.wordlist,
        n_words=wording.n_words,
        n_classes=coverage.n_classes,
        n_units=coverage.n_units,
        n_boards_covered=coverage.n_boards,
        n_candidates=listed.n_candidates,
        n_canonical=listed.n_canonical,
        n_raw=listed.n_raw,
        best_score=listed.best_score,
        best_boards=listed.best_boards,
        boards=tuple(map(itemgetter(0, 1), listed.boards[:MAX_LISTED])),
    )


def read_claim(run: Run) -> Claim | None:
    """Return the claim of a run, or None when it has none.

    Raises DamagedError when the file was altered or belongs to another run.
    """
    read = reader_of(Claim)

    def read_format_1(text: str) -> Claim:
        return read(format_1.with_question(text, run.question.rules))

    # claims of published runs are of format 1, and stay as they were written
    readers = {1: read_format_1, _FORMAT: read}
    claim = read_versions(run.folder, files.CLAIM, readers, _REMEDY)
    if claim is not None and claim.question != run.question:
        raise DamagedError(f"{run.folder.where(files.CLAIM)} belongs to another run; {_REMEDY}")
    return claim


def claimed_question(folder: Folder) -> Question | None:
    """Return what the claim in a folder is about, with the rules by which classes were cut; None
    without a claim, or when it is damaged or of format 1, which does not tell these rules.
    """
    try:
        claim = read_versions(folder, files.CLAIM, {_FORMAT: reader_of(Claim)}, _REMEDY)
    except DamagedError:
        return None
    return claim.question if claim else None


# claims of version 0.1.0 said so of all bounds, though some are searched again before
_as_once_said = re.compile(r"a run at cutoff ([\d,]+) gave and nobody computed again").sub
_ONE_WORD, _ONE_WORD_ONCE = "with the 1 word of ", "with the 1 words of "


def disagreement(claim: Claim, derived: Claim | None, why_not: str) -> str:
    """Return in what a stored claim differs from the one that the rows support; empty when it does
    not.

    They support none if ``derived`` is None, for the reason ``why_not``.
    """
    if derived is None:
        return f"it says that the run is proven; its rows do not: {why_not}"
    # what only whoever verified knows, or words differently; everything else the rows give
    own = ("strength", "statistics", "verdict_digest", "statement", "wordlist", "n_words")
    for name, said in vars(claim).items():
        due = getattr(derived, name)
        # the first version listed no boards
        if said != due and name not in own and (said or name != "boards"):
            return f"it says {name.replace('_', ' ')} {quote(said)}; the rows give {quote(due)}"
    # the list may have another name elsewhere
    named = f"{counted(claim.n_words, 'word')} of {claim.wordlist} ("
    expected = derived.statement.replace(
        f"{counted(derived.n_words, 'word')} of {derived.wordlist} (", named, 1
    )
    said = _as_once_said(r"this run took over from one at cutoff \1", claim.statement)
    said = said.replace(_ONE_WORD_ONCE, _ONE_WORD, 1)
    if said != expected:
        return f"its statement is {quote(claim.statement, 200)}, not what the rows give"
    return ""


def wording_of(run: Run) -> Wording:
    """Return how sentences name what a run is asked, with the condition on which its answer
    rests.
    """
    return Wording.of(run.question, run.made.words, taken_over(run))


DECIDED = "decided at cutoff "  # so begins the message of a row that was taken over


def decided_at(message: str) -> int:
    """Return the highest cutoff that a row was taken over from; 0 when it was searched here."""
    digits = message.removeprefix(DECIDED)
    # the message may be a stranger's: no sign, no other digits, no number of a thousand digits
    is_number = digits != message and digits.isascii() and digits.isdigit() and len(digits) < 20
    if is_number:
        return int(digits)
    return 0


def taken_over(run: Run) -> str:
    """Return what the sentence says of verdicts that rest on bounds of a run at a higher cutoff;
    empty when none does.

    Such a verdict says what was found at that cutoff; that there is nothing below it follows only
    from the bound in its row.  The rows do not tell which of these were searched again first.
    """
    n = 0
    highest = 0
    for table in run.columns(("status", "settled", "message"), run.index.with_messages):
        for item in pc.value_counts(settling(table).column("message")).to_pylist():
            cutoff = decided_at(item["values"])
            # a verdict from a lower cutoff holds here by itself; from a higher one only with its
            # bound
            if cutoff > run.question.cutoff:
                n += item["counts"]
                highest = max(highest, cutoff)
    if not n:
        return ""
    bounds = counted(n, "bound is", "bounds are")
    return f", if {bounds} right that this run took over from one at cutoff {highest:,}"


def settling(table: pa.Table) -> pa.Table:
    """Return the verdicts of a table that settle boards: all but splits that leave everything to
    their children.
    """
    verdicts = verdicts_of(table)
    is_whole = pc.not_equal(verdicts.column("status"), scalar(SPLIT))
    # a split settles boards, too, when parts of it were decided before it was given back
    has_parts = pc.greater(pc.list_value_length(verdicts.column("settled")), scalar(0))
    return verdicts.filter(pc.or_(is_whole, has_parts))


def statement_of(question: Question, listed: BoardList, wording: Wording) -> str:
    """Return the sentence; it names everything that the number depends on."""
    notes = [f"SHA-256 {question.words_sha256[:16]}"]
    notes += starmap("{} stands for {}".format, sorted(wording.letters.items()))
    if wording.left_out is not None:
        left_out = wording.left_out.items()
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out if count)
        notes.append(
            f"{counted(sum(wording.left_out.values()), 'line')} left "
            f"out{reasons and f': {reasons}'}"
        )
    premise = (
        f"Of all {26**question.n_cells:,} {question.dims} boards (one letter a-z per cell, "
        f"q counting as Qu), with the {counted(wording.n_words, 'word')} of {wording.wordlist} "
        f"({'; '.join(notes)}) and {wording.points}{wording.condition}"
    )
    cutoff = question.cutoff
    best = listed.best_boards
    if not best:
        return f"{premise}, none scores {cutoff:,} or more."
    return (
        f"{premise}, exactly {listed.n_canonical:,} up to symmetry ({listed.n_raw:,} counting "
        f"every rotation and reflection) {'scores' if listed.n_canonical == 1 else 'score'} "
        f"{cutoff:,} or more; the highest score is {listed.best_score:,}, reached by "
        f"{enumerated(best)}."
    )
