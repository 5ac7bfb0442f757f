#!/usr/bin/env bash
# Parsl: the output of a bash_app is appended to its file, so a retry leaves what the failed try has printed, and prints it again.
#
# Guess: stdout="words.txt" is the output of the try that succeeded, as `> words.txt` is.
# Seen: Parsl 2026.10.26, retries=1: a command that prints three boards and fails the first time leaves six lines.  With
#   stdout=("words.txt", "w") there are three.
# What orderly does: its recipe takes nothing from the output of a share, which is in its folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check parsl==2026.10.26
cat >retry.py <<'PYTHON'
import parsl
from parsl import bash_app
from parsl.config import Config
from parsl.executors import ThreadPoolExecutor


@bash_app
def boards(marker, stdout=None):
    return f"printf 'one\\ntwo\\nthree\\n'; [ -e {marker} ] || {{ touch {marker}; exit 4; }}"


def n_lines(path):
    with open(path) as file:
        return len(file.readlines())


with parsl.load(Config(executors=[ThreadPoolExecutor(max_threads=1)], retries=1)):
    boards("first", stdout="appended").result()
    boards("second", stdout=("written", "w")).result()
found = n_lines("appended"), n_lines("written")
print("Parsl", parsl.__version__, "lines after a retry:", found[0], 'with "w":', found[1])
assert found == (6, 3), "this has changed"
PYTHON
env/bin/python retry.py 2>retry.log
echo "as found: six lines of three"
