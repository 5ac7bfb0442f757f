"""Whether others could change what lies in a folder of this machine: asked before code is loaded from it.

Others are all users but this one and root.  A group that holds nobody but this user, as some systems make one for each
user, counts as this user.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path


def open_to_others(folder: Path) -> str:
    """Return how others could put something into a folder or replace the folder; empty if they cannot.

    folder : resolved: without links

    Raises OSError when it is not there.
    """
    for place in (folder, *folder.parents):
        found = place.stat()
        is_sticky = bool(found.st_mode & stat.S_ISVTX) and place != folder  # there only owners can rename
        if found.st_uid not in _TRUSTED or (not is_sticky and _writable(found)):
            return _describe(place, found)
    return ""


def open_file_below(folder: Path) -> str:
    """Return which file or folder below ``folder`` others made or can write to, and how; empty if there is none."""
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place, name)
            try:
                found = path.lstat()
            except FileNotFoundError:  # another process tidies up
                continue
            if found.st_uid not in _TRUSTED or stat.S_ISLNK(found.st_mode) or _writable(found):
                return _describe(path, found)
    return ""


_TRUSTED = (0, os.geteuid())


def _writable(found: os.stat_result) -> bool:
    by_group = bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)
    return by_group or bool(found.st_mode & stat.S_IWOTH)


def _is_own_group(gid: int) -> bool:
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return gid in (0, user.pw_gid) and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _describe(place: Path, found: os.stat_result) -> str:
    if found.st_uid not in _TRUSTED:
        return f"{place} belongs to another user ({found.st_uid})"
    if stat.S_ISLNK(found.st_mode):
        return f"{place} is a link"
    return f"others can write to {place} (mode {stat.S_IMODE(found.st_mode):o})"
