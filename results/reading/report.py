"""The report of a run: one HTML page that needs nothing else, readable for years, on paper and on a
phone.

    render(run, scorer) -> facts, boards, where the time went -> templates/report.html.j2

The page carries its data, style and script; a content security policy forbids it to fetch anything.

>>> histogram([5, 5])
[('from 5', 2)]
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orderly_boggle.boardclass.board import LETTERS, format_rows, with_letters
from orderly_boggle.boardclass.board_svg import SCRIPT, STYLE, board_svg, heat_of_cells
from orderly_boggle.boardclass.distribution import install
from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.geometry import geometry, short_cell_name
from orderly_boggle.boardclass.partition import parse_partition
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.boardclass.scores import n_letters
from orderly_boggle.results.log import live
from orderly_boggle.results.proof.summary import (
    ListedBoard,
    State,
    Summary,
    proven_word,
    searched,
    standing,
    state_of,
)
from orderly_boggle.results.reading.sql import Database
from orderly_boggle.results.store.run import Run
from orderly_boggle.search.scoring.scorer import Scorer, best_neighbours, letter_scores

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_LISTED = 500
_NEAR = _SLOW = 5
# how a column is set
_TEXT = "text"
_NUMBER = "n"
_CODE = "code"


class Table(NamedTuple):
    """A table of the page."""

    name: str
    columns: Sequence[tuple[str, str]]  # headings, and how the cells below are set
    rows: Sequence[Sequence[object]]


def render(run: Run, scorer: Scorer, n_boards: int = 6) -> tuple[str, Summary]:
    """Return the report of a run as HTML, and what the run proves; ``n_boards`` of the best boards
    are drawn with their words.

    Raises InputError when the packages that draw it are not installed; StoreError when the run is
    damaged.
    """
    try:
        from orderly_boggle.results.reading.markup import templates
    except ImportError as error:
        raise InputError(f"the report needs {error.name}: {install('report')}") from error
    database = Database([("run", run)])
    summary = database.summaries["run"]
    (work,) = database.query(_WORK)
    so_far = " found so far"
    if summary.proven:
        so_far = ""
    known = _from_climb(summary, scorer)
    shown = ((known,) if known else summary.listed.boards)[:n_boards]
    values = {
        "summary": summary,
        "word": proven_word(summary),
        "so_far": so_far,
        "board_style": STYLE.read_text(encoding="utf-8"),
        "board_script": SCRIPT.read_text(encoding="utf-8"),
        "facts": _facts(
            run, summary, state_of(summary.state, is_running=live(run.folder).is_running)
        ),
        "boards": [_drawn(item, scorer, summary) for item in shown],
        "known": known,
        "listed": _listed(f"All boards{so_far}", summary),
        "coverage": _coverage(summary),
        "hosts": _hosts(database),
        "work": _work(work, summary),
        "time": _charts(summary, database),
        "slow": _slow(summary, database, work["seconds"]) if work["seconds"] else None,
        "sensitivity": _sensitivity(summary, scorer),
    }
    database.close()
    return templates(_TEMPLATES).get_template("report.html.j2").render(values), summary


def _from_climb(summary: Summary, scorer: Scorer) -> ListedBoard | None:
    """Return the board of the climb, where it is the best known and scores what is told of it."""
    known = summary.from_climb
    if known and scorer.score(known.board) == known.score:
        return known
    return None


_HOSTS = """
    SELECT host, cpu, count(*), sum(seconds),
           max(peak_rss_bytes) / 2**20, string_agg(DISTINCT kernel_hash, ' ')
    FROM classes GROUP BY host, cpu ORDER BY host, cpu
"""
_WORK = """
    SELECT sum(n_terms)::HUGEINT AS terms, sum(n_nodes)::HUGEINT AS states,
           sum(n_pushes)::HUGEINT AS pushes, sum(n_splits)::HUGEINT AS splits,
           sum(n_survivors)::HUGEINT AS survivors, max(max_tree_bytes) / 2**20 AS tree_mib,
           sum(seconds) AS seconds
    FROM classes
"""


def _facts(run: Run, summary: Summary, state: State) -> list[tuple[str, str]]:
    wording = summary.wording
    listed = summary.listed
    versions = run.made.versions
    so_far = ", found so far"
    if summary.proven:
        so_far = ""
    made_with = versions.items() if isinstance(versions, dict) else ()
    facts = [
        ("State of the run", state.value),
        ("Board size", summary.question.dims),
        ("Word list", f"{wording.wordlist}, {counted(wording.n_words, 'usable word')}"),
        ("SHA-256 of the list", summary.question.words_sha256),
        ("Score table", wording.score_table),
        ("Cutoff", f"{summary.question.cutoff:,}"),
        ("Letter buckets", summary.question.buckets),
        (
            f"Boards at or above the cutoff{so_far}",
            f"{listed.n_canonical:,} up to symmetry, {listed.n_raw:,} in all",
        ),
        ("Result digest", summary.result_digest),
        ("Made with", ", ".join(f"{name} {version}" for name, version in sorted(made_with))),
    ]
    return [(name, value) for name, value in facts if value]


def _typed(board: str, summary: Summary) -> str:
    return with_letters(board, summary.wording.letters)


def _listed(name: str, summary: Summary) -> Table:
    boards = summary.listed.boards[:_LISTED]
    rows = []
    for item in boards:
        rows.append((_typed(item.board, summary), f"{item.score:,}", item.n_images))
    return Table(name, (("board", _CODE), ("score", _NUMBER), ("images", _NUMBER)), rows)


def _coverage(summary: Summary) -> str:
    n_done = summary.n_classes_done
    n_begun = summary.n_classes_begun - summary.n_classes_done
    if summary.proven:
        all_of_them = f"; together they hold all {26**summary.question.n_cells:,} boards"
    else:
        all_of_them = ""
        if n_begun > 0:
            all_of_them = f", {n_begun:,} more are begun"
    n_troubled = summary.n_quarantined + summary.n_conflicts
    of_status = summary.n_rows.items()
    units = ", ".join(f"{status}: {counted(n, 'unit')}" for status, n in of_status if n)
    return (
        f"{n_done:,} of {summary.n_classes:,} canonical classes are settled{all_of_them}. "
        f"Open subclasses: {summary.n_pending}. In trouble: {n_troubled}. {units}."
    )


def _hosts(database: Database) -> Table:
    columns = (
        ("host", _TEXT),
        ("processor", _TEXT),
        ("units", _NUMBER),
        ("seconds", _NUMBER),
        ("peak MiB", _NUMBER),
        ("kernels", _CODE),
    )
    rows = []
    for host, cpu, n, seconds, mib, kernels in database.query(_HOSTS).rows:
        rows.append((host, cpu, f"{n:,}", f"{seconds:,.1f}", f"{mib:,.0f}", kernels))
    return Table("Hosts", columns, rows)


def _work(work: Mapping[str, Any], summary: Summary) -> str:
    if not work["terms"]:
        return f"No work was counted{'' if summary.proven else ' so far'}."
    return (
        "{terms:,} terms, {states:,} states, {pushes:,} pushes, {splits:,} splits, {survivors:,} "
        "boards scored exactly; largest tree {tree_mib:,.0f} MiB; {seconds:,.1f} s of searching by "
        "the clock of the workers."
    ).format(**work)


class _Word(NamedTuple):
    """A word of a board, and its path as a script reads it."""

    word: str
    letters: int
    points: int
    path: str


class _Drawn(NamedTuple):
    """A board, a sentence on its place, a picture, and its words."""

    board: str
    score: int
    said: str
    svg: str
    words: list[_Word]


def _drawn(item: ListedBoard, scorer: Scorer, summary: Summary) -> _Drawn:
    board = item.board
    wording = summary.wording
    scores = [other.score for other in summary.listed.boards]
    so_far = ""
    if not summary.proven:
        so_far = searched(summary.n_classes_done, summary.n_classes, summary.fault)
    n_better = sum(score > item.score for score in scores)
    place = (1 + n_better, scores.count(item.score))
    if item == summary.from_climb:
        said = f"The best known, from the climb; {so_far}."
    else:
        said = standing(summary.question.dims, wording, *place, so_far)
    words = sorted(scorer.words(board), key=lambda item: (-n_letters(item.word), item.word))
    letters = str.maketrans(summary.wording.letters)
    heat = heat_of_cells(len(board), ((word.points, word.path) for word in words))
    listed = []
    for word in words:
        shown = word.word.replace("q", "qu").translate(letters)
        path = ",".join(map(str, word.path))
        listed.append(_Word(shown, n_letters(word.word), word.points, path))
    rows = format_rows(board, summary.question.dims, summary.wording.letters)
    return _Drawn(_typed(board, summary), item.score, said, board_svg(rows, heat), listed)


class _Sensitivity(NamedTuple):
    """What the score of the best board becomes with another letter in one cell."""

    board: str
    letters: list[str]
    rows: dict[str, list[int]]  # scores by letter, by the name of the cell
    low: int
    span: int  # from the lowest score to the highest, at least 1
    near: Table


def _sensitivity(summary: Summary, scorer: Scorer) -> _Sensitivity | None:
    if not summary.listed.boards:
        return None
    best = summary.listed.boards[0]
    letters = summary.wording.letters
    names = {letter: letters.get(letter, letter) for letter in LETTERS}
    h = geometry(summary.question.dims).dims.h
    scores = letter_scores(best.board, scorer)
    low = min(map(min, scores))
    places = [
        f"{short_cell_name(cell, h)} {names[letter].upper()}"
        for cell, letter in enumerate(best.board)
    ]
    columns = (("board", _CODE), ("change", _TEXT), ("score", _NUMBER), ("difference", _NUMBER))
    near = []
    for board, change, score, difference in best_neighbours(best.board, scorer, _NEAR, letters):
        near.append((board, change, f"{score:,}", f"{difference:+,}"))
    return _Sensitivity(
        board=_typed(best.board, summary),
        letters=list(names.values()),
        rows=dict(zip(places, scores, strict=True)),
        low=low,
        span=max(map(max, scores)) - low or 1,
        near=Table("The best boards one step away", columns, near),
    )


_BINS = 12
COSTS = (
    "SELECT class_id, sum(seconds) AS seconds, sum(len(candidates)) AS found FROM classes GROUP "
    "BY class_id"
)
_DEPTHS = """
    SELECT depth, status, sum(seconds) AS seconds
    FROM classes GROUP BY depth, status ORDER BY depth, status
"""


def _slow(summary: Summary, database: Database, seconds: float) -> Table:
    partition = parse_partition(summary.question.buckets, summary.question.dims)
    columns = (
        ("class", _NUMBER),
        ("seconds", _NUMBER),
        ("share", _NUMBER),
        ("letters of its cells", _CODE),
    )
    rows = []
    for row in database.query(f"{COSTS} ORDER BY seconds DESC, class_id LIMIT {_SLOW}"):
        class_id = row["class_id"]
        class_s = row["seconds"] or 0.0
        letters = ""
        if class_id < partition.n_classes:
            letters = " ".join(partition.class_letters(class_id)).replace(LETTERS, "a-z")
        share = f"{100 * class_s / seconds:.1f} %"
        rows.append((class_id, f"{class_s:,.1f}", share, letters))
    return Table("The most expensive classes", columns, rows)


def _charts(summary: Summary, database: Database) -> list[tuple[Any, ...]]:
    so_far = ", so far."
    if summary.proven:
        so_far = "."
    costs = [row["seconds"] for row in database.query(COSTS)]
    depths = []
    for row in database.query(_DEPTHS):
        depths.append((f"{row['depth']}, {row['status']}", row["seconds"] or 0))
    by_class = f"Classes by seconds of wall time, subclasses included{so_far}"
    by_depth = f"Seconds of wall time, by cells forced and verdict{so_far}"
    if not any(costs):
        costs = []
    return [
        *_bars("Cost of a class", by_class, histogram(costs)),
        *_bars("Time by depth", by_depth, depths, 1),
    ]


def _bars(
    title: str, text: str, rows: Sequence[tuple[str, float]], digits: int = 0
) -> list[tuple[Any, ...]]:
    """Return a figure: names, numbers, and how long a bar is, in percent.  One bar compares
    nothing: it is left out.
    """
    most = max((n for _, n in rows), default=0) or 1
    bars = [(name, f"{n:,.{digits}f}", f"{100 * n / most:.1f}") for name, n in rows]
    if sum(n > 0 for _, n in rows) > 1:
        return [(title, text, bars)]
    return []


def histogram(values: Sequence[float]) -> list[tuple[str, int]]:
    """Return where ranges of equal width begin, round numbers, and how many values are in each; the
    ranges hold all values.
    """
    if not values:
        return []
    span = max(values) - min(values)
    if span:
        step = 10.0 ** math.floor(math.log10(span / _BINS))
    else:
        step = 1.0
    factors = (1, 2, 5, 10)
    step *= next(factor for factor in factors if step * factor * _BINS >= span or factor == 10)
    counts = Counter(math.floor(value / step) for value in values)
    places = range(min(counts), max(counts) + 1)
    return [(f"from {place * step:,.10g}", counts[place]) for place in places]
