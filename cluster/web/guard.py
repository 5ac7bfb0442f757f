"""Who is answered: a browser of this machine that was given the token.  Everybody else gets a short refusal.

In this order, before anything else of a request is looked at: the host it is meant for (a foreign site whose name leads
to this machine says its own), the method, the length of the address, the token.  The token comes once, in the address
that ``orderly serve`` prints, and from then on in a cookie that scripts cannot read and other sites cannot have sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import re
from collections.abc import Iterable
from http import HTTPStatus
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = frozenset(("127.0.0.1", "localhost", "[::1]"))
METHODS = ("GET", "HEAD")
MAX_ADDRESS_CHARACTERS = 4096
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_NOT_LET_IN = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>orderly: not let in</title>
<main><h1>This browser has not been let in</h1>
<p>Open the address that <code>orderly serve</code> printed in the terminal: its token lets this browser in.
If the server was started again, it printed a new one.</p></main></html>
"""
_HOST = re.compile(r"(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?", re.ASCII)
_PLAIN_PATH = re.compile(r"/|(/[A-Za-z0-9_.-]+)+", re.ASCII)  # not //, which would name a host


class Guard:
    """Lets through what may be answered, and puts the security headers on every answer.

    Cookies of one host go to all its ports, so each server has its own name for ``cookie``.  ``hosts`` are names that a
    request may be meant for, besides those of loopback.
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
        elif scope["type"] == "http":
            answer = self._refusal(scope) or self._entrance(scope) or self._app
            with contextlib.suppress(asyncio.CancelledError):  # the server ends, and nobody waits for the answer
                await answer(scope, receive, _with_headers(send))
        else:  # web sockets: nothing here uses them
            await send({"type": "websocket.close", "code": 1008})

    def _refusal(self, scope: Scope) -> Response | None:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        host = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if host is None or host[1].lower() not in self._hosts:
            said = "This server answers under the names of this machine only.\n"
            return PlainTextResponse(said, HTTPStatus.MISDIRECTED_REQUEST)
        if scope["method"] not in METHODS:
            allowed = {"Allow": ", ".join(METHODS)}
            return PlainTextResponse("Nothing can be changed here.\n", HTTPStatus.METHOD_NOT_ALLOWED, allowed)
        if len(scope["path"]) + len(scope["query_string"]) > MAX_ADDRESS_CHARACTERS:
            return PlainTextResponse("The address is too long.\n", HTTPStatus.REQUEST_URI_TOO_LONG)
        return None

    def _entrance(self, scope: Scope) -> Response | None:
        """Return a refusal without the token; if the address has it, a redirect that sets the cookie."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name == "token" and self._fits(value) for name, value in query):
            rest = urlencode([item for item in query if item[0] != "token"])
            path = scope["path"] if _PLAIN_PATH.fullmatch(scope["path"]) else "/"
            way_on = RedirectResponse(path + (f"?{rest}" if rest else ""), HTTPStatus.SEE_OTHER)
            way_on.set_cookie(self._cookie, self._token.decode(), httponly=True, samesite="strict")
            return way_on
        cookies = cookie_parser(Headers(scope=scope).get("cookie", ""))
        if self._fits(cookies.get(self._cookie, "")):
            return None
        return HTMLResponse(_NOT_LET_IN, HTTPStatus.FORBIDDEN)

    def _fits(self, value: str) -> bool:
        return hmac.compare_digest(value.encode("utf-8", "surrogatepass"), self._token)


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sender
