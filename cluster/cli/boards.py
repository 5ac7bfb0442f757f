"""``orderly show``, ``score``, ``solve``, ``neighbours``, ``lists`` and ``roll``: single boards."""

from __future__ import annotations

import random
import sys
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from boardclass.errors import BoardError, InputError, WordListError, quote
from boardclass.printable import counted
from boardclass.tiles import Tiles
from cluster.answers.render import Format, draw_board, write_json, write_table
from cluster.cli import options
from cluster.streams import console, tell, write_file

if TYPE_CHECKING:
    from boardclass.geometry import Dims
    from cluster.answers.boards import Asked, Board, Solved
    from search.solvers import Grid


class Words(StrEnum):
    """When the page of a board tells its words."""

    shown = "shown"
    hidden = "hidden"


Word = Annotated[
    str | None, Option(metavar="WORD", help="Draw the path of this word in the picture.")
]
Out = Annotated[
    str | None,
    Option(
        metavar="FILE",
        help="Write FILE.html, a page to look at and play on, without network; or draw "
        "FILE.svg or FILE.png.",
    ),
]
ShowWords = Annotated[
    Words, Option(help="hidden: the page opens with the game and shows the words afterwards.")
]


@options.grouped
def show(
    rules: options.Rules,
    board: options.Board,
    dims: options.Dims = None,
    word: Word = None,
    out: Out = None,
    words: ShowWords = Words.shown,
    fmt: options.Format = Format.table,
) -> None:
    """Draw a board and list its words by length.

    Any board up to 12 x 12: Qu or Th is one tile, [q] a plain Q, . a hole, * any letter, [a/e]
    either, [un-] only at the beginning and [-ing] only at the end of a word.  Proofs exist only for
    boards of letters and Qu.
    """
    is_page = (out or "").endswith(".html")
    if word is not None and (out is None or is_page):
        raise InputError(
            f"--word {quote(word)} draws a path into a picture: give --out FILE.svg as well"
        )
    if words is Words.hidden and not is_page:
        raise InputError("--words hidden is for a page to play on: give --out FILE.html as well")
    from cluster.answers.boards import rollable_text

    question = rules.asked()
    read = question.read(board, dims, tell)
    solved = question.solve(read)
    more = {} if isinstance(read, Tiles) else _about(question, read[1], solved)
    if out is not None:
        path = () if word is None else _path_of(word, read, solved)
        told = question.told(read, solved) | more
        _save(out, solved, told, path, is_hidden=words is Words.hidden)
    elif fmt is Format.csv:
        write_table(("word", "points", "letters"), [item[:3] for item in solved.words], fmt)
    elif fmt is Format.json:
        write_json(solved.record(question.words) | more)
    else:
        notes = [rollable_text(solved.board), more["place"]] if more else []
        _show_to_people(solved, question.words.name, notes)


def _about(question: Asked, symbols: str, solved: Solved) -> dict[str, Any]:
    """Return which dice can show a board of letters and Qu, and its place among all boards."""
    from cluster.answers.boards import rollable
    from cluster.answers.status import proven_place

    words, points = question.words.sha256, question.table.points
    place = proven_place(symbols, solved.dims, solved.score, words, points)
    return {"rollable": rollable(solved.board), "place": place}


def _save(
    out: str, solved: Solved, told: dict[str, Any], path: tuple[int, ...], *, is_hidden: bool
) -> None:
    """Write the page or the picture of a board."""
    if out.endswith(".html"):
        from cluster.web.board_page import board_page

        file = write_file(Path(out), board_page(told, hidden=is_hidden).encode())
    else:
        from cluster.answers.pictures import save_board

        file = save_board(out, solved.rows, solved.heat, path)
    score = f"{counted(solved.score, 'point')}, {counted(len(solved.words), 'word')}"
    console().print(f"{file}: {solved.board}, {score}", markup=False, soft_wrap=True)


def _path_of(word: str, board: Tiles | tuple[Dims, str], solved: Solved) -> tuple[int, ...]:
    """Return the cells of a word; on a board of letters and Qu it need not be in the list."""
    from boardclass.board import trace
    from boardclass.geometry import geometry

    spelled = word.strip().lower()
    path = next((item.path for item in solved.words if item.word == spelled), None)
    if path is None and not isinstance(board, Tiles):
        path = trace(spelled.replace("qu", "q"), board[1], geometry(board[0]))
    if path is None:
        raise InputError(
            f"--word {quote(word)} is not on {solved.board}; without --out, show lists its words"
        )
    return path


def _show_to_people(solved: Solved, wordlist: str, notes: list[str]) -> None:
    from rich.columns import Columns

    out = console()
    out.print(draw_board(solved.rows, solved.heat))
    told = (
        f"{solved.board}: {counted(solved.score, 'point')}, {counted(len(solved.words), 'word')} "
        f"of {wordlist}"
    )
    out.print("\n".join(filter(None, [told, *notes])), markup=False)
    if out.is_terminal:
        out.print("The redder a cell, the more points of words run through it.", style="dim")
    for letters, group in groupby(solved.words, key=lambda word: word.letters):
        same = list(group)
        each = len({word.points for word in same}) == 1
        worth = f", {counted(same[0].points, 'point')} each" if each else ""
        out.print()
        out.print(f"{letters} letters{worth} ({len(same)})", style="bold", markup=False)
        listed = [word.word if each else f"{word.word} {word.points}" for word in same]
        out.print(Columns(listed, padding=(0, 2), column_first=True))


@options.grouped
def score(
    rules: options.Rules, dims: options.Dims = None, fmt: options.Format = Format.table
) -> None:
    """Score the boards on standard input: one per line, or the CSV that top, climb, roll, compare
    or score print.
    """
    from cluster.answers.boards import read_lines

    question = rules.asked()
    if sys.stdin is None:
        raise InputError(
            "standard input is closed: expected boards, one per line, as in: orderly score < FILE"
        )
    if sys.stdin.isatty():
        tell("boards, one per line; end with Ctrl-D")
    boards: list[Board] = []
    notes: set[str] = set()
    lines = list(read_lines(sys.stdin.buffer.read(), notes.add, dims))
    for number, text, _ in lines:
        try:
            boards.append(question.read(text, dims, notes.add))
        except BoardError as error:
            raise BoardError(f"standard input, line {number}: {error}") from error
    for note in sorted(notes):
        tell(note)
    write_table(("board", "score"), question.scores(boards), fmt)


Method = Annotated[
    str,
    Option(
        "--method",
        "-m",
        metavar="trie|words|heap|paths",
        help="Which independent solver.",
        autocompletion=options.complete_solvers,
    ),
]
BeginOnly = Annotated[
    str | None,
    Option(metavar="CELLS", help="Cells that may only begin a word, by row and column: 1.1,3.2."),
]
EndOnly = Annotated[str | None, Option(metavar="CELLS", help="Cells that may only end a word.")]


@options.grouped
def solve(
    rules: options.Rules,
    board: options.Board,
    method: Method = "trie",
    dims: options.Dims = None,
    begin_only: BeginOnly = None,
    end_only: EndOnly = None,
    fmt: options.Format = Format.table,
) -> None:
    """List the words on a board with a solver that shares no code with the scorer."""
    question = rules.asked()
    read = question.read(board, dims, tell)
    if isinstance(read, Tiles):
        if method != "trie" or begin_only or end_only:
            raise InputError(
                f"board {quote(board)} has special tiles or rules: leave --method, --begin-only "
                "and --end-only out"
            )
        words = [word[:3] for word in sorted(question.solve(read).words)]
        write_table(("word", "points", "letters"), words, fmt)
        return
    from search.solvers import Grid

    size, symbols = read
    begin = parse_cells(begin_only, size, "--begin-only")
    end = parse_cells(end_only, size, "--end-only")
    _solve_by(method, question, Grid(symbols, (size.w, size.h), begin, end), fmt)


def _solve_by(method: str, question: Asked, grid: Grid, fmt: Format) -> None:
    from boardclass.board import with_letters
    from boardclass.scores import n_letters
    from search.solvers import PathsSolver, make_solver

    words, table = question.words, question.table
    columns = ("word", "points", "letters")
    solver = make_solver(words.words, method)
    n_paths = None
    if isinstance(solver, PathsSolver):
        spelled, n_paths = solver.solve_counted(grid)
    else:
        spelled = solver.solve(grid)
    rows = []
    for word in spelled:
        if table.of(word):
            rows.append((words.spell(word), table.of(word), n_letters(word)))
    letters = with_letters(grid.board, words.letters)
    total = sum(points for _, points, _ in rows)
    if fmt is Format.json:
        listed = [dict(zip(columns, row, strict=True)) for row in rows]
        record = {"board": letters, "method": method, "wordlist": words.name, "score": total}
        write_json({**record, "n_words": len(rows), "n_paths": n_paths, "words": listed})
        return
    write_table(columns, rows, fmt)
    if fmt is Format.table:
        paths = f", {n_paths:,} paths looked up" if n_paths is not None else ""
        score = f"{total:,} points, {len(rows):,} words of {words.name}"
        line = f"{letters}: {score} by method {method}{paths}"
        console().print(line, markup=False, soft_wrap=True)


def parse_cells(text: str | None, size: Dims, option: str) -> tuple[int, ...]:
    """Return the cells that an option such as ``1.1,3.2`` names. Raises InputError if a part is not
    one.
    """
    from boardclass.geometry import read_cell

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
    listed: options.Words,
    board: options.Board,
    dims: options.Dims = None,
    n: options.Limit = 10,
    fmt: options.Format = Format.table,
) -> None:
    """List the best boards one letter or one swap away."""
    from boardclass.board import read_board
    from search.scoring.scorer import Scorer, best_neighbours

    words, table = listed.load()
    size, letters = read_board(board, dims, tell, words.letters)
    rows = best_neighbours(letters, Scorer(size, words.words, table), n, words.letters)
    write_table(("board", "change", "score", "difference"), rows, fmt)


def lists(
    board: options.Board,
    dims: options.Dims = None,
    scores: options.Scores = None,
    fmt: options.Format = Format.table,
) -> None:
    """Score a board with every word list that can be named."""
    from boardclass.board import read_board
    from boardclass.scores import parse_scores
    from boardclass.wordlist import available_names, load_wordlist
    from search.scoring.scorer import Scorer

    size, letters = read_board(board, dims, tell)
    table = parse_scores("standard" if scores is None else scores)
    rows: list[tuple[Any, ...]] = []
    for name, path in available_names().items():
        try:
            words = load_wordlist(path)
        except WordListError as error:
            tell(f"left out {name}: {error}")
            continue
        found = Scorer(size, words.words, table).words(letters)
        rows.append((name, len(words.words), sum(word.points for word in found), len(found)))
    write_table(("wordlist", "list_words", "score", "words"), rows, fmt)


@options.grouped
def roll(
    rules: options.Rules,
    dice: options.Dice = "new",
    n: options.Limit = 1,
    seed: Annotated[
        int | None,
        Option(
            metavar="N",
            min=0,
            help="Seed: the same seed repeats the same rolls.",
            show_default="random",
        ),
    ] = None,
    min_words: Annotated[
        int, Option(metavar="N", min=0, help="Roll until a board has at least N words.")
    ] = 0,
    out: Annotated[
        str | None,
        Option(metavar="FILE.pdf", help="Write a worksheet with the answers at the end."),
    ] = None,
    title: Annotated[
        str | None,
        Option(metavar="TEXT", help="Title of the worksheet.", show_default="dice and seed"),
    ] = None,
    lines: Annotated[
        int,
        Option(
            metavar="N",
            min=0,
            max=30,
            help="Lines to write on next to each board of the worksheet.",
        ),
    ] = 0,
    fmt: options.Format = Format.table,
) -> None:
    """Roll dice: random boards with their scores, by the points of the box unless others are given.

    Big Boggle and Super Big Boggle (6x6, with faces of two letters and a blank) count words of four
    letters or more.
    """
    from cluster.answers.boards import rolled
    from configs.dicesets import load_dice

    if out is not None and not out.lower().endswith(".pdf"):
        raise InputError(f"--out {quote(out)}: expected the name of a PDF, such as sheet.pdf")
    if out is None and (title is not None or lines):
        raise InputError("--title and --lines are for a worksheet: give --out FILE.pdf as well")
    chosen = load_dice(dice)
    question = rules.asked(chosen.scores)
    seed = random.randrange(2**32) if seed is None else seed
    boards = rolled(question, chosen, random.Random(seed), n, min_words)
    if out is not None:
        from cluster.answers.pictures import sheet

        source = f"Dice {dice}, seed {seed}, word list {question.words.name}"
        solved = [question.solve(board) for board in boards]
        file = write_file(Path(out), sheet(solved, source, title or "", lines))
        again = f"with --seed {seed} the same boards again"
        said = f"{file}: {counted(n, 'board')}, their words last; {again}"
        console().print(said, markup=False, soft_wrap=True)
        return
    if fmt is Format.table and n == 1:
        _draw(boards[0])
    write_table(("board", "score"), question.scores(boards), fmt)


def _draw(board: Board) -> None:
    from boardclass.board import format_rows

    rows = board.rows if isinstance(board, Tiles) else format_rows(board[1], board[0])
    console().print(draw_board(rows))
