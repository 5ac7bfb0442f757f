"""``orderly top``, ``query``, ``compare`` and ``report``: what runs found, as lists, by SQL and as
a page.
"""

from __future__ import annotations

import re
import sys
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from boardclass.errors import InputError, OrderlyError, quote
from cluster.answers.render import Format, write_json, write_table
from cluster.answers.status import require_all_proven, run_wordlist, tell_notes, tell_so_far
from cluster.cli import options
from cluster.streams import console, tell, write_file

if TYPE_CHECKING:
    from boardclass.wordlist import WordList
    from cluster.answers.comparison import Comparison
    from results.proof.summary import Board, Summary
    from results.reading.sql import Answer
    from results.store.run import Run
    from search.scoring.scorer import Scorer

# rows of an answer: as a table for people, and for programs
MAX_DRAWN, MAX_ROWS = 10_000, 1_000_000
_MAX_PATH = 4096
_EXPECTED = "expected a statement, such as: orderly query RUN 'SELECT * FROM boards LIMIT 5'"
_PLAN_COLUMNS = ("explain_key", "explain_value")  # of EXPLAIN: a drawing


def top(
    directories: options.RunList = None,
    n: options.Limit = 10,
    contains: Annotated[
        list[str] | None,
        Option(metavar="WORD", help="Only boards on which WORD can be traced; may be repeated."),
    ] = None,
    min_words: Annotated[
        int, Option(metavar="N", min=0, help="Only boards with at least N words.")
    ] = 0,
    rollable: Annotated[
        str | None,
        Option(
            metavar="DICE",
            help="Only boards that these dice can show: classic, new, big, or a TOML file.",
            autocompletion=options.complete_dice,
        ),
    ] = None,
    words: Annotated[bool, Option("--words", help="Show the number of words as well.")] = False,
    wordlist: options.RunWordlist = None,  # for --words and --min-words
    fmt: options.Format = Format.table,
) -> None:
    """List the best boards of one or more runs."""
    chosen = list(map(options.chosen_run, directories or (None,)))
    from results.proof.packaged import packaged_summary
    from results.proof.summary import distinct_names

    summaries, rows = {}, []
    for name, location in zip(distinct_names(chosen), chosen, strict=True):
        summaries[name] = packaged_summary(location) or _summary(location)
        scorer = _counting(location, wordlist) if words or min_words else None
        keeps = _Filter(summaries[name], contains or (), min_words, rollable, scorer)
        for item in islice(filter(keeps.passes, summaries[name].listed.boards), n):
            n_words = keeps.n_words(item) if words else None
            rows.append(_ranked(name, summaries[name], item, n_words))
    columns = ["run", "board", "score", *(["words"] if words else []), "proven"]
    cut = slice(int(len(summaries) == 1), None)  # one run need not be named
    if fmt is Format.table:  # people are told in a sentence what is proven
        tell_so_far(summaries)
        cut = slice(cut.start, -1)
    write_table(columns[cut], [shown[cut] for *_, shown in sorted(rows)[:n]], fmt)
    require_all_proven(summaries)


def _summary(location: str) -> Summary:
    from results.proof.prove import summary

    return summary(location)


def _counting(location: str, wordlist: str | None) -> Scorer:
    """Return a scorer that counts the words of the list of a run."""
    from boardclass.scores import parse_scores
    from results.store.run import open_run
    from search.scoring.scorer import Scorer

    run = open_run(location)
    return Scorer(run.fingerprint.dims, run_wordlist(run, wordlist).words, parse_scores("words"))


def _ranked(
    name: str, found: Summary, item: Board, n_words: int | None
) -> tuple[int, str, str, list[Any]]:
    """Return what a board is sorted by, and what is shown of it."""
    from boardclass.board import with_letters

    board = with_letters(item.board, found.question.letters)
    counts = [item.score] if n_words is None else [item.score, n_words]
    return -item.score, item.board, name, [name, board, *counts, found.proven]


class _Filter:
    """Keeps boards of a run on which words can be traced, with enough words, that some dice can
    show; ``scorer`` is there when words are counted.
    """

    def __init__(
        self,
        found: Summary,
        contains: Sequence[str],
        min_words: int,
        dice: str | None,
        scorer: Scorer | None,
    ) -> None:
        from boardclass.geometry import geometry

        self._geometry = geometry(found.fingerprint.dims)
        self._words = tuple(_spelling(word, found.question.letters) for word in contains)
        self._min_words = min_words
        self._dice = None
        if dice is not None:
            from configs.dicesets import dice_for

            self._dice = dice_for(dice, self._geometry.n).dice
        self._scorer = scorer

    def passes(self, item: Board) -> bool:
        from boardclass.board import trace

        if any(trace(word, item.board, self._geometry) is None for word in self._words):
            return False
        if self._dice is not None:
            from boardclass.rolling import assign_dice

            if assign_dice(item.board, self._dice) is None:
                return False
        return self._min_words == 0 or self.n_words(item) >= self._min_words

    def n_words(self, item: Board) -> int:
        assert self._scorer is not None, "loaded when words are counted"
        return self._scorer.score(item.board)


def _spelling(word: str, letters: Mapping[str, str]) -> str:
    from boardclass.board import in_symbols

    spelled = in_symbols(word.strip().lower(), letters)
    if not re.fullmatch(r"[a-z]+", spelled):
        raise InputError(f"--contains {quote(word)}: expected a word of letters a-z")
    return spelled.replace("qu", "q")


def query(
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="RUN|SQL",
            help="Run directories, the latest under runs by default; one SELECT statement, or "
            "none for a prompt.",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[float, Option(metavar="S", min=0.1, help="Time limit in seconds.")] = 60,
    memory: Annotated[
        int,
        Option(
            metavar="MIB", min=64, max=2**24, help="Memory limit in MiB, in addition to the runs."
        ),
    ] = 1024,
    fmt: options.Format = Format.table,
) -> None:
    """Ask runs in SQL: views boards, classes and runs (DuckDB, read only).

    boards: run, board, score, n_images.  classes: one row per stored unit with class_id, path,
    depth, status, n_boards, max_bound, seconds, host ...  runs: dims, wordlist, cutoff, state,
    best_score, digest ...

    For example: orderly query runs/* "SELECT status, count(*), sum(seconds) FROM classes GROUP BY
    ALL", or "DESCRIBE classes" for the columns.  Files cannot be reached from SQL.
    """
    directories, sql = _split_words(words or [])
    directories = list(map(options.chosen_run, directories or (None,)))
    if sql is None and not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(f"nothing is asked; {_EXPECTED}")
    from results.reading.limits import Limits
    from results.reading.sql import connect

    with closing(connect(directories, memory)) as database:
        limits = Limits(timeout, memory, MAX_DRAWN if fmt is Format.table else MAX_ROWS)
        if sql is None:
            _prompt(lambda text: _print(database.query(text, limits), fmt))
        else:
            _print(database.query(sql, limits), fmt)
    require_all_proven(database.summaries)


def _split_words(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the runs and the statement among the arguments of ``query``: the last one is the
    statement unless it names a run.

    Raises InputError when the last argument can be neither.
    """
    if not words:
        return [], None
    *directories, sql = words
    is_word = len(sql.split()) == 1
    if ("://" in sql and is_word) or (
        sql and "\0" not in sql and len(sql) < _MAX_PATH and Path(sql).is_dir()
    ):
        return list(words), None
    if is_word:
        raise InputError(f"{quote(sql)} is neither a run directory nor a statement; {_EXPECTED}")
    return directories, sql


def _prompt(ask: Callable[[str], None]) -> None:
    """Answer statements, one a line, until Ctrl-D; an error ends its own statement only."""
    with suppress(ImportError):
        import readline  # noqa: F401 - input() edits lines with it
    tell(
        "one statement a line, such as SELECT * FROM boards LIMIT 5, or DESCRIBE classes; Ctrl-D "
        "ends"
    )
    while True:
        try:
            text = input("sql> ").strip()
            if text:
                ask(text)
        except EOFError:
            console().print()
            return
        except OrderlyError as error:
            tell(f"orderly: {error}")


def _print(answer: Answer, fmt: Format) -> None:
    if fmt is Format.table and answer.columns == _PLAN_COLUMNS:
        for row in answer.rows:
            console().print(row[-1], markup=False, soft_wrap=True)
    else:
        write_table(answer.columns, answer.rows, fmt)


def compare(
    words: Annotated[
        list[str],
        Argument(
            metavar="RUN|FILE",
            help="A run directory, the latest under runs by default; a file of boards, one per "
            "line, optionally with scores.",
            show_default=False,
        ),
    ],
    wordlist: options.RunWordlist = None,
    fmt: options.Format = Format.table,
) -> None:
    """Compare the boards of a run with those of a file, whatever their rotation.

    FILE: what climb, top or score print as CSV, a published list, or bare boards, which are scored
    with the run's word list.  Boards of the file with a score below the cutoff of the run are
    listed separately: the run says nothing about them.
    """
    *directories, file = words
    if len(directories) > 1:
        raise typer.BadParameter(
            f"expected one run and one file, not {len(words)} arguments", param_hint="FILE"
        )
    directory = options.chosen_run(*directories)
    from cluster.answers.comparison import Comparison, boards_beside, unscored
    from results.proof.prove import summary
    from results.store.run import open_run

    run = open_run(directory)
    found = summary(run)
    listed = boards_beside(file, found)
    scorer = _scorer_of(run, wordlist) if unscored(found, listed) else None
    compared = Comparison(found, listed, scorer)
    if fmt is Format.table:
        tell_so_far({directory: found})
    _show_comparison(compared, found.proven, fmt)
    require_all_proven({directory: found})


def _show_comparison(compared: Comparison, is_proven: bool, fmt: Format) -> None:
    columns = ("where", "board", "score", "file_score")
    if fmt is Format.json:
        boards = [row._asdict() for row in compared.rows]
        counts = {name.replace(" ", "_"): n for name, n in compared.counts.items()}
        write_json({"proven": is_proven, "counts": counts, "boards": boards})
    elif fmt is Format.csv:
        write_table((*columns, "proven"), [(*row, is_proven) for row in compared.rows], fmt)
    else:
        write_table(columns, compared.rows, fmt)
        console().print(compared.said, markup=False, soft_wrap=True)


def _scorer_of(run: Run, wordlist: str | None) -> Scorer | None:
    """Return a scorer with the word list and points of a run; if the list is not here, none, and
    say so.
    """
    try:
        words = run_wordlist(run, wordlist)
    except OrderlyError as error:
        if wordlist is not None:
            raise
        tell(f"orderly: boards without a score are not scored: {error}")
        return None
    return _scorer(run, words)


def _scorer(run: Run, words: WordList) -> Scorer:
    from boardclass.scores import ScoreTable
    from search.scoring.scorer import Scorer

    return Scorer(run.fingerprint.dims, words.words, ScoreTable("run", run.fingerprint.scores))


def report(
    directory: options.Run = options.LATEST,
    out: Annotated[
        str | None,
        Option(metavar="FILE", help="File to write.", show_default="NAME-OF-DIR.html"),
    ] = None,
    n: Annotated[int, Option("-n", metavar="N", min=0, help="Boards drawn with their words.")] = 6,
    wordlist: options.RunWordlist = None,
    show: Annotated[bool, Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write one self-contained HTML page about a run: claim, boards with their words, charts."""
    from results.reading.report import render
    from results.store.run import open_run

    run = open_run(directory)
    page, found = render(run, _scorer(run, run_wordlist(run, wordlist)), n)
    html = page.encode()
    path = Path(out or _page_name(directory))
    write_file(path, html)
    opened = "open it in a browser"
    if show:
        is_open = webbrowser.open(path.resolve().as_uri())
        opened = "handed to a browser" if is_open else "no browser was found to open it"
    said = f"{path}: {len(html) / 1024:,.0f} KiB, {opened}"
    console().print(said, markup=False, soft_wrap=True)
    tell_notes(found)
    found.require_proven(directory)


def _page_name(directory: str) -> str:
    """Return a name in the current directory: nothing is put into the run."""
    name = directory.partition("?")[0].rstrip("/").rpartition("/")[2]
    if name in ("", ".", ".."):
        name = Path(name).resolve().name
    return f"{name}.html"
