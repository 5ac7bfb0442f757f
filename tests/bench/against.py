"""Two builds on the same classes, in turn, each in a process of its own: this tree and a commit.

    python -m tests.bench.against COMMIT [--only NAME ...] [--rounds N]

For each class and build: CPU seconds, terms and pushes, the share of its boards that was settled
before its unit spent its budget, and the largest resident memory.  What a worker makes once for all
classes (path table, rim) is made before the clock starts.  The counters are exact, so they are the
same on any machine; a build that splits a class otherwise does other work for it.  Needs the word
list enable2k (in a folder of $ORDERLY_WORDLISTS).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.figures import ROOT, WORDLIST, machine

BUDGET = 1_000_000_000  # effort of a unit
STRONG_BUDGET = 8_000_000_000


class Work(NamedTuple):
    """A class, by its letters on the cells of the centre in their order, or on all cells."""

    dims: str
    cutoff: int
    centre: str
    warm: str  # searched before, and not measured
    budget: int = BUDGET
    words: str = WORDLIST
    buckets: str = ""  # empty: those of the preset
    memory_mb: int = 0  # 0: that of the preset


_WEAK = "jqxz jqxz jqxz jqxz l s"
WORKS = {
    "4x5 weak": Work("4x5", 6300, _WEAK, _WEAK),
    "4x5 middling": Work("4x5", 6300, "fy n a t s hmp", _WEAK),
    "4x5 strong": Work("4x5", 6300, "l n a t s r", _WEAK),
    "4x5 middling, whole": Work("4x5", 6300, "fy n a t s hmp", _WEAK, STRONG_BUDGET),
    "4x5 strong, whole": Work("4x5", 6300, "l n a t s r", _WEAK, STRONG_BUDGET),
    "3x6 middling": Work("3x6", 4700, "n a t s", "jqxz jqxz l s"),
    "4x4 fy": Work("4x4", 3600, "jqxz fy l hmp", "jqxz jqxz jqxz jqxz"),
    "4x4 kvw": Work("4x4", 3600, "kvw hmp s cd", "jqxz jqxz jqxz jqxz"),
    "4x4 jqxz": Work("4x4", 3600, "jqxz s t o", "jqxz jqxz jqxz jqxz"),
    "4x4 lll": Work("4x4", 3600, "l l l s", "jqxz jqxz jqxz jqxz"),
    "4x4 lnsa": Work("4x4", 3600, "l n s a", "jqxz jqxz jqxz jqxz"),
    "4x4 stat": Work("4x4", 3600, "s t a t", "jqxz jqxz jqxz jqxz"),
}
# Runs in either tree, so it uses what both have.
_CHILD = """
import json, resource, sys, time
from math import prod
from orderly_boggle.boardclass.parts import parse_path
from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.configs.model import load_config
from orderly_boggle.search import breaker as searched
from orderly_boggle.search.breaker import Breaker, Unit

assert searched.__file__.startswith(sys.path[0]), searched.__file__  # of this tree, no other
words, dims, cutoff, centre, warm, budget, buckets, memory_mb = sys.argv[1:]
search = {"unit_budget": int(budget)}
if int(memory_mb):
    search["memory_mb"] = int(memory_mb)
asked = {"dims": dims, "wordlist": words, "cutoff": cutoff, "search": search}
if buckets:
    asked["buckets"] = buckets
config = load_config(dims, asked)
plan = make_plan(config)
breaker = Breaker(plan.spec)
cell_buckets, kinds = breaker.partition.cell_buckets, breaker.geometry.cell_types

def class_of(text):
    left, rank, step = text.split(), 0, 1
    is_whole = len(left) == len(kinds)
    for kind, buckets in zip(kinds, cell_buckets):
        if is_whole or kind == "center":
            rank += step * buckets.index(left.pop(0))
        step *= len(buckets)
    assert not left, text
    return rank

breaker.break_unit(Unit(class_of(warm)))
unit = Unit(class_of(centre))
began = time.process_time()
result = breaker.break_unit(unit)
spent = time.process_time() - began
letters = breaker.partition.class_letters(unit.class_id)
left = 0.0
for child in result.children:
    parts = dict(parse_path(child.path, len(letters)))
    left += prod(len(few) / len(letters[cell]) for cell, few in parts.items())
counters = {name: result.counters[name] for name in ("n_terms", "n_pushes", "n_splits")}
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
print(json.dumps({"cpu_s": round(spent, 3), **counters, "status": result.status,
                  "settled": round(1 - left, 4), "memory_mib": memory}))
"""


def with_build(tree: Path, source: str, *words: str) -> tuple[list[str], dict[str, str]]:
    """Return the command, and its environment, that runs a program with the build of a tree."""
    if not (tree / "orderly_boggle").is_dir():  # a commit before the one package
        source = source.replace("orderly_boggle.", "")
    command = [sys.executable, "-P", "-c", source, *words]
    return command, os.environ | {"PYTHONPATH": str(tree)}


def told_by(tree: Path, source: str, *words: str) -> str:
    """Return what a program prints with the build of a tree, in a folder that is gone afterwards.

    Raises RuntimeError, with all that it said, when it fails.
    """
    command, environment = with_build(tree, source, *words)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
            text=True,
        )
    if done.returncode:
        raise RuntimeError(f"{tree}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def searched(tree: Path, work: Work) -> dict[str, Any]:
    """Search the class of a work with the build of a tree."""
    words = [work.words, work.dims, str(work.cutoff), work.centre, work.warm, str(work.budget)]
    told = told_by(tree, _CHILD, *words, work.buckets, str(work.memory_mb))
    found: dict[str, Any] = json.loads(told)
    return found


@contextlib.contextmanager
def tree_of(commit: str) -> Iterator[Path]:
    """Check a commit out into a folder of its own, for as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        add = ["git", "worktree", "add", "--quiet", "--detach", str(tree), commit]
        subprocess.run(add, cwd=ROOT, check=True)
        try:
            yield tree
        finally:
            remove = ["git", "worktree", "remove", "--force", str(tree)]
            subprocess.run(remove, cwd=ROOT, check=True)


def parsed(about: str, names: Iterable[str], rounds: int) -> argparse.Namespace:
    """Read the command line of a comparison of some of the things that have these names, and say on
    what machine it is made.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("commit", help="the other build")
    parser.add_argument("--only", nargs="+", choices=list(names), default=list(names))
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--builds", nargs="+", choices=("old", "new"), default=("old", "new"))
    options = parser.parse_args()
    seen = machine()
    sys.stdout.write(
        f"{seen['processor']}, {seen['letter sums']}, commit {seen['commit']} against "
        f"{options.commit}\n"
    )
    return options


def main() -> None:
    """Measure and print, a line for each class, build and round."""
    options = parsed(__doc__ or "", WORKS, rounds=1)
    with tree_of(options.commit) as old:
        for name in options.only:
            for _ in range(options.rounds):
                for build in options.builds:
                    found = searched({"old": old, "new": ROOT}[build], WORKS[name])
                    load = os.getloadavg()[0]
                    sys.stdout.write(f"{name:20} {build}: {json.dumps(found)} load {load:.1f}\n")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
