"""Everything that takes too long for every day (nightly.toml), with a one-page report: ``make
nightly``.

python -m tests.soundness.nightly [--report nightly.md] [--only NAME ...]

Two stages at a time, in the order of the file; each is a command of its own, its CPU time taken by
the operating system.  Without ENABLE2K (in a folder of $ORDERLY_WORDLISTS) the stages that need it
are left out, and the others take the bundled list.  Exit code 1 when a stage fails.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from orderly_boggle.boardclass.wordlist import DEFAULT_WORDLIST, available_names
from tests.bench.figures import processor

ROOT = Path(__file__).resolve().parent.parent.parent
N_LANES = 2
CUTOFFS_3X3 = {"enable2k": 500, DEFAULT_WORDLIST: 420}
PROGRAMS = {  # others are modules
    "cp": ("cp",),
    "orderly": (sys.executable, "-c", "from orderly_boggle.cluster.cli.start import main; main()"),
    "pytest": (sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"),
}


class Outcome(NamedTuple):
    name: str
    code: int
    cpu_s: float
    row: str


def perform(stage: Mapping[str, Any], values: Mapping[str, Any]) -> Outcome:
    """Run the commands of a stage until one fails; log to a file in the stage's folder."""
    began, cpu_s, code, text = time.monotonic(), 0.0, 0, ""
    with tempfile.TemporaryDirectory(
        prefix=f"orderly-{stage['name'].replace(' ', '-')}-"
    ) as folder:
        given = {
            name: value.format(tmp=folder) for name, value in stage.get("environment", {}).items()
        }
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **given}
        for command in stage["commands"]:
            with Path(folder, "log").open("w+b") as log:
                name, *rest = shlex.split(command.format(**values, tmp=folder))
                arguments = [*PROGRAMS.get(name, (sys.executable, "-m", name)), *rest]
                process = subprocess.Popen(
                    arguments, cwd=ROOT, env=environment, stdout=log, stderr=log
                )
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = code = os.waitstatus_to_exitcode(status)
                cpu_s += used.ru_utime + used.ru_stime
                log.seek(0)
                text = log.read().decode("utf-8", "backslashreplace")
            if code:
                sys.stderr.write(f"--- {stage['name']}: {' '.join(arguments)}\n{text[-6000:]}\n")
                break
    begin = "" if code else stage.get("told", "")
    told = [
        line.strip("= ") for line in text.splitlines() if line.strip() and line.startswith(begin)
    ]
    result = f"exit code {code}" if code else "passed"
    words = told[-1].replace("|", "\\|")[:300] if told else ""
    cells = (
        stage["name"],
        stage["shows"],
        result,
        words,
        f"{cpu_s:,.0f}",
        f"{time.monotonic() - began:,.0f}",
    )
    return Outcome(stage["name"], code, cpu_s, f"| {' | '.join(cells)} |")


def report(outcomes: Sequence[Outcome], waiting: Sequence[str], seed: int, wall_s: float) -> str:
    """Return the page."""
    failed = [outcome.name for outcome in outcomes if outcome.code]
    verdict = "So far so good." if waiting else "All stages passed."
    if failed:
        verdict = f"FAILED: {', '.join(failed)}."
    later = f" Not done yet: {', '.join(waiting)}." if waiting else ""
    git = ["git", "log", "-1", "--format=%h %s"]
    commit = subprocess.run(
        git, cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    machine = f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    rows = "\n".join(outcome.row for outcome in outcomes)
    cpu_s = sum(outcome.cpu_s for outcome in outcomes)
    return f"""# Nightly report

{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {machine}; commit {commit or "unknown"}; seed {seed}.

**{verdict}**{later} {wall_s / 60:.0f} minutes, {cpu_s / 60:.0f} CPU minutes.

| stage | shows | result | in its own words | CPU s | wall s |
|---|---|---|---|---|---|
{rows}
"""


def main() -> None:
    """Run all stages and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--report", type=Path, default=ROOT / "nightly.md")
    parser.add_argument(
        "--only", nargs="*", default=[""], help="stages whose name contains one of these"
    )
    parser.add_argument(
        "--seed", type=int, default=int(f"{datetime.now(UTC):%Y%m%d}"), help="default: the date"
    )
    given = parser.parse_args()
    words = "enable2k" if "enable2k" in available_names() else DEFAULT_WORDLIST
    values = {"words": words, "cutoff": CUTOFFS_3X3[words], "seed": given.seed}
    stages = {
        stage["name"]: stage
        for stage in tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["stage"]
        if stage.get("needs", words) == words and any(part in stage["name"] for part in given.only)
    }
    began = time.monotonic()
    outcomes: dict[str, Outcome] = {}
    with ThreadPoolExecutor(N_LANES) as lanes:
        for done in as_completed(
            [lanes.submit(perform, stage, values) for stage in stages.values()]
        ):
            outcomes[done.result().name] = done.result()
            ordered = [outcomes[name] for name in stages if name in outcomes]
            waiting = [name for name in stages if name not in outcomes]
            text = report(ordered, waiting, given.seed, time.monotonic() - began)
            # after every stage: what is done stays when the rest is stopped
            given.report.write_text(text)
    sys.stdout.write(text)
    sys.exit(any(outcome.code for outcome in outcomes.values()))


if __name__ == "__main__":
    main()
