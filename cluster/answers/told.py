"""What pages and JSON are told of boards, classes and runs: the types of the answers.

``python -m tests.bench.page_types`` writes them down for the type check of the JavaScript
(``cluster/web/answers.d.ts``); a test compares.  Cells are numbered down the columns.

>>> sorted(Climb.__annotations__)
['complete', 'found', 'pool']
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict


class Word(TypedDict):
    """A word on a board, its points and letters, and the cells of a path."""

    word: str
    points: int
    letters: int
    path: Sequence[int]


class Game(TypedDict):
    """How a board is played; of a page that is one file."""

    minutes: float  # 0: no limit
    least: int  # letters of a word that counts
    goal: int  # words to find; 0: none


class BoardRecord(TypedDict):
    """A board and its words."""

    board: str
    dims: str
    wordlist: str
    wordlist_sha256: str
    score: int
    letters: Mapping[str, str]
    n_words: int
    words: Sequence[Word]


class Playable(TypedDict):
    """A board that can be looked at and played on."""

    rows: Sequence[Sequence[str]]
    words: Sequence[Word]
    wordlist: str
    letters: Mapping[str, str]  # beyond a-z, by symbol
    heat: NotRequired[Sequence[int]]
    values: NotRequired[Sequence[int | None]]
    bonus: NotRequired[Sequence[str | None]]
    common: NotRequired[Sequence[str]]  # those of the words that most people know
    least: int  # letters of the shortest words that are worth points
    uncounted: Sequence[str]  # words of the list on the board that are worth none


class Told(Playable, BoardRecord):
    """What a page shows of a board: GET /api/board, /api/game."""

    cells: Sequence[str]
    place: str
    usual: str | None  # in symbols, when the board has one letter in each cell
    canonical: NotRequired[str]
    dice: NotRequired[str]


class Around(TypedDict):
    """A board with one letter changed: GET /api/around."""

    scores: Sequence[Sequence[int]]  # a row for each cell
    best: Sequence[tuple[str, str, int, int]]  # board, change, score, difference


class Climb(TypedDict):
    """The boards that a climb found: GET /api/climb."""

    found: Sequence[tuple[str, int]]
    pool: int
    complete: bool  # the last pool was climbed out


class Placed(TypedDict):
    """A board that a run lists, drawn, and a sentence on its place."""

    board: str
    typed: str
    score: int
    svg: str
    said: str


class Pulse(TypedDict):
    """What is going on in a run: GET /api/runs, /api/runs/KEY."""

    key: str
    name: str
    version: str
    state: str
    error: str
    dims: str | None
    question: str
    line: str
    claim: str
    share: float | None
    percent: str
    done: str
    best: Placed | None
    said: str
    now: Sequence[tuple[str, str, bool]]
    busy: Sequence[Sequence[str]]
    to_come: str


class RowsTold(TypedDict):
    """What the rows of a run prove: GET /api/runs/KEY/proven; as long as they were not
    read there is no ``dims``, and nothing is told.
    """

    version: str
    dims: str | None
    read_at_s: float
    proven: bool
    notes: Sequence[str]
    boards: Sequence[Placed]
    boards_told: str
    map: tuple[str, str]
    cost: str
    check: Sequence[tuple[str, str, bool]]


PAGES = (Word, Game, Playable, Told, Around, Climb, Placed, Pulse, RowsTold)
