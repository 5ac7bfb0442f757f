"""``orderly run`` looks at a stored run once before it takes the lock, and once after."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cluster.small import SMALL
from tests.conftest import ROOT

# what Python tells of the files that it opens and the directories that it lists
WATCHED = """
import json, sys
folder, options, how = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
reads, walks = [], []

def note(event, given):
    if event == "open" and str(given[0]).endswith("run.json"):
        reads.append(given)
    if event == "os.scandir" and str(given[0]) == folder:
        walks.append(given)

from cluster.driver.driver import run
from configs.model import load_config

asked = load_config(None, options | {"out": folder})
sys.addaudithook(note)
outcome = run(asked, **how)
print(len(reads), len(walks), outcome.n_computed)
"""


def watched(folder, options, **how):
    """Return how often run.json is opened and the directory is gone through, and the verdicts."""
    command = [sys.executable, "-c", WATCHED, str(folder), json.dumps(options), json.dumps(how)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [int(text) for text in done.stdout.split()]


@pytest.mark.parametrize("cutoff", [12, "auto"])
def test_a_run_that_goes_on_reads_its_question_twice_and_walks_once(tmp_path, cutoff):
    options = SMALL | {"cutoff": cutoff}
    first = watched(tmp_path / "run", options)
    assert first[0] <= 2
    assert watched(tmp_path / "run", options) == [2, 1, 0]


def test_a_run_that_takes_verdicts_over_reads_the_other_once(tmp_path):
    watched(tmp_path / "run", SMALL)
    options = SMALL | {"cutoff": 13}
    more = {"extends": str(tmp_path / "run")}
    watched(tmp_path / "more", options, **more)
    assert watched(tmp_path / "more", options, **more) == [3, 1, 0]
