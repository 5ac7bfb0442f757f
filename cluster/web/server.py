"""An address of this machine with a random token, the server behind it, and who is answered there.

That is a browser of this machine that was given the token.  Everybody else gets a short refusal.
In this order, before anything else of a request is looked at: the host it is meant for (a foreign
site whose name leads to this machine says its own), then the token.  The token comes once, in the
address that ``orderly serve`` prints, and from then on in a cookie that scripts cannot read and
other sites cannot have sent.
"""

import asyncio
import contextlib
import hmac
import ipaddress
import os
import re
import secrets
import socket
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from types import FrameType
from urllib.parse import parse_qsl, urlencode

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.cluster.watch.view import Catalog
from orderly_boggle.cluster.web.app import make_app
from orderly_boggle.cluster.web.site import Site
from orderly_boggle.results.storage.files import PUBLISHED

DEFAULT_PORT = 8765
# connections that have not asked yet, and how long each may take to; who is not let in is answered
# and disconnected, so there is no limit on the others
HEADERS_S = 10.0
_TOKEN_BYTES = 24
LOOPBACK_NAMES = frozenset(("127.0.0.1", "localhost", "[::1]"))
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_LAST = {"Connection": "close"}  # of a refusal: who is refused leaves room for others
_NOT_LET_IN = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>orderly: not let in</title>
<main><h1>This browser has not been let in</h1>
<p>Open the address that <code>orderly serve</code> printed in the terminal: its token lets this
browser in. If the server was started again, it printed a new one.</p></main></html>
"""
_HOST = re.compile(r"(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?", re.ASCII)
_PLAIN_PATH = re.compile(r"/|(/[A-Za-z0-9_.-]+)+", re.ASCII)  # not //, which would name a host


class Guard:
    """Lets through what may be answered, and puts the security headers on every answer.

    Cookies of one host go to all its ports, so each server has its own name for ``cookie``.
    ``hosts`` are names that a request may be meant for, besides those of loopback.
    """

    def __init__(self, app: ASGIApp, token: str, cookie: str, hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._token = token.encode()
        self._cookie = cookie
        self._hosts = LOOPBACK_NAMES | frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:  # http: web sockets are switched off below
            answer = self._refusal(scope) or self._entrance(scope) or self._app
            # the server ends, and nobody waits for the answer
            with contextlib.suppress(asyncio.CancelledError):
                await answer(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        # h11 refuses requests with several
        host = _HOST.fullmatch(Headers(scope=scope).get("host", ""))
        if host is None or host[1].lower() not in self._hosts:
            said = "This server answers under the names of this machine only.\n"
            return PlainTextResponse(said, HTTPStatus.MISDIRECTED_REQUEST, _LAST)
        return None

    def _entrance(self, scope: Scope) -> Response | None:
        """Return a refusal without the token; if the address has it, a redirect that sets the
        cookie.
        """
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name == "token" and self._fits(value) for name, value in query):
            rest = urlencode([item for item in query if item[0] != "token"])
            path = "/"
            if _PLAIN_PATH.fullmatch(scope["path"]):
                path = scope["path"]
            way_on = RedirectResponse(path + (f"?{rest}" if rest else ""), HTTPStatus.SEE_OTHER)
            way_on.set_cookie(self._cookie, self._token.decode(), httponly=True, samesite="strict")
            return way_on
        cookies = cookie_parser(Headers(scope=scope).get("cookie", ""))
        if self._fits(cookies.get(self._cookie, "")):
            return None
        return HTMLResponse(_NOT_LET_IN, HTTPStatus.FORBIDDEN, _LAST)

    def _fits(self, value: str) -> bool:
        return hmac.compare_digest(value.encode("utf-8", "surrogatepass"), self._token)


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sender


class _Server(uvicorn.Server):
    """Ends at the first signal, within two seconds; a second Ctrl-C would only break that off with
    a traceback.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            super().handle_exit(sig, frame)


class _Protocol(H11Protocol):
    """Does not wait for a request for ever: who connects and says nothing would shut the server for
    everybody else.
    """

    _timer: asyncio.TimerHandle | None = None  # runs while no request is being answered

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
        elif self._timer is None:  # a part of the next request
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._timer = self.loop.call_later(HEADERS_S, self.transport.abort)

    def _forget(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


class LocalServer:
    """A server that is bound to a port of this machine, and answers about the runs at ``locations``
    once it runs.

    ``host`` is an address of loopback, or with ``lan`` not looked at: the network of this machine
    is answered, and nobody else.  Port 0: any; None: ``DEFAULT_PORT``, or any when that is taken.
    ``price``: of one core for an hour. ``address`` has the token.  Raises InputError when the host
    is not this machine, or a port or a run is not there.
    """

    def __init__(
        self, locations: Sequence[str], host: str, port: int | None, price: float, lan: bool = False
    ) -> None:
        catalog = Catalog(locations)
        self._socket = _bound(own_address() if lan else loopback(host), port)
        name, number = self._socket.getsockname()[:2]
        self.port = int(number)
        if ":" in name:
            shown = f"[{name}]"
        else:
            shown = name
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
    """Return an address that only this machine reaches. Raises InputError when ``host`` is another
    one.
    """
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host.strip("[]"))
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise InputError(
            f"--host {quote(host)} is not an address that only this machine reaches: expected "
            "127.0.0.1 or ::1; for devices of the network that this machine is in: --lan; for "
            f"one farther away a tunnel, such as: ssh -L {DEFAULT_PORT}:127.0.0.1:{DEFAULT_PORT} "
            "THIS-MACHINE"
        )
    return str(address)


def own_address() -> str:
    """Return the address by which other devices of a private network reach this machine; InputError
    if it has none.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # chooses the way there and sends nothing
            host = str(probe.getsockname()[0])
        except OSError as error:
            raise InputError(
                f"--lan: this machine is in no network ({error.strerror}): leave it out"
            ) from error
    address = ipaddress.ip_address(host)
    if not address.is_private or address.is_loopback:
        raise InputError(
            f"--lan: the address of this machine is {host}, which is not one of a private network "
            "such as 192.168.1.7; without --lan only this machine is answered"
        )
    return host


def _bound(host: str, port: int | None) -> socket.socket:
    if ":" in host:
        family = socket.AF_INET6
    else:
        family = socket.AF_INET
    wanted = (DEFAULT_PORT, 0) if port is None else (port,)
    for number in wanted:
        try:
            # early clients wait
            return socket.create_server((host, number), family=family, backlog=128)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
    raise InputError(
        f"cannot listen on {host} port {wanted[-1]}: {reason}; --port 0 takes a free one"
    )
