"""What a person sees while a run goes on: one bar on a terminal, one plain line per 30 s elsewhere,
or nothing.

    driver -> Progress.begin -> update(Report) ... stage(text) -> end()

All of it goes to standard error, so that standard output stays a result.
"""

from collections.abc import Callable

from orderly_boggle.boardclass.notebook import bar
from orderly_boggle.boardclass.printable import between, counted, duration, percent
from orderly_boggle.cluster.streams import Line
from orderly_boggle.results.log_events import Report


class Progress(Line):
    """What the driver tells: a line at the start, how far it is, and without a bar the last figures
    at the end.
    """

    def begin(self, text: str, n_classes: int, n_done: int) -> None:
        """Say what is about to happen; of ``n_classes`` so many are done."""
        self.note(text)
        self.start(n_classes, n_done)

    def update(self, report: Report) -> None:
        """Show how far the run is; called about twice a second."""
        self.move(format_report(report), report.n_classes_done)

    def stage(self, text: str) -> None:
        """Show work outside the search, such as rescoring, instead of the figures."""
        if self._bar is not None:
            self.move(text)
        else:
            self.end()
            self.note(text)

    def end(self) -> None:
        """Show the last figures unless they were shown, and clean up; may be called twice."""
        self.catch_up()
        super().end()


class Told(Progress):
    """Passes the figures on to a function."""

    def __init__(self, tell: Callable[[Report], object]) -> None:
        super().__init__()
        self._tell = tell

    def update(self, report: Report) -> None:
        """Pass the figures on."""
        self._tell(report)


def notebook_progress() -> Progress:
    """Return a display that draws a bar if this is a notebook, and nothing elsewhere."""
    return Told(bar())


def format_report(report: Report) -> str:
    """Return the figures as one line."""
    share = percent(report.n_classes_done, report.n_classes)
    parts = [f"{report.n_classes_done:,}/{counted(report.n_classes, 'class', 'classes')} ({share})"]
    if report.n_own:
        parts.append(f"{report.n_own_done:,}/{report.n_own:,} of share {report.share}")
    if report.best_score is not None:
        parts.append(f"best {report.best_score:,} {report.best_board}")
    parts += [f"{duration(report.elapsed_s)} gone", _time_left(report)]
    if report.n_deaths:
        parts.append(counted(report.n_deaths, "worker lost", "workers lost"))
    if report.n_quarantined:
        parts.append(counted(report.n_quarantined, "unit given up", "units given up"))
    return ", ".join(parts)


def _time_left(report: Report) -> str:
    share = ""
    if report.share:
        share = f" of share {report.share}"
    if report.n_open == 0:
        if share:
            return f"all{share} done"
        return "done"
    if report.remaining_s is None:
        return "time left unknown"
    span = between(report.remaining_low_s, report.remaining_high_s)
    return f"about {duration(report.remaining_s)} left{share}{span}"
