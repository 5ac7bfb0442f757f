"""``orderly plan``, ``tune``, ``run`` and ``merge``: what a run would cost, the run itself, several
put together.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

from orderly_boggle import boardclass, results
from orderly_boggle.boardclass.errors import IncompleteError, NoProgressError
from orderly_boggle.boardclass.printable import counted, duration
from orderly_boggle.cluster.answers.render import draw_board, write_record, write_table
from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.options import argument, numeric, option
from orderly_boggle.cluster.streams import console, moving, say, tell as warn
from orderly_boggle.results.storage.files import named_run

if TYPE_CHECKING:
    from orderly_boggle.cluster.driver.driver import RunOutcome
    from orderly_boggle.cluster.planning.estimate import Estimate
    from orderly_boggle.cluster.planning.plan import Plan
    from orderly_boggle.configs.model import RunConfig

MAX_DRAWN = 3
CORES = (1, 16, 64)  # of machines that one might rent


@options.about_a_run
def plan(
    configured: options.Configured,
    order: options.Order = None,
    seconds: Annotated[
        float,
        option(
            "Time to spend; it takes less if every class is searched before that.  Ctrl-C ends it "
            "sooner.",
            metavar="S",
            min=0,
            max=10**9,
        ),
    ] = 300,
    price: options.Price = 0.02,
    memory: options.Memory = None,
    seed: options.ProbeSeed = 0,
    workers: options.Probes = 1,
    fmt: options.Format = "table",
) -> None:
    """Estimate what a run will cost, from random classes: core hours, memory, price."""
    resolved = configured(memory, order=order, workers=0)
    from orderly_boggle.cluster.planning.plan import make_plan

    made = make_plan(resolved, warn)
    result = _known(made) or _probed(made, seconds, seed, workers)
    climbed = made.made.climbed
    cutoff = made.question.cutoff
    record = {
        **asdict(result),
        "price": result.cpu_hours * price,
        "price_per_core_hour": price,
        "cutoff": cutoff,
        "cutoff_board": climbed.board if climbed else "",
    }
    for n_cores in CORES:
        record[f"hours_of_{n_cores}_cores"] = result.cpu_hours / n_cores
    if fmt == "table":
        _show_estimate(result, price)
        found = ""
        if climbed:
            found = f", the score of {climbed.board}, which a climb found"
        say(f"cutoff {cutoff:,}{found}")
    else:
        write_record(record, fmt)


def _known(made: Plan) -> Estimate | None:
    """Return what a run took that comes with the program and asks the same; say so, also of one
    that answers more than what is asked.
    """
    from orderly_boggle.cluster.planning.estimate import measured
    from orderly_boggle.cluster.planning.known import answering, where_answered

    of = made.question
    place, cutoff = answering(of)
    if place is None:
        return None
    warn(f"orderly: {where_answered(of)}")
    # at another cutoff the published cost says nothing
    if cutoff == of.cutoff:
        return measured(results.open_run(place))
    return None


def _probed(made: Plan, seconds: float, seed: int, workers: int) -> Estimate:
    """Return what probes found, until the time is over or a signal comes."""
    from orderly_boggle.cluster.driver.signals import StopSignals
    from orderly_boggle.cluster.planning.estimate import estimate

    with StopSignals() as signals, moving(seconds) as move:
        warn(f"probing random classes for {duration(seconds)}; Ctrl-C ends it sooner")

        def is_over(passed_s: float) -> bool:
            move(f"{duration(passed_s)} of {duration(seconds)}", passed_s)
            return bool(signals.reason)

        # a signal ends it with what there is: half an estimate is still one
        result = estimate(made, seconds, seed, processes=workers, is_over=is_over)
    if signals.reason:
        warn(f"orderly: {signals.reason} after {duration(result.seconds)}: the estimate so far")
    return result


def _show_estimate(result: Estimate, price: float) -> None:
    from orderly_boggle.cluster.answers.status import core_time, money

    seconds = 3600 * result.cpu_hours
    cost = f"about {core_time(seconds)}"
    if result.known:
        known = "wall time of its workers"
    elif result.is_known:
        known = "every class was searched"
    elif result.high is None:
        cost = "unknown time"
        if seconds:
            cost = f"as a rough guess {core_time(seconds)}"
        known = "too few probes for an interval: allow more --seconds"
    else:
        known = f"95 %: {core_time(3600 * result.low)} to {core_time(3600 * result.high)}"
    memory = ""
    if result.memory_mb:
        memory = f", {result.memory_mb:,} MiB per worker"
    say(f"{cost} of one core ({known}){memory}{money(seconds, price)}", "bold")
    if seconds:
        times = [f"{core_time(seconds / n)} on {counted(n, 'core')}" for n in CORES]
        say(f"if all are kept busy: {', '.join(times)}")


@options.about_a_run
def tune(
    configured: options.Configured,
    rounds: Annotated[int, numeric("Rounds; each probes eight random classes.", min=1)] = 4,
    seed: options.ProbeSeed = 0,
    workers: options.Probes = 1,
    fmt: options.Format = "table",
) -> None:
    """Compare partitions, budgets and cell orders on the same random classes."""
    resolved = configured(workers=0)
    from orderly_boggle.cluster.planning.estimate import estimate, variants

    columns = ("variant", "cpu_hours", "ratio", "low", "high", "n_classes", "n_probes", "memory_mb")
    rows: list[list[Any]] = []
    for name, variant in variants(resolved):
        result = estimate(variant, None, seed, processes=workers, least=8 * rounds)
        if rows:
            # against the first, which is the config as it stands
            ratio = result.cpu_hours / rows[0][1]
        else:
            ratio = 1.0
        figures = {**asdict(result), "variant": name, "ratio": ratio}
        rows.append([figures[column] for column in columns])
        if fmt == "table":  # each takes minutes: shown as it comes
            span = "too few probes"
            if result.high is not None:
                span = f"{result.low:.4g} to {result.high:.4g}"
            hours = f"{result.cpu_hours:12.4g} h  [{span}]"
            line = f"{name:32}{hours}{ratio:8.2f}  {result.n_classes:,} classes"
            say(line)
    if fmt != "table":
        write_table(columns, rows, fmt)


@options.about_a_run
def run(
    configured: options.Configured,
    order: options.Order = None,
    workers: Annotated[
        int | None,
        numeric(
            "Worker processes; 0: search in this process, which is faster when it takes seconds.",
            min=0,
            show_default="config",
        ),
    ] = None,
    address: Annotated[
        str | None,
        option(
            "Use this Ray cluster, with every processor or --workers of them.",
            metavar="auto|HOST:PORT|ray://HOST:PORT|local",
        ),
    ] = None,
    memory: options.Memory = None,
    replicate: Annotated[
        float | None,
        option(
            "Percentage of verdicts to search again in another way.",
            metavar="PERCENT",
            show_default="config, else 1",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        numeric("Seed of the hill climb, and of the draw of the first classes and the replicas."),
    ] = None,
    out: options.RunOut = None,
    extend: Annotated[
        str | None,
        option(
            "Reuse the verdicts of a run at another cutoff that hold at this one.", metavar="DIR"
        ),
    ] = None,
    share: Annotated[
        str | None,
        option(
            "Search only the K-th of N equal shares of the classes; `orderly merge` puts them"
            " together.",
            metavar="K/N",
        ),
    ] = None,
    drop_damaged: Annotated[
        bool,
        option("Recompute what damaged files held, instead of stopping.", "--drop-damaged"),
    ] = False,
) -> None:
    """Find every board at or above the cutoff and prove there is no other; run it again to
    resume.
    """
    from orderly_boggle.cluster.planning.shares import parse_share

    mine = None
    if share is not None:
        mine = parse_share(share)
    where = {"workers": workers, "address": address, "replicate": replicate, "seed": seed}
    resolved = configured(memory, order=order, out=out, **where)
    outcome = _driven(resolved, extend, drop_damaged=drop_damaged, share=mine)
    # raised, not printed: the exit code tells a script what to do next
    if outcome.claim is None and not outcome.share_done:
        kind = NoProgressError if outcome.is_stuck else IncompleteError
        raise kind(f"the run in {outcome.location} is incomplete: {outcome.message}")
    _print_outcome(outcome)


def _driven(config: RunConfig, extend: str | None, **how: Any) -> RunOutcome:
    """Run, and count the seconds that it takes to compile the kernels as well."""
    began = time.monotonic()
    if extend is None:
        extends = None
    else:
        extends = named_run(extend)
    try:
        # compiles the kernels the first time: long enough to be interrupted
        from orderly_boggle.cluster.driver import driver
        from orderly_boggle.cluster.driver.progress import Progress

        outcome = driver.run(config, extends=extends, progress=Progress(sys.stderr), **how)
    except KeyboardInterrupt as error:  # outside the search the driver does not catch signals
        raise IncompleteError("stopped; the same command resumes from what is stored") from error
    return replace(outcome, seconds=time.monotonic() - began)


def _print_outcome(outcome: RunOutcome) -> None:
    from orderly_boggle.results.proof.summary import proven_word

    if outcome.share_done or outcome.claim is None:
        say(f"Not proven. In {outcome.location}, {outcome.message}")
    else:
        _draw_best(outcome)
        say(f"{proven_word(outcome.proof)} {outcome.claim.statement}\n", "bold")
    again = ""
    if outcome.n_reused:
        again = f", {outcome.n_reused:,} from before"
    say(f"{outcome.n_computed:,} verdicts computed{again}, {outcome.seconds:,.1f} s")
    # or a run that somebody else stored would look like one that was searched here
    if outcome.complete and not outcome.n_computed:
        check = f"orderly verify {outcome.location}"
        say(f"nothing was searched by this command: {check} searches some again, and climbs")
    if not outcome.share_done:
        say(f"digest {outcome.digest}\nmore: orderly top {outcome.location}")


def _draw_best(outcome: RunOutcome) -> None:
    from orderly_boggle.cluster.boards.scoring import Scoring

    assert outcome.claim is not None
    asked = outcome.claim.question
    if asked.later:  # what it means for the words of a board, only the search knows
        return
    boards = outcome.listed.boards
    scoring = Scoring(outcome.words, outcome.words.name, asked.table)
    for item in boards[:MAX_DRAWN]:
        # the best, with their equals: the list is in order of score
        if item.score == boards[0].score:
            solved = scoring.solve((boardclass.parse_dims(asked.dims), item.board))
            console().print(draw_board(solved.rows, solved.heat))
            say(f"{solved.board}: {solved.worth}\n")


def derive(
    directory: options.Run = options.LATEST,
    wordlist: options.RunWordlist = None,
    scores: options.RunScores = None,
    cutoff: Annotated[
        int | None,
        numeric("A cutoff that is at least as high.", min=1, show_default="that of the run"),
    ] = None,
    source_wordlist: Annotated[
        str | None,
        option("The word list of the run, if it is not found by name.", metavar="NAME|PATH"),
    ] = None,
    out: options.RunOut = None,
) -> None:
    """Write what a proven run says about an easier question: a list without some of its words,
    points that are nowhere higher, a higher cutoff.  Nothing is searched.

    A list that lost a few words keeps its record this way.  If the answer does not follow, the
    command refuses and names the first word or value that stands in the way.
    """
    from orderly_boggle.cluster.driver.derive import derive as derive_claim
    from orderly_boggle.cluster.driver.progress import Progress

    source = results.open_run(directory)
    words = results.run_wordlist(source, source_wordlist)
    wanted = wordlist or source_wordlist or source.made.words.source
    points = None
    if scores:
        points = boardclass.parse_scores(scores)
    told = Progress(sys.stderr)
    outcome = derive_claim(source, words, wanted, points, cutoff, out, told)
    _print_outcome(outcome)


def merge(
    target: Annotated[str, argument("TARGET", "Run directory, old or new.")],
    sources: Annotated[
        list[str],
        argument("SOURCE...", "Runs of the same question."),
    ],
    fmt: options.Format = "table",
) -> None:
    """Merge runs of the same question: TARGET gets what it lacks, as new files; the sources are not
    changed.
    """
    sources = [named_run(source) for source in sources]
    from orderly_boggle.results.upkeep import merging

    runs = [results.open_run(source) for source in sources]
    done = merging.merge(target, merging.check_sources(runs))
    for name, fault in done.dropped.items():
        warn(f"dropped {name}: {fault}")
    state = results.summary(target)
    record = {
        "target": target,
        "verdicts_added": done.n_added,
        "verdicts_there_already": done.n_there,
        "failures_added": done.n_other,
        "new_parts": done.n_parts,
        "lines_of_the_log_added": done.n_lines,
        "classes_settled": state.n_classes_done,
        "classes": state.n_classes,
    }
    if fmt == "table":
        text = "Nothing is proven yet."
        if state.n_classes_done == state.n_classes:
            text = "All classes have verdicts; `orderly verify` checks whether that proves it."
        if state.fault:
            text = f"Nothing is proven: {state.fault}."
        say(f"Merged {counted(len(runs), 'run')}. {text}\n", "bold")
    write_record(record, fmt)
