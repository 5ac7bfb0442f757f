"""A board of more cells than a key holds: a share of 4x5 from its start over a stop to a merge, and
the certificate of a part of a class.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time

import pytest

from orderly_boggle.results.storage import files
from orderly_boggle.results.store.run import open_run
from tests.cluster.small import WORDS
from tests.conftest import RESTING

N_CLASSES, N_SHARES = 2_862_000, 100_000
N_OWN = 29  # classes of each of the first shares: 2,862,000 / 100,000, rounded up


@pytest.fixture
def question(tmp_path):
    """Return the command for a share of 4x5 whose classes take no time."""
    words = tmp_path / "tiny.txt"
    words.write_text("\n".join(WORDS) + "\n")

    def asked(number, out):
        share = f"{number}/{N_SHARES}"
        return (
            *("run", "4x5", "--wordlist", words, "--cutoff", 1_000, "--workers", 0),
            *("--share", share, "--out", out),
        )

    return asked


def stop_after_the_first_verdict(arguments, log):
    """Send a run SIGTERM once it has a verdict; return its exit code."""
    process = subprocess.Popen([*RESTING, *map(str, arguments)], stdout=subprocess.DEVNULL)
    try:
        while not (log.exists() and re.search(r'"n_verdicts":[1-9]', log.read_text())):
            assert process.poll() is None, "the run ended by itself"
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        return process.wait(timeout=300)
    finally:
        process.kill()


def test_a_share_of_4x5_stops_goes_on_and_comes_together(orderly, question, tmp_path):
    first, second, both = (tmp_path / name for name in ("first", "second", "both"))
    assert stop_after_the_first_verdict(question(1, first), first / files.EVENTS) == 4
    n_before = len(list(open_run(first).rows()))
    assert 0 < n_before < N_OWN

    done = orderly(*question(1, first))
    assert done.code == 0, done.err
    assert f"all {N_OWN} classes of it are settled" in done.out
    assert "nothing is proven yet" in done.out
    assert f"{N_OWN - n_before} verdicts computed, {n_before} from before" in done.out

    orderly.done(*question(2, second))
    orderly.done("merge", both, first, second)
    status = json.loads(orderly("status", both, "--format", "json").out)
    assert status["state"] == "incomplete"
    assert (status["n_classes"], status["n_classes_done"]) == (N_CLASSES, 2 * N_OWN)

    class_id = next(open_run(both).rows()).class_id
    certified = orderly("certify", both, "--force", 8, "--classes", class_id)
    assert certified.code == 0, certified.err
    assert "Audited: 200 leaves" in orderly.done("audit", both, "--leaves", 200)
