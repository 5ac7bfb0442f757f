"""Stored verdicts searched again by this build, in their own cell order: they are compared, and the
terms and pushes stand side by side.

    python -m tests.bench.again RUN [--sample N] [--seed S] [--memory MIB]

`orderly repeat` asks more of a verdict (another image, another order), this asks what the build of
the run and this one cost.  Units are drawn as `orderly repeat --sample` draws them; those that the
run left to their children are not searched.  Ctrl-C ends it with what was found so far.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections import Counter
from dataclasses import replace

from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.results import open_run
from orderly_boggle.results.proof.nodes import run_spec
from orderly_boggle.results.proof.repeat import sampled_rows
from orderly_boggle.search.breaker import Breaker, Unit
from tests.bench.figures import machine

_SHOWN = ("n_terms", "n_pushes", "n_splits")


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
    options = parser.parse_args()
    run = open_run(options.run)
    spec = run_spec(run, load_wordlist(run.made.words.name))
    budgets = replace(spec.budgets, unit_budget=1 << 60)
    if options.memory is not None:
        budgets = replace(budgets, memory_mb=options.memory)
    breaker = Breaker(replace(spec, budgets=budgets))
    stored: Counter[str] = Counter()
    now: Counter[str] = Counter()
    n_agree = 0
    n_differ = 0
    n_split = 0
    cpu_s = 0.0
    about = machine()
    _say(
        f"{options.run}, seed {options.seed}, {budgets.memory_mb} MiB, {about['processor']}, "
        f"commit {about['commit']}"
    )
    with contextlib.suppress(KeyboardInterrupt):
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
            _say(f"{row.key}: {row.status}, {judged}, {spent_s:.1f} CPU s")
    _say(f"{n_agree} agree, {n_differ} differ, {n_split} left to children; {cpu_s:.0f} CPU s")
    for name in _SHOWN:
        ratio = now[name] / max(1, stored[name])
        _say(f"{name}: stored {stored[name]:,}, now {now[name]:,}, ratio {ratio:.3f}")
    return int(n_differ > 0)


if __name__ == "__main__":
    sys.exit(main())
