"""``orderly serve``: the web application on this machine."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from boardclass.distribution import install
from boardclass.errors import InputError
from cluster.answers.render import console, tell
from cluster.cli.options import RunsArgument


def serve(
    given: RunsArgument = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", min=0, max=65535, help="0: any.", show_default="8765 or a free one"),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="127.0.0.1 or ::1: this machine only.")
    ] = "127.0.0.1",
    price: Annotated[float, typer.Option(metavar="P", min=0, help="Price of one core for an hour.")] = 0.02,
    opens: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Show runs, records, boards and classes in a browser of this machine; Ctrl-C ends it.

    The address that is printed holds a random token: nobody is answered without it.  Nothing can be changed there.
    """
    try:
        from cluster.web.server import LocalServer
    except ImportError as error:
        raise InputError(f"serving needs {error.name}: {install('serve')}") from error
    server = LocalServer(given or [], host, port, price)
    console().print(server.address, markup=False, soft_wrap=True)
    tell("Open it in a browser of this machine. Whoever has the address may look. Ctrl-C ends it.")
    if opens:
        typer.launch(server.address)
    with contextlib.suppress(KeyboardInterrupt):  # that is how it ends
        server.run()
