"""How much room a run takes on a disk of this machine, and how much is left there."""

from __future__ import annotations

import os
import shutil
from typing import NamedTuple

from results.storage import files
from results.storage.folder import Folder
from results.storage.local import LocalFolder


class DiskUse(NamedTuple):
    """Bytes of a run, and bytes that are free where it is."""

    n_bytes: int
    n_free_bytes: int


def disk_use(folder: Folder) -> DiskUse | None:
    """Return the room that a run takes; None for an object store, and where the system does not tell."""
    if not isinstance(folder, LocalFolder):
        return None
    total = 0
    try:
        for name in files.FOLDERS:
            if (folder.root / name).is_dir():
                with os.scandir(folder.root / name) as entries:
                    total += sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
        return DiskUse(total, shutil.disk_usage(folder.root).free)
    except OSError:
        return None
