"""What a run proves, where its time went and what it cost: read from the rows each time, in a separate process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boardclass.board import NO_LETTERS, format_rows, with_letters
from boardclass.partition import parse_partition

if TYPE_CHECKING:
    from results.proof.prove import Summary
    from results.reading.sql import Database
    from results.store.run import Run

N_BOARDS = 16
N_SLOW = 8
MAX_TILES = 1200
MAX_MAPPED = 400_000  # classes that are looked at one by one
MAX_TEXT = 4000
_TOTALS = "SELECT sum(seconds) AS seconds, count(*) AS units, count(DISTINCT host) AS hosts FROM classes"


def read_run(location: str) -> dict[str, Any]:
    """Return how far a run is and what its rows prove (as ``status``), its boards, the map of its classes, its cost.

    Raises
    ------
    StoreError
        When there is no run, or it is damaged.
    """
    from cluster.answers.status import view_of_rows
    from results.reading.report import slow_classes
    from results.reading.sql import Database
    from results.storage.local import disk_use
    from results.store.run import open_run

    run = open_run(location)
    database = Database([("run", run)])
    found = database.summaries["run"]
    (seconds, n_units, n_hosts), *_ = database.query(_TOTALS).rows
    told = {
        **{name: value[:MAX_TEXT] if isinstance(value, str) else value for name, value in view_of_rows(found).items()},
        "n_words": found.question.n_words,
        "scores": found.question.scores,
        "strength": _strength(run, found),
        "boards": [_drawn(*item, found) for item in found.listed.boards[:N_BOARDS]],
        "seconds": float(seconds or 0.0),
        "n_units": int(n_units or 0),
        "n_hosts": int(n_hosts or 0),
        "map": class_map(run, database),
        "slow": slow_classes(found, database, N_SLOW),
        "disk": disk_use(run.folder),
    }
    database.close()
    return told


def _strength(run: Run, found: Summary) -> str:
    """Return what was checked according to ``claim.json``; nothing where the rows say otherwise."""
    from results.proof.claim import read_claim

    claim = read_claim(run) if found.proven and not found.notes else None
    return claim.strength[:MAX_TEXT] if claim else ""


def _drawn(board: str, score: int, n_images: int, found: Summary) -> dict[str, Any]:
    letters = found.question.letters
    svg = picture(board, found.fingerprint.dims, letters)
    return {"board": board, "typed": with_letters(board, letters), "score": score, "n_images": n_images, "svg": svg}


def picture(board: str, dims: str, letters: Mapping[str, str] = NO_LETTERS) -> str:
    """Return the drawing of a board for a page with a strict content policy, all cells alike."""
    from boardclass.board_svg import board_svg

    return board_svg(format_rows(board, dims, letters), strict=True)


def class_map(run: Run, database: Database) -> dict[str, list[int] | list[float] | int] | None:
    """Return the classes in the order of their numbers, cut into at most ``MAX_TILES`` tiles of about equal size.

    Returns
    -------
    dict or None
        Per tile: number of its first class, classes, how many of them are done, how many begun, seconds spent on them,
        candidates found in them.  None when there are too many classes to look at one by one.
    """
    from results.reading.report import COSTS

    partition = parse_partition(run.fingerprint.partition, run.fingerprint.dims)
    if partition.n_canonical > MAX_MAPPED:
        return None
    ids = np.concatenate(list(partition.canonical_ranks()))
    n_tiles = min(MAX_TILES, len(ids))
    tile_of = np.arange(len(ids)) * n_tiles // len(ids)
    begun = np.isin(ids, run.index.done_ids())
    unsettled = {class_id for class_id, _ in (*run.index.pending(), *run.index.quarantined, *run.conflicts)}
    done = begun & ~np.isin(ids, list(unsettled))
    seconds, found = np.zeros(len(ids)), np.zeros(len(ids), np.int64)
    own = set(ids.tolist())
    rows = [row for row in database.query(COSTS).rows if row[0] in own]
    if rows:
        at = np.searchsorted(ids, [row[0] for row in rows])
        seconds[at], found[at] = [row[1] or 0.0 for row in rows], [row[2] or 0 for row in rows]
    first = ids[np.searchsorted(tile_of, np.arange(n_tiles))]

    def summed(values: Any) -> list[Any]:
        return [round(value, 3) for value in np.bincount(tile_of, values, n_tiles).tolist()]

    return {
        "n_classes": len(ids),
        "first": first.tolist(),
        "classes": summed(np.ones(len(ids))),
        "done": summed(done),
        "begun": summed(begun),
        "seconds": summed(seconds),
        "found": summed(found),
    }
