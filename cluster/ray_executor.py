"""Workers as Ray actors; the only file that knows Ray.

    start_ray    a private local cluster: loopback only, token auth, no dashboard, no log forwarding
    RayExecutor  one actor per worker number, no restarts and no retries by Ray: the scheduler decides

An actor runs kernels in its default concurrency group and answers ``status`` and ``cancel`` in another, while a kernel
runs.  Whatever Ray reports about a dead actor becomes one WorkerDown; a local cluster that breaks down altogether is
started anew.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from boardclass.errors import OrderlyError
from cluster.events import Assign, Death, Event, Heartbeat, Returned, UnitFailed, WorkerDown, WorkerUp
from cluster.executors import events_of
from cluster.worker import Hello, MakeBreaker, Reply, Status, Worker

if TYPE_CHECKING:
    from search.breaker import Spec

_OBJECT_STORE_BYTES = 150 * 2**20
_BEAT_S = 30.0
_ROOT = Path(__file__).resolve().parent.parent
_OOM_SIGNS = ("memory monitor", "running low on memory", "out of memory (OOM)", "OutOfMemory")


class RayError(OrderlyError):
    """Ray is not installed or does not start."""


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
    """Workers on a Ray cluster: one of our own on this machine, or one that is there.

    Parameters
    ----------
    spec : Spec
        Goes once through the object store.
    n_workers : int
        Slots of a local cluster.
    make_breaker : callable, optional
        Makes the breaker of each worker; the tested real one by default.
    address : str, optional
        An existing cluster, such as ``auto``; None starts a local one.
    """

    def __init__(
        self, spec: Spec, n_workers: int, make_breaker: MakeBreaker | None = None, *, address: str | None = None
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

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        self._ray = ray = self._stack.enter_context(start_ray(self._n_workers, self._address))
        options = {"max_restarts": 0, "max_task_retries": 0, "num_cpus": 1, "concurrency_groups": {"control": 1}}
        self._actor_class = ray.remote(**options)(Worker)
        self._spec_ref = ray.put(self._spec)

    @property
    def pids(self) -> dict[int, int]:
        """Process ids of the workers that are up, by worker number."""
        return {number: actor.hello.pid for number, actor in self._actors.items() if actor.hello is not None}

    def spawn(self, worker: int) -> None:
        """Start an actor; it reports once its self-test is passed."""
        handle = self._actor_class.remote(self._spec_ref, self._make_breaker)
        self._actors[worker] = _Actor(handle)
        self._calls[handle.hello.remote()] = _Call("hello", worker, 0)

    def assign(self, order: Assign) -> None:
        """Call the actor with the units; their trie is in its breaker already."""
        actor = self._actors.get(order.worker)
        if actor is None:
            self._reported.append(WorkerDown(order.worker, Death.died, "gone before it got work"))
            return
        actor.order, actor.beat_at_s = order, time.monotonic() + _BEAT_S
        ref = actor.handle.work.remote(order.assignment, order.units)
        self._calls[ref] = _Call("work", order.worker, order.assignment)

    def retire(self, worker: int) -> None:
        """Kill the actor's process."""
        actor = self._actors.pop(worker, None)
        if actor is not None:
            self._calls = {ref: call for ref, call in self._calls.items() if call.worker != worker}
            with contextlib.suppress(Exception):
                self._ray.kill(actor.handle, no_restart=True)

    def poll(self, timeout_s: float) -> list[Event]:
        """Return what has happened, waiting up to ``timeout_s`` for the first event."""
        self._ask_for_beats()
        events, self._reported = self._reported, []
        if not self._calls:
            if not events:
                time.sleep(min(timeout_s, 0.05))
            return events
        try:
            refs = list(self._calls)
            ready, _ = self._ray.wait(refs, num_returns=1, timeout=0 if events else timeout_s)
            if ready:
                ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        except self._ray.exceptions.RayError as error:
            return events + self._restart(error)
        for ref in ready:
            call = self._calls.pop(ref, None)
            if call is not None:
                events += self._collect(ref, call)
        return events

    def close(self) -> None:
        """Kill all actors and, if the cluster is ours, end it."""
        for worker in list(self._actors):
            self.retire(worker)
        self._calls = {}
        self._stack.close()

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
            return self._restart(error)
        except exceptions.RayError as error:
            return self._lost(call.worker, cause_of(error, exceptions), _brief(str(error)))
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
        rows = [events_of(call.worker, call.assignment, reply) for reply in replies]
        return [*rows, Returned(call.worker, call.assignment)]

    def _raised(self, call: _Call, message: str) -> list[Event]:
        """Give up a worker whose call raised: workers answer with failures, so something else is wrong with it."""
        order = self._actors[call.worker].order if call.worker in self._actors else None
        if call.kind == "work" and order is not None and len(order.units) == 1:
            self.retire(call.worker)
            failed = UnitFailed(call.worker, call.assignment, order.units[0], _brief(message))
            return [failed, WorkerDown(call.worker, Death.died, _brief(message))]
        return self._lost(call.worker, Death.died, _brief(message))

    def _lost(self, worker: int, reason: Death, message: str) -> list[Event]:
        """Forget a worker that Ray says is gone; once, however many calls tell it."""
        if worker not in self._actors:
            return []
        self.retire(worker)
        return [WorkerDown(worker, reason, message)]

    def _restart(self, error: Exception) -> list[Event]:
        """Start a local cluster anew after its raylet died; all workers are lost, none is to blame."""
        if self._address is not None:
            raise RayError(f"the Ray cluster at {self._address!r} is gone: {_brief(str(error))}") from error
        lost = list(self._actors)
        self._actors, self._calls = {}, {}
        self._stack.close()
        self._start()
        return [WorkerDown(worker, Death.node, _brief(str(error))) for worker in lost]


def cause_of(error: Exception, exceptions: Any) -> Death:
    """Return why an actor is gone, from what Ray raised for its call."""
    text = str(error)
    if isinstance(error, exceptions.OutOfMemoryError) or any(sign in text for sign in _OOM_SIGNS[:2]):
        return Death.oom
    if isinstance(error, exceptions.RayActorError) and error.actor_init_failed:
        return Death.unfit
    node_errors = (exceptions.NodeDiedError, exceptions.ActorUnavailableError, exceptions.ObjectLostError)
    if isinstance(error, node_errors) or getattr(error, "preempted", False) or "node has died" in text.lower():
        return Death.node
    return Death.died


def _brief(text: str) -> str:
    """Return the line of an error that tells most: the last of a traceback, otherwise the first few."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("\t")]
    if any(line.startswith(("File ", "ray::")) for line in lines):
        lines = lines[-1:]
    return " ".join(lines)[:400]


@contextlib.contextmanager
def start_ray(n_workers: int, address: str | None = None) -> Iterator[Any]:
    """Start a local Ray cluster, or connect to one, and yield the ``ray`` module; end it afterwards.

    Local: every listener is on loopback and asks for a token that is made here, kept in a file of mode 0600 and removed
    in the end.  The environment of this process is changed only as long as the cluster runs.

    Raises
    ------
    RayError
        When Ray is not installed, does not start, or another cluster runs in this process.
    """
    with contextlib.ExitStack() as stack:
        if address is None:
            stack.enter_context(_environment(_local_settings(stack)))
        ray = _import_ray(is_local=address is None)
        if ray.is_initialized():
            raise RayError("Ray is in use in this process already; end it with ray.shutdown() first")
        handlers = _signal_handlers()
        try:
            _init(ray, n_workers, address)
        except (RuntimeError, ConnectionError, ValueError, OSError) as error:
            ray.shutdown()
            raise RayError(f"Ray does not start: {_brief(str(error))}; --workers 0 runs without it") from error
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        stack.callback(ray.shutdown)
        yield ray


def _init(ray: Any, n_workers: int, address: str | None) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address is not None:
        ray.init(address=address, **options)
        return
    ray.init(
        address="local",
        num_cpus=max(n_workers, 1),
        num_gpus=0,
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE_BYTES,
        _node_ip_address="127.0.0.1",
        **options,
    )


def _local_settings(stack: contextlib.ExitStack) -> dict[str, str]:
    """Return the environment of a private local cluster, inherited by all its processes."""
    folder = Path(tempfile.mkdtemp(prefix="orderly-"))  # mode 0700
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    token = folder / "token"
    with os.fdopen(os.open(token, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # otherwise Ray replaces 127.0.0.1 by the machine's public address
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_gcs_rpc_server_reconnect_timeout_s": "15",  # how long Ray's own agents outlive a driver that was killed
        "RAY_worker_niceness": "5",
        "PYTHONPATH": os.pathsep.join(paths),
    }


@contextlib.contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    stronger = ("RAY_AUTH_TOKEN", "RAY_ADDRESS")  # would win over our settings
    before = {name: os.environ.get(name) for name in (*settings, *stronger, "PYTHONBREAKPOINT")}  # Ray sets the last
    for name in stronger:
        os.environ.pop(name, None)
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _import_ray(*, is_local: bool) -> Any:
    try:
        import ray
        import ray._private.ray_constants as constants
        import ray._private.worker as ray_worker
    except ImportError as error:
        raise RayError("workers need Ray: pip install 'orderly[cluster]', or use --workers 0") from error
    # Read when Ray is first imported, which a test or a notebook may have done before us.
    constants.ENABLE_RAY_CLUSTER = not is_local
    # Prints a paragraph for every worker that dies; deaths are the scheduler's business and are reported by the driver.
    ray_worker.listen_error_messages = lambda *_: None
    # The token is read once per process otherwise, and ours is a new one each time.
    with contextlib.suppress(AttributeError):  # before Ray 2.52
        raylet: Any = ray._raylet
        raylet.Config.initialize("")
        raylet.AuthenticationTokenLoader.instance().reset_cache()
    return ray


def _signal_handlers() -> dict[int, Any]:
    """Return the handlers that ray.init replaces, to be put back."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
