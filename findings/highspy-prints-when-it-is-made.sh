#!/usr/bin/env bash
# highspy prints two lines on standard output when a model is made, before any option can silence it.
#
# Guess: Highs() is silent until it solves, and with output_flag = False for good, so that a program may print JSON.
# Seen: highspy 1.16.0: the first Highs() of a process prints its name and licence; nothing afterwards.
# What orderly does: reads the last line of a solver's answer only.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check highspy==1.16.0
cat >make.py <<'PYTHON'
import highspy

highspy.Highs().setOptionValue("output_flag", False)
model = highspy.Highs()
model.setOptionValue("output_flag", False)
model.addVar(0, 1)
model.run()
PYTHON
env/bin/python make.py >said.txt
cat said.txt
[ "$(wc -l <said.txt)" = 2 ] && grep -q "Running HiGHS 1.16.0" said.txt || { echo "this has changed"; exit 1; }
echo "as found: two lines before the first option"
