"""The sentence of a claim: what was asked, and the answer, with everything that the number depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from boardclass.errors import ScoreError
from boardclass.geometry import parse_dims
from boardclass.printable import counted
from boardclass.scores import parse_scores
from results.proof.rescore import BoardList
from results.store.fingerprint import Fingerprint
from results.store.info import list_name
from results.store.run import Run


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
