"""Workers as Ray actors: the executor of clusters.

    RayExecutor  one actor per worker number, no restarts and no retries by Ray: the scheduler
    decides

An actor runs kernels in its default concurrency group and says in another what it is busy with,
while a kernel runs. Whatever Ray reports about a dead actor becomes one WorkerDown.  Machines come
and go: the scheduler is told how many workers there is room for.
"""

import contextlib
import socket
import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from cluster.scheduling.events import (
    Assign,
    Death,
    Event,
    Heartbeat,
    Returned,
    Room,
    WorkerDown,
    WorkerUp,
)
from cluster.workers.executors import Executor
from cluster.workers.ray_cluster import CLIENT, ClusterGoneError, brief, connected, host_and_port
from cluster.workers.worker import OUT_OF_MEMORY, Hello, MakeBreaker, Worker
from results.log_events import Report
from search.breaker import Spec

_BEAT_S = 30.0
_ROOM_S = 3.0
# a call that has ended waits for others, so long for each under way: to look at 4,096 takes 4 ms
_GATHER_S = 25e-6
# how long the head of the cluster may not answer; Ray would end this process after a minute
_HEAD_S = 15.0
_NODE_SIGNS = ("node has died", "owner has died")  # the owner of all actors is the driver
# Ray's own texts are pages long; where a worker could not start, they hold the reason.
_WORDS = {
    "died": "its process ended; the logs of Ray on its machine say how",
    "node": "its machine is gone",
    "oom": f"Ray ended it: {OUT_OF_MEMORY}",
}
_OOM_SIGNS = ("memory monitor", "running low on memory")


class _Call(NamedTuple):
    kind: str  # hello, work, beat
    worker: int
    assignment: int


@dataclass
class _Actor:
    handle: Any
    hello: Hello | None = None
    order: Assign | None = None
    beat_at_s: float = 0.0


class RayExecutor(Executor):
    """Workers on a Ray cluster at an address (see :func:`cluster.workers.ray_cluster.connected`).

    An autoscaler is asked for ``n_workers`` machines, one processor each; with ``local`` it is the
    processors of the cluster.  0: the cluster is taken as it is.  ``make_breaker`` makes the
    breaker of each worker, by default the tested real one.
    """

    def __init__(
        self, spec: Spec, n_workers: int, make_breaker: MakeBreaker | None = None, *, address: str
    ) -> None:
        self._spec = spec
        self._n_workers = n_workers
        self._make_breaker = make_breaker
        self._address = address
        self._stack = contextlib.ExitStack()
        self._actors: dict[int, _Actor] = {}
        self._calls: dict[Any, _Call] = {}
        self._reported: list[Event] = []
        self._ray: Any = None
        self._room: int | None = None
        self._room_at_s = 0.0
        self._is_gone = False  # then nothing may be asked of Ray, not even to end

    def __enter__(self) -> Self:
        self._ray = ray = self._stack.enter_context(connected(self._address, self._n_workers))
        self._actor_class = ray.remote(
            max_restarts=0, max_task_retries=0, num_cpus=1, concurrency_groups={"control": 1}
        )(Worker)
        self._spec_ref = ray.put(self._spec)
        self._head = Head(self._address, ray)
        self._metrics = RayMetrics(f"{self._spec.dims} cutoff {self._spec.cutoff}")
        if self._n_workers:
            self._ask_for_machines()
        return self

    @property
    def pids(self) -> dict[int, int]:
        """Process ids of the workers that are up, by worker number."""
        actors = self._actors.items()
        return {number: actor.hello.pid for number, actor in actors if actor.hello is not None}

    def spawn(self, worker: int) -> None:
        """Start an actor; it reports once its self-test is passed."""
        handle = self._actor_class.remote(self._spec_ref, self._make_breaker)
        self._actors[worker] = _Actor(handle)
        self._calls[handle.hello.remote()] = _Call("hello", worker, 0)

    def assign(self, order: Assign) -> None:
        """Call the actor with the units."""
        actor = self._actors.get(order.worker)
        if actor is None:
            self._reported.append(WorkerDown(order.worker, "died", "gone before it got work"))
            return
        actor.order, actor.beat_at_s = order, time.monotonic() + _BEAT_S
        ref = actor.handle.work_through.remote(order)
        self._calls[ref] = _Call("work", order.worker, order.assignment)

    def retire(self, worker: int) -> None:
        """Kill the actor."""
        actor = self._actors.pop(worker, None)
        if actor is not None:
            self._calls = {ref: call for ref, call in self._calls.items() if call.worker != worker}
            with contextlib.suppress(Exception):
                self._ray.kill(actor.handle, no_restart=True)

    def poll(self, timeout_s: float) -> list[Event]:
        """Return what has happened, waiting up to ``timeout_s`` for the first event."""
        try:
            self._ask_for_beats()
            self._look_for_room()
            ready = self._ready(0.0 if self._reported else timeout_s)
            events, self._reported = self._reported, []
            for ref in ready:
                call = self._calls.pop(ref, None)  # gone when an answer before it ended the worker
                if call is not None:
                    events += self._collect(ref, call)
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            raise self._gone(error) from error
        return events

    def _ready(self, timeout_s: float) -> list[Any]:
        refs = list(self._calls)
        if not refs:
            time.sleep(min(timeout_s, 0.05))
            return []
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=timeout_s)
        if ready:
            time.sleep(len(refs) * _GATHER_S)
            ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        return list(ready)

    def show(self, report: Report) -> None:
        """Set the gauges that Ray's agents export."""
        self._metrics.show(report)

    def close(self) -> None:
        """Kill all actors and leave the cluster, or end it if it is ours."""
        if self._is_gone:
            return
        for worker in list(self._actors):
            self.retire(worker)
        self._stack.close()

    def _ask_for_machines(self) -> None:
        """Make the autoscaler, if there is one, start machines for all workers, and end them when
        we leave.
        """
        from ray.autoscaler.sdk import request_resources

        request_resources(num_cpus=self._n_workers)
        self._stack.callback(request_resources, num_cpus=0)

    def _look_for_room(self) -> None:
        """Report how many workers the cluster has room for: its free processors and those that ours
        have.
        """
        if time.monotonic() < self._room_at_s:
            return
        self._room_at_s = time.monotonic() + _ROOM_S
        if not self._head.answers():
            return
        # A worker that is still starting may count in neither: too little room for a moment, never
        # too much.
        free, every = self._ray.available_resources(), self._ray.cluster_resources()
        room = int(min(every.get("CPU", 0), free.get("CPU", 0) + len(self.pids)))
        if room != self._room:
            self._room = room
            self._reported.append(Room(room))

    def _ask_for_beats(self) -> None:
        now_s = time.monotonic()
        for number, actor in self._actors.items():
            if actor.order is not None and now_s >= actor.beat_at_s:
                actor.beat_at_s = now_s + _BEAT_S
                ref = actor.handle.busy_with.options(concurrency_group="control").remote()
                self._calls[ref] = _Call("beat", number, actor.order.assignment)

    def _collect(self, ref: Any, call: _Call) -> list[Event]:
        exceptions = self._ray.exceptions
        try:
            value = self._ray.get(ref)
        except exceptions.RayTaskError as error:  # the call itself raised; the actor lives
            return self._lost(call.worker, "died", brief(str(error.cause or error)))
        except exceptions.LocalRayletDiedError:
            raise  # the cluster is gone
        except exceptions.RayError as error:
            reason = cause_of(error, exceptions)
            return self._lost(call.worker, reason, _WORDS.get(reason) or brief(str(error)))
        return self._answered(call, value)

    def _answered(self, call: _Call, value: Any) -> list[Event]:
        actor = self._actors[call.worker]
        if call.kind == "hello":
            actor.hello = value
            return [WorkerUp(call.worker, value.host, value.kernel_hash)]
        if call.kind == "beat":
            return [Heartbeat(call.worker, call.assignment)] if value == call.assignment else []
        actor.order = None
        rows = [replace(reply, worker=call.worker, assignment=call.assignment) for reply in value]
        return [*rows, Returned(call.worker, call.assignment)]

    def _lost(self, worker: int, reason: Death, message: str) -> list[Event]:
        """Forget a worker that Ray says is gone, and its other calls: it is told once."""
        self.retire(worker)
        return [WorkerDown(worker, reason, message)]

    def _gone(self, error: Exception) -> ClusterGoneError:
        self._is_gone = True
        gone = ClusterGoneError(
            f"the Ray cluster at {self._address!r} is gone ({brief(str(error))}); "
            "what has arrived is stored, the same command resumes from there"
        )
        gone.kept = self._stack  # it would be closed when nobody knows it any more
        return gone


class Head:
    """The machine that a cluster rests on.

    Who asks Ray for something while that is gone waits for a minute, and is ended then.
    """

    def __init__(self, address: str, ray: Any) -> None:
        if not address.startswith(CLIENT):
            address = ray.get_runtime_context().gcs_address
        self._place = host_and_port(address)
        self._answered_at_s = time.monotonic()

    def answers(self) -> bool:
        """Return whether it listens; raise ConnectionError when it has not for a while."""
        try:
            socket.create_connection(self._place, _ROOM_S).close()
        except OSError as error:
            if time.monotonic() - self._answered_at_s > _HEAD_S:
                raise ConnectionError(f"its head does not answer: {error}") from error
            return False
        self._answered_at_s = time.monotonic()
        return True


def cause_of(error: Exception, exceptions: Any) -> Death:
    """Return why an actor is gone, from what Ray raised for its call."""
    text = str(error)
    if isinstance(error, exceptions.OutOfMemoryError) or any(sign in text for sign in _OOM_SIGNS):
        return "oom"
    if isinstance(error, exceptions.RayActorError) and error.actor_init_failed:
        return "unfit"
    names = ("NodeDiedError", "ActorUnavailableError", "ObjectLostError")
    is_of_node = isinstance(error, tuple(getattr(exceptions, name) for name in names))
    is_of_node |= getattr(error, "preempted", False)
    is_of_node |= any(sign in text.lower() for sign in _NODE_SIGNS)
    return "node" if is_of_node else "died"


GAUGES = {
    "classes": ("n_classes", "board classes of the run"),
    "classes_done": ("n_classes_done", "board classes that are settled"),
    "units_open": ("n_open", "units without a verdict"),
    "units_in_flight": ("n_in_flight", "units that a worker has"),
    "units_split": ("n_split", "units that were split, by this driver"),
    "units_requeued": ("n_requeued", "units that came back without a verdict, by this driver"),
    "units_quarantined": ("n_quarantined", "units that were given up, by this driver"),
    "verdicts": ("n_verdicts", "verdicts accepted, by this driver"),
    "strikes": ("n_strikes", "failures held against units, by this driver"),
    "replicas_agreed": ("n_agreed", "replicas that agreed with the first verdict, by this driver"),
    "candidates": (
        "n_candidates",
        "boards found that reach the cutoff, before symmetric ones are merged",
    ),
    "best_score": ("best_score", "best score found"),
    "workers": ("n_workers", "workers that are up"),
    "workers_lost": ("n_deaths", "workers lost, by this driver"),
    "elapsed_seconds": ("elapsed_s", "time since the driver began"),
    "remaining_seconds": (
        "remaining_s",
        "estimate of the time left; not set before the first class is finished",
    ),
}


class RayMetrics:
    """Gauges on the Ray cluster that this process has joined; the tag ``run`` tells runs apart."""

    def __init__(self, run: str) -> None:
        from ray.util import metrics

        self._gauges = {}
        for name, (figure, text) in GAUGES.items():
            gauge = metrics.Gauge(f"orderly_{name}", description=text, tag_keys=("run",))
            gauge.set_default_tags({"run": run})
            self._gauges[figure] = gauge

    def show(self, report: Report) -> None:
        """Set all gauges whose figure is known."""
        for figure, gauge in self._gauges.items():
            value = getattr(report, figure)
            if value is not None:
                gauge.set(float(value))
