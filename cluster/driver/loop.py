"""The run loop: carries events from the executor to the scheduler and instructions back, verdicts
to the store.

All waiting is in ``executor.poll``.  Nothing is decided here.  The ledger stands between scheduler
and store: it makes rows of verdicts and checks them before they count, and knows the best board.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.cluster.scheduling import events
from orderly_boggle.cluster.scheduling.scheduler import Scheduler
from orderly_boggle.cluster.workers.executors import Executor
from orderly_boggle.results.errors import RowError
from orderly_boggle.results.log_events import Report
from orderly_boggle.results.store.rows import QUARANTINED, Checked, Row, checked
from orderly_boggle.results.store.store import Store
from orderly_boggle.search.question import Question

POLL_S = 0.5


def run_loop(
    scheduler: Scheduler,
    executor: Executor,
    ledger: Ledger,
    *,
    clock: Callable[[], float],
    stop: Callable[[], str],
    watch: Callable[[Report], None],
    note: Callable[[Sequence[events.Event], Sequence[events.Instruction]], object],
    poll_s: float = POLL_S,
) -> events.Finish:
    """Run until the scheduler finishes and return how.

    ``clock`` tells monotonic seconds.  At least every ``poll_s`` seconds ``stop`` is asked why to
    stop (empty: go on).  ``watch`` is shown the scheduler's figures every ``poll_s`` seconds and at
    the end, however many turns there are: a large run has hundreds a second.  ``note`` is told all
    events and all instructions.
    """
    shown_at_s = -math.inf
    # the room for workers is known before the first is asked for
    came: list[events.Event] = [*executor.poll(0.0), events.Tick()]
    while True:
        now_s = clock()
        # before the scheduler: a verdict that cannot be stored must not close its unit
        came = ledger.admit(came)
        orders = list(chain.from_iterable(scheduler.handle(event, now_s) for event in came))
        # before they are carried out: a crash in between leaves its cause in the log
        note(came, orders)
        settled: list[events.Publish | events.Quarantine] = []
        finish: events.Finish | None = None
        for order in orders:
            if isinstance(order, events.Publish | events.Quarantine):
                settled.append(order)
            elif isinstance(order, events.Finish):
                finish = order
            elif isinstance(order, events.Spawn):
                executor.spawn(order.worker)
            elif isinstance(order, events.Assign):
                executor.assign(order)
            elif isinstance(order, events.Bar):
                executor.bar(order.machine)
            else:
                executor.retire(order.worker)
        # after workers have their next units: they need not wait for the disk
        ledger.publish(settled)
        if finish is not None or now_s - shown_at_s >= poll_s:
            shown_at_s = now_s
            watch(scheduler.snapshot())
        if finish is not None:
            return finish
        why = stop()
        if why:
            # what workers still have to say is let go: nobody waits for it, and it is searched
            # again
            came = [events.Cancel(why)]
        else:
            came = [*executor.poll(poll_s), events.Tick()]


class Ledger:
    """The run loop's sink."""

    def __init__(self, store: Store, question: Question) -> None:
        self._store = store
        self._question = question
        self._geometry = question.geometry
        # the best score among accepted candidates, and its canonical board
        self.best: tuple[int, str] | None = None
        self.seen: dict[str, int] = {}  # accepted candidates as they were found, with their scores
        self.n_candidates = 0  # accepted in this session
        self.n_rows = 0

    def admit(self, came: list[events.Event]) -> list[events.Event]:
        """Return the events: each verdict with its row, or a failure of its unit if it breaks the
        schema.
        """
        answers = [event for event in came if isinstance(event, events.Answer)]
        try:
            made = self._checked(answers).each()
        except RowError as error:
            if len(answers) > 1:  # one of them is bad: check each alone
                return list(chain.from_iterable(self.admit([event]) for event in came))
            first = answers[0]
            unit = first.result.unit
            bad = events.UnitFailed(first.worker, first.assignment, unit, str(error))
            return [bad if isinstance(event, events.Answer) else event for event in came]
        with_rows: list[events.Event] = []
        for event in came:
            if isinstance(event, events.Answer):
                event = replace(event, row=next(made))
            with_rows.append(event)
        return with_rows

    def publish(self, settled: list[events.Publish | events.Quarantine]) -> None:
        """Append what is settled; with nothing to append, rows that have waited long enough are
        flushed.

        Answers must have been admitted: only they have rows.
        """
        offered = list(chain.from_iterable(map(self._rows, settled)))
        self._store.append(offered)
        for item in offered:
            for row in item.rows if isinstance(item, Checked) else (item,):
                self.n_rows += row.is_verdict
                self.note_candidates(row.candidates)

    def note_candidates(self, candidates: Sequence[tuple[str, int]]) -> None:
        """Count candidates and keep the best, as the canonical board."""
        self.n_candidates += len(candidates)
        self.seen.update(candidates)
        for board, score in candidates:
            if self.best is None or score > self.best[0]:
                self.best = score, canonical_board(board, self._geometry)

    def _checked(self, answers: list[events.Answer]) -> Checked:
        """Return the row of each answer; RowError when one of these breaks the schema."""
        try:
            rows = [self._row(answer) for answer in answers]
            return checked(rows, self._question, "verdict of a worker")
        except (AttributeError, TypeError, ValueError, KeyError) as error:
            raise RowError(f"no verdict: {type(error).__name__}: {error}") from error

    def _row(self, answer: events.Answer) -> Row:
        result = answer.result
        # the paths alone would be taken for parts of this class, and would close a gap in it
        if any(child.class_id != result.unit.class_id for child in result.children):
            raise RowError("a part is of another class")  # a row has only the paths of parts
        return Row.of_result(
            result,
            self._question,
            peak_rss_bytes=answer.peak_rss_bytes,
            host=answer.host,
            cpu=answer.cpu,
            kernel_hash=answer.kernel_hash,
        )

    def _rows(self, item: events.Publish | events.Quarantine) -> list[Row | Checked]:
        if isinstance(item, events.Publish):
            admitted = item.answer.row
            assert admitted is not None, "admitted before the scheduler saw it"
            (row,) = admitted.rows
            # mostly: another number would have to be checked and made into a table once more
            if item.attempt == row.attempt:
                return [admitted]
            return [replace(row, attempt=item.attempt)]
        unit = item.unit
        given_up = Row(
            self._question.digest,
            unit.class_id,
            unit.path,
            QUARANTINED,
            0,
            attempt=item.attempt,
            message=item.message[:1000],
        )
        return [replace(given_up, host=host) for host in item.hosts or ("",)]
