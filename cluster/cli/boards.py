"""``orderly show``, ``score``, ``neighbours``, ``lists`` and ``roll``: single boards."""

from __future__ import annotations

import random
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boardclass.errors import BoardError, InputError, WordListError, quote
from boardclass.printable import counted
from boardclass.tiles import Tiles
from cluster.answers.render import (
    Format,
    draw_board,
    full_spelling,
    heat_of_cells,
    points,
    write_json,
    write_table,
)
from cluster.cli.options import (
    BoardArgument,
    BonusOption,
    DimsOption,
    FormatOption,
    LimitOption,
    MinLettersOption,
    PlainQOption,
    ScoresOption,
    ValuesOption,
    WordlistOption,
    complete_dice,
)
from cluster.streams import console, tell

if TYPE_CHECKING:
    from boardclass.geometry import Dims
    from boardclass.scores import ScoreTable
    from cluster.answers.tile_boards import Options
    from search.scoring.scorer import Found


def show(
    board: BoardArgument,
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    word: Annotated[
        str | None, typer.Option("--word", metavar="WORD", help="Draw the path of this word into the picture.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE.svg|FILE.png", help="Draw the board into a file instead.")
    ] = None,
    plain_q: PlainQOption = False,
    min_letters: MinLettersOption = None,
    letter_values: ValuesOption = None,
    bonus: BonusOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Draw a board and list its words by length.

    Any board up to 10 x 10: Qu or Th is one tile, [q] a plain Q, . a hole, * any letter, [a/e] either, [un-] only at
    the beginning and [-ing] only at the end of a word.  Proofs take letters and Qu only.
    """
    if word is not None and out is None:
        raise InputError(f"--word {quote(word)} draws a path into a picture: give --out FILE.svg as well")
    from boardclass.board import format_rows, read_board
    from boardclass.scores import n_letters
    from cluster.answers.boards import board_record, words_and_table, words_on
    from cluster.answers.tile_boards import Options, read_special
    from search.scoring.scorer import Scorer

    words, table = words_and_table(wordlist, scores, plain_q=None)
    options = Options(plain_q, min_letters, letter_values, bonus)
    if tiles := read_special(board, dims, words, options):
        if out is not None:
            raise InputError(f"--out {quote(out)} draws boards of letters and Qu under the usual rules; leave it out")
        _show_tiles(tiles, wordlist, table, options, fmt)
        return
    size, letters = read_board(board, dims, tell)
    path = _path_of(word, letters, size) if word is not None else ()
    found = words_on(letters, Scorer(size, words.words, table))
    total = sum(word.points for word in found)
    if out is not None:
        from cluster.answers.draw_board import save_board

        heat = heat_of_cells(size.n, ((item.points, item.path) for item in found))
        file = save_board(out, format_rows(letters, size), heat, path)
        console().print(f"{file}: {letters}, {total:,} points, {len(found):,} words", markup=False, soft_wrap=True)
    elif fmt is Format.csv:
        rows = [(full_spelling(word.word), word.points, n_letters(word.word)) for word in found]
        write_table(("word", "points", "letters"), rows, fmt)
    elif fmt is Format.json:
        from cluster.answers.boards import rollable

        write_json(board_record(letters, words, found) | {"rollable": rollable(letters)})
    else:
        _show_to_people(letters, size, words.name, total, found)


def _path_of(word: str, board: str, dims: Dims) -> tuple[int, ...]:
    """Return the cells of a word, which need not be in the list."""
    from boardclass.geometry import geometry
    from boardclass.tracing import trace

    path = trace(word.strip().lower().replace("qu", "q"), board, geometry(dims))
    if path is None:
        raise InputError(f"--word {quote(word)} cannot be traced on {board}; without --out, show lists its words")
    return path


def _show_tiles(board: Tiles, wordlist: str | None, table: ScoreTable, options: Options, fmt: Format) -> None:
    """Print a board that no proof takes, and its words."""
    from rich.columns import Columns

    from cluster.answers.tile_boards import words_on_tiles

    words, found = words_on_tiles(board, wordlist, table, options)
    total = sum(word.points for word in found)
    listed = [(word.word, word.points, len(word.word)) for word in found]
    if fmt is Format.csv:
        write_table(("word", "points", "letters"), listed, fmt)
        return
    if fmt is Format.json:
        told = {"board": str(board), "dims": f"{board.w}x{board.h}", "wordlist": words.name}
        listed_words = [word._asdict() for word in found]
        write_json(
            {**told, "wordlist_sha256": words.sha256, "score": total, "n_words": len(found), "words": listed_words}
        )
        return
    out = console()
    out.print(draw_board(board.rows, heat_of_cells(len(board.tiles), ((w.points, w.path) for w in found))))
    out.print(f"{board}: {points(total)}, {counted(len(found), 'word')} of {words.name}", markup=False)
    for letters, group in groupby(found, key=lambda word: len(word.word)):
        same = list(group)
        out.print()
        out.print(f"{letters} letters ({len(same)})", style="bold", markup=False)
        out.print(Columns([f"{word.word} {word.points}" for word in same], padding=(0, 2), column_first=True))


def _show_to_people(board: str, dims: Dims, wordlist: str, total: int, found: list[Found]) -> None:
    from rich.columns import Columns

    from boardclass.board import format_rows
    from boardclass.scores import n_letters
    from cluster.answers.boards import rollable_text

    out = console()
    out.print(draw_board(format_rows(board, dims), heat_of_cells(dims.n, ((w.points, w.path) for w in found))))
    out.print(f"{board}: {total:,} points, {len(found):,} words of {wordlist}", markup=False)
    if told := rollable_text(board):
        out.print(told, markup=False)
    if out.is_terminal:
        out.print("The redder a cell, the more points of words run through it.", style="dim")
    for letters, group in groupby(found, key=lambda word: n_letters(word.word)):
        same = list(group)
        out.print()
        out.print(f"{letters} letters, {points(same[0].points)} each ({len(same)})", style="bold", markup=False)
        out.print(Columns([full_spelling(word.word) for word in same], padding=(0, 2), column_first=True))


def score(
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    plain_q: PlainQOption = False,
    min_letters: MinLettersOption = None,
    letter_values: ValuesOption = None,
    bonus: BonusOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Score the boards on standard input: one a line, or the CSV that top, climb, roll, compare or score print."""
    from boardclass.board import read_board
    from cluster.answers.board_list import read_lines
    from cluster.answers.boards import score_boards, words_and_table
    from cluster.answers.tile_boards import Options, read_special, words_on_tiles

    words, table = words_and_table(wordlist, scores, plain_q=None)
    options = Options(plain_q, min_letters, letter_values, bonus)
    if sys.stdin is None:
        raise InputError("standard input is closed: expected boards, one a line, as in: orderly score < FILE")
    if sys.stdin.isatty():
        tell("boards, one a line; end with Ctrl-D")
    boards: list[Tiles | tuple[Dims, str]] = []
    notes: set[str] = set()
    for number, text, _ in read_lines(sys.stdin.buffer.read()):
        try:
            boards.append(read_special(text, dims, words, options) or read_board(text, dims, notes.add))
        except BoardError as error:
            raise BoardError(f"standard input, line {number}: {error}") from error
    for note in sorted(notes):
        tell(note)
    usual = iter(score_boards([board for board in boards if not isinstance(board, Tiles)], words, table))
    rows = [
        (str(board), sum(word.points for word in words_on_tiles(board, wordlist, table, options)[1]))
        if isinstance(board, Tiles)
        else next(usual)
        for board in boards
    ]
    write_table(("board", "score"), rows, fmt)


def neighbours(
    board: BoardArgument,
    dims: DimsOption = None,
    n: LimitOption = 10,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """List the best boards one letter or one swap away."""
    from boardclass.board import read_board
    from cluster.answers.boards import best_neighbours, words_and_table
    from search.scoring.scorer import Scorer

    words, table = words_and_table(wordlist, scores)
    size, letters = read_board(board, dims, tell, words.letters)
    rows = best_neighbours(letters, Scorer(size, words.words, table), n, words.letters)
    write_table(("board", "change", "score", "difference"), rows, fmt)


def lists(
    board: BoardArgument,
    dims: DimsOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Score a board under every word list that can be named."""
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


def roll(
    dice: Annotated[
        str,
        typer.Option(
            "--dice",
            metavar="NAME|FILE",
            help="classic, new, big, super, or a TOML file.",
            autocompletion=complete_dice,
        ),
    ] = "new",
    n: LimitOption = 1,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", min=0, help="Repeats the same rolls.", show_default="random")
    ] = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Roll dice: random boards with their scores, by the points of the box unless others are given.

    Big Boggle and Super Big Boggle (6x6, with faces of two letters and a blank) count words of four letters or more.
    """
    from boardclass import rolling
    from boardclass.board import format_rows
    from boardclass.geometry import parse_dims
    from cluster.answers.boards import score_boards, words_and_table
    from cluster.answers.tile_boards import Options, read_special, words_on_tiles
    from configs.dicesets import load_dice

    chosen = load_dice(dice)
    words, table = words_and_table(wordlist, scores or chosen.scores)
    rng = random.Random(seed)
    boards = [rolling.roll(chosen.dice, rng) for _ in range(n)]
    special = [tiles for board in boards if (tiles := read_special(board, chosen.dims, words, Options()))]
    rows: list[tuple[Any, ...]]
    if special:
        drawn = special[0].rows
        found = [words_on_tiles(tiles, wordlist, table, Options())[1] for tiles in special]
        rows = [(str(tiles), sum(word.points for word in its)) for tiles, its in zip(special, found, strict=True)]
    else:
        drawn, size = format_rows(boards[0], chosen.dims), parse_dims(chosen.dims)
        rows = [*score_boards([(size, board) for board in boards], words, table)]
    if fmt is Format.table and n == 1:
        console().print(draw_board(drawn))
    write_table(("board", "score"), rows, fmt)
