"""``orderly query``, ``top`` with its filters, and ``compare``: questions about one or more runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from boardclass.board import parse_board
from boardclass.canonical import canonical_board
from boardclass.cutoff import reaches
from boardclass.errors import BoardError, InputError, quote
from boardclass.geometry import geometry, parse_dims
from boardclass.rolling import assign_dice
from boardclass.tracing import trace
from cluster.answers.query import check_run_directory, require_all_proven
from cluster.answers.render import Format, write_json, write_table
from cluster.streams import console

if TYPE_CHECKING:
    from boardclass.geometry import Geometry
    from results.proof.rescore import Board
    from results.reading.query import Summary
    from results.store.run import Run

MAX_FILE_BYTES = 2**26
MAX_DRAWN, MAX_ROWS = 10_000, 1_000_000  # rows of an answer: as a table for people, and for programs
_PLAN_COLUMNS = ("explain_key", "explain_value")  # of EXPLAIN: a drawing
BOTH, ONLY_HERE, ONLY_THERE, BELOW = "both", "only here", "only there", "below cutoff"


def query(directories: Sequence[str], sql: str, timeout_s: float, memory_mb: int, fmt: Format) -> None:
    """Print the answer to one SELECT statement over the views boards, classes and runs.

    Raises
    ------
    IncompleteError, MismatchError
        When a run is not proven; the answer is printed all the same.
    """
    for directory in directories:
        check_run_directory(directory)
    from cluster.planning.nodes import run_nodes
    from results.reading.limits import Limits
    from results.reading.sql import connect

    with closing(connect(directories, run_nodes, memory_mb)) as database:
        n_rows = MAX_DRAWN if fmt is Format.table else MAX_ROWS
        answer = database.query(sql, Limits(timeout_s, memory_mb, n_rows))
    if fmt is Format.json:
        write_json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
    elif fmt is Format.table and answer.columns == _PLAN_COLUMNS:
        for row in answer.rows:
            console().print(row[-1], markup=False, soft_wrap=True)
    else:
        write_table(answer.columns, answer.rows, fmt)
    require_all_proven(database.summaries)


class Filters(NamedTuple):
    """What ``top`` keeps: boards on which words can be traced, with enough words, that some dice can show."""

    contains: tuple[str, ...] = ()
    min_words: int = 0
    rollable: str | None = None


def top(directories: Sequence[str], n: int, filters: Filters, wordlist: str | None, fmt: Format) -> None:
    """Print the best boards of one or more runs that pass the filters, best first, then in alphabetical order.

    Raises
    ------
    IncompleteError, MismatchError
        When a run is not proven; what was found so far is printed all the same.
    """
    for directory in directories:
        check_run_directory(directory)
    from cluster.planning.nodes import run_nodes
    from results.reading.query import summary
    from results.reading.views import named_runs

    runs = named_runs(directories)
    passing = {name: _Passing(run, filters, wordlist) for name, run in runs}
    summaries = {name: summary(run, run_nodes) for name, run in runs}
    kept: list[tuple[str, Board]] = []
    for name, found in summaries.items():
        kept += [(name, item) for item in _first(found.listed.boards, n, passing[name])]
    kept.sort(key=lambda pair: (-pair[1].score, pair[1].board, pair[0]))
    proven = {name: found.proven for name, found in summaries.items()}
    columns: tuple[str, ...] = ("run", "board", "score", "proven")
    rows: list[tuple[object, ...]] = [(name, item.board, item.score, proven[name]) for name, item in kept[:n]]
    if len(runs) == 1:
        columns, rows = columns[1:], [row[1:] for row in rows]
    if fmt is Format.table:  # people are told in a sentence
        columns, rows = columns[:-1], [row[:-1] for row in rows]
        _tell_so_far(summaries)
    write_table(columns, rows, fmt)
    require_all_proven(summaries)


def _tell_so_far(summaries: Mapping[str, Summary]) -> None:
    """Print above a table for people which of the runs are not proven."""
    for name, found in summaries.items():
        if not found.proven:
            whose = f"{name}: " if len(summaries) > 1 else ""
            console().print(f"{whose}{found.caveat}", markup=False, soft_wrap=True)


def _first(items: Sequence[Board], n: int, passing: _Passing) -> list[Board]:
    found: list[Board] = []
    for item in items:
        if len(found) == n:
            break
        if passing(item.board):
            found.append(item)
    return found


class _Passing:
    """Whether a board of a run passes the filters; loads the word list only when it takes one."""

    def __init__(self, run: Run, filters: Filters, wordlist: str | None) -> None:
        from boardclass.scores import ScoreTable, parse_scores

        self._geometry: Geometry = geometry(run.fingerprint.dims)
        self._words = tuple(_spelling(word) for word in filters.contains)
        self._min_words = filters.min_words
        self._dice = None
        if filters.rollable is not None:
            from configs.dicesets import dice_for

            self._dice = dice_for(filters.rollable, self._geometry.n).dice
        self._scorer = None
        if filters.min_words > 0:
            from cluster.cli.verify import run_wordlist
            from search.scoring.scorer import Scorer

            table: ScoreTable = parse_scores("words")
            self._scorer = Scorer(self._geometry.dims, run_wordlist(run, wordlist).words, table)

    def __call__(self, board: str) -> bool:
        """Test the cheap things first."""
        if any(trace(word, board, self._geometry) is None for word in self._words):
            return False
        if self._dice is not None and assign_dice(board, self._dice) is None:
            return False
        return self._scorer is None or self._scorer.score(board) >= self._min_words


def _spelling(word: str) -> str:
    """Return the q-form of a word that boards are to contain."""
    spelled = word.strip().lower()
    if not re.fullmatch(r"[a-z]+", spelled):
        raise InputError(f"--contains {quote(word)}: expected a word of letters a-z")
    return spelled.replace("qu", "q")


class Listed(NamedTuple):
    """A board of a file, canonical, with the score that stands behind it, if any."""

    board: str
    score: int | None


def read_boards(path: str, shape: Geometry) -> dict[str, Listed]:
    """Return the boards of a file by canonical form: the first field of each line, the score in the second.

    Accepts what ``climb``, ``top`` and ``score`` print as CSV, ``board: score`` lists and bare boards; blank lines,
    ``#`` comments and a header are skipped.

    Raises
    ------
    InputError
        If the file cannot be read or a line is no board, with its number.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read the boards in {quote(path)}: {reason}; check the path") from error
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{quote(path)} has more than {MAX_FILE_BYTES // 2**20} MiB: expected a list of boards")
    found: dict[str, Listed] = {}
    for number, line in enumerate(data.decode("utf-8-sig", "backslashreplace").splitlines(), 1):
        fields = [field for field in re.split(r"[\s,;:]+", line.strip()) if field]
        if not fields or fields[0].startswith("#") or (number == 1 and fields[0] == "board"):
            continue
        try:
            board = canonical_board(parse_board(fields[0], shape.dims), shape)
        except BoardError as error:
            raise BoardError(f"{path}, line {number}: {error}") from error
        score = int(fields[1]) if len(fields) > 1 and re.fullmatch(r"[0-9]{1,10}", fields[1]) else None
        found[board] = Listed(board, score)
    return found


def compare(directory: str, path: str, fmt: Format) -> None:
    """Print which boards a run and a file have in common, whatever the rotation, and which only one of them has.

    Raises
    ------
    IncompleteError, MismatchError
        When the run is not proven; the comparison with what was found so far is printed all the same.
    """
    check_run_directory(directory)
    from cluster.planning.nodes import run_nodes
    from results.reading.query import summary
    from results.store.run import open_run

    run = open_run(directory)
    shape = geometry(parse_dims(run.fingerprint.dims))
    found = summary(run, run_nodes)
    here = {item.board: item.score for item in found.listed.boards}
    there = read_boards(path, shape)
    cutoff = run.fingerprint.cutoff
    rows: list[tuple[str, str, int | None, int | None]] = []
    for board in here.keys() | there.keys():
        listed = there.get(board)
        score = listed.score if listed else None
        if board in here:
            where = BOTH if listed else ONLY_HERE
        else:
            where = ONLY_THERE if score is None or reaches(score, cutoff) else BELOW
        rows.append((where, board, here.get(board), score))
    order = {BOTH: 0, ONLY_HERE: 1, ONLY_THERE: 2, BELOW: 3}
    rows.sort(key=lambda row: (order[row[0]], -(row[2] or row[3] or 0), row[1]))
    counts = {where: sum(row[0] == where for row in rows) for where in order}
    if fmt is Format.json:
        listed_rows = [dict(zip(("where", "board", "score", "file_score"), row, strict=True)) for row in rows]
        told_counts = {name.replace(" ", "_"): n for name, n in counts.items()}
        write_json({"proven": found.proven, "counts": told_counts, "boards": listed_rows})
    elif fmt is Format.csv:
        write_table(("where", "board", "score", "file_score", "proven"), [(*row, found.proven) for row in rows], fmt)
    else:
        _tell_so_far({directory: found})
        write_table(("where", "board", "score", "file_score"), rows, fmt)
        told = ", ".join(f"{n:,} {name}" for name, n in counts.items() if n or name != BELOW)
        differing = sum(row[2] is not None and row[3] is not None and row[2] != row[3] for row in rows)
        more = f"; {differing:,} with another score: another word list or score table?" if differing else ""
        console().print(f"{told}{more}", markup=False, soft_wrap=True)
    require_all_proven({directory: found})
