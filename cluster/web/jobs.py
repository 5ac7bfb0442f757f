"""What is computed about boards and classes, in processes apart from the server (job_queue.py)."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import Field

from orderly_boggle.boardclass.board import NO_LETTERS, format_rows, with_letters
from orderly_boggle.boardclass.board_svg import SIZE, board_svg
from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.geometry import cell_name
from orderly_boggle.boardclass.printable import counted, duration
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import (
    DEFAULT_WORDLIST,
    WordList,
    available_names,
    known_name,
    load_wordlist,
)
from orderly_boggle.cluster.answers.classes import class_letters
from orderly_boggle.cluster.answers.run_view import Drawn, Reading
from orderly_boggle.cluster.boards.dicesets import load_dice
from orderly_boggle.cluster.boards.scoring import Scoring, rolled, scorer_of
from orderly_boggle.cluster.boards.typed import read_board
from orderly_boggle.results.proof.claim import read_claim, wording_of
from orderly_boggle.results.store.run import Run, open_run
from orderly_boggle.search.explain import as_svg, as_text, narrate, story_of, trees

if TYPE_CHECKING:
    from orderly_boggle.cluster.answers.told import Around, Climb, Told
    from orderly_boggle.results.reading.sql import Database
    from orderly_boggle.search.explain import Story
    from orderly_boggle.search.scoring.scorer import Scorer

N_BOARDS = 16
MAX_TILES = 1200
MAX_MAPPED = 400_000  # classes that are looked at one by one
LEAST_WIDE = 32  # tiles in a row
_SVG = "http://www.w3.org/2000/svg"
_TOTALS = (
    "SELECT sum(seconds) AS seconds, count(*) AS units, count(DISTINCT host) AS hosts FROM classes"
)
N_NEAR = 8
N_CLIMBED = 6
CLIMB_S = 8.0
_POOLS = (1, 8, 32, 128)  # the first one only climbs straight up; each gets the time that is left


def words_of(name: str, plain_q: bool | None = False) -> WordList:
    """Return a word list by name, never by path. Raises InputError when there is none."""
    # never a path: a page must not read files of the machine that serves it
    names = available_names()
    if name not in names:
        raise InputError(f"no word list named {quote(name)}: expected one of {', '.join(names)}")
    return load_wordlist(names[name], plain_q=plain_q)


def list_of_run(run: Run) -> str:
    """Return the name of the word list that a run was searched with; InputError when it is not here
    under its name.
    """
    sha256 = run.question.words_sha256
    said = wording_of(run).wordlist
    # by its bytes: a list of the same name may be another edition
    known = known_name(sha256)
    for name in (known, said):
        if name in available_names() and words_of(name).sha256 == sha256:
            return name
    way_out = "put it where $ORDERLY_WORDLISTS says"
    if known:
        way_out = f"orderly wordlist get {known} fetches it"
    raise InputError(
        f"this board is of a run with the word list {quote(known or said)}, which is not here, "
        f"and no other list gives its score: {way_out}; or choose another list"
    )


_Small = Annotated[int, Field(ge=0, lt=1000)]


@dataclass(frozen=True)
class BoardRequest:
    """A board as it was typed, and the rules, by the names that pages ask with; the list of a run
    counts, if the location of one is given, and its points, if no others are.

    ``word`` is one whose path is drawn into a picture; ``hidden``: a page has its words after the
    game; ``dice`` and ``goal``: which dice are rolled, until so many words that most people know
    are on the board.
    """

    letters: str = ""
    size: str | None = None
    list: str = DEFAULT_WORDLIST
    location: str = ""
    scores: str = ""  # by default those of the run, or of the box of dice, or the usual ones
    plain_q: bool = False
    min_letters: _Small | None = None
    letter_values: str | None = None
    bonus: str | None = None
    word: str = ""
    hidden: bool = False
    dice: str = ""
    goal: _Small = 0

    @property
    def scoring(self) -> Scoring:
        """The list and the rules."""
        run = None
        if self.location:
            run = open_run(self.location)
        if run:
            name = list_of_run(run)
        else:
            name = self.list
        if run and not self.scores:
            if run.question.later:
                raise InputError(
                    f"boards of this run score by {quote(run.question.later)}, which the board "
                    "page does not know: name points (scores) to see them with these"
                )
            table = run.question.table
        else:
            box = "standard"
            if self.dice:
                box = load_dice(self.dice).scores
            table = parse_scores(self.scores or box)
        words = words_of(name, plain_q=None)
        path = available_names()[name]
        rules = table.at_least(self.min_letters), self.plain_q, self.letter_values, self.bonus
        return Scoring(words, path, *rules)

    def usual(self) -> tuple[str, Scorer, Mapping[str, str]]:
        """Return a board that the fast scorer takes, in symbols, with the scorer and the letters
        that symbols stand for.
        """
        scoring = self.scoring
        words = scoring.words
        if self.plain_q or self.letter_values or self.bonus or words.plain_q:
            raise InputError(
                "climbing and changed letters need the usual rules: no plain Q, "
                "letter values or bonus"
            )
        dims, letters = read_board(self.letters, self.size, letters=words.letters)
        return letters, scoring.scorer(dims), words.letters


def score_board(request: BoardRequest) -> Told:
    """Return what ``Scoring.described`` says of a board."""
    scoring = request.scoring
    board = scoring.read(request.letters, request.size)
    return scoring.described(board, scoring.solve(board, again=True))


def roll_game(request: BoardRequest) -> Told:
    """Return what ``score_board`` tells of a fresh board of some dice, to play on."""
    scoring = request.scoring
    rng = random.SystemRandom()
    (board,) = rolled(scoring, load_dice(request.dice), rng, min_words=request.goal, common=True)
    return scoring.described(board, scoring.solve(board))


def draw(request: BoardRequest) -> str:
    """Return a board as an SVG file, warm where the points are, with the path of a word on it if
    one is given.
    """
    board = score_board(request)
    paths = {item["word"]: item["path"] for item in board["words"]}
    path = paths.get(request.word.lower(), ())
    return board_svg(board["rows"], board["heat"], path, cell_px=2 * SIZE, styled=True)


def page(request: BoardRequest) -> str:
    """Return a board as a page of its own, to look at and to play on."""
    from orderly_boggle.cluster.web.board_page import board_page

    return board_page(score_board(request), hidden=request.hidden)


def around_board(request: BoardRequest) -> Around:
    """Return the score with each letter in each cell (rows: cells), and the best boards one step
    away.
    """
    from orderly_boggle.search.scoring.scorer import best_neighbours, letter_scores

    board, scorer, names = request.usual()
    near = best_neighbours(board, scorer, N_NEAR, names)
    return {"scores": letter_scores(board, scorer), "best": near}


def climb_from(request: BoardRequest) -> Climb:
    """Return the best boards that climbing from a board found in a few seconds, in ever larger
    pools; ``complete``: the last, of ``pool`` boards, was climbed out.
    """
    from orderly_boggle.search.local.methods import local_search

    board, scorer, names = request.usual()
    end_s = time.monotonic() + CLIMB_S
    scores: dict[str, int] = {}
    pool = _POOLS[0]

    def late() -> bool:
        return bool(scores) and time.monotonic() > end_s

    for size in _POOLS:
        for find in local_search(scorer, "pool", pool=size, start=board, stop=late):
            scores[find.board] = find.score
        if is_late := late():
            break
        pool = size
    best_first = sorted(scores, key=lambda text: (-scores[text], text))
    best = best_first[:N_CLIMBED]
    found = [(with_letters(text, names), scores[text]) for text in best]
    return {"pool": pool, "complete": not is_late, "found": found}


class ClassTold(NamedTuple):
    """What the page of a class shows: its bounds, those with one cell forced, the whole story."""

    bounds: Story
    forced: list[tuple[str, int]]
    lines: list[str]


def class_story(text: str, wordlist: str, cutoff: int | None) -> ClassTold:
    """Return what there is to say about a class given as one group of letters a cell."""
    dims, letters = class_letters(text, None, None)
    story = story_of(dims, letters, scorer_of(str(dims), words_of(wordlist).words), cutoff)
    forced = []
    for item in story["forced"]:
        name = cell_name(item["cell"], dims.h)
        forced.append((f"{name} = {item['letter']}", item["bound"]))
    return ClassTold(story, forced, list(narrate(story, forced=False)))


def class_trees(text: str, wordlist: str) -> list[dict[str, str]]:
    """Return both trees of a small class, drawn and as text. Raises InputError when one is too
    large to look at.
    """
    dims, letters = class_letters(text, None, None)
    words = words_of(wordlist)
    loose, orderly = trees(letters, words, scorer_of(str(dims), words.words))
    shown = []
    for kind, node in (
        ("Orderly tree: every term once", orderly),
        ("Sum/Choice tree: every path", loose),
    ):
        title = f"{kind}, bound {node.bound:,}"
        # a tree in a picture says nothing to a screen reader; its text does
        named = f'<svg role="img" aria-label="{title}. The same as text follows."'
        svg = as_svg(node, styled=False).replace("<svg", named, 1)
        shown.append({"title": title, "svg": svg, "text": as_text(node)})
    return shown


def read_run(location: str) -> Reading:
    """Return what the rows of a run give."""
    from orderly_boggle.results.reading.sql import Database
    from orderly_boggle.results.storage.local import disk_use

    run = open_run(location)
    database = Database([("run", run)])
    result = database.summaries["run"]
    # nothing where the rows say otherwise
    claim = None
    if result.proven and not result.notes:
        claim = read_claim(run)
    letters = result.wording.letters
    (seconds, n_units, n_hosts), *_ = database.query(_TOTALS).rows
    boards = []
    for board, score, _ in result.listed.boards[:N_BOARDS]:
        svg = picture(board, result.question.dims, letters)
        boards.append(Drawn(board, score, with_letters(board, letters), svg))
    reading = Reading(
        # a reading goes from one process to another: a run may list a million boards
        answer=replace(result, listed=replace(result.listed, boards=())),
        boards=boards,
        strength=claim.strength if claim else "",
        seconds=float(seconds or 0.0),
        n_units=int(n_units or 0),
        n_hosts=int(n_hosts or 0),
        map=class_map(run, database),
        disk=disk_use(run.folder),
    )
    # at once: the process stays, and the tables may be large
    database.close()
    return reading


def picture(board: str, dims: str, letters: Mapping[str, str] = NO_LETTERS) -> str:
    """Return the drawing of a board for a page with a strict content policy, all cells alike."""
    return board_svg(format_rows(board, dims, letters), strict=True)


def class_map(run: Run, database: Database) -> tuple[str, str]:
    """Return a drawing of the classes, cut into at most ``MAX_TILES`` tiles of one size, and what
    it shows in a sentence; no drawing if they are too many to look at one by one.
    """
    import numpy as np

    from orderly_boggle.results.reading.report import COSTS

    partition = run.partition
    if partition.n_canonical > MAX_MAPPED:
        return "", "There are too many classes to draw one by one."
    ids = np.concatenate(list(partition.canonical_ranks()))
    n_tiles = min(MAX_TILES, len(ids))
    # tiles of one size, whatever the number: the last one is not a rest of a few classes
    tile_of = np.arange(len(ids)) * n_tiles // len(ids)
    begun = np.isin(ids, run.index.done_ids())
    unsettled = set()
    for class_id, _ in (*run.index.pending(), *run.index.quarantined, *run.conflicts):
        unsettled.add(class_id)
    done = begun & ~np.isin(ids, list(unsettled))
    costs = {}
    for class_id, seconds, n in database.query(COSTS).rows:
        costs[class_id] = seconds, n
    figures = [costs.get(class_id, (0, 0)) for class_id in ids.tolist()]
    seconds, candidates = np.nan_to_num(np.array(figures, np.float64)).T
    columns = (np.ones(len(ids)), done, begun, candidates, seconds)
    of_columns = [np.bincount(tile_of, values, n_tiles) for values in columns]
    sums = np.array(of_columns)
    first = ids[np.searchsorted(tile_of, np.arange(n_tiles))]
    width = max(LEAST_WIDE, math.ceil(math.sqrt(4 * n_tiles)))
    # of a run that has searched nothing yet all costs are 0
    most_s = max(sums[-1].max(), 1e-9)
    drawn = []
    for tile, of_tile in enumerate(sums.T.tolist()):
        # the root: costs are skewed, and a linear scale would leave all but a few tiles pale
        shade = min(4, 1 + int(4 * math.sqrt(of_tile[-1] / most_s)))
        y, x = divmod(tile, width)
        drawn.append(_tile(10 * x, 10 * y, int(first[tile]), of_tile, shade))
    each = f"each tile stands for about {round(len(ids) / n_tiles):,} classes"
    told = (
        f"{counted(len(ids), 'class', 'classes')} in the order of their numbers, "
        f"{each if len(ids) > n_tiles else 'each tile is a class'}: {int(done.sum()):,} done, "
        f"boards found in {counted(int(sums[3].astype(bool).sum()), 'tile')}, "
        f"{duration(sum(seconds))} of wall time."
    )
    box = f"0 0 {10 * width} {10 * math.ceil(n_tiles / width)}"
    return f'<svg xmlns="{_SVG}" viewBox="{box}">{"".join(drawn)}</svg>', told


def _tile(x: int, y: int, first: int, sums: Sequence[float], shade: int) -> str:
    """Return the square of some classes, filled up as far as they are done."""
    *counts, seconds = sums
    n, done, begun, found = map(int, counts)
    if n > 1:
        told = f"{n:,} classes from number {first:,}"
    else:
        told = f"Class {first:,}"
    state = "open"
    if begun:
        state = f"{done:,} done, {begun - done:,} begun"
    told += f": {'done' if done == n else state}, {duration(seconds)}"
    shapes = f'<rect x="{x}" y="{y}" width="9" height="9"/>'
    if done:
        height = 9 * done / n
        shapes += (
            f'<rect class="s{shade}" x="{x}" y="{y + 9 - height:.4g}" width="9" '
            f'height="{height:.2g}"/>'
        )
    if found:
        told += f", {counted(found, 'candidate')} found"
        shapes += f'<circle cx="{x + 4.5}" cy="{y + 4.5}" r="2"/>'
    return f"<g><title>{told}</title>{shapes}</g>"
