"""What the commands that ask about a run directory share."""

from __future__ import annotations

from pathlib import Path

from boardclass.errors import InputError, quote


def check_run_directory(directory: str) -> None:
    """Refuse what cannot be a run directory, before anything looks into it.

    Raises
    ------
    InputError
        When the path is not a directory on this machine; addresses of object stores are left to the store.
    """
    if "://" not in directory and ("\0" in directory or not Path(directory).is_dir()):
        raise InputError(f"no run directory {quote(directory)}: expected what `orderly run --out DIR` wrote")
