"""``orderly status``, ``runs``, ``watch``, ``serve``: how far runs are, in lines, in a terminal and
in a browser.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orderly_boggle import boardclass, results
from orderly_boggle.boardclass.distribution import install
from orderly_boggle.boardclass.errors import InputError, OrderlyError
from orderly_boggle.cluster.answers.render import write_json, write_record, write_table
from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.options import numeric, option
from orderly_boggle.cluster.streams import say, tell

if TYPE_CHECKING:
    from orderly_boggle.cluster.watch.view import Place


def status(
    directory: options.Run = options.LATEST,
    verbose: Annotated[
        bool, option("Show all figures instead of ten lines.", "--verbose", "-v")
    ] = False,
    fmt: options.Format = "table",
) -> None:
    """Show how far a run is, who works on it, the time left, what it found and the digest of its
    result.
    """
    from orderly_boggle.cluster.answers.run_view import as_json, look
    from orderly_boggle.cluster.answers.status import lines, tell_notes

    view, result = look(directory)
    tell_notes(result)
    if fmt == "json":
        write_json({"directory": directory, **as_json(view)})
        return
    if fmt == "table" and not verbose:
        write_record(lines(view), fmt)
        return
    record = as_json(view)
    rows = record.pop("rows")
    hosts = record.pop("hosts")
    notes = record.pop("notes")
    statement = record.pop("statement")
    record["hosts"] = ", ".join(f"{host} {n}" for host, n in hosts.items()) or None
    record |= {f"rows_{name}": count for name, count in rows.items()}
    record["notes"] = "; ".join(notes) or None
    if fmt == "table":
        known = {}
        for name, value in record.items():
            if value not in (None, ()):
                known[name] = value
        record = lines(view) | known
    write_record({**record, "statement": statement} if statement else record, fmt)


_COLUMNS = ("run", "state", "dims", "wordlist", "cutoff", "done", "best", "board", "boards")


def runs(locations: options.Runs = None, fmt: options.Format = "table") -> None:
    """List the runs under a folder: how far each is, its best board, and whether its rows prove
    it.
    """
    from orderly_boggle.cluster.watch.view import MAX_RUNS, Catalog

    catalog = Catalog(locations or [])
    listed = []
    for place in catalog.places().values():
        listed.append({"run": place.name, "directory": place.location, **_record(place)})
    if catalog.is_cut:
        tell(f"orderly: only the first {MAX_RUNS:,} runs are listed; name a folder that has fewer")
    if fmt == "json":
        write_json(listed)
    elif not listed and fmt == "table":
        where = ", ".join(catalog.locations)
        say(f"no run under {where}: orderly run makes one; orderly runs published lists others")
    else:
        write_table(_COLUMNS, list(map(_row, listed)), fmt)


_NAMES = """
    state proven why_not_proven dims wordlist letters scores cutoff n_classes n_classes_done
    best_score best_boards n_boards digest
"""


def _record(place: Place) -> Mapping[str, Any]:
    from orderly_boggle.cluster.answers.run_view import as_json, look
    from orderly_boggle.results.proof.summary import State

    try:
        view, _ = look(place.check())
    except OrderlyError as error:
        return {"state": State.UNREADABLE.value, "why": str(error)}
    record = as_json(view)
    return {name: record[name] for name in _NAMES.split()}


def _row(item: Mapping[str, Any]) -> list[object]:
    first = [item.get(name) for name in _COLUMNS[:5]]
    done = None
    if "n_classes" in item:
        done = f"{item['n_classes_done']:,}/{item['n_classes']:,}"
    board = item.get("why")
    if best := item.get("best_boards"):
        board = boardclass.with_letters(best[0], item["letters"])
    return [*first, done, item.get("best_score"), board, item.get("n_boards")]


def watch(directory: options.Run = options.LATEST) -> None:
    """Watch a run in the terminal: progress, time left, best boards, workers, disk; q quits and
    changes nothing.
    """
    from orderly_boggle.cluster.watch.screen import watch as watch_run

    results.open_run(directory)
    with contextlib.suppress(KeyboardInterrupt):  # ends it like q
        watch_run(directory)


def serve(
    locations: options.Runs = None,
    port: Annotated[
        int | None,
        numeric("Port; 0: any free one.", min=0, max=65535, show_default="8765 or a free one"),
    ] = None,
    host: Annotated[
        str, option("Address of this machine: 127.0.0.1 or ::1.", metavar="ADDRESS")
    ] = "127.0.0.1",
    lan: Annotated[
        bool,
        option("Answer phones and other devices in the network of this machine.", "--lan"),
    ] = False,
    price: options.Price = 0.02,
    opens: Annotated[bool, option("Open the page in the browser.", "--open")] = False,
) -> None:
    """Show runs, records, boards and classes in a browser of this machine; Ctrl-C ends it.

    The printed address contains a random token; requests without it are refused.  The pages change
    nothing.  With --lan the address is also drawn as a QR code for a phone; anybody who listens in
    that network can read along.
    """
    try:
        from orderly_boggle.cluster.web.server import LocalServer
    except ImportError as error:
        raise InputError(f"serving needs {error.name}: {install('serve')}") from error
    server = LocalServer(locations or [], host, port, price, lan)
    say(server.address)
    where = "Open it in a browser of this machine. Whoever has the address may look."
    if lan:
        import segno

        code = io.StringIO()
        segno.make(server.address, error="l").terminal(code, border=2, compact=True)
        tell(code.getvalue())
        where = (
            "Open the address, or the code with a camera, on a device of this network. Whoever "
            "has it may look, "
        )
        where += "and nothing is encrypted on the way."
    tell(f"{where} Ctrl-C ends it.")
    if opens:
        typer.launch(server.address)
    with contextlib.suppress(KeyboardInterrupt):  # that is how it ends
        server.run()
