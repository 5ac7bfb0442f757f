"""A web server of this process in a thread of its own, and plain requests to it: nothing is put
right on the way.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from orderly_boggle.cluster.web.server import LocalServer


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Asks a server as any program of this machine may; ``cookie`` is what a browser sends once it
    was let in.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        parts = urlsplit(address)
        self.host, self.port = parts.hostname, parts.port
        self.token = parse_qs(parts.query)["token"][0]
        self.cookie = {"Cookie": f"orderly-{self.port}={self.token}"}

    @property
    def root(self) -> str:
        return f"http://{self.host}:{self.port}"

    def ask(
        self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> Reply:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        asked = self.cookie if headers is None else headers
        connection.putrequest(method, path, skip_host="Host" in asked)
        for name, value in asked.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        reply = Reply(
            answer.status,
            {name.lower(): value for name, value in answer.getheaders()},
            answer.read(),
        )
        connection.close()
        return reply


@contextlib.contextmanager
def serving(*given: object, price: float = 0.02, lan: bool = False) -> Iterator[Client]:
    """Serve runs on a free port."""
    server = LocalServer([str(item) for item in given], "127.0.0.1", 0, price, lan)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Client(server.address)
    finally:
        server.stop()
        thread.join(30)


def asking(client: Client, path: str, cookie: str = "") -> socket.socket:
    """Connect and ask, without waiting for the answer."""
    made = socket.create_connection((client.host, client.port), timeout=60)
    made.sendall(f"GET {path} HTTP/1.1\r\nHost: {client.host}\r\n{cookie}\r\n".encode())
    return made


def cookie_of(client: Client) -> str:
    """Return the line that lets a client in."""
    return f"Cookie: {client.cookie['Cookie']}\r\n"
