"""``orderly bound`` and ``explain``: the bounds of a class, and why it can be eliminated."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from orderly_boggle import results, search
from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.cluster.answers.render import Format, write_json, write_record, write_table
from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.options import argument, numeric, option
from orderly_boggle.cluster.streams import say, tell, write_file
from orderly_boggle.results.storage.files import named_run

if TYPE_CHECKING:
    from orderly_boggle.boardclass.geometry import Dims
    from orderly_boggle.boardclass.wordlist import WordList
    from orderly_boggle.search.scoring.scorer import Scorer


@dataclass(frozen=True)
class ClassOptions(options.Group):
    """A class of boards."""

    board_class: Annotated[
        str,
        argument(
            "CLASS",
            "A class number (with --dims, --buckets), or one group of letters per cell: "
            "'lnrsy aeiou ...'.",
        ),
    ]
    dims: options.Size = None
    buckets: options.Buckets = None

    def resolve(
        self, listed: options.ListOptions
    ) -> tuple[Dims, tuple[str, ...], WordList, Scorer]:
        """Return the size, the letters of each cell, the words and what scores boards."""
        from orderly_boggle.cluster.answers.classes import class_letters

        size, letters = class_letters(self.board_class, self.dims, self.buckets)
        words, table = listed.load()
        return size, letters, words, search.Scorer(size, words.words, table)


@options.grouped
def bound(
    listed: options.ListOptions,
    question: ClassOptions,
    tree: Annotated[
        bool,
        option("Draw the Sum/Choice tree and the orderly tree of a small class.", "--tree"),
    ] = False,
    out: Annotated[
        str | None, option("Write the trees to files instead.", metavar="FILE.svg|FILE.dot")
    ] = None,
    fmt: options.Format = "table",
) -> None:
    """Print upper bounds on the score of every board of a class."""
    from orderly_boggle.search.explain import story_of

    size, letters, words, scorer = question.resolve(listed)
    # --out without --tree can only mean the trees
    if tree or out is not None:
        _trees(letters, words, scorer, out)
        return
    story = story_of(size, letters, scorer, None)
    names = ("class", "dims", "n_boards", "sum_bound", "max_bound", "orderly_bound")
    told = {name: value for name, value in story.items() if name in names}
    write_record(told, fmt)


def _trees(letters: tuple[str, ...], words: WordList, scorer: Scorer, out: str | None) -> None:
    """Print the Sum/Choice tree and the orderly tree of a small class, or write them to FILE.svg or
    FILE.dot.
    """
    from orderly_boggle.search.explain import as_dot, as_svg, as_text, trees

    loose, orderly = trees(letters, words, scorer)
    if out is None:
        for title, node in (
            ("Sum/Choice tree (every path)", loose),
            ("Orderly tree (every term once)", orderly),
        ):
            say(f"{title}: bound {node.bound:,}", "bold")
            say(as_text(node))
        return
    path = Path(out)
    drawings = {".svg": as_svg, ".dot": as_dot}
    if path.suffix not in drawings:
        raise InputError(f"{quote(out)}: expected a name that ends in .svg or .dot")
    for kind, node in (("orderly", orderly), ("sum-choice", loose)):
        target = path.with_name(f"{path.stem}-{kind}{path.suffix}")
        write_file(target, drawings[path.suffix](node).encode())
        say(f"{target}: bound {node.bound:,}")


@options.grouped
def explain(
    listed: options.ListOptions,
    question: ClassOptions,
    cutoff: Annotated[
        int | None, numeric("Show where this cutoff eliminates the class.", min=1)
    ] = None,
    run: Annotated[
        str | None,
        option("Show what this run stored about class number CLASS.", metavar="DIR"),
    ] = None,
    fmt: options.Format = "table",
) -> None:
    """Explain one class: terms, bounds by forced cell, where it is eliminated."""
    if run is not None:
        settled = vars(question) | vars(listed) | {"cutoff": cutoff}
        _explain_stored(run, settled.pop("board_class"), settled, fmt)
        return
    from orderly_boggle.search.explain import narrate, story_of

    size, letters, _, scorer = question.resolve(listed)
    story = story_of(size, letters, scorer, cutoff)
    if fmt == "json":
        write_json(story)
    elif fmt == "csv":
        columns = ("cell", "letter", "bound")
        rows = [tuple(item.values()) for item in story["forced"]]
        write_table(columns, rows, fmt)
    else:
        for line in narrate(story):
            say(line)


@options.grouped
def export(
    listed: options.ListOptions,
    question: ClassOptions,
    fmt: Annotated[
        Literal["cfn", "lp", "mps"],
        option("cfn: toulbar2; lp, mps: linear and integer programs.", "--format"),
    ],
    out: Annotated[
        str | None, option("Write to this file, not to standard output.", metavar="FILE")
    ] = None,
    relaxed: Annotated[
        bool,
        option(
            "Leave out the letters of the board: the value is then the orderly bound (lp, mps).",
            "--relaxed",
        ),
    ] = False,
) -> None:
    """Write a class as a model for another solver, whose best value is the best multi-score.

    The deduplicated multi-score counts a word once for each set of letters and cells that spells
    it: it is at least the exact score.  To prove a cutoff with the solver, let it list all boards
    that reach it, and pipe them to orderly score.
    """
    from orderly_boggle.search.explain import model_lines

    size, letters, words, scorer = question.resolve(listed)
    lines = model_lines(size, letters, words.name, scorer, fmt, relaxed=relaxed)
    text = "".join(f"{line}\n" for line in lines)
    if out is None:
        sys.stdout.write(text)
        return
    write_file(Path(out), text.encode())
    tell(f"{out}: {len(text):,} bytes")


_COLUMNS = ("path", "status", "n_boards", "max_bound", "candidates")
_COUNTERS = ("n_terms", "n_pushes")


def _explain_stored(
    run: str, number: str, settled: Mapping[str, str | int | None], fmt: Format
) -> None:
    # letters would name a class of any partition, a number one of this run
    if not number.strip().isdecimal():
        raise InputError(
            f"class {quote(number)}: with --run, name the class by its number in the run"
        )
    # said, not ignored: the stored rows answer one question only
    if others := [f"--{name}" for name, value in settled.items() if value is not None]:
        raise InputError(
            f"--run {quote(run)} settles what {' and '.join(others)} would: leave them out"
        )
    directory = named_run(run)
    from orderly_boggle.boardclass.parts import depth
    from orderly_boggle.results.proof.known import check_known

    opened = results.open_run(directory)
    rows = []
    wanted = -1
    with suppress(ValueError):  # of thousands of digits Python makes no number, and no class has it
        wanted = int(number)
    for row in opened.rows():
        if row.class_id == wanted:
            rows.append(row)
    if not rows:
        raise InputError(
            f"the run in {quote(directory)} has no verdict on class {quote(number)} yet, "
            "or no such class"
        )
    # from the class down to its parts, as they were split
    rows.sort(key=lambda row: (depth(row.path), row.path))
    table = []
    for row in rows:
        first = row.path, row.status, row.n_boards, row.max_bound, len(row.candidates)
        counts = [row.counters[name] for name in _COUNTERS]
        table.append((*first, *counts, row.seconds))
    write_table((*_COLUMNS, *_COUNTERS, "seconds"), table, fmt)
    # what is shown is stored there all the same
    check_known(opened)
