"""What the real parts share: a folder, processes that are ended by pid, a question of many small
classes, a table of what came.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from results.log import MAX_BYTES, read_events
from results.log_events import Event, Reported, Stopped
from results.storage.local import LocalFolder
from results.store.run import open_run

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = ROOT / "configs" / "launch"
# 34,960 classes of a few milliseconds each: some minutes, and rows come at once
LONG = """
dims = "3x3"
cutoff = 430
buckets = "bdfgjqvwxz aeiou lnrsy chkmpt"
[search]
memory_mb = 64
fused = []
"""
LOOK_S = 0.5
N_ROWS = 50


def install(*packages: str) -> None:
    """Install packages of Debian that are not there; only root can."""
    missing = [
        name
        for name in packages
        if subprocess.run(["dpkg", "-s", name], capture_output=True, check=False).returncode
    ]
    if missing:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update", "-qq"], ["install", "-qqy", "--no-install-recommends"]):
            names = missing if command[0] == "install" else []
            subprocess.run(["apt-get", *command, *names], env=environment, check=True)


def recipe_of(begin: str) -> str:
    """Return the block of docs/clusters.md that begins with a line."""
    text = (ROOT / "docs" / "clusters.md").read_text()
    start = text.index(f"    {begin}")
    block = re.match(r"(?:(?:    .*)?\n)+", text[start:])
    assert block is not None
    return re.sub(r"^    ", "", block[0], flags=re.MULTILINE).rstrip() + "\n"


def end_on_sigterm() -> None:
    """Let a SIGTERM end what was started, too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else what is started ignores it, too


class Part:
    """A scheduler or launcher at work in a folder.

    Attributes
    ----------
    folder : Path
        Where everything is; it goes in the end.
    environment : dict
        What is started gets it; ``orderly`` on its PATH is this program.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = Path(tempfile.mkdtemp(prefix=f"orderly-{name}-"))
        self.folder.chmod(0o755)
        tools = self.folder / "bin"
        tools.mkdir()
        program = tools / "orderly"
        start = "from cluster.cli.start import main; main()"
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -c "{start}" "$@"\n'
        )
        program.chmod(0o755)
        path = f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path}
        (self.folder / "long.toml").write_text(LONG)
        self.rows: list[tuple[str, str, bool]] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    def run(self, *command: object, code: int = 0, **options: object) -> str:
        """Run a command in the folder and return what it said; it must end with ``code``."""
        done = subprocess.run(
            list(map(str, command)),
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            **options,  # type: ignore[call-overload]
        )
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}"
        return str(done.stdout)

    def start(self, *command: object) -> subprocess.Popen[bytes]:
        """Start what runs until the end."""
        with (self.folder / "daemons.log").open("ab") as log:
            process = subprocess.Popen(
                list(map(str, command)),
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def clear(self) -> None:
        """End what a case that failed has left."""

    def wait(self, what: str, condition: Callable[[], object], limit_s: float = 600) -> None:
        """Wait until something is the case."""
        ends_s = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < ends_s, f"{what}: not within {limit_s:.0f} s"
            time.sleep(LOOK_S)

    def wait_for_rows(self, run: Path, n_before: int) -> int:
        """Wait until a run that had been started ``n_before`` times has some new verdicts; return
        how many the driver says have arrived.
        """

        def has_some() -> bool:
            return n_sessions(run) > n_before and n_arrived(run) > N_ROWS

        self.wait(f"rows of {run.name}", has_some)
        return n_arrived(run)

    @contextlib.contextmanager
    def case(self, name: str) -> Iterator[list[str]]:
        """Try one case: what it appends to the list is what came."""
        came: list[str] = []
        began_s = time.monotonic()
        try:
            yield came
            is_right = True
        except Exception as error:  # noqa: BLE001 - the others are tried all the same
            came.append(f"{type(error).__name__}: {error}")
            is_right = False
        self.clear()
        text = "; ".join(came)
        self.rows.append((name, text, is_right))
        took_s = time.monotonic() - began_s
        verdict = "" if is_right else "FAILED: "
        sys.stdout.write(f"{self.name}: {name}: {verdict}{text} ({took_s:.0f} s)\n")
        sys.stdout.flush()

    def close(self) -> int:
        """End everything by pid, remove the folder, and return the exit code: 1 when a case
        failed.
        """
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        n_failed = sum(not is_right for *_, is_right in self.rows) + (not self.rows)
        sys.stdout.write(f"in all: {len(self.rows)} cases of {self.name}, {n_failed} failed\n")
        if n_failed:
            sys.stdout.write(f"what it left is in {self.folder}\n")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        return int(n_failed > 0)


def n_stored(run: Path) -> int:
    """Return how many verdicts a run has; 0 when there is none."""
    if not (run / "run.json").exists():
        return 0
    return len(open_run(run).index.places)


def n_arrived(run: Path) -> int:
    """Return how many verdicts the driver at work says have arrived in this session."""
    reports = [event for event in _session(run) if isinstance(event, Reported)]
    return max((report.n_verdicts for report in reports), default=0)


def _session(run: Path) -> list[Event]:
    events = read_events(LocalFolder(run))
    return [event for event in events if event.session == events[-1].session]


def n_sessions(run: Path) -> int:
    """Return how often a run was started."""
    if not run.exists():
        return 0
    return len({event.session for event in read_events(LocalFolder(run), MAX_BYTES)})


def last_end(run: Path) -> str:
    """Return what the log says of the end of the last session."""
    ends = [event for event in read_events(LocalFolder(run)) if isinstance(event, Stopped)]
    return ends[-1].message.split(":")[0] if ends else "nothing"
