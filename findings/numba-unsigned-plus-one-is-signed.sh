#!/usr/bin/env bash
# numba: uint64 + 1 is an int64, so that a hash becomes negative, and shifts, remainders and comparisons of it are others.
#
# Guess: since numpy 2 a Python number takes the type of the numpy value that it meets, so np.uint64(h) + 1 is a uint64, compiled
#   or not.
# Seen: numba 0.68.1 with numpy 2.4.6, h = 0xCBF29CE484222325: compiled, h + 1 is an int64 below 0; (h + 1) >> 60 is -4 and not
#   12, (h + 1) % 1000 is 422 and not 38, and h + 1 > h is false.  With h + np.uint64(1) both agree.
# What orderly does: kernels make a uint64 of what meets one, and have a slow twin in plain Python.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check numba==0.68.1 numpy==2.4.6
cat >hash.py <<'PYTHON'
import numba
import numpy as np


def plain(h):
    return h + 1, (h + 1) >> 60, (h + 1) % 1000, h + 1 > h


def typed(h):
    return h + np.uint64(1), (h + np.uint64(1)) >> np.uint64(60)


h = np.uint64(0xCBF29CE484222325)
compiled = numba.njit(plain)
print("numba", numba.__version__, "numpy", np.__version__)
print("numpy:", [int(value) for value in plain(h)], "compiled:", compiled(h), compiled.nopython_signatures[0].return_type)
print("typed, numpy:", [int(value) for value in typed(h)], "compiled:", numba.njit(typed)(h))
wanted = int(h) + 1
assert plain(h) == (wanted, 12, wanted % 1000, True), "this has changed"
signed = wanted - 2**64
assert compiled(h) == (signed, signed >> 60, signed % 1000, False), "this has changed"
assert numba.njit(typed)(h) == typed(h), "this has changed"
PYTHON
env/bin/python hash.py
echo "as found: compiled, the hash is negative"
