"""``orderly top``, ``query``, ``compare`` and ``report``: what runs found, as lists, by SQL and as
a page.
"""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orderly_boggle import boardclass, results, search
from orderly_boggle.boardclass.errors import InputError, OrderlyError, quote
from orderly_boggle.cluster.answers.render import Format, write_json, write_table
from orderly_boggle.cluster.answers.status import proofs_told, tell_notes
from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.options import argument, numeric, option
from orderly_boggle.cluster.streams import say, tell, write_file
from orderly_boggle.results.storage.files import is_folder, published_places

if TYPE_CHECKING:
    from orderly_boggle.boardclass.scores import ScoreTable
    from orderly_boggle.boardclass.wordlist import WordList
    from orderly_boggle.cluster.boards.comparison import Comparison
    from orderly_boggle.results.proof.summary import ListedBoard, Summary
    from orderly_boggle.results.store.run import Run
    from orderly_boggle.search.scoring.scorer import Scorer

# rows of an answer: as a table for people, and for programs
MAX_DRAWN = 10_000
MAX_ROWS = 1_000_000
MAX_SECONDS = 10**6  # of a query: no timer waits for ever
_EXPECTED = "expected a statement, such as: orderly query RUN 'SELECT * FROM boards LIMIT 5'"


def top(
    directories: options.RunList = None,
    n: options.Limit = 10,
    contains: Annotated[
        list[str] | None,
        option("Only boards on which WORD can be traced; may be repeated.", metavar="WORD"),
    ] = None,
    min_words: Annotated[int, numeric("Only boards with at least N words.", min=0)] = 0,
    rollable: Annotated[
        str | None,
        option(
            "Only boards that these dice can show: such as classic, new, big or spanish, or a "
            "TOML file.",
            metavar="DICE",
            autocompletion=options.complete_dice,
        ),
    ] = None,
    words: Annotated[bool, option("Show the number of words as well.", "--words")] = False,
    wordlist: options.RunWordlist = None,  # for --words and --min-words
    fmt: options.Format = "table",
) -> None:
    """List the best boards of one or more runs."""
    chosen = list(map(options.chosen_run, directories or (None,)))
    from orderly_boggle.results.proof.packaged import packaged_summary
    from orderly_boggle.results.proof.summary import distinct_names

    # one run need not be named; people are told in a sentence what is proven
    cut = slice(int(len(chosen) == 1), -1 if fmt == "table" else None)
    summaries = {}
    rows: list[tuple[int, str, list[Any]]] = []
    for name, location in zip(distinct_names(chosen), chosen, strict=True):
        result = packaged_summary(location) or results.summary(location)
        summaries[name] = result
        counter = _word_counter(location, wordlist) if words or min_words else None
        for item, n_words in islice(
            _passing(result, contains or (), rollable, counter, min_words), n
        ):
            board = boardclass.with_letters(item.board, result.wording.letters)
            counts = [item.score, n_words][: 1 + words]
            rows.append((-item.score, item.board, [name, board, *counts, result.proven][cut]))
    if len({result.question.scored[2:] for result in summaries.values()}) > 1:
        tell("orderly: these runs count different points: their scores do not compare")
    columns = ["run", "board", "score", *(["words"] if words else []), "proven"]
    for name, result in summaries.items():
        if result.best_known:
            tell(f"orderly: {name}: best known: {result.best_known}")
    with proofs_told(summaries, above=fmt == "table"):
        best = [row for _, _, row in sorted(rows)[:n]]
        write_table(columns[cut], best, fmt)


def _passing(
    result: Summary,
    contains: Sequence[str],
    dice: str | None,
    counter: Scorer | None,
    min_words: int,
) -> Iterator[tuple[ListedBoard, int | None]]:
    """Yield the boards of a run on which words can be traced, with enough words, that some dice can
    show; with their number of words if there is a ``counter``.
    """
    size = boardclass.parse_dims(result.question.dims)
    symbols = result.wording.letters
    words = {options.typed_word(word, symbols) for word in contains}
    cubes = None
    if dice is not None:
        from orderly_boggle.cluster.boards.dicesets import dice_for
        from orderly_boggle.cluster.boards.rolling import assign_dice

        cubes = list(map(tuple, dice_for(dice, size.n).dice))
    for item in result.listed.boards:
        if words and not search.holds(item.board, size, words):
            continue
        faces = [symbols.get(letter, letter) for letter in item.board]
        if cubes is not None and assign_dice(faces, cubes) is None:
            continue
        n_words = None
        if counter:
            n_words = counter.score(item.board)
        if n_words is None or n_words >= min_words:
            yield item, n_words


def _word_counter(location: str, wordlist: str | None) -> Scorer:
    run = results.open_run(location)
    return _scorer(run, results.run_wordlist(run, wordlist), boardclass.parse_scores("words"))


def query(
    words: Annotated[
        list[str] | None,
        argument(
            "RUN|SQL",
            "Run directories, the latest under runs by default; one SELECT statement, or "
            "none for a prompt.",
        ),
    ] = None,
    timeout: Annotated[
        float, option("Time limit in seconds.", metavar="S", min=0.1, max=MAX_SECONDS)
    ] = 60,
    memory: Annotated[
        int,
        option("Memory limit in MiB, in addition to the runs.", metavar="MIB", min=64, max=2**24),
    ] = 1024,
    fmt: options.Format = "table",
) -> None:
    """Ask runs in SQL: views boards, classes and runs (DuckDB, read only).

    boards: run, board, score, n_images, proven.  classes: one row per stored unit with class_id,
    path, depth, status, n_boards, max_bound, seconds, host ...  runs: dims, wordlist, cutoff,
    state, best_score, digest ...

    "DESCRIBE classes" lists the columns.  Files cannot be reached from SQL.
    """
    directories, sql = _split_words(words or [])
    directories = list(map(options.chosen_run, directories or (None,)))
    is_terminal = sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()
    if sql is None and not is_terminal:
        raise InputError(f"no statement given; {_EXPECTED}")
    from orderly_boggle.results.reading.limits import Limits

    with closing(results.connect(directories, memory)) as database, proofs_told(database.summaries):
        limits = Limits(timeout, memory, MAX_DRAWN if fmt == "table" else MAX_ROWS)

        def show(statement: str) -> None:
            answer = database.query(statement, limits)
            write_table(answer.columns, answer.rows, fmt)

        if sql is None:
            _prompt(show)
        else:
            show(sql)


def _split_words(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the runs and the statement among the arguments of ``query``: the last one is the
    statement unless it names a run.

    Raises InputError when the last argument can be neither.
    """
    if not words:
        return [], None
    *directories, sql = words
    is_word = len(sql.split()) == 1
    is_run = is_word and ("://" in sql or sql in published_places())
    if is_run or (sql and is_folder(sql)):
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
        except EOFError:
            say()
            return
        try:
            if text:
                ask(text)
        except OrderlyError as error:
            tell(f"orderly: {error}")


def compare(
    words: Annotated[
        list[str],
        argument(
            "RUN|FILE",
            "A run directory, the latest under runs by default; a file of boards, one per "
            "line, optionally with scores.",
        ),
    ],
    wordlist: options.RunWordlist = None,
    fmt: options.Format = "table",
) -> None:
    """Compare the boards of a run with those of a file, whatever their rotation.

    FILE: what climb, top or score print as CSV, a published list, or bare boards.  Boards that the
    run does not list are scored with its word list and points.  Those below its cutoff are listed
    separately: the run says nothing about them.
    """
    *directories, file = words
    if len(directories) > 1:
        raise typer.BadParameter(
            f"expected one run and one file, not {len(words)} arguments", param_hint="FILE"
        )
    if is_folder(file) or file in published_places():
        raise typer.BadParameter(
            f"{quote(file)} is no file of boards: expected RUN and then FILE", param_hint="FILE"
        )
    directory = options.chosen_run(*directories)
    from orderly_boggle.cluster.boards.comparison import Comparison, read_boards

    run = results.open_run(directory)
    result = results.summary(run)
    listed = read_boards(file, run.partition.geometry, result.wording.letters)
    comparison = Comparison(result, listed, partial(_scorer_of, run, wordlist))
    with proofs_told({directory: result}, above=fmt == "table"):
        _show_comparison(comparison, result.proven, fmt)


def _show_comparison(comparison: Comparison, is_proven: bool, fmt: Format) -> None:
    columns = ("where", "board", "score", "file_score")
    if fmt == "json":
        boards = [row._asdict() for row in comparison.rows]
        counts = {name.replace(" ", "_"): n for name, n in comparison.counts.items()}
        write_json({"proven": is_proven, "counts": counts, "boards": boards})
    elif fmt == "csv":
        rows = [(*row, is_proven) for row in comparison.rows]
        write_table((*columns, "proven"), rows, fmt)
    else:
        write_table(columns, comparison.rows, fmt)
        say(comparison.sentence)


def _scorer_of(run: Run, wordlist: str | None) -> Scorer | None:
    """Return a scorer with the word list and points of a run; if the list is not here, none, and
    say so.
    """
    try:
        words = results.run_wordlist(run, wordlist)
    except OrderlyError as error:
        if wordlist is not None:
            raise
        tell(f"orderly: boards without a score are not scored, others as the file says: {error}")
        return None
    return _scorer(run, words)


def _scorer(run: Run, words: WordList, table: ScoreTable | None = None) -> Scorer:
    own = run.question
    if table is None:
        return search.Scorer.of(own, words)
    return search.Scorer(own.dims, words.words, table)


def report(
    directory: options.Run = options.LATEST,
    wordlist: options.RunWordlist = None,
    out: Annotated[
        str | None,
        option("File to write.", metavar="FILE", show_default="NAME-OF-DIR.html"),
    ] = None,
    n: Annotated[int, numeric("Boards drawn with their words.", "-n", min=0)] = 6,
    show: Annotated[bool, option("Open the page in a browser.", "--open")] = False,
) -> None:
    """Write one self-contained HTML page about a run: claim, boards with their words, charts."""
    from orderly_boggle.results.reading.report import render

    run = results.open_run(directory)
    page, result = render(run, _scorer(run, results.run_wordlist(run, wordlist)), n)
    html = page.encode()
    name = Path(directory.partition("?")[0]).resolve().name
    path = write_file(Path(out or f"{name}.html"), html)  # nothing is put into the run
    how = "open it in a browser"
    if show:
        is_open = webbrowser.open(path.resolve().as_uri())
        how = "no browser was found to open it"
        if is_open:
            how = "handed to a browser"
    say(f"{path}: {len(html) / 1024:,.0f} KiB, {how}")
    tell_notes(result)
    result.require_proven(directory)
