"""The recipes of docs/clusters.md on the launchers themselves: Snakemake, GNU parallel, HyperQueue
and Parsl; each is run, interrupted and run again.

python -m tests.schedulers.launchers [--environment FOLDER] [CASE ...]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.storage.lock import current_owner
from tests.schedulers.part import (
    Cases,
    Part,
    install,
    n_arrived,
    n_sessions,
    n_stored,
    play,
    recipe_of,
)

# 16,576 classes: on an idle core, too, a share takes long enough to be interrupted
SMALL = """
dims = "2x4"
cutoff = 220
buckets = "bdfgjqvwxz aeiou lnrsy chkmpt"
[search]
memory_mb = 64
fused = []
"""
PACKAGES = ("snakemake==9.27.1", "hyperqueue==0.27.0", "parsl==2026.10.26")
# its package for Python has no command that starts a server, but one within the process
HERE = "cluster.client()"
HERE_IMPORTS = """from hyperqueue import LocalCluster
from hyperqueue.cluster import WorkerConfig
cluster = LocalCluster(worker_config=WorkerConfig(cores=2))
"""


class Launchers(Part):
    """The launchers in an environment of their own."""

    def __init__(self, environment: Path | None) -> None:
        super().__init__("launchers")
        self.tools = environment or self.folder / "venv"
        self.digest = ""  # of the question, as one machine finds it

    def bring_up(self) -> None:
        """Install the launchers, unless they are there."""
        if not self.tools.exists():
            self.run(sys.executable, "-m", "venv", self.tools)
            self.run(self.tools / "bin" / "pip", "install", "-qq", *PACKAGES)
        self.environment["PATH"] = f"{self.environment['PATH']}:{self.tools / 'bin'}"
        (self.folder / "small.toml").write_text(SMALL)
        alone = self.run("orderly", "run", "small.toml", "--workers", "0", "--out", "alone")
        self.digest = alone.partition("digest ")[2].split()[0]

    def interrupted(self, *command: str, stop: Callable[[subprocess.Popen[bytes]], None]) -> int:
        """Start a command, stop it when a share has its first verdict, and return how many verdicts
        they had stored when it had ended.
        """
        shares = [self.folder / "runs" / f"share-{number}" for number in (1, 2, 3, 4)]
        before = [n_sessions(share) for share in shares]
        process = self.start(*command)

        def are_begun() -> bool:
            began = False
            for share, n_before in zip(shares, before, strict=True):
                began |= n_sessions(share) > n_before and n_arrived(share) > 0
            return began or process.poll() is not None

        self.wait("a share has begun", are_begun)
        assert process.poll() is None, "it ended before it was stopped"
        stop(process)
        process.wait(600)  # Parsl goes on by itself
        # one that is stopped while it rescores leaves its claim, which ends with its process
        begun = [LocalFolder(share) for share in shares if share.exists()]

        def are_over() -> bool:
            return not any(is_owned for is_owned, _ in map(current_owner, begun))

        self.wait("the drivers have ended", are_over, 120)
        return sum(map(n_stored, shares))

    def proven(self) -> str:
        """Merge the shares, make the claim, and return its digest."""
        shares = [f"runs/share-{number}" for number in (1, 2, 3, 4)]
        self.run("orderly", "merge", "runs/all", *shares)
        said = self.run("orderly", "run", "small.toml", "--out", "runs/all")
        return said.partition("digest ")[2].split()[0]

    def clear(self) -> None:
        """Forget the runs of the launcher before."""
        self.run("rm", "-rf", "runs", "done", ".snakemake")


def press_ctrl_c(process: subprocess.Popen[bytes]) -> None:
    """Stop a launcher and all that it started in its group."""
    os.killpg(process.pid, signal.SIGINT)


def snakemake(launchers: Launchers, came: list[str]) -> None:
    """Ctrl-C ends the shares."""
    (launchers.folder / "Snakefile").write_text(_small(recipe_of("rule all:")))
    command = ("snakemake", "--cores", "2", "--quiet", "all")
    n_rows = launchers.interrupted(*command, stop=press_ctrl_c)
    launchers.run(*command)
    assert (launchers.folder / "runs" / "all" / "claim.json").exists()
    assert launchers.proven() == launchers.digest
    came.append(f"stopped by Ctrl-C ({n_rows} verdicts stored), run again, proven")


def parallel(launchers: Launchers, came: list[str]) -> None:
    """The second SIGTERM ends the shares."""
    text = _small(recipe_of("parallel --termseq"))
    n_rows = launchers.interrupted("bash", "-c", f"exec {text}", stop=_twice)
    launchers.run("bash", "-c", text.replace("parallel ", "parallel --resume-failed ", 1))
    assert launchers.proven() == launchers.digest
    came.append(f"stopped by SIGTERM twice ({n_rows} verdicts stored), run again, proven")


def hyperqueue(launchers: Launchers, came: list[str]) -> None:
    """Ctrl-C ends a cluster and its shares."""
    text = _small(recipe_of("from hyperqueue")).replace("Client()", HERE)
    (launchers.folder / "shares.py").write_text(HERE_IMPORTS + text)
    python = str(launchers.tools / "bin" / "python")
    n_rows = launchers.interrupted(python, "shares.py", stop=press_ctrl_c)
    launchers.run(python, "shares.py")
    assert launchers.proven() == launchers.digest
    came.append(f"stopped by Ctrl-C ({n_rows} verdicts stored), run again, proven")


def parsl(launchers: Launchers, came: list[str]) -> None:
    """Drivers are stopped, and Parsl starts them again."""
    (launchers.folder / "shares_parsl.py").write_text(_small(recipe_of("import parsl")))
    python = str(launchers.tools / "bin" / "python")

    stopped: list[int] = []

    def stop_drivers(_: subprocess.Popen[bytes]) -> None:
        for path in launchers.folder.glob("runs/share-*/owner.json"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                pid = json.loads(path.read_text())["pid"]
                os.kill(pid, signal.SIGTERM)
                stopped.append(pid)

    n_rows = launchers.interrupted(python, "shares_parsl.py", stop=stop_drivers)
    assert stopped, "none was at work"
    assert launchers.proven() == launchers.digest
    came.append(f"drivers stopped by SIGTERM ({n_rows} verdicts), retried by Parsl, proven")


def _twice(process: subprocess.Popen[bytes]) -> None:
    """Stop GNU parallel: the first SIGTERM only keeps it from starting more."""
    process.terminate()
    time.sleep(1)
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)


def _small(recipe: str) -> str:
    return recipe.replace("4x4-enable2k", "small.toml").replace("--workers 8", "--workers 1")


CASES: Cases[Launchers] = {
    "Snakemake": snakemake,
    "GNU parallel": parallel,
    "HyperQueue": hyperqueue,
    "Parsl": parsl,
}


def main() -> int:
    """Run all cases, or those that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--environment", type=Path, help="has the launchers; else they are installed"
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    given = parser.parse_args()
    install("parallel")
    return play(Launchers(given.environment), CASES, given.cases)


if __name__ == "__main__":
    sys.exit(main())
