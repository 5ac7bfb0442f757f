"""``orderly runs``: the runs under a folder, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from boardclass.errors import OrderlyError
from cluster.answers.render import Format, write_json, write_table
from cluster.streams import console

if TYPE_CHECKING:
    from cluster.watch.catalog import Place

COLUMNS = ("run", "state", "dims", "wordlist", "cutoff", "done", "best", "board", "boards")


def runs(given: Sequence[str], fmt: Format) -> None:
    """Print how far each run is, its best board, and whether its rows prove it."""
    from cluster.watch.catalog import Catalog

    catalog = Catalog(given)
    listed = [{"run": place.name, "directory": place.location, **_told(place)} for place in catalog.places().values()]
    if fmt is Format.json:
        write_json(listed)
    elif not listed and fmt is Format.table:
        console().print(f"no run under {', '.join(catalog.given)}: orderly run makes one", markup=False)
    else:
        write_table(COLUMNS, [[_cell(item, name) for name in COLUMNS] for item in listed], fmt)


def _told(place: Place) -> dict[str, Any]:
    """Return what ``status`` says about a run, or why it cannot be read."""
    from cluster.answers.status import status_record
    from cluster.planning.nodes import run_nodes
    from results.log.live import live
    from results.reading.query import summary
    from results.reading.state import State
    from results.store.run import open_run

    try:
        run = open_run(place.check())
        now = live(run.folder)
        found = summary(run, run_nodes)
    except OrderlyError as error:
        return {"state": State.UNREADABLE.value, "why": str(error)}
    record = status_record(found, now)
    names = ("state", "proven", "why_not_proven", "dims", "wordlist", "cutoff", "n_classes", "n_classes_done")
    return {name: record[name] for name in (*names, "best_score", "best_boards", "n_boards", "digest")}


def _cell(item: dict[str, Any], name: str) -> object:
    if name == "done":
        return f"{item['n_classes_done']:,}/{item['n_classes']:,}" if "n_classes" in item else None
    if name == "board":
        return (item.get("best_boards") or [item.get("why")])[0]
    return item.get({"best": "best_score", "boards": "n_boards"}.get(name, name))
