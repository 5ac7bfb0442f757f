"""``orderly compare``: the boards of a run beside those of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boardclass.errors import BoardError, InputError, OrderlyError, quote
from cluster.answers.render import Format, write_json, write_table
from cluster.answers.status import require_all_proven, run_wordlist, tell_so_far
from cluster.cli import options
from cluster.streams import console, tell

if TYPE_CHECKING:
    from boardclass.geometry import Geometry
    from results.store.run import Run

MAX_FILE_BYTES = 2**26
BOTH, ONLY_HERE, ONLY_THERE, BELOW = "both", "only here", "only there", "below cutoff"


def compare(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN|FILE",
            help="A run directory, the latest under runs by default; boards, one a line, a score may follow.",
            show_default=False,
        ),
    ],
    wordlist: options.RunWordlist = None,
    fmt: options.Format = Format.table,
) -> None:
    """Compare the boards of a run with those of a file, whatever their rotation.

    FILE: what climb, top or score print as CSV, a published list, or bare boards, which are scored with the run's word
    list.  Boards of the file with a score below the cutoff of the run are listed separately: the run says nothing about
    them.
    """
    *directories, file = words
    if len(directories) > 1:
        raise typer.BadParameter(f"expected one run and one file, not {len(words)} arguments", param_hint="FILE")
    directory = options.chosen_run(*directories)
    from boardclass.board import with_letters
    from boardclass.cutoff import reaches
    from boardclass.geometry import geometry, parse_dims
    from results.proof.prove import summary
    from results.store.run import open_run

    run = open_run(directory)
    shape = geometry(parse_dims(run.fingerprint.dims))
    found = summary(run)
    here = {item.board: item.score for item in found.listed.boards}
    letters = found.question.letters
    there = read_boards(file, shape, letters)
    bare = [board for board, score in there.items() if score is None and board not in here]
    scored = here | _scores_of(run, bare, wordlist)
    cutoff = run.fingerprint.cutoff
    rows: list[tuple[str, str, int | None, int | None]] = []
    for board in here.keys() | there.keys():
        score = there.get(board)
        if board in here:
            where = BOTH if board in there else ONLY_HERE
        else:
            value = scored.get(board) if score is None else score
            where = ONLY_THERE if value is None or reaches(value, cutoff) else BELOW
        rows.append((where, with_letters(board, letters), scored.get(board), score))
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
        tell_so_far({directory: found})
        write_table(("where", "board", "score", "file_score"), rows, fmt)
        told = ", ".join(f"{n:,} {name}" for name, n in counts.items() if n or name != BELOW)
        differing = sum(row[2] is not None and row[3] is not None and row[2] != row[3] for row in rows)
        more = f"; {differing:,} with another score: another word list or score table?" if differing else ""
        console().print(f"{told}{more}", markup=False, soft_wrap=True)
    require_all_proven({directory: found})


def _scores_of(run: Run, boards: Sequence[str], wordlist: str | None) -> dict[str, int]:
    """Return the scores of boards with the word list and points of a run; if the list is not here, none, and say so."""
    from boardclass.scores import ScoreTable
    from search.scoring.scorer import Scorer

    if not boards:
        return {}
    try:
        words = run_wordlist(run, wordlist)
    except OrderlyError as error:
        if wordlist is not None:
            raise
        tell(f"orderly: boards without a score are not scored: {error}")
        return {}
    table = ScoreTable("run", run.fingerprint.scores)
    values = Scorer(run.fingerprint.dims, words.words, table).scores(boards).tolist()
    return dict(zip(boards, values, strict=True))


def read_boards(path: str, shape: Geometry, letters: Mapping[str, str] | None = None) -> dict[str, int | None]:
    """Return the boards of a file by canonical form, each with the score that the file gives, if any.

    Raises InputError if the file cannot be read or a line is not a board; the message gives the line.
    """
    from boardclass.board import NO_LETTERS, read_board
    from boardclass.canonical import canonical_board
    from cluster.answers.board_list import read_lines

    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read the boards in {quote(path)}: {reason}; check the path") from error
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{quote(path)} has more than {MAX_FILE_BYTES // 2**20} MiB: expected a list of boards")
    found: dict[str, int | None] = {}
    for number, text, score in read_lines(data):
        try:
            board = canonical_board(read_board(text, shape.dims, letters=letters or NO_LETTERS)[1], shape)
        except BoardError as error:
            raise BoardError(f"{path}, line {number}: {error}") from error
        found[board] = score
    return found
