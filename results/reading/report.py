"""The report of a run: one HTML page that needs nothing else, readable for years, on paper and on a phone.

    render(run, scorer) -> facts, tables and boards (here) -> charts.py (SVG) -> templates/report.html.j2

The page carries its data, style and script; a content security policy forbids it to fetch anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from boardclass.board import LETTERS, format_rows
from boardclass.canonical import canonical_board
from boardclass.distribution import install
from boardclass.errors import InputError
from boardclass.geometry import geometry
from boardclass.printable import printable
from boardclass.scores import n_letters
from results.proof.prove import NodesOf
from results.reading.board_svg import board_svg
from results.reading.query import Summary
from results.reading.sql import Database
from results.reading.stages import read_stages
from results.store.run import Run

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_BINS = 24
_LISTED = 500
_NEAR = 5
_MAX_NAME = 60  # of a stage: the drawing is as wide as its names


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
    values = {
        "found": found,
        "facts": _facts(found),
        "boards": [_drawn(item.board, item.score, scorer, found) for item in found.listed.boards[:n_boards]],
        "listed": found.listed.boards[:_LISTED],
        "coverage": _coverage(found, database),
        "hosts": _records(database, _HOSTS),
        "work": _records(database, _WORK),
        "charts": list(_charts(charts, found, database, read_stages(run))),
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
_DEPTHS = """
    SELECT depth, status, count(*) AS units, sum(seconds) AS seconds
    FROM classes GROUP BY depth, status ORDER BY depth, status
"""
_COSTS = "SELECT class_id, sum(seconds) AS seconds FROM classes GROUP BY class_id"
_BOUNDS = "SELECT max_bound FROM classes WHERE status IN ('eliminated', 'candidates', 'split') AND max_bound > 0"


def _records(database: Database, sql: str) -> list[dict[str, Any]]:
    answer = database.query(sql)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def _facts(found: Summary) -> list[tuple[str, str]]:
    """Return name and value of what the reader must know to judge the claim."""
    asked, listed = found.question, found.listed
    versions = found.info.get("versions")
    so_far = "" if found.proven else ", found so far"
    made_with = versions.items() if isinstance(versions, dict) else ()
    facts = [
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
        "status": _records(database, "SELECT status, count(*) AS units FROM classes GROUP BY status ORDER BY status"),
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
        "h": geometry(found.fingerprint.dims).dims.h,
        "svg": board_svg(format_rows(board, found.fingerprint.dims), heat),
        "groups": groups,
    }


def _charts(charts: Any, found: Summary, database: Database, stages: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """Return title, explanation and SVG of each chart there is data for."""
    made: list[tuple[str, str, str]] = []
    costs = [row["seconds"] for row in _records(database, _COSTS)]
    if any(costs):
        svg = charts.bars(histogram(costs), "x", "n", "seconds", "classes")
        made.append(("Cost of a class", "Seconds of computing per board class, subclasses included.", svg))
    bounds = [row["max_bound"] for row in _records(database, _BOUNDS)]
    if bounds:
        svg = charts.bars(histogram(bounds), "x", "n", "largest bound", "units", found.fingerprint.cutoff)
        text = "The largest bound at which a part of a unit was discarded; the line is the cutoff."
        made.append(("Bounds", text, svg))
    depths = _records(database, _DEPTHS)
    if depths:
        svg = charts.stacked_by_status(depths, "depth", "units", "forced cells", "units")
        made.append(("Elimination by depth", "Units by the number of cells forced beyond the class.", svg))
        svg = charts.stacked_by_status(depths, "depth", "seconds", "forced cells", "seconds")
        made.append(("Time by depth", "Seconds of computing by the number of cells forced.", svg))
    if any(stages.values()):
        rows = [{"stage": printable(name)[:_MAX_NAME], "seconds": seconds} for name, seconds in stages.items()]
        text = "Wall time of the driver, all sessions together."
        made.append(("Time by stage", text, charts.named_bars(rows, "stage", "seconds", "seconds")))
    (work,) = _records(database, _WORK)
    if work["terms"]:
        rows = [{"stage": name, "n": float(work[name] or 0) / 1e6} for name in ("terms", "states", "pushes")]
        text = "Millions of terms generated, states visited by OrderlyBound and nodes pushed: where the time goes."
        made.append(("Work by stage", text, charts.named_bars(rows, "stage", "n", "millions")))
    return made


def histogram(values: Sequence[float]) -> list[dict[str, float]]:
    """Return bars ``x`` to ``x_end`` of equal width, ``n`` high, over round numbers that hold all values."""
    low, high = min(values), max(values)
    step = 10.0 ** math.floor(math.log10((high - low) / _BINS)) if high > low else 1.0
    step *= next(factor for factor in (1, 2, 5, 10) if step * factor * _BINS >= high - low or factor == 10)
    if all(isinstance(value, int) for value in values):
        step = max(step, 1)
    first = math.floor(low / step)
    counts = [0] * (math.floor(high / step) - first + 1)
    for value in values:
        counts[math.floor(value / step) - first] += 1
    return [{"x": (first + i) * step, "x_end": (first + i + 1) * step, "n": n} for i, n in enumerate(counts)]


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
    return {"svg": charts.letter_map(rows), "board": best.board, "score": best.score, "near": near}


def _swapped(board: str, a: int, b: int) -> str:
    letters = list(board)
    letters[a], letters[b] = letters[b], letters[a]
    return "".join(letters)
