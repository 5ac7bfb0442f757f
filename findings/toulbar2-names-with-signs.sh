#!/usr/bin/env bash
# toulbar2's CFN files look like JSON, and are not: quoted strings are cut at blanks and signs.
#
# Guess: any JSON string will do as the name of a problem, so that the name can say what was asked.
# Seen: pytoulbar2 1.4.0.1 reads the same network with the name "plain" or "a-b", and refuses "two words", "a,b" and "a:b"
#   with "wrong problem file format", although a JSON reader takes all of them.
# What orderly does: `export --format cfn` writes names of letters, digits and underscores.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pytoulbar2==1.4.0.1
cat >read.py <<'PYTHON'
import json
import subprocess
import sys

NETWORK = {
    "problem": {"name": "", "mustbe": ">-1"},
    "variables": {"c0": ["a", "b"], "c1": ["a", "b"]},
    "functions": {"f": {"scope": ["c0", "c1"], "defaultcost": 0, "costs": ["a", "b", 3]}},
}
SOLVE = "import pytoulbar2\nn = pytoulbar2.CFN()\nn.Read('network.cfn')\nprint(n.Solve()[1])"
found = {}
for name in ("plain", "a-b", "two words", "a,b", "a:b"):
    NETWORK["problem"]["name"] = name
    with open("network.cfn", "w") as file:
        json.dump(NETWORK, file)
    answer = subprocess.run([sys.executable, "-c", SOLVE], capture_output=True, text=True, timeout=60)
    found[name] = answer.stdout.strip() or answer.stderr.strip().splitlines()[-1].rpartition(": ")[2]
    print(repr(name), "->", found[name])
assert found["plain"] == found["a-b"] == "3.0", "this has changed"
for name in ("two words", "a,b", "a:b"):
    assert "wrong problem file format" in found[name], "this has changed"
PYTHON
env/bin/python read.py
echo "as found: names of CFN files must have no blank, comma or colon"
