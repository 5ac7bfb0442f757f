"""Where workers live: the contract between the run loop and an executor, and the executors without
a cluster.

    run loop -> spawn, assign, retire -> executor
    run loop <- events                <- executor.poll

An executor decides nothing.  It carries out what the scheduler asks for and reports the outcome;
every failure becomes an event, so the loop has no error handling of its own.  There are three:
threads of this process, processes of this machine, and Ray (ray_executor.py).
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Self

from orderly_boggle.cluster.scheduling.events import (
    Answer,
    Assign,
    Death,
    Event,
    Returned,
    WorkerDown,
    WorkerUp,
)
from orderly_boggle.cluster.workers.process import WorkerLost, WorkerProcess
from orderly_boggle.cluster.workers.worker import MakeBreaker, Worker
from orderly_boggle.results.log_events import Report
from orderly_boggle.search.breaker import Spec

_GATHER_S = 0.02


class Executor:
    """What the run loop needs; none of these calls waits for a worker.

    ``poll`` is the only source of events.  After ``spawn(n)`` it reports WorkerUp or WorkerDown for
    n once.  After ``assign`` it reports an Answer or UnitFailed for each unit that was tried and
    then Returned, or WorkerDown.  After ``retire(n)`` nothing of n need be reported.  The first
    ``poll`` reports the Room, if it is limited, before any ``spawn``.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def spawn(self, worker: int) -> None:
        """Start a worker under this number."""

    def assign(self, order: Assign) -> None:
        """Hand units to an idle worker."""

    def retire(self, worker: int) -> None:
        """End a worker at once, busy or not; unknown numbers are ignored."""

    def bar(self, machine: str) -> None:
        """Start no worker on this machine any more; its processors are no room."""

    def waiting(self) -> str:
        """Return which processors are waited for, and who has them; empty: none."""
        return ""

    def poll(self, timeout_s: float) -> list[Event]:
        """Return what has happened, waiting up to ``timeout_s`` for the first event."""
        raise NotImplementedError

    def show(self, report: Report) -> None:
        """Pass the figures of the run on to what watches the workers' machines, if anything does;
        twice a second.
        """

    def close(self) -> None:
        """End all workers and release everything; may be called twice."""


class InProcessExecutor(Executor):
    """Workers as threads of this process, one at a time as a rule; kernels release the GIL.

    The thread keeps the caller free to show progress and to react to Ctrl-C while a kernel runs.
    ``make_breaker`` makes the breaker of each worker, by default the tested real one; :meth:`close`
    waits ``close_s`` for a unit that is being broken.
    """

    _worker: type[Worker | WorkerProcess] = Worker

    def __init__(
        self,
        spec: Spec,
        make_breaker: MakeBreaker | None = None,
        *,
        close_s: float = 5.0,
    ) -> None:
        self._make_worker = partial(self._worker, spec, make_breaker)
        self._close_s = close_s
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._threads: dict[int, _WorkerThread] = {}
        self._retired: list[_WorkerThread] = []

    def spawn(self, worker: int) -> None:
        """Start the thread; the worker is made in it."""
        thread = _WorkerThread(worker, self._make_worker, self._events)
        # the worker is made in the thread: loading words takes seconds, and others are spawned
        # meanwhile
        thread.start()
        self._threads[worker] = thread

    def assign(self, order: Assign) -> None:
        """Put the units into the thread's inbox."""
        if order.worker in self._threads:  # or it is gone, and the scheduler knows that by now
            self._threads[order.worker].inbox.put(order)

    def retire(self, worker: int) -> None:
        """Tell the thread to stop; one that computes itself cannot be killed and breaks its present
        unit first.
        """
        thread = self._threads.pop(worker, None)
        if thread is not None:
            thread.stop()
            # kept so that close can wait for them, but not for ever: a run may retire thousands
            still_alive = [other for other in self._retired if other.is_alive()]
            self._retired = [thread, *still_alive]

    def poll(self, timeout_s: float) -> list[Event]:
        """Return the events so far.  A thread cannot be silent and alive: there are no heartbeats.

        An answer waits a moment for others: many at a time are less work, and no worker waits for
        what comes of it.
        """
        events: list[Event] = []
        with contextlib.suppress(queue.Empty):
            events.append(self._events.get(timeout=max(timeout_s, 0.0)))
            ends_s = time.monotonic() + _GATHER_S
            while True:
                # anything else decides what workers do next: they would wait for it
                if isinstance(events[-1], Answer):
                    left_s = ends_s - time.monotonic()
                else:
                    left_s = 0.0
                events.append(self._events.get(timeout=max(left_s, 0.0)))
        for event in events:
            if isinstance(event, WorkerDown):
                self._threads.pop(event.worker, None)
        return events

    def close(self) -> None:
        """Stop all threads; one that is deep in a kernel is left behind, it ends with the
        process.
        """
        for worker in list(self._threads):
            self.retire(worker)
        ends_s = time.monotonic() + self._close_s
        for thread in self._retired:
            thread.join(max(0.0, ends_s - time.monotonic()))


class ProcessExecutor(InProcessExecutor):
    """Workers as processes of this machine; a thread of this process waits for each."""

    _worker = WorkerProcess

    def __init__(self, spec: Spec, make_breaker: MakeBreaker | None = None) -> None:
        # compiles the kernels, or every process would
        import orderly_boggle.search.node_search  # noqa: F401

        super().__init__(spec, make_breaker)


class _WorkerThread(threading.Thread):
    """One worker; ``inbox`` takes assignments, None ends it."""

    def __init__(
        self,
        number: int,
        make_worker: Callable[[], Worker | WorkerProcess],
        events: queue.SimpleQueue[Event],
    ) -> None:
        super().__init__(name=f"orderly-worker-{number}", daemon=True)
        self.inbox: queue.SimpleQueue[Assign | None] = queue.SimpleQueue()
        self._number = number
        self._make_worker = make_worker
        self._events = events
        self._worker: Worker | WorkerProcess | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the worker, or let it end after its present unit."""
        self._stopped = True
        if self._worker is not None:
            self._worker.cancel()
        self.inbox.put(None)

    def run(self) -> None:
        try:
            self._worker = worker = self._make_worker()
            if self._stopped:  # before there was anything to cancel
                worker.cancel()
            hello = worker.hello()
            self._events.put(WorkerUp(self._number, hello.host, hello.kernel_hash))
            while (order := self.inbox.get()) is not None and not self._stopped:
                for reply in worker.work(order):
                    self._events.put(reply.event(hello, self._number, order.assignment))
                # with or without an answer for each unit: what is missing is put back
                self._events.put(Returned(self._number, order.assignment))
            # a process that was killed while idle is gone after this
            tuple(worker.work(Assign(self._number, 0, ())))
        except WorkerLost as lost:
            self._down(lost.reason, str(lost))
        except Exception as error:  # noqa: BLE001 - a worker that cannot be made
            self._down("unfit", f"{type(error).__name__}: {error}")

    def _down(self, reason: Death, message: str) -> None:
        # nobody asks any more why a worker ended that was told to
        if not self._stopped:
            self._events.put(WorkerDown(self._number, reason, message))
