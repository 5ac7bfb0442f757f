"""Work that takes longer than an answer may: in separate processes, few at a time, with limits on time and memory.

The server goes on answering meanwhile.  A process that was killed for taking too much is replaced by the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from http import HTTPStatus
from typing import Any

import anyio

from boardclass.errors import OrderlyError
from cluster.web.worker import Ended, Worker

MAX_WAITING = 64
_START_S = 60.0  # a new process loads libraries and may have to compile kernels, before its own time begins


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
        self._workers = {priority: Worker() for priority in Priority}

    async def ask(
        self, priority: Priority, job: Callable[..., Any], *values: Any, seconds: float = 20.0, memory_mb: int = 1024
    ) -> Any:
        """Return what a function of :mod:`cluster.web.jobs` makes of ``values`` within these limits.

        Raises Refused when it cannot be done, takes too much, too many wait, or the queue is closed.
        """
        limiter, worker = self._limiters.setdefault(priority, anyio.CapacityLimiter(1)), self._workers[priority]
        if limiter.statistics().tasks_waiting >= MAX_WAITING:
            raise Refused("too many questions wait for an answer: ask again later", HTTPStatus.SERVICE_UNAVAILABLE)
        try:
            async with limiter:
                with anyio.fail_after(seconds + _START_S):
                    told = await worker.do(job, values, seconds, memory_mb)
        except (TimeoutError, Ended) as error:
            if worker.is_closed:
                raise Refused("the server is stopping", HTTPStatus.SERVICE_UNAVAILABLE) from error
            raise Refused(f"it takes more than {seconds:g} s or {memory_mb} MiB: ask for less") from error
        if "refused" in told:
            raise Refused(told["refused"])
        return told["answer"]

    async def aclose(self) -> None:
        """Kill the processes; nothing is done any more."""
        for worker in self._workers.values():
            await worker.aclose()
