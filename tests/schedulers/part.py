"""What the real parts share: a folder, processes that are ended by pid, a table of what came; and
what schedulers share: a question of many small classes that is started, disturbed and looked at.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from orderly_boggle.results.log import MAX_BYTES, read_events
from orderly_boggle.results.log_events import Event, Reported, Stopped
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store.run import open_run

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = ROOT / "configs" / "launch"
# 252,375 classes of a few milliseconds each: on an idle core, too, longer than a case takes; rows
# come at once
LONG = """
dims = "3x3"
cutoff = 400
buckets = "bdfg jqvwxz aeiou lnrsy chkmpt"
[search]
memory_mb = 64
fused = []
"""
LOOK_S = 0.5
N_ROWS = 50
_AnyPart = TypeVar("_AnyPart", bound="Part")
# a case appends to the list what came
Cases = Mapping[str, Callable[[_AnyPart, list[str]], object]]


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
        start = "from orderly_boggle.cluster.cli.start import main; main()"
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

    def bring_up(self) -> None:
        """Start what the cases need."""

    def clear(self) -> None:
        """End what a case that failed has left."""

    def wait(self, what: str, condition: Callable[[], object], limit_s: float = 1200) -> None:
        """Wait until something is the case."""
        ends_s = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < ends_s, f"{what}: not within {limit_s:.0f} s"
            time.sleep(LOOK_S)

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


def play(part: _AnyPart, cases: Cases[_AnyPart], names: Sequence[str] = ()) -> int:
    """Bring a part up, try all cases or those that are named, and end it; return the exit code."""
    end_on_sigterm()
    try:
        part.bring_up()
        for name in names or cases:
            with part.case(name) as came:
                cases[name](part, came)
    finally:
        code = part.close()
    return code


class Begun(NamedTuple):
    """The share of the long question, at work: its job, and what it has."""

    job: str
    arrived: int  # verdicts that the driver says have arrived


class Scheduler(Part):
    """A part that runs the launch file."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.share = self.folder / "runs" / "long-1-of-1"

    def submit(self, *options: str, question: str = "2x2", n_shares: int = 1) -> str:
        """Submit the launch file as an array and return the number of the job."""
        raise NotImplementedError

    def cancel(self, job: str) -> None:
        """Have a job ended."""
        raise NotImplementedError

    def is_over(self, job: str) -> bool:
        """Return whether no task of a job waits or runs."""
        raise NotImplementedError

    def said(self, job: str) -> str:
        """Return what the tasks of a job said."""
        raise NotImplementedError

    def begin(self, *options: str) -> Begun:
        """Submit the long question, without what a case before has left, and wait until verdicts
        have arrived.
        """
        shutil.rmtree(self.share, ignore_errors=True)
        job = self.submit(*options, question="long.toml")
        return Begun(job, self._arrived(0))

    def _arrived(self, n_starts: int) -> int:
        """Wait for verdicts of a share that had been started so often; return how many."""

        def has_some() -> bool:
            return n_sessions(self.share) > n_starts and n_arrived(self.share) > N_ROWS

        self.wait(f"rows of {self.share.name}", has_some)
        return n_arrived(self.share)

    def kept(self, begun: Begun, limit_s: float = 120) -> str:
        """Wait until its driver has stopped, with all that had arrived; return how much, and why
        it stopped.
        """
        self.wait("a stop", lambda: stops(self.share), limit_s)
        n_kept = n_stored(self.share)
        assert n_kept >= begun.arrived, (n_kept, begun)
        return f"{n_kept:,} verdicts stored ({stops(self.share)[-1]})"

    def ends(self, begun: Begun, came: list[str]) -> None:
        """Check that it ends, with all that had arrived, and is not started again."""
        self.wait("end", lambda: self.is_over(begun.job), 240)
        kept = self.kept(begun, limit_s=0)
        assert self.said(begun.job).count("starting workers") == 1
        came.append(f"{kept}, not started again")

    def goes_on(self, begun: Begun, kept: str, came: list[str]) -> None:
        """Wait until another start has verdicts, and cancel it."""
        self._arrived(1)
        came.append(f"{kept}, started again, went on")
        self.cancel(begun.job)
        self.wait("end", lambda: self.is_over(begun.job), 120)


def merged(scheduler: Scheduler, came: list[str]) -> None:
    """Two shares, put together."""
    job = scheduler.submit(n_shares=2)
    scheduler.wait("shares", lambda: scheduler.is_over(job))
    scheduler.run("orderly", "merge", "runs/all", "runs/2x2-1-of-2", "runs/2x2-2-of-2")
    said = scheduler.run("orderly", "run", "2x2", "--out", "runs/all")
    digest = said.partition("digest ")[2].split()[0]
    assert digest in scheduler.run("orderly", "run", "2x2", "--workers", "0", "--out", "alone")
    came.append("proven, the digest of one machine")


def cancelled(scheduler: Scheduler, came: list[str]) -> None:
    """Ended by its user while it searches."""
    begun = scheduler.begin()
    scheduler.cancel(begun.job)
    scheduler.ends(begun, came)


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


def stops(run: Path) -> list[str]:
    """Return what the log says of each stop of a driver, the last one last."""
    if not run.exists():
        return []
    events = read_events(LocalFolder(run), MAX_BYTES)
    return [event.message.split(":")[0] for event in events if isinstance(event, Stopped)]
