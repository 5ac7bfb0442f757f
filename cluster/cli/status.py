"""``orderly status``: how far a run is, and what is going on in it."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.answers.render import Format, write_json, write_record
from cluster.cli.options import FormatOption, RunDirectory, chosen_run

_TOLD = frozenset(  # lines for people say these
    (
        *("state", "driver", "figures_age_s", "ended", "n_classes_left", "n_units_in_flight", "n_workers", "digest"),
        *("n_workers_lost", "classes_per_h", "verdicts_per_h", "remaining_s", "n_measured", "proven", "why_not_proven"),
        *("remaining_range_s", "best_score", "best_boards", "best_is_stored", "n_classes_done", "dims", "wordlist"),
        *("cutoff", "hosts", "notes"),  # notes: on standard error
    )
)


def status(
    directory: RunDirectory = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="All figures, not only ten lines.")] = False,
    fmt: FormatOption = Format.table,
) -> None:
    """Show how far a run is, who works on it, the time left, what it found, the digest of its result."""
    directory = chosen_run(directory)
    from cluster.answers.status import lines, look, tell_notes
    from results.store.run import open_run

    record, found = look(open_run(directory))
    tell_notes(found)
    if fmt is Format.json:
        write_json({"directory": directory, **record})
        return
    if fmt is Format.table and not verbose:
        write_record(lines(record), fmt)
        return
    told = lines(record)
    rows, hosts, notes = record.pop("rows"), record.pop("hosts"), record.pop("notes")
    statement = record.pop("statement")
    flat = {**record, "hosts": ", ".join(f"{host} {n}" for host, n in hosts.items()) or None}
    flat |= {f"rows_{name}": count for name, count in rows.items()} | {"notes": "; ".join(notes) or None}
    if fmt is Format.table:
        flat = {name: value for name, value in flat.items() if name not in _TOLD and value not in (None, [])}
        flat = {**told, **flat}
    write_record({**flat, "statement": statement} if statement else flat, fmt)
