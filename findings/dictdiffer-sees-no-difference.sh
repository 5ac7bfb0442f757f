#!/usr/bin/env bash
# dictdiffer: of two records whose whole numbers differ by one it says that they do not differ.
#
# Guess: whole numbers differ when they are not equal; a tolerance, if there is one, is for floats.
# Seen: dictdiffer 0.10.0: no difference between 26^16 and 26^16 + 1, a number of boards, nor 26^16 + 9,000,000, nor between 2^53
#   and 2^53 + 1.  With tolerance=0 it sees that of nine million alone.  deepdiff 9.1.0, jsondiff 2.2.1 and jsonpatch 1.48 see all
#   three.
# What orderly does: compares claims by digests of their JSON, in which whole numbers have all their digits.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check dictdiffer==0.10.0 deepdiff==9.1.0 jsondiff==2.2.1 jsonpatch==1.48
cat >compare.py <<'PYTHON'
from importlib.metadata import version

import deepdiff
import dictdiffer
import jsondiff
import jsonpatch

PAIRS = [(26**16, 26**16 + 1), (26**16, 26**16 + 9_000_000), (2**53, 2**53 + 1)]
WAYS = {
    "dictdiffer": lambda old, new: list(dictdiffer.diff(old, new)),
    "dictdiffer, tolerance=0": lambda old, new: list(dictdiffer.diff(old, new, tolerance=0)),
    "deepdiff": deepdiff.DeepDiff,
    "jsondiff": jsondiff.diff,
    "jsonpatch": lambda old, new: list(jsonpatch.make_patch(old, new)),
}
print("dictdiffer", version("dictdiffer"))
for way, compare in WAYS.items():
    sees = [bool(compare({"n_boards": one}, {"n_boards": other})) for one, other in PAIRS]
    print(f"{way} sees a difference: {sees}")
    expected = {"dictdiffer": [False] * 3, "dictdiffer, tolerance=0": [False, True, False]}.get(way, [True] * 3)
    assert sees == expected, "this has changed"
PYTHON
env/bin/python compare.py
echo "as found: two numbers of boards do not differ"
