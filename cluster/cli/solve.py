"""``orderly solve``: the words on a board by one of the independent solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from boardclass.errors import InputError, quote
from boardclass.tiles import Tiles
from cluster.answers.render import Format, write_json, write_table
from cluster.cli import options
from cluster.streams import console, tell

if TYPE_CHECKING:
    from boardclass.geometry import Dims


def solve(
    board: options.Board,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="trie|words|heap|paths",
            help="Which independent solver.",
            autocompletion=options.complete_solvers,
        ),
    ] = "trie",
    dims: options.Dims = None,
    wordlist: options.Wordlist = None,
    scores: options.Scores = None,
    begin_only: Annotated[
        str | None,
        typer.Option(metavar="CELLS", help="Cells that may only begin a word, by row and column: 1.1,3.2."),
    ] = None,
    end_only: Annotated[str | None, typer.Option(metavar="CELLS", help="Cells that may only end a word.")] = None,
    plain_q: options.PlainQ = False,
    min_letters: options.MinLetters = None,
    letter_values: options.Values = None,
    bonus: options.Bonus = None,
    fmt: options.Format = Format.table,
) -> None:
    """List the words on a board by a solver that shares no code with the scorer."""
    from boardclass.board import with_letters
    from boardclass.scores import n_letters
    from cluster.answers.scoring import asked
    from search.solvers import Grid, PathsSolver, make_solver

    question = asked(wordlist, scores, plain_q, min_letters, letter_values, bonus)
    words, table, read = question.words, question.table, question.read(board, dims, tell)
    if isinstance(read, Tiles):
        if method != "trie" or begin_only or end_only:
            raise InputError(
                f"board {quote(board)} has special tiles or rules: leave --method, --begin-only and --end-only out"
            )
        write_table(("word", "points", "letters"), [word[:3] for word in sorted(question.solve(read).words)], fmt)
        return
    size, letters = read
    begin, end = parse_cells(begin_only, size, "--begin-only"), parse_cells(end_only, size, "--end-only")
    solver = make_solver(words.words, method)
    grid = Grid(letters, (size.w, size.h), begin, end)
    n_paths = None
    if isinstance(solver, PathsSolver):
        found, n_paths = solver.solve_counted(grid)
    else:
        found = solver.solve(grid)
    rows = [(words.spell(word), table.of(word), n_letters(word)) for word in found if table.of(word)]
    letters = with_letters(letters, words.letters)
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


def parse_cells(text: str | None, size: Dims, option: str) -> tuple[int, ...]:
    """Return the cells that an option such as ``1.1,3.2`` names. Raises InputError if a part is not one."""
    from boardclass.geometry import read_cell

    cells = []
    for part in (text or "").replace(",", " ").split():
        cell = read_cell(part, *size)
        if cell is None:
            expected = f"expected ROW.COLUMN up to {size.h}.{size.w}, such as 1.1,2.1"
            raise InputError(f"{quote(part)} in {option} {quote(text)}: {expected}")
        cells.append(cell)
    return tuple(cells)
