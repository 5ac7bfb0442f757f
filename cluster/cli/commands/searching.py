"""Search and prove: plan, tune, run, merge, status, verify, repeat, certify, audit."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.answers.render import Format
from cluster.cli.latest import run_or_latest
from cluster.cli.options import (
    BucketsOption,
    ConfigArgument,
    CutoffOption,
    DimsOption,
    FormatOption,
    MemoryOption,
    OrderOption,
    ProbesOption,
    RunDirectory,
    RunWordlistOption,
    ScoresOption,
    SeedOption,
    WordlistOption,
    given,
)


def plan(
    config: ConfigArgument = None,
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    cutoff: CutoffOption = None,
    buckets: BucketsOption = None,
    order: OrderOption = None,
    scores: ScoresOption = None,
    seconds: Annotated[
        float,
        typer.Option(metavar="S", min=0, help="Time to spend on probes; less if every class has been searched before."),
    ] = 300,
    price: Annotated[float, typer.Option(metavar="P", min=0, help="Price of one core for an hour.")] = 0.02,
    memory: MemoryOption = None,
    seed: SeedOption = 0,
    workers: ProbesOption = 1,
    fmt: FormatOption = Format.table,
) -> None:
    """Estimate what a run will cost, from random classes: core hours, memory, price."""
    from cluster.cli import plan as cli_plan

    options = given(memory, dims=dims, wordlist=wordlist, cutoff=cutoff, buckets=buckets, order=order, scores=scores)
    cli_plan.plan(config, options, seconds, price, seed, workers, fmt)


def tune(
    config: ConfigArgument = None,
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    cutoff: CutoffOption = None,
    buckets: BucketsOption = None,
    scores: ScoresOption = None,
    rounds: Annotated[
        int, typer.Option(metavar="N", min=2, help="Random classes of each stratum of predicted cost.")
    ] = 4,
    seed: SeedOption = 0,
    workers: ProbesOption = 1,
    fmt: FormatOption = Format.table,
) -> None:
    """Compare partitions, budgets and cell orders on the same random classes."""
    from cluster.cli import plan as cli_plan

    options = given(dims=dims, wordlist=wordlist, cutoff=cutoff, buckets=buckets, scores=scores)
    cli_plan.tune(config, options, rounds, seed, workers, fmt)


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
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Ray workers; 0: this process, faster for a search of seconds.",
            show_default="config",
        ),
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
        typer.Option(metavar="DIR", help="Take over verdicts of a run at another cutoff that hold at this one."),
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
    from cluster.cli import run as cli_run

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


def merge(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Run directory, old or new.", show_default=False)],
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE...", help="Runs of the same question.", show_default=False)
    ],
    fmt: FormatOption = Format.table,
) -> None:
    """Put runs of the same question together: TARGET gets what it lacks, as new files; the sources stay as they are."""
    from cluster.cli import merge as cli_merge

    cli_merge.merge(target, sources, fmt)


def status(
    directory: RunDirectory = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="All figures, not only ten lines.")] = False,
    fmt: FormatOption = Format.table,
) -> None:
    """Show how far a run is, who works on it, the time left, what it found, the digest of its result."""
    from cluster.answers import status as cli_status

    cli_status.status(run_or_latest(directory), fmt, verbose=verbose)


def verify(
    directory: RunDirectory = None,
    wordlist: RunWordlistOption = None,
    write: Annotated[
        bool, typer.Option("--write", help="Also write claim.json and the list of boards; else nothing is written.")
    ] = False,
    fmt: FormatOption = Format.table,
) -> None:
    """Check a run from its files, score its boards twice over, find them a second way, and say what is proven."""
    from cluster.cli import verify as cli_verify

    cli_verify.verify(run_or_latest(directory), wordlist, fmt, write=write)


def repeat(
    directory: RunDirectory = None,
    classes: Annotated[
        str | None, typer.Option(metavar="IDS", help="Class ids, such as 0,17; all their parts are searched.")
    ] = None,
    sample: Annotated[int | None, typer.Option(metavar="N", min=1, help="N verdicts at random.")] = None,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of --sample, images and cell orders.")] = 0,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Processes that search.")] = 1,
    wordlist: RunWordlistOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Search classes of a run again, turned and in another cell order, and compare with the stored verdicts."""
    from cluster.cli import repeat as cli_repeat

    cli_repeat.repeat(run_or_latest(directory), classes, sample, seed, workers, wordlist, fmt)


def certify(
    directory: RunDirectory = None,
    classes: Annotated[str | None, typer.Option(metavar="IDS", help="Class ids, such as 0,17.")] = None,
    sample: Annotated[int | None, typer.Option(metavar="N", min=1, help="N classes at random.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of --sample.")] = 0,
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
    from cluster.cli import certify as cli_certify

    cli_certify.certify(run_or_latest(directory), cli_certify.Choice(classes, sample, seed, hot, force), wordlist, fmt)


def audit(
    directory: RunDirectory = None,
    leaves: Annotated[
        int | None,
        typer.Option(
            metavar="K", min=1, help="Check K leaves and boards, drawn at random.", show_default="all of them"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of --leaves.")] = 0,
    wordlist: RunWordlistOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Check certificates and boards by a program that shares no code with the search."""
    from cluster.cli import certify as cli_certify

    cli_certify.audit(run_or_latest(directory), wordlist, leaves, seed, fmt)


COMMANDS = (plan, tune, run, merge, status, verify, repeat, certify, audit)
