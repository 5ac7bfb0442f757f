#!/usr/bin/env bash
# pyahocorasick: an automaton of words and numbers keeps the lower 32 bits of a number, without a word.
#
# Guess: STORE_INTS keeps a number as it is, or refuses one that does not fit, as dawg2's IntDAWG does.
# Seen: pyahocorasick 2.3.1: 2^31 comes back as -2147483648, 2^40 as 0, and a mask of letters of 33 bits without its highest.
#   dawg2 0.13.3 raises OverflowError; STORE_ANY keeps all.
# What orderly does: keeps words and their numbers in numpy arrays of known types.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyahocorasick==2.3.1 dawg2==0.13.3
cat >store.py <<'PYTHON'
from importlib.metadata import version

import ahocorasick
import dawg

NUMBERS = [2**31 - 1, 2**31, 2**32 + 5, 2**40, -5]


def kept(store):
    automaton = ahocorasick.Automaton(store)
    for number in NUMBERS:
        automaton.add_word(f"w{number}", number)
    automaton.make_automaton()
    return [next(automaton.iter(f"w{number}"))[1] for number in NUMBERS]


def is_refused(number):
    try:
        dawg.IntDAWG([("quiet", number)])
    except OverflowError:
        return True
    return False


found, whole = kept(ahocorasick.STORE_INTS), kept(ahocorasick.STORE_ANY)
refused = [is_refused(number) for number in NUMBERS[:4]]
print("pyahocorasick", version("pyahocorasick"), found, "STORE_ANY:", whole, "refused by dawg2:", refused)
assert found == [2**31 - 1, -(2**31), 5, 0, -5] and whole == NUMBERS, "this has changed"
assert refused == [False, True, True, True], "this has changed"
PYTHON
env/bin/python store.py
echo "as found: 2^40 is 0"
