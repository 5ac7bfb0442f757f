"""What is known of a run when its rows have been read: values, without the means to read any.

    Summary      how far it is, what it proves; ``state`` says it in one word
    BoardList    the boards that it lists; ``standing`` says where one of them stands

``top`` and ``show`` need no more than this of a run that comes with the program (packaged.py), so
nothing that reads rows is imported here.

>>> searched(3, 12)
'3 of 12 classes are done (25.0 %)'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, Protocol

from orderly_boggle.boardclass.board import with_letters
from orderly_boggle.boardclass.errors import IncompleteError, InputError, MismatchError, quote
from orderly_boggle.boardclass.geometry import parse_dims
from orderly_boggle.boardclass.printable import counted, percent
from orderly_boggle.boardclass.scores import points_in_words
from orderly_boggle.boardclass.wordlist import known_name, sources
from orderly_boggle.results.store.made import ListTold, list_name
from orderly_boggle.search.question import Question

REFUTED = "refuted by a run that comes with the program"


class Judged(Protocol):
    """What the checks found of a run: a ``Proof`` or a ``Summary``."""

    @property
    def proven(self) -> bool:
        """Whether the rows prove the answer."""

    @property
    def is_faulty(self) -> bool:
        """Whether more searching does not help."""


def proven_word(judged: Judged) -> str:
    """Return whether a run is proven, as the beginning of what is said of it.

    The word is written nowhere else (tests/test_house.py), and what is asked for it, a ``Proof`` or
    a ``Summary``, comes from the checks of prove.py, or from their record in packaged.py.
    """
    if judged.proven:
        return "Proven."
    if judged.is_faulty:
        return "Not proven."
    return "Not proven yet."


class ListedBoard(NamedTuple):
    """A canonical board, its exact score and the number of its distinct symmetric images, itself
    included.
    """

    board: str
    score: int
    n_images: int


@dataclass(frozen=True)
class BoardList:
    """The boards that reach the cutoff, best first, then alphabetically."""

    boards: tuple[ListedBoard, ...]
    n_candidates: int  # in the rows, before symmetric ones were merged
    n_canonical: int  # boards up to symmetry
    n_raw: int  # distinct boards, every symmetric image counted
    best_score: int | None
    best_boards: tuple[str, ...]  # with this score

    @classmethod
    def of(cls, boards: Sequence[ListedBoard], n_candidates: int) -> BoardList:
        """Return the list of these boards, best first, with its counts."""
        best_score = None
        if boards:
            best_score = boards[0].score
        best_boards = tuple(item.board for item in boards if item.score == best_score)
        n_raw = sum(map(attrgetter("n_images"), boards))
        counts = n_candidates, len(boards), n_raw
        return cls(tuple(boards), *counts, best_score, best_boards)


@dataclass(frozen=True)
class Wording:
    """How sentences name a question and its list."""

    wordlist: str
    n_words: int  # usable words of the list
    scores: str
    # lines of its file that can be on no board, by reason; old runs: None
    left_out: dict[str, int] | None = None
    # beyond a-z, by the symbol that stands for them
    letters: dict[str, str] = field(default_factory=dict)
    condition: str = ""  # on which the answer rests, see claim.taken_over
    later: str = ""  # what else decides how a board scores, such as ``, wraps = 1``

    @classmethod
    def of(cls, question: Question, told: ListTold, condition: str = "") -> Wording:
        """Return the wording of a question, with the name that is ``told`` if the list is the one
        that goes by it.

        What is said of a well-known list comes from its SHA-256, and not from what is told.
        """
        scores = points_in_words(question.points)
        later = "".join(f", {name} = {value}" for name, value in question.scored.later)
        known = sources().get(known_name(question.words_sha256) or "")
        if not known:
            name = list_name(told.name, question.words_sha256)
            counts = told.n_words, scores, told.left_out, told.letters
            return cls(name, *counts, condition, later)
        # older runs do not say what was left out
        if told.left_out is None:
            left_out = None
        else:
            left_out = known.left_out
        counts = known.n_words, scores, left_out, known.letters or {}
        return cls(known.name, *counts, condition, later)

    def short(self, question: Question) -> str:
        """Return what is asked, in a line.

        >>> from orderly_boggle.search.question import ask
        >>> question = ask("3x3", "0" * 64, "words", 500, "abcdefghijklmnopqrstuvwxyz")
        >>> Wording("mine", 12, "words").short(question)
        '3x3, mine and one point a word, cutoff 500'
        """
        return f"{question.dims}, {self.rules}, cutoff {question.cutoff:,}"

    def long(self, question: Question) -> str:
        """Return what is asked, with everything that it depends on but the letter buckets."""
        words = ""
        if self.n_words:
            words = f", {counted(self.n_words, 'word')}"
        return (
            f"{question.dims} boards, word list {self.wordlist}{words}, {self.points}, "
            f"cutoff {question.cutoff:,}"
        )

    @property
    def points(self) -> str:
        """How a sentence names the points, and what else decides how a board scores.

        >>> Wording("mine", 12, "standard", later=", wraps = 1").points
        'standard points, wraps = 1'
        """
        if self.scores == "words":
            return f"one point a word{self.later}"
        return f"{self.scores} points{self.later}"

    @property
    def score_table(self) -> str:
        """How a table names the points."""
        return f"{self.scores}{self.later}"

    @property
    def rules(self) -> str:
        """What a sentence calls the list, and the points where they are not the usual ones.

        >>> Wording("enable2k", 173_402, "words").rules
        'enable2k and one point a word'
        """
        usual = self.scores == "standard"
        if usual and not self.later:
            return self.wordlist
        return f"{self.wordlist} and {self.points}"


class State(StrEnum):
    """What is said of a run in one word."""

    PROVEN = "proven"  # its rows prove the answer
    FAULTY = "faulty"  # its rows contradict each other or the run: more searching does not help
    REFUTED = "refuted"  # they contradict what a run proves that comes with the program
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
    # an error stands above all: what was known before is of other files
    if error:
        return State.UNREADABLE
    # a driver at work changes nothing about these
    if rows in (State.PROVEN, State.FAULTY, State.REFUTED):
        return rows
    if is_running:
        return State.RUNNING
    return rows or State.READING


@dataclass(frozen=True)
class Summary:
    """How far a run is and what it proves."""

    question: Question
    wording: Wording  # how ``run.json`` names what was asked
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
    rests_on: str = ""  # what it was read from, if not from the rows just now
    is_refuted: bool = False  # whether a run that comes with the program says otherwise
    # the board that the cutoff was climbed to, as ``run.json`` tells, while the rows list none
    from_climb: ListedBoard | None = None

    @property
    def n_stored(self) -> int:
        """Number of rows."""
        return sum(self.n_rows.values())

    @property
    def state(self) -> State:
        """The state that the rows show: proven, refuted, faulty or incomplete, whether or not a
        driver works on the run.
        """
        if self.proven:
            return State.PROVEN
        if self.is_refuted:
            return State.REFUTED
        if self.is_faulty:
            return State.FAULTY
        return State.INCOMPLETE

    @property
    def fault(self) -> str:
        """Why more searching does not help, in short; empty where it may."""
        if self.is_refuted:
            return f"it is {REFUTED}"
        if self.is_faulty:
            return "its rows do not fit together"
        return ""

    @property
    def caveat(self) -> str:
        """What to say with whatever is shown of a run that is not proven; else empty."""
        if self.proven:
            return ""
        return f"found so far, not proven: {self.why_not}"

    @property
    def best_known(self) -> str:
        """What to say of the board that the cutoff was climbed to, while the search has found none;
        else empty.
        """
        if self.from_climb is None:
            return ""
        board = with_letters(self.from_climb.board, self.wording.letters)
        return f"{counted(self.from_climb.score, 'point')}: {board}, from the climb"

    def require_proven(self, where: str) -> None:
        """Say that what was shown of the run is not proven.

        Raises IncompleteError, MismatchError when it is not; the latter when the rows are faulty.
        """
        if not self.proven:
            raise (MismatchError if self.is_faulty else IncompleteError)(f"{where}: {self.caveat}")


def distinct_names(locations: Sequence[str | Path]) -> list[str]:
    """Return a distinct name for each run: its folder's, or the whole location where folders have
    the same name.  Raises InputError when a run is given twice.
    """
    texts = []
    short = []
    for location in locations:
        text = str(location).rstrip("/") or "/"
        texts.append(text)
        short.append(text.rpartition("/")[2] or text)
    # short names where they are distinct: a table of runs is read by them
    if len(set(short)) == len(short):
        names = short
    else:
        names = texts
    if len(set(names)) < len(names):
        raise InputError(f"run directory {quote(max(names, key=names.count))} is given twice")
    return names


def standing(dims: str, wording: Wording, rank: int = 1, n_equal: int = 1, so_far: str = "") -> str:
    """Return in one sentence where a listed board stands; ``rank`` counts the better ones,
    ``n_equal`` those like it.

    Only where the rows prove that all boards are listed may ``so_far`` be empty; else
    :func:`searched` tells it.
    """
    if so_far:
        # without a proof no board is "the best": one that is not searched yet may beat it
        if rank == 1:
            return f"The best found so far; {so_far}."
        return f"Number {rank:,} of those found so far."
    if rank > 1:
        place = f"Number {rank:,} of all {dims} boards with {wording.rules}, up to symmetry"
        return f"{place}{wording.condition}."
    equal = f"; {counted(n_equal - 1, 'other scores', 'others score')} as much, up to symmetry"
    others = 26 ** parse_dims(dims).n - 1
    return (
        f"With {wording.rules} none of the other {others:,} {dims} boards beats "
        f"it{equal if n_equal > 1 else ''}{wording.condition}."
    )


def searched(n_done: int, n_classes: int, fault: str = "") -> str:
    """Return how much a run has searched that proves nothing yet; of one with a fault, which."""
    if fault or not n_classes:
        return fault or "nothing is proven"
    return (
        f"{n_done:,} of {counted(n_classes, 'class is', 'classes are')} done "
        f"({percent(n_done, n_classes)})"
    )
