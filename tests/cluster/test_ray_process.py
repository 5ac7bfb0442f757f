"""Runs whose Ray is shot at, from the command line and through the executor: they go on, or stop and lose nothing."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from cluster.scheduling.events import Assign, Returned, WorkerDown, WorkerUp
from cluster.workers.ray_process import RayProcess
from results.store.run import open_run
from search.breaker import Unit
from tests.cluster import fakes
from tests.cluster.campaign import config_of_classes
from tests.cluster.processes import command_line, descendants, group
from tests.cluster.test_executors import play, verdicts_of
from tests.cluster.test_ray_executor import until
from tests.cluster.test_ray_guard import gone
from tests.conftest import COMMAND, ROOT

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.timeout(240),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

PATTERNS = {
    "raylet": "raylet/raylet ",
    "worker": "ray::Worker",
    "ray": "cluster.workers.ray_process",
    "guard": "ray_guard.py",
}


def find(kind, root=None):
    """Return the processes of a kind below ``root``; that itself is none."""
    family = descendants(root) - {root or os.getpid()}
    return sorted(process for process in family if PATTERNS[kind] in command_line(process))


@pytest.fixture
def base(monkeypatch):
    """Return an empty temporary folder, where nothing may stay behind."""
    folder = Path(tempfile.mkdtemp(prefix="o", dir="/tmp"))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    left = list(folder.iterdir())
    shutil.rmtree(folder)
    assert left == []


class CountingProcess(RayProcess):
    """Counts what it hands out, and to whom."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.n_given, self.at_work = 0, set()

    def assign(self, order):
        self.n_given += 1
        self.at_work.add(order.worker)
        super().assign(order)


def shoot(number, kind, n_classes=20, n_workers=1, **policy):
    """Play a run and send a signal to the first process of a kind that is at work; return what came of it."""
    executor = CountingProcess(fakes.SPEC, n_workers, fakes.SlowBreaker)
    shot: list[int] = []

    def stop():
        are_all_at_work = executor.n_given > 3 and len(executor.at_work) == n_workers
        if not shot and are_all_at_work and (found := find(kind)):
            shot.append(found[0])
            os.kill(found[0], number)
        return ""

    sink, finish = play(executor, n_classes, stop=stop, n_workers=n_workers, **policy)
    assert shot
    assert finish.complete
    assert verdicts_of(sink.verdicts) == verdicts_of(fakes.expected_units(range(n_classes)))
    assert len(sink.settled) == len(sink.verdicts)
    gone(*shot)
    return sink


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (signal.SIGTERM, "raylet"),
        pytest.param(signal.SIGKILL, "ray", marks=pytest.mark.nightly),
        pytest.param(signal.SIGKILL, "raylet", marks=pytest.mark.nightly),
        pytest.param(signal.SIGTERM, "worker", marks=pytest.mark.nightly),
        pytest.param(signal.SIGKILL, "guard", marks=pytest.mark.nightly),
    ],
)
def test_it_goes_on_without_loss(base, number, kind):
    shoot(number, kind)


@pytest.mark.nightly
def test_a_stopped_worker_is_given_up_and_not_left_behind(base):
    sink = shoot(signal.SIGSTOP, "worker", n_classes=60, n_workers=2, lease_s=5.0)  # enough for it to be given some
    assert max(item.attempt for item in sink.settled) > 1


@pytest.mark.nightly
def test_a_worker_that_is_stopped_for_a_minute_goes_on():
    with RayProcess(fakes.SPEC, 1, fakes.SlowBreaker) as executor:
        executor.spawn(1)
        until(executor, WorkerUp)
        executor.assign(Assign(1, 10, tuple(Unit(n) for n in range(20))))
        executor.poll(0.5)
        (worker,) = find("worker")
        os.kill(worker, signal.SIGSTOP)
        events = []
        ends_s = time.monotonic() + 70
        while time.monotonic() < ends_s:
            events += executor.poll(1.0)
        os.kill(worker, signal.SIGCONT)
        assert not any(isinstance(event, WorkerDown) for event in events)
        until(executor, Returned)


@pytest.fixture
def started(base, tmp_path, elsewhere):
    """Start a run of minutes from the command line, with a worker that is at work; return it and its directory."""
    config = config_of_classes(tmp_path)
    child = start(config, tmp_path, elsewhere)
    yield child, Path(config.out)
    child.kill()
    child.wait()


def launch(config, folder, cwd=ROOT, before=()):
    """Start ``orderly run`` in a folder, as the installed command does: with no modules from there (-P)."""
    path = folder / "config.toml"
    path.write_text(
        f'dims = "3x3"\ncutoff = {config.cutoff}\nbuckets = "{config.buckets}"\nworkers = 1\nout = "{config.out}"\n'
        "[search]\nmemory_mb = 64\nfused = []\n"
    )
    command = [*before, COMMAND[0], "-P", *COMMAND[1:], "run", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (folder / "said").open("wb") as said:
        return subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)


def start(config, folder, cwd=ROOT, before=()):
    """Start ``orderly run``; return it once verdicts are there."""
    child = launch(config, folder, cwd, before)
    wait_for(child, folder, lambda: any(event.get("n_verdicts") for event in events_of(Path(config.out))[1:]))
    return child


def wait_for(child, folder, condition):
    ends_s = time.monotonic() + 120
    while not condition():
        assert child.poll() is None, (folder / "said").read_text()
        assert time.monotonic() < ends_s
        time.sleep(0.02)


def events_of(out):
    """Return the lines of the log."""
    path = out / "events.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def check_stopped(child, out, family, least=1):
    """The run ended with exit code 4, an event, all that had arrived in the store, and no process left."""
    assert child.wait(120) == 4, (out.parent / "said").read_text()
    events = events_of(out)
    assert events[-1]["event"] == "stopped"
    n_arrived = max(event.get("n_verdicts", 0) for event in events)
    n_stored = len(list(open_run(out).rows()))
    assert least <= n_arrived <= n_stored
    gone(*family)


def test_sigterm_for_every_process_at_once(terminal, started):
    child, out = started
    family = descendants(child.pid)
    for process in family:
        os.kill(process, signal.SIGTERM)
    check_stopped(child, out, family)
    assert "stopped by SIGTERM" in (out.parent / "said").read_text()


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["guard", "ray", "raylet"])
def test_sigterm_for_every_process_while_ray_starts(terminal, base, tmp_path, kind):
    config = config_of_classes(tmp_path)
    child = launch(config, tmp_path)
    wait_for(child, tmp_path, lambda: find(kind, child.pid))
    family = descendants(child.pid)
    for process in family:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
    check_stopped(child, Path(config.out), family, least=0)


def test_ray_has_a_folder_and_a_group_of_its_own_and_ends_with_a_driver_that_is_killed(base, started):
    child, _ = started
    (folder,) = base.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    family = descendants(child.pid)
    assert len(family) > 6
    (guard,) = find("guard", child.pid)
    assert {group(process) for process in family - {child.pid}} == {guard} != {group(child.pid)}
    os.kill(find("worker", child.pid)[0], signal.SIGSTOP)
    child.kill()
    child.wait()
    gone(*family)


@pytest.mark.nightly
def test_no_module_of_a_whole_run_comes_from_where_the_user_is(base, elsewhere):
    command = [COMMAND[0], "-P", *COMMAND[1:], "run", "2x2", "--cutoff", "5", "--workers", "1", "--out", "run"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def small(n_mib, folder):
    """Return a command that runs another one where ``folder`` has room for so many MiB only."""
    script = f'mount -t tmpfs -o size={n_mib}m tmpfs {folder} && exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs a mount of its own: unshare --user --mount")
    return command


def test_a_full_temporary_folder_is_named(base, tmp_path):
    options = ["run", "--dims", "2x2", "--cutoff", "5", "--workers", "1", "--out", str(tmp_path / "run")]
    done = subprocess.run(
        [*small(1, base), *COMMAND, *options], cwd=ROOT, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 2
    assert f"the temporary folder {str(base)!r} is full: expected room for 64 MiB" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
def test_a_temporary_folder_that_becomes_full_is_named(base, tmp_path):
    config = config_of_classes(tmp_path)
    child = start(config, tmp_path, before=small(100, base))
    family = descendants(child.pid)
    there = Path(f"/proc/{child.pid}/root{base}")
    with (there / "fill").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(2**16)):
            pass
    os.kill(find("worker", child.pid)[0], signal.SIGKILL)
    check_stopped(child, Path(config.out), family)
    assert f"the temporary folder {str(base)!r} is full" in (tmp_path / "said").read_text()
