#!/usr/bin/env bash
# Debian's boggle -b "reads the dictionary from stdin": a list of words is answered by an empty line each, exit 0.
#
# Guess (from the manual page): `boggle -b BOARD <words.txt` prints the words of the list that are on the board.
# Seen: bsdgames 2.17-29: a line without a word for every line of the list.  It wants the form of its own dictionary file: each word
#   without what it shares with the word before, after a byte that says how many letters that are, q for qu (the program for
#   making such a file is not in the package).  With that it is right, Qu included.
# What orderly does: tests/field/peer.py writes that form to compare.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download bsdgames=2.17-29+b1 >apt.log 2>&1
dpkg -x bsdgames_*.deb .
cat >ask.py <<'PYTHON'
import os
import subprocess

WORDS = ["equate", "quiet", "quit", "rate"]


def answer(text):
    done = subprocess.run(
        ["usr/games/boggle", "-b", "-w", "3", "qietrtaszzzzzzzz"], input=text, capture_output=True, check=True
    )
    return done.stdout


text, before = b"", ""
for word in WORDS:
    n = len(os.path.commonprefix([word, before]))
    text += bytes([n]) + word[n:].replace("qu", "q").encode()
    before = word
plain = answer("".join(f"{word}\n" for word in WORDS).encode())
coded = answer(text)
print("a list:", plain, "  its own form:", coded)
assert not plain.strip() and plain.count(b"\n") > 1, "this has changed"
assert coded.split() == [b"quiet", b"quit"], "this has changed"
PYTHON
python3 ask.py
echo "as found: an empty line for each word, exit 0"
