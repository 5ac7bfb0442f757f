"""Looks at processes through /proc: which are ours, what they listen on, what they share."""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")


def stat_of(process):
    """Return what the system tells of a process, state, parent and group first; "X" and zeros when
    it is gone.
    """
    try:
        return (PROC / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ["X", "0", "0"]


def parent(process):
    """Return the process id of the parent, or 0 when the process is gone."""
    return int(stat_of(process)[1])


def descendants(root=None):
    """Return the process ids of this process (or ``root``) and of everything it started."""
    parents = {
        int(folder.name): parent(folder.name) for folder in PROC.iterdir() if folder.name.isdigit()
    }
    found = {root or os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def workers(root=None):
    """Return the worker processes below ``root``, those that Ray started included."""
    return sorted(process for process in descendants(root) if _is_worker(command_line(process)))


def _is_worker(line):
    return "orderly_boggle.cluster.workers.process" in line or line.startswith("ray::RemoteWorker")


def has_let_go(process):
    """Return whether a process has ended so far that it holds no file and no lock; it loses its
    command line before.
    """
    return stat_of(process)[0] in "ZX"


def command_line(process):
    """Return the command line of a process, or an empty text when it is gone."""
    try:
        return (PROC / str(process) / "cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def mapped(process="self"):
    """Return the files of shared arrays that a process has mapped, by kind."""
    lines = (PROC / str(process) / "maps").read_text().splitlines()
    found = {}
    for file in {line.split()[-1] for line in lines if line.endswith(".npy")}:
        found.setdefault(Path(file).parts[-3], set()).add(file)
    return found


def listening_addresses(processes):
    """Return the local addresses, as hexadecimal text, of the TCP sockets that the processes listen
    on.
    """
    ours = set()
    for process in processes:
        try:
            links = [str(link.readlink()) for link in (PROC / str(process) / "fd").iterdir()]
        except OSError:
            continue
        ours |= {link[8:-1] for link in links if link.startswith("socket:[")}
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in (PROC / "net" / name).read_text().splitlines()[1:]
    ]
    return {
        columns[1].split(":")[0] for columns in lines if columns[3] == "0A" and columns[9] in ours
    }
