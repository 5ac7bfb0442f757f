"""The one view of a run: how far it is, from its rows, and what is going on in it, from its lock
and event log.

    look                run -> view            status, runs; serve in a process of its own
      view_of_rows      what its rows give, as plain values
      view              rows and the last word of a driver -> one record
    lines               the record -> what people read: status and watch

Rows are read now and then, lock and log every second: ``watch`` and ``serve`` put the newest of
both together. The functions at the end are what all commands share that ask about runs; and
``proven_place``, the one place that asks the published runs, which come with the program, about a
board.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boardclass.cutoff import reaches
from boardclass.errors import InputError
from boardclass.printable import between, counted, duration, percent
from cluster.streams import console, tell

if TYPE_CHECKING:
    from boardclass.wordlist import WordList
    from results.log import Live
    from results.proof.prove import Summary
    from results.store.run import Run

PUBLISHED = Path(__file__).resolve().parents[2] / "results" / "published"
_FEW_MEASURED = 30  # classes finished: with fewer it is a rough guess
_LEFT = ("remaining_s", "remaining_low_s", "remaining_high_s", "elsewhere_s", "n_measured")
_OF_DRIVER = ("n_workers", *_LEFT, "n_own", "n_own_done")


def look(run: Run) -> tuple[dict[str, Any], Summary]:
    """Return the view of a run, and what its rows prove. Raises StoreError when the run is
    damaged.
    """
    from results.log import live
    from results.proof.prove import summary

    # before the rows, which take longer to read: the driver goes on meanwhile
    now = live(run.folder)
    found = summary(run)
    return view(view_of_rows(found), now), found


def view_of_rows(found: Summary) -> dict[str, Any]:
    """Return what the rows of a run give, as plain values that JSON can hold."""
    boards = found.listed.boards
    return {
        "rows_state": found.state.value,
        "proven": found.proven,
        "why_not_proven": found.why_not or None,
        "dims": found.fingerprint.dims,
        "wordlist": found.question.wordlist,
        "letters": dict(found.question.letters),
        "wordlist_sha256": found.fingerprint.wordlist_sha256,
        "cutoff": found.fingerprint.cutoff,
        "partition": found.fingerprint.partition,
        **{
            name: getattr(found, name)
            for name in ("n_classes", "n_classes_begun", "n_classes_done", "n_conflicts")
        },
        "n_units_pending": found.n_pending,
        "n_units_split": found.n_rows["split"],
        "n_units_quarantined": found.n_quarantined,
        "rows": found.n_rows,
        "n_candidates": found.listed.n_candidates,
        "n_boards": found.listed.n_canonical,
        "n_boards_with_images": found.listed.n_raw,
        "best_score": boards[0].score if boards else None,
        "best_boards": [item.board for item in boards if item.score == boards[0].score],
        "digest": found.result_digest,
        "notes": list(found.notes),
        "statement": found.statement,
    }


def view(
    rows: Mapping[str, Any], now: Live | None, *, is_current: bool = True, error: str = ""
) -> dict[str, Any]:
    """Return what ``status --format json`` holds: the question, how far its answer is, and who
    works on it.

    ``rows`` is what :func:`view_of_rows` made, empty while they have not been read; ``now`` is None
    when lock and log cannot be read, and ``error`` says why.  Only when no file has changed since
    the rows were read (``is_current``) may anything be called proven.  None in the result: not
    known, or known only while somebody works on the run.
    """
    from results.proof.prove import State, state_of

    is_running = now is not None and now.is_running
    told = asdict(now.report) if now and now.report else {}
    last = told if is_running else {}
    is_proven = bool(rows.get("proven")) and is_current
    state = State(rows["rows_state"]) if rows and is_current else None
    n_classes = rows.get("n_classes") or last.get("n_classes") or 0
    n_done = min(n_classes, max(rows.get("n_classes_done") or 0, last.get("n_classes_done") or 0))
    # of a proven run none is better than those of the rows, whatever a log says
    best_of_rows, best_told = (
        rows.get("best_score") or 0,
        0 if is_proven else int(last.get("best_score") or 0),
    )
    is_stored = best_told <= best_of_rows
    return {
        "state": state_of(state, is_running=is_running, error=error).value,
        **{name: value for name, value in rows.items() if name != "rows_state"},
        "proven": is_proven,
        "driver": None
        if now is None or not is_running
        else now.owner.describe()
        if now.owner
        else "unknown",
        "figures_age_s": now.age_s if now and is_running else None,
        "ended": _ended(now) if now else None,
        "n_classes": n_classes,
        # what is counted may not be stored yet
        "n_classes_begun": max(rows.get("n_classes_begun") or 0, n_done),
        "n_classes_done": n_done,
        "n_classes_left": n_classes - n_done,
        "n_units_in_flight": last.get("n_in_flight"),
        **{name: told.get(name) for name in ("n_strikes", "n_requeued")},
        "n_workers_lost": told.get("n_deaths"),
        "hosts": last.get("hosts") or {},
        "hosts_flagged": list(told.get("flagged") or ()),
        "n_replicas_agreed": told.get("n_agreed"),
        "classes_per_h": now.classes_per_h if now and is_running else None,
        "verdicts_per_h": now.verdicts_per_h if now and is_running else None,
        **{name: last.get(name) for name in _OF_DRIVER},
        "share": last.get("share") or None,
        "best_score": max(best_of_rows, best_told) or None,
        "best_boards": rows.get("best_boards", []) if is_stored else [str(last.get("best_board"))],
        "best_is_stored": is_stored,
    }


def _ended(now: Live) -> str | None:
    from results.log_events import Finished

    if now.is_running or (not now.report and not now.end):
        return None
    if not now.end:
        return (
            f"without a word, last heard of {duration(now.age_s or 0.0)} ago: killed, or its "
            "machine is gone"
        )
    return (
        None
        if isinstance(now.end, Finished) and now.end.complete
        else f"{duration(now.ended_s or 0.0)} ago: {now.end.message}"
    )


def lines(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what people look for first, ten lines at most."""
    told: dict[str, Any] = {"state": record["state"]}
    if not record["proven"]:
        told["boards below"] = "found so far, not proven"
        told["in the way"] = record["why_not_proven"]
    told["run"] = f"{record['dims']}, {record['wordlist']}, cutoff {record['cutoff']:,}"
    told["done"] = done(record)
    told |= dict(going_on(record))
    told["best"] = _best(record)
    told |= {"statement": record["statement"]} if record["statement"] else {}
    return {**told, "digest": record["digest"]}


def done(record: Mapping[str, Any]) -> str:
    """Return how many classes are done, how many units are searched, and how old the figures
    are.
    """
    n_done, n_classes = record["n_classes_done"], record["n_classes"]
    if not n_classes:
        return "not known yet"
    busy, age_s = record["n_units_in_flight"], record["figures_age_s"]
    flying = f", {counted(busy, 'unit')} being searched" if busy else ""
    age = f", as of {duration(age_s)} ago" if age_s is not None else ""
    return (
        f"{n_done:,} of {counted(n_classes, 'class', 'classes')} "
        f"({percent(n_done, n_classes)}){flying}{age}"
    )


def going_on(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a driver does, or how the last one ended."""
    if record["driver"] is None:
        if record["ended"]:
            yield "last session ended", record["ended"]
        return
    if record["figures_age_s"] is None:
        yield "progress", "none reported yet: the driver is starting up"
    else:
        yield "time left", time_left(record)
        yield "rate", rate(record)
    names = record["hosts"]
    hosts = (
        f" on {next(iter(names))}"
        if len(names) == 1
        else "".join(f", {host} {n}" for host, n in names.items())
    )
    lost = f", {record['n_workers_lost']} lost so far" if record["n_workers_lost"] else ""
    yield (
        "workers",
        f"{record['n_workers'] or 'none up yet'}{hosts}{lost}; driver {record['driver']}",
    )


def _best(record: Mapping[str, Any]) -> str:
    if not record["best_score"]:
        return "none found"
    from boardclass.board import with_letters  # with numpy, which --help can do without

    board = with_letters(record["best_boards"][0], record.get("letters") or {})
    first = f"{counted(record['best_score'], 'point')}: {board}"
    if not record["best_is_stored"]:
        return (
            f"{first}, not stored yet; {record['n_boards']:,} stored at or above the cutoff, up "
            "to symmetry"
        )
    return f"{first}; {record['n_boards']:,} at or above the cutoff, up to symmetry"


def rate(record: Mapping[str, Any]) -> str:
    """Return what is finished in an hour."""
    classes, verdicts = record["classes_per_h"], record["verdicts_per_h"]
    if verdicts is None:
        return "unknown: not measured yet"
    if not verdicts:
        return "unknown: nothing was finished of late"
    return (
        f"{f'{classes:,.0f} classes' if classes else 'no whole class of late,'} and "
        f"{verdicts:,.0f} verdicts an hour"
    )


def time_left(record: Mapping[str, Any]) -> str:
    """Return the time left, in processor hours as well, and what it is based on."""
    left_s, n_workers = record["remaining_s"], record["n_workers"] or 1
    if left_s is None:
        return "unknown: too little has been searched"
    span = between(record["remaining_low_s"], record["remaining_high_s"])
    share, n_own = "", record["n_own"]
    if record["share"]:
        own = (
            f"{record['n_own_done'] or 0:,} of its {counted(n_own, 'class', 'classes')} done"
            if n_own
            else ""
        )
        share = f" for share {record['share']}, {own or 'all that this driver searches'}"
    elsewhere = (
        f"; {processor_time(record['elsewhere_s'])} for the other shares"
        if record.get("elsewhere_s")
        else ""
    )
    n = record["n_classes_done"]
    few = ", a rough guess" if n < _FEW_MEASURED else ""
    basis = f"judging by {counted(n, 'finished class', 'finished classes')}{few}"
    return (
        f"about {duration(left_s)}{span}{share}, {processor_time(left_s * n_workers)}{elsewhere}, "
        f"{basis}"
    )


def processor_time(seconds: float) -> str:
    """Return how long one processor works, in hours if it is more than one."""
    return (
        f"{seconds / 3600:,.1f} processor hours"
        if seconds >= 3600
        else f"{duration(seconds)} of one processor"
    )


def run_wordlist(run: Run, name: str | None) -> WordList:
    """Return the word list of a run: the one recorded, or the one named, if it is the same.

    Raises InputError when it cannot be found or read, FingerprintError when it is another list.
    """
    from boardclass.wordlist import load_wordlist
    from results.errors import FingerprintError

    config = run.info.get("config")
    recorded = config.get("wordlist") if isinstance(config, dict) else None
    if name is None and not isinstance(recorded, str):
        raise InputError(
            f"{run.folder.where('')} does not say which word list it used: name it with --wordlist"
        )
    try:
        words = load_wordlist(name or str(recorded))
    except InputError as error:
        raise InputError(f"{error}; --wordlist names another place") from error
    if words.sha256 != run.fingerprint.wordlist_sha256:
        raise FingerprintError(
            f"word list {words.name!r} has SHA-256 {words.sha256}, the run in "
            f"{run.folder.where('')} used {run.fingerprint.wordlist_sha256}: name the list it "
            "used with --wordlist"
        )
    return words


def tell_notes(found: Summary) -> None:
    """Say on standard error where the records of a run disagree with its rows."""
    for note in found.notes:
        tell(f"orderly: {note}")


def require_all_proven(summaries: Mapping[str, Summary]) -> None:
    """End a command that has shown results of some runs: say which of them are not proven.

    Raises IncompleteError or MismatchError for the first that is not; the others are named on
    standard error before it.
    """
    for found in summaries.values():
        tell_notes(found)
    unproven = [name for name, found in summaries.items() if not found.proven]
    for name in unproven[1:]:
        tell(f"orderly: {name}: {summaries[name].caveat}")
    if unproven:
        summaries[unproven[0]].require_proven(unproven[0])


def tell_so_far(summaries: Mapping[str, Summary]) -> None:
    """Print above a table for people which of the runs are not proven."""
    for name, found in summaries.items():
        if not found.proven:
            whose = f"{name}: " if len(summaries) > 1 else ""
            console().print(f"{whose}{found.caveat}", markup=False, soft_wrap=True)


def proven_place(board: str, dims: str, score: int, sha256: str, points: Sequence[int]) -> str:
    """Return where a board of this exact score stands among all of its size; empty where no
    published run proves it.
    """
    found = _proof(dims, sha256, tuple(points))
    if found is None or not found.listed.boards:
        return ""
    from boardclass.board import with_letters
    from boardclass.canonical import canonical_board
    from boardclass.geometry import geometry
    from results.proof.claim import standing

    name, listed = found.question.wordlist, found.listed.boards
    best = (
        f"The best score is {listed[0].score:,}, that of "
        f"{with_letters(listed[0].board, found.question.letters)}."
    )
    if not reaches(score, found.fingerprint.cutoff):
        n, n_all = found.listed.n_raw, 26**found.fingerprint.n_cells
        return (
            f"Proven. With {name} at least {n:,} of all {n_all:,} {dims} boards score more. {best}"
        )
    if not any(
        (item.board, item.score) == (canonical_board(board, geometry(dims)), score)
        for item in listed
    ):
        return ""
    scores = [item.score for item in listed]
    rank = 1 + sum(other > score for other in scores)
    place = standing(dims, name, found.question.scores, rank, scores.count(score))
    return f"Proven. {place}{f' {best}' if rank > 1 else ''}"


@lru_cache
def _proof(dims: str, sha256: str, points: tuple[int, ...]) -> Summary | None:
    folders = sorted(PUBLISHED.glob(f"{dims}-*"))
    if not folders:  # most sizes: nothing need be loaded that reads runs
        return None
    from results.proof.prove import summary
    from results.store.run import open_run

    for folder in folders:
        run = open_run(folder)
        asked = run.fingerprint
        if (asked.dims, asked.wordlist_sha256, asked.scores) == (dims, sha256, points):
            found = summary(run)
            return found if found.proven else None
    return None
