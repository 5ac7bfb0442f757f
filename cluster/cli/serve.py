"""``orderly serve``: the web application on this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import typer

from boardclass.distribution import install
from boardclass.errors import InputError
from cluster.streams import console, tell


def serve(given: Sequence[str], port: int | None, host: str, price: float, *, opens: bool) -> None:
    """Print the address with its token, and answer there until Ctrl-C."""
    try:
        from cluster.web.server import LocalServer
    except ImportError as error:
        raise InputError(f"serving needs {error.name}: {install('serve')}") from error
    server = LocalServer(given, host, port, price)
    console().print(server.address, markup=False, soft_wrap=True)
    tell("Open it in a browser of this machine. Whoever has the address may look. Ctrl-C ends it.")
    if opens:
        typer.launch(server.address)
    with contextlib.suppress(KeyboardInterrupt):  # that is how it ends
        server.run()
