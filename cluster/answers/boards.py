"""``orderly show``, ``score`` and ``bound``: single boards and classes, no run directory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from boardclass.board import dims_of_length, format_rows, read_board
from boardclass.errors import BoardError, InputError, PartitionError, quote
from boardclass.geometry import DIMS, geometry, parse_dims
from boardclass.scores import n_letters, parse_scores
from boardclass.tracing import trace
from boardclass.wordlist import load_wordlist
from cluster.answers.board_list import read_lines
from cluster.answers.render import (
    Format,
    draw_board,
    full_spelling,
    heat_of_cells,
    points,
    write_json,
    write_record,
    write_table,
)
from cluster.streams import console, tell

if TYPE_CHECKING:
    from boardclass.geometry import Dims
    from boardclass.scores import ScoreTable
    from boardclass.wordlist import WordList
    from search.scoring.scorer import Found, Scorer


def words_and_table(wordlist: str | None, scores: str | None) -> tuple[WordList, ScoreTable]:
    """Return the word list and the score table that the options name, checked against each other."""
    from configs.model import DEFAULT_WORDLIST

    table = parse_scores("standard" if scores is None else scores)
    words = load_wordlist(DEFAULT_WORDLIST if wordlist is None else wordlist)
    return words, table


def scorer_for(dims: Dims, words: WordList, table: ScoreTable) -> Scorer:
    """Return the scorer of a board size, with the kernels loaded."""
    from search.scoring.scorer import Scorer

    return Scorer(dims, words.words, table)


def show(
    text: str,
    dims_text: str | None,
    wordlist: str | None,
    scores: str | None,
    word: str | None,
    out: str | None,
    fmt: Format,
) -> None:
    """Draw a board and list its words by length with their points; or draw it into a file."""
    if word is not None and out is None:
        raise InputError(f"--word {quote(word)} draws a path into a picture: give --out FILE.svg as well")
    dims, board = read_board(text, parse_dims(dims_text) if dims_text else None)
    path = _path_of(word, board, dims) if word is not None else ()
    words, table = words_and_table(wordlist, scores)
    scorer = scorer_for(dims, words, table)
    found = words_on(board, scorer)
    total = sum(word.points for word in found)
    if out is not None:
        from cluster.answers.draw_board import save_board

        heat = heat_of_cells(dims.n, ((item.points, item.path) for item in found))
        file = save_board(out, format_rows(board, dims), heat, path)
        console().print(f"{file}: {board}, {total:,} points, {len(found):,} words", markup=False, soft_wrap=True)
    elif fmt is Format.csv:
        rows = [(full_spelling(word.word), word.points, n_letters(word.word)) for word in found]
        write_table(("word", "points", "letters"), rows, fmt)
    elif fmt is Format.json:
        from cluster.answers.dice import rollable

        write_json(board_record(board, words, found) | {"rollable": rollable(board)})
    else:
        _show_to_people(board, dims, words, total, found)


def _path_of(word: str, board: str, dims: Dims) -> tuple[int, ...]:
    """Return the cells of a word, which need not be in the list."""
    path = trace(word.strip().lower().replace("qu", "q"), board, geometry(dims))
    if path is None:
        raise InputError(f"--word {quote(word)} cannot be traced on {board}; without --out, show lists its words")
    return path


def words_on(board: str, scorer: Scorer) -> list[Found]:
    """Return the words on a board, the longest first, equal lengths by their spelling."""
    return sorted(scorer.words(board), key=lambda word: (-n_letters(word.word), full_spelling(word.word)))


def board_record(board: str, words: WordList, found: Sequence[Found]) -> dict[str, object]:
    """Return what ``show --format json`` holds: the board, its list and score, and each word with its path."""
    listed = [
        {"word": full_spelling(word.word), "points": word.points, "letters": n_letters(word.word), "path": [*word.path]}
        for word in found
    ]
    return {
        "board": board,
        "dims": str(dims_of_length(len(board))),
        "wordlist": words.name,
        "wordlist_sha256": words.sha256,
        "score": sum(word.points for word in found),
        "n_words": len(listed),
        "words": listed,
    }


def _show_to_people(board: str, dims: Dims, words: WordList, total: int, found: list[Found]) -> None:
    from rich.columns import Columns

    from cluster.answers.dice import rollable_text

    out = console()
    out.print(draw_board(format_rows(board, dims), heat_of_cells(dims.n, ((w.points, w.path) for w in found))))
    out.print(f"{board}: {total:,} points, {len(found):,} words of {words.name}", markup=False)
    if told := rollable_text(board):
        out.print(told, markup=False)
    if out.is_terminal:
        out.print("The redder a cell, the more points of words run through it.", style="dim")
    for letters, group in groupby(found, key=lambda word: n_letters(word.word)):
        same = list(group)
        out.print()
        out.print(f"{letters} letters, {points(same[0].points)} each ({len(same)})", style="bold", markup=False)
        out.print(Columns([full_spelling(word.word) for word in same], padding=(0, 2), column_first=True))


def score(dims_text: str | None, wordlist: str | None, scores: str | None, fmt: Format) -> None:
    """Score the boards on standard input; nothing is printed unless every line is a board."""
    dims = parse_dims(dims_text) if dims_text else None
    words, table = words_and_table(wordlist, scores)
    if sys.stdin.isatty():
        tell("boards, one a line; end with Ctrl-D")
    boards: list[tuple[Dims, str]] = []
    for number, text, _ in read_lines(sys.stdin.buffer.read()):
        try:
            boards.append(read_board(text, dims))
        except BoardError as error:
            raise BoardError(f"standard input, line {number}: {error}") from error
    write_table(("board", "score"), score_boards(boards, words, table), fmt)


def score_boards(boards: list[tuple[Dims, str]], words: WordList, table: ScoreTable) -> list[tuple[str, int]]:
    """Return (board, score) in the order given, scoring boards of one size together."""
    of_size: dict[Dims, list[int]] = {}
    for index, (dims, _) in enumerate(boards):
        of_size.setdefault(dims, []).append(index)
    result = [0] * len(boards)
    for dims, indices in of_size.items():
        for index, value in zip(
            indices, scorer_for(dims, words, table).scores([boards[i][1] for i in indices]), strict=True
        ):
            result[index] = int(value)
    return [(board, value) for (_, board), value in zip(boards, result, strict=True)]


def bound(
    text: str,
    dims_text: str | None,
    buckets: str | None,
    wordlist: str | None,
    scores: str | None,
    fmt: Format,
) -> None:
    """Print the sum, max and orderly bounds of a class, given by number or by its letters."""
    dims, letters = class_letters(text, dims_text, buckets)
    words, table = words_and_table(wordlist, scores)
    scorer = scorer_for(dims, words, table)
    from search.paper import basic

    n_boards = 1
    for cell in letters:
        n_boards *= len(cell)
    record: dict[str, object] = {
        "class": " ".join(letters),
        "dims": str(dims),
        "n_boards": n_boards,
        "sum_bound": basic.sum_bound(letters, scorer),
        "max_bound": basic.max_bound(letters, scorer),
        "orderly_bound": basic.orderly_root_bound(letters, scorer),
    }
    write_record(record, fmt)


def class_letters(text: str, dims_text: str | None, buckets: str | None) -> tuple[Dims, tuple[str, ...]]:
    """Return the dimensions and the letters of each cell of the class that the command line names."""
    from boardclass.partition import parse_class, parse_partition
    from configs.model import load_config

    groups = text.split()
    if len(groups) == 1 and groups[0].isdecimal():
        if not dims_text:
            raise InputError(f"class {quote(text)} is a number: give --dims as well, or write the letters of each cell")
        size = str(parse_dims(dims_text))
        partition = parse_partition(load_config(None, {"dims": size, "buckets": buckets}).buckets, size)
        return partition.dims, partition.class_letters(int(groups[0]))
    if buckets is not None:
        raise InputError(f"--buckets {quote(buckets)} goes with the number of a class; {quote(text)} has its letters")
    try:
        dims = parse_dims(dims_text) if dims_text else dims_of_length(len(groups))
    except BoardError as error:
        raise PartitionError(
            f"class {quote(text)} has {len(groups)} groups of letters: expected one for each cell of {', '.join(DIMS)}"
        ) from error
    return dims, parse_class(text, dims)
