"""The terminal of ``orderly watch``: a drawing of a run, made anew twice a second."""

import contextlib
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import ConsoleDimensions, Group, RenderableType
from rich.layout import Layout
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from orderly_boggle.boardclass.board import dims_of_length, format_rows, with_letters
from orderly_boggle.boardclass.errors import BoardError, InputError
from orderly_boggle.boardclass.printable import printable
from orderly_boggle.cluster.answers.render import draw_board
from orderly_boggle.cluster.answers.run_view import RunView
from orderly_boggle.cluster.answers.status import (
    Work,
    at_work,
    classes_done,
    disk_taken,
    figures,
    going_on,
    question,
)
from orderly_boggle.cluster.streams import console
from orderly_boggle.cluster.watch.view import Watched, Watcher
from orderly_boggle.results.log import read_events
from orderly_boggle.results.log_events import BestBoard, Event, Stopped
from orderly_boggle.results.proof.summary import State, Summary
from orderly_boggle.results.storage.local import DiskUse, disk_use, open_folder

_COLOURS = {
    State.RUNNING: "cyan",
    State.PROVEN: "green",
    State.UNREADABLE: "red",
    State.FAULTY: "red",
    State.REFUTED: "red",
    State.INCOMPLETE: "yellow",
}
_GAP = 3
_FACT_ROWS = 8
_FRAME_ROWS = 6
_TROUBLE = (
    "unit_failed",
    "unit_quarantined",
    "worker_down",
    "host_flagged",
    "machine_barred",
    "memory_low",
)
_EVENTS = ("started", "best", *_TROUBLE, "stage", "finished", "stopped")


def draw(watched: Watched, width: int, height: int) -> RenderableType:
    """Return the drawing for a terminal of ``width`` columns and ``height`` rows; what has no room
    is left out.
    """
    view = watched.view()
    parts: list[RenderableType] = [_head(watched.place.name, view)]
    if view.error:
        return _framed([*parts, Text(printable(view.error), style="red")])
    folder = open_folder(watched.place.location)
    told = [event for event in read_events(folder) if event.event in _EVENTS]
    events = told[-50:]
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in (*going_on(view), *figures(view), *_more(view, disk_use(folder))):
        if value:
            facts.add_row(name, Text(printable(value)))
    parts += [_bar(view, width), Text(""), facts]
    n_rows = height - _FRAME_ROWS - _FACT_ROWS
    if n_rows >= 5:
        lately = events if view.driver else ()
        listed = watched.reading.boards if watched.reading else ()
        best = {item.board: item.score for item in listed}
        for event in lately:
            if isinstance(event, BestBoard):
                best.setdefault(event.board, event.score)
        title = "best boards, found so far"
        if view.proven:
            title = "best boards"
        known = None
        if view.answer:
            known = view.answer.from_climb
        if known and not best:
            best[known.board] = known.score
            title = "best known, from the climb; none found by the search so far"
        if boards := _boards(best, view.answer, width):
            parts += [Rule(title, style="dim"), boards[0]]
            n_rows -= boards[1] + 1
    busy = at_work(view)
    if busy and n_rows >= 3:
        shown = busy[: max(1, n_rows // 2 - 1)]
        parts += [Rule("workers, the longest at work first", style="dim"), _workers(shown)]
        n_rows -= len(shown) + 1
    if events and n_rows >= 2:
        parts += [Rule("what happened", style="dim"), *map(_happened, events[-(n_rows - 1) :])]
    return _framed(parts)


def _framed(parts: Iterable[RenderableType]) -> Layout:
    now = time.strftime("%H:%M:%S")
    footer = Text(f"q quits; the run is only looked at  {now}", style="dim", no_wrap=True)
    frame = Layout()
    frame.split_column(Layout(Group(*parts)), Layout(footer, size=1))
    return frame


def _head(name: str, view: RunView) -> Text:
    state = view.state, f"bold {_COLOURS.get(view.state, '')}"
    subject = f"  {printable(question(view))}", "dim"
    parts = (printable(name), "bold"), "  ", state, subject
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


def _bar(view: RunView, width: int) -> RenderableType:
    text = classes_done(view.classes)
    classes = view.classes
    wide = max(8, min(60, width - len(text) - 3))
    bar = ProgressBar(total=max(1, classes.n_all), completed=classes.n_done, width=wide)
    return _grid([(bar, Text(text))], 1)


def _more(view: RunView, disk: DiskUse | None) -> Iterator[tuple[str, str]]:
    yield "disk", disk_taken(disk)
    if view.answer and view.proven:
        yield "proven", view.answer.statement or ""
    elif view.answer and view.state in (State.REFUTED, State.FAULTY, State.INCOMPLETE):
        yield "why not proven", view.answer.why_not


def _boards(
    scores: Mapping[str, int], answer: Summary | None, width: int
) -> tuple[RenderableType, int] | None:
    """Return a row of boards, the best first, and its height."""
    if answer:
        letters = answer.wording.letters
    else:
        letters = {}
    pictures: list[Group] = []
    wide = tall = 0
    for board in sorted(scores, key=lambda board: (-scores[board], board)):
        with contextlib.suppress(BoardError):
            dims = answer.question.dims if answer else dims_of_length(len(board))
            caption = f"{scores[board]:,}  {with_letters(board, letters)}"
            rows = format_rows(board, dims, letters)
            pictures.append(Group(draw_board(rows), Text(caption, style="bold")))
            wide = max(wide, len(caption), 5 * len(rows[0]) + 1)
            tall = max(tall, 2 * len(rows) + 2)
    if not pictures:
        return None
    shown = pictures[: max(1, (width + _GAP) // (wide + _GAP))]
    return _grid([shown], _GAP), tall


def _workers(rows: Iterable[Work]) -> RenderableType:
    cells = []
    for item in rows:
        memory = ""
        if item.memory:
            memory = f"{item.memory} at most"
        texts = item.worker, item.host, item.units, f"for {item.time}", memory
        cells.append([Text(printable(text)) for text in texts])
    return _grid(cells, 2)


def _grid(rows: Iterable[Sequence[RenderableType]], gap: int) -> Table:
    grid = Table.grid(padding=(0, gap))
    for row in rows:
        grid.add_row(*row)
    return grid


def _happened(event: Event) -> Text:
    names = ("board", "score", "class_id", "path", "host", "reason", "text", "message")
    values = [getattr(event, name, "") for name in names]
    if isinstance(event, Stopped) and event.reason == "Interrupted":  # its message says how
        values = [event.message.removeprefix("stopped ")]
    details = " ".join(str(value) for value in values if value != "")
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(min(event.time, 2.0**33)))
    line = f"{at}  {event.event.replace('_', ' ')} {printable(details)}".rstrip()
    return Text(line, no_wrap=True, overflow="ellipsis")


REDRAW_S = 0.5
_END_KEYS = frozenset((b"q", b"Q", b"\x1b", b"\x03", b"\x04", b""))


def watch(location: str) -> None:
    """Show a run until a key ends it. Raises InputError when this is not a terminal."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(
            "watching needs a terminal for input and output; orderly status prints once"
        )
    watcher = Watcher(location)
    shown = console()
    with _keys() as keyboard, Live(console=shown, screen=True, auto_refresh=False) as screen:
        while True:
            # not that of $COLUMNS; a terminal may be resized
            shown.size = ConsoleDimensions(*os.get_terminal_size(sys.stdout.fileno()))
            screen.update(draw(watcher.look(), *shown.size), refresh=True)
            ready, _, _ = select.select([keyboard], [], [], REDRAW_S)
            if ready and os.read(keyboard, 1) in _END_KEYS:
                return


@contextlib.contextmanager
def _keys() -> Iterator[int]:
    """Let keys come one by one for a while; yield where they come."""
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    try:
        yield keyboard
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
