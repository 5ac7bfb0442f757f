"""How far a run is, from its rows, and what is going on in it, from its lock and event log: what ``status`` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from boardclass.printable import counted
from cluster.answers.render import points
from cluster.driver.progress import duration
from results.reading.state import state_of

if TYPE_CHECKING:
    from results.log.live import Live
    from results.reading.query import Summary


def status_record(found: Summary, now: Live) -> dict[str, Any]:
    """Return what ``status --format json`` holds.

    The question, how far its answer is (from the last word of a running driver, or from the stored rows), the best
    boards, digest and sentence.  None: not known, or known only while somebody works on the run.
    """
    boards = found.listed.boards
    last = now.progress if now.is_running else {}
    n_classes = found.n_classes
    n_done = min(n_classes, max(found.n_classes_done, int(last.get("n_classes_done") or 0)))
    said = {} if found.proven else last  # then there is none better than those of the rows, whatever a log says
    best = max(boards[0].score if boards else 0, int(said.get("best_score") or 0)) or None
    best_boards = [item.board for item in boards if item.score == best] or [str(said.get("best_board"))]
    return {
        "state": state_of(found.state, is_running=now.is_running).value,
        "proven": found.proven,
        "why_not_proven": found.why_not or None,
        "driver": now.owner.describe() if now.owner else "unknown" if now.is_running else None,
        "figures_age_s": now.age_s if now.is_running else None,
        "ended": _ended(now),
        "dims": found.fingerprint.dims,
        "wordlist": found.question.wordlist,
        "wordlist_sha256": found.fingerprint.wordlist_sha256,
        "cutoff": found.fingerprint.cutoff,
        "partition": found.fingerprint.partition,
        "n_classes": n_classes,
        "n_classes_begun": max(found.n_classes_begun, n_done),  # what the driver has counted may not be stored yet
        "n_classes_done": n_done,
        "n_classes_left": n_classes - n_done,
        "n_units_in_flight": last.get("n_in_flight"),
        "n_units_pending": found.n_pending,
        "n_units_split": found.n_rows["split"],
        "n_units_quarantined": found.n_quarantined,
        "n_strikes": now.progress.get("n_strikes"),
        "n_requeued": now.progress.get("n_requeued"),
        "n_workers": last.get("n_workers"),
        "n_workers_lost": now.progress.get("n_deaths"),
        "hosts": last.get("hosts") or {},
        "hosts_flagged": list(now.progress.get("flagged") or ()),
        "n_replicas_agreed": now.progress.get("n_agreed"),
        "classes_per_h": now.classes_per_h if now.is_running else None,
        "verdicts_per_h": now.verdicts_per_h if now.is_running else None,
        "remaining_s": last.get("remaining_s"),
        "remaining_range_s": list(now.remaining_range_s) if now.is_running and now.remaining_range_s else None,
        "n_measured": last.get("n_measured"),
        "share": last.get("share") or None,
        "n_conflicts": found.n_conflicts,
        "rows": found.n_rows,
        "n_candidates": found.listed.n_candidates,
        "n_boards": found.listed.n_canonical,
        "n_boards_with_images": found.listed.n_raw,
        "rescored": found.rescored,
        "best_score": best,
        "best_boards": best_boards if best else [],
        "digest": found.result_digest,
        "notes": list(found.notes),
        "statement": found.statement,
    }


# the table for people says these in sentences
TOLD = frozenset(
    (
        *("state", "driver", "figures_age_s", "ended", "n_classes_left", "n_units_in_flight", "n_workers"),
        *("n_workers_lost", "classes_per_h", "verdicts_per_h", "remaining_s", "n_measured", "proven", "why_not_proven"),
        "remaining_range_s",
        "notes",  # on standard error
    )
)


def _ended(now: Live) -> str | None:
    """Return how the last session ended, if none is under way and it did not end well."""
    if now.is_running or (not now.progress and not now.end):
        return None
    if not now.end:
        return f"without a word, last heard of {duration(now.age_s or 0.0)} ago: killed, or its machine is gone"
    return None if now.end.get("complete") else f"{duration(now.ended_s or 0.0)} ago: {now.end.get('message')}"


def brief(record: dict[str, Any]) -> dict[str, Any]:
    """Return what people look for first, ten lines at most."""
    runs, best, n = record["driver"] is not None, record["best_score"], record["n_boards"]
    told: dict[str, Any] = {"state": record["state"]}
    if not record["proven"]:
        told["boards below"] = "found so far, not proven"
        told["in the way"] = record["why_not_proven"]
    told["run"] = f"{record['dims']}, {record['wordlist']}, cutoff {record['cutoff']:,}"
    told["done"] = _done(record)
    if runs and record["figures_age_s"] is None:
        told["progress"] = "none reported yet: the driver is starting up"
    elif runs:
        told |= {"time left": time_left(record), "rate": _rate(record)}
    if runs:
        told["workers"] = f"{_workers(record)}; driver {record['driver']}"
    elif record["ended"]:
        told["last session ended"] = record["ended"]
    first = f"{points(best)}: {record['best_boards'][0]}" if best else "none found"
    told["best"] = f"{first}; {n:,} at or above the cutoff, up to symmetry"
    told |= {"statement": record["statement"]} if record["statement"] else {}
    return {**told, "digest": record["digest"]}


def _done(record: dict[str, Any]) -> str:
    n_done, n_classes = record["n_classes_done"], record["n_classes"]
    busy, age_s = record["n_units_in_flight"], record["figures_age_s"]
    flying = f", {busy:,} units being searched" if busy else ""
    age = f", as of {duration(age_s)} ago" if age_s is not None else ""
    return f"{n_done:,} of {n_classes:,} classes ({_percent(n_done, n_classes)} %){flying}{age}"


def _percent(n_done: int, n_classes: int) -> str:
    """Return a percentage that is 100 only when it is all of them."""
    return f"{int(1000 * n_done / n_classes) / 10:.1f}"


def _workers(record: dict[str, Any]) -> str:
    lost = f", {record['n_workers_lost']} lost so far" if record["n_workers_lost"] else ""
    return f"{record['n_workers'] or 'none up yet'}{lost}"


def sentences(record: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a run under way as people read them."""
    told: dict[str, Any] = {"state": record["state"]}
    if not record["proven"]:
        told["boards below"] = "found so far, not proven"
        told["in the way"] = record["why_not_proven"]
    if record["ended"]:
        told["last session ended"] = record["ended"]
    if record["driver"] is None:
        return told
    told["driver"] = record["driver"]
    if record["figures_age_s"] is None:
        return {**told, "progress": "none reported yet: the driver is starting up"}
    n_done, n_classes = record["n_classes_done"], record["n_classes"]
    told["figures from"] = f"{duration(record['figures_age_s'])} ago"
    told["done"] = f"{n_done:,} of {n_classes:,} classes ({_percent(n_done, n_classes)} %)"
    told["left"] = f"{record['n_classes_left']:,} classes; {record['n_units_in_flight']} units are being searched"
    told["rate"] = _rate(record)
    told["time left"] = time_left(record)
    told["workers"] = _workers(record)
    return told


def _rate(record: dict[str, Any]) -> str:
    if record["verdicts_per_h"] is None:
        return "unknown: not measured yet"
    return f"{record['classes_per_h']:,.0f} classes and {record['verdicts_per_h']:,.0f} verdicts an hour"


def time_left(record: Mapping[str, Any]) -> str:
    """Return the time left and what it is based on; needs ``remaining_s``, its range, ``n_measured`` and ``share``."""
    if record["remaining_s"] is None or not record["n_measured"]:
        return "unknown: too little has been searched since the driver began"
    few = ", a rough guess" if record["n_measured"] < 30 else ""
    classes = counted(record["n_measured"], "class", "classes")
    share = f" for share {record['share']}, which is all that this driver searches" if record["share"] else ""
    low, high = record["remaining_range_s"] or (0.0, 0.0)
    between = f" (guesses of late: {duration(low)} to {duration(high)})" if high > low + 1 else ""
    return f"about {duration(record['remaining_s'])}{between}{share}, judging by {classes} finished so far{few}"


def time_left_of(now: Live) -> str:
    """Return the time left of a run that goes on, as its driver told it last."""
    last = now.progress
    if not last:
        return "unknown: the driver is starting up"
    return time_left(
        {
            "remaining_s": last.get("remaining_s"),
            "remaining_range_s": now.remaining_range_s,
            "n_measured": last.get("n_measured"),
            "share": last.get("share") or None,
        }
    )
