"""Ray in a process of its own: whatever becomes of Ray, the driver lives on.

    run loop -> RayProcess            in the driver; the executor that runs use
                   |  orders, events  over a socket, one question and one answer at a time
                _serve -> RayExecutor in the process that talks to Ray

Ray ends the process that it is connected to, without a word, when its node dies in certain ways.  So a driver that
talked to Ray itself would lose what it has not stored.  A private cluster that breaks down, or takes that process with
it, is started again, with a new guard; the scheduler is told that all workers are gone, and none is to blame.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from socket import socketpair
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from boardclass.errors import OrderlyError
from boardclass.processes import python_path
from cluster.scheduling.events import Assign, Death, Event, WorkerDown, WorkerUp
from cluster.workers.ray_cluster import ClusterGoneError, RayError, brief, private_folder
from cluster.workers.ray_guard import check_room
from cluster.workers.worker import MakeBreaker

if TYPE_CHECKING:
    from cluster.scheduling.figures import Report
    from cluster.workers.ray_guard import Guard
    from search.breaker import Spec

_LOG = "log"
_WORKER_BYTES = 2**20  # what a worker that starts may write
_LOOK_S = 3.0
_SLACK_S = 5.0
_CLOSE_S = 20.0


class RayProcess:
    """The executor of clusters; see :class:`~cluster.workers.ray_executor.RayExecutor` for the parameters."""

    def __init__(
        self, spec: Spec, n_workers: int, make_breaker: MakeBreaker | None = None, *, address: str | None = None
    ) -> None:
        self._asked_for = (spec, n_workers, make_breaker, address)
        self._address = address
        self._stack = contextlib.ExitStack()
        self._guard: Guard | None = None
        self._link: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: list[tuple[str, Any]] = []
        self._workers: set[int] = set()
        self._starting: set[int] = set()
        self._is_asked = False
        self._look_at_s = 0.0

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def spawn(self, worker: int) -> None:
        """Start an actor with the next :meth:`poll`."""
        self._workers.add(worker)
        self._starting.add(worker)
        self._orders.append(("spawn", worker))

    def assign(self, order: Assign) -> None:
        """Hand units to an actor with the next :meth:`poll`."""
        self._orders.append(("assign", order))

    def retire(self, worker: int) -> None:
        """Kill an actor's process with the next :meth:`poll`."""
        self._workers.discard(worker)
        self._starting.discard(worker)
        self._orders.append(("retire", worker))

    def show(self, report: Report) -> None:
        """Set the gauges that Ray's agents export."""
        self._orders = [order for order in self._orders if order[0] != "show"]
        self._orders.append(("show", report))

    def poll(self, timeout_s: float) -> list[Event]:
        """Return what has happened, waiting up to ``timeout_s`` for the first event.

        Raises
        ------
        ClusterGoneError
            When a cluster that was joined is gone, or a private one died and does not start again.
        """
        if self._link is None:
            self._begin_again()
        assert self._link is not None, "begun"
        self._look_for_room()
        try:
            if not self._is_asked:
                orders, self._orders = self._orders, []
                self._link.send((orders, timeout_s))
                self._is_asked = True
            if not self._link.poll(timeout_s + _SLACK_S):
                return []
            answer = self._link.recv()
        except (EOFError, OSError) as error:
            return self._lost(self._last_words() or brief(str(error)))
        self._is_asked = False
        if isinstance(answer, ClusterGoneError) and self._address is None:
            return self._lost(brief(str(answer)))
        if isinstance(answer, Exception):
            raise answer
        for event in answer:
            if isinstance(event, WorkerUp | WorkerDown):
                self._starting.discard(event.worker)
            if isinstance(event, WorkerDown):
                self._workers.discard(event.worker)
        return list(answer)

    def close(self) -> None:
        """End the process and, if the cluster is ours, everything that belongs to it."""
        self._stack.close()
        self._link = self._guard = self._process = None
        self._orders, self._is_asked = [], False

    def _begin(self) -> None:
        """Start the process and wait until it has started, or joined, a cluster; leave nothing behind if that fails."""
        try:
            self._connect()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        if self._address is None:
            self._guard = self._stack.enter_context(private_folder())
        ours, theirs = socketpair()
        with theirs:
            self._link = self._stack.enter_context(Connection(ours.detach()))
            self._process = self._start(theirs.fileno())
        self._stack.push(self._end)
        try:
            self._link.send((*self._asked_for, self._guard))
            answer = self._link.recv()
        except (EOFError, OSError) as error:
            answer = RayError(f"Ray does not start: {self._last_words() or brief(str(error))}")
        if isinstance(answer, Exception):
            raise answer

    def _start(self, socket: int) -> subprocess.Popen[bytes]:
        """Start the process: in the group of a private cluster, which is killed as a whole; away from Ctrl-C anyway.

        It has no modules from where the user is (-P); nor have workers of a private cluster, to which Ray shows the
        directory that this process is in.
        """
        group = self._guard.group if self._guard else 0
        with contextlib.ExitStack() as stack:
            log = stack.enter_context((self._guard.folder / _LOG).open("wb")) if self._guard else None
            return subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(socket)],
                env={**os.environ, "PYTHONPATH": python_path()},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[socket],
                cwd=self._guard.folder if self._guard else None,
                process_group=group,
            )

    def _end(self, *_: object) -> None:
        """Let the process leave a cluster that was joined; a private one has nothing that is still needed."""
        process, link = self._process, self._link
        assert process is not None
        assert link is not None
        link.close()
        if self._address is None:
            process.kill()
        try:
            process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _begin_again(self) -> None:
        try:
            self._begin()
        except RayError as error:
            raise ClusterGoneError(f"Ray died and does not start again: {error}; what has arrived is stored") from error

    def _lost(self, message: str) -> list[Event]:
        """Give up all workers of a cluster that is gone; the next :meth:`poll` starts a new one if that is allowed."""
        if self._address is not None:
            raise ClusterGoneError(
                f"the Ray cluster at {self._address!r} is gone ({message}); "
                "what has arrived is stored, the same command goes on from there"
            )
        lost = sorted(self._workers)
        if not lost:  # nothing was asked of it yet: it would die again for ever
            raise ClusterGoneError(
                f"Ray died: {message}; what has arrived is stored, the same command goes on from there"
            )
        self._workers, self._starting = set(), set()
        self.close()
        return [WorkerDown(worker, Death.node, f"Ray died: {message}") for worker in lost]

    def _last_words(self) -> str:
        """Return the last line that the process wrote before it ended."""
        if self._guard is None or self._process is None:
            return ""
        with contextlib.suppress(OSError):
            lines = (self._guard.folder / _LOG).read_text(errors="replace").splitlines()
            return brief(lines[-1]) if lines else ""
        return ""

    def _look_for_room(self) -> None:
        """Notice a temporary folder that is full: a worker that cannot write there would start for ever."""
        if self._guard is None or not self._starting or time.monotonic() < self._look_at_s:
            return
        self._look_at_s = time.monotonic() + _LOOK_S
        try:
            check_room(self._guard.folder, _WORKER_BYTES)
        except OSError as error:
            raise ClusterGoneError(f"workers cannot start: {error.strerror}; what has arrived is stored") from error


def _serve(link: Connection) -> None:
    """Be the process that talks to Ray, until the driver hangs up."""
    from cluster.workers.ray_executor import RayExecutor

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # the driver decides; all of Ray would inherit an ignored signal
    spec, n_workers, make_breaker, address, guard = link.recv()
    try:
        with RayExecutor(spec, n_workers, make_breaker, address=address, guard=guard) as executor:
            link.send(None)
            while True:
                orders, timeout_s = link.recv()
                for name, what in orders:
                    getattr(executor, name)(what)
                link.send(executor.poll(timeout_s))
    except (EOFError, BrokenPipeError, ConnectionResetError):  # the driver is gone, or needs no cluster any more
        return
    except OrderlyError as error:
        _tell(link, error)
    except Exception as error:  # noqa: BLE001 - Ray raises many things when it breaks down; the driver decides
        _tell(link, ClusterGoneError(f"{type(error).__name__}: {brief(str(error))}"))


def _tell(link: Connection, error: OrderlyError) -> None:
    with contextlib.suppress(OSError):
        link.send(error)


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
