"""The terminal of ``orderly watch``: its own screen, redrawn now and then and when it is resized; q ends it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from typing import Any

from rich.console import ConsoleDimensions
from rich.live import Live

from boardclass.errors import InputError
from cluster.streams import console
from cluster.watch.screen import draw
from cluster.watch.view import Watcher

REDRAW_S = 0.5
_END_KEYS = frozenset((b"q", b"Q", b"\x1b", b"\x03", b"\x04", b""))


def watch(location: str) -> None:
    """Show a run until a key ends it.

    Raises
    ------
    InputError
        When this is not a terminal.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("watching needs a terminal for input and output; orderly status prints once")
    watcher = Watcher(location)
    shown = console()
    with _keys() as wake, Live(console=shown, screen=True, auto_refresh=False) as screen:
        while True:
            shown.size = ConsoleDimensions(*os.get_terminal_size(sys.stdout.fileno()))  # not that of $COLUMNS
            screen.update(draw(watcher.look(), *shown.size), refresh=True)
            if _key(wake) in _END_KEYS:
                return


def _key(wake: int) -> bytes | None:
    """Return the next key, or None when it is time to draw again, or the terminal was resized."""
    ready, _, _ = select.select([sys.stdin, wake], [], [], REDRAW_S)
    if wake in ready:
        os.read(wake, 4096)
    return os.read(sys.stdin.fileno(), 1) if sys.stdin in ready else None


@contextlib.contextmanager
def _keys() -> Iterator[int]:
    """Let keys come one by one; yield what becomes readable when the terminal is resized.  All is undone afterwards."""
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    wake, woken = os.pipe()
    os.set_blocking(woken, False)

    def resized(*_: Any) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(woken, b".")

    handler = signal.signal(signal.SIGWINCH, resized)
    tty.setcbreak(keyboard)
    try:
        yield wake
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
        signal.signal(signal.SIGWINCH, handler)
        os.close(wake)
        os.close(woken)
