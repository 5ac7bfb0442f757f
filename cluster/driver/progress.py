"""What a person sees while a run goes on: one bar on a terminal, one plain line per 30 s elsewhere,
or nothing.

    driver -> Progress.begin -> update(Report) ... stage(text) -> end()

All of it goes to standard error, so that standard output stays a result.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from boardclass.printable import between, counted, duration, percent, printable
from cluster.streams import console, write_lines
from results.log_events import Report

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

LINE_S = 30.0


class Progress:
    """What the driver tells: one line at the start, one per 30 s, one at the end; nothing without a
    stream.

    Every call returns at once.  ``clock`` tells monotonic seconds.
    """

    def __init__(
        self, stream: IO[str] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._shown_at_s = -LINE_S
        self._last: Report | None = None
        self._shown: Report | None = None

    def begin(self, text: str, n_classes: int, n_done: int) -> None:
        """Say what is about to happen; of ``n_classes`` so many are done."""
        del n_classes, n_done
        self.note(text)
        self._shown_at_s = self._clock()

    def update(self, report: Report) -> None:
        """Show how far the run is; called about twice a second."""
        self._last = report
        if self._clock() - self._shown_at_s >= LINE_S:
            self.end()

    def stage(self, text: str) -> None:
        """Show work outside the search, such as rescoring."""
        self.end()
        self.note(text)

    def note(self, text: str) -> None:
        """Say something that stays on the screen: what was dropped, or is not as expected."""
        if self._stream is not None:
            write_lines(self._stream, text)

    def end(self) -> None:
        """Show the last figures unless they were shown, and clean up; may be called twice."""
        if self._last is not None and self._last is not self._shown:
            self._shown, self._shown_at_s = self._last, self._clock()
            self.note(format_report(self._last))


class Bar(Progress):
    """One line that is redrawn: for terminals."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(stream)
        self._bar: RichProgress | None = None
        self._task: Any = None

    def begin(self, text: str, n_classes: int, n_done: int) -> None:
        """Print what is about to happen and start the bar."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        shown = console(self._stream)
        shown.print(text, markup=False)
        columns = (
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[best]}", markup=False),
            TextColumn("{task.fields[left]}", markup=False),
            TextColumn("{task.fields[trouble]}", style="yellow", markup=False),
        )
        self._bar = RichProgress(*columns, console=shown, transient=True, refresh_per_second=4)
        self._task = self._bar.add_task(
            "", total=n_classes, completed=n_done, best="", left="", trouble=""
        )
        self._bar.start()

    def update(self, report: Report) -> None:
        """Move the bar."""
        if self._bar is not None:
            best = (
                f"best {report.best_score:,} {printable(report.best_board)}"
                if report.best_score is not None
                else ""
            )
            self._bar.update(
                self._task,
                completed=report.n_classes_done,
                best=best,
                left=f"{duration(report.elapsed_s)} gone, {_left(report)}",
                trouble=_trouble(report),
            )

    def stage(self, text: str) -> None:
        """Show the text instead of the figures."""
        if self._bar is not None:
            self._bar.update(self._task, left=printable(text))

    def note(self, text: str) -> None:
        """Write the text; while there is a bar, above it."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, soft_wrap=True)
        else:
            super().note(text)

    def end(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def make_progress(stream: IO[str] | None = None) -> Progress:
    """Return the progress display that suits the stream (standard error by default)."""
    stream = stream if stream is not None else sys.stderr
    return Bar(stream) if stream.isatty() else Progress(stream)


def format_report(report: Report) -> str:
    """Return the figures as one line."""
    share = percent(report.n_classes_done, report.n_classes)
    parts = [f"{report.n_classes_done:,}/{counted(report.n_classes, 'class', 'classes')} ({share})"]
    if report.n_own:
        parts.append(f"{report.n_own_done:,}/{report.n_own:,} of share {report.share}")
    if report.best_score is not None:
        parts.append(f"best {report.best_score:,} {report.best_board}")
    parts += [f"{duration(report.elapsed_s)} gone", _left(report), _trouble(report)]
    return ", ".join(part for part in parts if part)


def _left(report: Report) -> str:
    share = f" of share {report.share}" if report.share else ""
    if report.n_open == 0:
        return f"all{share} done" if share else "done"
    if report.remaining_s is None:
        return "time left unknown"
    span = between(report.remaining_low_s, report.remaining_high_s)
    return f"about {duration(report.remaining_s)} left{share}{span}"


def _trouble(report: Report) -> str:
    lost = counted(report.n_deaths, "worker lost", "workers lost") if report.n_deaths else ""
    given_up = (
        counted(report.n_quarantined, "unit given up", "units given up")
        if report.n_quarantined
        else ""
    )
    return ", ".join(filter(None, (lost, given_up)))
