"""The worker: breaks the units it is given and says who it is; the same class in a thread, a
process and a Ray actor.

    Worker(spec, make_breaker) -> hello -> work ... work
                                  busy_with, cancel: from another thread while a kernel runs

A worker touches no files.  A failure of one unit is an answer about that unit; the others go on.
"""

import os
import platform
import re
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.errors import OrderlyError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.jit import kernel_hash
from orderly_boggle.cluster.scheduling.events import Answer, Assign, Replica, UnitFailed
from orderly_boggle.search.breaker import Breaker, Spec, Unit, UnitResult
from orderly_boggle.search.params import Budgets

_MAX_MESSAGE = 500
OUT_OF_MEMORY = "out of memory: use fewer workers, or a smaller memory_mb (--memory)"


MakeBreaker = Callable[[Spec], Breaker]


class UnfitError(OrderlyError):
    """A worker that must not work: its self-test did not give the known answer."""


@dataclass(frozen=True)
class Hello:
    """Who a worker is."""

    host: str
    pid: int
    cpu: str
    kernel_hash: str


@dataclass(frozen=True)
class Failure:
    """A unit that could not be broken, and why."""

    unit: Unit
    message: str
    oom: bool = False


@dataclass(frozen=True)
class Reply:
    """What a worker says about one unit; which worker it is, the executor knows."""

    outcome: UnitResult | Failure
    peak_rss_bytes: int = 0  # largest resident set of the process so far
    is_replica: bool = False
    n_short_layers: int = 0  # search.Breaker
    cpu_s: float | None = None  # of the worker

    def event(self, who: Hello, worker: int, assignment: int) -> Answer | UnitFailed:
        """Return what the scheduler is told, from a worker of this number."""
        found = self.outcome
        if isinstance(found, Failure):
            return UnitFailed(worker, assignment, found.unit, found.message, found.oom)
        return Answer(
            worker,
            assignment,
            found,
            who.host,
            who.cpu,
            self.peak_rss_bytes,
            who.kernel_hash,
            self.is_replica,
            n_short_layers=self.n_short_layers,
            cpu_s=self.cpu_s,
        )


class Worker:
    """Breaks units.

    ``make_breaker`` makes the breaker of the question; the default one tests itself first and
    raises UnfitError.
    """

    def __init__(self, spec: Spec, make_breaker: MakeBreaker | None = None) -> None:
        self._breaker = (make_breaker or checked_breaker)(spec)
        self._hello = Hello(platform.node() or "unknown", os.getpid(), cpu_name(), kernel_hash())
        self._cancelled = threading.Event()
        self._assignment = 0

    def hello(self) -> Hello:
        """Return who this is, once the self-test is passed."""
        return self._hello

    def work(self, order: Assign) -> Iterator[Reply]:
        """Break units one after the other until done or cancelled, and yield each reply."""
        # with each order: when a unit splits depends on what is left, or on how it did before
        self._breaker.hurries = order.hurry
        self._breaker.split_at = order.split_at
        self._cancelled.clear()
        self._assignment = order.assignment
        for unit in order.units:
            # between units only: a kernel cannot be interrupted
            if self._cancelled.is_set():
                break
            yield self._break(unit, order.replica)
        self._assignment = 0

    def work_through(self, order: Assign) -> tuple[Reply, ...]:
        """Return all replies at once."""
        return tuple(self.work(order))

    def busy_with(self) -> int:
        """Return the present assignment, 0: none; safe from another thread."""
        return self._assignment

    def cancel(self) -> None:
        """Ask :meth:`work` to stop after the present unit; safe from another thread."""
        self._cancelled.set()

    def _break(self, unit: Unit, replica: Replica | None) -> Reply:
        breaker = self._breaker
        is_replica = replica is not None
        began_s = time.thread_time()
        try:
            if replica:
                result = breaker.replicate(unit, replica.paths, replica.seed)
            else:
                result = breaker.break_unit(unit)
        # told apart: the unit is not at fault, and is tried again with more room
        except MemoryError as error:
            message = f"{OUT_OF_MEMORY} ({error})"
            return Reply(Failure(unit, message[:_MAX_MESSAGE], oom=True))
        # whatever it is, the driver decides what becomes of the unit
        except Exception as error:  # noqa: BLE001
            return Reply(Failure(unit, f"{type(error).__name__}: {error}"[:_MAX_MESSAGE]))
        cpu_s = time.thread_time() - began_s
        return Reply(result, peak_rss_bytes(), is_replica, breaker.n_short_layers, cpu_s)


def peak_rss_bytes() -> int:
    """Return the largest resident set of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # bytes there, kilobytes on Linux
    if sys.platform == "darwin":
        return peak
    return peak * 1024


@cache
def cpu_name() -> str:
    """Return the model of the processor, as far as the system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if match := re.search(r"^model name.*?:(.*)", text, re.M):
            return match[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def checked_breaker(spec: Spec) -> Breaker:
    """Return the breaker of ``spec`` after the self-test."""
    # before the real one takes its memory: a machine that must not work costs little
    self_test()
    return Breaker(spec)


# On a 2x2 board all cells touch, so a board holds exactly the words that its letters spell.
_TEST_WORDS = ("ate", "east", "eat", "eta", "sat", "sea", "seat", "seta", "tea", "teas")
_TEST_CUTOFF = 10
_TEST_BOARDS = {("aest", 10), ("aets", 10), ("aste", 10)}  # the letter opposite a is t, s or e


def self_test() -> None:
    """Answer a tiny question whose answer is known; too many and too few boards are both noticed.

    Raises UnfitError when the boards found are not the known ones.
    """
    spec = Spec.of(
        "2x2",
        _TEST_WORDS,
        "words",
        _TEST_CUTOFF,
        "abcdefghijklm nopqrstuvwxyz",
        Budgets(memory_mb=16),
    )
    # every class of it: a board that is lost in any of them is noticed
    ranks = chain(*spec.question.partition.canonical_ranks())
    candidates = break_all(Breaker(spec), map(int, ranks))
    boards = {(canonical_board(board, geometry("2x2")), score) for board, score in candidates}
    if boards != _TEST_BOARDS:
        raise UnfitError(
            f"self-test found {sorted(boards)!r}, expected {sorted(_TEST_BOARDS)!r}: this machine "
            "must not work"
        )


def break_all(breaker: Breaker, class_ids: Iterable[int]) -> list[tuple[str, int]]:
    """Return every candidate of the classes with its score, following splits: a whole run without a
    cluster.

    A class is taken when the one before has been searched, so several may take them from a queue.
    """
    candidates: list[tuple[str, int]] = []
    for class_id in class_ids:
        stack = [Unit(class_id)]
        while stack:
            result = breaker.break_unit(stack.pop())
            candidates += result.candidates
            stack += result.children
    return candidates
