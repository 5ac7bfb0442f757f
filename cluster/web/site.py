"""What the server knows of the runs: the last reading of each, and what its rows were found to prove.

A record of what a run proves belongs to one state of its files (the stamp).  As soon as a file has changed, nothing is
called proven until the rows have been read again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio.to_thread

from boardclass.errors import BoardError
from boardclass.printable import printable
from cluster.watch.catalog import Catalog, Place
from cluster.watch.pulse import Reading, told
from cluster.web import readings
from cluster.web.desk import Desk, Lane, Refused
from results.reading.state import State, state_of

READ_S, READ_MB = 120.0, 4096
SHARE = 0.02  # of one processor, for reading the rows of a run that goes on
_LEAST_S = 5.0  # between two readings of the rows of a run that goes on
_CHANGED = "its files have changed since its rows were read; they are being read again"


@dataclass
class Proven:
    """What the rows of a run were found to prove.

    Attributes
    ----------
    stamp : str
        State of the files that this is about.
    record : dict or None
        As :func:`cluster.web.readings.read_run` returns it.
    error : str
        Why it could not be read.
    """

    stamp: str = ""
    record: dict[str, Any] | None = None
    error: str = ""
    read_at_s: float = 0.0
    is_busy: bool = False
    next_s: float = 0.0


@dataclass(frozen=True)
class Answer:
    """A JSON text that many clients get, with its digest."""

    body: bytes
    digest: str


class Site:
    """The state behind the pages.

    Parameters
    ----------
    catalog, records : Catalog
        Runs that were given, and published ones.
    price : float
        Of one core for an hour.
    """

    def __init__(self, catalog: Catalog, records: Catalog, price: float) -> None:
        self.catalog, self.records, self.price = catalog, records, price
        self.desk = Desk()
        self._readings: dict[str, Reading] = {}
        self._proven: dict[str, Proven] = {}
        self._answers: dict[str, tuple[Any, Answer]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def place(self, key: str) -> Place | None:
        """Return the run of a key, or None."""
        return self.catalog.places().get(key) or self.records.places().get(key)

    async def pulse(self, place: Place) -> Answer:
        """Return what is going on in a run: the same text for all who ask within a second."""
        reading, proven = await self._read(place)
        seen = (reading.n_read, id(proven.record), proven.error, proven.is_busy)
        kept = self._answers.get(place.key)
        if kept is None or kept[0] != seen:
            kept = (seen, answer(self._pulse(place, reading, proven)))
            self._answers[place.key] = kept
        return kept[1]

    async def pulses(self, catalog: Catalog) -> list[dict[str, Any]]:
        """Return the pulses of all runs of a catalog."""
        return [json.loads((await self.pulse(place)).body) for place in catalog.places().values()]

    async def proven(self, place: Place) -> Answer:
        """Return what the rows prove, the boards, the map of the classes and the cost, as far as read."""
        reading, proven = await self._read(place)
        record: dict[str, Any] = dict(proven.record or {})
        if record and place.key not in self.records.places():  # whose claims come with the program
            record["strength"] = ""
        if record and proven.stamp != reading.stamp:
            record |= {"proven": False, "statement": None, "strength": "", "why_not_proven": _CHANGED}
        return answer({**record, "version": _version(proven), "read_at_s": proven.read_at_s, "price": self.price})

    async def _read(self, place: Place) -> tuple[Reading, Proven]:
        reading = self._readings.setdefault(place.key, Reading(place))
        if not reading.is_fresh:
            async with self._locks.setdefault(place.key, asyncio.Lock()):
                if not reading.is_fresh:
                    await anyio.to_thread.run_sync(reading.refresh)
        proven = self._proven.setdefault(place.key, Proven())
        is_running = reading.live is not None and reading.live.is_running
        is_due = not is_running or time.monotonic() >= proven.next_s
        if reading.stamp and reading.stamp != proven.stamp and is_due and not proven.is_busy:
            proven.is_busy = True
            task = asyncio.get_running_loop().create_task(self._prove(place, reading.stamp, proven))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return reading, proven

    async def _prove(self, place: Place, stamp: str, proven: Proven) -> None:
        began_s = time.monotonic()
        try:
            record = await self.desk.ask(
                Lane.runs, readings.read_run, place.location, seconds=READ_S, memory_mb=READ_MB
            )
            proven.record, proven.error = record, ""
        except Refused as error:
            proven.record, proven.error = None, str(error)
        finally:
            proven.is_busy = False
        proven.stamp, proven.read_at_s = stamp, time.time()
        proven.next_s = time.monotonic() + max(_LEAST_S, (time.monotonic() - began_s) / SHARE)

    def _pulse(self, place: Place, reading: Reading, proven: Proven) -> dict[str, Any]:
        record = proven.record or {}
        live = told(reading.live) if reading.live else None
        progress = (live["progress"] or {}) if live and live["is_running"] else {}
        n_classes = record.get("n_classes") or progress.get("n_classes")
        n_done = max(record.get("n_classes_done") or 0, progress.get("n_classes_done") or 0)
        return {
            "key": place.key,
            "name": place.name,
            "location": place.location.partition("?")[0],
            "state": state(reading, proven),
            "error": reading.error or proven.error,
            "live": live,
            "version": _version(proven),
            "dims": record.get("dims"),
            "wordlist": record.get("wordlist"),
            "cutoff": record.get("cutoff"),
            "n_classes": n_classes,
            "n_classes_done": min(n_done, n_classes) if n_classes else n_done,
            "n_boards": record.get("n_boards"),
            "best": _best(record, progress),
        }


def state(reading: Reading, proven: Proven) -> State:
    """Return the state of a run as far as it is known."""
    is_current = bool(reading.stamp) and proven.stamp == reading.stamp
    rows = State(proven.record["rows_state"]) if is_current and proven.record else None
    is_running = reading.live is not None and reading.live.is_running
    return state_of(rows, is_running=is_running, error=reading.error or (proven.error if is_current else ""))


def _best(record: Mapping[str, Any], progress: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the best board: from the rows, or the driver's if that is better and the rows are not proven."""
    boards = record.get("boards") or []
    stored = boards[0] if boards else None
    score, board = 0 if record.get("proven") else progress.get("best_score") or 0, str(progress.get("best_board"))
    if score > (stored["score"] if stored else 0):
        drawn = ""
        with suppress(BoardError):
            drawn = readings.picture(board, str(record.get("dims") or readings.dims_of(board)))
        return {"board": board, "score": score, "svg": drawn, "from": "driver"}
    return {**stored, "from": "rows"} if stored else None


def _version(proven: Proven) -> str:
    return hashlib.sha256(repr((proven.stamp, proven.read_at_s, proven.error)).encode()).hexdigest()[:12]


def answer(values: object) -> Answer:
    """Return values as JSON; of stored text only visible characters are left as they are."""
    body = json.dumps(_safe(values), ensure_ascii=True, separators=(",", ":")).encode()
    return Answer(body, hashlib.sha256(body).hexdigest()[:24])


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value, "\n")
    if isinstance(value, dict):
        return {printable(str(name)): _safe(item) for name, item in value.items()}
    return [_safe(item) for item in value] if isinstance(value, list | tuple) else value
