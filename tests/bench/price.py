"""What the questions cost, in one table: this tree against a commit, in turn, with one command.

    python -m tests.bench.price COMMIT [--only ROW ...] [--rounds N] [--builds old new]

Each figure is the median of the rounds, each in a process of its own, and *ratio* is new to old.
Of a class that spends the budget of its unit, what is settled stands for the whole: its CPU seconds
are divided by the share of its boards that is settled.  The first verdict is timed by the clock,
from the start of the process, once the kernels are compiled.  Needs the word lists enable2k and
yawl (in a folder of $ORDERLY_WORDLISTS), and a machine that does nothing else.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from tests.bench.against import WORKS, Work, parsed, searched, told_by, tree_of
from tests.bench.figures import ROOT, WORDLIST

_PLAN_S = 420
_CPU = "CPU s"
_MEMORY = "MiB"
_RATE = "a CPU s"
_PIECE = Work(
    "3x3",
    500,
    "lnrsy chkmpt lnrsy aeiou aeiou aeiou chkmpt lnrsy bdfgjqvwxz",
    " ".join(["bdfgjqvwxz"] * 9),
    buckets="aeiou lnrsy chkmpt bdfgjqvwxz",
)
_YAWL = Work("4x4", 4540, "l n s a", "jqxz jqxz jqxz jqxz", words="yawl", memory_mb=1750)

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
from orderly_boggle.search import Scorer
from tests.bench.figures import variations

words, is_portable = sys.argv[1:]
boards = variations()
scorer = Scorer("4x4", words, portable=is_portable == "True")
scorer.scores(boards[:1000])
began = time.process_time()
scorer.scores(boards)
print(len(boards) / (time.process_time() - began))
"""
_RUN_3X3 = ("run", "3x3", "-w", WORDLIST, "--cutoff", "500", "--workers", "0", "--out", "run")

Found = dict[str, float]  # by unit


@cache
def _compile(tree: Path) -> None:
    """Compile all kernels of a tree, which is no part of what is timed; 2x2 would not need all."""
    told_by(tree, _COMMAND, *_RUN_3X3)


def _whole_3x3(tree: Path) -> Found:
    _compile(tree)
    before = os.times()
    told_by(tree, _COMMAND, *_RUN_3X3)
    after = os.times()
    user_s = after.children_user - before.children_user
    return {_CPU: user_s + after.children_system - before.children_system}


def _first_verdict(tree: Path) -> Found:
    _compile(tree)
    told = told_by(tree, _FIRST_VERDICT, *_RUN_3X3)
    return {"s": float(told.splitlines()[-1])}


def _scored(tree: Path, *, is_portable: bool) -> Found:
    return {_RATE: float(told_by(tree, _SCORES, WORDLIST, str(is_portable)))}


def _searched(works: tuple[Work, ...], tree: Path) -> Found:
    cpu_s = 0.0
    memory_mib = 0.0
    for work in works:
        found = searched(tree, work)
        cpu_s += found["cpu_s"] / found["settled"]
        memory_mib = max(memory_mib, found["memory_mib"])
    return {_CPU: cpu_s, _MEMORY: memory_mib}


def _planned(dims: str, cutoff: int, tree: Path) -> Found:
    asked = ("plan", dims, "-w", WORDLIST, "--cutoff", str(cutoff), "--workers", "2")
    told = told_by(tree, _COMMAND, *asked, "--seconds", str(_PLAN_S), "--seed", "73")
    sys.stderr.write(told)  # with its interval, and not into the table
    found = re.search(r"([\d,]+) (?:core )?hours", told)
    assert found, told
    return {"core hours": float(found[1].replace(",", ""))}


class Row(NamedTuple):
    """What is measured at once, and what each figure must be; one without that is not shown."""

    figure: Callable[[Path], Found]
    musts: dict[str, str]  # by unit


_4X4 = tuple(work for name, work in WORKS.items() if name.startswith("4x4"))


def _classes(*works: Work) -> Callable[[Path], Found]:
    return partial(_searched, works)


ROWS = {
    "4x5 weak": Row(_classes(WORKS["4x5 weak"]), {_CPU: "ratio 0.2"}),
    "4x5 middling": Row(_classes(WORKS["4x5 middling"]), {_CPU: "ratio 0.2"}),
    "4x5 strong": Row(_classes(WORKS["4x5 strong"]), {_CPU: "ratio 0.2", _MEMORY: "3,000"}),
    "4x4, six classes": Row(_classes(*_4X4), {_CPU: "ratio 0.75"}),
    "4x4 yawl": Row(_classes(_YAWL), {_CPU: "", _MEMORY: "1,400"}),
    "3x3 whole": Row(_whole_3x3, {_CPU: "ratio 0.75"}),
    "3x3 first verdict": Row(_first_verdict, {"s": "1.5"}),
    "class of the paper": Row(_classes(_PIECE), {_CPU: "0.1"}),
    "scores near the best": Row(partial(_scored, is_portable=False), {_RATE: "ratio 1.28"}),
    "scores, portable": Row(partial(_scored, is_portable=True), {_RATE: "ratio 1.67"}),
    "plan 4x5": Row(partial(_planned, "4x5", 6300), {"core hours": "220,000"}),
    "plan 3x6": Row(partial(_planned, "3x6", 4700), {"core hours": "1,000"}),
}


def main() -> None:
    """Measure, and print a row as soon as it is known."""
    options = parsed(__doc__ or "", ROWS, rounds=3)
    sys.stdout.write("\n| | old | new | ratio | must |\n|---|---|---|---|---|\n")
    with tree_of(options.commit) as old:
        trees = {"old": old, "new": ROOT}
        for name in options.only:
            # plans cost minutes, and say themselves how far they may be off
            n_rounds = 1 if name.startswith("plan") else options.rounds
            found: dict[str, list[Found]] = {build: [] for build in options.builds}
            for _ in range(n_rounds):
                for build in options.builds:
                    found[build].append(ROWS[name].figure(trees[build]))
            _write(name, found)


def _write(name: str, found: dict[str, list[Found]]) -> None:
    for unit, must in ROWS[name].musts.items():
        medians = {}
        for build, rounds in found.items():
            medians[build] = statistics.median(values[unit] for values in rounds)
        cells = [f"{name}, {unit}"]
        for build in ("old", "new"):
            cells.append(f"{medians[build]:,.4g}" if build in medians else "")
        ratio = ""
        if len(medians) > 1:
            ratio = f"{medians['new'] / medians['old']:.2f}"
        sys.stdout.write(f"| {' | '.join((*cells, ratio, must))} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
