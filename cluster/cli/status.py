"""``orderly status``: how far a run is, and what is going on in it."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.answers.render import Format, write_json, write_record
from cluster.cli.options import FormatOption, RunDirectory, chosen_run


def status(
    directory: RunDirectory = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="All figures, not only ten lines.")] = False,
    fmt: FormatOption = Format.table,
) -> None:
    """Show how far a run is, who works on it, the time left, what it found, the digest of its result."""
    directory = chosen_run(directory)
    from cluster.answers.query import tell_notes
    from cluster.answers.status import TOLD, brief, sentences, status_record
    from cluster.planning.nodes import run_nodes
    from results.log.live import live
    from results.reading.query import summary
    from results.store.run import open_run

    run = open_run(directory)
    now = live(run.folder)  # before the rows, which take longer to read: the driver goes on meanwhile
    found = summary(run, run_nodes)
    record = status_record(found, now)
    tell_notes(found)
    if fmt is Format.json:
        write_json({"directory": directory, **record})
        return
    if fmt is Format.table and not verbose:
        write_record(brief(record), fmt)
        return
    rows, hosts, notes = record.pop("rows"), record.pop("hosts"), record.pop("notes")
    statement = record.pop("statement")
    flat = {**record, "hosts": ", ".join(f"{host} {n}" for host, n in hosts.items()) or None}
    flat |= {f"rows_{name}": count for name, count in rows.items()} | {"notes": "; ".join(notes) or None}
    if fmt is Format.table:
        flat = {**sentences(record), **{name: value for name, value in flat.items() if name not in TOLD}}
        flat = {name: value for name, value in flat.items() if value not in (None, [])}
    write_record({**flat, "statement": statement} if statement else flat, fmt)
