"""Forges the published run of 4x4 in two ways, every seal renewed: ``orderly verify`` must refuse
both.

    python -m tests.bench.forgeries      # about two minutes on two cores; needs ENABLE2K

Prints what verify answers, its CPU seconds and the seconds that a user waits.  Exit code 1 when a
forgery is not refused for what it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.cluster.test_forged_published import at_cutoff, without_best

RUN = "4x4-enable2k"
ROOT = Path(__file__).resolve().parents[2]
VERIFY = (sys.executable, "-c", "from cluster.cli.start import main; main()", "verify")


def refused(what: str, folder: Path, told: str) -> bool:
    """Return whether ``verify`` refuses a run and says so much; print what that costs."""
    began, before = time.perf_counter(), os.times()
    done = subprocess.run((*VERIFY, folder), cwd=ROOT, capture_output=True, text=True, check=False)
    wall_s, now = time.perf_counter() - began, os.times()
    cpu_s = now.children_user + now.children_system - before.children_user - before.children_system
    answer = " ".join(done.stderr.split())
    sys.stdout.write(
        f"{what}: exit {done.returncode}, {cpu_s:.1f} CPU s, {wall_s:.1f} s: {answer}\n"
    )
    sys.stdout.flush()
    return done.returncode == 5 and told in answer and "do not believe this run" in answer


def main() -> int:
    """Make the two runs and have them verified."""
    with tempfile.TemporaryDirectory(prefix="orderly-forgeries-") as name:
        gone = without_best(RUN, Path(name, "gone"))
        lower = at_cutoff(RUN, Path(name, "lower"), 3000)
        told = [
            refused("boards removed", gone, "perslatgsineters scores 3,625"),
            refused("cutoff lowered to 3,000", lower, "which reaches the cutoff 3,000"),
        ]
    return 0 if all(told) else 1


if __name__ == "__main__":
    sys.exit(main())
