"""What is looked at when a store is opened: whose folder it is, what is damaged, what a dead writer left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from boardclass.errors import StoreError
from results.errors import DamagedError
from results.storage import files
from results.storage.folder import Folder
from results.store.fingerprint import Fingerprint, check_same
from results.store.run import RUN_REMEDY, read_identity
from results.store.schema import Row


class Repaired(NamedTuple):
    """What a repair took out or rewrote.

    Attributes
    ----------
    parts : dict of str to str
        Parts whose rows are to be computed again, and what was wrong with each.
    others : dict of str to str
        Other files likewise.
    doubts : list of Row
        Doubts about hosts whose rows may have been in such parts.
    """

    parts: dict[str, str]
    others: dict[str, str]
    doubts: list[Row]


Mend = Callable[[Folder, Fingerprint, bytes], Repaired]  # of a folder, for a run and the run.json of a new one like it


def check_identity(folder: Folder, fingerprint: Fingerprint) -> bool:
    """Return whether the folder holds this run already (False: it is empty); refuse another run and other files."""
    identity = read_identity(folder)
    if identity is not None:
        check_same(fingerprint, identity[0], folder.where(""))
        return True
    if folder.names(files.RESULTS):
        raise DamagedError(f"{folder.where(files.RUN)} is missing: {RUN_REMEDY}")
    if folder.exists():
        raise StoreError(f"{folder.where('')} is not empty and holds no {files.RUN}: not a run; choose another --out")
    return False


def remove_leftovers(folder: Folder, unlisted_parts: list[str]) -> list[str]:
    """Remove what a dead writer left: temporary files, and the part that it had not listed yet; other files stay."""
    leftovers = [name for place in files.FOLDERS for name in folder.names(place) if files.is_temporary(name)]
    leftovers += [name for name in unlisted_parts if files.part_number(name, files.RESULTS) is not None]
    for name in leftovers:
        folder.remove(name)
    return leftovers
