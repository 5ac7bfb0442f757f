"""A run that is stopped before its search has begun, and one that is stopped in vain."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from orderly_boggle.boardclass.errors import NoProgressError
from orderly_boggle.cluster.driver.driver import Interrupted, run
from orderly_boggle.cluster.driver.progress import Progress
from orderly_boggle.cluster.driver.stuck import N_STARTS
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.lock import PACE
from tests.cluster.processes import workers
from tests.cluster.small import tiny
from tests.cluster.test_driver import PartialExecutor, change
from tests.cluster.test_process import wait_for
from tests.conftest import COMMAND, ROOT
from tests.samples import daily

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def start(folder, *options, **variables):
    """Start ``orderly run 2x2`` with a worker; what it says is in ``folder``/said."""
    out = ["--workers", "1", "--cutoff", "14", "--out", str(folder / "run")]
    with (folder / "said").open("wb") as said:
        return subprocess.Popen(
            [*COMMAND, *options, "run", "2x2", *out],
            cwd=ROOT,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )


def catches(child, number):
    """Return whether a process has a handler for a signal."""
    lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
    caught = next(line for line in lines if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


@linux
@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("options", daily([[]], [["--debug"]]))
@pytest.mark.parametrize(
    "number", daily([signal.SIGTERM, signal.SIGUSR2], [signal.SIGINT, signal.SIGUSR1])
)
def test_a_signal_in_the_first_second_ends_with_a_code_that_is_tried_again(
    tmp_path, number, options
):
    child = start(tmp_path, *options)
    wait_for(child, tmp_path, partial(catches, child, number))
    child.send_signal(number)
    assert child.wait(60) == 4
    said = (tmp_path / "said").read_text()
    assert (
        f"stopped by {number.name}; what a run has stored is kept, and the same command goes on"
        in said
    )
    assert not (tmp_path / "run").exists(), "nothing had begun"


@linux
@pytest.mark.usefixtures("terminal")
def test_a_stop_is_heard_while_kernels_compile(tmp_path):
    kernels, log = tmp_path / "kernels", tmp_path / "run" / files.EVENTS
    child = start(tmp_path, NUMBA_CACHE_DIR=str(kernels))
    wait_for(child, tmp_path, log.exists)
    assert not list(kernels.rglob("node_search.*.nbi")), "the first that is compiled from here on"
    child.send_signal(signal.SIGUSR1)
    assert child.wait(120) == 4
    assert "stopped by SIGUSR1: 0 of " in (tmp_path / "said").read_text()
    assert not list(kernels.rglob("node_search.*.nbi")), "it ended only when all were compiled"
    assert not (tmp_path / "run" / files.OWNER).exists()


class Hasty(Progress):
    """Stops a run before any worker is at work."""

    def stage(self, text):
        if text == "starting workers":
            signal.raise_signal(signal.SIGTERM)


@pytest.mark.usefixtures("terminal")
def test_starts_that_add_nothing_are_counted_until_a_verdict_comes(tmp_path):
    """The code of a run that is to be started again comes twice only, whatever starts it again."""
    config = change(tiny(tmp_path), workers=1)
    codes = []
    for turn in range(2 * N_STARTS):
        if turn == N_STARTS:
            with pytest.raises(Interrupted) as stopped:
                run(config, make_executor=partial(PartialExecutor, n_left=40, number=15))
            assert stopped.value.exit_code == 4
        with pytest.raises(Interrupted) as stopped:
            run(config, progress=Hasty())
        codes.append(stopped.value.exit_code)
        assert ("3 starts in a row added no verdict" in str(stopped.value)) == (codes[-1] == 7)
    assert codes == [4, 4, NoProgressError.exit_code] * 2
    assert run(config).complete


class Waiting(Progress):
    """Hears whom a run waits for, and may send a signal then."""

    def __init__(self, number=None):
        super().__init__()
        self.told = []
        self.number = number

    def stage(self, text):
        if text.startswith("waiting for"):
            self.told.append(text)
            if self.number:
                signal.raise_signal(self.number)


@pytest.mark.usefixtures("terminal")
def test_the_successor_of_a_driver_that_was_killed_elsewhere_waits_and_goes_on(tmp_path):
    """again.sh, KubeRay and Grid Engine start it within seconds, on another machine."""
    config = tiny(tmp_path)
    digest = run(config).digest
    owner = Path(config.out) / files.OWNER
    note = {"user": "ann", "host": "box", "pid": 7, "since": time.time(), "machine": "another"}
    owner.write_text(json.dumps(note))
    progress = Waiting(signal.SIGTERM)
    with pytest.raises(Interrupted, match="stopped by SIGTERM while waiting for ann@box"):
        run(config, progress=progress)
    long_ago_s = time.time() - PACE.lease_s + 3
    os.utime(owner, (long_ago_s, long_ago_s))
    progress = Waiting()
    assert run(config, progress=progress).digest == digest
    assert len(progress.told) == 1
    assert "ann@box (process 7)" in progress.told[0]


@linux
@pytest.mark.usefixtures("terminal")
def test_workers_that_die_without_any_verdict_are_no_reason_to_start_again(tmp_path):
    """Too little memory is the same at the next start; the code says so at once."""
    child = start(tmp_path)
    while child.poll() is None:
        for worker in workers(child.pid):
            os.kill(worker, signal.SIGKILL)
    said = (tmp_path / "said").read_text()
    assert child.returncode == NoProgressError.exit_code, said
    assert "3 workers in a row died without a verdict; the last: ended by SIGKILL" in said
    assert "the same command would fare no better" in said
