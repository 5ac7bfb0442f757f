"""Hands damaged and forged run directories to every command and looks at what is said.

Forged (tests/cluster/forge.py): every command ends with an exit code of its own, never as a bug; prints no control
characters; and ``run --drop-damaged`` either ends with the answer of the run as it was or refuses.  Damaged: every
command says what it said before, or refuses with a file and a remedy, or says that nothing is proven; the last one
repairs.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from cluster.cli import app as cli
from results.storage import files
from tests.cluster.forge import WORDS, Forger, Forgery
from tests.conftest import Answer

FINE = frozenset((0, 2, 3, 4, 5))
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
REMEDY = re.compile("--drop-damaged|remove")
RUN = ("run", "2x2", "--cutoff", "5", "--workers", "0")


def call(*arguments: object) -> Answer:
    """Run a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with mock.patch.object(sys, "argv", ["orderly", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as left:
            code = int(left.code or 0)
    return Answer(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


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
    """One finished run, forged or damaged again and again; ``faults`` tell what should not have happened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.whole = make_run(folder)
        self.in_parts = folder / "parts"
        with mock.patch("results.store.store.FLUSH_ROWS", 20):
            assert call(*RUN, "-w", folder / "list.txt", "--out", self.in_parts).code == 0
        self.faults: list[str] = []

    @contextmanager
    def copy(self, of: Path | None = None) -> Iterator[Path]:
        """Yield a copy of a run to tamper with."""
        run = self.folder / "RUN"
        shutil.rmtree(run, ignore_errors=True)
        yield Path(shutil.copytree(of or self.whole, run, symlinks=True))

    def ask(self, run: Path, forgery: Forgery) -> Answer:
        """Give every command the forged run; return what the last one said, which repairs it."""
        for command in commands(run, self.folder):
            said = call(*command)
            unsafe = UNSAFE.search(said.out + said.err)
            if said.code not in FINE or unsafe or "Traceback" in said.err:
                told = said.err.strip()[:300] if said.code not in FINE else f"prints {unsafe}"
                self.faults.append(f"{forgery.place}: {forgery.what}: {' '.join(map(str, command))}: {told}")
        return said

    def strike(self, forger: Forger, kind: str) -> None:
        """Forge the run in one way and ask every command."""
        with self.copy() as run:
            self.ask(run, forger.kinds[kind](run))

    def damage(self, forger: Forger, kind: str) -> bool:
        """Damage the run in one way, look at what is said, repair it; return whether ``verify`` noticed."""
        with self.copy(self.in_parts) as run:
            asked = (("status", run), ("top", run), ("query", run, "SELECT * FROM classes"), ("verify", run))
            truth = [call(*command, "--format", "json") for command in asked]
            victims = forger.damaged[kind](run)
            for command, before in zip(asked, truth, strict=True):
                said = call(*command, "--format", "json")
                if said.code == 3:
                    named = any(victim.name in said.err for victim in victims) or files.MANIFEST in said.err
                    assert (said.out, named, bool(REMEDY.search(said.err))) == ("", True, True), said
                elif (said.code, said.out) != (before.code, before.out):
                    assert said.code in (0, 4, 5), said
                    assert '"proven": true' not in said.out, said
                    assert said.code or command[0] == "status", said
            repaired = call(*RUN, "-w", self.folder / "list.txt", "--out", run, "--drop-damaged")
            if {victim.name for victim in victims} == {files.RUN, files.MANIFEST}:
                assert repaired.code == 3, "nothing is left that tells which run this is"
                return True
            assert repaired.code == 0, repaired
            digests = [json.loads(answer.out)["digest"] for answer in (truth[0], call(*asked[0], "--format", "json"))]
            assert digests[0] == digests[1]
        return said.code != 0
