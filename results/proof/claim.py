"""The claim: one sentence about every board there is; written only with full coverage.

The file is a record of what was found once.  No reader believes it: what is proven, and the sentence, follow from the
rows every time (prove.py), and :func:`disagreement` tells whether the record still says the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, field, fields, replace
from typing import Any

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from boardclass.errors import ScoreError, quote
from boardclass.geometry import parse_dims
from boardclass.printable import counted
from boardclass.scores import parse_scores
from results.errors import DamagedError
from results.proof.coverage import Coverage
from results.proof.rescore import BoardList
from results.storage import files
from results.store.documents import Fingerprint, list_name, publish_document, read_model
from results.store.run import Run

COMPLETE = "complete"
MAX_LISTED = 1000
_REMEDY = "remove it and run `orderly run` on the directory again to rewrite it"


@dataclass(frozen=True)
class Question:
    """How to name what a run is about, in the sentence of the claim.

    Attributes
    ----------
    wordlist, scores : str
        Names.
    n_words : int
        Usable words of the list.
    left_out : dict or None
        Lines of its file that can be on no board, by reason; None where an older run did not record them.
    letters : dict
        Letters beyond a-z by the symbol that stands for them in boards and words.
    """

    wordlist: str
    n_words: int
    scores: str
    left_out: dict[str, int] | None = None
    letters: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Claim:
    """What a complete run proves.

    Attributes
    ----------
    statement : str
        The sentence.
    strength : str
        ``complete``: every class has a verdict and every candidate was scored exactly; then what else was checked.
    result_digest : str
        Equal for equal answers, whatever partition, workers, order or budgets led to them.
    boards : tuple of (str, int)
        The first thousand boards with their scores, best first; all of them are in the rescored list.
    statistics : dict
        Work done, summed over the verdicts: the same in whatever order they came (``orderly verify`` adds them).
    verdict_digest : str
        Digest of all verdicts, the same in whatever order they came (``orderly verify`` adds it).
    """

    statement: str
    strength: str
    result_digest: str
    fingerprint: dict[str, Any]
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
    boards: tuple[tuple[str, int], ...] = ()
    statistics: dict[str, int] = field(default_factory=dict)
    verdict_digest: str = ""


def result_digest(fingerprint: Fingerprint, boards: Iterable[tuple[str, int]], *, complete: bool) -> str:
    """Return the SHA-256 of the answer: the question asked, whether it is answered, canonical boards with scores.

    Partition and cell order are left out: they do not change the answer.
    """
    answer = {
        "dims": fingerprint.dims,
        "wordlist_sha256": fingerprint.wordlist_sha256,
        "points": list(fingerprint.scores),
        "cutoff": fingerprint.cutoff,
        "complete": complete,
        "boards": sorted([board, score] for board, score in boards),
    }
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()


def digest_of(fingerprint: Fingerprint, listed: BoardList, *, complete: bool) -> str:
    """Return the result digest of a board list."""
    return result_digest(fingerprint, ((item.board, item.score) for item in listed.boards), complete=complete)


def publish_claim(run: Run, claim: Claim) -> None:
    """Write a claim as ``claim.json`` of its run."""
    publish_document(run.folder, files.CLAIM, asdict(claim))


def make_claim(fingerprint: Fingerprint, coverage: Coverage, listed: BoardList, question: Question) -> Claim:
    """Return the claim that coverage and boards support.

    Raises
    ------
    IncompleteError
        When a class has no verdict.
    """
    coverage.require_complete()
    question = replace(question, wordlist=list_name(question.wordlist, fingerprint.wordlist_sha256))
    best = listed.boards[0].score if listed.boards else None
    return Claim(
        statement=statement_of(fingerprint, listed, question),
        strength=COMPLETE,
        result_digest=digest_of(fingerprint, listed, complete=True),
        fingerprint=fingerprint.to_json(),
        wordlist=question.wordlist,
        n_words=question.n_words,
        n_classes=coverage.n_classes,
        n_units=coverage.n_units,
        n_boards_covered=coverage.n_boards,
        n_candidates=listed.n_candidates,
        n_canonical=listed.n_canonical,
        n_raw=listed.n_raw,
        best_score=best,
        best_boards=tuple(item.board for item in listed.boards if item.score == best),
        boards=tuple((item.board, item.score) for item in listed.boards[:MAX_LISTED]),
    )


def read_claim(run: Run) -> Claim | None:
    """Return the claim of a run, or None when it has none.

    Raises
    ------
    DamagedError
        When the file was altered or belongs to another run.
    """
    claim = read_model(run.folder, files.CLAIM, TypeAdapter(Claim), _REMEDY)
    if claim is None:
        return None
    if claim.fingerprint != run.fingerprint.to_json():
        raise DamagedError(f"{run.folder.where(files.CLAIM)} belongs to another run; {_REMEDY}")
    return claim


def disagreement(claim: Claim, derived: Claim | None, why_not: str) -> str:
    """Return in what a stored claim differs from the one that the rows support; empty when it does not.

    Parameters
    ----------
    derived : Claim or None
        None: the rows do not support one, for the reason ``why_not``.
    """
    if derived is None:
        return f"it says that the run is proven; its rows do not: {why_not}"
    own = {"strength", "statistics", "verdict_digest", "statement", "wordlist", "n_words"}  # of the verifier
    names = [item.name for item in fields(Claim) if item.name not in own]
    if not claim.boards:
        names.remove("boards")  # claims of the first version lack them
    differing = [name for name in names if getattr(claim, name) != getattr(derived, name)]
    if differing:
        said = (f"{name.replace('_', ' ')} {quote(getattr(claim, name))}" for name in differing[:3])
        given = (quote(getattr(derived, name)) for name in differing[:3])
        return f"it says {', '.join(said)}; the rows give {', '.join(given)}"
    named = f"{claim.n_words:,} words of {claim.wordlist} ("  # the list may have another name elsewhere
    expected = derived.statement.replace(f"{derived.n_words:,} words of {derived.wordlist} (", named, 1)
    if claim.statement != expected:
        return f"its statement is {quote(claim.statement, 200)}, not what the rows give"
    return ""


def question_of(run: Run) -> Question:
    """Return the names that ``run.json`` gives, if the word list and the points are those that go by them."""
    wordlist, scores = run.info.get("wordlist"), run.info.get("scores")
    told = wordlist if isinstance(wordlist, dict) else {}
    n_words = told.get("n_words")
    try:
        points = parse_scores(scores).points if isinstance(scores, str) else ()
    except ScoreError:
        points = ()
    return Question(
        list_name(told.get("name"), run.fingerprint.wordlist_sha256),
        n_words if type(n_words) is int else 0,
        str(scores) if points == run.fingerprint.scores else "custom",
        told.get("left_out"),
        told.get("letters") or {},
    )


def statement_of(fingerprint: Fingerprint, listed: BoardList, question: Question) -> str:
    """Return the sentence; it names everything that the number depends on."""
    n_all = 26 ** parse_dims(fingerprint.dims).n
    cutoff = fingerprint.cutoff
    premise = (
        f"Of all {n_all:,} {fingerprint.dims} boards (one letter a-z per cell, q counting as Qu), "
        f"with the {question.n_words:,} words of {question.wordlist} (SHA-256 {fingerprint.wordlist_sha256[:16]}"
        f"{_symbols(question)}{_left_out(question)}) "
        f"and {question.scores} points"
    )
    if not listed.boards:
        return f"{premise}, none scores {cutoff:,} or more."
    best = [item.board for item in listed.boards if item.score == listed.boards[0].score]
    return (
        f"{premise}, exactly {listed.n_canonical:,} up to symmetry "
        f"({listed.n_raw:,} counting every rotation and reflection)"
        f" {'scores' if listed.n_canonical == 1 else 'score'} {cutoff:,} or more; the highest score is "
        f"{listed.boards[0].score:,}, reached by {_enumerate(best)}."
    )


def _symbols(question: Question) -> str:
    """Return which letters a-z stand for others."""
    return "".join(f"; {symbol} stands for {letter}" for symbol, letter in sorted(question.letters.items()))


def _left_out(question: Question) -> str:
    """Return how many lines of the list are not among its words, and why."""
    if question.left_out is None:
        return ""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in question.left_out.items() if count)
    return f"; {counted(sum(question.left_out.values()), 'line')} left out{reasons and f': {reasons}'}"


def _enumerate(boards: Sequence[str]) -> str:
    """Return the boards as words, the first few of many."""
    if len(boards) > 5:
        return f"{', '.join(boards[:5])} and {len(boards) - 5:,} more"
    return boards[0] if len(boards) == 1 else f"{', '.join(boards[:-1])} and {boards[-1]}"
