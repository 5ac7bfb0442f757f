"""Looks at processes through /proc: which are ours, what they listen on."""

from __future__ import annotations

import os
from pathlib import Path


def descendants(root=None):
    """Return the process ids of this process (or ``root``) and of everything it started."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
    found = {root or os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def command_line(process):
    """Return the command line of a process, or an empty text when it is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def socket_inodes(processes):
    """Return the socket inodes that the processes hold open."""
    inodes = set()
    for process in processes:
        try:
            links = [os.readlink(f"/proc/{process}/fd/{name}") for name in os.listdir(f"/proc/{process}/fd")]
        except OSError:
            continue
        inodes |= {link[8:-1] for link in links if link.startswith("socket:[")}
    return inodes
