"""Ray clusters, and who may talk to them: Ray lets anybody who reaches it run code.

    private_cluster   one of our own on this machine: loopback only, a token of its own, no dashboard, no log forwarding
    check_guarded     an existing one may be joined only if it turns away those without the token
    joined_cluster    an existing one, joined as a driver

Each yields the ``ray`` module and puts the environment of this process back in the end.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from boardclass.distribution import install
from boardclass.errors import IncompleteError, OrderlyError
from boardclass.processes import python_path
from cluster.workers.ray_guard import Guard, guarded

CLIENT = "ray://"
LET_IN, TURNED_AWAY = "let in", "turned away"

_OBJECT_STORE_BYTES = 150 * 2**20
_VITAL = ("raylet", "gcs_server")  # processes without which a private cluster starts no worker
_KNOCK_S = 60.0
_MAKE_TOKEN = (
    "(umask 077; ray get-auth-token --generate) on one machine, copy ~/.ray/auth_token to the others, "
    "start them all with RAY_AUTH_MODE=token"
)


class RayError(OrderlyError):
    """Ray is not installed, does not start or cannot be joined."""


class UnguardedError(RayError):
    """A cluster that runs code for anybody who reaches it, or a token that others can read: refused."""


class ClusterGoneError(IncompleteError):
    """The cluster is gone: one that was joined, or a private one that does not start again; what arrived is stored."""


@contextlib.contextmanager
def private_folder() -> Iterator[Guard]:
    """Make the folder and the process group of a private cluster; see :mod:`cluster.workers.ray_guard`.

    Raises
    ------
    RayError
        When the temporary folder is full or cannot be written to.
    """
    with contextlib.ExitStack() as stack:
        try:
            guard = stack.enter_context(guarded())
        except OSError as error:
            raise RayError(f"Ray does not start: {error.strerror}; --workers 0 runs without it") from error
        yield guard


@contextlib.contextmanager
def private_cluster(n_workers: int, guard: Guard) -> Iterator[Any]:
    """Start a Ray cluster on this machine and yield the ``ray`` module; end it afterwards.

    Every listener is on loopback and asks for a token that is made here and kept in a file of mode 0600.  All files are
    in the guard's folder; processes are in the group of the one that calls this.

    Raises
    ------
    RayError
        When Ray is not installed, does not start, or is in use in this process.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_environment(_private_settings(guard.folder)))
        ray = import_ray()
        options: dict[str, Any] = {
            "address": "local",
            "num_cpus": max(n_workers, 1),
            "num_gpus": 0,
            "include_dashboard": False,
            "object_store_memory": _OBJECT_STORE_BYTES,
            "_node_ip_address": "127.0.0.1",
            "_temp_dir": str(guard.ray_folder),
        }
        _init(ray, options, "Ray does not start", "--workers 0 runs without it", n_tries=4)
        stack.callback(ray.shutdown)
        yield ray


def dead_part(ray: Any) -> str:
    """Return which vital process of the private cluster that this process started has ended; none: an empty text."""
    ended = dict(ray._private.worker._global_node.dead_processes())
    return next((name for name in _VITAL if name in ended), "")


@contextlib.contextmanager
def joined_cluster(address: str) -> Iterator[Any]:
    """Join an existing cluster and yield the ``ray`` module; leave it afterwards.

    Parameters
    ----------
    address : str
        ``auto``, ``HOST:PORT``, or ``ray://HOST:PORT``.

    Raises
    ------
    UnguardedError
        See :func:`check_guarded`.
    RayError
        When Ray is not installed, in use in this process, or the cluster does not answer.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_environment(token_settings()))
        ray = import_ray()
        _init(ray, {"address": address}, f"cannot join the Ray cluster at {address!r}", "see that it runs: ray status")
        stack.callback(ray.shutdown)
        yield ray


def token_settings() -> dict[str, str]:
    """Return the environment that makes Ray show its token.

    Raises
    ------
    UnguardedError
        When tokens are switched off, there is none, or other users of this machine can read it.
    """
    mode = os.environ.get("RAY_AUTH_MODE", "token")
    if mode.lower() != "token":
        raise UnguardedError(
            f"RAY_AUTH_MODE is {mode!r}: expected 'token', or anybody who reaches the cluster runs code; {_MAKE_TOKEN}"
        )
    if not os.environ.get("RAY_AUTH_TOKEN"):
        _check_token_file(Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"))
    return {"RAY_AUTH_MODE": "token"}


def _check_token_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UnguardedError(f"no Ray token in {str(path)!r} ({error.strerror}); {_MAKE_TOKEN}") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UnguardedError(
            f"the Ray token in {str(path)!r} can be read by others (mode {stat.S_IMODE(mode):04o}): "
            f"expected 0600; chmod 600 {path}"
        )


def check_guarded(address: str) -> None:
    """Make sure that a cluster lets us in and turns away those who have no token, by trying both.

    Raises
    ------
    UnguardedError
        When the cluster lets strangers in, or there is no private token to show.
    RayError
        When Ray is not installed, nothing answers at the address, or our token is not the right one.
    """
    settings = token_settings()
    import_ray()
    if address.startswith(CLIENT) and find_spec("grpc") is None:
        raise RayError(f"{address!r} needs the Ray client: pip install 'ray[client]', or run on a node of the cluster")
    tokens = {name: os.environ[name] for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH") if name in os.environ}
    stranger = _knock(address, {"RAY_AUTH_MODE": "disabled"})
    if stranger == LET_IN:
        raise UnguardedError(
            f"the Ray cluster at {address!r} runs code for anybody who reaches it: refused. Stop it; {_MAKE_TOKEN}"
        )
    friend = _knock(address, settings | tokens) if stranger == TURNED_AWAY else stranger
    if friend == TURNED_AWAY:
        raise RayError(f"the Ray cluster at {address!r} has another token than ours; copy ~/.ray/auth_token from there")
    if friend != LET_IN:
        raise RayError(f"cannot join the Ray cluster at {address!r}: {friend}; see that it runs: ray status")


def _knock(address: str, settings: dict[str, str]) -> str:
    """Return what ``cluster.workers.ray_knock`` says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH_")}
    environment |= {**settings, "PYTHONPATH": python_path()}
    command = [sys.executable, "-P", "-m", "cluster.workers.ray_knock", address]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_KNOCK_S, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer within {_KNOCK_S:.0f} s"
    said = done.stdout.strip().splitlines()
    return said[-1] if said else brief(done.stderr) or f"exit code {done.returncode}"


def _init(ray: Any, options: dict[str, Any], problem: str, way_out: str, n_tries: int = 1) -> None:
    """Call ``ray.init`` quietly, with this process's signal handlers kept; again when a process of it was killed."""
    if ray.is_initialized():
        raise RayError("Ray is in use in this process already; end it with ray.shutdown() first")
    handlers = _signal_handlers()
    try:
        ray.init(log_to_driver=False, logging_level=logging.CRITICAL, **options)
    except Exception as error:  # Ray raises a bare Exception when a node does not come up
        ray.shutdown()
        if n_tries > 1:
            return _init(ray, options, problem, way_out, n_tries - 1)
        raise RayError(f"{problem}: {brief(str(error))}; {way_out}") from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def brief(text: str) -> str:
    """Return the most telling line of an error: the last of a traceback, otherwise the first few."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("\t")]
    if any(line.startswith(("File ", "ray::")) for line in lines):
        lines = lines[-1:]
    return " ".join(lines)[:400]


def _private_settings(folder: Path) -> dict[str, str]:
    """Return the environment of a private cluster, inherited by all its processes."""
    token = folder / "token"
    with os.fdopen(os.open(token, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # otherwise Ray replaces 127.0.0.1 by the machine's public address
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_process_group_cleanup_enabled": "0",  # otherwise each worker gets a process group of its own
        # How long a driver on a busy machine waits for Ray.
        "RAY_gcs_rpc_server_reconnect_timeout_s": "30",
        "RAY_worker_niceness": "5",
        "PYTHONPATH": python_path(),
    }


@contextlib.contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """Change the environment for a while; a private cluster hides variables that would override its settings."""
    hidden = ("RAY_AUTH_TOKEN", "RAY_ADDRESS") if "RAY_AUTH_TOKEN_PATH" in settings else ()
    before = {name: os.environ.get(name) for name in (*settings, *hidden, "PYTHONBREAKPOINT")}  # Ray sets the last
    for name in hidden:
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


def import_ray() -> Any:
    """Return the ``ray`` module, with its settings taken from the environment as it is now.

    Raises
    ------
    RayError
        When it is not installed.
    """
    try:
        import ray
        import ray._private.ray_constants as constants
        import ray._private.worker as ray_worker
    except ImportError as error:
        raise RayError(f"workers need Ray: {install('cluster')}, or use --workers 0") from error
    # Otherwise all of this is read once per process, perhaps before the environment was set.
    constants.ENABLE_RAY_CLUSTER = constants.env_bool("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", sys.platform == "linux")
    raylet: Any = ray._raylet
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()
    # It prints a paragraph for every worker that dies; the scheduler handles deaths and the driver reports them.
    ray_worker.listen_error_messages = lambda *_: None
    return ray


def _signal_handlers() -> dict[int, Any]:
    """Return the handlers that ray.init replaces, to be put back."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
