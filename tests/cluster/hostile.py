"""Hands forged run directories to every command and looks at what is said; as a script with full counts.

    python -m tests.cluster.hostile [--count 200] [--seed 1]

For each forgery (tests/cluster/forge.py): every command ends with an exit code of its own, never as a bug; prints no
control characters; and ``run --drop-damaged`` either ends with the answer of the run as it was or refuses.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from cluster.cli import app as cli
from tests.cluster.forge import WORDS, Forger, Forgery

FINE = frozenset((0, 2, 3, 4, 5))
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
RUN = ("run", "2x2", "--cutoff", "5", "--workers", "0")


class Said(NamedTuple):
    """The outcome of a command."""

    code: int
    out: str
    err: str


def call(*arguments: object) -> Said:
    """Run a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with mock.patch.object(sys, "argv", ["orderly", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as left:
            code = int(left.code or 0)
    return Said(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def commands(run: Path, folder: Path) -> Iterator[tuple[object, ...]]:
    """Yield what is asked of each forged run; the last one repairs it."""
    words = folder / "list.txt"
    for fmt in ("table", "json", "csv"):
        yield "status", run, "--format", fmt
        yield "top", run, "--format", fmt
    yield "query", run, "SELECT * FROM classes"
    yield "query", run, "SELECT * FROM runs", "--format", "csv"
    yield "query", run, "SELECT sum(n_boards), sum(seconds), max(max_bound) FROM classes", "--format", "json"
    yield "compare", run, folder / "boards.txt"
    yield "report", run, "-w", words, "--out", folder / "page.html"
    yield "explain", "255", "--run", run
    yield "verify", run
    yield "verify", run, "-w", words, "--format", "json"
    yield "audit", run, "-w", words
    yield "certify", run, "-w", words
    yield *RUN, "-w", words, "--out", run
    yield *RUN, "-w", words, "--out", run, "--drop-damaged"


def make_run(folder: Path) -> Path:
    """Write a run with everything that a run can have: claim, boards, certificates, an audit, events."""
    (folder / "list.txt").write_text("".join(f"{word}\n" for word in WORDS))
    (folder / "boards.txt").write_text("aert\n")
    words, run = ("-w", folder / "list.txt"), folder / "whole"
    asked = ((*RUN, "--out", run), ("certify", run), ("audit", run), ("verify", run), ("status", run))
    for command in asked:
        said = call(*command, *(() if command[0] == "status" else words))
        assert said.code == 0, said
    return run


class Campaign:
    """One finished run, forged again and again.

    Attributes
    ----------
    outcomes : Counter
        Exit codes by command.
    faults : list of str
        What should not have happened.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.whole = make_run(folder)
        self.outcomes: Counter[tuple[str, int]] = Counter()
        self.faults: list[str] = []

    @contextmanager
    def copy(self) -> Iterator[Path]:
        """Yield a copy of the run to tamper with."""
        run = self.folder / "RUN"
        shutil.rmtree(run, ignore_errors=True)
        yield Path(shutil.copytree(self.whole, run, symlinks=True))

    def ask(self, run: Path, forgery: Forgery) -> Said:
        """Give every command the forged run; return what the last one said, which repairs it."""
        for command in commands(run, self.folder):
            said = call(*command)
            self.outcomes[str(command[0]), said.code] += 1
            unsafe = UNSAFE.search(said.out + said.err)
            if said.code not in FINE or unsafe or "Traceback" in said.err:
                told = said.err.strip()[:300] if said.code not in FINE else f"prints {unsafe}"
                self.faults.append(f"{forgery.place}: {forgery.what}: {' '.join(map(str, command))}: {told}")
        return said

    def strike(self, forger: Forger, kind: str) -> Forgery:
        """Forge the run in one way and ask every command."""
        with self.copy() as run:
            forgery = forger.kinds[kind](run)
            self.ask(run, forgery)
        return forgery


def main(arguments: list[str]) -> int:
    """Run a campaign and print its counts."""
    parser = argparse.ArgumentParser(description="forge a run in many ways")
    parser.add_argument("--count", type=int, default=200, help="Forgeries of each kind.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="")
    asked = parser.parse_args(arguments)
    forger = Forger(asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder))
        for kind in forger.kinds:
            if asked.kind in ("", kind):
                before, n_before = campaign.outcomes.copy(), len(campaign.faults)
                for _ in range(asked.count):
                    campaign.strike(forger, kind)
                codes: Counter[int] = Counter()
                for (_, code), n in (campaign.outcomes - before).items():
                    codes[code] += n
                told = ", ".join(f"{n} exit {code}" for code, n in sorted(codes.items()))
                faults = len(campaign.faults) - n_before
                sys.stdout.write(f"{kind}: {asked.count} forged, {codes.total()} commands: {told}; {faults} faults\n")
                sys.stdout.flush()
    for fault in campaign.faults:
        sys.stdout.write(f"{fault!r}\n")
    return min(1, len(campaign.faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
