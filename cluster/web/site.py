"""What the server knows of the runs: the last reading of each, and what its rows were found to
prove.

A record of what a run proves belongs to one state of its files (the stamp).  As soon as a file has
changed, nothing is called proven until the rows have been read again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import anyio.to_thread

from boardclass.board import dims_of_length
from boardclass.errors import BoardError
from boardclass.printable import percent, printable
from cluster.watch.view import Catalog, Place, Watched, told
from cluster.web import jobs
from cluster.web.job_queue import JobQueue, Priority
from results.proof.claim import searched, standing
from results.proof.prove import State

READ_S, READ_MB = 120.0, 4096
_CHANGED = "its files have changed since its rows were read; they are being read again"


class Site:
    """The state behind the pages: runs that were given, and published ones.

    ``price`` is that of one core for an hour; ``lan`` the address that a network reaches, empty for
    this machine only.
    """

    def __init__(self, catalog: Catalog, records: Catalog, price: float, lan: str = "") -> None:
        self.catalog, self.records, self.price, self.lan = catalog, records, price, lan
        self.queue = JobQueue()
        self._watched: dict[str, Watched] = {}
        self._answers: dict[str, tuple[Any, bytes]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def place(self, key: str) -> Place | None:
        """Return the run of a key."""
        return self.catalog.places().get(key) or self.records.places().get(key)

    async def pulse(self, place: Place) -> bytes:
        """Return what is going on in a run: the same text for all who ask within a second."""
        watched = await self._look(place)
        seen = (watched.n_read, _version(watched), watched.is_reading_rows)
        kept = self._answers.get(place.key)
        if kept is None or kept[0] != seen:
            kept = (seen, answer(_pulse(watched)))
            self._answers[place.key] = kept
        return kept[1]

    async def pulses(self, catalog: Catalog) -> list[dict[str, Any]]:
        """Return the pulses of all runs of a catalog."""
        return [json.loads(await self.pulse(place)) for place in catalog.places().values()]

    async def proven(self, place: Place) -> bytes:
        """Return what the rows prove, the boards, the map of the classes and the cost, as far as
        read.
        """
        watched = await self._look(place)
        record = dict(watched.rows)
        if record and place.key not in self.records.places():  # whose claims come with the program
            record["strength"] = ""
        if record and not watched.is_current:
            record |= {
                "proven": False,
                "statement": None,
                "strength": "",
                "why_not_proven": _CHANGED,
            }
        if record:
            record["boards"] = _placed(record, record["boards"])
        read_at_s = watched.rows_read_at_s
        return answer(
            {**record, "version": _version(watched), "read_at_s": read_at_s, "price": self.price}
        )

    async def _look(self, place: Place) -> Watched:
        watched = self._watched.setdefault(place.key, Watched(place))
        if not watched.is_fresh:
            async with self._locks.setdefault(place.key, asyncio.Lock()):
                if not watched.is_fresh:
                    await anyio.to_thread.run_sync(watched.refresh)
        if watched.wants_rows:
            watched.is_reading_rows = True
            task = asyncio.get_running_loop().create_task(self._read_rows(watched))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return watched

    async def _read_rows(self, watched: Watched) -> None:
        with watched.reading_rows():
            watched.rows = await self.queue.ask(
                Priority.runs,
                jobs.read_run,
                watched.place.location,
                seconds=READ_S,
                memory_mb=READ_MB,
            )


def _pulse(watched: Watched) -> dict[str, Any]:
    record = watched.view()
    names = (
        "state",
        "error",
        "dims",
        "wordlist",
        "cutoff",
        "n_classes",
        "n_classes_done",
        "n_boards",
    )
    return {
        "key": watched.place.key,
        "name": watched.place.name,
        "location": watched.place.location.partition("?")[0],
        **{name: record.get(name) for name in names},
        "percent": percent(record["n_classes_done"], record["n_classes"])
        if record["n_classes"]
        else "–",
        "live": told(watched.live, record) if watched.live else None,
        "version": _version(watched),
        "best": _best(record, watched.rows.get("boards") or []),
    }


def _best(record: Mapping[str, Any], boards: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    if record["best_score"] is None:
        return None
    if record["best_is_stored"]:
        return _placed(record, boards[:1])[0]
    drawn, board = "", record["best_boards"][0]
    with suppress(BoardError):
        drawn = jobs.picture(board, str(record.get("dims") or dims_of_length(len(board))))
    said = f"The best that its driver says it found, not stored yet; {_searched(record)}."
    return {
        "board": board,
        "typed": board,
        "score": record["best_score"],
        "svg": drawn,
        "said": said,
    }


def _placed(record: Mapping[str, Any], boards: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    dims, wordlist, scores, best = (
        record[name] for name in ("dims", "wordlist", "scores", "best_boards")
    )
    so_far, n_best = "" if record["proven"] else _searched(record), len(best)
    ranks = [1 + sum(other["score"] > item["score"] for other in boards) for item in boards]
    said = [standing(dims, wordlist, scores, rank, n_best, so_far) for rank in ranks]
    return [{**item, "said": text} for item, text in zip(boards, said, strict=True)]


def _searched(record: Mapping[str, Any]) -> str:
    is_faulty = State.FAULTY in (record.get("state"), record.get("rows_state"))
    return searched(record["n_classes_done"], record["n_classes"], is_faulty)


def _version(watched: Watched) -> str:
    seen = (watched.rows_stamp, watched.rows_read_at_s, watched.rows_error)
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:12]


def answer(values: object) -> bytes:
    """Return values as JSON; of stored text only visible characters are left as they are."""
    return json.dumps(_safe(values), ensure_ascii=True, separators=(",", ":")).encode()


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value, "\n")
    if isinstance(value, dict):
        return {printable(str(name)): _safe(item) for name, item in value.items()}
    return [_safe(item) for item in value] if isinstance(value, list | tuple) else value
