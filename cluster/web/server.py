"""An address of this machine with a random token, and the server behind it."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import secrets
import socket
from collections.abc import Sequence
from types import FrameType
from typing import ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from boardclass.errors import InputError, quote
from cluster.answers.status import PUBLISHED
from cluster.watch.view import Catalog
from cluster.web.app import make_app
from cluster.web.guard import Guard
from cluster.web.site import Site

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8765
MAX_CLIENTS = 200
MAX_SILENT, HEADERS_S = 100, 10.0  # connections that have not asked yet, and how long each may take to
_TOKEN_BYTES = 24


class _Server(uvicorn.Server):
    """Ends at the first signal, within two seconds; a second Ctrl-C would only break that off with a traceback."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            super().handle_exit(sig, frame)


class _Protocol(H11Protocol):
    """Does not wait for a request for ever: who connects and says nothing would shut the server for everybody else."""

    waiting: ClassVar[dict[_Protocol, asyncio.TimerHandle]] = {}  # connections without a request, the oldest first

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        if len(self.waiting) > MAX_SILENT:
            next(iter(self.waiting))._drop()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
        elif self not in self.waiting:  # a part of the next request
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self.waiting[self] = self.loop.call_later(HEADERS_S, self._drop)

    def _forget(self) -> None:
        if timer := self.waiting.pop(self, None):
            timer.cancel()

    def _drop(self) -> None:
        self._forget()
        self.transport.abort()


class LocalServer:
    """A server that is bound to a port of this machine, and answers about what was ``given`` once it runs.

    ``host`` is an address of loopback, or with ``lan`` not looked at: the network of this machine is answered, and
    nobody else.  Port 0: any; None: ``DEFAULT_PORT``, or any when that is taken.  ``price``: of one core for an hour.
    ``address`` has the token.  Raises InputError when the host is not this machine, or a port or a run is not there.
    """

    def __init__(self, given: Sequence[str], host: str, port: int | None, price: float, lan: bool = False) -> None:
        catalog = Catalog(given)
        self._socket = _bound(own_address() if lan else loopback(host), port)
        name, number = self._socket.getsockname()[:2]
        self.port = int(number)
        shown = f"[{name}]" if ":" in name else name
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self.address = f"http://{shown}:{self.port}/?token={token}"
        records = Catalog([], str(PUBLISHED))
        app = make_app(Site(catalog, records, price, shown if lan else ""))
        config = uvicorn.Config(
            Guard(app, token, f"orderly-{self.port}", [shown]),
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            http=_Protocol,
            loop="asyncio",
            limit_concurrency=MAX_CLIENTS,
            timeout_graceful_shutdown=2,
        )
        self._server = _Server(config)

    def run(self) -> None:
        """Answer until Ctrl-C or SIGTERM."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Let :meth:`run` end, from another thread."""
        self._server.should_exit = True


def loopback(host: str) -> str:
    """Return an address that only this machine reaches. Raises InputError when ``host`` is another one."""
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host.strip("[]"))
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise InputError(
            f"--host {quote(host)} is not an address that only this machine reaches: expected 127.0.0.1 or ::1; for "
            "devices of the network that this machine is in: --lan; for one farther away a tunnel, such as: "
            f"ssh -L {DEFAULT_PORT}:127.0.0.1:{DEFAULT_PORT} THIS-MACHINE"
        )
    return str(address)


def own_address() -> str:
    """Return the address by which other devices of its network reach this machine.

    Raises InputError when it has none, or one that the whole internet may reach.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # chooses the way there and sends nothing
            host = str(probe.getsockname()[0])
        except OSError as error:
            raise InputError(
                f"--lan: this machine is in no network ({error.strerror}); without --lan it is local"
            ) from error
    address = ipaddress.ip_address(host)
    if not address.is_private or address.is_loopback:
        raise InputError(
            f"--lan: the address of this machine is {host}, which is not one of a private network such as 192.168.1.7; "
            "without --lan only this machine is answered"
        )
    return host


def _bound(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = (DEFAULT_PORT, 0) if port is None else (port,)
    for number in wanted:
        try:
            return socket.create_server((host, number), family=family, backlog=128)  # early clients wait
        except OSError as error:
            reason = os.strerror(error.errno or 0)
    raise InputError(f"cannot listen on {host} port {wanted[-1]}: {reason}; --port 0 takes a free one")
