#!/usr/bin/env bash
# Linux: ru_maxrss of a program that was just started can be the memory of the process that started it.
#
# Guess: a new program begins with new memory, so getrusage(RUSAGE_SELF).ru_maxrss of a child that does nothing is its own.
# Seen with Python 3.11 and Linux 6: a child of subprocess.run that only asks says 13 MiB while its parent is small, and 413 MiB
#   when the parent has touched 400 MiB before: the peak outlives exec.  With a shell between the two it says 13 again, and so does
#   VmHWM in /proc/self/status, always.
# What orderly does: the table of solvers (tests/field/ask.py) takes VmHWM.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >measure.py <<'PYTHON'
import platform
import shlex
import subprocess
import sys

RUSAGE = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)"
STATUS = "print(int(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0]) >> 10)"


def child(code, shell=False):
    command = [sys.executable, "-c", code]
    if shell:
        command = ["sh", "-c", shlex.join(command) + "; true"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


print("Python", platform.python_version(), "Linux", platform.release())
small = child(RUSAGE)
large = bytearray(b"x") * (400 << 20)
told, behind_shell, peak = child(RUSAGE), child(RUSAGE, shell=True), child(STATUS)
print(f"MiB of a child: of a small parent {small}, of a large one {told}; behind a shell {behind_shell}; VmHWM {peak}")
assert small < 100 < 400 <= told and behind_shell < 100 and peak < 100, "this has changed"
PYTHON
python3 measure.py
echo "as found: the child reports the peak of its parent"
