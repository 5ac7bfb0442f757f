"""Signals that stop a run: they set a flag, so that a write is never interrupted."""

import signal
import threading
from types import FrameType
from typing import Any, Self

# Batch systems warn with the last three before they kill.
_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGXCPU,
    signal.SIGALRM,
)


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
                if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
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
