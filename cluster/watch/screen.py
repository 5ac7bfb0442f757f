"""A view of a run as a drawing: a pure function of the view and the size of the terminal."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from rich.console import Group, RenderableType
from rich.layout import Layout
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from boardclass.board import dims_of_length, format_rows
from boardclass.errors import BoardError
from boardclass.printable import counted, printable
from cluster.answers.render import draw_board
from cluster.answers.status import status_record, time_left_of
from cluster.driver.progress import duration
from cluster.watch.view import View
from results.reading.state import State

_STYLES = {
    State.RUNNING: "bold cyan",
    State.PROVEN: "bold green",
    State.UNREADABLE: "bold red",
    State.FAULTY: "bold red",
    State.INCOMPLETE: "bold yellow",
}
_GAP = 3
_FACT_ROWS, _FRAME_ROWS = 8, 6


def draw(view: View, width: int, height: int) -> RenderableType:
    """Return the drawing for a terminal of ``width`` columns and ``height`` rows; what has no room is left out."""
    parts: list[RenderableType] = [_head(view)]
    if view.error:
        return _framed([*parts, Text(printable(view.error), style="red")])
    record = status_record(view.found, view.live) if view.found and view.live else {}
    parts += [_bar(view, record, width), Text(""), _facts(view, record)]
    left = height - _FRAME_ROWS - _FACT_ROWS
    boards = _boards(view, width) if left >= 5 else None
    if boards is not None:
        parts += [
            Rule("best boards, found so far" if view.state is not State.PROVEN else "best boards", style="dim"),
            boards[0],
        ]
        left -= boards[1] + 1
    busy = (view.live.progress.get("busy") or []) if view.live and view.is_running else []
    if busy and left >= 3:
        shown = busy[: max(1, left // 2 - 1)]
        parts += [Rule("workers, the longest at work first", style="dim"), _workers(view, shown)]
        left -= len(shown) + 1
    if view.events and left >= 2:
        parts += [Rule("what happened", style="dim"), *_happenings(view.events[-(left - 1) :])]
    return _framed(parts)


def _framed(parts: Iterable[RenderableType]) -> Layout:
    """Return the drawing with its last line at the foot of the screen; what does not fit above is cut off."""
    told = Text(f"q quits; the run is only looked at  {time.strftime('%H:%M:%S')}", style="dim", no_wrap=True)
    frame = Layout()
    frame.split_column(Layout(Group(*parts)), Layout(told, size=1))
    return frame


def _head(view: View) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(printable(view.name), style="bold")
    text.append("  ")
    text.append(view.state, style=_STYLES.get(view.state, "bold"))
    if view.found:
        asked = view.found.fingerprint
        text.append(f"  {asked.dims}, {printable(view.found.question.wordlist)}, cutoff {asked.cutoff:,}", style="dim")
    return text


def _figures(view: View, record: Mapping[str, Any]) -> tuple[int, int]:
    """Return the classes that are done and all of them, as far as known."""
    last = view.live.progress if view.live and view.is_running else {}
    n_classes = record.get("n_classes") or last.get("n_classes") or 0
    return min(n_classes, max(record.get("n_classes_done") or 0, last.get("n_classes_done") or 0)), n_classes


def _bar(view: View, record: Mapping[str, Any], width: int) -> RenderableType:
    done, n_classes = _figures(view, record)
    grid = Table.grid(padding=(0, 1))
    share = 100 * done / n_classes if n_classes else 0.0
    told = f"{done:,} of {n_classes:,} classes ({int(share * 10) / 10:.1f} %)" if n_classes else "not known yet"
    bar = ProgressBar(total=max(1, n_classes), completed=done, width=max(8, min(60, width - len(told) - 3)))
    grid.add_row(bar, Text(told))
    return grid


def _facts(view: View, record: Mapping[str, Any]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in _told(view, record):
        if value:
            grid.add_row(name, Text(printable(value)))
    return grid


def _told(view: View, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    live = view.live
    last = live.progress if live else {}
    if live and live.is_running:
        yield "time left", time_left_of(live)
        if live.verdicts_per_h is not None:
            yield "rate", f"{live.classes_per_h or 0:,.0f} classes and {live.verdicts_per_h:,.0f} verdicts an hour"
        names = last.get("hosts") or {}
        hosts = f" on {next(iter(names))}" if len(names) == 1 else "".join(f", {host} {n}" for host, n in names.items())
        yield "workers", f"{last.get('n_workers') or 'none up yet'}{hosts}"
        yield "units", f"{last.get('n_in_flight', 0):,} being searched, {last.get('n_open', 0):,} open"
        yield "driver", live.owner.describe() if live.owner else "unknown"
    elif record.get("ended"):
        yield "last session ended", record["ended"]
    counts = [(record.get("n_units_split") or last.get("n_split"), "split", "split")]
    counts += [(last.get("n_requeued"), "tried again", "tried again"), (last.get("n_strikes"), "strike", "strikes")]
    counts += [(last.get("n_deaths"), "worker lost", "workers lost")]
    counts += [(record.get("n_units_quarantined"), "given up", "given up")]
    yield "so far", ", ".join(counted(n, *what) for n, *what in counts if n) or "no splits, no failures"
    if view.disk:
        yield "disk", f"{_size(view.disk.n_bytes)} taken, {_size(view.disk.n_free_bytes)} free"
    if view.state is State.PROVEN and view.found:
        yield "proven", view.found.statement or ""
    elif view.found and (view.state is State.FAULTY or not view.is_running):
        yield "in the way", view.found.why_not
    if live and live.is_running and live.age_s is not None:
        yield "figures from", f"{duration(live.age_s)} ago"


def _boards(view: View, width: int) -> tuple[RenderableType, int] | None:
    """Return the best boards side by side, and how many rows they take; None when there are none to draw."""
    best: dict[str, int] = {}
    for item in view.found.listed.boards[:8] if view.found else ():
        best[item.board] = item.score
    for event in view.events:
        if event["event"] == "best" and view.is_running:
            best.setdefault(str(event.get("board")), int(event.get("score") or 0))
    drawn: list[tuple[Text, str]] = []
    for board, score in sorted(best.items(), key=lambda item: (-item[1], item[0])):
        with suppress(BoardError):
            drawn.append((draw_board(format_rows(board, dims_of_length(len(board)))), f"{score:,}  {board}"))
    if not drawn:
        return None
    wide = max(max(text.cell_len for text in board.split()) for board, _ in drawn)
    wide = max(wide, *(len(told) for _, told in drawn))
    shown = drawn[: max(1, (width + _GAP) // (wide + _GAP))]
    grid = Table.grid(padding=(0, _GAP))
    grid.add_row(*(Group(board, Text(told, style="bold")) for board, told in shown))
    return grid, max(len(board.split()) for board, _ in shown) + 1


def _workers(view: View, busy: Iterable[Mapping[str, Any]]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    age_s = view.live.age_s or 0.0 if view.live else 0.0
    for item in busy:
        more = f" and {counted(item['n_units'] - 1, 'more unit')}" if item["n_units"] > 1 else ""
        what = f"class {item['class_id']:,} {printable(item['path'])}".rstrip() + more
        grid.add_row(f"{item['worker']}", printable(item["host"]), what, f"for {duration(item['seconds'] + age_s)}")
    return grid


def _happenings(events: Iterable[Mapping[str, Any]]) -> list[RenderableType]:
    return [Text(_happened(event), no_wrap=True, overflow="ellipsis") for event in events]


def _happened(event: Mapping[str, Any]) -> str:
    names = ("board", "score", "class_id", "path", "host", "reason", "text", "message")
    told = " ".join(str(event[name]) for name in names if event.get(name) not in (None, ""))
    at = time.strftime("%H:%M:%S", time.localtime(min(float(event["time"]), 2.0**33)))
    return f"{at}  {event['event'].replace('_', ' ')} {printable(told)}".rstrip()


def _size(n_bytes: int) -> str:
    value = float(n_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:,.0f} {unit}" if unit == "bytes" else f"{value:,.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} TiB"
