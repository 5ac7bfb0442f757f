"""Signals that stop a run: while there is something to lose they set a flag, so that a write is
never interrupted; before and after that they end the process at once.

    end_at_once    from the first line of ``orderly run`` on
    StopSignals    while a store is open
"""

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, Self

from orderly_boggle.boardclass.errors import IncompleteError

# Batch systems warn with the last four before they kill.
_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGXCPU,
    signal.SIGALRM,
)


def end_at_once() -> None:
    """Let these signals end the process with the exit code of a run that the same command goes on
    with; by default it would be killed, which no batch system tries again.

    Python runs the handler between two instructions, also while kernels are compiled.  Signals that
    are ignored (nohup) stay so.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    name = signal.Signals(number).name
    text = (
        f"orderly: stopped by {name}; what a run has stored is kept, and the same command goes on\n"
    )
    try:
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, text.encode())
    finally:  # not by an exception: some code that calls back from C would drop it
        os._exit(IncompleteError.exit_code)


class StopSignals:
    """While active, the signals that end a process only set :attr:`reason`, to their name.

    A second SIGINT raises KeyboardInterrupt.  Signals that are ignored (nohup), or that somebody
    else handles, stay so.
    """

    def __init__(self) -> None:
        self.reason = ""
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) in (
                    signal.SIG_DFL,
                    signal.default_int_handler,
                    _end,
                ):
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give the signals back."""
        while self._before:
            signal.signal(*self._before.popitem())

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.reason and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.reason = signal.Signals(number).name
