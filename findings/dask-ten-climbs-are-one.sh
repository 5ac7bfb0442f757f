#!/usr/bin/env bash
# Dask: a function that is submitted ten times with the same arguments is run once, and all ten have its result.
#
# Guess: ten calls of submit(climb) are ten climbs, each from a random start, as in concurrent.futures.
# Seen: distributed 2026.8.0: three submissions of a function that gives a random number have one number, and so have equal
#   arguments of map().  With pure=False all three run, as they do in concurrent.futures.
# What orderly does: its climbs get a seed each.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check distributed==2026.8.0
cat >climb.py <<'PYTHON'
import random
from concurrent.futures import ThreadPoolExecutor

import distributed


def climb(size=3):
    return random.random()


def n_results(futures):
    return len({future.result() for future in futures})


with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    found = {
        "submit": n_results([client.submit(climb) for _ in range(3)]),
        "map": n_results(client.map(climb, [3, 3, 4])),
        "pure=False": n_results([client.submit(climb, pure=False) for _ in range(3)]),
    }
with ThreadPoolExecutor(1) as pool:
    found["concurrent.futures"] = n_results([pool.submit(climb) for _ in range(3)])
print("distributed", distributed.__version__, "different results of three:", found)
assert list(found.values()) == [1, 2, 3, 3], "this has changed"
PYTHON
env/bin/python climb.py
echo "as found: three climbs are one"
