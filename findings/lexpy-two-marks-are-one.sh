#!/usr/bin/env bash
# lexpy: in a pattern two question marks in a row are one, so "a??" finds words of two letters, and none of three.
#
# Guess: each ? stands for one letter, so that "q???t" finds quiet.
# Seen: lexpy 1.2.0, Trie and DAWG: of a, at, ate, eat, quiet, tea the pattern "a??" finds at, "???" a, and "q???t" nothing; "?a?"
#   is right.  A word that is added twice counts twice in get_word_count().
# What orderly does: has a trie of its own, whose answers are compared with a slow twin.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check lexpy==1.2.0
cat >find.py <<'PYTHON'
import fnmatch
from importlib.metadata import version

from lexpy import DAWG, Trie

WORDS = ["a", "at", "ate", "eat", "quiet", "tea"]
EXPECTED = {"a??": ["at"], "???": ["a"], "q???t": [], "?a?": ["eat"], "e?t": ["eat"], "a*": ["a", "at", "ate"]}
trie, dawg, doubled = Trie(), DAWG(), Trie()
trie.add_all(WORDS)
dawg.add_all(WORDS)
dawg.reduce()
doubled.add_all(["tea", "tea"])
print("lexpy", version("lexpy"))
for pattern, expected in EXPECTED.items():
    found = sorted(trie.search(pattern))
    right = [word for word in WORDS if fnmatch.fnmatchcase(word, pattern)]
    print(f"{pattern}: {found}, and right is {right}")
    assert found == sorted(dawg.search(pattern)) == expected, "this has changed"
print("tea, added twice, counts", doubled.get_word_count())
assert doubled.get_word_count() == 2, "this has changed"
PYTHON
env/bin/python find.py
echo "as found: a pattern of three letters finds words of two"
