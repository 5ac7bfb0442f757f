"""Whole runs with Ray workers and the real search; the driver itself is killed and the run resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from cluster.driver.driver import run
from cluster.driver.session import Interrupted
from cluster.scheduling.events import Death, WorkerDown
from cluster.workers.ray_executor import RayExecutor
from configs.model import RunConfig, SearchConfig
from results.log.eventlog import read_events
from results.store.run import open_run
from tests.cluster import fakes
from tests.cluster.processes import command_line, descendants
from tests.cluster.test_driver import WORDS
from tests.cluster.test_ray_executor import until
from tests.samples import daily

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.ray, pytest.mark.timeout(240)]

BUCKETS = "ab cde fgh ijk lm no pqr s tu vwxyz"


def config_in(folder):
    """Return a 2x2 run of 1,540 classes, seconds long."""
    path = folder / "tiny.txt"
    path.write_text("\n".join(WORDS) + "\n")
    return RunConfig(
        dims="2x2",
        wordlist=str(path),
        cutoff=3,
        scores="words",
        buckets=BUCKETS,
        out=str(folder / "run"),
        search=SearchConfig(memory_mb=16),
    )


@pytest.fixture
def config(tmp_path):
    return config_in(tmp_path)


@pytest.fixture(scope="module")
def digest(tmp_path_factory):
    """Return the digest of the run undisturbed, in one process."""
    return run(config_in(tmp_path_factory.mktemp("undisturbed"))).digest


class KillingExecutor(RayExecutor):
    """Kills one of its workers whenever it has handed out work, up to three times."""

    n_kills = 0

    def assign(self, order):
        super().assign(order)
        if self.n_kills < 3 and order.assignment % 4 == 0:
            os.kill(self.pids[order.worker], signal.SIGKILL)
            self.n_kills += 1


def test_same_digest_with_two_workers_that_are_killed(config, digest):
    made = []

    def make(spec, n_workers):
        made.append(KillingExecutor(spec, n_workers))
        return made[-1]

    outcome = run(config.model_copy(update={"workers": 2}), make_executor=make)
    events = read_events(open_run(config.out).folder, 2**20)
    assert made[0].n_kills == sum(event["event"] == "worker_down" for event in events) == 3
    assert outcome.complete
    assert outcome.digest == digest
    rows = list(open_run(config.out).rows())
    assert len(rows) == len({row.key for row in rows}) == outcome.coverage.n_classes
    assert max(row.attempt for row in rows) > 1


def test_a_worker_that_the_memory_monitor_kills_ran_out_of_memory_and_nothing_of_ray_stays(monkeypatch, capfd):
    monkeypatch.setenv("RAY_memory_usage_threshold", "0.001")  # more is in use already
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "100")
    before = dict(os.environ)
    with RayExecutor(fakes.SPEC, 1, fakes.SlowBreaker) as executor:
        executor.spawn(1)
        (down,) = (event for event in until(executor, WorkerDown) if isinstance(event, WorkerDown))
    assert down.reason is Death.oom, down.message
    assert os.environ == before
    assert not ray.is_initialized()
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


CHILD = """
import json, sys
from cluster.driver.driver import run
from configs.model import RunConfig
run(RunConfig.model_validate(json.loads(sys.argv[1])))
"""


@pytest.mark.parametrize("number", daily([signal.SIGKILL, signal.SIGTERM], lambda number: number == signal.SIGKILL))
def test_the_driver_dies_and_nothing_of_ray_stays(config, digest, project_root, tmp_path, number):
    values = config.model_copy(update={"workers": 1}).model_dump()
    errors = tmp_path / "stderr"
    with errors.open("w") as stream:
        child = subprocess.Popen([sys.executable, "-c", CHILD, json.dumps(values)], cwd=project_root, stderr=stream)
    ends = time.monotonic() + 120
    while not any(command_line(process).startswith("ray::Worker") for process in descendants(child.pid)):
        assert child.poll() is None, errors.read_text()
        assert time.monotonic() < ends
        time.sleep(0.1)
    family = [
        process for process in descendants(child.pid) - {child.pid} if "agent" not in command_line(process).lower()
    ]
    child.send_signal(number)
    assert child.wait(timeout=60) != 0
    if number is signal.SIGTERM:
        assert Interrupted.__name__ in errors.read_text()
    ends = time.monotonic() + 75
    while survivors := {process: command for process in family if (command := command_line(process))}:
        assert time.monotonic() < ends, f"outlive the driver: {survivors}"
        time.sleep(0.2)
    resumed = run(config)
    assert resumed.complete
    assert resumed.digest == digest
