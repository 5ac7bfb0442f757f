#!/usr/bin/env bash
# SkyPilot: `--env NAME=VALUE` with a name that the task does not have is taken, and the default is used.
#
# Guess: a name that is not under `envs` of the task is refused, as an unknown field of the file is, before a machine is rented.
# Seen: SkyPilot 0.14.1: `QUESTOIN` beside `QUESTION` is taken as one more variable, and the task has the default; a misspelt field
#   of the file is refused ("did you mean 'run'?").  A variable without a default (null) that is not given is refused.
# What orderly does: sky.yaml has no default for the place of the results (OUT: null), which has to be given.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check skypilot==0.14.1
cat >task.py <<'PYTHON'
import sky

task = {"name": "t", "envs": {"QUESTION": "small"}, "run": "echo $QUESTION"}


def tried(task, *overrides):
    try:
        return dict(sky.Task.from_yaml_config(task, env_overrides=list(overrides)).envs)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"


misspelt = tried(dict(task), ("QUESTOIN", "large"))
field = tried({**task, "rnu": "true"})
lacking = tried({**task, "envs": {"QUESTION": None}}, ("QUESTOIN", "large"))
print("SkyPilot", sky.__version__)
print("misspelt variable:", misspelt)
print("misspelt field:", field)
print("misspelt variable, and the right one has no default:", lacking)
assert misspelt == {"QUESTION": "small", "QUESTOIN": "large"}, "this has changed"
assert "ValueError" in lacking and "rror" in field, "this has changed"
PYTHON
HOME=$work timeout 120 env/bin/python task.py
echo "as found: the misspelt variable is taken, its task asks the default question"
