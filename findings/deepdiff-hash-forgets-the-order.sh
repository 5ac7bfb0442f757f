#!/usr/bin/env bash
# deepdiff: DeepHash of a list is the same in any order of its items, and however often an item is there.
#
# Guess: it is a hash of the content, so what is not equal, and for DeepDiff is different, has another hash, but for chance.
# Seen: deepdiff 9.1.0: the cell orders [0, 1, 2] and [2, 1, 0], and the words ["tea"] and ["tea", "tea"], have one hash each,
#   though DeepDiff tells them apart.  With ignore_iterable_order=False and ignore_repetition=False they have two.
# What orderly does: its digests are SHA-256 of JSON, with lists in their order.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check deepdiff==9.1.0
cat >hash.py <<'PYTHON'
from importlib.metadata import version

from deepdiff import DeepDiff, DeepHash

PAIRS = [({"order": [0, 1, 2]}, {"order": [2, 1, 0]}), ({"words": ["tea"]}, {"words": ["tea", "tea"]})]


def is_same_hash(one, other, **options):
    return DeepHash(one, **options)[one] == DeepHash(other, **options)[other]


print("deepdiff", version("deepdiff"))
for one, other in PAIRS:
    usual = is_same_hash(one, other)
    strict = is_same_hash(one, other, ignore_iterable_order=False, ignore_repetition=False)
    print(one, other, "one hash:", usual, "strict:", strict, "DeepDiff sees a difference:", bool(DeepDiff(one, other)))
    assert usual and not strict and DeepDiff(one, other), "this has changed"
PYTHON
env/bin/python hash.py
echo "as found: another order, the same hash"
