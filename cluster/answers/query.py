"""What the commands that ask about a run directory share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from boardclass.errors import InputError
from cluster.streams import console, tell

if TYPE_CHECKING:
    from boardclass.wordlist import WordList
    from results.reading.query import Summary
    from results.store.run import Run


def run_wordlist(run: Run, name: str | None) -> WordList:
    """Return the word list of a run: the one recorded, or the one named, if it is the same.

    Raises
    ------
    InputError
        When it cannot be found or read.
    FingerprintError
        When it is another list.
    """
    from boardclass.wordlist import load_wordlist
    from results.errors import FingerprintError

    config = run.info.get("config")
    recorded = config.get("wordlist") if isinstance(config, dict) else None
    if name is None and not isinstance(recorded, str):
        raise InputError(f"{run.folder.where('')} does not say which word list it used: name it with --wordlist")
    try:
        words = load_wordlist(name or str(recorded))
    except InputError as error:
        raise InputError(f"{error}; --wordlist names another place") from error
    if words.sha256 != run.fingerprint.wordlist_sha256:
        raise FingerprintError(
            f"word list {words.name!r} has SHA-256 {words.sha256}, the run in {run.folder.where('')} used "
            f"{run.fingerprint.wordlist_sha256}: name the list it used with --wordlist"
        )
    return words


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
