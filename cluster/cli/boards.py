"""``orderly show``, ``score``, ``solve``, ``neighbours``, ``lists`` and ``roll``: single boards."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from orderly_boggle import boardclass
from orderly_boggle.boardclass.errors import BoardError, InputError, WordListError, quote
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.cluster.answers.render import draw_board, write_json, write_table
from orderly_boggle.cluster.boards.tiles import Tiles
from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.options import numeric, option
from orderly_boggle.cluster.streams import console, say, tell, write_file

if TYPE_CHECKING:
    from orderly_boggle.boardclass.geometry import Dims
    from orderly_boggle.cluster.answers.told import Told
    from orderly_boggle.cluster.boards.scoring import AnyBoard, Scoring, Solved


@options.grouped
def show(
    rules: options.RuleOptions,
    board: options.TypedBoard,
    dims: options.AnyDims = None,
    word: Annotated[
        str | None, option("Draw the path of this word in the picture.", metavar="WORD")
    ] = None,
    out: Annotated[
        str | None,
        option(
            "Write FILE.html, a page to look at and play on, without network; or draw "
            "FILE.svg or FILE.png.",
            metavar="FILE",
        ),
    ] = None,
    words: Annotated[
        Literal["shown", "hidden"],
        option("hidden: the page opens with the game and shows the words afterwards."),
    ] = "shown",
    fmt: options.Format = "table",
) -> None:
    """Draw a board and list its words by length.

    Any board up to 12 x 12: Qu or Th is one tile, [q] a plain Q, . a hole, * any letter, [a/e]
    either, [un-] only at the beginning and [-ing] only at the end of a word.  Proofs exist only for
    boards of letters and Qu.
    """
    is_page = (out or "").endswith(".html")
    if word is not None and (out is None or is_page):
        hint = "give --out FILE.svg as well"
        raise InputError(f"--word {quote(word)} draws a path into a picture: {hint}")
    if words == "hidden" and not is_page:
        raise InputError("--words hidden is for a page to play on: give --out FILE.html as well")
    from orderly_boggle.cluster.boards.scoring import rollable

    scoring = rules.scoring()
    read = scoring.read(board, dims, tell)
    solved = scoring.solve(read)
    if out is not None:
        path = () if word is None else _path_of(word, scoring, read, solved)
        values = scoring.described(read, solved)
        file = _save(out, solved, values, path, is_hidden=words == "hidden")
        say(f"{file}: {solved.board}, {solved.worth}")
    elif fmt == "csv":
        rows = [item[:3] for item in solved.words]
        write_table(("word", "points", "letters"), rows, fmt)
    elif fmt == "json":
        record = solved.record(scoring.words)
        about = scoring.about(read, solved)
        can = about and rollable(solved.board, scoring.words)
        write_json({**record, "rollable": can, "place": about["place"]} if about else record)
    else:
        _show_to_people(solved, scoring.words.name, scoring.about(read, solved))


def _save(
    out: str, solved: Solved, values: Told, path: tuple[int, ...], *, is_hidden: bool
) -> Path:
    """Write the page or the picture of a board."""
    if not out.endswith(".html"):
        from orderly_boggle.cluster.boards.pictures import save_board

        return save_board(out, solved.rows, solved.heat, path)
    from orderly_boggle.cluster.web.board_page import board_page

    return write_file(Path(out), board_page(values, hidden=is_hidden).encode())


def _path_of(word: str, scoring: Scoring, board: AnyBoard, solved: Solved) -> tuple[int, ...]:
    paths = {item.word: item.path for item in solved.words}
    typed = scoring.as_listed(word.strip().lower(), paths)
    if typed in paths:
        return paths[typed]
    uncounted = scoring.uncounted(board, solved)
    refusal = scoring.refusal(scoring.as_listed(typed, uncounted), uncounted)
    raise InputError(
        f"--word {quote(word)} on {solved.board}: {refusal}; without --out, show lists its words"
    )


def _show_to_people(solved: Solved, wordlist: str, notes: Mapping[str, str]) -> None:
    from rich.columns import Columns

    out = console()
    out.print(draw_board(solved.rows, solved.heat))
    say(f"{solved.board}: {solved.worth} of {wordlist}")
    for note in filter(None, notes.values()):
        say(note)
    if out.is_terminal:
        out.print("The redder a cell, the more points the words through it are worth.", style="dim")
    for letters, group in groupby(solved.words, key=attrgetter("letters")):
        same = list(group)
        each = len({word.points for word in same}) == 1
        worth = ""
        if each:
            worth = f", {counted(same[0].points, 'point')} each"
        out.print()
        out.print(f"{letters} letters{worth} ({len(same)})", style="bold", markup=False)
        listed = [word.word if each else f"{word.word} {word.points}" for word in same]
        out.print(Columns(listed, padding=(0, 2), column_first=True))


@options.grouped
def score(
    rules: options.RuleOptions, dims: options.AnyDims = None, fmt: options.Format = "table"
) -> None:
    """Score the boards on standard input: one per line, or the CSV that top, climb, roll, compare
    or score print.
    """
    from orderly_boggle.cluster.boards.scoring import read_lines

    scoring = rules.scoring()
    if sys.stdin is None:
        raise InputError(
            "standard input is closed: expected boards, one per line, as in: orderly score < FILE"
        )
    if sys.stdin.isatty():
        tell("boards, one per line; end with Ctrl-D")
    boards: list[AnyBoard] = []
    notes: set[str] = set()
    lines = list(read_lines(sys.stdin.buffer.read(), notes.add, dims))
    for number, text, _ in lines:
        try:
            boards.append(scoring.read(text, dims, notes.add))
        except BoardError as error:
            raise BoardError(f"standard input, line {number}: {error}") from error
    for note in sorted(notes):
        tell(note)
    write_table(("board", "score"), scoring.scores(boards), fmt)


@options.grouped
def solve(
    rules: options.RuleOptions,
    board: options.TypedBoard,
    method: Annotated[
        str,
        option(
            "Which independent solver.",
            "--method",
            "-m",
            metavar="trie|words|paths|heap",
            autocompletion=options.complete_solvers,
        ),
    ] = "trie",
    dims: options.AnyDims = None,
    begin_only: Annotated[
        str | None,
        option("Cells that may only begin a word, by row and column: 1.1,3.2.", metavar="CELLS"),
    ] = None,
    end_only: Annotated[
        str | None, option("Cells that may only end a word.", metavar="CELLS")
    ] = None,
    fmt: options.Format = "table",
) -> None:
    """List the words on a board with a solver that shares no code with the scorer."""
    scoring = rules.scoring()
    read = scoring.read(board, dims, tell)
    if not isinstance(read, Tiles):
        begin = parse_cells(begin_only, read[0], "--begin-only")
        end = parse_cells(end_only, read[0], "--end-only")
        rows = _solved_by(method, scoring, read, begin, end)
    elif method == "trie" and not begin_only and not end_only:
        rows = [word[:3] for word in sorted(scoring.solve(read).words)]
    else:
        raise InputError(
            f"board {quote(board)} has special tiles or rules: leave --method, --begin-only "
            "and --end-only out"
        )
    write_table(("word", "points", "letters"), rows, fmt)
    if fmt == "table":
        total = counted(sum(points for _, points, _ in rows), "point")
        say(f"{total}, {counted(len(rows), 'word')} of {scoring.words.name}")


def _solved_by(
    method: str,
    scoring: Scoring,
    board: tuple[Dims, str],
    begin_only: tuple[int, ...],
    end_only: tuple[int, ...],
) -> list[tuple[str, int, int]]:
    from orderly_boggle.boardclass.scores import n_letters
    from orderly_boggle.search.solvers import Grid, make_solver

    words = scoring.words
    table = scoring.table
    size, symbols = board
    solver = make_solver(words.words, method)
    rows = []
    for word in solver.solve(Grid(symbols, size, begin_only, end_only)):
        if table.of(word):
            rows.append((words.spell(word), table.of(word), n_letters(word)))
    return rows


def parse_cells(text: str | None, size: Dims, option: str) -> tuple[int, ...]:
    """Return the cells that an option such as ``1.1,3.2`` names. Raises InputError if a part is not
    one.
    """
    from orderly_boggle.boardclass.geometry import read_cell

    cells = []
    for part in (text or "").replace(",", " ").split():
        cell = read_cell(part, *size)
        if cell is None:
            expected = f"expected ROW.COLUMN up to {size.h}.{size.w}, such as 1.1,2.1"
            raise InputError(f"{quote(part)} in {option} {quote(text)}: {expected}")
        cells.append(cell)
    return tuple(cells)


@options.grouped
def neighbours(
    listed: options.ListOptions,
    board: options.TypedBoard,
    dims: options.Dims = None,
    n: options.Limit = 10,
    fmt: options.Format = "table",
) -> None:
    """List the best boards one letter or one swap away."""
    from orderly_boggle.cluster.boards.typed import read_board
    from orderly_boggle.search.scoring.scorer import Scorer, best_neighbours

    words, table = listed.load()
    size, letters = read_board(board, dims, tell, words.letters)
    rows = best_neighbours(letters, Scorer(size, words, table), n, words.letters)
    write_table(("board", "change", "score", "difference"), rows, fmt)


def lists(
    board: options.TypedBoard,
    dims: options.Dims = None,
    scores: options.Scores = None,
    fmt: options.Format = "table",
) -> None:
    """Score a board with every word list that can be named."""
    from orderly_boggle.boardclass.wordlist import available_names, load_wordlist
    from orderly_boggle.cluster.boards.scoring import Scoring
    from orderly_boggle.cluster.boards.typed import read_board

    read_board(board, dims, tell)  # says once what is wrong, or turned
    table = boardclass.parse_scores("standard" if scores is None else scores)
    rows: list[tuple[Any, ...]] = []
    for name, path in available_names().items():
        try:
            words = load_wordlist(path)
        except WordListError as error:
            tell(f"left out {name}: {error}")
            continue
        scoring = Scoring(words, path, table)
        solved = scoring.solve(scoring.read(board, dims))
        rows.append((name, len(words.words), solved.score, len(solved.words)))
    write_table(("wordlist", "list_words", "score", "words"), rows, fmt)


@options.grouped
def roll(
    rules: options.DiceRules,
    dice: options.Dice = "new",
    n: options.Limit = 1,
    seed: options.RollSeed = None,
    min_words: Annotated[int, numeric("Roll until a board has at least N words.", min=0)] = 0,
    out: Annotated[
        str | None, option("Write a worksheet with the answers at the end.", metavar="FILE.pdf")
    ] = None,
    title: Annotated[
        str | None, option("Title of the worksheet.", metavar="TEXT", show_default="dice and seed")
    ] = None,
    lines: Annotated[
        int,
        numeric("Lines to write on next to each board of the worksheet.", min=0, max=30),
    ] = 0,
    paper: Annotated[
        Literal["a4", "letter"] | None,
        option(
            "Paper of the worksheet.", show_default="letter where the locale is American, else a4"
        ),
    ] = None,
    fmt: options.Format = "table",
) -> None:
    """Roll dice: random boards with their scores, by the points of the box unless others are given.

    Big Boggle and Super Big Boggle (6x6, with faces of two letters and a blank) count words of four
    letters or more.
    """
    from orderly_boggle.cluster.boards.dicesets import load_dice
    from orderly_boggle.cluster.boards.pictures import sheet
    from orderly_boggle.cluster.boards.scoring import rolled

    if out is not None and not out.lower().endswith(".pdf"):
        raise InputError(f"--out {quote(out)}: expected the name of a PDF, such as sheet.pdf")
    if out is None and (title is not None or lines or paper):
        raise InputError(
            "--title, --lines and --paper are for a worksheet: give --out FILE.pdf as well"
        )
    box = load_dice(dice)
    scoring = rules.scoring(box.scores)
    if seed is None:
        seed = random.randrange(2**32)
    boards = rolled(scoring, box, random.Random(seed), n, min_words)
    if out is not None:
        source = f"Dice {dice}, seed {seed}, word list {scoring.words.name}"
        solved = list(map(scoring.solve, boards))
        drawn = sheet(solved, source, scoring.table.counting, title or "", lines, paper)
        file = write_file(Path(out), drawn)
        again = f"with --seed {seed} the same boards again"
        say(f"{file}: {counted(n, 'board')}, their words last; {again}")
        return
    if fmt == "table" and n == 1:
        console().print(draw_board(scoring.solve(boards[0]).rows))
    write_table(("board", "score"), scoring.scores(boards), fmt)
