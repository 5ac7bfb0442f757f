"""What the server knows of the runs: the last reading of each, and what its rows were found to
prove.

A record of what a run proves belongs to one state of its files (the stamp).  As soon as a file has
changed, nothing is called proven until the rows have been read again.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from typing import Any

import anyio.to_thread

from orderly_boggle.boardclass.board import dims_of_length, with_letters
from orderly_boggle.boardclass.errors import BoardError
from orderly_boggle.boardclass.printable import counted, duration, percent, printable
from orderly_boggle.cluster.answers.run_view import Drawn, Reading, RunView
from orderly_boggle.cluster.answers.status import (
    at_work,
    classes_done,
    core_time,
    disk_taken,
    figures,
    going_on,
    money,
    question,
)
from orderly_boggle.cluster.answers.told import Placed, Pulse, RowsTold
from orderly_boggle.cluster.watch.view import Catalog, Place, Watched
from orderly_boggle.cluster.web import jobs
from orderly_boggle.cluster.web.job_queue import JobQueue, Priority
from orderly_boggle.results.proof.summary import State, proven_word, searched, standing

READ_S = 120.0
READ_MB = 4096
MAX_CLAIM = 4000  # characters: strangers may have stored some of them


class Site:
    """The state behind the pages: runs that were given, and published ones.

    ``price`` is that of one core for an hour; ``lan`` the address that a network reaches, empty for
    this machine only.
    """

    def __init__(self, catalog: Catalog, records: Catalog, price: float, lan: str = "") -> None:
        self.catalog = catalog
        self.records = records
        self.price = price
        self.lan = lan
        self.queue = JobQueue()
        self._watched: dict[str, Watched] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        # the event loop holds tasks weakly: one that nobody else holds may vanish
        self._tasks: set[asyncio.Task[None]] = set()

    def place(self, key: str) -> Place | None:
        """Return the run of a key."""
        place = self.catalog.places().get(key)
        return place or self.records.places().get(key)

    async def pulse(self, place: Place) -> Pulse:
        """Return what is going on in a run; lock and log are read once a second for all who ask."""
        return _pulse(await self._look(place), self.price)

    async def pulses(self, catalog: Catalog) -> list[Pulse]:
        """Return the pulses of all runs of a catalog."""
        return [await self.pulse(place) for place in catalog.places().values()]

    async def proven(self, place: Place) -> RowsTold:
        """Return what the rows prove, the boards, the map of the classes and the cost, as far as
        read.
        """
        watched = await self._look(place)
        view = watched.view()
        reading = watched.reading
        told: RowsTold = {
            "version": _version(watched),
            "read_at_s": watched.rows_read_at_s,
            "proven": view.proven,
            "dims": None,
            "notes": [],
            "boards": [],
            "boards_told": "",
            "map": ("", ""),
            "cost": "",
            "check": [],
        }
        if not view.answer or not reading:
            return told
        asked = view.answer.question
        told["dims"] = asked.dims
        told["notes"] = view.answer.notes
        best = _best(view, reading)
        told["boards"] = _placed(view, reading.boards)
        if best and not told["boards"]:
            told["boards"] = [best]
        told["boards_told"] = _boards_told(view, len(reading.boards))
        told["map"] = reading.map
        told["cost"] = f"{_cost(reading.seconds, self.price)}, {_CLOCK}"
        strength = ""
        # any other claim is a sentence that somebody stored
        if view.proven and place.key in self.records.places():
            strength = reading.strength  # claims of records come with the program
        hosts = counted(reading.n_hosts, "host")
        told["check"] = [
            ("Verdicts", f"{reading.n_units:,} stored, by {hosts}", False),
            ("Disk", disk_taken(reading.disk), False),
            ("Strength, as its claim records it", strength, True),
            ("Digest of the result", view.answer.result_digest, True),
            ("Letter buckets", asked.buckets, True),
            ("SHA-256 of the list", asked.words_sha256, True),
        ]
        return told

    async def _look(self, place: Place) -> Watched:
        watched = self._watched.setdefault(place.key, Watched(place))
        if not watched.is_fresh:
            async with self._locks.setdefault(place.key, asyncio.Lock()):
                # asked again: whoever held the lock may have looked in the meantime
                if not watched.is_fresh:
                    # a slow disk must not hold up the pages of the other runs
                    await anyio.to_thread.run_sync(watched.refresh)
        if watched.wants_rows:
            watched.is_reading_rows = True
            task = asyncio.get_running_loop().create_task(self._read_rows(watched))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return watched

    async def _read_rows(self, watched: Watched) -> None:
        with watched.reading_rows():
            question = jobs.read_run, watched.place.location
            # in a process with limits: rows of a stranger may take any memory
            watched.reading = await self.queue.ask(
                Priority.runs, *question, seconds=READ_S, memory_mb=READ_MB
            )


def _pulse(watched: Watched, price: float) -> Pulse:
    view = watched.view()
    answer = view.answer
    classes = view.classes
    best = _best(view, watched.reading)
    return {
        "key": watched.place.key,
        "name": watched.place.name,
        "version": _version(watched),
        "state": view.state,
        "error": view.error,
        "dims": answer.question.dims if answer else None,
        "question": answer.wording.long(answer.question) if answer else "",
        "line": f"{question(view)}{_left(view)}",
        "claim": _claim(view)[:MAX_CLAIM],
        "share": classes.n_done / classes.n_all if classes.n_all else None,
        "percent": percent(classes.n_done, classes.n_all) if classes.n_all else "–",
        "done": classes_done(classes),
        "best": best,
        "said": best["said"] if best else _nothing(view),
        "now": [
            (name.capitalize(), text, len(text) > 60)
            for name, text in (*going_on(view), *figures(view))
        ],
        "busy": at_work(view),
        "to_come": _to_come(view, price),
    }


def _left(view: RunView) -> str:
    report = None
    if view.driver:
        report = view.driver.report
    if report is None or report.remaining_s is None:
        return ""
    return f", about {duration(report.remaining_s)} left"


def _claim(view: RunView) -> str:
    """Return what the rows prove, or why they do not; empty while they are being read."""
    if view.error or view.answer is None:
        return view.error
    if view.proven:
        return f"{proven_word(view.answer)} {view.answer.statement or ''}"
    if view.state is State.RUNNING:
        return "Not proven yet: the search goes on, and what is shown was found so far."
    begin = proven_word(view.answer).removesuffix(".")
    return f"{begin}: what is shown was found so far. Why: {view.answer.why_not}."


def _nothing(view: RunView) -> str:
    """Return why no board is shown."""
    if view.error or view.state is State.READING:
        return view.error or "Its rows are being read."
    if view.proven:
        return "No board reaches the cutoff."
    return f"The search has found no board that reaches the cutoff so far; {_searched(view)}."


def _boards_told(view: RunView, n_shown: int) -> str:
    assert view.answer is not None, "its rows were read"
    n = view.answer.listed.n_canonical
    if not n and view.answer.best_known:
        return f"{_CLIMBED}; {_searched(view)}."
    if not n:
        return _nothing(view)
    how = "Found so far:"
    if view.proven:
        how = "Exactly"
    boards = counted(n, "board scores", "boards score")
    rest = ""
    if n > n_shown:
        rest = f"; the best {n_shown} of them"
    return f"{how} {boards} {view.answer.question.cutoff:,} or more, up to symmetry{rest}."


_CLOCK = "wall time: on a busy machine a worker has less than a core"


def _cost(seconds: float, price: float) -> str:
    return f"{core_time(seconds)} of one worker{money(seconds, price)}"


def _to_come(view: RunView, price: float) -> str:
    report = None
    if view.driver:
        report = view.driver.report
    if view.proven:
        return "nothing"
    if report is None or report.remaining_s is None or not report.n_workers:
        return "unknown: no driver at work on it has given an estimate"
    cost = _cost(report.remaining_s * report.n_workers, price)
    return f"about {cost}, if the estimate of the time left holds"


_CLIMBED = "The best known, from the climb; the search has found none so far"


def _best(view: RunView, reading: Reading | None) -> Placed | None:
    if view.best_score is None:
        known = None
        if view.answer:
            known = view.answer.from_climb
        if known:
            return _drawn(view, known.board, known.score, _CLIMBED)
        return None
    if reading and view.best_is_stored:
        return _placed(view, reading.boards[:1])[0]
    how = "The best that its driver reports, not stored yet"
    return _drawn(view, view.best_boards[0], view.best_score, how)


def _drawn(view: RunView, board: str, score: int, how: str) -> Placed:
    """Return a board that the rows do not list, and ``how`` it is known."""
    picture = ""
    typed = board
    with suppress(BoardError):
        if view.answer:
            dims = view.answer.question.dims
        else:
            dims = str(dims_of_length(len(board)))
        picture = jobs.picture(board, dims)
    if view.answer:
        typed = with_letters(board, view.answer.wording.letters)
    return _told(Drawn(board, score, typed, picture), f"{how}; {_searched(view)}.")


def _told(item: Drawn, said: str) -> Placed:
    return {
        "board": item.board,
        "typed": item.typed,
        "score": item.score,
        "svg": item.svg,
        "said": said,
    }


def _placed(view: RunView, boards: Sequence[Drawn]) -> list[Placed]:
    assert view.answer is not None, "its rows were read"
    dims = view.answer.question.dims
    n_best = len(view.answer.listed.best_boards)
    if view.proven:
        so_far = ""
    else:
        so_far = _searched(view)
    placed = []
    for item in boards:
        rank = 1 + sum(other.score > item.score for other in boards)
        said = standing(dims, view.answer.wording, rank, n_best, so_far)
        placed.append(_told(item, said))
    return placed


def _searched(view: RunView) -> str:
    fault = ""
    if view.answer:
        fault = view.answer.fault
    return searched(view.classes.n_done, view.classes.n_all, fault)


def _version(watched: Watched) -> str:
    # what a page has to fetch anew depends on this alone, so it asks for little else
    seen = (watched.rows_stamp, watched.rows_read_at_s, watched.rows_error)
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:12]


def plain(value: Any) -> Any:
    """Return a value as JSON can have it; of texts, which strangers may have stored, visible
    characters stay as they are, and others are escaped.
    """
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, str):
        return printable(value, "\n")
    if isinstance(value, dict):
        shown = {}
        for name, item in value.items():
            shown[printable(str(name))] = plain(item)
        return shown
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
