"""A worker in a process of its own on this machine: the driver's end of it, and the process itself.

    WorkerProcess -> hello -> work ... work    in the driver, from one thread; cancel from any
    main                                       in the process: a Worker that is asked over a socket

The process never outlives its driver.  Linux kills it when the driver is gone, even if it is
stopped (PR_SET_PDEATHSIG); elsewhere, and before that is set, it finds its socket closed.  There is
no heartbeat: the socket says at once that the process has ended, and a process that is only slow or
stopped is waited for.

``multiprocessing`` would start one more process to look after its own, and run the caller's main
module again.
"""

import contextlib
import ctypes
import errno
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from socket import socketpair
from typing import Any

from orderly_boggle.boardclass.processes import python_path
from orderly_boggle.cluster.scheduling.events import Assign, Death
from orderly_boggle.cluster.workers.worker import (
    OUT_OF_MEMORY,
    Failure,
    Hello,
    MakeBreaker,
    Reply,
    Worker,
)
from orderly_boggle.search.breaker import Spec

_SET_PDEATHSIG = 1
_LONGEST_LINE = 400
_END_S = 10.0
_SOONER = 500  # of 1,000: counts as if it had half of all memory besides
# The system ends what takes too much memory by SIGKILL; somebody else may have done it, but that is
# rare.
_OUT_OF_MEMORY = (-signal.SIGKILL, errno.ENOMEM)
_MEMORY_SIGNS = ("memoryerror", "cannot allocate memory", "failed to map", "bad_alloc")


class WorkerLost(Exception):
    """The process has ended, by itself or by force."""

    def __init__(self, reason: Death, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class WorkerProcess:
    """A :class:`Worker` in a process of its own, with the same methods.

    It loads no module from where the user is (-P), and Ctrl-C does not reach it: the driver
    decides. Raises OSError when the system has no room for another process.
    """

    def __init__(self, spec: Spec, make_breaker: MakeBreaker | None = None) -> None:
        self._question = spec, make_breaker
        self._is_up = False
        if hasattr(os, "memfd_create"):  # a full disk keeps no worker from starting
            self._said = os.fdopen(os.memfd_create("worker"), "w+b")
        else:
            # closed when the process has ended
            self._said = tempfile.TemporaryFile()  # noqa: SIM115
        # no name and no port: nobody else can connect to it
        ours, theirs = socketpair()
        with ours, theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
                # one thread: the others belong to the workers beside it
                env={**os.environ, "PYTHONPATH": python_path(), "OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                pass_fds=[theirs.fileno()],
                # a group of its own: Ctrl-C in the terminal goes to the driver alone
                process_group=0,
            )
            self._link = Connection(ours.detach())

    def hello(self) -> Hello:
        """Return who it is, once it has passed its self-test. Raises WorkerLost."""
        self._send(self._question)
        hello: Hello = self._receive()
        self._is_up = True
        return hello

    def work(self, order: Assign) -> Iterator[Reply]:
        """Yield the reply on each unit; see :meth:`Worker.work`.  Raises WorkerLost."""
        self._send(order)
        # one by one: what was found before a crash has arrived
        while (reply := self._receive()) is not None:
            yield reply

    def cancel(self) -> None:
        """Kill it."""
        self._process.kill()

    def _send(self, what: Any) -> None:
        try:
            self._link.send(what)
        except OSError as error:
            raise self._lost() from error

    def _receive(self) -> Any:
        try:
            return self._link.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error

    def _lost(self) -> WorkerLost:
        """Return why it ended; it is gone after this."""
        self._link.close()
        try:
            # the socket may close a moment before the process has ended
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        with self._said as said:
            said.seek(0)
            lines = said.read().decode(errors="replace").split("\n")
        # Python's and the kernel's reason stands in the last line that says anything
        last = ""
        for line in reversed(lines):
            if line.strip():
                last = line.strip()[:_LONGEST_LINE]
                break
        says_oom = any(sign in last.lower() for sign in _MEMORY_SIGNS)
        is_oom = code in _OUT_OF_MEMORY or says_oom
        if code < 0:
            how = f"ended by {signal.Signals(-code).name}"
        else:
            how = f"ended with exit code {code}"
        if self._is_up:
            message = how
        else:
            message = f"{how} before it could work"
        message += f": {last}" if last else ""
        message += f"; probably {OUT_OF_MEMORY}" if is_oom else ""
        reason: Death = "oom" if is_oom else "died"
        return WorkerLost(reason if self._is_up else "unfit", message)


def main(socket: int) -> None:
    """Be the process: answer until the driver hangs up."""
    if sys.platform.startswith("linux"):
        # before anything is loaded: a driver that dies now leaves nobody behind
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL)
        _be_ended_first()
    link = Connection(socket)
    with contextlib.suppress(EOFError):
        worker = Worker(*link.recv())
        link.send(worker.hello())
        while True:
            for reply in worker.work(link.recv()):
                link.send(reply)
                if isinstance(reply.outcome, Failure) and reply.outcome.oom:
                    # numba keeps what a kernel held when it raised: a new process has it back
                    sys.exit(errno.ENOMEM)
            link.send(None)


def _be_ended_first() -> None:
    """Have the system end this process rather than the driver when memory is short: that goes on,
    while a run whose driver is killed is over.
    """
    with contextlib.suppress(OSError):  # it is to be ended sooner still, and may not ask for less
        Path("/proc/self/oom_score_adj").write_text(str(_SOONER))


if __name__ == "__main__":
    main(int(sys.argv[1]))
