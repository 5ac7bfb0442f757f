"""A process that does one job at a time: the end that the server holds, and the process itself.

The library's pool of processes (``anyio.to_process``) forgets one that is still starting when the server stops.
"""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from boardclass.processes import python_path
from cluster.web.jobs import bounded

_LONGEST_BYTES = 2**28
_ENDS = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.DelimiterNotFound, anyio.IncompleteRead, OSError)


class Ended(Exception):
    """The process ended before it answered."""


class Worker:
    """Starts a process with the first job, and again when the one before has ended; for one task at a time."""

    def __init__(self) -> None:
        self._process: anyio.abc.Process | None = None
        self.is_closed = False

    async def do(self, job: Callable[..., Any], values: Sequence[Any], seconds: float, memory_mb: int) -> Any:
        """Return what :func:`cluster.web.jobs.bounded` returns; the process is killed when this task is cancelled.

        The process finds the job, a function of a module, by name; JSON holds the values and what it returns.  Raises
        Ended when the process ended: killed by :meth:`aclose`, by the job's own limits or by somebody else.
        """
        try:
            process = await self._running()
            stdin, stdout = process.stdin, process.stdout
            assert stdin is not None
            assert stdout is not None
            await stdin.send(_line([f"{job.__module__}:{job.__qualname__}", values, seconds, memory_mb]))
            return json.loads(await BufferedByteReceiveStream(stdout).receive_until(b"\n", _LONGEST_BYTES))
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
        if self._process is not None and self._process.returncode is not None:  # it ended between two jobs
            await self._end()
        if self._process is None and not self.is_closed:
            self._process = await anyio.open_process(
                [sys.executable, "-P", "-m", "cluster.web.worker"],  # the folder at hand may hold modules: -P
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


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def main() -> None:
    """Do the jobs that come on standard input until it is closed; what a job prints goes nowhere."""
    with contextlib.suppress(OSError):
        os.nice(5)  # a search on the same machine goes first
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers, Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
        for line in sys.stdin.buffer:
            name, values, seconds, memory_mb = json.loads(line)
            answers.write(_line(bounded(pkgutil.resolve_name(name), values, seconds, memory_mb)))
            answers.flush()


if __name__ == "__main__":
    main()
