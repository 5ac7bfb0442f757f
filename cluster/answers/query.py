"""What the commands that ask about a run directory share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from boardclass.errors import InputError, quote
from cluster.streams import console, tell

if TYPE_CHECKING:
    from results.reading.query import Summary


def check_run_directory(directory: str) -> None:
    """Refuse what cannot be a run directory, before anything looks into it.

    Raises
    ------
    InputError
        When the path is not a directory on this machine; addresses of object stores are left to the store.
    """
    if "://" not in directory and ("\0" in directory or not Path(directory).is_dir()):
        raise InputError(f"no run directory {quote(directory)}: expected what `orderly run --out DIR` wrote")


def tell_notes(found: Summary) -> None:
    """Say on standard error where the records of a run disagree with its rows."""
    for note in found.notes:
        tell(f"orderly: {note}")


def require_all_proven(summaries: Mapping[str, Summary]) -> None:
    """End a command that has shown results of some runs: say which of them are not proven.

    Raises
    ------
    IncompleteError, MismatchError
        For the first that is not; the others are named on standard error before it.
    """
    for found in summaries.values():
        tell_notes(found)
    unproven = [(name, found) for name, found in summaries.items() if not found.proven]
    for name, found in unproven[1:]:
        tell(f"orderly: {name}: {found.caveat}")
    if unproven:
        name, found = unproven[0]
        found.require_proven(name)


def tell_so_far(summaries: Mapping[str, Summary]) -> None:
    """Print above a table for people which of the runs are not proven."""
    for name, found in summaries.items():
        if not found.proven:
            whose = f"{name}: " if len(summaries) > 1 else ""
            console().print(f"{whose}{found.caveat}", markup=False, soft_wrap=True)
