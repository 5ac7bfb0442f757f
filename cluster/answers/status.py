"""The words for a run (run_view.py): what ``status``, ``watch`` and the pages say of it.

    lines               what people look for first
    done, going_on      how far it is, what its driver does
    figures, at_work    what a screen has room for
    core_time, money    what a search costs

The functions at the end are what all commands share that ask about runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from orderly_boggle import boardclass, results
from orderly_boggle.boardclass.printable import between, counted, duration, memory_size, percent
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.cluster.streams import say, tell

if TYPE_CHECKING:
    from orderly_boggle.cluster.answers.run_view import Classes, RunView
    from orderly_boggle.results.log import Live
    from orderly_boggle.results.log_events import Reported
    from orderly_boggle.results.proof.summary import Summary

_LONG_S = 48 * 3600.0  # nobody waits for so many days of one core: hours tell more
_FEW_MEASURED = 30  # classes finished: with fewer it is a rough guess


def core_time(seconds: float) -> str:
    """Return a time of one core."""
    if seconds >= _LONG_S:
        return f"{seconds / 3600:,.0f} hours"
    if seconds >= 10:
        return duration(seconds)
    return f"{seconds:.2g} s"


def money(seconds: float, price: float) -> str:
    """Return what so much time of one core costs at a price for the hour; empty for nearly
    nothing.
    """
    cost = seconds / 3600 * price
    if cost >= 0.005:
        return f", {cost:,.2f} at {price:g} an hour"
    return ""


def lines(view: RunView) -> dict[str, str]:
    """Return what people look for first, ten lines at most."""
    answer = view.answer
    assert answer is not None, "its rows were read"
    texts = {"state": view.state.value}
    # before everything else: whoever reads two lines must not take what was found for proven
    if not view.proven:
        if view.best_score:
            texts["boards below"] = "found so far, not proven"
        texts["why not proven"] = answer.why_not
    texts["run"] = question(view)
    texts["done"] = done(view)
    texts |= dict(going_on(view))
    texts["best"] = _best(view)
    if answer.statement:
        texts["statement"] = answer.statement
    if view.proven:
        texts["digest"] = answer.result_digest
    else:  # the same boards with the claim have another one: nobody should compare the two
        texts["digest so far"] = answer.result_digest
    return texts


def question(view: RunView) -> str:
    """Return what a run asks, in short; empty while its rows have not been read."""
    answer = view.answer
    if answer:
        return answer.wording.short(answer.question)
    return ""


def classes_done(classes: Classes) -> str:
    """Return how many classes are done."""
    if not classes.n_all:
        return "not known yet"
    share = percent(classes.n_done, classes.n_all)
    return f"{classes.n_done:,} of {counted(classes.n_all, 'class', 'classes')} ({share})"


def done(view: RunView) -> str:
    """Return how many classes are done, how many units are searched, and how old the figures
    are.
    """
    text = classes_done(view.classes)
    driver = view.driver
    if not view.classes.n_all or driver is None or driver.report is None:
        return text
    busy = driver.report.n_in_flight
    flying = ""
    if busy:
        flying = f", {counted(busy, 'unit')} being searched"
    return f"{text}{flying}, as of {duration(driver.age_s or 0.0)} ago"


def going_on(view: RunView) -> Iterator[tuple[str, str]]:
    """Yield what a driver does, or how the last one ended."""
    driver = view.driver
    if driver is None:
        if view.ended:
            yield "last session ended", view.ended
        return
    report = driver.report
    # the lock says that somebody writes, the log not yet what
    if report is None:
        yield "in use", f"{driver.driver}: a driver that is starting, or a command that writes"
        return
    yield "time left", time_left(report, view.classes.n_done)
    yield "rate", rate(driver)
    # with one machine its name would be said twice
    hosts = "".join(f", {host} {n}" for host, n in report.hosts.items())
    if len(report.hosts) == 1:
        hosts = f" on {next(iter(report.hosts))}"
    lost = ""
    if report.n_deaths:
        lost = f", {report.n_deaths:,} lost so far"
    yield "workers", f"{report.n_workers or 'none up yet'}{hosts}{lost}; driver {driver.driver}"


def figures(view: RunView) -> Iterator[tuple[str, str]]:
    """Yield more of what a driver reported: memory, units, what went wrong."""
    report = None
    if view.driver:
        report = view.driver.report
    # of a cluster nobody reports it: the driver's machine is not where workers are
    if report and report.n_total_bytes:
        free = memory_size(report.n_free_bytes)
        total = memory_size(report.n_total_bytes)
        yield "memory", f"{free} of {total} free on the driver's machine"
    if report:
        yield "units", f"{report.n_in_flight:,} being searched, {report.n_open:,} open"
    answer = view.answer
    last = view.last
    counts = []
    if answer:
        counts += [(answer.n_rows["split"], "split", "split")]
        counts += [(answer.n_quarantined, "given up", "given up")]
    if last:
        counts += [(last.n_requeued, "tried again", "tried again")]
        counts += [(last.n_strikes, "strike", "strikes")]
    worded = [counted(*count) for count in counts if count[0]]
    some = ", ".join(worded)
    if counts:
        yield "so far", some or "no splits, no failures"
    if view.driver and view.driver.age_s is not None:
        yield "figures from", f"{duration(view.driver.age_s)} ago"


def disk_taken(use: Sequence[int] | None) -> str:
    """Return how many bytes a run takes and how many are free; empty where that is not known."""
    if not use:
        return ""
    taken, free = map(memory_size, use)
    return f"{taken} taken, {free} free"


class Work(NamedTuple):
    """What a worker is working on, in words."""

    worker: str
    host: str
    units: str
    time: str
    memory: str


def at_work(view: RunView) -> list[Work]:
    """Return what the workers are working on, the longest at work first."""
    driver = view.driver
    if driver is None or driver.report is None:
        return []
    rows = []
    for item in driver.report.busy:
        units = f"class {item.class_id:,} {item.path}".rstrip()
        # workers get batches; the one that is named is the first
        if item.n_units > 1:
            units += f" and {counted(item.n_units - 1, 'more unit')}"
        time = duration(item.seconds + (driver.age_s or 0.0))
        memory = ""
        if item.n_bytes:
            memory = memory_size(item.n_bytes)
        rows.append(Work(str(item.worker), item.host, units, time, memory))
    return rows


def _best(view: RunView) -> str:
    if not view.best_score:
        known = ""
        if view.answer:
            known = view.answer.best_known
        if known:
            return f"{known}; none found by the search so far"
        if view.proven:
            return "none found"
        return "none found so far, not proven"
    if view.answer:
        letters = view.answer.wording.letters
    else:
        letters = {}
    board = boardclass.with_letters(view.best_boards[0], letters)
    first = f"{counted(view.best_score, 'point')}: {board}"
    n_boards = 0
    if view.answer:
        n_boards = view.answer.listed.n_canonical
    if not view.best_is_stored:
        stored = f"{n_boards:,} stored at or above the cutoff, up to symmetry"
        return f"{first}, not stored yet; {stored}"
    return f"{first}; {n_boards:,} at or above the cutoff, up to symmetry"


def rate(driver: Live) -> str:
    """Return what is finished in an hour."""
    if driver.verdicts_per_h is None:
        return "unknown: not measured yet"
    # nothing finished is no rate of nought: a single large unit may take long
    if not driver.verdicts_per_h:
        return "unknown: nothing finished lately"
    classes = "no whole class lately,"
    # parts finish before the class that they are of
    if driver.classes_per_h:
        classes = f"{driver.classes_per_h:,.0f} classes"
    return f"{classes} and {driver.verdicts_per_h:,.0f} verdicts an hour"


def time_left(report: Reported, n_done: int) -> str:
    """Return the time left, in processor hours as well, and what it is based on: so many classes
    are done.
    """
    left_s = report.remaining_s
    if left_s is None:
        return "unknown: too little has been searched"
    share = ""
    if report.share:
        own = "all that this driver searches"
        if report.n_own:
            n_own = counted(report.n_own, "class", "classes")
            own = f"{report.n_own_done:,} of its {n_own} done"
        share = f" for share {report.share}, {own}"
    elsewhere = ""
    if report.elsewhere_s:
        elsewhere = f"; {processor_time(report.elsewhere_s)} for the other shares"
    span = between(report.remaining_low_s, report.remaining_high_s)
    work = processor_time(left_s * (report.n_workers or 1))
    few = ""
    if n_done < _FEW_MEASURED:
        few = ", a rough guess"
    basis = f"judging by {counted(n_done, 'finished class', 'finished classes')}{few}"
    return f"about {duration(left_s)}{span}{share}, {work}{elsewhere}, {basis}"


def processor_time(seconds: float) -> str:
    """Return how long one processor works, in hours if it is more than one."""
    if seconds >= 3600:
        return f"{seconds / 3600:,.1f} processor hours"
    return f"{duration(seconds)} of one processor"


def tell_notes(result: Summary) -> None:
    """Say on standard error what is said of a run rests on, if not on its rows as they are now, and
    where its records disagree with them.
    """
    for note in filter(None, (result.rests_on, *result.notes)):
        tell(f"orderly: {note}")


@contextmanager
def proofs_told(summaries: Mapping[str, Summary], *, above: bool = False) -> Iterator[None]:
    """Say which of some runs are not proven after the body has shown results of them, and
    ``above`` these as well.

    Raises IncompleteError or MismatchError for the first that is not; the others are named on
    standard error before it.
    """
    unproven = []
    for name, result in summaries.items():
        if not result.proven:
            unproven.append(name)
            if above:
                say(f"{name}: " * (len(summaries) > 1) + result.caveat)
    yield
    for result in summaries.values():
        tell_notes(result)
    for name in unproven[1:]:
        tell(f"orderly: {name}: {summaries[name].caveat}")
    if unproven:
        summaries[unproven[0]].require_proven(unproven[0])


def proven_place(board: str, dims: str, score: int, sha256: str, points: Sequence[int]) -> str:
    """Return where a board of this exact score stands among all of its size; empty where no
    published run proves it.
    """
    from orderly_boggle.search.question import Scored

    _, proof = next(results.published(Scored(dims, sha256, tuple(points))), (None, None))
    if proof is None or not proof.proven or not proof.listed.boards:
        return ""
    from orderly_boggle.boardclass.canonical import canonical_board
    from orderly_boggle.boardclass.geometry import geometry
    from orderly_boggle.results.proof.summary import proven_word, standing

    listed = proof.listed.boards
    best = (
        f"The best score is {listed[0].score:,}, that of "
        f"{boardclass.with_letters(listed[0].board, proof.wording.letters)}."
    )
    if not reaches(score, proof.question.cutoff):
        n = proof.listed.n_raw
        n_all = 26**proof.question.n_cells
        return (
            f"{proven_word(proof)} With {proof.wording.rules} at least {n:,} of all {n_all:,} "
            f"{dims} boards score more. {best}"
        )
    canonical = canonical_board(board, geometry(dims))
    if not any((item.board, item.score) == (canonical, score) for item in listed):
        return ""
    scores = [item.score for item in listed]
    rank = 1 + sum(other > score for other in scores)
    place = standing(dims, proof.wording, rank, scores.count(score))
    return f"{proven_word(proof)} {place}{f' {best}' if rank > 1 else ''}"
