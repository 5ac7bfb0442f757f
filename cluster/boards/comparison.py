"""The boards of a run beside those of a file, whatever their rotation."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from orderly_boggle.boardclass.board import NO_LETTERS, with_letters
from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.errors import BoardError, InputError, quote
from orderly_boggle.boardclass.geometry import Geometry
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.cluster.boards.scoring import read_lines
from orderly_boggle.cluster.boards.typed import read_board
from orderly_boggle.results.proof.summary import Summary
from orderly_boggle.search.scoring.scorer import Scorer

MAX_FILE_BYTES = 2**26  # of a list to compare with
BOTH, ONLY_HERE, ONLY_THERE, BELOW = PLACES = ("both", "only here", "only there", "below cutoff")


class Compared(NamedTuple):
    """A board of the run or of the file; ``score`` is exact, ``file_score`` what the file says."""

    where: str
    board: str
    score: int | None
    file_score: int | None


class Comparison:
    """What a run lists beside what a file lists.

    ``make_scorer`` makes what scores the boards that only the file has, if there are any; None:
    what the file says of them counts.  Those below the cutoff of the run are told apart: the run
    says nothing about them.
    """

    def __init__(
        self,
        result: Summary,
        listed: Mapping[str, int | None],
        make_scorer: Callable[[], Scorer | None],
    ) -> None:
        here = {item.board: item.score for item in result.listed.boards}
        others = list(listed.keys() - here.keys())
        scores = dict(here)
        if others and (scorer := make_scorer()):
            scores |= zip(others, scorer.scores(others).tolist(), strict=True)
        self.rows: list[Compared] = []
        for board in here.keys() | listed.keys():
            score = scores.get(board)
            file_score = listed.get(board)
            if board in listed:
                where = BOTH
            else:
                where = ONLY_HERE
            if board not in here:
                if score is None:
                    value = file_score
                else:
                    value = score
                is_below = value is not None and not reaches(value, result.question.cutoff)
                if is_below:
                    where = BELOW
                else:
                    where = ONLY_THERE
            shown = with_letters(board, result.wording.letters)
            self.rows.append(Compared(where, shown, score, file_score))
        self.rows.sort(key=_place)
        tally = Counter(row.where for row in self.rows)
        self.counts = {where: tally[where] for where in PLACES}

    @property
    def sentence(self) -> str:
        """How many boards are where, and how many scores differ, in a sentence."""
        shown = {}
        for name, n in self.counts.items():
            if n or name != BELOW:
                shown[name] = n
        tally = ", ".join(f"{n:,} {name}" for name, n in shown.items())
        scored = []
        for row in self.rows:
            if row.score is not None and row.file_score is not None:
                scored.append(row)
        n_differing = sum(row.score != row.file_score for row in scored)
        if not n_differing:
            return tally
        return f"{tally}; {n_differing:,} with another score: another word list or score table?"


def _place(row: Compared) -> tuple[int, int, str]:
    return PLACES.index(row.where), -(row.score or row.file_score or 0), row.board


def read_boards(
    path: str, shape: Geometry, letters: Mapping[str, str] | None = None
) -> dict[str, int | None]:
    """Return the boards of a file by canonical form, each with the score that the file gives, if
    any.

    Raises InputError if the file cannot be read or a line is not a board; the message gives the
    line.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot read the boards in {quote(path)}: {reason}; check the path"
        ) from error
    if len(data) > MAX_FILE_BYTES:
        raise InputError(
            f"{quote(path)} has more than {MAX_FILE_BYTES // 2**20} MiB: expected a list of boards"
        )
    scores: dict[str, int | None] = {}
    for number, text, score in read_lines(data, dims=shape.dims):
        try:
            board = read_board(text, shape.dims, letters=letters or NO_LETTERS)[1]
        except BoardError as error:
            raise BoardError(f"{path}, line {number}: {error}") from error
        scores[canonical_board(board, shape)] = score
    return scores
