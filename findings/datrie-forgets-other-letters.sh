#!/usr/bin/env bash
# datrie: a word with a letter outside the alphabet is not stored, and nothing says so.
#
# Guess: trie[word] = 1 raises an error where the trie was made for other letters.
# Seen: datrie 0.8.3, made for a to z: trie[word] = 1 for a word with an e acute, for "Tee" and for "x-ray" raises nothing, and
#   the trie has none of them.
# What orderly does: counts the lines that cannot be on a board when it reads a list; `orderly wordlist check` says how many, and why.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check datrie==0.8.3
cat >store.py <<'PYTHON'
import string

import datrie

trie = datrie.Trie(string.ascii_lowercase)
for word in ("quiet", "caf\u00e9", "Tee", "x-ray"):
    trie[word] = 1
    print(ascii(word), "stored:", word in trie)
print("kept:", trie.keys())
assert trie.keys() == ["quiet"] and len(trie) == 1, "this has changed"
PYTHON
env/bin/python store.py
echo "as found: three of four words are gone"
