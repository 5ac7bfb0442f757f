"""Everything that takes too long for every day, with a one-page report: ``make nightly``.

python -m tests.soundness.nightly [--report nightly.md] [--only NAME ...]

Two stages at a time, longest first; each is a command of its own, its CPU time taken by the operating system.  Needs
ENABLE2K (in a folder of $ORDERLY_WORDLISTS), or takes the bundled list.  Exit code 1 when a stage fails.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from boardclass.wordlist import DEFAULT_WORDLIST, available_names

ROOT = Path(__file__).resolve().parent.parent.parent
PUBLISHED_3X4 = ROOT / "results" / "published" / "3x4-enable2k"
N_LANES = 2
CUTOFFS_3X3 = {"enable2k": 500, DEFAULT_WORDLIST: 420}


class Stage(NamedTuple):
    """Commands and why they are run; ``{tmp}`` stands for a folder of their own.

    Into the report goes the last line that they print, or the last that begins with ``told``.
    """

    name: str
    shows: str
    commands: tuple[tuple[str, ...], ...]
    environment: tuple[tuple[str, str], ...] = ()
    told: str = ""


class Outcome(NamedTuple):
    """The result of a stage."""

    stage: Stage
    code: int
    told: str
    cpu_s: float
    wall_s: float


def _module(name: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", f"tests.{name}", *arguments)


def _pytest(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *arguments)


def _orderly(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", "from cluster.cli.start import main; main()", *arguments)


def stages(seed: int) -> list[Stage]:
    """Return all stages, longest first; ``seed`` chooses what is checked at random."""
    words = "enable2k" if "enable2k" in available_names() else DEFAULT_WORDLIST
    run = "{tmp}/run"
    question = ("3x3", "-w", words, "--cutoff", str(CUTOFFS_3X3[words]), "--workers", "0", "--out", run)
    found = [
        Stage(
            "certificates",
            "all of 3x3 run, verified, certified, every leaf audited, verified again",
            (
                _orderly("run", *question),
                _orderly("verify", run),
                _orderly("certify", run),
                _orderly("audit", run),
                _orderly("verify", run, "--write"),
            ),
            told="strength",
        ),
        Stage(
            "enumerations",
            "no bound below a score: full enumerations and random pairs",
            (_module("soundness.enumerations", "--wordlist", words, "--seed", str(seed)),),
        ),
        Stage("tests", "the tests marked nightly", (_pytest("-m", "nightly"),)),
        Stage("properties", "ten times the examples that are tried every day", (_pytest(*WITH_EXAMPLES),)),
        Stage(
            "referees",
            "the scorer against four independent solvers on 100,000 boards",
            (_module("search.referees", "--boards", "100000", "--wordlist", words, "--seed", "1"),),
        ),
        Stage(
            "mutations",
            "seeded soundness bugs are noticed",
            (_module("soundness.mutate", "--jobs", "1", "--report", str(ROOT / "nightly-mutations.md")),),
            told="in all:",
        ),
        Stage(
            "deletions",
            "every check is missed by a test: 20 of them, drawn again each time, deleted one by one",
            (_module("soundness.deletions", "--sample", "20", "--seed", str(seed)),),
            told="in all:",
        ),
        Stage(
            "lists", "38 word-list packages of Debian imported, no line uncounted", (_module("soundness.debian_lists"),)
        ),
        Stage(
            "planted",
            "1,000 planted winners are returned",
            (_module("soundness.planted", "--boards", "1000", "--wordlist", words, "--seed", str(seed)),),
        ),
        Stage(
            "boundscheck",
            "no index leaves its array: tests of the kernels with NUMBA_BOUNDSCHECK=1",
            (_pytest("tests/boardclass", "tests/search", "-m", "not slow and not nightly"),),
            (("NUMBA_BOUNDSCHECK", "1"), ("NUMBA_CACHE_DIR", "{tmp}")),
        ),
        Stage(
            "no-jit",
            "the same source as plain Python: NUMBA_DISABLE_JIT=1 on small inputs",
            (_pytest(*WITHOUT_JIT),),
            (("NUMBA_DISABLE_JIT", "1"), ("NUMBA_CACHE_DIR", "{tmp}")),
        ),
    ]
    if words == "enable2k":
        copy = (sys.executable, "-c", "import shutil, sys; shutil.copytree(*sys.argv[1:])", str(PUBLISHED_3X4), run)
        drawn = ("--sample", "100", "--force", "4", "--seed", str(seed))
        commands = (copy, _orderly("verify", run), _orderly("certify", run, *drawn), _orderly("audit", run))
        shows = "100 parts of the published 3x4 run, drawn again each time: certified, every leaf audited"
        found.append(Stage("parts of 3x4", shows, commands, told="Audited"))
    return found


# What Hypothesis thinks up examples for.
WITH_EXAMPLES = ("--hypothesis-profile", "nightly", "-m", "hypothesis and not nightly")

# Small inputs: each takes seconds as plain Python.
WITHOUT_JIT = (
    "tests/boardclass",
    "tests/search/test_trie.py",
    "tests/search/test_tree.py",
    "tests/search/test_walk.py",
    "tests/search/test_node.py",
    "tests/search/test_bound.py",
    "-k",
    "not enable2k and not 3x3 and not 3x4 and not 4x4 and not whole and not golden and not kernel_time",
)


def perform(stage: Stage) -> Outcome:
    """Run the commands of a stage until one fails; log to a file in the stage's folder."""
    began, cpu_s, code, text = time.monotonic(), 0.0, 0, ""
    with tempfile.TemporaryDirectory(prefix=f"orderly-{stage.name.replace(' ', '-')}-") as folder:
        given = {name: value.replace("{tmp}", folder) for name, value in stage.environment}
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **given}
        for command in stage.commands:
            with Path(folder, "log").open("w+b") as log:
                arguments = [part.replace("{tmp}", folder) for part in command]
                process = subprocess.Popen(arguments, cwd=ROOT, env=environment, stdout=log, stderr=log)
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = code = os.waitstatus_to_exitcode(status)
                cpu_s += used.ru_utime + used.ru_stime
                log.seek(0)
                text = log.read().decode("utf-8", "backslashreplace")
            if code:
                sys.stderr.write(f"--- {stage.name}: {' '.join(command)}\n{text[-6000:]}\n")
                break
    told = [line.strip("= ") for line in text.splitlines() if line.strip() and (code or line.startswith(stage.told))]
    return Outcome(stage, code, told[-1] if told else "", cpu_s, time.monotonic() - began)


def report(outcomes: Sequence[Outcome], waiting: Sequence[str], seed: int, wall_s: float) -> str:
    """Return the page."""
    failed = [outcome.stage.name for outcome in outcomes if outcome.code]
    verdict = f"FAILED: {', '.join(failed)}." if failed else "All stages passed." if not waiting else "So far so good."
    later = f" Not done yet: {', '.join(waiting)}." if waiting else ""
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%h %s"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    lines = [
        "# Nightly report",
        "",
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}; commit {commit or 'unknown'}; seed {seed}.",
        "",
        f"**{verdict}**{later} {wall_s / 60:.0f} minutes, {sum(o.cpu_s for o in outcomes) / 60:.0f} CPU minutes.",
        "",
        "| stage | shows | result | in its own words | CPU s | wall s |",
        "|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        result = f"exit code {outcome.code}" if outcome.code else "passed"
        times = (f"{outcome.cpu_s:,.0f}", f"{outcome.wall_s:,.0f}")
        cells = (outcome.stage.name, outcome.stage.shows, result, outcome.told.replace("|", "\\|")[:300], *times)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Run all stages and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--report", type=Path, default=ROOT / "nightly.md")
    parser.add_argument("--only", nargs="*", default=[], help="stages whose name contains one of these")
    parser.add_argument("--seed", type=int, default=int(f"{datetime.now(UTC):%Y%m%d}"), help="default: the date")
    given = parser.parse_args()
    chosen = [s for s in stages(given.seed) if not given.only or any(part in s.name for part in given.only)]
    began = time.monotonic()
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(N_LANES) as lanes:
        for done in as_completed([lanes.submit(perform, stage) for stage in chosen]):
            outcomes.append(done.result())
            outcomes.sort(key=lambda outcome: chosen.index(outcome.stage))
            waiting = [stage.name for stage in chosen if stage not in [outcome.stage for outcome in outcomes]]
            text = report(outcomes, waiting, given.seed, time.monotonic() - began)
            given.report.write_text(text)  # after every stage: what is done stays when the rest is stopped
    sys.stdout.write(text)
    sys.exit(any(outcome.code for outcome in outcomes))


if __name__ == "__main__":
    main()
