"""Stored verdicts searched again by this build, in their own cell order: they are compared, and the
terms and pushes stand side by side.

    python -m tests.bench.again RUN [--sample N] [--seed S] [--memory MIB] [--against COMMIT]

With --against each unit is then searched by the build of a commit as well, with the same memory, in
a process of its own that makes its tables before its clock starts; it shows CPU seconds and pushes.
`orderly repeat` asks more of a verdict (another image, another order), this asks what the build of
the run and this one cost.  Units are drawn as `orderly repeat --sample` draws them; those that the
run left to their children are not searched.  Ctrl-C ends it with what was found so far.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.results import open_run
from orderly_boggle.results.proof.nodes import run_spec
from orderly_boggle.results.proof.repeat import sampled_rows
from orderly_boggle.search.breaker import Breaker, Unit
from tests.bench.against import tree_of, with_build
from tests.bench.figures import machine

_SHOWN = ("n_terms", "n_pushes", "n_splits")

# Runs in a tree of before the one package, too; reads units, a line each, and answers in lines.
_CHILD = """
import json, sys, time
from dataclasses import replace
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.results import open_run
from orderly_boggle.results.proof.nodes import run_spec
from orderly_boggle.search import breaker as searched
from orderly_boggle.search.breaker import Breaker, Unit

assert searched.__file__.startswith(sys.path[0]), searched.__file__  # of this tree, no other
folder, words, memory_mb = sys.argv[1:]
spec = run_spec(open_run(folder), load_wordlist(words))
name = "budgets" if hasattr(spec, "budgets") else "params"
budgets = replace(getattr(spec, name), unit_budget=1 << 60, memory_mb=int(memory_mb))
breaker = Breaker(replace(spec, **{name: budgets}))
for line in sys.stdin:
    unit = Unit(*json.loads(line))
    began = time.process_time()
    found = breaker.break_unit(unit)
    spent_s = time.process_time() - began
    print(json.dumps({"cpu_s": spent_s, "status": found.status, **found.counters}), flush=True)
"""

Ask = Callable[[Unit], dict[str, Any]]


@contextlib.contextmanager
def _built_at(commit: str, run: str, words: str, memory_mb: int) -> Iterator[Ask]:
    """Start a process with the build of a commit; what it gives searches a unit of the published
    run there, and returns CPU seconds, status and counters.
    """
    with tree_of(commit) as tree:
        # its own copy: an earlier build does not read all that a later one has written
        folder = str(tree / "results" / "published" / run)
        command, environment = with_build(tree, _CHILD, folder, words, str(memory_mb))
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, cwd=tree, env=environment, stdin=pipe, stdout=pipe, text=True
        ) as process:

            def ask(unit: Unit) -> dict[str, Any]:
                assert process.stdin
                assert process.stdout
                process.stdin.write(json.dumps([unit.class_id, unit.path]) + "\n")
                process.stdin.flush()
                answer = process.stdout.readline()
                if not answer:
                    raise RuntimeError(f"the build of {commit} ended: what it said is above")
                found: dict[str, Any] = json.loads(answer)
                return found

            yield ask


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Search, print a line for each and the sums; return 1 if a verdict differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", help="the name of a published run, or a run directory")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory", type=int, help="for terms and trees, in MiB")
    parser.add_argument("--against", metavar="COMMIT", help="also search with this build")
    options = parser.parse_args()
    run = open_run(options.run)
    spec = run_spec(run, load_wordlist(run.made.words.name))
    budgets = replace(spec.budgets, unit_budget=1 << 60)
    if options.memory is not None:
        budgets = replace(budgets, memory_mb=options.memory)
    breaker = Breaker(replace(spec, budgets=budgets))
    stored: Counter[str] = Counter()
    now: Counter[str] = Counter()
    other: Counter[str] = Counter()
    n_agree = 0
    n_differ = 0
    n_split = 0
    cpu_s = 0.0
    about = machine()
    _say(
        f"{options.run}, seed {options.seed}, {budgets.memory_mb} MiB, {about['processor']}, "
        f"commit {about['commit']}"
    )
    with contextlib.ExitStack() as opened:
        opened.enter_context(contextlib.suppress(KeyboardInterrupt))
        ask = None
        if options.against:
            asked = (options.against, options.run, run.made.words.name, budgets.memory_mb)
            ask = opened.enter_context(_built_at(*asked))
        for row in sampled_rows(run, options.sample, options.seed):
            if row.children:
                n_split += 1
                continue
            began_s = time.process_time()
            found = breaker.break_unit(Unit(*row.key))
            spent_s = time.process_time() - began_s
            same = (found.status, found.n_boards, set(found.candidates)) == (
                row.status, row.n_boards, set(row.candidates),
            )  # fmt: skip
            n_agree += same
            n_differ += not same
            cpu_s += spent_s
            stored.update({name: row.counters.get(name, 0) for name in _SHOWN})
            now.update({name: found.counters[name] for name in _SHOWN})
            judged = "agrees" if same else f"DIFFERS: stored {row}, now {found}"
            line = f"{row.key}: {row.status}, {judged}, {spent_s:.1f} CPU s"
            if ask:
                there = ask(Unit(*row.key))
                other.update({name: there[name] for name in ("cpu_s", *_SHOWN)})
                n_differ += there["status"] != row.status
                line += f"; {options.against}: {there['status']}, {there['cpu_s']:.1f} CPU s"
            _say(line)
    _say(f"{n_agree} agree, {n_differ} differ, {n_split} left to children; {cpu_s:.0f} CPU s")
    if other:
        ratio = cpu_s / other["cpu_s"]
        _say(f"{options.against}: {other['cpu_s']:.0f} CPU s; now {ratio:.2f} of it")
    for name in _SHOWN:
        ratio = now[name] / max(1, stored[name])
        _say(f"{name}: stored {stored[name]:,}, now {now[name]:,}, ratio {ratio:.3f}")
        if other:
            _say(f"{name}: {options.against} {other[name]:,}")
    return int(n_differ > 0)


if __name__ == "__main__":
    sys.exit(main())
