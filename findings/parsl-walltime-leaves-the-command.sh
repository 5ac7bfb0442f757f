#!/usr/bin/env bash
# Parsl: a bash_app that is over its walltime fails, and its command goes on.
#
# Guess: walltime ends the command, as a time limit of a batch system does, so that a retry finds nothing of the first try.
# Seen: Parsl 2026.10.26: after walltime=2 the app raises AppTimeout, and the command of six seconds runs to its end; a retry would
#   have run beside it.
# What orderly does: its recipe has no walltime but `timeout -k 30` before the command, whose SIGTERM it stores at.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check parsl==2026.10.26
cat >limit.py <<'PYTHON'
import time
from pathlib import Path

import parsl
from parsl import bash_app
from parsl.config import Config
from parsl.executors import ThreadPoolExecutor


@bash_app
def command(walltime=2):
    return "for second in 1 2 3 4 5 6; do sleep 1; echo $second >>ticks; done"


parsl.load(Config(executors=[ThreadPoolExecutor(max_threads=1)]))
began_s = time.monotonic()
try:
    command().result()
    ended = "ended by itself"
except Exception as error:
    ended = type(error).__name__
took_s = time.monotonic() - began_s
n_then = len(Path("ticks").read_text().split())
time.sleep(7)
n_ticks = len(Path("ticks").read_text().split())
print(f"Parsl {parsl.__version__}: {ended} after {took_s:.0f} s and {n_then} ticks; 7 s later there are {n_ticks} of 6")
assert ended == "AppTimeout" and n_then < 6 and n_ticks == 6, "this has changed"
parsl.dfk().cleanup()
PYTHON
timeout 120 env/bin/python limit.py
echo "as found: the app has failed, its command goes on"
