"""The ``orderly`` command line: options, exit codes and error messages; the work is done in ``cluster/cli_*.py``.

Only typer is imported here and the commands import what they need, so that ``orderly --help`` answers at once.

Exit codes: 0 done or proved, 1 a bug of ours, 2 bad input, 3 run directory damaged or of another run, 4 run incomplete
or interrupted (also when results of such a run are shown), 5 stored evidence does not match, 130 another command
interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from cluster import cli_complete, cli_runs, cli_serve, cli_watch, cli_workbench
from cluster.cli_group import EPILOG, INTRO, Sections
from cluster.cli_options import (
    BucketsOption,
    ConfigArgument,
    CutoffOption,
    DimsOption,
    FormatOption,
    LimitOption,
    MemoryOption,
    OrderOption,
    ProbesOption,
    RunDirectories,
    RunDirectory,
    RunWordlistOption,
    ScoresOption,
    SeedOption,
    WordlistOption,
    given,
)
from cluster.render import Format, tell

EXIT_BUG = 1
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="orderly",
    cls=Sections,
    help=INTRO,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"orderly {version('orderly')}")
        except PackageNotFoundError:
            typer.echo("orderly (not installed, run from its sources)")
        raise typer.Exit


@app.callback()
def common(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Accept the options in front of the command; ``main`` has acted on ``--debug`` already."""


@app.command()
def plan(
    config: ConfigArgument = None,
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    cutoff: CutoffOption = None,
    buckets: BucketsOption = None,
    order: OrderOption = None,
    scores: ScoresOption = None,
    seconds: Annotated[float, typer.Option(metavar="S", min=0, help="Time to spend on probes.")] = 300,
    price: Annotated[float, typer.Option(metavar="P", min=0, help="Price of one core for an hour.")] = 0.02,
    memory: MemoryOption = None,
    seed: SeedOption = 0,
    workers: ProbesOption = 1,
    fmt: FormatOption = Format.table,
) -> None:
    """Estimate what a run will cost, from random classes: core hours, memory, price."""
    from cluster import cli_plan

    options = given(memory, dims=dims, wordlist=wordlist, cutoff=cutoff, buckets=buckets, order=order, scores=scores)
    cli_plan.plan(config, options, seconds, price, seed, workers, fmt)


@app.command()
def tune(
    config: ConfigArgument = None,
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    cutoff: CutoffOption = None,
    buckets: BucketsOption = None,
    scores: ScoresOption = None,
    rounds: Annotated[int, typer.Option(metavar="N", min=2, help="Random classes of each of four strata.")] = 4,
    seed: SeedOption = 0,
    workers: ProbesOption = 1,
    fmt: FormatOption = Format.table,
) -> None:
    """Compare partitions, budgets and cell orders on the same random classes."""
    from cluster import cli_plan

    options = given(dims=dims, wordlist=wordlist, cutoff=cutoff, buckets=buckets, scores=scores)
    cli_plan.tune(config, options, rounds, seed, workers, fmt)


@app.command()
def run(
    config: ConfigArgument = None,
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    cutoff: Annotated[
        str | None,
        typer.Option(metavar="N|auto", help="Lowest score to report; auto: the best of a hill climb."),
    ] = None,
    buckets: BucketsOption = None,
    order: OrderOption = None,
    scores: ScoresOption = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Ray workers; 0: this process only.", show_default="config")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="auto|HOST:PORT|ray://HOST:PORT",
            help="Work on this Ray cluster, on every processor or --workers of them.",
        ),
    ] = None,
    memory: MemoryOption = None,
    replicate: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="Verdicts to find a second time in another way.", show_default="1"),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of the hill climb.")] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Run directory.", show_default="runs/DIMS-WORDLIST-CUTOFF")
    ] = None,
    extend: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Take over what another run of another cutoff proves at this one, too."),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Search the K-th of N equal shares of the classes only; `orderly merge` puts them together.",
        ),
    ] = None,
    drop_damaged: Annotated[
        bool, typer.Option("--drop-damaged", help="Compute again what damaged files held, instead of stopping.")
    ] = False,
) -> None:
    """Find every board at or above the cutoff and prove there is no other; run it again to resume."""
    from cluster import cli_run

    options = given(
        memory,
        dims=dims,
        wordlist=wordlist,
        cutoff=cutoff,
        buckets=buckets,
        order=order,
        scores=scores,
        workers=workers,
        address=address,
        replicate=replicate,
        seed=seed,
        out=out,
    )
    cli_run.run(config, options, drop_damaged=drop_damaged, extends=extend, share=share)


@app.command()
def merge(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Run directory, old or new.", show_default=False)],
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE...", help="Runs of the same question.", show_default=False)
    ],
    fmt: FormatOption = Format.table,
) -> None:
    """Put runs of the same question together: TARGET gets what it lacks, as new files; nothing else changes."""
    from cluster import cli_merge

    cli_merge.merge(target, sources, fmt)


@app.command()
def status(
    directory: RunDirectory,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="All figures, not only the first ten.")] = False,
    fmt: FormatOption = Format.table,
) -> None:
    """Tell how far a run is, who works on it and how long still, what it found, the digest of its result."""
    from cluster import cli_status

    cli_status.status(directory, fmt, verbose=verbose)


@app.command()
def top(
    directories: RunDirectories,
    n: LimitOption = 10,
    contains: Annotated[
        list[str] | None,
        typer.Option("--contains", metavar="WORD", help="Only boards on which WORD can be traced; may be repeated."),
    ] = None,
    min_words: Annotated[int, typer.Option(metavar="N", min=0, help="Only boards with so many words.")] = 0,
    rollable: Annotated[
        str | None,
        typer.Option(
            metavar="DICE",
            help="Only boards that these dice can show: classic, new, big, or a TOML file.",
            autocompletion=cli_complete.dice,
        ),
    ] = None,
    wordlist: Annotated[
        str | None,
        typer.Option(
            "--wordlist",
            "-w",
            metavar="NAME|PATH",
            help="For --min-words.",
            show_default="that of the run",
            autocompletion=cli_complete.wordlists,
        ),
    ] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """List the best boards of one or more runs."""
    from cluster import cli_sql

    filters = cli_sql.Filters(tuple(contains or ()), min_words, rollable)
    cli_sql.top(directories, n, filters, wordlist, fmt)


@app.command()
def show(
    board: Annotated[str, typer.Argument(help="The letters down the columns; q is a Qu cell.", show_default=False)],
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    word: Annotated[
        str | None, typer.Option("--word", metavar="WORD", help="Draw the path of this word into the picture.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE.svg|FILE.png", help="Draw the board into a file instead.")
    ] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Draw a board and list its words by length."""
    from cluster import cli_boards

    cli_boards.show(board, dims, wordlist, scores, word, out, fmt)


@app.command()
def score(
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Score the boards on standard input, one a line."""
    from cluster import cli_boards

    cli_boards.score(dims, wordlist, scores, fmt)


@app.command()
def bound(
    board_class: Annotated[
        str,
        typer.Argument(
            metavar="CLASS",
            help="A number of --dims and --buckets, or one group of letters per cell, as in 'lnrsy aeiou ...'.",
            show_default=False,
        ),
    ],
    dims: DimsOption = None,
    buckets: BucketsOption = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="Draw the Sum/Choice tree and the orderly tree of a small class.")
    ] = False,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE.svg|FILE.dot", help="Write the trees to files instead.")
    ] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Print upper bounds on the score of every board of a class."""
    from cluster import cli_boards, cli_explain

    if tree or out is not None:
        cli_explain.tree(board_class, dims, buckets, wordlist, scores, out)
        return

    cli_boards.bound(board_class, dims, buckets, wordlist, scores, fmt)


@app.command()
def solve(
    board: Annotated[str, typer.Argument(help="The letters down the columns; q is a Qu cell.", show_default=False)],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="trie|words|heap|paths",
            help="Which independent solver.",
            autocompletion=cli_complete.solvers,
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
    from cluster import cli_solve

    cli_solve.solve(board, method, dims, wordlist, scores, begin_only, end_only, fmt)


@app.command()
def verify(
    directory: RunDirectory,
    wordlist: RunWordlistOption = None,
    write: Annotated[
        bool, typer.Option("--write", help="Also write claim.json and the list of boards; else nothing is written.")
    ] = False,
    fmt: FormatOption = Format.table,
) -> None:
    """Check a run from its files, score its boards twice over, find them a second way, and say what is proven."""
    from cluster import cli_verify

    cli_verify.verify(directory, wordlist, fmt, write=write)


cli_workbench.register(app)
cli_runs.register(app)
cli_serve.register(app)
cli_watch.register(app)


@app.command()
def repeat(
    directory: RunDirectory,
    classes: Annotated[
        str | None, typer.Option(metavar="IDS", help="Class ids, such as 0,17: with all their parts.")
    ] = None,
    sample: Annotated[int | None, typer.Option(metavar="N", min=1, help="So many verdicts at random.")] = None,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Of --sample, images and cell orders.")] = 0,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Processes that search.")] = 1,
    wordlist: RunWordlistOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Search classes of a run again, turned and in another cell order, and compare with the stored verdicts."""
    from cluster import cli_repeat

    cli_repeat.repeat(directory, classes, sample, seed, workers, wordlist, fmt)


@app.command()
def certify(
    directory: RunDirectory,
    classes: Annotated[str | None, typer.Option(metavar="IDS", help="Class ids, such as 0,17.")] = None,
    sample: Annotated[int | None, typer.Option(metavar="N", min=1, help="So many classes at random.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of --sample.")] = 0,
    hot: Annotated[
        bool, typer.Option("--hot", help="Classes that list a candidate, and the tenth that took the most pushes.")
    ] = False,
    force: Annotated[
        int | None,
        typer.Option(
            metavar="M",
            min=0,
            help="Certify parts of classes: those whose first M cells have one letter each.",
            show_default="as few as it takes",
        ),
    ] = None,
    wordlist: RunWordlistOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Record the shape of the search, so that others can check it; all classes by default."""
    from cluster import cli_certify

    cli_certify.certify(directory, cli_certify.Choice(classes, sample, seed, hot, force), wordlist, fmt)


@app.command()
def audit(
    directory: RunDirectory,
    leaves: Annotated[
        int | None,
        typer.Option(
            metavar="K", min=1, help="Check so many leaves and boards, drawn at random.", show_default="all of them"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Of --leaves.")] = 0,
    wordlist: RunWordlistOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Check certificates and boards by a program that shares no code with the search."""
    from cluster import cli_certify

    cli_certify.audit(directory, wordlist, leaves, seed, fmt)


def _take_debug(arguments: list[str]) -> tuple[list[str], bool]:
    """Return the arguments without ``--debug``, which is accepted anywhere, and whether it was there."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [word for word in arguments[:end] if word != "--debug"] + arguments[end:]
    return kept, len(kept) < len(arguments) or bool(os.environ.get("ORDERLY_DEBUG"))


def _fail(message: str, code: int) -> int:
    tell(f"orderly: {message}")
    return code


def _leave_at_once(code: int) -> None:
    """End without the interpreter's clean-up: where Ctrl-C cut the compilation of a kernel short, that would crash."""
    sys.stderr.flush()
    os._exit(code)


def _call(arguments: list[str]) -> int:
    """Run one command and return its exit code; everything is printed before this returns."""
    try:
        result = app(arguments, prog_name="orderly", standalone_mode=False)
    except typer.Abort:
        result = EXIT_INTERRUPTED
    sys.stdout.flush()
    if result == EXIT_INTERRUPTED:
        _leave_at_once(_fail("interrupted", EXIT_INTERRUPTED))
    return result if isinstance(result, int) else 0


def _exit_code(arguments: list[str]) -> int:
    from boardclass.errors import OrderlyError

    try:
        return _call(arguments)
    except OrderlyError as error:
        code = _fail(str(error), error.exit_code)
        if isinstance(error.__cause__, KeyboardInterrupt):
            _leave_at_once(code)
        return code
    except BrokenPipeError:  # the reader of our output has gone: nothing to tell, and nobody to tell it to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last line of defence: one message, no traceback
        if hasattr(error, "show") and hasattr(error, "exit_code"):  # typer's own errors: usage, missing argument
            error.show()
            return int(error.exit_code)
        detail = f"{type(error).__name__}: {error}"
        return _fail(f"internal error, {detail}\nThis is a bug; --debug shows where it happened.", EXIT_BUG)


def main() -> None:
    """Run the command line and leave with its exit code."""
    arguments, debug = _take_debug(sys.argv[1:])
    sys.exit(_call(arguments) if debug else _exit_code(arguments))
