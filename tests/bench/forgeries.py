"""Forges the published run of 4x4 in two ways, every seal renewed: ``orderly verify`` must refuse
both.

    python -m tests.bench.forgeries      # two minutes on two cores; needs ENABLE2K

Prints what verify answers, its CPU seconds and the seconds that a user waits; then what single
pools of its climb find, and how soon.  Exit code 1 when a forgery is not refused for what it is, or
a pool misses the lowered cutoff.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.search.local.methods import Climbing, local_search
from orderly_boggle.search.scoring.scorer import Scorer
from tests.cluster.test_forged_published import at_cutoff, without_best

RUN, CUTOFF = "4x4-enable2k", 3000
N_POOLS, SIZE = 6, 100
ROOT = Path(__file__).resolve().parents[2]
VERIFY = (
    sys.executable,
    "-c",
    "from orderly_boggle.cluster.cli.start import main; main()",
    "verify",
)


def refused(what: str, folder: Path, told: str) -> bool:
    """Return whether ``verify`` refuses a run and says so much; print what that costs."""
    began = time.perf_counter()
    before = os.times()
    done = subprocess.run((*VERIFY, folder), cwd=ROOT, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - began
    now = os.times()
    cpu_s = now.children_user - before.children_user
    cpu_s += now.children_system - before.children_system
    answer = " ".join(done.stderr.split())
    cost = f"{cpu_s:.1f} CPU s, {wall_s:.1f} s"
    code = done.returncode
    sys.stdout.write(f"{what}: exit {code}, {cost}: {answer}\n")
    sys.stdout.flush()
    told_why = told in answer and "do not believe this run" in answer
    return code == 5 and told_why


def pool(scorer: Scorer, seed: int) -> bool:
    """Return whether one pool reaches the lowered cutoff; print what it finds."""
    began_s, reached_s = time.process_time(), list[float]()

    def note(now: Climbing) -> None:
        if reaches(now.best, CUTOFF) and not reached_s:
            reached_s.append(time.process_time() - began_s)

    best = local_search(scorer, seed=seed, runs=1, pool=SIZE, progress=note)[0]
    cpu_s = time.process_time() - began_s
    first_s = reached_s[0] if reached_s else float("nan")
    told = f"{CUTOFF:,} points after {first_s:.1f} CPU s"
    told += f", {best.score:,} at the end, {cpu_s:.1f} CPU s"
    sys.stdout.write(f"pool {seed}: {told}\n")
    sys.stdout.flush()
    return bool(reached_s)


def main() -> int:
    """Make the two runs and have them verified; then climb."""
    with tempfile.TemporaryDirectory(prefix="orderly-forgeries-") as name:
        gone = without_best(RUN, Path(name, "gone"))
        lower = at_cutoff(RUN, Path(name, "lower"), CUTOFF)
        told = [
            refused("boards removed", gone, "perslatgsineters scores 3,625"),
            refused("cutoff lowered to 3,000", lower, "which reaches the cutoff 3,000"),
        ]
    scorer = Scorer("4x4", "enable2k")
    told += [pool(scorer, seed) for seed in range(N_POOLS)]
    return 0 if all(told) else 1


if __name__ == "__main__":
    sys.exit(main())
