"""The guard of a private cluster, with processes that stand in for Ray's: nothing of them outlives the driver."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from cluster.workers.ray_guard import PREFIX, check_room, guarded
from tests.cluster.processes import command_line, has_let_go

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

# A driver with a cluster of one process, which was stopped and has a file open as all of Ray's have. The system hangs
# up on stopped processes when their group has lost all parents.
DRIVER = """
import subprocess, sys, time
from cluster.workers.ray_guard import guarded
with guarded() as guard:
    log = (guard.folder / "log").open("wb")
    command = ["sh", "-c", "trap '' HUP; echo; exec sleep 1000"]
    sleeper = subprocess.Popen(command, process_group=guard.group, stdout=log)
    while not (guard.folder / "log").stat().st_size:
        time.sleep(0.01)
    sleeper.send_signal(19)
    print(guard.folder, guard.group, sleeper.pid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def base(monkeypatch):
    """Return a temporary folder for guards whose path is short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="o", dir="/tmp"))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def driver(base, project_root, terminal):
    """Start a driver; return (process, folder, guard, process of its cluster)."""
    child = subprocess.Popen(
        [sys.executable, "-c", DRIVER], cwd=project_root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    folder, guard, sleeper = child.stdout.readline().split()
    yield child, Path(folder), int(guard), int(sleeper)
    child.kill()
    child.wait()
    gone(int(guard))


def gone(*processes):
    """Wait until the processes are gone; it takes them seconds at most."""
    ends_s = time.monotonic() + 60
    while alive := [process for process in processes if not has_let_go(process)]:
        assert time.monotonic() < ends_s, alive
        time.sleep(0.05)


def test_an_orderly_end(base, driver):
    child, folder, guard, sleeper = driver
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    child.stdin.close()
    assert child.wait(60) == 0
    assert not command_line(sleeper)
    assert not command_line(guard)
    assert list(base.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_driver_that_dies_takes_all_with_it(base, driver, number):
    child, _, guard, sleeper = driver
    os.kill(guard, number if number is not signal.SIGKILL else signal.SIGTERM)  # it does not care
    child.send_signal(number)
    child.wait()
    gone(sleeper, guard)
    assert list(base.iterdir()) == []


def test_what_is_left_when_the_guard_is_killed_too_goes_with_the_next_start(base, driver):
    child, folder, guard, sleeper = driver
    for process in (guard, child.pid):
        os.kill(process, signal.SIGKILL)
    child.wait()
    gone(guard)
    assert command_line(sleeper)
    assert folder.is_dir()
    with guarded() as ours:
        assert list(base.iterdir()) == [ours.folder]
        gone(sleeper)
    assert list(base.iterdir()) == []


def test_a_guard_that_was_killed_is_not_needed(base):
    with guarded() as guard:
        log = (guard.folder / "log").open("wb")
        sleeper = subprocess.Popen(["sleep", "1000"], process_group=guard.group, stdout=log)
        os.kill(guard.group, signal.SIGKILL)
    sleeper.wait(60)
    assert list(base.iterdir()) == []


def test_what_a_living_driver_has_is_left_alone(base, driver):
    child, folder, guard, sleeper = driver
    os.kill(guard, signal.SIGKILL)
    gone(guard)
    with guarded():
        assert folder.is_dir()
        assert command_line(sleeper)
    child.stdin.close()
    assert child.wait(60) == 0
    assert not command_line(sleeper)
    assert list(base.iterdir()) == []


def test_what_is_not_ours_is_left_alone(base, tmp_path):
    (tmp_path / "kept").touch()
    os.utime(tmp_path, (0, 0))
    (base / f"{PREFIX}link").symlink_to(tmp_path)
    for name, mode in ((f"{PREFIX}open", 0o755), (f"{PREFIX}new", 0o700), ("other", 0o700)):
        (base / name).mkdir(mode)
        (base / name).chmod(mode)
    os.utime(base / f"{PREFIX}open", (0, 0))
    (base / f"{PREFIX}file").touch()
    (base / f"{PREFIX}locked").mkdir(0o700)
    (base / f"{PREFIX}locked" / "lock").symlink_to(tmp_path / "kept")
    before = {path.name for path in base.iterdir()}
    with guarded():
        pass
    assert {path.name for path in base.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_process_that_got_the_number_of_a_dead_group_is_left_alone(base):
    stranger = subprocess.Popen(["sleep", "1000"], process_group=0)
    folder = base / f"{PREFIX}12345678"
    folder.mkdir(0o700)
    (folder / "lock").write_text(f"{stranger.pid}\n")
    with guarded():
        assert not folder.exists()
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_kills_only_what_is_in_the_group(base):
    stranger = subprocess.Popen(["sleep", "1000"])
    with guarded() as guard:
        member = subprocess.Popen(["sleep", "1000"], process_group=guard.group)
        member.send_signal(signal.SIGSTOP)
        guard.kill(stranger.pid)
        guard.kill(member.pid)
        assert member.wait(60) == -signal.SIGKILL
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


@pytest.mark.parametrize(("n_bytes", "is_taken"), [(20, True), (21, False)])
def test_a_temporary_folder_that_is_too_long_for_sockets_is_not_taken(monkeypatch, n_bytes, is_taken):
    chosen = Path(tempfile.mkdtemp(prefix="o" * (n_bytes - len("/tmp/12345678")), dir="/tmp"))
    assert len(str(chosen)) == n_bytes
    monkeypatch.setenv("TMPDIR", str(chosen))
    with guarded() as guard:
        assert guard.folder.parent == (chosen if is_taken else Path("/tmp"))
        path = f"{guard.ray_folder}/session_2026-11-22_18-46-39_445918_4194304/sockets/plasma_store"
        with socket.socket(socket.AF_UNIX) as listener:
            Path(path).parent.mkdir(parents=True)
            listener.bind(path)
    chosen.rmdir()


def test_a_temporary_folder_without_room_is_named_and_nothing_stays_there(base):
    free = os.statvfs(base)
    (base / "x").mkdir()
    with pytest.raises(OSError, match=r"temporary folder '/tmp/.*' is full"):
        check_room(base / "x", free.f_bavail * free.f_frsize * 2)
    assert list((base / "x").iterdir()) == []
