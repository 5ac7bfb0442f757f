"""Work that takes longer than an answer may: in separate processes, few at a time, with limits on
time and memory.

The server goes on answering meanwhile.  A process that was killed for taking too much is replaced
by the next one.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from enum import StrEnum
from http import HTTPStatus
from typing import Any

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from boardclass.errors import OrderlyError
from boardclass.processes import python_path

MAX_WAITING, _PATIENCE_S = 64, 2.0
_MAIN = "from cluster.web.jobs import main; main()"
_LONGEST_BYTES = 2**28
_ENDS = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.DelimiterNotFound,
    anyio.IncompleteRead,
    OSError,
)
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
        self._workers = {priority: Worker() for priority in Priority}

    async def ask(
        self,
        priority: Priority,
        job: Callable[..., Any],
        *values: Any,
        seconds: float = 20.0,
        memory_mb: int = 1024,
    ) -> Any:
        """Return what a function of :mod:`cluster.web.jobs` makes of ``values`` within limits, or
        raise Refused.
        """
        limiter = self._limiters.setdefault(priority, anyio.CapacityLimiter(1))
        worker = self._workers[priority]
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
                with anyio.fail_after(seconds + _START_S):
                    reply = await worker.do(job, values, seconds, memory_mb)
        except (TimeoutError, Ended) as error:
            if worker.is_closed:
                raise Refused("the server is stopping", HTTPStatus.SERVICE_UNAVAILABLE) from error
            raise Refused(
                f"it takes more than {seconds:g} s or {memory_mb} MiB: ask for less"
            ) from error
        if "refused" in reply:
            raise Refused(reply["refused"])
        return reply["answer"]

    async def aclose(self) -> None:
        """Kill the processes; nothing is done any more."""
        for worker in self._workers.values():
            await worker.aclose()


class Ended(Exception):
    """The process ended before it answered."""


class Worker:
    """Starts a process with the first job, and again when the one before has ended; for one task at
    a time.

    The library's pool of processes (``anyio.to_process``) forgets one that is still starting when
    the server stops.
    """

    def __init__(self) -> None:
        self._process: anyio.abc.Process | None = None
        self.is_closed = False

    async def do(
        self, job: Callable[..., Any], values: Sequence[Any], seconds: float, memory_mb: int
    ) -> Any:
        """Return what :func:`cluster.web.jobs.bounded` returns; the process is killed when this
        task is cancelled.

        The process finds the job by its name; JSON holds the values and what it returns.  Raises
        Ended when the process ended: killed by :meth:`aclose`, by the job's own limits or by
        somebody else.
        """
        try:
            process = await self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            question = [f"{job.__module__}:{job.__qualname__}", values, seconds, memory_mb]
            await process.stdin.send(json.dumps(question, default=asdict).encode() + b"\n")
            replies = BufferedByteReceiveStream(process.stdout)
            return json.loads(await replies.receive_until(b"\n", _LONGEST_BYTES))
        except _ENDS as error:
            await self._end()
            raise Ended from error
        except BaseException:  # cancelled: what the process writes from now on answers nobody
            await self._end()
            raise

    async def aclose(self) -> None:
        """Kill the process; no other one starts."""
        self.is_closed = True
        await self._end()

    async def _running(self) -> anyio.abc.Process:
        # it ended between two jobs
        if self._process is not None and self._process.returncode is not None:
            await self._end()
        if self._process is None and not self.is_closed:
            self._process = await anyio.open_process(
                [sys.executable, "-P", "-c", _MAIN],  # the folder at hand may hold modules: -P
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": python_path()},
                start_new_session=True,  # Ctrl-C is for the server
            )
        if self._process is None or self.is_closed:
            raise Ended
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.aclose()
