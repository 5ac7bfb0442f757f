"""Workers as processes: killed, stopped, without memory, without a driver; and runs from the
command line.
"""

from __future__ import annotations

import importlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orderly_boggle.cluster.scheduling.events import (
    Answer,
    Assign,
    Returned,
    UnitFailed,
    WorkerDown,
    WorkerUp,
)
from orderly_boggle.cluster.workers.executors import ProcessExecutor
from orderly_boggle.results.log import read_events
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search.breaker import Unit
from tests.cluster import fakes
from tests.cluster.campaign import config_of_classes
from tests.cluster.processes import (
    PROC,
    descendants,
    has_let_go,
    listening_addresses,
    mapped,
    workers,
)
from tests.cluster.simulator import expected_units
from tests.cluster.test_executors import play, two_that_searched, until, verdicts_of
from tests.conftest import COMMAND, ROOT
from tests.samples import daily

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]


def gone(*processes):
    """Wait until the processes are gone; it takes them seconds at most."""
    ends_s = time.monotonic() + 60
    while alive := [process for process in processes if not has_let_go(process)]:
        assert time.monotonic() < ends_s, alive
        time.sleep(0.05)


@pytest.fixture
def one():
    """A worker that is up."""
    with ProcessExecutor(fakes.SPEC, fakes.SlowBreaker) as executor:
        executor.spawn(1)
        until(executor, WorkerUp)
        yield executor


# --- through the executor


@pytest.mark.parametrize(
    ("number", "reason"),
    daily(
        [(signal.SIGKILL, "oom")],
        [(signal.SIGTERM, "died"), (signal.SIGSEGV, "died")],
    ),
)
def test_a_worker_that_is_killed_says_how(one, number, reason):
    assert listening_addresses(workers()) == set(), "nobody can reach it"
    one.assign(Assign(1, 5, (Unit(0),)))
    os.kill(*workers(), number)
    down = until(one, WorkerDown)[-1]
    assert (down.worker, down.reason) == (1, reason)
    assert number.name in down.message
    assert ("fewer workers" in down.message) == (reason == "oom")


def test_the_system_ends_a_worker_before_its_driver(one):
    """Where memory is short: a run without its driver is over."""
    places = [PROC / str(pid) / "oom_score_adj" for pid in (os.getpid(), *workers())]
    ours, its = (int(place.read_text()) for place in places)
    assert its == max(ours, 500)


def test_workers_of_a_machine_share_words_paths_and_rim():
    with two_that_searched(ProcessExecutor):
        first, second = map(mapped, workers())
    assert first.keys() == {"words", "paths", "rims"}
    assert first == second


def test_a_unit_that_always_kills_is_given_up_and_nothing_else_is_lost():
    sink, finish = play(ProcessExecutor(fakes.SPEC, fakes.DeadlyBreaker), 30, n_strikes=2)
    assert not finish.complete
    assert set(sink.given_up) == {Unit(3)}
    assert verdicts_of(sink.verdicts) == verdicts_of(expected_units(set(range(30)) - {3}))


def test_a_worker_that_runs_out_of_memory_is_replaced_and_the_remedy_is_told():
    with ProcessExecutor(fakes.SPEC, fakes.HungryBreaker) as executor:
        executor.spawn(1)
        until(executor, WorkerUp)
        executor.assign(Assign(1, 5, (Unit(0), Unit(1))))
        failed, down = until(executor, WorkerDown)
    assert (type(failed), failed.unit, failed.oom) == (UnitFailed, Unit(0), True)
    assert down.reason == "oom"
    assert all(
        "use fewer workers, or a smaller memory_mb" in event.message for event in (failed, down)
    )


def test_the_last_line_of_a_worker_that_cannot_start_is_told(tmp_path, monkeypatch):
    """Its module is known here only: the import fails in the worker."""
    (tmp_path / "nowhere.py").write_text("class Breaker: pass\n")
    with monkeypatch.context() as path:
        path.syspath_prepend(tmp_path)
        module = importlib.import_module("nowhere")
    _, finish = play(ProcessExecutor(fakes.SPEC, module.Breaker), max_deaths=1)
    assert not finish.complete
    said = (
        "ended with exit code 1 before it could work: ModuleNotFoundError: No module named "
        "'nowhere'"
    )
    assert said in finish.message


def test_no_room_for_a_process_is_told():
    """There is no descriptor left for the pipes to it."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    executor = ProcessExecutor(fakes.SPEC, fakes.FakeBreaker)
    lowest_free = os.dup(1)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, before[1]))
    try:
        _, finish = play(executor, max_deaths=1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert not finish.complete
    assert "Too many open files" in finish.message


@pytest.mark.parametrize("stopped_s", daily([1], [60]))
def test_a_stopped_worker_is_waited_for_and_holds_nobody_up(one, stopped_s):
    """More units than fit into a pipe: the driver must not wait until they are read."""
    (first,) = workers()
    os.kill(first, signal.SIGSTOP)
    one.assign(Assign(1, 5, tuple(Unit(n) for n in range(20_000))))
    one.spawn(2)
    assert until(one, WorkerUp)[-1].worker == 2
    one.assign(Assign(2, 6, (Unit(0),)))
    until(one, Returned)
    ends_s = time.monotonic() + stopped_s
    while time.monotonic() < ends_s:
        assert not any(isinstance(event, WorkerDown) for event in one.poll(1.0))
    os.kill(first, signal.SIGCONT)
    assert until(one, Answer)[-1].worker == 1


def test_it_ends_with_the_executor_stopped_or_starting(one):
    one.spawn(2)
    while len(both := workers()) < 2:
        time.sleep(0.01)
    for process in both:
        os.kill(process, signal.SIGSTOP)
    one.close()
    assert not {*both, *workers()} & descendants(), "not even as zombies"


# --- from the command line


def launch(config, folder, cwd=ROOT, address=""):
    """Start ``orderly run`` in a folder, as the installed command does: with no modules from there
    (-P).
    """
    path = folder / "config.toml"
    path.write_text(
        f'dims = "3x3"\ncutoff = {config.cutoff}\nbuckets = "{config.buckets}"\nworkers = 1\n'
        f'out = "{config.out}"\n[search]\nmemory_mb = 64\nfused = []\n'
    )
    command = [
        COMMAND[0],
        "-P",
        *COMMAND[1:],
        "run",
        str(path),
        *(["--address", address] if address else []),
    ]
    with (folder / "said").open("wb") as said:
        return subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )


def wait_for(child, folder, condition):
    ends_s = time.monotonic() + 120
    while not condition():
        assert child.poll() is None, (folder / "said").read_text()
        assert time.monotonic() < ends_s
        time.sleep(0.02)


@pytest.fixture
def started(tmp_path, elsewhere, terminal):
    """Start a run of minutes with a worker that is at work; return it and its directory."""
    config = config_of_classes(tmp_path)
    child = launch(config, tmp_path, elsewhere)
    log = LocalFolder(Path(config.out))
    wait_for(
        child,
        tmp_path,
        lambda: any(getattr(event, "n_verdicts", 0) for event in read_events(log)[1:]),
    )
    yield child, Path(config.out)
    child.kill()
    child.wait()


def check_stopped(child, out, family, number, least=1):
    """The run ended with exit code 4, an event, all that had arrived in the store, and no process
    left.
    """
    said = out.parent / "said"
    assert child.wait(120) == 4, said.read_text()
    assert f"stopped by {number.name}" in said.read_text()
    events = read_events(LocalFolder(out))
    assert events[-1].event == "stopped"
    n_arrived = max(getattr(event, "n_verdicts", 0) for event in events)
    assert least <= n_arrived <= len(list(open_run(out).rows()))
    gone(*family)


@pytest.mark.parametrize(
    "number",
    daily(
        [signal.SIGTERM],
        [signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU, signal.SIGALRM, signal.SIGHUP],
    ),
)
def test_sigterm_for_every_process_at_once_and_the_warnings_of_batch_systems(started, number):
    child, out = started
    family = descendants(child.pid)
    assert len(family) == 2
    for process in family if number == signal.SIGTERM else [child.pid]:
        os.kill(process, number)
    check_stopped(child, out, family, number)


def test_nothing_outlives_a_driver_that_is_killed(started):
    child, _ = started
    family = descendants(child.pid)
    os.kill(workers(child.pid)[0], signal.SIGSTOP)
    child.kill()
    child.wait()
    gone(*family)


def test_sigterm_while_a_worker_starts_and_does_not_get_on(terminal, tmp_path):
    config = config_of_classes(tmp_path)
    child = launch(config, tmp_path)
    wait_for(child, tmp_path, lambda: workers(child.pid))
    family = descendants(child.pid)
    os.kill(*workers(child.pid), signal.SIGSTOP)
    child.send_signal(signal.SIGTERM)
    check_stopped(child, Path(config.out), family, signal.SIGTERM, least=0)


# 2: all of Python is parsed anew
@pytest.mark.parametrize("optimize", daily([""], ["2"]))
def test_a_run_of_a_machine_needs_neither_network_nor_docstrings(tmp_path, optimize):
    alone = ["unshare", "--user", "--map-root-user", "--net"]
    if (
        not shutil.which("unshare")
        or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode
    ):
        alone = []  # a container that may not
    command = [
        *alone,
        *COMMAND,
        "run",
        "2x2",
        "--cutoff",
        "14",
        "--workers",
        "1",
        "--out",
        str(tmp_path / "run"),
    ]
    environment = {**os.environ, "PYTHONOPTIMIZE": optimize}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
