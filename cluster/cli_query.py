"""``orderly status`` and ``top``: questions to a run directory; also while a driver writes to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from boardclass.errors import InputError, quote
from boardclass.partition import parse_partition
from cluster.render import Format, write_json, write_record

if TYPE_CHECKING:
    from results.query import Summary


def check_run_directory(directory: str) -> None:
    """Refuse what cannot be a run directory, before anything looks into it.

    Raises
    ------
    InputError
        When the path is not a directory on this machine; addresses of object stores are left to the store.
    """
    if "://" not in directory and ("\0" in directory or not Path(directory).is_dir()):
        raise InputError(f"no run directory {quote(directory)}: expected what `orderly run --out DIR` wrote")


def status(directory: str, fmt: Format) -> None:
    """Print how far a run is and the digest of its result."""
    check_run_directory(directory)
    from results.query import summary

    record = status_record(summary(directory))
    if fmt is Format.json:
        write_json({"directory": directory, **record})
        return
    flat = {name: value for name, value in record.items() if name not in ("rows", "statement")}
    flat |= {f"rows_{name}": count for name, count in record["rows"].items()}
    if fmt is Format.table:
        flat = {name: value for name, value in flat.items() if value not in (None, [])}
    write_record({**flat, "statement": record["statement"]} if record["statement"] else flat, fmt)


def status_record(found: Summary) -> dict[str, Any]:
    """Return what ``status --format json`` holds: question, counts, best boards, digest, the claim's sentence."""
    boards = found.listed.boards
    best = boards[0].score if boards else None
    return {
        "state": "proven" if found.claim else "incomplete",
        "dims": found.fingerprint.dims,
        "wordlist": found.info.get("wordlist", {}).get("name"),
        "wordlist_sha256": found.fingerprint.wordlist_sha256,
        "cutoff": found.fingerprint.cutoff,
        "partition": found.fingerprint.partition,
        "n_classes": parse_partition(found.fingerprint.partition, found.fingerprint.dims).n_canonical,
        "n_classes_begun": found.n_classes_begun,
        "n_units_pending": found.n_pending,
        "n_units_quarantined": found.n_quarantined,
        "n_conflicts": found.n_conflicts,
        "rows": found.n_rows,
        "n_candidates": found.listed.n_candidates,
        "n_boards": found.listed.n_canonical,
        "n_boards_with_images": found.listed.n_raw,
        "rescored": found.rescored,
        "best_score": best,
        "best_boards": [item.board for item in boards if item.score == best],
        "digest": found.result_digest,
        "statement": found.claim.statement if found.claim else None,
    }
