"""What is computed about boards and classes, in processes apart from the server: plain values in, plain values out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from boardclass.board import LETTERS, format_rows, in_symbols, parse_board
from boardclass.canonical import canonical_board
from boardclass.errors import InputError, OrderlyError, quote
from boardclass.geometry import geometry
from boardclass.scores import ScoreTable, parse_scores
from boardclass.tracing import trace
from boardclass.wordlist import WordList, available_names, known_name, load_wordlist
from results.proof.claim import question_of
from results.reading.limits import GRACE_S, Limits, limited
from results.store.run import Run, open_run

if TYPE_CHECKING:
    from search.paper.teaching import TreeNode
    from search.scoring.scorer import Scorer

N_NEAR = 8
N_CLIMBED = 6
CLIMB_S = 8.0
_POOLS = (1, 8, 32, 128)  # the first one only climbs straight up; each gets the time that is left


def bounded(job: Callable[..., Any], values: Sequence[Any], seconds: float, memory_mb: int) -> dict[str, Any]:
    """Return what a job answers, or why it was refused; the process ends when it takes more than it may."""
    try:
        with limited(Limits(max(0.1, seconds - GRACE_S), memory_mb), _nothing, "orderly: an answer took too long"):
            return {"answer": job(*values)}
    except OrderlyError as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"refused": f"it takes more than {memory_mb} MiB: ask for less"}
    except Exception as error:  # noqa: BLE001 - a bug of ours must not be asked for again and again
        return {"refused": f"internal error, {type(error).__name__}: {error}"}


def _nothing() -> None:
    """Nothing hears an interruption here: the process is ended a little later."""


def warm(wordlist: str) -> None:
    """Load what the first question would have to wait for."""
    scorer_of("3x3", wordlist)[0].score("berlatdes")


def words_of(name: str) -> WordList:
    """Return a word list by name; a path is not a name.

    Raises
    ------
    InputError
        When there is none.
    """
    names = available_names()
    if name not in names:
        raise InputError(f"no word list named {quote(name)}: expected one of {', '.join(names)}")
    path = names[name]
    return _loaded(str(path), path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _loaded(path: str, _changed_ns: int) -> WordList:
    return load_wordlist(path)


def list_of_run(run: Run) -> str:
    """Return the name of the word list that a run was searched with: no other one gives the scores of its boards.

    Raises
    ------
    InputError
        When it is not here under its name.
    """
    sha256, said = run.fingerprint.wordlist_sha256, question_of(run).wordlist
    known = known_name(sha256)
    for name in (known, said):
        if name in available_names() and words_of(name).sha256 == sha256:
            return name
    way_out = f"orderly wordlist get {known} fetches it" if known else "put it where $ORDERLY_WORDLISTS says"
    raise InputError(
        f"this board is of a run with the word list {quote(known or said)}, which is not here, and no other list gives "
        f"its score: {way_out}; or choose another list"
    )


def scorer_of(dims: str, name: str, location: str = "") -> tuple[Scorer, WordList]:
    """Return a scorer with its word list: of a run, if the location of one is given, else for standard points.

    The last few are kept.
    """
    points = parse_scores("standard").points
    if location:
        run = open_run(location)
        name, points = list_of_run(run), tuple(run.fingerprint.scores)
    words = words_of(name)
    return _scorer(dims, name, words.sha256, points), words


@lru_cache(maxsize=6)
def _scorer(dims: str, name: str, _sha256: str, points: tuple[int, ...]) -> Scorer:
    from search.scoring.scorer import Scorer

    return Scorer(dims, words_of(name).words, ScoreTable("run", points))


def score_board(board: str, dims: str, wordlist: str, location: str = "") -> dict[str, Any]:
    """Return score and words of a board, each with a path, the points through each cell, and the dice that show it."""
    from cluster.answers.boards import board_record, rollable_text, words_on
    from cluster.answers.render import heat_of_cells

    board = parse_board(board, dims)
    scorer, words = scorer_of(dims, wordlist, location)
    found = words_on(board, scorer)
    return {
        **board_record(board, words, found),
        "canonical": canonical_board(board, geometry(dims)),
        "heat": heat_of_cells(len(board), ((word.points, word.path) for word in found)),
        "dice": rollable_text(board),
    }


def draw(board: str, dims: str, wordlist: str, location: str = "", word: str = "") -> str:
    """Return a board as an SVG file, warm where the points are, with the path of a word if one is given."""
    from boardclass.board_svg import SIZE, board_svg

    told = score_board(board, dims, wordlist, location)
    spelled = in_symbols(word.lower(), told["letters"]).replace("qu", "q")
    path = trace(spelled, told["board"], geometry(dims)) or ()
    faces = format_rows(told["board"], dims, told["letters"])
    return board_svg(faces, told["heat"], path, cell_px=2 * SIZE, styled=True)


def around_board(board: str, dims: str, wordlist: str, location: str = "") -> dict[str, Any]:
    """Return the score with each letter in each cell (rows: cells), and the best boards one step away."""
    from cluster.answers.boards import best_neighbours

    board = parse_board(board, dims)
    scorer, _ = scorer_of(dims, wordlist, location)
    changed = [board[:cell] + letter + board[cell + 1 :] for cell in range(len(board)) for letter in LETTERS]
    scores = [int(value) for value in scorer.scores(changed)]
    n = len(LETTERS)
    near = best_neighbours(board, scorer, N_NEAR)
    return {
        "scores": [scores[cell * n : (cell + 1) * n] for cell in range(len(board))],
        "best": [dict(zip(("board", "change", "score", "difference"), row, strict=True)) for row in near],
    }


def climb_from(board: str, dims: str, wordlist: str, location: str = "") -> dict[str, Any]:
    """Return the best boards that climbing from a board found in a few seconds, in ever larger pools."""
    from search.local.climb import climb

    board = parse_board(board, dims)
    scorer, _ = scorer_of(dims, wordlist, location)
    end_s = time.monotonic() + CLIMB_S
    found: dict[str, int] = {}
    pool, is_whole = 0, True

    def told(_number: int, _best: int, _n_scored: int) -> None:
        if found and time.monotonic() > end_s:
            raise TimeoutError

    for size in _POOLS:
        try:
            found |= climb(scorer, pool=size, start=board, progress=told)
            pool = size
        except TimeoutError:
            is_whole = False
            break
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:N_CLIMBED]
    return {"pool": pool, "complete": is_whole, "found": [{"board": text, "score": score} for text, score in best]}


def class_story(text: str, wordlist: str, cutoff: int | None) -> dict[str, Any]:
    """Return what there is to say about a class given as one group of letters a cell: bounds and the whole story."""
    from cluster.answers.boards import class_letters
    from cluster.answers.explain import narrate, tell

    dims, letters = class_letters(text, None, None)
    story = tell(dims, letters, scorer_of(str(dims), wordlist)[0], cutoff)
    return {**story, "lines": list(narrate(story))}


def class_trees(text: str, wordlist: str) -> list[dict[str, Any]]:
    """Return the Sum/Choice tree and the orderly tree of a small class, drawn and as text.

    Raises
    ------
    InputError
        When one is too large to look at.
    """
    from cluster.answers.boards import class_letters
    from cluster.answers.explain import trees

    dims, letters = class_letters(text, None, None)
    loose, orderly = trees(letters, words_of(wordlist), scorer_of(str(dims), wordlist)[0])
    return [_drawn("Orderly tree: every term once", orderly), _drawn("Sum/Choice tree: every path", loose)]


def _drawn(title: str, node: TreeNode) -> dict[str, Any]:
    from cluster.answers.explain import as_svg, as_text

    return {"title": title, "bound": node.bound, "svg": as_svg(node, styled=False), "text": as_text(node)}
