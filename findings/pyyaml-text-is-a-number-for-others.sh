#!/usr/bin/env bash
# PyYAML writes the text 12e4 without quotes, which other readers of YAML take for a number.
#
# Guess: what safe_dump writes is text again for every reader: it puts quotes where a text looks like a number, as it does for
#   1:30.
# Seen: PyYAML 6.0.4 writes the commits 12e4 and 4e904462, and 08 and 0o17, without quotes; it reads them as text itself.
#   ruamel.yaml 0.19.1, js-yaml 5.5.0 and yaml 2.9.1 (npm) read 12e4 as 120000, 08 as 8 and 0o17 as 15, and yaml reads 4e904462 as
#   infinity.
# What orderly does: configuration is TOML, records are JSON; the launch files are written by hand.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyyaml==6.0.4 ruamel.yaml==0.19.1
npm install --silent --no-fund --no-audit js-yaml@5.5.0 yaml@2.9.1
cat >read.cjs <<'JS'
const text = require("fs").readFileSync("run.yaml", "utf8");
const seen = [require("js-yaml").load(text), require("yaml").parse(text)];
console.log(JSON.stringify(seen.map((run) => Object.values(run).map(String))));
JS
cat >write.py <<'PYTHON'
import json
import subprocess

import ruamel.yaml
import yaml

RUN = {"commit": "12e4", "other": "4e904462", "share": "08", "mask": "0o17", "time": "1:30"}
with open("run.yaml", "w") as file:
    yaml.safe_dump(RUN, file, sort_keys=False)
with open("run.yaml") as file:
    text = file.read()
by_ruamel = list(ruamel.yaml.YAML(typ="safe").load(text).values())
answer = subprocess.run(["node", "read.cjs"], capture_output=True, text=True, check=True).stdout
by_js_yaml, by_yaml = json.loads(answer)
print(text, end="")
print("ruamel.yaml:", by_ruamel, "js-yaml:", by_js_yaml, "yaml:", by_yaml)
assert yaml.safe_load(text) == RUN and "commit: 12e4\n" in text and "time: '1:30'\n" in text, "this has changed"
assert by_ruamel[0] == 120000 and by_ruamel[2:4] == [8, 15], "this has changed"
assert by_js_yaml == ["120000", "4e904462", "8", "15", "1:30"], "this has changed"
assert by_yaml == ["120000", "Infinity", "8", "15", "1:30"], "this has changed"
PYTHON
env/bin/python write.py
echo "as found: a commit is a number for others"
