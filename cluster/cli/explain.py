"""``orderly bound`` and ``explain``: the bounds of a class, and why it can be eliminated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from boardclass.errors import InputError, quote
from cluster.answers.render import Format, write_json, write_record, write_table
from cluster.cli import options
from cluster.streams import console, write_file

if TYPE_CHECKING:
    from boardclass.wordlist import WordList
    from search.scoring.scorer import Scorer


_Class = Annotated[
    str,
    Argument(
        metavar="CLASS",
        help="A class number (with --dims, --buckets), or one group of letters per cell: 'lnrsy "
        "aeiou ...'.",
        show_default=False,
    ),
]


@options.grouped
def bound(
    listed: options.Words,
    board_class: _Class,
    dims: options.Size = None,
    buckets: options.Buckets = None,
    tree: Annotated[
        bool,
        Option("--tree", help="Draw the Sum/Choice tree and the orderly tree of a small class."),
    ] = False,
    out: Annotated[
        str | None, Option(metavar="FILE.svg|FILE.dot", help="Write the trees to files instead.")
    ] = None,
    fmt: options.Format = Format.table,
) -> None:
    """Print upper bounds on the score of every board of a class."""
    from cluster.answers.explain import class_letters, tell
    from search.scoring.scorer import Scorer

    size, letters = class_letters(board_class, dims, buckets)
    words, table = listed.load()
    scorer = Scorer(size, words.words, table)
    if tree or out is not None:
        _trees(letters, words, scorer, out)
        return
    story = tell(size, letters, scorer, None)
    names = ("class", "dims", "n_boards", "sum_bound", "max_bound", "orderly_bound")
    write_record({name: story[name] for name in names}, fmt)


def _trees(letters: tuple[str, ...], words: WordList, scorer: Scorer, out: str | None) -> None:
    """Print the Sum/Choice tree and the orderly tree of a small class, or write them to FILE.svg or
    FILE.dot.
    """
    from cluster.answers.explain import as_dot, as_svg, as_text, trees

    loose, orderly = trees(letters, words, scorer)
    if out is None:
        say = console()
        for title, node in (
            ("Sum/Choice tree (every path)", loose),
            ("Orderly tree (every term once)", orderly),
        ):
            say.print(f"{title}: bound {node.bound:,}", style="bold", markup=False)
            say.print(as_text(node), markup=False, soft_wrap=True)
        return
    path = Path(out)
    drawings = {".svg": as_svg, ".dot": as_dot}
    if path.suffix not in drawings:
        raise InputError(f"{quote(out)}: expected a name that ends in .svg or .dot")
    for kind, node in (("orderly", orderly), ("sum-choice", loose)):
        target = path.with_name(f"{path.stem}-{kind}{path.suffix}")
        write_file(target, drawings[path.suffix](node).encode())
        console().print(f"{target}: bound {node.bound:,}", markup=False, soft_wrap=True)


@options.grouped
def explain(
    listed: options.Words,
    board_class: _Class,
    dims: options.Size = None,
    buckets: options.Buckets = None,
    cutoff: Annotated[
        int | None, Option(metavar="N", min=1, help="Show where this cutoff eliminates the class.")
    ] = None,
    run: Annotated[
        str | None,
        Option(metavar="DIR", help="Show what this run stored about class number CLASS."),
    ] = None,
    fmt: options.Format = Format.table,
) -> None:
    """Explain one class: terms, bounds by forced cell, where it is eliminated."""
    if run is not None:
        settled = {"dims": dims, "buckets": buckets, **vars(listed), "cutoff": cutoff}
        _explain_stored(run, board_class, settled, fmt)
        return
    from cluster.answers.explain import class_letters, narrate, tell
    from search.scoring.scorer import Scorer

    size, letters = class_letters(board_class, dims, buckets)
    words, table = listed.load()
    story = tell(size, letters, Scorer(size, words.words, table), cutoff)
    if fmt is Format.json:
        write_json(story)
    elif fmt is Format.csv:
        write_table(
            ("cell", "letter", "bound"), [tuple(item.values()) for item in story["forced"]], fmt
        )
    else:
        for line in narrate(story):
            console().print(line, markup=False, soft_wrap=True)


def _explain_stored(run: str, board_class: str, settled: dict[str, object], fmt: Format) -> None:
    if not board_class.strip().isdecimal():
        raise InputError(
            f"class {quote(board_class)}: with --run, name the class by its number in the run"
        )
    if others := [f"--{name}" for name, value in settled.items() if value is not None]:
        raise InputError(
            f"--run {quote(run)} settles what {' and '.join(others)} would: leave them out"
        )
    class_id = int(board_class)
    directory = options.named_run(run)
    from boardclass.parts import depth
    from results.store.run import open_run

    rows = sorted(
        (row for row in open_run(directory).rows() if row.class_id == class_id),
        key=lambda row: (depth(row.path), row.path),
    )
    if not rows:
        raise InputError(
            f"the run in {quote(directory)} has no verdict on class {class_id} yet, "
            "or no such class"
        )
    columns = (
        "path",
        "status",
        "n_boards",
        "max_bound",
        "candidates",
        "n_terms",
        "n_pushes",
        "seconds",
    )
    told = [{**vars(row), **row.counters, "candidates": len(row.candidates)} for row in rows]
    write_table(columns, [[item[name] for name in columns] for item in told], fmt)
