"""Standard output and error: what is written there is harmless, and colourful only where that is
wanted.

Texts may come from files of strangers: control characters are escaped here.  ``NO_COLOR`` is
respected by every console.  Messages on standard error are a courtesy: where nobody takes them, the
command goes on without.
"""

from __future__ import annotations

import contextlib
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text

LINE_S = 30.0
Move = Callable[[str, float], None]  # is told how far something is, in words and for a bar


def console(stream: IO[str] | None = None, **options: Any) -> Console:
    """Return the console of a stream, standard output by default; it does not guess what words
    mean.
    """
    from rich.console import Console

    class SafeConsole(Console):
        # every str that is printed comes by here
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text, "\n"), **options)

    return SafeConsole(file=stream, highlight=False, soft_wrap=False, **options)


def write_file(target: Path, data: bytes) -> Path:
    """Write a file that the user named, and return it: it is whole, or stays as it was.

    What is there already keeps its mode; a link still points to it.  Devices, pipes and what this
    process has open (``/dev/stdout``) are written to.  A name may begin with ``~``.  Raises
    InputError when the file cannot be written.
    """
    from orderly_boggle.results.storage.files import path_of
    from orderly_boggle.results.storage.local import write_all

    target = path_of(str(target))
    try:
        is_file = target.is_file() or not target.exists()
        top = target.absolute().parts[1:2]
        if is_file and top not in (("dev",), ("proc",)):
            _replace(target.resolve(), data)
        else:
            with target.open("ab", buffering=0) as file:
                write_all(file.fileno(), data)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot write {quote(str(target))}: {reason}; make room, or choose another name"
        ) from error
    return target


def _replace(target: Path, data: bytes) -> None:
    from orderly_boggle.results.storage.local import sync, write_all

    temporary = target.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb", buffering=0) as file:
            write_all(file.fileno(), data)
            sync(file.fileno())
        if target.exists():
            target.open("r+b").close()  # one that is write-protected stays
            temporary.chmod(target.stat().st_mode)
        temporary.replace(target)
    except BaseException:  # Ctrl-C as well
        temporary.unlink(missing_ok=True)
        raise


def say(text: str = "", style: str | None = None) -> None:
    """Write lines to standard output as they are: nothing in them is markup; they are folded only
    where a style makes them a heading.
    """
    console().print(text, style=style, markup=False, soft_wrap=style is None)


def tell(text: str) -> None:
    """Write lines to standard error at once."""
    write_lines(sys.stderr, text)


def write_lines(stream: IO[str], text: str) -> None:
    """Write lines at once to a stream of messages; a full disk or a closed pipe at its end stops
    nothing.
    """
    with contextlib.suppress(OSError):
        stream.write(printable(text, "\n") + "\n")
        stream.flush()


class Line:
    """Shows how far something is: on a terminal one line that is redrawn, with a bar; elsewhere a
    plain line, 30 s after the one before; nothing without a stream.

    Every call returns at once.  ``clock`` tells monotonic seconds.
    """

    def __init__(
        self, stream: IO[str] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._shown_at_s = clock()
        self._bar: Progress | None = None
        self._unsaid = ""  # the last text, while there is no bar and it has not been written

    def start(self, n_all: float | None, n_done: int = 0) -> None:
        """Show the bar, where there is one; of ``n_all`` (None: nobody knows) so much is done."""
        self._shown_at_s = self._clock()
        if self._stream is not None and self._stream.isatty():
            from rich.progress import BarColumn, Progress, TextColumn

            columns = BarColumn(bar_width=10), TextColumn("{task.description}", markup=False)
            shown = console(self._stream)
            self._bar = Progress(*columns, console=shown, transient=True, refresh_per_second=4)
            self._bar.add_task("", total=n_all, completed=n_done)
            self._bar.start()

    def move(self, text: str, n_done: float | None = None) -> None:
        """Say how far it is; without ``n_done`` the bar stays as it is."""
        if self._bar is not None:
            (task,) = self._bar.task_ids
            self._bar.update(task, completed=n_done, description=printable(text))
            return
        self._unsaid = text
        if self._clock() - self._shown_at_s >= LINE_S:
            self.catch_up()

    def catch_up(self) -> None:
        """Write the last text, if it was not written."""
        if self._unsaid:
            self._shown_at_s = self._clock()
            self.note(self._unsaid)
            self._unsaid = ""

    def note(self, text: str) -> None:
        """Say something that stays on the screen; while there is a bar, above it."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, soft_wrap=True)
        elif self._stream is not None:
            write_lines(self._stream, text)

    def end(self) -> None:
        """Remove the bar; may be called twice."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextlib.contextmanager
def moving(n_all: float | None) -> Iterator[Move]:
    """Show a line on standard error for a while; yield what moves it."""
    line = Line(sys.stderr)
    line.start(n_all)
    try:
        yield line.move
    finally:
        line.end()
