"""Workers as Ray actors: the executor of clusters.

    RayExecutor  one actor per worker number, no restarts and no retries by Ray: the scheduler
    decides

An actor (ray_actor.py) first says which code it has, and works only if that is ours.  It runs
kernels in its default concurrency group and says in another what it is busy with, while a kernel
runs.  Whatever Ray reports about a dead actor becomes one WorkerDown.

Machines come and go: the scheduler is told how many workers there is room for.  For those that are
asked for and have no room, actors wait for a processor, which an autoscaler sees.  Ray forgets them
when their driver is gone, and each driver has its own; ray.autoscaler.sdk.request_resources is one
number of the whole cluster, and outlives the driver that set it.
"""

import contextlib
import socket
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from orderly_boggle.boardclass.printable import counted
from orderly_boggle.cluster.scheduling.events import (
    Assign,
    Death,
    Event,
    Heartbeat,
    Returned,
    Room,
    Unplaced,
    WorkerDown,
    WorkerUp,
)
from orderly_boggle.cluster.workers import ray_actor, ray_inside
from orderly_boggle.cluster.workers.executors import Executor
from orderly_boggle.cluster.workers.ray_cluster import (
    CLIENT,
    ClusterGoneError,
    brief,
    connected,
    host_and_port,
    resolved,
)
from orderly_boggle.cluster.workers.worker import OUT_OF_MEMORY, Hello, MakeBreaker
from orderly_boggle.results.log_events import Report
from orderly_boggle.search.breaker import Spec

_BEAT_S = 30.0
_ROOM_S = 3.0
_ANSWER_S = 3.0
# a call that has ended waits for others, so long for each under way: to look at 4,096 takes 4 ms
_GATHER_S = 25e-6
# how long the head of the cluster may not answer; Ray would end this process after a minute
_HEAD_S = 15.0
# an actor that has found no processor after this, while none is free, is given up
_PLACE_S = 300.0
_MOST_SEATS = 256  # so many processors are asked of an autoscaler at a time
_NODE_SIGNS = ("node has died", "owner has died")  # the owner of all actors is the driver
# Ray's own texts are pages long; where a worker could not start, they hold the reason.
_WORDS = {
    "died": "its process ended; the logs of Ray on its machine say how",
    "node": "its machine is gone",
    "oom": f"Ray ended it: {OUT_OF_MEMORY}",
}
_OOM_SIGNS = ("memory monitor", "running low on memory")


class _Call(NamedTuple):
    kind: str  # who, make, work, beat; seat: who of one that is no worker yet
    worker: int  # of a seat: its number, below 0
    assignment: int


@dataclass
class _Seat:
    """An actor that was not asked for by the scheduler: it waits for a processor, so that an
    autoscaler sees what we lack.  The next worker is made of it.
    """

    handle: Any
    who: dict[str, str] | None = None  # None: it waits


@dataclass
class _Actor:
    handle: Any
    asked_at_s: float
    machine: str | None = None  # None: it has no processor yet, as far as is known
    hello: Hello | None = None
    order: Assign | None = None
    beat_at_s: float = 0.0


class RayExecutor(Executor):
    """Workers on a Ray cluster at an address (see
    :func:`orderly_boggle.cluster.workers.ray_cluster.connected`).

    An autoscaler is asked for ``n_workers`` processors; with ``local`` it is those of the
    cluster.  0: the cluster is taken as it is.  ``make_breaker`` makes the
    breaker of each worker, by default the tested real one.
    """

    def __init__(
        self, spec: Spec, n_workers: int, make_breaker: MakeBreaker | None = None, *, address: str
    ) -> None:
        self._spec = spec
        self._n_workers = n_workers
        self._make_breaker = make_breaker
        self._address = resolved(address)
        self._stack = contextlib.ExitStack()
        self._actors: dict[int, _Actor] = {}
        self._calls: dict[Any, _Call] = {}
        self._reported: list[Event] = []
        self._barred: set[str] = set()
        self._seats: dict[int, _Seat] = {}
        self._n_seats = 0  # so far
        self._n_open: int | None = None  # units without a verdict, once that is known
        self._ray: Any = None
        self._there = ray_inside.Processors({}, {})
        self._room: int | None = None
        self._room_at_s = 0.0
        self._is_gone = False  # then nothing may be asked of Ray, not even to end

    def __enter__(self) -> Self:
        self._ray = ray = self._stack.enter_context(connected(self._address, self._n_workers))
        # by value: the actor must say which code its machine has before any of ours is imported
        # there
        ray.cloudpickle.register_pickle_by_value(ray_actor)
        self._actor_class = ray.remote(
            max_restarts=0, max_task_retries=0, num_cpus=1, concurrency_groups={"control": 1}
        )(ray_actor.RemoteWorker)
        self._installed = ray_actor.installed()
        # once for the cluster: the word list would travel again with each actor
        self._spec_ref = ray.put(self._spec)
        self._head = Head(self._address, ray)
        asked = self._spec.question
        self._metrics = RayMetrics(f"{asked.dims} cutoff {asked.cutoff}")
        return self

    @property
    def pids(self) -> dict[int, int]:
        """Process ids of the workers that are up, by worker number."""
        actors = self._actors.items()
        return {number: actor.hello.pid for number, actor in actors if actor.hello is not None}

    def spawn(self, worker: int) -> None:
        """Start an actor, or take one that waits already; it reports once its self-test is
        passed.
        """
        now_s = time.monotonic()
        if not self._seats:
            handle = self._new_actor()
            self._actors[worker] = _Actor(handle, now_s)
            self._calls[handle.who.remote()] = _Call("who", worker, 0)
            return
        # one that has its processor already works at once; any other would have to be placed
        # first
        number = max(self._seats, key=lambda n: self._seats[n].who is not None)
        seat = self._seats.pop(number)
        self._actors[worker] = _Actor(seat.handle, now_s)
        for ref, call in self._calls.items():
            # the call under way goes over to the worker: its answer says where the actor is
            if call.worker == number:
                self._calls[ref] = _Call("who", worker, 0)
        if seat.who is not None:
            self._reported += self._answered(_Call("who", worker, 0), seat.who)

    def assign(self, order: Assign) -> None:
        """Call the actor with the units."""
        actor = self._actors.get(order.worker)
        # the scheduler learns of a death only with the next poll: its units have to come back to
        # it
        if actor is None:
            self._reported.append(WorkerDown(order.worker, "died", "gone before it got work"))
            return
        actor.order = order
        actor.beat_at_s = time.monotonic() + _BEAT_S
        ref = actor.handle.work_through.remote(order)
        self._calls[ref] = _Call("work", order.worker, order.assignment)

    def retire(self, worker: int) -> None:
        """Kill the actor."""
        actor = self._actors.pop(worker, None)
        if actor is not None:
            self._calls = {ref: call for ref, call in self._calls.items() if call.worker != worker}
            self._kill(actor.handle)

    def bar(self, machine: str) -> None:
        """Let no actor be placed there any more; those that might be are asked for anew."""
        self._barred.add(machine)
        for seat in list(self._seats):
            self._leave(seat)
        self._room_at_s = 0.0

    def poll(self, timeout_s: float) -> list[Event]:
        """Return what has happened, waiting up to ``timeout_s`` for the first event."""
        try:
            self._ask_for_beats()
            self._look_for_room()
            # what was noticed without Ray is not to wait for Ray
            ready = self._ready(0.0 if self._reported else timeout_s)
            events = self._reported
            self._reported = []
            for ref in ready:
                call = self._calls.pop(ref, None)  # gone when an answer before it ended the worker
                if call is not None:
                    events += self._collect(ref, call)
        # whatever single calls raise was taken care of: what is left concerns the cluster
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            raise self._gone(error) from error
        return events

    def _ready(self, timeout_s: float) -> list[Any]:
        refs = list(self._calls)
        if not refs:
            time.sleep(min(timeout_s, 0.05))
            return []
        # one at first, so that a single worker is answered at once; then all that came meanwhile
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=timeout_s)
        if ready:
            time.sleep(len(refs) * _GATHER_S)
            ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        return list(ready)

    def show(self, report: Report) -> None:
        """Set the gauges that Ray's agents export."""
        self._n_open = report.n_open
        self._metrics.show(report)

    def waiting(self) -> str:
        """Return which processors are waited for, and who has them; or, while no worker is ready,
        how many are on their way; empty: nothing is waited for.
        """
        ours = self._placed()
        n_lacking = self._wanted() - ours.total()
        if n_lacking <= 0:
            return self._setting_up()
        text = f"waiting for {counted(n_lacking, 'more processor' if ours else 'processor')}"
        starting = any(call.kind in ("who", "seat") for call in self._calls.values())
        there = self._there.describe(ours, self._barred, starting=starting)
        return f"{text} at {self._address}: {there}"

    def _setting_up(self) -> str:
        if self.pids or not self._actors:
            return ""
        text = f"waiting for {counted(len(self._actors), 'worker')} at {self._address}"
        return f"{text} to load words and kernels ({ray_inside.NICENESS})"

    def close(self) -> None:
        """Kill all actors and leave the cluster, or end it if it is ours."""
        if self._is_gone:
            return
        for worker in list(self._actors):
            self.retire(worker)
        for seat in list(self._seats):
            self._leave(seat)
        self._stack.close()

    def _new_actor(self) -> Any:
        if not self._barred:
            return self._actor_class.remote()
        elsewhere = {"ray.io/node-id": f"!in({','.join(sorted(self._barred))})"}
        return self._actor_class.options(label_selector=elsewhere).remote()

    def _kill(self, handle: Any) -> None:
        # it may be dead, or its machine gone: what mattered is that it does not work any more
        with contextlib.suppress(Exception):
            self._ray.kill(handle, no_restart=True)

    def _placed(self) -> Counter[str]:
        """Return how many of our workers have a processor, by machine."""
        placed = Counter(
            actor.machine for actor in self._actors.values() if actor.machine is not None
        )
        placed.update(seat.who["machine"] for seat in self._seats.values() if seat.who is not None)
        return placed

    def _wanted(self) -> int:
        """Return how many workers are asked for: all that the user named, but no more than there is
        work for; without a number one, and what there is besides.
        """
        wanted = self._n_workers or 1
        if self._n_open is None:
            return wanted
        return min(wanted, self._n_open)

    def _look_for_room(self) -> None:
        """Report how many workers the cluster has room for: its free processors and those that ours
        have.
        """
        now_s = time.monotonic()
        if now_s < self._room_at_s:
            return
        self._room_at_s = now_s + _ROOM_S
        there = self._head.look()
        if there is None:
            return
        # A worker that is just being placed may count in neither: too little room for a moment,
        # never too much.
        self._there = there
        room = there.room(self._placed(), self._barred)
        if room != self._room:
            self._room = room
            self._reported.append(Room(room))
        self._give_up_unplaced(now_s, room)
        if self._n_workers:
            self._ask_for_processors(room)

    def _give_up_unplaced(self, now_s: float, room: int) -> None:
        """Give up actors that wait for a processor that somebody else has: it was free a moment
        before, or its machine leaves.
        """
        n_placed = self._placed().total()
        for number, actor in list(self._actors.items()):
            is_late = actor.machine is None and now_s - actor.asked_at_s > _PLACE_S
            if is_late and n_placed >= room:
                self.retire(number)
                self._reported.append(Unplaced(number))

    def _ask_for_processors(self, room: int) -> None:
        """Have an actor wait for each processor that lacks: an autoscaler starts machines for
        them.
        """
        n_lacking = min(self._wanted() - room, _MOST_SEATS)
        waiting = [number for number, seat in self._seats.items() if seat.who is None]
        for number in waiting[max(0, n_lacking) :]:
            self._leave(number)
        for _ in range(n_lacking - len(waiting)):
            self._n_seats += 1
            seat = self._seats[-self._n_seats] = _Seat(self._new_actor())
            self._calls[seat.handle.who.remote()] = _Call("seat", -self._n_seats, 0)

    def _leave(self, number: int) -> None:
        """Give up an actor that no worker was made of."""
        self._calls = {ref: call for ref, call in self._calls.items() if call.worker != number}
        self._kill(self._seats.pop(number).handle)

    def _ask_for_beats(self) -> None:
        now_s = time.monotonic()
        for number, actor in self._actors.items():
            # in a thread of the actor's own: a kernel holds the other one for minutes
            if actor.order is not None and now_s >= actor.beat_at_s:
                actor.beat_at_s = now_s + _BEAT_S
                ref = actor.handle.busy_with.options(concurrency_group="control").remote()
                self._calls[ref] = _Call("beat", number, actor.order.assignment)

    def _collect(self, ref: Any, call: _Call) -> list[Event]:
        exceptions = self._ray.exceptions
        if call.kind == "seat":
            self._room_at_s = 0.0  # it has a processor, or was lost: the room is another one
            try:
                self._seats[call.worker].who = self._ray.get(ref)
            except exceptions.LocalRayletDiedError:
                raise
            except exceptions.RayError:
                self._leave(call.worker)
            return []
        try:
            value = self._ray.get(ref)
        except exceptions.RayTaskError as error:  # the call itself raised; the actor lives
            reason: Death = "unfit" if call.kind in ("who", "make") else "died"
            return self._lost(call.worker, reason, brief(str(error.cause or error)))
        except exceptions.LocalRayletDiedError:
            raise  # the cluster is gone
        except exceptions.RayError as error:
            reason = cause_of(error, exceptions)
            return self._lost(call.worker, reason, _WORDS.get(reason) or brief(str(error)))
        return self._answered(call, value)

    def _answered(self, call: _Call, value: Any) -> list[Event]:
        actor = self._actors[call.worker]
        if call.kind == "who":
            actor.machine = value["machine"]
            if fault := ray_actor.difference(value, self._installed):
                return self._lost(call.worker, "unfit", f"{value['host']}: {fault}")
            ref = actor.handle.make.remote(self._spec_ref, self._make_breaker)
            self._calls[ref] = _Call("make", call.worker, 0)
            return []
        if call.kind == "make":
            actor.hello = value
            return [WorkerUp(call.worker, value.host, value.kernel_hash, actor.machine or "")]
        if call.kind == "beat":
            if value == call.assignment:
                return [Heartbeat(call.worker, call.assignment)]
            return []
        actor.order = None
        assert actor.hello is not None, "it was given work after it came up"
        answers = [reply.event(actor.hello, call.worker, call.assignment) for reply in value]
        return [*answers, Returned(call.worker, call.assignment)]

    def _lost(self, worker: int, reason: Death, message: str) -> list[Event]:
        """Forget a worker that Ray says is gone, and its other calls: it is told once."""
        machine = self._actors[worker].machine or ""
        self.retire(worker)
        return [WorkerDown(worker, reason, message, machine)]

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
        context = ray.get_runtime_context()
        if not address.startswith(CLIENT):
            address = context.gcs_address
        self._address = address
        self._ray = ray
        self._own_job = context.get_job_id()
        self._answered_at_s = time.monotonic()

    def look(self) -> ray_inside.Processors | None:
        """Return the processors of the cluster; None while it does not answer.

        Raises ConnectionError when it has not answered for a while, or is that of another cluster.
        """
        try:
            # at once, where nothing listens
            socket.create_connection(host_and_port(self._address), _ANSWER_S).close()
            there = ray_inside.look(self._ray, self._own_job, _ANSWER_S)
        except ray_inside.ReplacedError as error:
            raise ConnectionError(str(error)) from error
        except OSError as error:
            if time.monotonic() - self._answered_at_s > _HEAD_S:
                raise ConnectionError(f"its head does not answer: {error}") from error
            return None
        self._answered_at_s = time.monotonic()
        return there


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
    if is_of_node:
        return "node"
    return "died"


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
