"""A proxy in front of an S3-compatible server that behaves as real stores do on a bad day."""

from __future__ import annotations

import http.client
import re
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

_ENTRY = re.compile(rb"<Contents>.*?</Contents>", re.DOTALL)
_HOP_BY_HOP = ("connection", "transfer-encoding", "content-length", "keep-alive")


class Proxy(ThreadingHTTPServer):
    """Passes requests on, but for what it is told.

    Attributes
    ----------
    fails : Callable[[str, str], int]
        From method and path the status to answer with instead; 0: pass the request on; -1: do not
        answer.
    hides : Callable[[str], bool]
        Whether listings lack a key.
    denies : bool
        Whether a read of an object that is not there is refused, as for a key that may not list the
        whole bucket.
    alters : Callable[[bytes], bytes]
        What becomes of the content that is put.
    n_requests : Counter[str]
        Requests by method.
    """

    daemon_threads = True

    def __init__(self, upstream: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(upstream).netloc
        self.fails: Callable[[str, str], int] = lambda method, path: 0
        self.hides: Callable[[str], bool] = lambda key: False
        self.alters: Callable[[bytes], bytes] = lambda data: data
        self.denies = False
        self.n_requests: Counter[str] = Counter()
        self.over = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The endpoint."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Say nothing of a client that has gone."""

    def stop(self) -> None:
        """End it."""
        self.over.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def _pass_on(self) -> None:
        proxy, method = self.server, self.command
        proxy.n_requests[method] += 1
        status = proxy.fails(method, unquote(self.path))
        if "chunked" in self.headers.get("Transfer-Encoding", ""):  # so does Ceph 16
            status, self.close_connection = 411, True
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if status < 0:
            proxy.over.wait(30)
            self.close_connection = True
            return
        if status:
            self._answer(status, [("Content-Type", "application/xml")], _error(status))
            return
        if method == "PUT":
            data = proxy.alters(data)
        headers = {name.lower(): value for name, value in self.headers.items()}
        headers.pop("expect", None)
        headers["content-length"] = str(len(data))
        connection = http.client.HTTPConnection(proxy.upstream, timeout=60)
        connection.request(method, self.path, data, headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        if proxy.denies and response.status == 404 and method in ("GET", "HEAD"):
            self._answer(403, [("Content-Type", "application/xml")], _error(403))
            return
        if method == "GET" and "list-type=2" in self.path:
            body = _ENTRY.sub(self._kept, body)
        self._answer(response.status, response.getheaders(), body)

    def _kept(self, entry: re.Match[bytes]) -> bytes:
        found = re.search(rb"<Key>(.*?)</Key>", entry[0])
        key = found[1].decode() if found else ""
        return b"" if self.server.hides(key) else entry[0]

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        n_bytes = len(body)
        for name, value in headers:
            if name.lower() == "content-length" and self.command == "HEAD":
                n_bytes = int(value)
            elif name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(n_bytes))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _pass_on

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _error(status: int) -> bytes:
    names = {403: "AccessDenied", 411: "MissingContentLength", 503: "SlowDown"}
    name = names.get(status, "InternalError")
    return f"<?xml version='1.0'?><Error><Code>{name}</Code><Message>no</Message></Error>".encode()
