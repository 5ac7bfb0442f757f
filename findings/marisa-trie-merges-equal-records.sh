#!/usr/bin/env bash
# marisa-trie: of several records of one word, equal ones are merged, and the others come in another order.
#
# Guess: RecordTrie and BytesTrie keep the records of a key as they were given, as a list, so that sums and first ones are right.
# Seen: marisa-trie 1.4.1: of the records 300, -5, 3, 3 of one word there are 3, 300, -5, in the order of their bytes: the sum is
#   298, not 301.  BytesTrie merges equal ones, too.
# What orderly does: has its own arrays; a word that is listed twice counts once.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check marisa-trie==1.4.1
cat >store.py <<'PYTHON'
from importlib.metadata import version

import marisa_trie

POINTS = [300, -5, 3, 3]
records = marisa_trie.RecordTrie("<i", [("quiet", (points,)) for points in POINTS])
texts = marisa_trie.BytesTrie([("quiet", b"second"), ("quiet", b"first"), ("quiet", b"second")])
found = [points for (points,) in records["quiet"]]
print("marisa-trie", version("marisa-trie"), "given", POINTS, "found", found, texts["quiet"])
assert found == [3, 300, -5] and sorted(texts["quiet"]) == [b"first", b"second"], "this has changed"
PYTHON
env/bin/python store.py
echo "as found: three of four records"
