"""What the questions cost, in one table: this tree against a commit, in turn, with one command.

    python -m tests.bench.price COMMIT [--only ROW ...] [--rounds N] [--builds old new]

Each figure is the median of the rounds, each in a process of its own, and *ratio* is new to old.
Of a class that spends the budget of its unit, what is settled stands for the whole: its CPU seconds
are divided by the share of its boards that is settled.  The first verdict is timed by the clock,
from the start of the process, once the kernels are compiled.  Needs the word lists enable2k and
yawl (in a folder of $ORDERLY_WORDLISTS), and a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.bench.against import WORKS, Work, searched, tree_of
from tests.bench.figures import BEST, ROOT, WORDLIST, machine

_PLAN_S = 420
_PIECE = Work(
    "3x3",
    500,
    "lnrsy chkmpt lnrsy aeiou aeiou aeiou chkmpt lnrsy bdfgjqvwxz",
    " ".join(["bdfgjqvwxz"] * 9),
    buckets="aeiou lnrsy chkmpt bdfgjqvwxz",
)
_YAWL = Work("4x4", 4540, "l n s a", "jqxz jqxz jqxz jqxz", words="yawl")

_COMMAND = "from orderly_boggle.cluster.cli.start import main\nmain()\n"
# Runs in either tree.
_FIRST_VERDICT = """
import os, sys, time
from orderly_boggle.cluster.scheduling import scheduler

handle = scheduler.Scheduler.handle

def watch(self, event, *rest):
    if type(event).__name__ == "Answer":
        began = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19])
        now_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        print(now_s - began / os.sysconf("SC_CLK_TCK"), flush=True)
        os._exit(0)
    return handle(self, event, *rest)

scheduler.Scheduler.handle = watch
from orderly_boggle.cluster.cli.start import main
main()
"""
_SCORES = """
import sys, time
import numpy as np
from orderly_boggle.search import Scorer
from orderly_boggle.search.scoring.scorer import encode_boards

words, best, is_portable = sys.argv[1:]
rng = np.random.default_rng(1)
boards = np.repeat(encode_boards([best], 16), 60_000, 0)
for _ in range(2):
    cells = rng.integers(0, 16, len(boards))
    boards[np.arange(len(boards)), cells] = rng.integers(0, 26, len(boards))
scorer = Scorer("4x4", words, portable=is_portable == "True")
scorer.scores(boards[:1000])
began = time.process_time()
scorer.scores(boards)
print(len(boards) / (time.process_time() - began))
"""


def _python(tree: Path, source: str, *words: str) -> str:
    """Return what a program says with the build of a tree, from a folder that is gone
    afterwards.
    """
    if not (tree / "orderly_boggle").is_dir():  # a commit before the one package
        source = source.replace("orderly_boggle.", "")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-P", "-c", source, *words],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


_SMALL_RUN = ("run", "3x3", "-w", WORDLIST, "--cutoff", "500", "--workers", "0", "--out", "run")


def _cpu_of_3x3(tree: Path) -> float:
    before = os.times()
    _python(tree, _COMMAND, *_SMALL_RUN)
    after = os.times()
    user_s = after.children_user - before.children_user
    return user_s + after.children_system - before.children_system


def _first_verdict(tree: Path) -> float:
    return float(_python(tree, _FIRST_VERDICT, *_SMALL_RUN).splitlines()[-1])


def _rate(tree: Path, *, is_portable: bool) -> float:
    return float(_python(tree, _SCORES, WORDLIST, BEST, str(is_portable)))


def _cpu_of(names: tuple[str, ...], tree: Path) -> float:
    total_s = 0.0
    for name in names:
        found = searched(tree, WORKS[name])
        total_s += found["cpu_s"] / found["settled"]
    return total_s


def _cpu_of_piece(tree: Path) -> float:
    return float(searched(tree, _PIECE)["cpu_s"])


def _memory(work: Work, tree: Path) -> float:
    return float(searched(tree, work)["memory_mib"])


def _core_hours(dims: str, cutoff: int, tree: Path) -> float:
    asked = ("plan", dims, "-w", WORDLIST, "--cutoff", str(cutoff), "--workers", "2")
    told = _python(tree, _COMMAND, *asked, "--seconds", str(_PLAN_S), "--seed", "73")
    sys.stdout.write(told)
    found = re.search(r"([\d,]+) (?:core )?hours", told)
    assert found, told
    return float(found[1].replace(",", ""))


class Row(NamedTuple):
    """A row of the table."""

    unit: str
    must: str
    figure: Callable[[Path], float]


_4X4 = tuple(name for name in WORKS if name.startswith("4x4"))
ROWS = {
    "4x5 weak": Row("CPU s", "ratio 0.2", partial(_cpu_of, ("4x5 weak",))),
    "4x5 middling": Row("CPU s", "ratio 0.2", partial(_cpu_of, ("4x5 middling",))),
    "4x5 strong": Row("CPU s", "ratio 0.2", partial(_cpu_of, ("4x5 strong",))),
    "4x5 memory": Row("MiB", "3,000", partial(_memory, WORKS["4x5 strong"])),
    "4x4 classes": Row("CPU s", "ratio 0.75", partial(_cpu_of, _4X4)),
    "4x4 yawl memory": Row("MiB", "1,400", partial(_memory, _YAWL)),
    "3x3 whole": Row("CPU s", "ratio 0.75", _cpu_of_3x3),
    "3x3 first verdict": Row("s", "1.5", _first_verdict),
    "class of the paper": Row("CPU s", "0.1", _cpu_of_piece),
    "scores near the best": Row("a CPU s", "ratio 1.28", partial(_rate, is_portable=False)),
    "the same, portable": Row("a CPU s", "ratio 1.67", partial(_rate, is_portable=True)),
    "plan 4x5": Row("core hours", "220,000", partial(_core_hours, "4x5", 6300)),
    "plan 3x6": Row("core hours", "1,000", partial(_core_hours, "3x6", 4700)),
}


def main() -> None:
    """Measure, and print a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commit", help="the other build")
    parser.add_argument("--only", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--builds", nargs="+", choices=("old", "new"), default=("old", "new"))
    options = parser.parse_args()
    about = machine()
    sys.stdout.write(
        f"{about['processor']}, {about['letter sums']}, commit {about['commit']} against "
        f"{options.commit}\n\n| | old | new | ratio | must |\n|---|---|---|---|---|\n"
    )
    with tree_of(options.commit) as old:
        for name in options.only:
            row = ROWS[name]
            values: dict[str, list[float]] = {build: [] for build in options.builds}
            # plans cost minutes, and say themselves how far they may be off
            n_rounds = 1 if name.startswith("plan") else options.rounds
            for _ in range(n_rounds):
                for build in options.builds:
                    values[build].append(row.figure({"old": old, "new": ROOT}[build]))
            _write(name, row, {build: statistics.median(each) for build, each in values.items()})


def _write(name: str, row: Row, medians: dict[str, float]) -> None:
    cells = [f"{name}, {row.unit}"]
    for build in ("old", "new"):
        cells.append(f"{medians[build]:,.4g}" if build in medians else "")
    ratio = ""
    if len(medians) > 1:
        ratio = f"{medians['new'] / medians['old']:.2f}"
    sys.stdout.write(f"| {' | '.join((*cells, ratio, row.must))} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
