"""Work that takes longer than an answer may: in separate processes, few at a time, with limits on
time and memory.

The server goes on answering meanwhile.  A process that was killed for taking too much is replaced
by the next one.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from enum import StrEnum
from http import HTTPStatus
from typing import Any

import anyio

from orderly_boggle.boardclass.errors import OrderlyError
from orderly_boggle.boardclass.processes import Pool
from orderly_boggle.results.reading.limits import GRACE_S, Limits, limited

MAX_WAITING = 64
_PATIENCE_S = 2.0
# a new process loads libraries and may have to compile kernels, before its own time begins
_START_S = 60.0


class Priority(StrEnum):
    """Kinds of work; those of one kind wait for each other, one process each."""

    quick = "quick"  # one board: milliseconds
    long = "long"  # climbing, bounds: seconds
    runs = "runs"  # reading a run: seconds for a large one


class Refused(OrderlyError):
    """Work that was not done: it takes too much, or too many wait."""

    def __init__(self, message: str, status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY) -> None:
        super().__init__(message)
        self.status = status


class JobQueue:
    """Hands work out; to be used from one event loop, and closed before it ends."""

    def __init__(self) -> None:
        self._limiters: dict[Priority, anyio.CapacityLimiter] = {}
        self._pools: dict[Priority, Pool] = {}
        self._is_closed = False

    async def ask(
        self,
        priority: Priority,
        job: Callable[..., Any],
        *values: Any,
        seconds: float = 20.0,
        memory_mb: int = 1024,
    ) -> Any:
        """Return what a function of a module makes of ``values`` within limits, or raise Refused;
        the process is killed when this task is cancelled.
        """
        # one process for each kind of work: a climb of seconds does not hold up a score of
        # milliseconds
        limiter = self._limiters.setdefault(priority, anyio.CapacityLimiter(1))
        with anyio.move_on_after(_PATIENCE_S):  # to hear that some of those who wait have gone
            while limiter.statistics().tasks_waiting >= MAX_WAITING:
                await anyio.sleep(0.02)
        if limiter.statistics().tasks_waiting >= MAX_WAITING:
            raise Refused(
                "too many requests are waiting: try again later",
                HTTPStatus.SERVICE_UNAVAILABLE,
            )
        try:
            async with limiter:
                # the process ends itself first; this is for one that does not even get to that
                with anyio.fail_after(seconds + _START_S):
                    return await self._answer(priority, job, values, seconds, memory_mb)
        except (TimeoutError, BrokenExecutor) as error:
            if self._is_closed:
                raise Refused("the server is stopping", HTTPStatus.SERVICE_UNAVAILABLE) from error
            raise Refused(
                f"it takes more than {seconds:g} s or {memory_mb} MiB: ask for less"
            ) from error

    async def _answer(self, priority: Priority, *question: Any) -> Any:
        try:
            try:
                answer = self._submit(priority, question)
            except BrokenExecutor:  # the process ended between two jobs
                self._end(priority)
                answer = self._submit(priority, question)
            return await asyncio.wrap_future(answer)
        except (asyncio.CancelledError, BrokenExecutor):
            # whatever it was at must not go on for nobody
            self._end(priority)
            raise

    def _submit(self, priority: Priority, question: tuple[Any, ...]) -> Future[Any]:
        if self._is_closed:
            raise BrokenExecutor
        if priority not in self._pools:
            self._pools[priority] = Pool(1, _begin)
        return self._pools[priority].submit(bounded, *question)

    def _end(self, priority: Priority) -> None:
        if pool := self._pools.pop(priority, None):
            pool.kill()
            pool.shutdown()

    async def aclose(self) -> None:
        """Kill the processes; nothing is done any more."""
        self._is_closed = True
        for priority in list(self._pools):
            self._end(priority)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    os.nice(5)  # a search on the same machine goes first


def bounded(job: Callable[..., Any], values: Any, seconds: float, memory_mb: int) -> Any:
    """Return what a job answers; raise Refused when it cannot.  The process ends when it takes more
    than it may.
    """
    try:
        # nothing hears an interruption here: the process is ended a little later
        limits = Limits(max(0.1, seconds - GRACE_S), memory_mb)
        with limited(limits, lambda: None, "orderly: an answer took too long"):
            return job(*values)
    except OrderlyError as error:
        raise Refused(str(error)) from None
    except MemoryError:
        raise Refused(f"it takes more than {memory_mb} MiB: ask for less") from None
    except Exception as error:  # noqa: BLE001 - a bug of ours must not be asked for again and again
        raise Refused(f"internal error, {type(error).__name__}: {error}") from None
