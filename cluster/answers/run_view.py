"""What a run is for people, one record: its question, its answer, how far it is, who works on it.

    look        run -> RunView             status, runs
      run_view    Summary, Live -> RunView   what the rows give, with what lock and log say
    as_json     RunView -> the keys of ``status --format json``

Rows are read now and then, lock and log every second: ``watch`` and ``serve`` put the newest of
both together.  status.py has the words for it.
"""

from dataclasses import dataclass, replace
from typing import Any

from orderly_boggle import results
from orderly_boggle.boardclass.printable import duration
from orderly_boggle.results.log import Live, live
from orderly_boggle.results.log_events import Finished, Report
from orderly_boggle.results.proof.packaged import packaged_summary
from orderly_boggle.results.proof.summary import State, Summary, state_of
from orderly_boggle.results.storage.local import DiskUse, open_folder

_REPORTED = (  # keys of the JSON that are fields of a report
    "n_workers",
    "remaining_s",
    "remaining_low_s",
    "remaining_high_s",
    "elsewhere_s",
    "n_measured",
    "n_own",
    "n_own_done",
)
CHANGED = "its files have changed since its rows were read; they are being read again"


@dataclass(frozen=True)
class Classes:
    """How far a run is."""

    n_all: int  # 0: not known yet
    n_begun: int
    n_done: int


@dataclass(frozen=True)
class Drawn:
    """A board that a run lists."""

    board: str
    score: int
    typed: str = ""  # with the letters of the list
    svg: str = ""


@dataclass(frozen=True)
class Reading:
    """What one reading of the rows gave: a screen shows the boards, a page shows all of it."""

    answer: Summary  # a page needs its counts, not its list of boards
    boards: list[Drawn]  # the best ones
    strength: str = ""  # as the claim of a proven run records it
    seconds: float = 0.0  # that the verdicts took
    n_units: int = 0
    n_hosts: int = 0
    map: tuple[str, str] = ("", "")  # of the classes: a drawing, what it shows
    disk: DiskUse | None = None


@dataclass(frozen=True)
class RunView:
    """A run as it is shown."""

    state: State
    error: str  # why it cannot be read
    # what its rows give, None while they have not been read; proven only if no file has changed
    # since
    answer: Summary | None
    classes: Classes  # what is counted may not be stored yet
    best_score: int | None
    best_boards: tuple[str, ...]
    best_is_stored: bool
    driver: Live | None  # who works on it; None: nobody does
    last: Report | None  # what the last session reported, whether or not it goes on
    ended: str | None  # how the last session ended before its end

    @property
    def proven(self) -> bool:
        """Whether its rows, as they are now, prove its answer."""
        return self.state is State.PROVEN


def look(location: str) -> tuple[RunView, Summary]:
    """Return the view of a run, and what its rows prove. Raises StoreError when the run is
    damaged.
    """
    result = packaged_summary(location)
    if result is not None:
        return run_view(result, live(open_folder(location))), result

    run = results.open_run(location)
    # before the rows, which take longer to read: the driver goes on meanwhile
    now = live(run.folder)
    result = results.summary(run)
    return run_view(result, now), result


def run_view(
    answer: Summary | None, now: Live | None, *, is_current: bool = True, error: str = ""
) -> RunView:
    """Return the view of a run.

    ``answer`` is None while the rows have not been read, ``now`` when lock and log cannot be read,
    and ``error`` says why.  Only when no file has changed since the rows were read
    (``is_current``) may anything be called proven.
    """
    driver = None
    if now and now.is_running:
        driver = now
    report = (driver.report if driver else None) or Report()
    state = None
    if answer and is_current:
        state = answer.state
    # nothing is left to search in a run that was proven: who holds its lock since checks or
    # certifies it
    is_searched = driver is not None and not (answer and answer.proven)
    if answer and not is_current:
        answer = replace(answer, proven=False, statement=None, why_not=CHANGED)
    n_all = 0
    n_begun = 0
    n_done = 0
    if answer:
        n_all = answer.n_classes
        n_begun = answer.n_classes_begun
        n_done = answer.n_classes_done
    n_all = n_all or report.n_classes
    n_done = min(n_all, max(n_done, report.n_classes_done))
    # of a proven run none is better than those of the rows, whatever a log says
    if state is State.PROVEN:
        best_reported = 0
    else:
        best_reported = report.best_score or 0
    best_stored = (answer.listed.best_score if answer else None) or 0
    is_stored = best_reported <= best_stored
    if answer:
        stored = answer.listed.best_boards
    else:
        stored = ()
    return RunView(
        state=state_of(state, is_running=is_searched, error=error),
        error=error,
        answer=answer,
        classes=Classes(n_all, max(n_begun, n_done), n_done),
        best_score=max(best_stored, best_reported) or None,
        best_boards=stored if is_stored else (report.best_board,),
        best_is_stored=is_stored,
        driver=driver,
        last=now.report if now else None,
        ended=_ended(now) if now else None,
    )


def _ended(now: Live) -> str | None:
    if now.is_running or (not now.report and not now.end):
        return None
    if not now.end:
        heard = f"last heard of {duration(now.age_s or 0.0)} ago"
        return f"without a final event, {heard}: killed, or its machine is gone"
    if isinstance(now.end, Finished) and now.end.complete:
        return None
    return f"{duration(now.ended_s or 0.0)} ago: {now.end.message}"


def as_json(view: RunView) -> dict[str, Any]:
    """Return what ``status --format json`` holds, of a run whose rows were read; None: not known,
    or known only while somebody works on the run.
    """
    answer = view.answer
    classes = view.classes
    driver = view.driver
    last = view.last
    assert answer is not None, "its rows were read"
    if driver:
        report = driver.report
    else:
        report = None
    climbed = None
    if view.best_score is None:
        climbed = answer.from_climb
    return {
        "state": view.state.value,
        "proven": view.proven,
        "why_not_proven": answer.why_not or None,
        "dims": answer.question.dims,
        "wordlist": answer.wording.wordlist,
        "letters": answer.wording.letters,
        "scores": answer.wording.score_table,
        "wordlist_sha256": answer.question.words_sha256,
        "cutoff": answer.question.cutoff,
        "partition": answer.question.buckets,
        "n_classes": classes.n_all,
        "n_classes_begun": classes.n_begun,
        "n_classes_done": classes.n_done,
        "n_conflicts": answer.n_conflicts,
        "n_units_pending": answer.n_pending,
        "n_units_split": answer.n_rows["split"],
        "n_units_quarantined": answer.n_quarantined,
        "rows": answer.n_rows,
        "n_candidates": answer.listed.n_candidates,
        "n_boards": answer.listed.n_canonical,
        "n_boards_with_images": answer.listed.n_raw,
        "best_score": view.best_score,
        "best_boards": view.best_boards,
        "climbed_board": climbed.board if climbed else None,
        "climbed_score": climbed.score if climbed else None,
        "digest": answer.result_digest,
        **_values(answer, "notes", "statement"),
        "driver": driver.driver if driver else None,
        "figures_age_s": driver.age_s if driver else None,
        "ended": view.ended,
        "n_classes_left": classes.n_all - classes.n_done,
        "n_units_in_flight": report.n_in_flight if report else None,
        **_values(last, "n_strikes", "n_requeued"),
        "n_workers_lost": last.n_deaths if last else None,
        "hosts": report.hosts if report else {},
        "hosts_flagged": last.flagged if last else (),
        "n_replicas_agreed": last.n_agreed if last else None,
        **_values(driver, "classes_per_h", "verdicts_per_h"),
        **_values(report, *_REPORTED),
        "share": report.share or None if report else None,
        "best_is_stored": view.best_is_stored,
    }


def _values(record: object, *names: str) -> dict[str, object]:
    return {name: getattr(record, name, None) for name in names}
