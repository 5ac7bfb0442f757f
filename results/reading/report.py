"""The report of a run: one HTML page that needs nothing else, readable for years, on paper and on a phone.

    render(run, scorer) -> facts and boards (here), times (work.py) -> charts.py (SVG) -> templates/report.html.j2

The page carries its data, style and script; a content security policy forbids it to fetch anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from boardclass.board import LETTERS, format_rows
from boardclass.board_svg import STYLE, board_svg
from boardclass.canonical import canonical_board
from boardclass.distribution import install
from boardclass.errors import InputError
from boardclass.geometry import geometry
from boardclass.printable import printable
from boardclass.scores import n_letters
from results.log import live
from results.proof.prove import NodesOf
from results.reading.query import Summary
from results.reading.sql import Database
from results.reading.stages import read_stages
from results.reading.state import State, state_of
from results.reading.work import dear_classes, records, search_charts, time_charts
from results.store.run import Run

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_LISTED = 500
_NEAR = _DEAR = 5


class FoundLike(Protocol):
    """A word on a board."""

    @property
    def word(self) -> str:
        """In q-form."""

    @property
    def points(self) -> int:
        """Points."""

    @property
    def path(self) -> tuple[int, ...]:
        """Cells of one way to spell it."""


class WordScorer(Protocol):
    """An exact scorer that also tells the words."""

    def scores(self, boards: list[str]) -> Any:
        """Return int32[m]: the exact score of each board."""

    def words(self, board: str) -> Sequence[FoundLike]:
        """Return the words on a board."""


class Page(NamedTuple):
    """A report as HTML, and what it is about."""

    html: str
    found: Summary


def render(run: Run, scorer: WordScorer, n_boards: int = 6, nodes_of: NodesOf | None = None) -> Page:
    """Return the report of a run.

    Parameters
    ----------
    run : Run
    scorer : WordScorer
        For the word list and score table of the run.
    n_boards : int
        How many of the best boards are drawn with their words.
    nodes_of : callable, optional
        That of :func:`results.reading.query.summary`.

    Raises
    ------
    InputError
        When the packages that draw it are not installed.
    StoreError
        When the run is damaged.
    """
    try:
        import jinja2

        from results.reading import charts
    except ImportError as error:
        raise InputError(f"the report needs {error.name}: {install('report')}") from error
    database = Database([("run", run)], nodes_of)
    found = database.summaries["run"]
    (work,) = records(database, _WORK)
    values = {
        "found": found,
        "board_style": STYLE.read_text(encoding="utf-8"),
        "facts": _facts(found, state_of(found.state, is_running=live(run.folder).is_running)),
        "boards": [_drawn(item.board, item.score, scorer, found) for item in found.listed.boards[:n_boards]],
        "listed": found.listed.boards[:_LISTED],
        "coverage": _coverage(found, database),
        "hosts": records(database, _HOSTS),
        "work": work,
        "time": time_charts(charts, found, database, read_stages(run)),
        "dear": dear_classes(found, database, _DEAR) if work["seconds"] else [],
        "charts": search_charts(charts, found, database),
        "sensitivity": _sensitivity(charts, found, scorer),
    }
    database.close()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: printable(value, "\n") if type(value) is str else value,  # our own markup is never a str
    )
    return Page(environment.get_template("report.html.j2").render(values), found)


_HOSTS = """
    SELECT host, cpu, count(*) AS units, sum(seconds) AS seconds, max(peak_rss_bytes) / 2**20 AS peak_mib,
           string_agg(DISTINCT kernel_hash, ' ') AS kernels
    FROM classes GROUP BY host, cpu ORDER BY host, cpu
"""
_WORK = """
    SELECT sum(n_terms)::HUGEINT AS terms, sum(n_nodes)::HUGEINT AS states, sum(n_pushes)::HUGEINT AS pushes,
           sum(n_splits)::HUGEINT AS splits, sum(n_survivors)::HUGEINT AS survivors,
           max(max_tree_bytes) / 2**20 AS tree_mib, sum(seconds) AS seconds
    FROM classes
"""


def _facts(found: Summary, state: State) -> list[tuple[str, str]]:
    """Return name and value of what the reader must know to judge the claim."""
    asked, listed = found.question, found.listed
    versions = found.info.get("versions")
    so_far = "" if found.proven else ", found so far"
    made_with = versions.items() if isinstance(versions, dict) else ()
    facts = [
        ("State of the run", state.value),
        ("Board size", found.fingerprint.dims),
        ("Word list", f"{asked.wordlist}, {asked.n_words:,} usable words"),
        ("SHA-256 of the list", found.fingerprint.wordlist_sha256),
        ("Score table", asked.scores),
        ("Cutoff", f"{found.fingerprint.cutoff:,}"),
        ("Letter buckets", found.fingerprint.partition),
        (f"Boards at or above the cutoff{so_far}", f"{listed.n_canonical:,} up to symmetry, {listed.n_raw:,} in all"),
        ("Rescored exactly", "yes" if found.rescored else "not yet: scores as the workers reported them"),
        ("Result digest", found.result_digest),
        ("Made with", ", ".join(f"{name} {version}" for name, version in sorted(made_with))),
    ]
    return [(name, value) for name, value in facts if value]


def _coverage(found: Summary, database: Database) -> dict[str, Any]:
    """Return how much of the class space has a verdict."""
    return {
        "n_classes": found.n_classes,
        "n_begun": found.n_classes_begun,
        "n_done": found.n_classes_done,
        "percent": 100.0 * found.n_classes_done / found.n_classes,
        "n_pending": found.n_pending,
        "n_trouble": found.n_quarantined + found.n_conflicts,
        "n_all_boards": 26**found.fingerprint.n_cells,
        "status": records(database, "SELECT status, count(*) AS units FROM classes GROUP BY status ORDER BY status"),
    }


def _drawn(board: str, score: int, scorer: WordScorer, found: Summary) -> dict[str, Any]:
    """Return a board with its drawing and its words by number of letters, each with its path."""
    words = sorted(scorer.words(board), key=lambda item: (-n_letters(item.word), item.word))
    heat = [0] * len(board)
    for item in words:
        for cell in item.path:
            heat[cell] += item.points
    groups: dict[int, list[dict[str, Any]]] = {}
    for item in words:
        spelled = item.word.replace("q", "qu")
        entry = {"word": spelled, "points": item.points, "path": ",".join(map(str, item.path))}
        groups.setdefault(n_letters(item.word), []).append(entry)
    return {
        "board": board,
        "score": score,
        "n_words": len(words),
        "longest": words[0].word.replace("q", "qu") if words else "",
        "h": geometry(found.fingerprint.dims).dims.h,
        "svg": board_svg(format_rows(board, found.fingerprint.dims), heat),
        "groups": groups,
    }


def _sensitivity(charts: Any, found: Summary, scorer: WordScorer) -> dict[str, Any] | None:
    """Return what one step makes of the best board: the map of changed letters, and the best of the other boards."""
    if not found.listed.boards:
        return None
    best = found.listed.boards[0]
    faces = [letter.upper() for letter in best.board]
    places = [(cell, letter) for cell in range(len(best.board)) for letter in LETTERS]
    swaps = [pair for pair in combinations(range(len(best.board)), 2) if best.board[pair[0]] != best.board[pair[1]]]
    boards = [best.board[:cell] + letter + best.board[cell + 1 :] for cell, letter in places]
    boards += [_swapped(best.board, *pair) for pair in swaps]
    told = [f"cell {cell}: {faces[cell]} to {letter.upper()}" for cell, letter in places]
    told += [f"cells {a} and {b}: {faces[a]} and {faces[b]} swapped" for a, b in swaps]
    scores = [int(value) for value in scorer.scores(boards)]
    rows = [
        {"cell": f"{cell}: {faces[cell]}", "letter": letter, "score": score}
        for (cell, letter), score in zip(places, scores, strict=False)
    ]
    steps: dict[str, dict[str, Any]] = {}
    shape = geometry(found.fingerprint.dims)
    for board, change, score in zip(boards, told, scores, strict=True):
        image = canonical_board(board, shape)
        if image != best.board:
            steps.setdefault(image, {"board": board, "change": change, "score": score})
    near = sorted(steps.values(), key=lambda item: (-item["score"], item["board"]))[:_NEAR]
    return {
        "svg": charts.letter_map("Scores of the best board with one letter changed", rows),
        "board": best.board,
        "score": best.score,
        "near": near,
    }


def _swapped(board: str, a: int, b: int) -> str:
    letters = list(board)
    letters[a], letters[b] = letters[b], letters[a]
    return "".join(letters)
