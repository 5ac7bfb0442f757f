"""``orderly plan``, ``tune``, ``run`` and ``merge``: what a run would cost, the run itself, several
put together.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from boardclass.errors import IncompleteError
from boardclass.printable import counted, duration
from cluster.answers.render import Format, draw_board, write_json, write_record, write_table
from cluster.cli import options
from cluster.streams import console
from cluster.streams import tell as say

if TYPE_CHECKING:
    from cluster.driver.driver import RunOutcome
    from cluster.planning.estimate import Estimate
    from configs.model import RunConfig

MAX_DRAWN = 3


@options.grouped
def plan(
    question: options.RunOptions,
    order: options.Order = None,
    seconds: Annotated[
        float,
        Option(
            metavar="S",
            min=0,
            help="Time to spend on probes; it takes less if every class is searched before that.",
        ),
    ] = 300,
    price: options.Price = 0.02,
    memory: options.Memory = None,
    seed: options.Seed = 0,
    workers: options.Probes = 1,
    fmt: options.Format = Format.table,
) -> None:
    """Estimate what a run will cost, from random classes: core hours, memory, price."""
    resolved = question.resolve(memory, order=order, workers=0)
    from cluster.planning.estimate import estimate
    from cluster.planning.plan import make_plan

    with _probing(seconds) as tell:
        made = make_plan(resolved, say)
        found = estimate(made, seconds, seed, processes=workers, tell=tell)
    record = {**asdict(found), "price": found.cpu_hours * price, "price_per_core_hour": price}
    if fmt is Format.json:
        write_json(record)
        return
    strata = record.pop("strata")
    if fmt is Format.csv:
        write_record(record, fmt)
        return
    _show_estimate(found, price)
    console().print("classes from weak to strong:")
    for n_classes, n_probes, mean in strata:
        told = f"{counted(n_classes, 'class', 'classes')}, {n_probes:,} probed, {mean:,.3g} s each"
        console().print(f"  {told}", soft_wrap=True)


def _show_estimate(found: Estimate, price: float) -> None:
    times_s = (3600 * hours for hours in (found.cpu_hours, found.low, found.high))
    cost, low, high = (
        duration(seconds) if seconds >= 10 else f"{seconds:.2g} s" for seconds in times_s
    )
    known = "every class was searched" if found.is_known else f"95 %: {low} to {high}"
    money = f"at {price:g} per core hour: {found.cpu_hours * price:,.2f}"
    told = f"{found.memory_mb:,} MiB per worker; {money}"
    console().print(f"about {cost} of one core ({known}), {told}", style="bold", soft_wrap=True)


@contextmanager
def _probing(seconds: float) -> Iterator[Callable[[float], None]]:
    """Show on a terminal how much of the time for probes has passed; yield what is to be told the
    seconds passed.
    """
    from rich.progress import BarColumn, Progress, TextColumn

    gone = TextColumn("{task.fields[gone]} of {task.fields[all]}")
    columns = (TextColumn("probing random classes"), BarColumn(), gone)
    shown = console(sys.stderr)
    is_silent = not shown.is_terminal  # elsewhere it would leave an empty line
    with Progress(
        *columns, console=shown, transient=True, refresh_per_second=4, disable=is_silent
    ) as bar:
        task = bar.add_task("", total=max(seconds, 1), gone=duration(0), all=duration(seconds))
        yield lambda gone: bar.update(task, completed=gone, gone=duration(gone))


@options.grouped
def tune(
    question: options.RunOptions,
    rounds: Annotated[
        int, Option(metavar="N", min=2, help="Random classes of each stratum of predicted cost.")
    ] = 4,
    seed: options.Seed = 0,
    workers: options.Probes = 1,
    fmt: options.Format = Format.table,
) -> None:
    """Compare partitions, budgets and cell orders on the same random classes."""
    resolved = question.resolve(workers=0)
    from cluster.planning.estimate import estimate, variants

    columns = ("variant", "cpu_hours", "ratio", "low", "high", "n_classes", "n_probes", "memory_mb")
    rows: list[list[Any]] = []
    for name, variant in variants(resolved):
        found = estimate(variant, 0, seed, processes=workers, least=rounds)
        ratio = found.cpu_hours / rows[0][1] if rows else 1.0
        figures = {**asdict(found), "variant": name, "ratio": ratio}
        rows.append([figures[column] for column in columns])
        if fmt is Format.table:  # each takes minutes: shown as it comes
            hours = f"{found.cpu_hours:12.4g} h  [{found.low:.4g} to {found.high:.4g}]"
            line = f"{name:32}{hours}{ratio:8.2f}  {found.n_classes:,} classes"
            console().print(line, soft_wrap=True, highlight=False, markup=False)
    if fmt is not Format.table:
        write_table(columns, rows, fmt)


Workers = Annotated[
    int | None,
    Option(
        metavar="N",
        min=0,
        help="Worker processes; 0: search in this process, which is faster when it takes seconds.",
        show_default="config",
    ),
]
Address = Annotated[
    str | None,
    Option(
        metavar="auto|HOST:PORT|ray://HOST:PORT|local",
        help="Use this Ray cluster, with every processor or --workers of them.",
    ),
]
Replicate = Annotated[
    float | None,
    Option(
        metavar="PERCENT",
        help="Percentage of verdicts to search again in another way.",
        show_default="1",
    ),
]
Seed = Annotated[int | None, Option(metavar="N", help="Seed of the hill climb.")]
Out = Annotated[
    str | None,
    Option(metavar="DIR", help="Run directory.", show_default="runs/DIMS-WORDLIST-CUTOFF"),
]
Extend = Annotated[
    str | None,
    Option(
        metavar="DIR",
        help="Reuse the verdicts of a run at another cutoff that hold at this one.",
    ),
]
Share = Annotated[
    str | None,
    Option(
        metavar="K/N",
        help="Search only the K-th of N equal shares of the classes; `orderly merge` puts "
        "them together.",
    ),
]
DropDamaged = Annotated[
    bool,
    Option("--drop-damaged", help="Recompute what damaged files held, instead of stopping."),
]


@options.grouped
def run(
    question: options.RunOptions,
    order: options.Order = None,
    workers: Workers = None,
    address: Address = None,
    memory: options.Memory = None,
    replicate: Replicate = None,
    seed: Seed = None,
    out: Out = None,
    extend: Extend = None,
    share: Share = None,
    drop_damaged: DropDamaged = False,
) -> None:
    """Find every board at or above the cutoff and prove there is no other; run it again to
    resume.
    """
    from cluster.planning.shares import parse_share

    mine = parse_share(share) if share is not None else None
    where = {"workers": workers, "address": address, "replicate": replicate, "seed": seed}
    resolved = question.resolve(memory, order=order, out=out, **where)
    outcome = _driven(resolved, drop_damaged=drop_damaged, extends=extend, share=mine)
    if outcome.claim is None and not outcome.share_done:
        raise IncompleteError(f"the run in {outcome.location} is incomplete: {outcome.message}")
    _print_outcome(resolved, outcome)


def _driven(config: RunConfig, **how: Any) -> RunOutcome:
    """Run, and count the seconds that it takes to compile the kernels as well."""
    began = time.monotonic()
    try:
        # compiles the kernels the first time: long enough to be interrupted
        from cluster.driver import driver
        from cluster.driver.progress import make_progress

        outcome = driver.run(config, progress=make_progress(), **how)
    except KeyboardInterrupt as error:  # outside the search the driver does not catch signals
        raise IncompleteError("stopped; the same command resumes from what is stored") from error
    return replace(outcome, seconds=time.monotonic() - began)


def _print_outcome(config: RunConfig, outcome: RunOutcome) -> None:
    out = console()
    if outcome.share_done or outcome.claim is None:
        out.print(
            f"Not proven. In {outcome.location}, {outcome.message}", markup=False, soft_wrap=True
        )
    else:
        _draw_best(config, outcome)
        out.print(f"Proven. {outcome.claim.statement}\n", style="bold", markup=False)
    again = f", {outcome.n_reused:,} from before" if outcome.n_reused else ""
    out.print(
        f"{outcome.n_computed:,} verdicts computed{again}, {outcome.seconds:,.1f} s", markup=False
    )
    if not outcome.share_done:
        more = f"digest {outcome.digest}\nmore: orderly top {outcome.location}"
        out.print(more, markup=False, soft_wrap=True)


def _draw_best(config: RunConfig, outcome: RunOutcome) -> None:
    from boardclass.board import format_rows, with_letters
    from boardclass.board_svg import heat_of_cells
    from boardclass.scores import parse_scores
    from boardclass.wordlist import load_wordlist
    from search.scoring.scorer import Scorer

    best = [item for item in outcome.listed.boards if item.score == outcome.listed.boards[0].score]
    if best:
        words = load_wordlist(config.wordlist)
        scorer = Scorer(outcome.dims, words.words, parse_scores(config.scores))
    for item in best[:MAX_DRAWN]:
        found = scorer.words(item.board)
        rows = format_rows(item.board, outcome.dims, words.letters)
        heat = heat_of_cells(len(item.board), ((word.points, word.path) for word in found))
        console().print(draw_board(rows, heat))
        typed = with_letters(item.board, words.letters)
        console().print(f"{typed}: {item.score:,} points, {len(found):,} words\n", markup=False)


def derive(
    directory: options.Run = options.LATEST,
    wordlist: options.Wordlist = None,
    scores: options.Scores = None,
    cutoff: Annotated[
        int | None, Option(metavar="N", min=1, help="A cutoff that is at least as high.")
    ] = None,
    source_wordlist: Annotated[
        str | None,
        Option(metavar="NAME|PATH", help="The word list of the run, if it is not found by name."),
    ] = None,
    out: Annotated[
        str | None,
        Option(metavar="DIR", help="Run directory.", show_default="runs/DIMS-WORDLIST-CUTOFF"),
    ] = None,
) -> None:
    """Write what a proven run says about an easier question: a list without some of its words,
    points that are nowhere higher, a higher cutoff.  Nothing is searched.

    A list that lost a few words keeps its record this way.  If the answer does not follow, the
    command refuses and names the first word or value that stands in the way.
    """
    from cluster.answers.status import run_wordlist
    from cluster.driver.derive import config_like
    from cluster.driver.derive import derive as derive_claim
    from cluster.driver.progress import make_progress
    from results.store.run import open_run

    source = open_run(directory)
    words = run_wordlist(source, source_wordlist)
    wordlist = wordlist or source_wordlist or source.info["config"]["wordlist"]
    config = config_like(source, wordlist=wordlist, scores=scores, cutoff=cutoff, out=out)
    outcome = derive_claim(source, config, words, make_progress())
    _print_outcome(config, outcome)


def merge(
    target: Annotated[
        str, Argument(metavar="TARGET", help="Run directory, old or new.", show_default=False)
    ],
    sources: Annotated[
        list[str],
        Argument(metavar="SOURCE...", help="Runs of the same question.", show_default=False),
    ],
    fmt: options.Format = Format.table,
) -> None:
    """Merge runs of the same question: TARGET gets what it lacks, as new files; the sources are not
    changed.
    """
    sources = [options.named_run(source) for source in sources]
    from results.proof.prove import summary
    from results.store.run import open_run
    from results.upkeep import merging

    runs = [open_run(source) for source in sources]
    done = merging.merge(target, merging.check_sources(runs))
    found = summary(target)
    record = {
        "target": target,
        "verdicts_added": done.n_added,
        "verdicts_there_already": done.n_there,
        "failures_added": done.n_other,
        "new_parts": len(done.parts),
        "lines_of_the_log_added": done.n_lines,
        "classes_settled": found.n_classes_done,
        "classes": found.n_classes,
    }
    if fmt is Format.table:
        text = "Nothing is proven yet."
        if found.n_classes_done == found.n_classes:
            text = "All classes have verdicts; `orderly verify` checks whether that proves it."
        console().print(f"Merged {counted(len(runs), 'run')}. {text}\n", style="bold", markup=False)
    write_record(record, fmt)
