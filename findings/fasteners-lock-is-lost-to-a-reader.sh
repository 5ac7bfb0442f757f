#!/usr/bin/env bash
# fasteners: whoever reads the lock file in the process that holds the lock gives the lock up, and nothing says so.
#
# Guess: a lock is held until it is released or its process ends; reading a file changes nothing.
# Seen: fasteners 0.20: after open("k.lock").read() in the holder another process gets the lock, while `acquired` is still True.
#   A second InterProcessLock of the same file in the process gets it too, and its release() gives the first one's up.  filelock
#   4.3.1 and portalocker 4.4.2 keep theirs.
# What orderly does: locks its run directory itself (flock), which closing another file of it does not touch.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check fasteners==0.20 filelock==4.3.1 portalocker==4.4.2
cat >hold.py <<'PYTHON'
import subprocess
import sys
from importlib.metadata import version

import fasteners
import filelock
import portalocker


def by_fasteners(path):
    lock = fasteners.InterProcessLock(path)
    return lock if lock.acquire(blocking=False) else None


def by_filelock(path):
    lock = filelock.FileLock(path)
    try:
        return lock.acquire(timeout=0).lock
    except filelock.Timeout:
        return None


def by_portalocker(path):
    lock = portalocker.Lock(path, "a", timeout=0, fail_when_locked=True)
    try:
        lock.acquire()
        return lock
    except portalocker.LockException:
        return None


WAYS = {"fasteners": by_fasteners, "filelock": by_filelock, "portalocker": by_portalocker}


def is_free_for_another(way, path):
    done = subprocess.run([sys.executable, __file__, way, path], capture_output=True, text=True, check=True)
    return done.stdout == "got it\n"


if len(sys.argv) > 1:
    print("got it" if WAYS[sys.argv[1]](sys.argv[2]) else "held")
    sys.exit()
for way, acquire in WAYS.items():
    path = f"{way}.lock"
    lock = acquire(path)
    before = is_free_for_another(way, path)
    with open(path) as file:
        file.read()
    after = is_free_for_another(way, path)
    print(f"{way} {version(way)}: free for another before {before}, after reading {after}")
    assert lock and not before and after == (way == "fasteners"), "this has changed"
first, second = by_fasteners("two.lock"), by_fasteners("two.lock")
second.release()
is_lost = is_free_for_another("fasteners", "two.lock")
print("a second one in the process got it:", second is not None, "after its release the lock is free:", is_lost)
assert second and first.acquired and is_lost, "this has changed"
PYTHON
env/bin/python hold.py
echo "as found: reading gives the lock up"
