"""A store that does not answer: when to ask again, and when to stop asking.

A store may be busy (503), be started anew, or be cut off.  Most requests are worth minutes of
patience; some are not (the log, the claim on a run, rows that are kept in memory anyway): these are
made in haste, fail at once, and their caller comes back.

>>> outage = Outage(clock=lambda: 7.0)
>>> outage.failed()
>>> outage.is_pausing, outage.lasts_s
(True, 0.0)
>>> outage.answered()
>>> outage.is_pausing
False
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from orderly_boggle.boardclass.printable import duration
from orderly_boggle.results.errors import UnreachableError

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
GROWTH = 1.6
AFTER_STOP_S = 15.0  # for the last tries of a process that was asked to end
_TELL_EVERY_S = 300.0
_T = TypeVar("_T")
_IN_HASTE: ContextVar[bool] = ContextVar("in_haste", default=False)


class Outage:
    """Since when a place has not answered, and when it is asked next; ``clock`` gives monotonic
    seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began_s: float | None = None
        self._pause_s = FIRST_PAUSE_S
        self._next_s = 0.0

    @property
    def is_pausing(self) -> bool:
        """Whether it is too early to ask again."""
        return self._began_s is not None and self._clock() < self._next_s

    @property
    def lasts_s(self) -> float:
        """For how long the place has not answered; 0 while it does."""
        if self._began_s is None:
            return 0.0
        return self._clock() - self._began_s

    @property
    def pause_s(self) -> float:
        """The time until it is worth asking again."""
        return max(0.0, self._next_s - self._clock())

    def failed(self) -> None:
        """Note that a request was not answered; the next pause is longer."""
        now_s = self._clock()
        if self._began_s is None:
            self._began_s = now_s
            self._pause_s = FIRST_PAUSE_S
        if now_s >= self._next_s:  # others may have failed at the same time
            self._next_s = now_s + self._pause_s
            self._pause_s = min(LONGEST_PAUSE_S, GROWTH * self._pause_s)

    def ask_now(self) -> None:
        """Let the next request be made at once."""
        self._next_s = 0.0

    def answered(self) -> None:
        """Note that a request was answered."""
        self._began_s = None
        self._next_s = 0.0


def _say(text: str) -> None:
    sys.stderr.write(f"orderly: {text}\n")


@dataclass
class Patience:
    """For how long a request is tried again, who is told, and what ends the waiting.

    ``limit_s`` counts from the first request that was not answered.
    """

    limit_s: float = 60.0
    tell: Callable[[str], None] = _say
    is_stopped: Callable[[], bool] = lambda: False

    def wait(self, pause_s: float) -> None:
        """Sleep, less when the process is asked to end."""
        end_s = time.monotonic() + pause_s
        while (left_s := end_s - time.monotonic()) > 0 and not self.is_stopped():
            time.sleep(min(left_s, 0.5))


class Reminder:
    """Says when to tell that something lasts: once it has lasted for a while, and every so often.

    >>> reminder = Reminder(30, 600)
    >>> [reminder.is_due(lasts_s) for lasts_s in (0, 29, 31, 60, 640)]
    [False, False, True, False, True]
    >>> reminder.end(), reminder.end()
    (True, False)
    """

    def __init__(self, first_s: float = 0.0, every_s: float = _TELL_EVERY_S) -> None:
        self._first_s = first_s
        self._every_s = every_s
        self._next_s = first_s

    def is_due(self, lasts_s: float) -> bool:
        """Return whether to tell now, after so many seconds; then it is told."""
        if lasts_s < self._next_s:
            return False
        self._next_s = lasts_s + self._every_s
        return True

    def end(self) -> bool:
        """Note that it is over; return whether it was told of."""
        was_told = self._next_s != self._first_s
        self._next_s = self._first_s
        return was_told


class OutageNews:
    """Tells of an outage when it begins, every five minutes, and when it is over."""

    def __init__(self) -> None:
        self._reminder = Reminder()

    def fails(self, outage: Outage, patience: Patience, error: Exception, keeps: str) -> None:
        """Say that a place does not answer, and for how long it is tried again."""
        if self._reminder.is_due(outage.lasts_s):
            left = duration(max(0.0, patience.limit_s - outage.lasts_s))
            patience.tell(f"{error}; it is asked again for another {left}{keeps}")

    def answers(self, patience: Patience, where: str) -> None:
        """Say that it answers again, if it was said that it does not."""
        if self._reminder.end():
            patience.tell(f"{where} answers again")


@contextlib.contextmanager
def in_haste() -> Iterator[None]:
    """Within, a request of this thread that is not answered fails at once, and none is made before
    it is time to ask again.
    """
    token = _IN_HASTE.set(True)
    try:
        yield
    finally:
        _IN_HASTE.reset(token)


def persistently(request: Callable[[], _T], where: str, outage: Outage, patience: Patience) -> _T:
    """Return what a request returns; while it raises UnreachableError it is made again, with pauses
    that grow, until the patience is at its end.
    """
    if _IN_HASTE.get():
        if outage.is_pausing:
            raise UnreachableError(
                f"{where} has not answered for {duration(outage.lasts_s)}; what was stored before "
                "is safe: run again when it does"
            )
        return _noted(request, outage)
    news = OutageNews()
    stopped_s = None
    while True:
        try:
            value = _noted(request, outage)
        except UnreachableError as error:
            now_s = time.monotonic()
            if patience.is_stopped() and stopped_s is None:
                stopped_s = now_s
            late = stopped_s is not None and now_s - stopped_s > AFTER_STOP_S
            if late or outage.lasts_s >= patience.limit_s:
                raise UnreachableError(
                    f"{where} could not be reached for {duration(outage.lasts_s)}: {error}"
                ) from error
            news.fails(outage, patience, error, "")
            if stopped_s is None:
                patience.wait(outage.pause_s)
            else:
                time.sleep(FIRST_PAUSE_S)
        else:
            news.answers(patience, where)
            return value


def _noted(request: Callable[[], _T], outage: Outage) -> _T:
    try:
        value = request()
    except UnreachableError:
        outage.failed()
        raise
    outage.answered()
    return value
