#!/usr/bin/env bash
# filelock and fasteners: each gets the lock on a file that the other one holds.
#
# Guess: two programs that lock the same file exclude each other, whatever library they use.
# Seen: filelock 4.3.1 and fasteners 0.20, on Linux: a process gets by fasteners what another one holds by filelock, and the other
#   way round.  filelock and portalocker 4.4.2 do exclude each other (both use flock, fasteners the locks of POSIX).
# What orderly does: locks the run directory, by flock, and writes who holds it; other programs need not lock it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check fasteners==0.20 filelock==4.3.1 portalocker==4.4.2
cat >hold.py <<'PYTHON'
import subprocess
import sys


def acquire(way):
    if way == "fasteners":
        import fasteners

        lock = fasteners.InterProcessLock("run.lock")
        return lock if lock.acquire(blocking=False) else None
    if way == "filelock":
        import filelock

        try:
            return filelock.FileLock("run.lock").acquire(timeout=0).lock
        except filelock.Timeout:
            return None
    import portalocker

    lock = portalocker.Lock("run.lock", "a", timeout=0, fail_when_locked=True)
    try:
        lock.acquire()
        return lock
    except portalocker.LockException:
        return None


WAYS = ("fasteners", "filelock", "portalocker")
lock = acquire(sys.argv[1])
if len(sys.argv) > 2:
    print("got it" if lock else "held", end="")
    sys.exit()
for other in WAYS:
    done = subprocess.run([sys.executable, __file__, other, "ask"], capture_output=True, text=True, check=True)
    print(f"held by {sys.argv[1]}, asked by {other}: {done.stdout}")
PYTHON
for way in fasteners filelock; do env/bin/python hold.py $way; done | tee found
diff found - <<'FOUND' || { echo "this has changed"; exit 1; }
held by fasteners, asked by fasteners: held
held by fasteners, asked by filelock: got it
held by fasteners, asked by portalocker: got it
held by filelock, asked by fasteners: got it
held by filelock, asked by filelock: held
held by filelock, asked by portalocker: held
FOUND
echo "as found: both hold it"
