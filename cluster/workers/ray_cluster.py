"""Ray clusters, and who may talk to them: Ray lets anybody who reaches it run code.

    check_guarded   a cluster may be joined only if it turns away those without the token: both are
                    tried
    connected       Ray in this process, connected to a cluster that is there, or to one of its own
                    on this machine

Ray reads its settings once per process: they are in the environment before it is imported.
"""

import contextlib
import logging
import os
import re
import secrets
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from orderly_boggle.boardclass.distribution import install
from orderly_boggle.boardclass.errors import OrderlyError, UnavailableError
from orderly_boggle.boardclass.processes import python_path

LOCAL = "local"
CLIENT = "ray://"
AUTO = "auto"

_LOCAL_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # otherwise Ray replaces 127.0.0.1 by the machine's public address
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_NUM_REDIS_GET_RETRIES": "3",  # of 45 s each, and then Ray says what its log says last
}
# objects are small here; by default Ray takes nearly a third of the memory
_LOCAL_STORE_BYTES = 150 * 2**20
_ADDRESS = "RAY_ADDRESS"
_LONG_PATH = "AF_UNIX path"
_CLIENT_LOG = "ray.util.client.logsclient"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ANSWER_S = 60.0
_START_S = 300.0
_CONNECT_S = 10.0
_TURNED_AWAY = ("AuthenticationError", "InvalidAuthToken", "UNAUTHENTICATED")
# A call of Ray's client, without a token: ray.init would take half a minute to give up and not say
# why.
_PING = """
import sys, grpc
from ray.core.generated import ray_client_pb2 as client, ray_client_pb2_grpc as stubs
server = stubs.RayletDriverStub(grpc.insecure_channel(sys.argv[1]))
ping = client.ClusterInfoRequest(type=client.ClusterInfoType.PING)
server.ClusterInfo(ping, timeout=10, metadata=[("client_id", "orderly")])
"""
_MAKE_TOKEN = (
    "(umask 077; ray get-auth-token --generate) on one machine, copy ~/.ray/auth_token to the "
    "others, start them all with RAY_AUTH_MODE=token"
)


class RayError(OrderlyError):
    """Ray is not installed, does not start or cannot be joined."""


class UnguardedError(RayError):
    """A cluster that runs code for anybody who reaches it, or a token that others can read:
    refused.
    """


class ClusterSilentError(UnavailableError, RayError):
    """A cluster that does not answer; it may later."""


class ClusterGoneError(UnavailableError):
    """The cluster is gone; what arrived is stored.

    Ray cannot be ended any more: it waits for the cluster, and ends this process after a minute.
    """

    leaves_at_once = True
    kept: object = None


@contextlib.contextmanager
def connected(address: str, n_workers: int) -> Iterator[Any]:
    """Connect this process to a cluster and yield the ``ray`` module; disconnect it afterwards.

    The address is ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``.  ``local`` starts a cluster of
    ``n_workers`` processors (0: all) on this machine that ends with this process; it listens on the
    loopback interface, and asks for a token that is made here.

    Raises UnguardedError as :func:`check_token` does, RayError when Ray is in use in this process
    or does not start, ClusterSilentError when the cluster does not answer.
    """
    options: dict[str, Any] = {"address": address}
    if address == LOCAL:
        # a cluster on loopback is reached by all users of the machine
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        os.environ.update(_LOCAL_SETTINGS | {"PYTHONPATH": python_path()})
        options |= {
            "num_cpus": n_workers or None,
            "num_gpus": 0,
            "include_dashboard": False,
            "object_store_memory": _LOCAL_STORE_BYTES,
            "_node_ip_address": "127.0.0.1",
        }
    check_token()
    # what Ray gathers of repeated lines is printed by the thread that ends it
    os.environ.update(RAY_AUTH_MODE="token", RAY_DEDUP_LOGS="0")
    hook = sys.excepthook
    import ray

    # Ray's asks the head before it prints: one that was replaced ends this process from inside
    # (Ray 2.60), and nobody reads why
    sys.excepthook = hook
    # Ray's client sets the level of this one again, and warns when it was cut off for a moment
    logging.getLogger(_CLIENT_LOG).disabled = True
    if ray.is_initialized():
        raise RayError("Ray is in use in this process already; end it with ray.shutdown() first")
    try:
        _start(partial(ray.init, log_to_driver=False, logging_level=logging.CRITICAL, **options))
    except Exception as error:  # Ray raises a bare Exception when a node does not come up
        ray.shutdown()
        what = brief(str(error)) or f"no answer within {_START_S:.0f} s"
        if address != LOCAL:
            raise _silent(address, what) from error
        way_out = "--workers without --address needs no Ray"
        if _LONG_PATH in what:
            way_out = "set RAY_TMPDIR to a folder with a short name, such as /tmp"
        raise RayError(f"cannot start Ray: {what}; {way_out}") from error
    # answers of commands go to standard output: lines of Ray's log would be read as a part
    with contextlib.redirect_stdout(_WithoutRay(sys.stdout)):
        try:
            yield ray
        finally:
            ray.shutdown()


class _WithoutRay:
    """Standard output without what Ray's threads print there: of a node that dies, the last lines
    of its log.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        is_of_ray = threading.current_thread().name.startswith("ray_")
        if is_of_ray:
            return len(text)
        return self._stream.write(text)


def _start(init: Callable[[], Any]) -> None:
    """Call it in a thread, so that this one hears signals, keeps its handlers, and does not wait
    for ever.

    The thread stays, since processes that Ray starts end with the thread that started them.
    """
    started: Future[Any] = Future()

    def start() -> None:
        try:
            started.set_result(init())
        except Exception as error:  # noqa: BLE001 - raised by the caller
            started.set_exception(error)
        threading.Event().wait()

    threading.Thread(target=start, name="orderly-ray", daemon=True).start()
    started.result(_START_S)


def check_token() -> None:
    """Make sure that there is a token that Ray can show, and nobody else can read.

    Raises UnguardedError when tokens are switched off, there is none, or other users of this
    machine can read it.
    """
    mode = os.environ.get("RAY_AUTH_MODE", "token")
    if mode.lower() != "token":
        raise UnguardedError(
            f"RAY_AUTH_MODE is {mode!r}: expected 'token', or anybody who reaches the cluster "
            f"runs code; {_MAKE_TOKEN}"
        )
    if os.environ.get("RAY_AUTH_TOKEN"):
        return
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token").expanduser()
    try:
        permissions = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise UnguardedError(
            f"no Ray token in {str(path)!r} ({error.strerror}); {_MAKE_TOKEN}"
        ) from error
    # whoever reads the token may run code as us on every machine
    if permissions & 0o077:
        raise UnguardedError(
            f"the Ray token in {str(path)!r} can be read by others (mode {permissions:04o}): "
            f"expected 0600; chmod 600 {path}"
        )


def check_guarded(address: str) -> None:
    """Make sure that a cluster lets us in and turns away those who have no token, by trying both.

    Raises UnguardedError when the cluster lets strangers in, or there is no private token to show,
    RayError when our token is not the right one, ClusterSilentError when nothing answers at the
    address.
    """
    check_token()
    address = resolved(address)
    if address.startswith(CLIENT) and find_spec("grpc") is None:
        raise RayError(
            f"{_named(address)} needs the Ray client: pip install 'ray[client]', or run on a "
            "node of the cluster"
        )
    # tried, not asked: only a refusal shows that a cluster refuses
    stranger = _answer(address, RAY_AUTH_MODE="disabled")
    if stranger is None:
        raise UnguardedError(
            f"the Ray cluster at {address!r} runs code for anybody who reaches it: refused. Stop "
            f"it; {_MAKE_TOKEN}"
        )
    if any(sign in stranger for sign in _TURNED_AWAY):
        # ray.init is the friend of Ray's client, and says what is wrong with the token
        if address.startswith(CLIENT):
            friend = None
        else:
            friend = _answer(address, RAY_AUTH_MODE="token")
        if friend is None:
            return
        if any(sign in friend for sign in _TURNED_AWAY):
            raise RayError(
                f"the Ray cluster at {address!r} has a different token; copy "
                "~/.ray/auth_token from there"
            )
        stranger = friend
    raise _silent(address, brief(stranger))


def resolved(address: str) -> str:
    """Return the address that ``auto`` stands for if RAY_ADDRESS says so; Ray itself would look for
    a cluster on this machine before it looks at ``ray://`` there.

    >>> resolved("10.0.0.1:6379")
    '10.0.0.1:6379'
    """
    if address == AUTO:
        return os.environ.get(_ADDRESS) or address
    return address


def _silent(address: str, what: str) -> ClusterSilentError:
    """Return what to raise when nothing answers; the variable that may be wrong is named."""
    if address == AUTO:
        look = "ray status"
    else:
        look = f"ray status --address {address}"
    way_out = f"see that it runs: {look}"
    if address.startswith(CLIENT):
        way_out = "see that it runs there: ray status"
    if address == os.environ.get(_ADDRESS):
        way_out += f"; or unset {_ADDRESS}"
    return ClusterSilentError(
        f"cannot join the Ray cluster at {_named(address)}: {what}; {way_out}"
    )


def _named(address: str) -> str:
    of = ""
    if address == os.environ.get(_ADDRESS):
        of = f" (from {_ADDRESS})"
    return f"{address!r}{of}"


def host_and_port(address: str) -> tuple[str, int]:
    """Return where a cluster listens."""
    host, _, port = address.removeprefix(CLIENT).rpartition(":")
    return host.strip("[]"), int(port)


def _answer(address: str, **settings: str) -> str | None:
    """Return None when a cluster lets a caller in, a process of its own, otherwise what it or Ray
    says.
    """
    if address != AUTO:
        try:  # Ray takes a minute to give up where nothing listens
            socket.create_connection(host_and_port(address), _CONNECT_S).close()
        except (OSError, OverflowError) as error:
            return str(error)
    if address.startswith(CLIENT):
        command = ["-c", _PING, address.removeprefix(CLIENT)]
    else:
        command = ["-m", "ray.scripts.scripts", "status", "--address", address]
    try:
        done = subprocess.run(
            # without the current folder on the path: a file ray.py there would be run
            [sys.executable, "-P", *command],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            timeout=_ANSWER_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_ANSWER_S:.0f} s"
    if done.returncode == 0:
        return None
    return done.stderr.strip() or f"exit code {done.returncode}"


def brief(text: str) -> str:
    """Return the most telling line of an error, without colours: the last of a traceback, otherwise
    the first few.

    >>> brief("\\x1b[36mray::f()\\x1b[39m (pid=1)\\n  File 'x'\\nModuleNotFoundError: No module\\n")
    'ModuleNotFoundError: No module'
    """
    lines = [
        line.strip()
        for line in _COLOUR.sub("", text).splitlines()
        if line.strip() and not line.startswith("\t")
    ]
    if any(line.startswith(("File ", "ray::")) for line in lines):
        lines = lines[-1:]
    return " ".join(lines)[:400]


def check_installed() -> None:
    """Make sure that Ray is there, without importing it: that would read the settings. Raises
    RayError.
    """
    if find_spec("ray") is None:
        raise RayError(
            f"a cluster needs Ray: {install('cluster')}; --workers without --address needs none"
        )
