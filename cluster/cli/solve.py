"""``orderly solve``: the words on a board by one of the independent solvers."""

from __future__ import annotations

from boardclass.board import read_board
from boardclass.errors import InputError, quote
from boardclass.geometry import parse_dims
from boardclass.scores import n_letters, parse_scores
from boardclass.wordlist import load_wordlist
from cluster.answers.render import Format, full_spelling, write_json, write_table
from cluster.streams import console


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


def solve(
    text: str,
    method: str,
    dims_text: str | None,
    wordlist: str | None,
    scores: str | None,
    begin_only: str | None,
    end_only: str | None,
    fmt: Format,
) -> None:
    """Print the words on a board with their points, in alphabetical order of their stored form."""
    from configs.model import DEFAULT_WORDLIST
    from search.solvers import Grid, PathsSolver, make_solver

    dims, board = read_board(text, parse_dims(dims_text) if dims_text else None)
    begin, end = parse_cells(begin_only, dims.n, "--begin-only"), parse_cells(end_only, dims.n, "--end-only")
    table = parse_scores("standard" if scores is None else scores)
    words = load_wordlist(DEFAULT_WORDLIST if wordlist is None else wordlist)
    solver = make_solver(words.words, method)
    grid = Grid(board, (dims.w, dims.h), begin, end)
    n_paths = None
    if isinstance(solver, PathsSolver):
        found, n_paths = solver.solve_counted(grid)
    else:
        found = solver.solve(grid)
    rows = [(full_spelling(word), table.of(word), n_letters(word)) for word in found if table.of(word)]
    total = sum(points for _, points, _ in rows)
    if fmt is Format.json:
        listed = [dict(zip(("word", "points", "letters"), row, strict=True)) for row in rows]
        record = {"board": board, "method": method, "wordlist": words.name, "score": total, "n_words": len(rows)}
        write_json({**record, "n_paths": n_paths, "words": listed})
        return
    write_table(("word", "points", "letters"), rows, fmt)
    if fmt is Format.table:
        paths = f", {n_paths:,} paths looked up" if n_paths is not None else ""
        line = f"{board}: {total:,} points, {len(rows):,} words of {words.name} by method {method}{paths}"
        console().print(line, markup=False, soft_wrap=True)
