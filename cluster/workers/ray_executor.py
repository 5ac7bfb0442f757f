"""Workers as Ray actors: the executor of clusters.

    RayExecutor  one actor per worker number, no restarts and no retries by Ray: the scheduler decides

An actor runs kernels in its default concurrency group and answers ``status`` and ``cancel`` in another, while a kernel
runs.  Whatever Ray reports about a dead actor becomes one WorkerDown.  On a cluster that was joined, machines come and
go: the scheduler is told how many workers there is room for.  Runs have this in a process that Ray may end: RayProcess.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from cluster.scheduling.events import Assign, Death, Event, Heartbeat, Returned, Room, UnitFailed, WorkerDown, WorkerUp
from cluster.workers.executors import signed
from cluster.workers.ray_cluster import (
    ClusterGoneError,
    brief,
    dead_part,
    joined_cluster,
    private_cluster,
    private_folder,
)
from cluster.workers.ray_metrics import RayMetrics
from cluster.workers.worker import Hello, MakeBreaker, Reply, Status, Worker
from search.breaker import share

if TYPE_CHECKING:
    from cluster.scheduling.figures import Report
    from cluster.workers.ray_guard import Guard
    from search.breaker import Spec

_BEAT_S = 30.0
_ROOM_S = 3.0
_LOOK_S = 3.0
_NODE_SIGNS = ("node has died", "owner has died")  # the owner of all actors is the driver's side
_OOM_SIGNS = ("memory monitor", "running low on memory", "out of memory (OOM)", "OutOfMemory")


class _Call(NamedTuple):
    kind: str  # hello, work, status
    worker: int
    assignment: int


@dataclass(slots=True)
class _Actor:
    handle: Any
    hello: Hello | None = None
    order: Assign | None = None
    beat_at_s: float = 0.0


class RayExecutor:
    """Workers on a Ray cluster: a private one on this machine, or one that is there.

    Parameters
    ----------
    spec : Spec
        Goes once through the object store, and so do the arrays of its words.
    n_workers : int
        Slots of a private cluster; of a joined one that can grow, how many to grow for, 0: take it as it is.
    make_breaker : callable, optional
        Makes the breaker of each worker; the tested real one by default.
    address : str, optional
        An existing cluster, such as ``auto``; None starts a private one.
    guard : Guard, optional
        Of the private one, whose group this process is in; by default one that has the folder only.
    """

    def __init__(
        self,
        spec: Spec,
        n_workers: int,
        make_breaker: MakeBreaker | None = None,
        *,
        address: str | None = None,
        guard: Guard | None = None,
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
        self._guard = guard
        self._room: int | None = None
        self._room_at_s = 0.0
        self._look_at_s = 0.0

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        if self._address is None:
            self._guard = self._guard or self._stack.enter_context(private_folder())
            cluster = private_cluster(self._n_workers, self._guard)
        else:
            cluster = joined_cluster(self._address)
        self._ray = ray = self._stack.enter_context(cluster)
        options = {"max_restarts": 0, "max_task_retries": 0, "num_cpus": 1, "concurrency_groups": {"control": 1}}
        self._actor_class = ray.remote(**options)(Worker)
        # Once for all workers of a machine: arrays are read where they lie in the object store.
        self._spec_ref = ray.put(self._spec)
        self._metrics = RayMetrics(f"{self._spec.dims} cutoff {self._spec.cutoff}")
        self._lexicon_ref = ray.put(None if self._make_breaker else share(self._spec))
        if self._address is not None and self._n_workers:
            self._ask_for_machines()

    @property
    def pids(self) -> dict[int, int]:
        """Process ids of the workers that are up, by worker number."""
        return {number: actor.hello.pid for number, actor in self._actors.items() if actor.hello is not None}

    def spawn(self, worker: int) -> None:
        """Start an actor; it reports once its self-test is passed."""
        handle = self._actor_class.remote(self._spec_ref, self._make_breaker, self._lexicon_ref)
        self._actors[worker] = _Actor(handle)
        self._calls[handle.hello.remote()] = _Call("hello", worker, 0)

    def assign(self, order: Assign) -> None:
        """Call the actor with the units; their trie is in its breaker already."""
        actor = self._actors.get(order.worker)
        if actor is None:
            self._reported.append(WorkerDown(order.worker, Death.died, "gone before it got work"))
            return
        actor.order, actor.beat_at_s = order, time.monotonic() + _BEAT_S
        ref = actor.handle.work.remote(order.assignment, order.units, None, order.replica)
        self._calls[ref] = _Call("work", order.worker, order.assignment)

    def retire(self, worker: int) -> None:
        """Kill the actor's process, also one that was stopped and does not hear what Ray tells it."""
        actor = self._actors.pop(worker, None)
        if actor is not None:
            self._calls = {ref: call for ref, call in self._calls.items() if call.worker != worker}
            if self._guard is not None and actor.hello is not None:
                self._guard.kill(actor.hello.pid)
            with contextlib.suppress(Exception):
                self._ray.kill(actor.handle, no_restart=True)

    def poll(self, timeout_s: float) -> list[Event]:
        """Return what has happened, waiting up to ``timeout_s`` for the first event."""
        try:
            return self._poll(timeout_s)
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            raise self._gone(error) from error

    def _poll(self, timeout_s: float) -> list[Event]:
        self._look_at_cluster()
        self._ask_for_beats()
        self._look_for_room()
        ready = self._ready(0.0 if self._reported else timeout_s)
        events, self._reported = self._reported, []
        for ref in ready:
            call = self._calls.pop(ref, None)  # gone when an answer before it ended the worker
            if call is not None:
                events += self._collect(ref, call)
        return events

    def _ready(self, timeout_s: float) -> list[Any]:
        """Return the calls that are answered, waiting for the first."""
        refs = list(self._calls)
        if not refs:
            time.sleep(min(timeout_s, 0.05))
            return []
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=timeout_s)
        if ready:
            ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        return list(ready)

    def show(self, report: Report) -> None:
        """Set the gauges that Ray's agents export."""
        self._metrics.show(report)

    def close(self) -> None:
        """Kill all actors and, if the cluster is ours, end it."""
        for worker in list(self._actors):
            self.retire(worker)
        self._calls = {}
        self._stack.close()

    def _ask_for_machines(self) -> None:
        """Make the autoscaler, if there is one, start machines for all workers, and end them when we leave."""
        from ray.autoscaler.sdk import request_resources

        request_resources(num_cpus=self._n_workers)
        self._stack.callback(request_resources, num_cpus=0)

    def _look_at_cluster(self) -> None:
        """Notice that a private cluster lost a vital process: Ray may be silent, and workers would start for ever."""
        if self._address is not None or time.monotonic() < self._look_at_s:
            return
        self._look_at_s = time.monotonic() + _LOOK_S
        dead = dead_part(self._ray)
        if dead:
            raise ClusterGoneError(f"its {dead} has ended")

    def _look_for_room(self) -> None:
        """Report how many workers a joined cluster has room for: its free processors and those that ours have."""
        if self._address is None or time.monotonic() < self._room_at_s:
            return
        self._room_at_s = time.monotonic() + _ROOM_S
        # A worker that is still starting may count in neither: too little room for a moment, never too much.
        free, every = self._ray.available_resources(), self._ray.cluster_resources()
        room = int(min(every.get("CPU", 0), free.get("CPU", 0) + len(self.pids)))
        if room != self._room:
            self._room = room
            self._reported.append(Room(room))

    def _ask_for_beats(self) -> None:
        """Ask workers that have been busy for long how they are."""
        now_s = time.monotonic()
        for number, actor in self._actors.items():
            if actor.order is not None and now_s >= actor.beat_at_s:
                actor.beat_at_s = now_s + _BEAT_S
                ref = actor.handle.status.options(concurrency_group="control").remote()
                self._calls[ref] = _Call("status", number, actor.order.assignment)

    def _collect(self, ref: Any, call: _Call) -> list[Event]:
        """Return the events that a finished call amounts to."""
        exceptions = self._ray.exceptions
        try:
            value = self._ray.get(ref)
        except exceptions.RayTaskError as error:  # the call itself raised; the actor lives
            return self._raised(call, str(error.cause or error))
        except exceptions.LocalRayletDiedError as error:
            raise self._gone(error) from error
        except exceptions.RayError as error:
            return self._lost(call.worker, cause_of(error, exceptions), brief(str(error)))
        return self._answered(call, value)

    def _answered(self, call: _Call, value: Any) -> list[Event]:
        actor = self._actors.get(call.worker)
        if actor is None:
            return []
        if call.kind == "hello":
            hello: Hello = value
            actor.hello = hello
            return [WorkerUp(call.worker, hello.host, hello.kernel_hash)]
        if call.kind == "status":
            status: Status = value
            return [Heartbeat(call.worker, call.assignment)] if status.assignment == call.assignment else []
        actor.order = None
        replies: tuple[Reply, ...] = value
        rows = [signed(call.worker, call.assignment, reply) for reply in replies]
        return [*rows, Returned(call.worker, call.assignment)]

    def _raised(self, call: _Call, message: str) -> list[Event]:
        """Give up a worker whose call raised: workers answer with failures, so something else is wrong with it."""
        order = self._actors[call.worker].order if call.worker in self._actors else None
        if call.kind == "work" and order is not None and len(order.units) == 1:
            self.retire(call.worker)
            failed = UnitFailed(call.worker, call.assignment, order.units[0], brief(message))
            return [failed, WorkerDown(call.worker, Death.died, brief(message))]
        return self._lost(call.worker, Death.died, brief(message))

    def _lost(self, worker: int, reason: Death, message: str) -> list[Event]:
        """Forget a worker that Ray says is gone; once, however many calls tell it."""
        if worker not in self._actors:
            return []
        self.retire(worker)
        return [WorkerDown(worker, reason, message)]

    def _gone(self, error: Exception) -> ClusterGoneError:
        """Return the error that tells the driver that the cluster is gone."""
        where = f" at {self._address!r}" if self._address is not None else ""
        return ClusterGoneError(
            f"the Ray cluster{where} is gone ({brief(str(error))}); "
            "what has arrived is stored, the same command goes on from there"
        )


def cause_of(error: Exception, exceptions: Any) -> Death:
    """Return why an actor is gone, from what Ray raised for its call."""
    text = str(error)
    if isinstance(error, exceptions.OutOfMemoryError) or any(sign in text for sign in _OOM_SIGNS[:2]):
        return Death.oom
    if isinstance(error, exceptions.RayActorError) and error.actor_init_failed:
        return Death.unfit
    node_errors = (exceptions.NodeDiedError, exceptions.ActorUnavailableError, exceptions.ObjectLostError)
    is_preempted = getattr(error, "preempted", False)
    if isinstance(error, node_errors) or is_preempted or any(sign in text.lower() for sign in _NODE_SIGNS):
        return Death.node
    return Death.died
