"""``orderly solve``: the words on a board by one of the independent solvers."""

from __future__ import annotations

from typing import Annotated

import typer

from boardclass.errors import InputError, quote
from cluster.answers.render import Format, full_spelling, write_json, write_table
from cluster.cli.options import (
    BoardArgument,
    DimsOption,
    FormatOption,
    ScoresOption,
    WordlistOption,
    complete_solvers,
)
from cluster.streams import console, tell


def solve(
    board: BoardArgument,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="trie|words|heap|paths",
            help="Which independent solver.",
            autocompletion=complete_solvers,
        ),
    ] = "trie",
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    begin_only: Annotated[
        str | None, typer.Option(metavar="CELLS", help="Cells that may only begin a word, such as 0,5.")
    ] = None,
    end_only: Annotated[str | None, typer.Option(metavar="CELLS", help="Cells that may only end a word.")] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """List the words on a board by a solver that shares no code with the scorer."""
    from boardclass.board import read_board
    from boardclass.scores import n_letters
    from cluster.answers.boards import words_and_table
    from cluster.answers.tile_boards import Options, read_special, words_on_tiles
    from search.solvers import Grid, PathsSolver, make_solver

    words, table = words_and_table(wordlist, scores, plain_q=None)
    if tiles := read_special(board, dims, words, Options()):
        if method != "trie" or begin_only or end_only:
            raise InputError(f"board {quote(board)} has special tiles: leave --method, --begin-only and --end-only out")
        spelled = words_on_tiles(tiles, wordlist, table, Options())[1]
        write_table(("word", "points", "letters"), [(w.word, w.points, len(w.word)) for w in sorted(spelled)], fmt)
        return
    size, letters = read_board(board, dims, tell)
    begin, end = parse_cells(begin_only, size.n, "--begin-only"), parse_cells(end_only, size.n, "--end-only")
    solver = make_solver(words.words, method)
    grid = Grid(letters, (size.w, size.h), begin, end)
    n_paths = None
    if isinstance(solver, PathsSolver):
        found, n_paths = solver.solve_counted(grid)
    else:
        found = solver.solve(grid)
    rows = [(full_spelling(word), table.of(word), n_letters(word)) for word in found if table.of(word)]
    total = sum(points for _, points, _ in rows)
    if fmt is Format.json:
        listed = [dict(zip(("word", "points", "letters"), row, strict=True)) for row in rows]
        record = {"board": letters, "method": method, "wordlist": words.name, "score": total, "n_words": len(rows)}
        write_json({**record, "n_paths": n_paths, "words": listed})
        return
    write_table(("word", "points", "letters"), rows, fmt)
    if fmt is Format.table:
        paths = f", {n_paths:,} paths looked up" if n_paths is not None else ""
        line = f"{letters}: {total:,} points, {len(rows):,} words of {words.name} by method {method}{paths}"
        console().print(line, markup=False, soft_wrap=True)


def parse_cells(text: str | None, n_cells: int, option: str) -> tuple[int, ...]:
    """Return the cells that an option such as ``0,5`` names.

    Raises
    ------
    InputError
        If a part is not a cell of the board.
    """
    cells = []
    for part in (text or "").replace(",", " ").split():
        if not (part.isascii() and part.isdigit() and len(part) <= 3 and int(part) < n_cells):
            raise InputError(f"{quote(part)} in {option} {quote(text)}: expected cells 0 to {n_cells - 1}, such as 0,5")
        cells.append(int(part))
    return tuple(cells)
